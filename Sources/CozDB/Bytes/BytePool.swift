// Interned byte strings with dense numbers. Open addressing over the numbers; no allocation per
// string other than growth of the arrays.

/// A set of byte strings, numbered in order of insertion.
struct BytePool: Sendable {
    /// All strings, concatenated in order of their numbers.
    private(set) var heap: [UInt8] = []
    /// The end offset of each string in the heap. It starts where the previous one ends.
    private(set) var ends: [Int] = []
    /// A hash table: number + 1 of the string in each slot, 0 if free. Its size is a power of two.
    private var slots: [UInt32] = []
    /// The hash of each string: comparing it avoids most byte comparisons, and growth needs no
    /// rehash.
    private var hashes: [UInt32] = []

    var count: Int { ends.count }

    /// Total size of the strings in bytes.
    var heapSizeBytes: Int { heap.count }

    /// Approximate memory use in bytes.
    var sizeBytes: Int {
        heap.capacity + ends.capacity * 8 + slots.capacity * 4 + hashes.capacity * 4
    }

    /// Returns the number of a string and adds it if it is new.
    mutating func intern(_ bytes: Span<UInt8>) -> Int {
        if slots.count < 2 * (ends.count + 1) { grow() }
        let hash = hashBytes(bytes)
        let mask = slots.count - 1
        var slot = Int(truncatingIfNeeded: hash) & mask
        while slots[slot] != 0 {
            let number = Int(slots[slot]) - 1
            if hashes[number] == hash, equals(number, bytes) { return number }
            slot = (slot + 1) & mask
        }
        heap.append(copying: bytes)
        ends.append(heap.count)
        hashes.append(hash)
        slots[slot] = UInt32(truncatingIfNeeded: ends.count)
        return ends.count - 1
    }

    mutating func intern(_ bytes: [UInt8]) -> Int {
        intern(bytes.span)
    }

    /// Removes all strings. Keeps allocated memory.
    mutating func removeAll() {
        heap.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        hashes.removeAll(keepingCapacity: true)
        for index in slots.indices { slots[index] = 0 }
    }

    /// Returns the range of a string in the heap.
    func range(_ number: Int) -> Range<Int> {
        (number == 0 ? 0 : ends[number - 1])..<ends[number]
    }

    func copy(_ number: Int) -> [UInt8] {
        Array(heap[range(number)])
    }

    /// Returns the hash of a string, which is the same in all pools of the process.
    func hash(_ number: Int) -> UInt32 { hashes[number] }

    /// Whether a string with this number exists and has this hash.
    func has(_ number: Int, hash: UInt32) -> Bool {
        number < hashes.count && hashes[number] == hash
    }

    func text(_ number: Int) -> String {
        String(decoding: heap[range(number)], as: UTF8.self)
    }

    private func equals(_ number: Int, _ bytes: Span<UInt8>) -> Bool {
        let range = range(number)
        guard range.count == bytes.count else { return false }
        return heap.span.extracting(range).equals(bytes)
    }

    private mutating func grow() {
        let size = Swift.max(16, slots.count * 2)
        slots = [UInt32].filled(with: 0, count: size)
        for number in ends.indices {
            var slot = Int(hashes[number]) & (size - 1)
            while slots[slot] != 0 { slot = (slot + 1) & (size - 1) }
            slots[slot] = UInt32(truncatingIfNeeded: number + 1)
        }
    }
}
