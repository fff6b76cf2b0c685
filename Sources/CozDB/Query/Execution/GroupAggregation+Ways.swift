// Which way a call of a group takes to its answer; EXPLAIN says the same.

extension GroupAggregation {
    /// How a call takes the values of an input.
    ///
    /// - Parameter byRow: whether the group can differ from row to row.
    func way(_ call: Int, _ input: InputSeries, byRow: Bool) -> AnswerWay {
        guard case .stored(let view, _) = input.origin else { return .subquery }
        let isScan = isScan(input) && !byRow
        switch place(of: call) {
        case .nowhere: return .nothing
        case .collector:
            if takesOneRow, !byRow { return .oneRow }
            return isScan ? .keptValues : .keptRows
        case .field(let index):
            guard isScan else { return takesEndsOnly && !byRow ? .ends : .rows }
            return way(ofField: index, view, plan.sources[input.source])
        }
    }
}
