// Finds the columns that have values in the next rows of a merge. With very many columns and
// series, each series has values of few columns.

/// The mergers, queued for each input by their next row with a value.
struct PendingColumns {
    private let mergers: [ColumnMerger]
    private var waiting: [IndexHeap]
    private var taken: [(number: Int, source: Int)] = []
    /// For each merger, the number of the last call of `take` that returned it.
    private var lastCalls: [Int]
    private var call = 0

    init(_ mergers: [ColumnMerger], inputCount: Int) {
        self.mergers = mergers
        waiting = Array(repeating: IndexHeap(), count: inputCount)
        lastCalls = mergers.map { _ in 0 }
        for source in waiting.indices {
            for (number, merger) in mergers.enumerated() {
                guard let row = merger.nextRows[source] else { continue }
                waiting[source].push(number, Int64(row))
            }
        }
    }

    /// Takes the mergers with a value in the chunks of the inputs, in the order of their columns.
    mutating func take(_ inputs: [MergeInput]) -> [ColumnMerger] {
        call += 1
        var found: [Int] = []
        for input in inputs {
            for number in waiting[input.source].take(below: Int64(input.chunk.upperBound)) {
                taken.append((number, input.source))
                guard lastCalls[number] != call else { continue }
                lastCalls[number] = call
                found.append(number)
            }
        }
        found.sort()
        return found.map { mergers[$0] }
    }

    /// Queues the taken mergers again by their next unmerged row.
    mutating func giveBack() {
        for (number, source) in taken {
            guard let row = mergers[number].nextRows[source] else { continue }
            waiting[source].push(number, Int64(row))
        }
        taken.removeAll(keepingCapacity: true)
    }
}
