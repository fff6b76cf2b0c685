// Things by number that wait for their turn: what is due next is found without looking at the rest.

/// Indices by a key, the smallest first; of equal keys the smaller index.
struct IndexHeap {
    private var entries: [(key: Int64, index: Int)] = []

    var first: (key: Int64, index: Int)? { entries.first }

    mutating func push(_ index: Int, _ key: Int64) {
        var place = entries.count
        entries.append((key, index))
        while place > 0, entries[place] < entries[(place - 1) / 2] {
            entries.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    /// Takes those whose keys are below one, in the order of their keys.
    mutating func take(below key: Int64) -> [Int] {
        var taken: [Int] = []
        while let first, first.key < key {
            taken.append(first.index)
            removeFirst()
        }
        return taken
    }

    /// Takes away the first; there must be one.
    mutating func removeFirst() {
        let last = entries.removeLast()
        guard !entries.isEmpty else { return }
        // The hole goes down to where the last belongs.
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
