// Distinct byte strings, each stored once and known by a dense number.
// Open addressing over numbers; no allocation per string beyond growth of three arrays.

/// A set of byte strings numbered in the order they first came.
struct BytePool: Sendable {
    /// All strings one after the other, in order of their numbers.
    private(set) var heap: [UInt8] = []
    /// Where each string ends in the heap; it begins where the one before ends.
    private(set) var ends: [Int] = []
    /// Number + 1 of the string in each slot, 0 where free; the size is a power of two.
    private var slots: [UInt32] = []
    /// Upper hash bits per string: most unequal strings differ here, and growth needs no rehash.
    private var hashes: [UInt32] = []

    var count: Int { ends.count }

    /// Bytes that all strings take together.
    var heapSizeBytes: Int { heap.count }

    /// Memory held, roughly.
    var sizeBytes: Int {
        heap.capacity + ends.capacity * 8 + slots.capacity * 4 + hashes.capacity * 4
    }

    /// The number of a string, new or known.
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

    /// The same for bytes that stand in an array.
    mutating func intern(_ bytes: [UInt8]) -> Int {
        intern(bytes.span)
    }

    /// Forgets all strings, keeps memory.
    mutating func removeAll() {
        heap.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        hashes.removeAll(keepingCapacity: true)
        for index in slots.indices { slots[index] = 0 }
    }

    /// Where a string lies in the heap.
    func range(_ number: Int) -> Range<Int> {
        (number == 0 ? 0 : ends[number - 1])..<ends[number]
    }

    func copy(_ number: Int) -> [UInt8] {
        Array(heap[range(number)])
    }

    /// A hash of a string's bytes: the same in all pools of the process.
    func hash(_ number: Int) -> UInt32 { hashes[number] }

    /// Whether there is a string of this number, with this hash.
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
        slots = [UInt32](repeating: 0, count: size)
        for number in ends.indices {
            var slot = Int(hashes[number]) & (size - 1)
            while slots[slot] != 0 { slot = (slot + 1) & (size - 1) }
            slots[slot] = UInt32(truncatingIfNeeded: number + 1)
        }
    }
}
