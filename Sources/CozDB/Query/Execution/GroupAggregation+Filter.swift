// Reads values of the rows that storage filters by bitmap. Assembles no rows, and decodes only
// blocks with values of these rows.

extension GroupAggregation {
    /// Adds the values of the rows that pass a predicate.
    mutating func addFiltered(
        _ input: InputSeries, _ view: ExperimentView, _ series: Series, _ test: RowPredicate
    ) throws(DatabaseError) {
        let source = plan.sources[input.source]
        let own = assignments.indices(of: input.present, in: source)
        let ranges =
            own.fields.map { fields[$0].range } + own.collectors.map { collectors[$0].range }
        guard let range = ranges.dropFirst().reduce(ranges.first, { $0?.union($1) }),
            var rows = try FilteredRows(
                view, series: series, test: test, columns: columnsRead(own, source), range: range,
                counts: executor.context.reads(source.number), pool: executor.context.columns)
        else { return }
        while try rows.next() {
            try executor.context.checkCancelled()
            var grown = 0
            for index in own.fields {
                guard let column = source.bindings[assignments.fields[index].reference].field else {
                    continue
                }
                grown -= fields[index].sizeBytes
                try add(&rows, column, toField: index, in: range, source, view)
                grown += fields[index].sizeBytes
            }
            for index in own.collectors {
                guard let column = source.bindings[assignments.collectors[index].reference].field
                else {
                    continue
                }
                let slice = try rows.slice(column, view, withTimes: true)
                try executor.context.read(slice, source.number)
                var vector = ResultVector(slice)
                let type = plan.references[assignments.collectors[index].reference].type
                if let type { vector = vector.cast(to: type) }
                grown -= collectors[index].sizeBytes
                collectors[index].add(times: slice.times, vector, [])
                grown += collectors[index].sizeBytes
            }
            try share.grow(grown)
        }
        for index in own.fields { fields[index].endSeries() }
    }

    /// The condition as a predicate on stored rows; nil if storage cannot evaluate it exactly, or
    /// if the calls need more than values of columns.
    func rowTest(_ input: InputSeries, _ view: ExperimentView) -> RowPredicate? {
        guard let condition = input.condition, !hasAuxiliary, !allAssignments.hasComputed,
            !takesEndsOnly || filteredColumn(input) != nil
        else { return nil }
        let filter = condition.storageCondition(plan, plan.sources[input.source], view.schema)
        return filter.isExact ? filter.test : nil
    }

    private func columnsRead(
        _ own: CallAssignments.Indices, _ source: PlannedSource
    ) -> [ColumnID] {
        let references =
            own.fields.map { assignments.fields[$0].reference }
            + own.collectors.map { assignments.collectors[$0].reference }
        return references.compactMap { source.bindings[$0].field }
    }

    private mutating func add(
        _ rows: inout FilteredRows, _ column: ColumnID, toField index: Int, in range: TimeRange,
        _ source: PlannedSource, _ view: ExperimentView
    ) throws(DatabaseError) {
        let isUntimed = fields[index].takesUntimed && fields[index].range == range
        let isStored = view.schema.column(column).type == fields[index].type
        if isUntimed, isStored, fields[index].needs.isCount {
            return fields[index].add(count: try rows.count(column), at: range.lower)
        }
        let slice = try rows.slice(column, view, withTimes: !isUntimed || !isStored)
        try executor.context.read(slice, source.number)
        guard isStored else {
            return fields[index].add(
                times: slice.times, ResultVector(slice).cast(to: fields[index].type))
        }
        fields[index].add(slice)
    }
}

extension FilteredRows {
    fileprivate mutating func slice(
        _ column: ColumnID, _ view: ExperimentView, withTimes: Bool
    ) throws(DatabaseError) -> ColumnSlice {
        let found = try values(column)
        var slice = ColumnSlice(type: view.schema.column(column).type, strings: found.strings)
        slice.bits = found.bits
        guard withTimes, !found.rows.isEmpty else { return slice }
        let times = try times()
        slice.times =
            found.rows.count == times.count ? times : found.rows.map { times[Int($0)] }
        return slice
    }
}
