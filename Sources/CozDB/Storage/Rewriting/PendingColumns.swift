// Finds the columns that have values in the next rows of a merge. With very many columns and
// series, each series has values of few columns.

/// The mergers, queued for each input by their next row with a value.
struct PendingColumns {
    private let lanes: [ColumnMerger]
    private var waiting: [IndexHeap]
    private var taken: [(lane: Int, source: Int)] = []
    /// For each merger, the number of the last call of `take` that returned it.
    private var turns: [Int]
    private var turn = 0

    init(_ lanes: [ColumnMerger], inputCount: Int) {
        self.lanes = lanes
        waiting = Array(repeating: IndexHeap(), count: inputCount)
        turns = lanes.map { _ in 0 }
        for source in waiting.indices {
            for (number, lane) in lanes.enumerated() {
                guard let row = lane.nextRows[source] else { continue }
                waiting[source].push(number, Int64(row))
            }
        }
    }

    /// Takes the mergers with a value in the chunks of the inputs, in the order of their columns.
    mutating func take(_ inputs: [MergeInput]) -> [ColumnMerger] {
        turn += 1
        var found: [Int] = []
        for input in inputs {
            for lane in waiting[input.source].take(below: Int64(input.slab.upperBound)) {
                taken.append((lane, input.source))
                guard turns[lane] != turn else { continue }
                turns[lane] = turn
                found.append(lane)
            }
        }
        found.sort()
        return found.map { lanes[$0] }
    }

    /// Queues the taken mergers again by their next unmerged row.
    mutating func giveBack() {
        for (lane, source) in taken {
            guard let row = lanes[lane].nextRows[source] else { continue }
            waiting[source].push(lane, Int64(row))
        }
        taken.removeAll(keepingCapacity: true)
    }
}
