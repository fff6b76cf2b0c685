// Feeds stored columns to accumulators without assembling rows: column by column, as summaries,
// counts, ends or values.

/// Columns that are read as one: the arguments of `coalesce()`, or a single column. They are of the
/// series itself, or of a subquery that only selects them.
struct FirstValueColumns {
    var view: ExperimentView
    var series: Series
    var source: Int
    var range: TimeRange
    /// The fields that the series may have.
    var fields: [Field] = []

    struct Field {
        var index: Int
        var columns: [ColumnID]
        /// Whether NaN counts as no value, as in all results that a subquery computes.
        var dropsNaN: Bool
    }
}

extension GroupAggregation {
    /// - Parameter present: see `InputSeries`.
    mutating func scan(
        _ view: ExperimentView, _ series: Series, _ source: PlannedSource, _ present: [Int]?
    ) throws(DatabaseError) {
        let own = assignments.indices(of: present, in: source)
        for index in own.fields {
            guard let column = source.bindings[assignments.fields[index].reference].field else {
                continue
            }
            let counts = executor.context.reads(source.number)
            if try addEnds(index, view, column, series, counts) { continue }
            if try addCount(index, view, column, series, counts) { continue }
            try scan(index, view, column, series, source.number)
        }
        for index in own.collectors {
            let reference = assignments.collectors[index].reference
            guard let column = source.bindings[reference].field
            else { continue }
            var collector = collectors[index]
            let needsTimes = assignments.collectorsNeedTimes
            collectors[index] = collector.emptied
            defer { collectors[index] = collector }
            let type = plan.references[reference].type
            let context = executor.context
            let share = share
            let noSummary = { (_: Int64, _: Int64) in false }
            try view.scan(
                column, of: series, in: collector.range, counts: context.reads(source.number),
                pool: context.columns, shape: needsTimes ? .timed : .untimed,
                summarize: noSummary
            ) { piece throws(DatabaseError) -> Bool in
                guard case .values(let slice) = piece else { return true }
                try context.read(slice, source.number)
                var vector = ResultVector(slice)
                if let type { vector = vector.cast(to: type) }
                // Texts are no numbers: another source has the field as a number.
                if vector.type == nil { return true }
                let before = collector.sizeBytes
                if slice.times.isEmpty {
                    collector.add(vector, all: collector.range.lower)
                } else {
                    collector.add(times: slice.times, vector, [])
                }
                try share.grow(collector.sizeBytes - before)
                return true
            }
        }
    }

    private mutating func scan(
        _ index: Int, _ view: ExperimentView, _ column: ColumnID, _ series: Series,
        _ source: Int
    ) throws(DatabaseError) {
        let field = fields[index]
        let (window, range) = (field.summaryWindow, field.range)
        let isStored = view.schema.column(column).type == field.type
        let shape = isStored ? field.shape : .timed
        let takesSummaries = isStored && !needsPointTimes(index)
        let context = executor.context
        try fill(index, source) { body throws(DatabaseError) in
            try view.scan(
                column, of: series, in: range, counts: context.reads(source),
                pool: context.columns, shape: shape,
                summarize: { first, last in takesSummaries && window.accepts(first, last) }, body)
        }
    }

    /// Feeds the pieces of a scan to a field and accounts for its memory.
    ///
    /// - Parameter dropsNaN: whether NaN counts as no value.
    private mutating func fill(
        _ index: Int, _ source: Int, dropsNaN: Bool = false,
        _ scan: (_ body: (ColumnPiece) throws(DatabaseError) -> Bool) throws(DatabaseError) -> Void
    ) throws(DatabaseError) {
        // Moved out of self meanwhile: a second reference would turn every change into a copy.
        var own: [FieldAccumulator] = []
        swap(&own, &fields)
        defer { swap(&own, &fields) }
        let (context, share) = (executor.context, share)
        var size = own[index].sizeBytes
        try scan { piece throws(DatabaseError) -> Bool in
            switch piece {
            case .summary(let summary):
                try context.checkCancelled()
                own[index].add(summary)
            case .buckets(let slice):
                try context.read(slice, source)
                own[index].add(dropsNaN ? slice.withoutNaN : slice)
            case .values(let slice):
                try context.read(slice, source)
                let kept = dropsNaN ? slice.withoutNaN : slice
                if kept.type == own[index].type {
                    own[index].add(kept)
                } else {
                    own[index].add(
                        times: kept.times, ResultVector(kept).cast(to: own[index].type))
                }
            }
            // Grows with buckets, and one block usually has few of them.
            try share.grow(own[index].sizeBytes - size)
            size = own[index].sizeBytes
            return true
        }
        own[index].endSeries()
    }

    /// Outside of buckets, a single min or max has the time of its point, which summaries lack.
    func needsPointTimes(_ index: Int) -> Bool {
        guard plan.buckets == nil, plan.singleSelector else { return false }
        let aggregate = plan.calls[0].aggregate
        return aggregate == .min || aggregate == .max
    }

    /// Reads a first() or last() outside of buckets from the ends.
    private mutating func addEnds(
        _ index: Int, _ view: ExperimentView, _ column: ColumnID, _ series: Series,
        _ counts: ReadCounts
    ) throws(DatabaseError) -> Bool {
        let needs = fields[index].needs
        guard assignments.fields[index].needsOnlyEnds,
            view.schema.column(column).type == fields[index].type
        else {
            return false
        }
        try executor.context.checkCancelled()
        for end in [BucketNeeds.first, .last] where needs.contains(end) {
            let found = try view.end(
                column, of: series, in: fields[index].range, last: end == .last, counts: counts,
                pool: executor.context.columns)
            guard let (time, value) = found else { break }
            counts.rows += 1
            fields[index].add(times: [time], .constant(value, count: 1))
        }
        fields[index].endSeries()
        return true
    }

    /// Takes a count outside of buckets from the presence of values.
    private mutating func addCount(
        _ index: Int, _ view: ExperimentView, _ column: ColumnID, _ series: Series,
        _ counts: ReadCounts
    ) throws(DatabaseError) -> Bool {
        guard fields[index].needs.isCount, plan.buckets == nil,
            view.schema.column(column).type == fields[index].type
        else { return false }
        try executor.context.checkCancelled()
        let range = fields[index].range
        let found = try view.count(
            column, of: series, in: range, counts: counts, pool: executor.context.columns)
        guard let found else { return false }
        fields[index].add(count: found, at: max(series.firstTime, range.lower))
        fields[index].endSeries()
        return true
    }

    // MARK: One filtered column

    /// The one reference that all calls and the condition use; nil if there are several.
    func filteredColumn(_ input: InputSeries) -> Int? {
        let all = allAssignments
        guard case .stored = input.origin, let condition = input.condition, !hasAuxiliary,
            !all.hasComputed, all.collectors.isEmpty, let reference = all.fields.first?.reference,
            all.fields.allSatisfy({ $0.reference == reference }),
            condition.referencesRead.isSubset(of: [reference]), !condition.readsTimes,
            plan.sources[input.source].bindings[reference].field != nil
        else { return nil }
        return reference
    }

    /// Scans that column and drops the values that fail the condition.
    mutating func scan(
        _ reference: Int, _ view: ExperimentView, _ series: Series, _ input: InputSeries
    ) throws(DatabaseError) {
        let source = plan.sources[input.source]
        guard let condition = input.condition, !fields.isEmpty,
            let column = source.bindings[reference].field,
            let type = plan.references[reference].type
        else { return }
        let context = executor.context
        let evaluator = Evaluator(integersDivideToFloat: false, readsStoredRows: true)
        var fields = fields
        self.fields = []
        defer { self.fields = fields }
        let range = fields.reduce(fields[0].range) { $0.union($1.range) }
        try view.scan(
            column, of: series, in: range,
            predicates: condition.storageCondition(plan, source, view.schema).test?
                .requiredPredicates ?? [],
            counts: context.reads(source.number), pool: context.columns,
            shape: fields.allSatisfy { $0.takesUntimed && $0.range == range }
                ? .untimed : .timed,
            summarize: { _, _ in false }
        ) { piece throws(DatabaseError) -> Bool in
            guard case .values(let slice) = piece else { return true }
            try context.read(slice, source.number)
            let vector = ResultVector(slice).cast(to: type)
            var columns = RowColumns(count: slice.count)
            columns[reference] = vector
            let mask = evaluator.mask(condition, columns, count: slice.count)
            let accepted = slice.accepted(by: mask, as: vector)
            guard accepted.count > 0 else { return true }
            for index in fields.indices where accepted.type == fields[index].type {
                fields[index].add(accepted)
            }
            return true
        }
        for index in fields.indices { fields[index].endSeries() }
        try share.resize(to: fields.reduce(0) { $0 + $1.sizeBytes })
    }

    // MARK: The first value of several columns

    /// The columns to read as one; nil if rows must be assembled.
    func firstValueColumns(_ input: InputSeries) -> FirstValueColumns? {
        guard input.condition == nil, !hasAuxiliary, allAssignments.collectors.isEmpty else {
            return nil
        }
        var (origin, own) = (input, plan)
        if case .derived(let inner) = input.origin {
            guard inner.input.condition == nil else { return nil }
            (origin, own) = (inner.input, inner.plan)
        }
        guard case .stored(let view, let series) = origin.origin else { return nil }
        let source = own.sources[origin.source]
        var found = FirstValueColumns(
            view: view, series: series, source: source.number,
            range: own === plan ? .all : own.range)
        for index in assignments.indices(of: input.present, in: plan.sources[input.source]).fields {
            guard let evaluation = evaluation(ofField: index, input),
                let columns = evaluation.firstValueColumns(
                    own, source, view.schema, type: fields[index].type)
            else { return nil }
            let dropsNaN = own !== plan && !evaluation.isColumn
            found.fields.append(
                FirstValueColumns.Field(index: index, columns: columns, dropsNaN: dropsNaN))
        }
        return found
    }

    /// The expression of a field, over columns of its own series or of the subquery's.
    private func evaluation(ofField index: Int, _ input: InputSeries) -> Evaluation? {
        let reference = assignments.fields[index].reference
        switch (input.origin, plan.references[reference].computation) {
        case (.stored, .row(let evaluation)?): return evaluation
        case (.derived(let inner), nil):
            let binding = plan.sources[input.source].bindings[reference]
            guard case .output(let column) = binding else { return nil }
            return inner.plan.columns[column].evaluation
        default: return nil
        }
    }

    mutating func scan(_ found: FirstValueColumns) throws(DatabaseError) {
        let context = executor.context
        let counts = context.reads(found.source)
        for field in found.fields {
            let range = found.range.intersection(fields[field.index].range)
            let shape = fields[field.index].shape
            let only = try found.view.only(of: field.columns, found.series)
            try fill(field.index, found.source, dropsNaN: field.dropsNaN) {
                body throws(DatabaseError) in
                guard let only else {
                    var cursor = try FirstValueCursor(
                        found.view, columns: field.columns, series: found.series, range: range,
                        counts: counts, pool: context.columns)
                    while let slice = try cursor.next() { _ = try body(.values(slice)) }
                    return
                }
                // The number of values does not tell which of them are NaN.
                try found.view.scan(
                    only, of: found.series, in: range, counts: counts, pool: context.columns,
                    shape: field.dropsNaN ? shape.withValues : shape,
                    summarize: { _, _ in false }, body)
            }
        }
    }
}

extension Evaluation {
    /// The stored columns whose first value this is; nil for any other expression.
    fileprivate func firstValueColumns(
        _ plan: SelectPlan, _ source: PlannedSource, _ schema: ExperimentSchema, type: FieldType
    ) -> [ColumnID]? {
        let parts: [Evaluation]
        switch self {
        case .column: parts = [self]
        case .coalesce(let arguments, _): parts = arguments
        default: return nil
        }
        var columns: [ColumnID] = []
        for part in parts {
            guard type != .string, case .column(let reference) = part,
                plan.references[reference].computation == nil,
                plan.references[reference].type == type,
                let column = source.bindings[reference].field,
                schema.column(column).type == type
            else { return nil }
            columns.append(column)
        }
        return columns
    }
}

extension ColumnSlice {
    /// The values that a mask selects, as the vector has them.
    fileprivate func accepted(by mask: [Bool], as vector: ResultVector) -> ColumnSlice {
        var kept = ColumnSlice(type: vector.type ?? type, strings: vector.strings)
        for index in mask.indices where mask[index] && vector.isPresent[index] {
            kept.bits.append(vector.bits[index])
            if !times.isEmpty { kept.times.append(times[index]) }
        }
        return kept
    }

    /// The values without NaN, which counts as no value if it is computed.
    fileprivate var withoutNaN: ColumnSlice {
        guard type == .float, bits.contains(where: { Double(bitPattern: $0).isNaN }) else {
            return self
        }
        var kept = ColumnSlice(type: type, strings: strings)
        for index in bits.indices where !Double(bitPattern: bits[index]).isNaN {
            if !times.isEmpty { kept.times.append(times[index]) }
            kept.bits.append(bits[index])
        }
        return kept
    }
}
