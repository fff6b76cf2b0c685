// Which way a call of a group takes to its answer; EXPLAIN says the same.

extension GroupAggregation {
    /// How a call takes the values of an input.
    ///
    /// - Parameter byRow: whether the group can differ from row to row.
    func way(_ call: Int, _ input: InputSeries, byRow: Bool) -> AnswerWay {
        guard case .stored(let view, let series) = input.origin else { return .subquery }
        let isScan = isScan(input) && !byRow
        var isFiltered = false
        if !byRow, let test = filter(input, view) { isFiltered = view.canFilter(series, test) }
        switch place(of: call) {
        case .nowhere: return .nothing
        case _ where isFiltered: return .filtered
        case .collector:
            if takesOneRow, !byRow { return .oneRow }
            return isScan ? .keptValues : .keptRows
        case .field(let index):
            guard isScan else { return takesEndsOnly && !byRow ? .ends : .rows }
            return way(ofField: index, view, plan.sources[input.source])
        }
    }
}
