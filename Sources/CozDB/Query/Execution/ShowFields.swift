// SHOW FIELDS: for each field how many values it has, and when the first and last of them are.
// Answered from directories and statistics of blocks; values are read at the ends of the range of
// time, where sources overlap, and where attributes decide which rows count.

/// What is known of one field in one group.
private struct FieldTally {
    var count = 0
    var first = Int64.max
    var last = Int64.min

    mutating func add(count more: Int, first: Int64, last: Int64) {
        guard more > 0 else { return }
        count += more
        self.first = min(self.first, first)
        self.last = max(self.last, last)
    }
}

extension ShowExecution {
    func fields<Sink: QueryResultSink>(
        _ show: ShowStatement, _ output: SinkOutput<Sink>
    ) throws(DatabaseError) {
        let views = try views(show).filter { !$0.schema.fields.isEmpty }
        for view in views { try checkIsAboutTags(show, view) }
        for view in views {
            try counters.checkCancelled()
            let plan = try fieldPlan(show, view, among: views)
            let share = MemoryShare(counters.memory)
            let tallies = try tally(plan, view, share)
            for key in tallies.keys.sorted() {
                guard let group = tallies[key] else { continue }
                try emit(plan, view, key, group, show.limits, output)
            }
        }
    }

    /// Which values count is decided by tags and time: a field says nothing of the others.
    private func checkIsAboutTags(
        _ show: ShowStatement, _ view: ExperimentView
    ) throws(DatabaseError) {
        var field: Reference?
        show.condition?.walk { part in
            guard case .reference(let reference) = part, !reference.isTime,
                reference.kind != .tag, view.schema.field(reference.name) != nil
            else { return }
            field = field ?? reference
        }
        guard let field else { return }
        throw DatabaseError(
            .usage,
            "SHOW FIELDS takes conditions on tags and time; \(field.text) is a field of "
                + "experiment \"\(view.schema.name)\"; use SELECT count(*) to count under "
                + "conditions on fields", offset: field.offset)
    }

    /// The plan of a SELECT of all fields under the same conditions.
    private func fieldPlan(
        _ show: ShowStatement, _ view: ExperimentView, among views: [ExperimentView]
    ) throws(DatabaseError) -> SelectPlan {
        var select = SelectStatement()
        select.fields = [SelectField(expression: .wildcard(.field))]
        select.sources = [.experiment(view.schema.name, qualifiers: [], offset: 0)]
        select.condition = show.condition
        select.dimensions = show.dimensions
        for dimension in show.dimensions {
            guard case .call(let call) = dimension else { continue }
            throw DatabaseError(
                .usage, "SHOW FIELDS groups by tags; found \(dimension.text)", offset: call.offset)
        }
        // A tag that only another of the experiments has is empty here.
        var options = options
        options.influxCompatible = options.influxCompatible || views.count > 1
        var planner = Planner(snapshot: snapshot, options: options)
        return try planner.plan(select)
    }

    private func tally(
        _ plan: SelectPlan, _ view: ExperimentView, _ share: MemoryShare
    ) throws(DatabaseError) -> [GroupKey: [FieldTally]] {
        let executor = Executor(options: options, counters: counters)
        let nothing = [FieldTally](repeating: FieldTally(), count: plan.auxiliary.count)
        var tallies: [GroupKey: [FieldTally]] = [:]
        if plan.dimensions.isEmpty {
            tallies[GroupKey(name: Name(view.schema.name), values: [])] = nothing
        }
        guard !plan.range.isEmpty else { return tallies }
        var places = [Int?](repeating: nil, count: plan.references.count)
        for (place, reference) in plan.auxiliary.enumerated() { places[reference] = place }
        for input in try executor.storedInputs(plan, 0) {
            try counters.checkCancelled()
            let isByRow = plan.isGroupedByRow || input.condition != nil
            if !isByRow, case .stored(_, let series) = input.origin {
                let key = executor.key(plan, input)
                // Taken out: what is there twice would be copied.
                var group = tallies.removeValue(forKey: key) ?? []
                if group.isEmpty {
                    try checkRoom(tallies.count, nothing, share, executor)
                    group = nothing
                }
                for reference in input.present ?? plan.auxiliary {
                    guard let place = places[reference],
                        case .column(let column, _) = plan.sources[0].bindings[reference]
                    else { continue }
                    try scan(plan, view, column, series, into: &group[place])
                }
                tallies[key] = group
                continue
            }
            try executor.deal(plan, input, driving: plan.auxiliary, descending: false) {
                key, part throws(DatabaseError) in
                if tallies[key] == nil {
                    try checkRoom(tallies.count, nothing, share, executor)
                    tallies[key] = nothing
                }
                for (place, reference) in plan.auxiliary.enumerated() {
                    let isPresent = part.references[reference].isPresent
                    guard let first = isPresent.firstIndex(of: true),
                        let last = isPresent.lastIndex(of: true)
                    else { continue }
                    tallies[key, default: nothing][place].add(
                        count: isPresent.reduce(0) { $0 + ($1 ? 1 : 0) },
                        first: part.times[first], last: part.times[last])
                }
            }
        }
        return tallies
    }

    private func checkRoom(
        _ groupCount: Int, _ group: [FieldTally], _ share: MemoryShare, _ executor: Executor
    ) throws(DatabaseError) {
        if groupCount >= options.groupCountMax { throw executor.tooManyGroups() }
        try share.grow(group.count * MemoryLayout<FieldTally>.stride + 200)
    }

    private func scan(
        _ plan: SelectPlan, _ view: ExperimentView, _ column: ColumnID, _ series: Series,
        into tally: inout FieldTally
    ) throws(DatabaseError) {
        guard try view.mayHave(column, series) else { return }
        let counts = counters.reads(plan.sources[0].number)
        var own = FieldTally()
        try view.scan(
            column, of: series, in: plan.range, counts: counts, pool: counters.columns,
            summarize: { _, _ in true }
        ) { piece throws(DatabaseError) -> Bool in
            switch piece {
            case .buckets: break
            case .summary(let summary):
                own.add(count: summary.count, first: summary.firstTime, last: summary.lastTime)
            case .values(let slice):
                try counters.read(slice, plan.sources[0].number)
                own.add(
                    count: slice.count, first: slice.times[0],
                    last: slice.times[slice.count - 1])
            }
            return true
        }
        tally.add(count: own.count, first: own.first, last: own.last)
    }

    private func emit<Sink: QueryResultSink>(
        _ plan: SelectPlan, _ view: ExperimentView, _ key: GroupKey, _ group: [FieldTally],
        _ limits: Limits, _ output: SinkOutput<Sink>
    ) throws(DatabaseError) {
        let fields = zip(plan.auxiliary, group).compactMap { reference, tally in
            view.schema.field(plan.references[reference].name).map { ($0, tally) }
        }
        let shown = page(fields.sorted { Name($0.0.name) < Name($1.0.name) }, limits)
        guard !shown.isEmpty else { return }
        var headers = [
            ResultColumn(name: "fieldKey", type: .string),
            ResultColumn(name: "fieldType", type: .string),
            ResultColumn(name: "unit", type: .string),
            ResultColumn(name: "count", type: .integer),
            ResultColumn(name: "first", type: .integer),
            ResultColumn(name: "last", type: .integer),
        ]
        headers[4].isTime = true
        headers[5].isTime = true
        var builders = headers.map { VectorBuilder(type: $0.type) }
        for (field, tally) in shown {
            let isThere = tally.count > 0
            let row: [FieldValue?] = [
                .string(field.name), .string(field.type.name),
                field.unit.isEmpty ? nil : .string(field.unit), .integer(Int64(tally.count)),
                isThere ? .integer(tally.first) : nil, isThere ? .integer(tally.last) : nil,
            ]
            for index in builders.indices { builders[index].append(row[index]) }
        }
        let tags = zip(plan.dimensions, key.values).map { ($0.name, $1.text) }
        try output.sink.beginSeries(
            ResultSeries(name: view.schema.name, tags: tags, columns: headers))
        try output.sink.rows(
            ResultBatch(columns: builders.map { $0.finished() }, count: shown.count))
        try output.sink.endSeries()
        counters.value.rowsReturned += shown.count
    }
}
