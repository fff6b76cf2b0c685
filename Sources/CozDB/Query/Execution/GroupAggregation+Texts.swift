// Numbers of texts that pass a test, from the codes of blocks: no text is looked at twice, and no
// vector is made of what passes.

/// What a test says of the strings of one table, found out once for each that comes.
struct TextVerdicts {
    private let test: StringTest
    private var table: StringTable?
    /// 0 and 1 for no and yes, to be added up.
    private var verdicts: [UInt8] = []
    private static let unknown: UInt8 = 2

    init(_ test: StringTest) {
        self.test = test
    }

    /// How many values of a column of strings pass.
    mutating func count(_ slice: ColumnSlice) -> Int {
        if table !== slice.strings {
            table = slice.strings
            verdicts = Array(repeating: TextVerdicts.unknown, count: slice.strings.count)
        }
        var count = 0
        let bits = slice.bits
        let codes = bits.span
        for index in codes.indices {
            let code = codes[index]
            let isTime = ISOTime.isWord(code)
            var verdict = isTime ? TextVerdicts.unknown : verdicts[Int(code)]
            if verdict == TextVerdicts.unknown {
                verdict = test.accepts(slice.strings.text(code)) ? 1 : 0
                if !isTime { verdicts[Int(code)] = verdict }
            }
            count &+= Int(verdict)
        }
        return count
    }
}

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
