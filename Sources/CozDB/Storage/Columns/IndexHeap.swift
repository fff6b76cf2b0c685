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

    /// Takes away the first; there must be one.
    mutating func removeFirst() {
        let last = entries.removeLast()
        guard !entries.isEmpty else { return }
        entries[0] = last
        var parent = 0
        while true {
            var smallest = parent
            for child in (2 * parent + 1)..<(2 * parent + 3)
            where child < entries.count && entries[child] < entries[smallest] {
                smallest = child
            }
            if smallest == parent { return }
            entries.swapAt(parent, smallest)
            parent = smallest
        }
    }
}
