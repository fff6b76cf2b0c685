// The keys of series and fields for the layout cache, as written in the input with escapes.

internal import CozDB

/// Raw keys, numbered from 0 in order of first use.
///
/// Holds the keys of one batch: its owner empties it for each new batch.
package struct KeyTable: ~Copyable {
    package struct Key {
        package var start: Int
        package var size: Int
        package var hash: UInt32
        /// The scope of the key (the experiment of a field); part of its identity.
        package var owner: Int
    }

    package private(set) var keys: [Key] = []
    private var heap = PaddedBuffer()
    /// Key number + 1 per slot, 0 if free. The count is a power of two.
    private var slots = [UInt32](repeating: 0, count: 64)
    /// Keeps input from choosing keys that collide.
    private let seed = Int(truncatingIfNeeded: hashSeed)

    package init() {}

    package var bytes: PaddedBytes {
        @inline(__always) get { heap.bytes }
    }

    package mutating func removeAll() {
        keys.removeAll(keepingCapacity: true)
        heap.removeAll()
        for index in slots.indices { slots[index] = 0 }
    }

    /// Whether key `number` is at `index` of `text`.
    @inline(__always) package func matches(_ number: Int, _ text: PaddedBytes, at index: Int)
        -> Bool
    {
        let key = keys[number]
        return text.equals(at: index, heap.bytes, at: key.start, size: key.size)
    }

    @inline(__always) package func size(_ number: Int) -> Int { keys[number].size }

    /// Returns the number of a key, or nil if it is new.
    package func find(_ text: PaddedBytes, _ range: Range<Int>, owner: Int) -> Int? {
        let hash = text.hash(range, seed: owner ^ seed)
        var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
        while slots[slot] != 0 {
            let number = Int(slots[slot]) - 1
            let key = keys[number]
            if key.hash == hash, key.owner == owner, key.size == range.count,
                text.equals(at: range.lowerBound, heap.bytes, at: key.start, size: key.size)
            {
                return number
            }
            slot = (slot + 1) & (slots.count - 1)
        }
        return nil
    }

    /// Adds a key that `find` did not find.
    package mutating func add(_ text: PaddedBytes, _ range: Range<Int>, owner: Int) -> Int {
        let number = keys.count
        let hash = text.hash(range, seed: owner ^ seed)
        keys.append(Key(start: heap.count, size: range.count, hash: hash, owner: owner))
        text.withSpan(range) { heap.append($0) }
        if slots.count < 2 * keys.count {
            slots = [UInt32](repeating: 0, count: 2 * slots.count)
            for (index, key) in keys.enumerated() { place(index, key.hash) }
        } else {
            place(number, hash)
        }
        return number
    }

    private mutating func place(_ number: Int, _ hash: UInt32) {
        var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
        while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
        slots[slot] = UInt32(truncatingIfNeeded: number + 1)
    }
}
