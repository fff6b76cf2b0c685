// A raw SELECT with functions of series on all cores: some series ahead of the one whose rows are
// written next are computed side by side.

extension Executor {
    /// Rows from which on a second thread is worth waking.
    private static let parallelRowCountMin = 20_000
    /// Series that are computed before their groups are written: bounds what is in memory.
    private static let unitCountMax = 16

    func runSeries(
        _ plan: SelectPlan, _ groups: [InputGroup], into output: any SeriesOutput
    ) throws(DatabaseError) {
        var start = 0
        while start < groups.count {
            var units: [SeriesUnit] = []
            var end = start
            while end < groups.count, units.count < Executor.unitCountMax {
                for input in groups[end].inputs {
                    // A group of very many series is read as it is merged.
                    guard units.count < Executor.unitCountMax,
                        case .computed(let series) = input.origin
                    else { break }
                    units.append(SeriesUnit(series, counters.emptied))
                }
                end += 1
            }
            try run(units)
            for group in groups[start..<end] {
                try counters.checkCancelled()
                try runRaw(plan, group, into: output)
            }
            start = end
        }
    }

    private func run(_ units: [SeriesUnit]) throws(DatabaseError) {
        let rowCount = units.reduce(0) { $0 + $1.rowCount }
        guard units.count > 1, rowCount >= Executor.parallelRowCountMin else { return }
        // Each unit belongs to the one thread that runs it until all have returned.
        Cores.perform(iterations: units.count) { units[$0].run() }
        for unit in units {
            if let error = unit.error { throw error }
            counters.add(unit.counters)
        }
    }
}

/// One series to be computed.
///
/// Unchecked: one thread runs a unit while no other looks at it, and what units share (the plan,
/// the snapshot) nobody changes; there is nothing a lock would guard.
private final class SeriesUnit: @unchecked Sendable {
    let counters: CounterBox
    let rowCount: Int
    private(set) var error: DatabaseError?
    private let series: ComputedSeries

    init(_ series: ComputedSeries, _ counters: CounterBox) {
        self.series = series
        self.counters = counters
        rowCount = series.input.rowCount
    }

    func run() {
        do throws(DatabaseError) {
            try counters.stop.over { () throws(DatabaseError) in try series.prepare(counters) }
        } catch {
            self.error = error
        }
    }
}
