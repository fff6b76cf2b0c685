// Values of groups whose conditions on texts are answered from codes.

extension GroupAggregation {
    /// Counts the values of a column of strings that a condition on their text accepts; false where
    /// that is not what is asked for.
    mutating func countTexts(
        _ condition: Evaluation, _ reference: Int, _ column: ColumnID, _ view: ExperimentView,
        _ series: Series, _ source: PlannedSource
    ) throws(DatabaseError) -> Bool {
        guard case .stringTest(.column(reference), let test, missing: false) = condition,
            view.schema.columns[column].type == .string,
            plan.references[reference].type == .string, let range = fields.first?.range,
            fields.allSatisfy({ $0.needs.isCount && $0.takesUntimed && $0.range == range })
        else { return false }
        let counters = executor.counters
        let isCommon = source.condition?.readsTags == false && plan.sources.count == 1
        var verdicts = (isCommon ? self.verdicts : nil) ?? TextVerdicts(test)
        self.verdicts = nil
        var count = 0
        try view.scan(
            column, of: series, in: range, counts: counters.reads(source.number),
            pool: counters.columns, shape: .untimed, summarize: { _, _ in false }
        ) { piece throws(DatabaseError) -> Bool in
            guard case .values(let slice) = piece else { return true }
            try counters.read(slice, source.number)
            count += verdicts.count(slice)
            return true
        }
        if isCommon { self.verdicts = verdicts }
        for index in fields.indices {
            fields[index].add(count: count, at: max(series.firstTime, range.lower))
            fields[index].endSeries()
        }
        return true
    }
}
