// Which way a call of a group takes to its answer; EXPLAIN says the same.

extension GroupAggregation {
    /// How a call takes the values of an input.
    ///
    /// - Parameter byRow: whether the group can differ from row to row.
    func way(_ call: Int, _ input: InputSeries, byRow: Bool) -> AnswerWay {
        guard case .stored(let view, let series) = input.origin else { return .subquery }
        let isScan = isScan(input) && !byRow
        switch place(of: call) {
        case .nowhere: return .nothing
        case _ where isFiltered(input, view, series, byRow: byRow): return .filtered
        case .collector:
            if takesOneRow, !byRow { return .oneRow }
            return isScan ? .keptValues : .keptRows
        case .field(let index):
            guard isScan else { return takesEndsOnly && !byRow ? .ends : .rows }
            return way(ofField: index, view, plan.sources[input.source])
        }
    }

    private func isFiltered(
        _ input: InputSeries, _ view: ExperimentView, _ series: Series, byRow: Bool
    ) -> Bool {
        if byRow { return false }
        return filter(input, view).map { view.canFilter(series, $0) } ?? false
    }

    /// Of some series of one source one each for all whose calls are answered in the same ways.
    func representatives(of inputs: [InputSeries], byRow: Bool) throws(DatabaseError)
        -> [InputSeries]
    {
        var kinds: Set<[Bool]> = []
        var found: [InputSeries] = []
        for input in inputs {
            try executor.counters.checkCancelled()
            var kind = [isScan(input)]
            if case .stored(let view, let series) = input.origin {
                kind.append(isFiltered(input, view, series, byRow: byRow))
            }
            if kinds.insert(kind).inserted { found.append(input) }
        }
        return found
    }
}
