// A binary min-heap of indices by key.

/// A min-heap of indices by key. Equal keys are ordered by index.
struct IndexHeap {
    private var entries: [(key: Int64, index: Int)] = []

    var first: (key: Int64, index: Int)? { entries.first }

    var count: Int { entries.count }
    var isEmpty: Bool { entries.isEmpty }

    mutating func push(_ index: Int, _ key: Int64) {
        var place = entries.count
        entries.append((key, index))
        while place > 0, entries[place] < entries[(place - 1) / 2] {
            entries.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    /// Removes and returns the indices with keys below `key`, in key order.
    mutating func take(below key: Int64) -> [Int] {
        var taken: [Int] = []
        while let first, first.key < key {
            taken.append(first.index)
            removeFirst()
        }
        return taken
    }

    /// Removes the first entry. The heap must not be empty.
    mutating func removeFirst() {
        let last = entries.removeLast()
        guard !entries.isEmpty else { return }
        // Sift the hole down to the position of the last entry.
        var hole = 0
        while 2 * hole + 1 < entries.count {
            var child = 2 * hole + 1
            if child + 1 < entries.count, entries[child + 1] < entries[child] { child += 1 }
            if last < entries[child] { break }
            entries[hole] = entries[child]
            hole = child
        }
        entries[hole] = last
    }
}
