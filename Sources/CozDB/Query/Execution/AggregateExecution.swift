// SELECT with calls: the accumulators of one group. `AccessPath` says how the values of a series
// reach them. Then come fill, transformations and columns.

extension Executor {
    /// The points of calls of a group that is complete.
    ///
    /// - Parameters:
    ///   - calls: those that may have points, ascending.
    ///   - share: the memory of the points.
    func lists(
        _ plan: SelectPlan, _ aggregation: GroupAggregation, _ calls: [Int],
        _ share: MemoryReservation
    ) throws(DatabaseError) -> [PointList] {
        var lists: [PointList] = []
        var collected = CollectedPoints()
        for index in calls {
            let points = try aggregation.points(index, &collected)
            let list = try finished(plan, plan.calls[index], points)
            try share.grow(list.sizeBytes)
            lists.append(list)
        }
        return lists
    }

    /// Writes the answer of a group, or returns the steps that do.
    ///
    /// - Parameters:
    ///   - calls: those that may have points, ascending; not empty.
    ///   - lists: the points of each of them.
    func rows(
        _ plan: SelectPlan, _ key: GroupKey, _ calls: [Int], _ lists: [PointList],
        _ output: any SeriesOutput
    ) throws(DatabaseError) -> GroupRows {
        let writer = RowWriter(plan, key, output)
        if calls.count == 1 {
            return try writer.rows(times: lists[0].times, inputs(plan, calls[0], lists[0]))
        }
        let share = MemoryReservation(context.memory)
        let (times, vectors) = try joined(
            plan, calls, lists, rowCountMax: writer.rowsWanted, share)
        var inputs = references(plan, PointList(times: times))
        inputs.reserveCalls(calls.count)
        for (call, vector) in zip(calls, vectors) { inputs.appendCall(call, vector) }
        return try writer.rows(times: times, inputs, share)
    }

    /// Orders the points, fills empty buckets, and applies transformations.
    private func finished(
        _ plan: SelectPlan, _ call: PlannedCall, _ points: PointList
    ) throws(DatabaseError) -> PointList {
        var list = plan.isAscending ? points : points.reversed
        if let buckets = plan.buckets, let aggregate = call.aggregate, !aggregate.hasManyRows,
            aggregate != .integral, plan.fill != .none, let first = points.times.first
        {
            let range = plan.range(of: call)
            var lower = plan.hasLowerBound ? buckets.bounds(range.lower).start : first
            // The first bucket of a subquery may start before the range.
            if !plan.isAscending { lower = min(lower, first) }
            let share = MemoryReservation(context.memory)
            let last = max(range.upper - 1, first)
            // The starts, and the list with one row per start.
            let count = buckets.count(first: lower, last: last)
            if count <= Double(options.bucketCountMax) {
                try share.grow(Int(min(count, 1e15)) * 34)
            }
            var starts = try buckets.starts(
                first: lower, last: last, countMax: options.bucketCountMax
            ) { () throws(DatabaseError) in try context.checkCancelled() }
            if !plan.isAscending { starts.reverse() }
            let isCount = aggregate == .count || aggregate == .countDistinct
            let fill = plan.fill == .null && isCount ? Fill.number(.integer(0)) : plan.fill
            list = try BucketFiller(
                fill: fill, buckets: buckets, starts: starts,
                keepsNaN: !call.transformations.isEmpty
            ).apply(to: list) { () throws(DatabaseError) in try context.checkCancelled() }
        }
        for transformation in call.transformations {
            list = try transformation.apply(
                to: list, isAscending: plan.isAscending, bucketsMax: options.bucketCountMax,
                checkCancelled: { () throws(DatabaseError) in try context.checkCancelled() })
        }
        list.values.replaceNulls(plan.fill, call.type)
        return list
    }

    private func inputs(_ plan: SelectPlan, _ call: Int, _ list: PointList) -> RowColumns {
        var values = list.values
        values.replaceNulls(plan.fill, plan.calls[call].type)
        var inputs = references(plan, list)
        inputs.appendCall(call, values)
        return inputs
    }

    /// The columns of the points; empty if the statement reads only calls.
    private func references(_ plan: SelectPlan, _ list: PointList) -> RowColumns {
        var inputs = RowColumns(count: list.count)
        for (place, reference) in plan.auxiliary.enumerated() where !list.auxiliary.isEmpty {
            inputs[reference] = list.auxiliary[place]
            inputs[reference].replaceNulls(plan.fill, plan.references[reference].type)
        }
        return inputs
    }

    /// Joins the first rows of several calls by time.
    private func joined(
        _ plan: SelectPlan, _ calls: [Int], _ lists: [PointList], rowCountMax: Int,
        _ share: MemoryReservation
    ) throws(DatabaseError) -> (times: [Int64], vectors: [ResultVector]) {
        let checkedCount = max(1, CancellationCheck.stepCount / lists.count)
        var times: [Int64] = []
        var rows = lists.map { _ in 0 }
        var builders = calls.map { VectorBuilder(type: plan.calls[$0].type) }
        while times.count < rowCountMax {
            var next: Int64?
            for (list, row) in zip(lists, rows) where row < list.count {
                let time = list.times[row]
                if let known = next, plan.isAscending ? known <= time : known >= time { continue }
                next = time
            }
            guard let next else { break }
            times.append(next)
            if times.count % checkedCount == 0 {
                try context.checkCancelled()
                try share.grow(checkedCount * (8 + 9 * lists.count))
            }
            for index in lists.indices {
                let row = rows[index]
                if row < lists[index].count, lists[index].times[row] == next {
                    builders[index].append(lists[index].values, row: row)
                    rows[index] += 1
                } else {
                    builders[index].appendNull()
                }
            }
        }
        return (
            times,
            lists.indices.map { index in
                var vector = builders[index].finished()
                vector.replaceNulls(plan.fill, plan.calls[calls[index]].type)
                return vector
            }
        )
    }
}

extension ResultVector {
    /// fill(0) and fill(previous) also replace nulls in rows where only another column has a value.
    /// InfluxDB does the same (query/iterator.gen.go, floatIteratorScanner.ScanAt).
    fileprivate mutating func replaceNulls(_ fill: Fill, _ type: FieldType?) {
        guard isPresent.contains(false) else { return }
        switch fill {
        case .null, .none, .linear: return
        case .previous:
            var previous: UInt64?
            for row in isPresent.indices {
                if isPresent[row] {
                    previous = bits[row]
                } else if let previous {
                    (bits[row], isPresent[row]) = (previous, true)
                }
            }
        case .number(let number):
            guard let value = BucketFiller.cast(number, to: type) else { return }
            let filler = ResultVector.constant(value, count: 1)
            self.type = value.type
            for row in isPresent.indices where !isPresent[row] {
                (bits[row], isPresent[row]) = (filler.bits[0], true)
            }
        }
    }
}

/// The points of the last collector, cached for calls that share it.
struct CollectedPoints {
    var collector: Int?
    var list = PointList()
    var rankings = RankingCache()
}

/// The accumulators of a statement's calls for one group.
struct GroupAggregation {
    let plan: SelectPlan
    let executor: Executor
    var fields: [FieldAccumulator] = []
    var collectors: [PointCollector] = []
    /// The accumulator or collector of each call.
    let assignments: CallAssignments
    let hasAuxiliary: Bool
    /// The memory of fields, collectors and the points made from them.
    let share: MemoryReservation

    /// - Parameters:
    ///   - assignments: the calls that the rows to be added may reach; nil means all.
    ///   - extent: the time range of all rows to be added, if known.
    init(
        _ plan: SelectPlan, _ executor: Executor, _ assignments: CallAssignments? = nil,
        extent: TimeRange? = nil
    ) {
        self.plan = plan
        self.executor = executor
        let assignments = assignments ?? executor.assignments(of: plan)
        self.assignments = assignments
        hasAuxiliary = !plan.auxiliary.isEmpty
        share = MemoryReservation(executor.context.memory)
        // See `setRanges` for sources of both kinds.
        let first = plan.sources.first
        fields = assignments.fields.map { field in
            FieldAccumulator(
                type: field.type, range: first?.times(in: field.range) ?? field.range,
                buckets: plan.buckets, needs: field.needs, extent: extent)
        }
        if assignments.collectors.isEmpty { return }
        let auxiliaryTypes = plan.auxiliary.map { plan.references[$0].type }
        collectors = assignments.collectors.map { collector in
            PointCollector(
                type: collector.type, auxiliaryTypes: auxiliaryTypes,
                range: first?.times(in: collector.range) ?? collector.range)
        }
    }

    // MARK: Input

    mutating func add(_ input: InputSeries) throws(DatabaseError) {
        guard !assignments.calls.isEmpty else { return }
        setRanges(of: input)
        switch accessPath(input) {
        case .columnScan(let view, let series):
            try scan(view, series, plan.sources[input.source], input.present)
        case .filteredScan(let view, let series, let test):
            try addFiltered(input, view, series, test)
        case .filteredColumn(let view, let series, let reference):
            try scan(reference, view, series, input)
        case .firstValues(let columns): try scan(columns)
        case .firstRow: try addOneRow(input)
        case .endLookup(let view, let series): try addEnds(input, view, series)
        case .rowScan: try addRows(input)
        }
    }

    /// Makes the ranges of the calls those of the input's source.
    mutating func setRanges(of input: InputSeries) {
        guard assignments.isMixed else { return }
        let source = plan.sources[input.source]
        let own = assignments.indices(of: input.present, in: source)
        for index in own.fields {
            fields[index].range = source.times(in: assignments.fields[index].range)
        }
        for index in own.collectors {
            collectors[index].range = source.times(in: assignments.collectors[index].range)
        }
    }

    private mutating func addRows(_ input: InputSeries) throws(DatabaseError) {
        if case .materialized(let series) = input.origin, input.condition == nil,
            !assignments.hasComputed
        {
            return try add(series, input)
        }
        var reader = RowBatchReader(
            plan, input, driving: assignments.arguments, in: executor.extended(plan),
            descending: false,
            context: executor.context)
        var batch = RowBatch()
        while try reader.next(into: &batch) {
            try add(batch, plan.sources[input.source])
        }
        let own = assignments.indices(of: input.present, in: plan.sources[input.source])
        for index in own.fields { fields[index].endSeries() }
    }

    /// Adds the rows of a subquery's answer, all of which pass, without a reader.
    private mutating func add(
        _ series: MaterializedSeries, _ input: InputSeries
    ) throws(DatabaseError) {
        let source = plan.sources[input.source]
        let batchRows = RowBatchReader.rowCountMax(columnCount: plan.references.count)
        var tags = TagCache(input)
        for start in stride(from: 0, to: series.times.count, by: batchRows) {
            let rows = start..<min(start + batchRows, series.times.count)
            let isWhole = rows.count == series.times.count
            var batch = RowBatch(times: isWhole ? series.times : Array(series.times[rows]))
            batch.references.reserve(input.present?.count ?? plan.references.count)
            for index in input.present ?? Array(plan.references.indices) {
                let vector: ResultVector
                switch source.bindings[index] {
                case .output(let index):
                    guard let column = series.columns.column(index) else { continue }
                    vector = column.part(rows)
                case .tag(let name):
                    let value = plan.value(ofTag: tags.value(of: name), source)
                    vector = .constant(value, count: batch.count)
                default: continue
                }
                let type = plan.references[index].type
                batch.references[index] = type.map { vector.cast(to: $0) } ?? vector
            }
            try add(batch, source)
        }
        let own = assignments.indices(of: input.present, in: plan.sources[input.source])
        for index in own.fields { fields[index].endSeries() }
    }

    /// Resets to the initial state, but keeps the buffers.
    mutating func removeAll() {
        for index in fields.indices { fields[index].removeAll() }
        for index in collectors.indices { collectors[index].removeAll() }
        share.release()
    }

    /// Adds the first and last values of rows that pass the condition. Reads each field, and the
    /// columns of the condition, from the ends up to the first such row.
    private mutating func addEnds(
        _ input: InputSeries, _ view: ExperimentView, _ series: Series
    ) throws(DatabaseError) {
        let source = plan.sources[input.source]
        for index in fields.indices {
            let reference = assignments.fields[index].reference
            guard let column = source.bindings[reference].field,
                try view.mayHave(column, series)
            else { continue }
            let needs = fields[index].needs
            for end in [BucketNeeds.first, .last] where needs.contains(end) {
                var reader = RowBatchReader(
                    plan, input, driving: [reference],
                    only: (input.condition?.referencesRead ?? []).union([reference]),
                    in: fields[index].range, descending: end == .last, batchRows: 64,
                    context: executor.context)
                var batch = RowBatch()
                while try reader.next(into: &batch) {
                    guard let vector = batch.references.column(reference),
                        let row = vector.isPresent.firstIndex(of: true)
                    else { continue }
                    fields[index].add(times: [batch.times[row]], vector.filtered([row]))
                    break
                }
            }
            fields[index].endSeries()
        }
    }

    /// Reads from the end with the wanted point, up to that point.
    private mutating func addOneRow(_ input: InputSeries) throws(DatabaseError) {
        let argument = plan.calls[0].argument
        var reader = RowBatchReader(
            plan, input, driving: [argument], in: executor.extended(plan),
            descending: plan.calls[0].aggregate?.usesOnlyLastPoint == true, batchRows: 64,
            context: executor.context)
        var batch = RowBatch()
        while try reader.next(into: &batch) {
            guard let row = batch.references.column(argument)?.isPresent.firstIndex(of: true)
            else { continue }
            return try add(batch.filtered([row]), plan.sources[input.source])
        }
    }

    /// Adds what another aggregation collected from the inputs that follow.
    mutating func add(_ other: GroupAggregation) throws(DatabaseError) {
        try executor.context.checkCancelled()
        for index in fields.indices { fields[index].add(other.fields[index]) }
        for index in collectors.indices { collectors[index].add(other.collectors[index]) }
        try share.resize(to: sizeBytes)
    }

    /// The approximate memory use.
    var sizeBytes: Int {
        fields.reduce(0) { $0 + $1.sizeBytes } + collectors.reduce(0) { $0 + $1.sizeBytes }
    }

    mutating func add(_ batch: RowBatch, _ source: PlannedSource) throws(DatabaseError) {
        let others = batch.references.columns(plan.auxiliary)
        let indices = assignments.indices(of: batch.references.references, in: source)
        var grown = 0
        // A tag has no points, unless it is a column of a subquery.
        for index in indices.fields where plan.isField(assignments.fields[index].reference, source)
        {
            grown -= fields[index].sizeBytes
            fields[index].add(
                times: batch.times, batch.references[assignments.fields[index].reference])
            grown += fields[index].sizeBytes
        }
        for index in indices.collectors
        where plan.isField(assignments.collectors[index].reference, source) {
            grown -= collectors[index].sizeBytes
            collectors[index].add(
                times: batch.times, batch.references[assignments.collectors[index].reference],
                others)
            grown += collectors[index].sizeBytes
        }
        try share.grow(grown)
    }

    // MARK: Output

    /// The points of one call before fill and transformations, by ascending time.
    ///
    /// - Parameter collected: the points of the previous collector, which calls may share.
    func points(
        _ call: Int, _ collected: inout CollectedPoints
    ) throws(DatabaseError) -> PointList {
        let planned = plan.calls[call]
        // A row that is not a single point gets the lower bound as its time.
        let bound = plan.hasLowerBound ? plan.range.lower : 0
        let time: Int64? = plan.singleSelector ? nil : bound
        switch (assignments.place(of: call), planned.aggregate) {
        case (.nowhere, _): return PointList()
        case (.field(let index), let aggregate?):
            let points = fields[index].points(aggregate, time: time, age: age(planned))
            // A cancelled computation leaves incomplete points.
            try executor.context.checkCancelled()
            return points
        case (.collector(let index), let aggregate):
            if collected.collector != index {
                collected = CollectedPoints(
                    collector: index, list: try collectors[index].finished(executor.context))
            }
            guard let aggregate, collected.list.count > 0 else { return collected.list }
            let selection = Selection(
                aggregate: aggregate, parameter: planned.parameter, buckets: plan.buckets,
                time: time,
                distinguishing: planned.distinguishing.compactMap {
                    plan.auxiliary.firstIndex(of: $0)
                }, age: age(planned), rankings: collected.rankings)
            return try selection.apply(to: collected.list, executor.context)
        case (.field, nil): return PointList()
        }
    }

    private func age(_ call: PlannedCall) -> Age {
        Age(
            now: executor.options.currentTime.nanoseconds, unit: Int64(saturating: call.parameter))
    }
}

extension ResultVector {
    init(_ slice: ColumnSlice) {
        self.init(
            type: slice.type, bits: slice.bits,
            isPresent: Array(repeating: true, count: slice.count), strings: slice.strings)
    }
}
