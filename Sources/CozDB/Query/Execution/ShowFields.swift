// SHOW FIELDS: the number of values of each field and the times of the first and last one. Block
// directories and statistics provide the answer. Values are read only at the ends of the time
// range, where sources overlap, and if attributes decide which rows count.

/// The fields of one group that have values, by index of the plan's field. Sparse, because most
/// participants have few of the fields.
private typealias FieldTallies = [Int: ValueTally]

/// The listed fields of an experiment, with their indexes among the plan's fields.
private struct FieldList {
    let fields: [(place: Int, column: Column)]
    /// The columns of names, types and units.
    let descriptions: [ResultVector]
    private var positions: [Int: Int] = [:]

    init(_ fields: [(place: Int, column: Column)]) {
        self.fields = fields
        var builders = [VectorBuilder](repeating: VectorBuilder(type: .string), count: 3)
        for (_, field) in fields {
            builders[0].append(.string(field.name))
            builders[1].append(.string(field.type.name))
            builders[2].append(field.unit.isEmpty ? nil : .string(field.unit))
        }
        descriptions = builders.map { $0.finished() }
        for (position, field) in fields.enumerated() { positions[field.place] = position }
    }

    /// Returns the fields that have values in a group.
    func fields(of group: FieldTallies) -> FieldList {
        FieldList(group.keys.compactMap { positions[$0] }.sorted().map { fields[$0] })
    }
}

extension ShowExecution {
    func fields<Sink: QueryResultSink>(
        _ show: ShowStatement, _ output: SinkOutput<Sink>
    ) throws(DatabaseError) {
        let views = try views(show).filter { !$0.schema.fields.isEmpty }
        for view in views { try checkIsAboutTags(show, view) }
        for view in views {
            try context.checkCancelled()
            let plan = try fieldPlan(show, view, among: views)
            let tallies = try tally(plan, view)
            let list = list(plan, view, show.limits)
            if list.fields.isEmpty { continue }
            for place in try tallies.sortedPlaces() {
                try context.checkCancelled()
                let group = tallies.groups[place]
                let own = options.omitsEmptyFields ? list.fields(of: group) : list
                try emit(plan, view, tallies.keys[place], group, own, output)
            }
        }
    }

    /// Refuses conditions on fields: only tags and time select which values are counted.
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
            "SHOW FIELDS accepts only conditions on tags and time; \(field.text) is a field of "
                + "experiment \"\(view.schema.name)\"; use SELECT count(*) for conditions on "
                + "fields", offset: field.offset)
    }

    /// Plans a SELECT of all fields under the same conditions.
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
                .usage, "SHOW FIELDS can group only by tags; found \(dimension.text)",
                offset: call.offset)
        }
        // A tag that only another experiment has is empty here.
        var options = options
        options.influxCompatible = options.influxCompatible || views.count > 1
        var planner = Planner(snapshot: snapshot, options: options)
        return try planner.plan(select)
    }

    private func tally(
        _ plan: SelectPlan, _ view: ExperimentView
    ) throws(DatabaseError) -> GroupTable<FieldTallies> {
        let executor = Executor(options: options, context: context)
        var tallies = GroupTable<FieldTallies>(executor)
        if plan.dimensions.isEmpty {
            let whole = GroupKey(name: Name(view.schema.name))
            _ = try tallies.place(of: whole, sizeBytes: ShowExecution.tallySizeBytes) { [:] }
        }
        guard !plan.range.isEmpty else { return tallies }
        var places = [Int?](repeating: nil, count: plan.references.count)
        for (place, reference) in plan.auxiliary.enumerated() { places[reference] = place }
        func add(
            _ key: GroupKey, _ references: [Int],
            _ tally: (_ reference: Int) throws(DatabaseError) -> ValueTally?
        ) throws(DatabaseError) {
            // A group without values in the range is none.
            var group: Int?
            for reference in references {
                guard let place = places[reference], let tally = try tally(reference),
                    tally.count > 0
                else { continue }
                if group == nil { group = try tallies.place(of: key, sizeBytes: 200) { [:] } }
                guard let group else { continue }
                let knownCount = tallies.groups[group].count
                tallies.groups[group][place, default: ValueTally()].add(tally)
                let newCount = tallies.groups[group].count - knownCount
                try tallies.share.grow(newCount * ShowExecution.tallySizeBytes)
            }
        }
        let source = plan.sources[0]
        let counts = context.reads(source.number)
        for input in try executor.storedInputs(plan, 0) {
            try context.checkCancelled()
            if !plan.isGroupedByRow, input.condition == nil,
                case .stored(_, let series) = input.origin
            {
                try add(executor.key(plan, input), input.present ?? plan.auxiliary) {
                    reference throws(DatabaseError) in
                    guard let column = source.bindings[reference].field,
                        try view.mayHave(column, series)
                    else { return nil }
                    return try view.valueCount(
                        of: column, in: series, range: plan.range, counts: counts,
                        pool: context.columns)
                }
                continue
            }
            try executor.forEachGroup(plan, input, driving: plan.auxiliary, descending: false) {
                key, part throws(DatabaseError) in
                try add(key, part.references.references) { reference in
                    let isPresent = part.references[reference].isPresent
                    guard let first = isPresent.firstIndex(of: true),
                        let last = isPresent.lastIndex(of: true)
                    else { return nil }
                    return ValueTally(
                        count: isPresent.reduce(0) { $0 + ($1 ? 1 : 0) },
                        first: part.times[first], last: part.times[last])
                }
            }
        }
        return tallies
    }

    /// The approximate size of a dictionary entry for a field.
    private static var tallySizeBytes: Int { 2 * (MemoryLayout<ValueTally>.stride + 8) }

    private func list(
        _ plan: SelectPlan, _ view: ExperimentView, _ limits: Limits
    ) -> FieldList {
        let fields = plan.auxiliary.enumerated().compactMap { place, reference in
            view.schema.field(plan.references[reference].name).map { (place: place, column: $0) }
        }
        let shown = page(fields.sorted { Name($0.column.name) < Name($1.column.name) }, limits)
        return FieldList(shown)
    }

    private func emit<Sink: QueryResultSink>(
        _ plan: SelectPlan, _ view: ExperimentView, _ key: GroupKey, _ group: FieldTallies,
        _ list: FieldList, _ output: SinkOutput<Sink>
    ) throws(DatabaseError) {
        let headers = [
            ResultColumn(name: "fieldKey", type: .string),
            ResultColumn(name: "fieldType", type: .string),
            ResultColumn(name: "unit", type: .string),
            ResultColumn(name: "count", type: .integer),
            ResultColumn(name: "first", type: .integer, isTime: true),
            ResultColumn(name: "last", type: .integer, isTime: true),
        ]
        var builders = [VectorBuilder](repeating: VectorBuilder(type: .integer), count: 3)
        for index in builders.indices { builders[index].reserve(list.fields.count) }
        for (place, _) in list.fields {
            guard let tally = group[place] else {
                builders[0].append(.integer, 0)
                builders[1].appendNull()
                builders[2].appendNull()
                continue
            }
            builders[0].append(.integer, UInt64(tally.count))
            builders[1].append(.integer, UInt64(bitPattern: tally.first))
            builders[2].append(.integer, UInt64(bitPattern: tally.last))
        }
        try output.announce(headers)
        try output.sink.beginSeries(
            ResultSeries(name: view.schema.name, tags: key.tags(plan.dimensions), columns: headers))
        try output.sink.rows(
            ResultBatch(
                columns: list.descriptions + builders.map { $0.finished() },
                count: list.fields.count))
        try output.sink.endSeries()
        context.counters.rowsReturned += list.fields.count
    }
}
