// Which columns have values in the rows that a merge comes to next: where there are very many
// columns and very many series, each series has values of few.

/// The lanes of a merge, for each input by the next row in which they have a value.
struct PendingColumns {
    private let lanes: [ColumnMerger]
    private var waiting: [IndexHeap]
    private var taken: [(lane: Int, source: Int)] = []
    /// For each lane the number of the call of `take` that gave it last.
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

    /// The lanes that have a value in the slabs of the inputs, in the order of their columns.
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

    /// Lets those that were taken wait for the next row that is not merged yet.
    mutating func giveBack() {
        for (lane, source) in taken {
            guard let row = lanes[lane].nextRows[source] else { continue }
            waiting[source].push(lane, Int64(row))
        }
        taken.removeAll(keepingCapacity: true)
    }
}
