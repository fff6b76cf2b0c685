// Runs a raw SELECT with series functions on all cores: the next few series are computed in
// parallel before their rows are written.

extension Executor {
    /// The number of rows from which a second thread pays off.
    private static let parallelRowCountMin = 20_000
    /// The number of series computed before their groups are written, which bounds memory.
    private static let unitCountMax = 16

    func seriesGroups(
        _ plan: SelectPlan, _ groups: [InputGroup], _ output: any SeriesOutput
    ) -> SelectExecution.Groups {
        var next = 0
        /// The end of the groups whose series are computed.
        var end = 0
        return { () throws(DatabaseError) in
            guard next < groups.count else { return nil }
            if next == end {
                var units: [ComputedSeries] = []
                while end < groups.count, units.count < Executor.unitCountMax {
                    for input in groups[end].inputs {
                        // A group with very many series is computed while it is merged.
                        guard units.count < Executor.unitCountMax,
                            case .computed(let series) = input.origin
                        else { break }
                        units.append(series)
                    }
                    end += 1
                }
                self.run(units)
            }
            defer { next += 1 }
            try self.context.checkCancelled()
            return try self.rawRows(plan, groups[next], output)
        }
    }

    private func run(_ units: [ComputedSeries]) {
        let rowCount = units.reduce(0) { $0 + $1.input.rowCount }
        guard units.count > 1, rowCount >= Executor.parallelRowCountMin else { return }
        let contexts = units.map { _ in context.forAnotherThread }
        Cores.perform(iterations: units.count) { units[$0].prepare(contexts[$0]) }
        for counted in contexts { context.add(counted) }
    }
}
