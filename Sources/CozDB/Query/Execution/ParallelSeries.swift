// Runs a raw SELECT with series functions on all cores: the next few series are computed in
// parallel before their rows are written.

extension Executor {
    /// The number of rows from which a second thread pays off.
    private static let parallelRowCountMin = 20_000
    /// The number of series computed before their groups are written, which bounds memory.
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
                    // A group with very many series is computed while it is merged.
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
        // Each unit is used by one thread until all have returned.
        Cores.perform(iterations: units.count) { units[$0].run() }
        for unit in units {
            if let error = unit.error { throw error }
            counters.add(unit.counters)
        }
    }
}

/// A series to compute.
///
/// Unchecked: only one thread at a time uses a unit, and the data that units share is immutable.
private final class SeriesUnit: @unchecked Sendable {
    let counters: ExecutionContext
    let rowCount: Int
    private(set) var error: DatabaseError?
    private let series: ComputedSeries

    init(_ series: ComputedSeries, _ counters: ExecutionContext) {
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
