// Interned byte strings that never move: a BytePool for one appending thread and many readers. The
// memtable stores series keys, attributes and strings in arenas.

/// Interned byte strings. Appended to under the owner's lock; read by any thread through a `View`.
@safe final class ByteArena: @unchecked Sendable {
    // Unchecked: the owner's lock serializes appends. A view reads only bytes that were complete
    // when it was created.
    @safe fileprivate struct Entry: BitwiseCopyable {
        let start: UnsafeMutableRawPointer
        let count: Int
        let hash: UInt32

        func withBytes<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
            // Sound: `start` points to `count` bytes that live as long as the arena.
            unsafe body(Span(_unsafeStart: start.assumingMemoryBound(to: UInt8.self), count: count))
        }
    }

    private let entries = ChunkedArray<Entry>()
    private var blocks: [UnsafeMutableRawPointer] = unsafe []
    private var free: UnsafeMutableRawPointer?
    private var freeCount = 0
    private var blockBytes = 0
    /// A hash table: number + 1 of the entry in each slot, 0 if free. Its size is a power of two.
    private var slots: [UInt32] = []

    private static let blockSizeBytes = 256 << 10
    /// Size of the first block. Each further block is as large as all before it, up to the maximum.
    private static let firstBlockSizeBytes = 1 << 10

    init() {}

    deinit {
        unsafe blocks.forEach { unsafe $0.deallocate() }
    }

    var count: Int { entries.count }
    var sizeBytes: Int { blockBytes + slots.count * 4 + entries.sizeBytes }

    /// Returns the number of a string and adds it if it is new.
    func intern(_ bytes: Span<UInt8>) -> Int {
        if slots.count < 2 * (count + 1) { grow() }
        let hash = hashBytes(bytes)
        let mask = slots.count - 1
        var slot = Int(truncatingIfNeeded: hash) & mask
        while slots[slot] != 0 {
            let number = Int(slots[slot]) - 1
            let entry = entries[number]
            if entry.hash == hash, entry.withBytes({ $0.equals(bytes) }) { return number }
            slot = (slot + 1) & mask
        }
        unsafe entries.append(Entry(start: store(bytes), count: bytes.count, hash: hash))
        slots[slot] = UInt32(truncatingIfNeeded: count)
        return count - 1
    }

    func withBytes<Result>(_ number: Int, _ body: (Span<UInt8>) -> Result) -> Result {
        entries[number].withBytes(body)
    }

    func view() -> View {
        View(entries: entries.view(), arena: self)
    }

    /// The strings at one moment.
    @safe struct View: Sendable {
        fileprivate let entries: ChunkedArray<Entry>.View
        fileprivate let arena: ByteArena

        fileprivate init(entries: ChunkedArray<Entry>.View, arena: ByteArena) {
            self.entries = entries
            self.arena = arena
        }

        var count: Int { entries.count }

        /// Identifies the arena of a view.
        var identity: ObjectIdentifier { ObjectIdentifier(arena) }

        func withBytes<Result>(_ number: Int, _ body: (Span<UInt8>) -> Result) -> Result {
            entries[number].withBytes(body)
        }

        func copy(_ number: Int) -> [UInt8] {
            withBytes(number) { [UInt8](copying: $0) }
        }
    }

    private func store(_ bytes: Span<UInt8>) -> UnsafeMutableRawPointer {
        let count = bytes.count
        if unsafe count > freeCount || free == nil {
            let usual = max(
                ByteArena.firstBlockSizeBytes, min(blockBytes, ByteArena.blockSizeBytes))
            let size = max(count, usual)
            let block = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 8)
            unsafe blocks.append(block)
            blockBytes += size
            unsafe free = unsafe block
            freeCount = size
        }
        let place = unsafe free!
        // Sound: the block has `freeCount` >= `count` bytes from `place` on.
        unsafe bytes.withUnsafeBytes { source in
            unsafe UnsafeMutableRawBufferPointer(start: place, count: count)
                .copyMemory(from: source)
        }
        unsafe free = unsafe place + count
        freeCount -= count
        return unsafe place
    }

    private func grow() {
        let size = Swift.max(64, slots.count * 2)
        slots = [UInt32](repeating: 0, count: size)
        for number in 0..<count {
            var slot = Int(entries[number].hash) & (size - 1)
            while slots[slot] != 0 { slot = (slot + 1) & (size - 1) }
            slots[slot] = UInt32(truncatingIfNeeded: number + 1)
        }
    }
}
