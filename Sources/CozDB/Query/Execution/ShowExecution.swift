// Executes SHOW: names come from schemas, tags from series keys, attributes from stored values.

struct ShowExecution {
    let snapshot: Snapshot
    let options: QueryOptions
    let context: ExecutionContext

    func run<Sink: QueryResultSink>(
        _ show: ShowStatement, into output: SinkOutput<Sink>
    ) throws(DatabaseError) {
        switch show.subject {
        case .databases:
            try emit("databases", ["name"], [[.string("cozdb")]], output)
        case .retentionPolicies:
            let columns = ["name", "duration", "shardGroupDuration", "replicaN", "default"]
            let row: [FieldValue] = [
                .string("autogen"), .string("0s"), .string("168h0m0s"), .integer(1),
                .boolean(true),
            ]
            try emit("", columns, [row], output)
        case .measurements:
            let rows = try measurements(show).map { [FieldValue.string($0.schema.name)] }
            try emit("measurements", ["name"], page(rows, show.limits), output)
        case .fieldKeys: try fieldKeys(show, output)
        case .fields: try fields(show, output)
        case .tagKeys: try tagKeys(show, output)
        case .tagValues: try tagValues(show, output)
        case .series: try series(show, output)
        case .server(let words):
            throw DatabaseError(.usage, "SHOW \(words) is not supported: CozDB has no server")
        default: try cardinality(show, output)
        }
    }

    // MARK: Subjects

    private func measurements(_ show: ShowStatement) throws(DatabaseError) -> [ExperimentView] {
        let split = try split(show)
        if split.first != nil || split.last != nil {
            throw DatabaseError(.usage, "SHOW MEASUREMENTS doesn't support time in WHERE clause")
        }
        try Planner.checkCondition(show.condition, in: experiments.count)
        var planner = Planner(snapshot: snapshot, options: options)
        var views: [ExperimentView] = []
        for view in experiments {
            try CancellationCheck.check()
            switch show.measurement {
            case .experiment(let name, _, _)? where Name(name) != Name(view.schema.name): continue
            case .pattern(let regex, _, _)? where !regex.matches(view.schema.name): continue
            default: break
            }
            guard let condition = split.rest else {
                views.append(view)
                continue
            }
            let scan = try TagScan(view, SplitCondition(nil, reduction), &planner, context)
            var known: [Name: [String]] = [:]
            let isMeant = try MeasurementCondition(condition).holds(of: view.schema.name) {
                tag throws(DatabaseError) in
                if let values = known[Name(tag)] { return values }
                let values = try scan.values(of: [Name(tag)])[0].map(\.text)
                known[Name(tag)] = values
                return values
            }
            if isMeant { views.append(view) }
        }
        return views
    }

    private func fieldKeys<Sink: QueryResultSink>(
        _ show: ShowStatement, _ output: SinkOutput<Sink>
    ) throws(DatabaseError) {
        for view in try views(show) where !view.schema.fields.isEmpty {
            let rows = view.schema.fields.map {
                [FieldValue.string($0.name), .string($0.type.name)]
            }
            try emit(
                view.schema.name, ["fieldKey", "fieldType"], page(rows, show.limits), output)
        }
    }

    private func tagKeys<Sink: QueryResultSink>(
        _ show: ShowStatement, _ output: SinkOutput<Sink>
    ) throws(DatabaseError) {
        let split = try split(show)
        var planner = Planner(snapshot: snapshot, options: options)
        var answers: [(String, [[FieldValue]])] = []
        for view in try views(show) {
            let names = try TagScan(view, split, &planner, context, filtersValues: true).names()
            let rows = names.filter { show.key?.accepts($0.text) ?? true }
                .map { [FieldValue.string($0.text)] }
            if !rows.isEmpty { answers.append((view.schema.name, page(rows, show.limits))) }
        }
        let first = show.limits.seriesOffset ?? 0
        let count = show.limits.seriesLimit ?? 0
        for (index, answer) in answers.enumerated()
        where index >= first && (count == 0 || index - first < count) {
            try emit(answer.0, ["tagKey"], answer.1, output)
        }
    }

    private func tagValues<Sink: QueryResultSink>(
        _ show: ShowStatement, _ output: SinkOutput<Sink>
    ) throws(DatabaseError) {
        for (view, rows) in try tagValueRows(show) {
            try emit(view.schema.name, ["key", "value"], page(rows, show.limits), output)
        }
    }

    private func tagValueRows(
        _ show: ShowStatement
    ) throws(DatabaseError) -> [(ExperimentView, [[FieldValue]])] {
        let split = try split(show)
        var planner = Planner(snapshot: snapshot, options: options)
        var answers: [(ExperimentView, [[FieldValue]])] = []
        for view in try views(show) {
            let scan = try TagScan(view, split, &planner, context, filtersValues: true)
            var rows: [[FieldValue]] = []
            let names = try planner.tagNames(view).sorted()
                .filter { show.key?.accepts($0.text) ?? true }
            for (name, values) in zip(names, try scan.values(of: names)) {
                for value in values { rows.append([.string(name.text), .string(value.text)]) }
            }
            if !rows.isEmpty { answers.append((view, rows)) }
        }
        return answers
    }

    private func series<Sink: QueryResultSink>(
        _ show: ShowStatement, _ output: SinkOutput<Sink>
    ) throws(DatabaseError) {
        let split = try split(show)
        if split.first == nil, split.last == nil { try TagTest.checkOperators(split.rest) }
        var planner = Planner(snapshot: snapshot, options: options)
        var rows: [[FieldValue]] = []
        for view in try views(show) {
            for series in try TagScan(view, split, &planner, context).matchingSeries() {
                rows.append([.string(series.key.text(ofExperiment: view.schema.name))])
            }
        }
        try emit("", ["key"], page(rows, show.limits), output)
    }

    // MARK: Counts

    private func cardinality<Sink: QueryResultSink>(
        _ show: ShowStatement, _ output: SinkOutput<Sink>
    ) throws(DatabaseError) {
        let split = try split(show)
        let words = ShowExecution.words(show.subject)
        if split.first != nil || split.last != nil {
            throw DatabaseError(
                .usage, "SHOW \(words) EXACT CARDINALITY doesn't support time in WHERE clause")
        }
        if case .fieldKeyCardinality = show.subject, let condition = show.condition {
            throw DatabaseError(
                .usage,
                "SHOW FIELD KEY CARDINALITY doesn't support WHERE; fields belong to all series",
                offset: condition.offset)
        }
        var isOfValues = false
        if case .tagValuesCardinality = show.subject { isOfValues = true }
        var planner = Planner(snapshot: snapshot, options: options)
        var counts: [(name: String, count: Int)] = []
        for view in try views(show) {
            let scan = try TagScan(
                view, split, &planner, context, missingTagNeverMatches: isOfValues,
                refusesFields: true)
            let count: Int
            switch show.subject {
            case .measurementCardinality:
                count = split.rest == nil ? 1 : try scan.matchingSeries().isEmpty ? 0 : 1
            case .fieldKeyCardinality: count = view.schema.fields.count
            case .tagKeyCardinality: count = try scan.names().count
            case .tagValuesCardinality:
                let names = try planner.tagNames(view)
                    .filter { show.key?.accepts($0.text) ?? true }
                // A value of several keys counts once.
                let values = try scan.values(of: Array(names))
                count = values.reduce(into: Set()) { $0.formUnion($1) }.count
            default: count = try scan.matchingSeries().count
            }
            if count > 0 { counts.append((view.schema.name, count)) }
        }
        try emitCounts(show, counts, output)
    }

    /// Emits the counts. InfluxDB has one total for measurements and for a plain count of series.
    private func emitCounts<Sink: QueryResultSink>(
        _ show: ShowStatement, _ counts: [(name: String, count: Int)], _ output: SinkOutput<Sink>
    ) throws(DatabaseError) {
        let total = counts.reduce(0) { $0 + $1.count }
        // As in InfluxDB, each count is the only row of its series.
        if (show.limits.offset ?? 0) > 0 { return }
        let isOfAll =
            show.sources.isEmpty && show.condition == nil && show.limits.limit == nil
            && show.limits.offset == nil
        switch show.subject {
        case .measurementCardinality(let exact):
            let isPlain = !exact && isOfAll
            if total == 0, !isPlain { return }
            try emit(
                "", [isPlain ? "cardinality estimation" : "count"],
                [[.integer(Int64(total))]], output)
        case .seriesCardinality(exact: false) where isOfAll:
            try emit("", ["cardinality estimation"], [[.integer(Int64(total))]], output)
        default:
            for entry in counts {
                try emit(entry.name, ["count"], [[.integer(Int64(entry.count))]], output)
            }
        }
    }

    private static func words(_ subject: ShowSubject) -> String {
        switch subject {
        case .measurementCardinality: "MEASUREMENT"
        case .fieldKeyCardinality: "FIELD KEY"
        case .tagKeyCardinality: "TAG KEY"
        case .tagValuesCardinality: "TAG VALUES"
        default: "SERIES"
        }
    }

    // MARK: Helpers

    private func split(_ show: ShowStatement) throws(DatabaseError) -> SplitCondition {
        try SplitCondition(show.condition, reduction)
    }

    private var reduction: ConstantFolder { ConstantFolder(now: options.currentTime, zone: nil) }

    /// Returns the experiments of FROM; all experiments without FROM.
    ///
    /// - Throws: `notFound` if one does not exist, except under InfluxDB compatibility.
    func views(_ show: ShowStatement) throws(DatabaseError) -> [ExperimentView] {
        let views = try named(show)
        try Planner.checkCondition(show.condition, in: views.count)
        return views
    }

    private func named(_ show: ShowStatement) throws(DatabaseError) -> [ExperimentView] {
        guard !show.sources.isEmpty else { return experiments }
        let planner = Planner(snapshot: snapshot, options: options)
        var found: [Name: ExperimentView] = [:]
        try planner.checkPatterns(show.sources)
        for source in show.sources {
            for view in try planner.experiments(source) { found[Name(view.schema.name)] = view }
        }
        return shown(found.sorted { $0.key < $1.key }.map(\.value))
    }

    private var experiments: [ExperimentView] { shown(snapshot.experiments) }

    /// Hides experiments without rows under InfluxDB compatibility.
    private func shown(_ views: [ExperimentView]) -> [ExperimentView] {
        options.influxCompatible ? views.filter { !$0.sources.isEmpty } : views
    }

    func page<Row>(_ rows: [Row], _ limits: Limits) -> [Row] {
        let rest = rows.dropFirst(limits.offset ?? 0)
        let limit = limits.limit ?? 0
        return Array(limit == 0 ? rest : rest.prefix(limit))
    }

    private func emit<Sink: QueryResultSink>(
        _ name: String, _ columns: [String], _ rows: [[FieldValue]], _ output: SinkOutput<Sink>
    ) throws(DatabaseError) {
        guard let first = rows.first else { return }
        var table = ResultTable(zip(columns, first).map { ($0, $1.type) }, name: name)
        for row in rows { table.append(row) }
        try output.end(&table)
        context.counters.rowsReturned += rows.count
    }
}

/// The tags of one experiment under the WHERE clause of a SHOW statement.
struct TagScan {
    private let view: ExperimentView
    private let context: ExecutionContext
    private let range: TimeRange
    private let plan = SelectPlan()
    private let source: PlannedSource
    /// The condition on `value`, which applies to tag values.
    private var valueCondition: TagValueCondition?
    private let readsAttributes: Bool
    /// The number of references in WHERE; they are the first ones of the plan.
    private let conditionReferenceCount: Int
    /// Whether a missing tag satisfies no condition, as in InfluxDB's SHOW TAG VALUES CARDINALITY.
    /// Elsewhere a missing tag is an empty string.
    private let missingTagNeverMatches: Bool
    private let condition: Evaluation?

    init(
        _ view: ExperimentView, _ split: SplitCondition, _ planner: inout Planner,
        _ context: ExecutionContext, filtersValues: Bool = false,
        missingTagNeverMatches: Bool = false, refusesFields: Bool = false
    ) throws(DatabaseError) {
        var split = split
        let tags = try planner.tagNames(view)
        if !tags.contains(Name("_name")), view.schema.field("_name") == nil {
            split.rest = try split.rest?.naming(view.schema.name)
        }
        if missingTagNeverMatches {
            split.rest = split.rest?.comparingOnly { name in
                tags.contains(Name(name)) || view.schema.field(name) != nil
            }
        }
        self.missingTagNeverMatches = missingTagNeverMatches
        if filtersValues {
            valueCondition = TagValueCondition(split.rest)
            // `value` means tag values unless the experiment has a tag of that name. InfluxDB
            // requires a field of that name instead.
            let isOfValues =
                planner.options.influxCompatible
                ? view.schema.field("value") != nil
                : !tags.contains(Name("value"))
            if isOfValues {
                split.rest = TagValueCondition.rest(of: split.rest)
            }
        }
        self.view = view
        self.context = context
        range = TimeRange(
            lower: max(split.first ?? .min, TimeRange.all.lower),
            upper: min((split.last ?? .max).addingSaturating(1), TimeRange.all.upper))
        plan.sources = [PlannedSource(.experiment(view))]
        var lenient = planner.options
        lenient.influxCompatible = true
        var binder = Planner(snapshot: planner.snapshot, options: lenient)
        try binder.resolveConditions(plan, split.rest)
        source = plan.sources[0]
        condition =
            missingTagNeverMatches ? source.condition?.matchingNoMissingTag : source.condition
        conditionReferenceCount = plan.references.count
        var options = planner.options
        if refusesFields { options.influxCompatible = false }
        readsAttributes = try TagScan.conditionReadsAttributes(plan, options)
    }

    /// Returns whether WHERE reads attributes, which belong to rows rather than to series. Fields
    /// are refused; under InfluxDB compatibility they are ignored.
    private static func conditionReadsAttributes(
        _ plan: SelectPlan, _ options: QueryOptions
    ) throws(DatabaseError) -> Bool {
        var hasAttributes = false
        for (reference, binding) in zip(plan.references, plan.sources[0].bindings) {
            guard case .column(_, let isTag) = binding else { continue }
            if isTag {
                hasAttributes = true
            } else if options.influxCompatible {
                return false
            } else {
                throw DatabaseError(
                    .usage,
                    "WHERE of SHOW accepts only tags and time; found the field "
                        + "\"\(reference.name)\"; use SELECT with GROUP BY for conditions on "
                        + "fields",
                    offset: reference.offset)
            }
        }
        return hasAttributes
    }

    /// Returns the series that have a matching row.
    func matchingSeries() throws(DatabaseError) -> [Series] {
        let accepts = condition.map { _ in
            { (key: SeriesKey) in specialized(key)?.neverMatches == false }
        }
        let share = MemoryReservation(context.memory)
        var all: [Series] = []
        var sizeBytes = 0
        try view.forEachSeries(in: range, where: accepts) {
            series throws(DatabaseError) in
            if range != .all, try view.rowCount(of: series, in: range) == 0 { return }
            if readsAttributes, try !hasRow(series) { return }
            all.append(series)
            sizeBytes += 400 + series.key.bytes.count
            if all.count % 64 == 0 { try share.resize(to: sizeBytes) }
        }
        return all
    }

    /// Returns the condition for the rows of a series.
    private func specialized(_ key: SeriesKey) -> Evaluation? {
        var tags = TagCache(key)
        return condition?.specialized { name in
            let value = tags.value(of: name)
            return value.isEmpty && missingTagNeverMatches ? nil : value
        }
    }

    /// Returns whether a series has a matching row. Stops at the first one.
    private func hasRow(_ series: Series) throws(DatabaseError) -> Bool {
        var input = InputSeries(origin: .stored(view, series), source: 0)
        guard let condition = specialized(series.key) else { return true }
        if condition.alwaysMatches { return true }
        let evaluator = Evaluator(integersDivideToFloat: false, readsStoredRows: true)
        input.present = Array(0..<conditionReferenceCount)
        var reader = RowBatchReader(
            plan, input, driving: nil, in: range, descending: false, context: context)
        var batch = RowBatch()
        var seenCount = 0
        while try reader.next(into: &batch) {
            let mask = evaluator.mask(condition, batch.references, count: batch.count)
            if mask.contains(true) { return true }
            seenCount += batch.count
        }
        // The reader skips rows without any of the columns. All such rows have the same result.
        guard condition.matchesEmptyRow else { return false }
        return try view.distinctRowCount(of: series, in: range) > seenCount
    }

    /// Returns the names of the tags that a matching row has.
    func names() throws(DatabaseError) -> [Name] {
        let series = try matchingSeries()
        if valueCondition != nil || readsAttributes { return try namesByValues(series) }
        var names: Set<Name> = []
        for series in series {
            for tag in series.key.tags { names.insert(Name(tag.name)) }
        }
        let attributes = view.schema.attributes
        let isWide = attributes.count >= ExperimentView.wideColumnCountMin
        let byColumn = isWide ? SeriesByColumn(view, series) : nil
        for attribute in attributes {
            try context.checkCancelled()
            let isFound =
                if let byColumn {
                    try hasValue(attribute, in: try byColumn.indices(attribute).map { series[$0] })
                } else {
                    try hasValue(attribute, in: series)
                }
            if isFound { names.insert(Name(attribute.name)) }
        }
        return names.sorted()
    }

    private func hasValue(
        _ attribute: Column, in series: [Series]
    ) throws(DatabaseError) -> Bool {
        for one in series where try view.mayHave(attribute.id, one) {
            if try view.end(attribute.id, of: one, in: range, last: false) != nil { return true }
        }
        return false
    }

    /// Returns the sorted values of each tag or attribute in matching rows.
    func values(of names: [Name]) throws(DatabaseError) -> [[Name]] {
        try values(of: names, in: matchingSeries())
    }

    private func values(
        of names: [Name], in series: [Series]
    ) throws(DatabaseError) -> [[Name]] {
        var values = names.map { _ in Set<Name>() }
        var places: [Name: Int] = [:]
        for (place, name) in names.enumerated() { places[name] = place }
        let attributes = attributes(names)
        let share = MemoryReservation(context.memory)
        for start in stride(from: 0, to: series.count, by: SeriesByColumn.seriesCountMax) {
            let part = Array(series[start...].prefix(SeriesByColumn.seriesCountMax))
            for (series, present) in zip(part, try present(attributes, in: part)) {
                try context.checkCancelled()
                var added = 0
                var addedBytes = 0
                var own: Set<Name> = []
                for tag in series.key.tags {
                    let name = Name(tag.name)
                    guard let place = places[name] else { continue }
                    if !attributes.isEmpty { own.insert(name) }
                    if values[place].insert(Name(tag.value)).inserted {
                        added += 1
                        addedBytes += tag.value.utf8.count
                    }
                }
                let wanted = present.filter { !own.contains(names[$0.place]) }
                if !wanted.isEmpty { added += try collect(wanted, series, into: &values) }
                try share.grow(added * 100 + addedBytes)
            }
        }
        return try values.map { (values) throws(DatabaseError) in try sorted(values) }
    }

    /// For each series, the attributes that it may have.
    private func present(
        _ attributes: [RequestedAttribute], in series: [Series]
    ) throws(DatabaseError) -> [[RequestedAttribute]] {
        if attributes.count >= ExperimentView.wideColumnCountMin {
            let columns = attributes.map { view.schema.column($0.column) }
            return try view.positions(of: columns, in: series).map { $0.map { attributes[$0] } }
        }
        var present: [[RequestedAttribute]] = []
        for one in series {
            var own: [RequestedAttribute] = []
            for attribute in attributes where try view.mayHave(attribute.column, one) {
                own.append(attribute)
            }
            present.append(own)
        }
        return present
    }

    private struct RequestedAttribute {
        /// The index among the requested names.
        var place: Int
        var column: ColumnID
        /// The index of the plan's reference.
        var reference: Int
    }

    private func attributes(_ names: [Name]) -> [RequestedAttribute] {
        names.enumerated().compactMap { place, name in
            guard let column = view.schema.attribute(name.text) else { return nil }
            let index = plan.reference(Reference(name: column.name, kind: .tag))
            if plan.sources[0].bindings.count <= index {
                plan.sources[0].bindings.append(.column(column.id, isTag: true))
                plan.references[index].type = .string
            }
            return RequestedAttribute(place: place, column: column.id, reference: index)
        }
    }

    /// Returns the values that WHERE accepts, sorted.
    private func sorted(_ values: Set<Name>) throws(DatabaseError) -> [Name] {
        var accepted = Array(values)
        if let valueCondition {
            accepted.removeAll()
            for value in values where try valueCondition.accepts(value.text) {
                accepted.append(value)
            }
        }
        let sorted = accepted.sortedUnlessCancelled(<)
        try context.checkCancelled()
        return sorted
    }

    /// Returns the names of the tags that have a value in matching rows.
    private func namesByValues(_ series: [Series]) throws(DatabaseError) -> [Name] {
        var names = Set(view.schema.attributes.map { Name($0.name) })
        for series in series {
            for tag in series.key.tags { names.insert(Name(tag.name)) }
        }
        let all = names.sorted()
        return zip(all, try values(of: all, in: series)).filter { !$1.isEmpty }.map(\.0)
    }

    /// Adds the attribute values of a series' rows and returns how many are new.
    private func collect(
        _ attributes: [RequestedAttribute], _ series: Series, into values: inout [Set<Name>]
    ) throws(DatabaseError) -> Int {
        var input = InputSeries(origin: .stored(view, series), source: 0)
        let condition = specialized(series.key)
        guard let condition, !condition.alwaysMatches else {
            var added = 0
            for attribute in attributes {
                added += try collect(attribute, series, into: &values[attribute.place])
            }
            return added
        }
        input.condition = condition
        let asked = Set(attributes.map(\.reference))
        input.present = (0..<conditionReferenceCount).filter { !asked.contains($0) } + asked
        input.present?.sort()
        var reader = RowBatchReader(
            plan, input, driving: nil, in: range, descending: false, context: context)
        var batch = RowBatch()
        var added = 0
        while try reader.next(into: &batch) {
            for attribute in attributes {
                let vector = batch.references[attribute.reference]
                var seen: Set<UInt64> = []
                for row in 0..<batch.count
                where vector.isPresent[row] && seen.insert(vector.bits[row]).inserted {
                    let name = Name(vector.text(row))
                    if values[attribute.place].insert(name).inserted { added += 1 }
                }
            }
        }
        return added
    }

    /// The same for one attribute of all rows in the range.
    private func collect(
        _ attribute: RequestedAttribute, _ series: Series, into values: inout Set<Name>
    ) throws(DatabaseError) -> Int {
        var added = 0
        try view.scan(
            attribute.column, of: series, in: range, shape: .untimed, summarize: { _, _ in false }
        ) { piece throws(DatabaseError) in
            guard case .values(let slice) = piece else { return true }
            try context.checkCancelled()
            var seen: Set<UInt64> = []
            for bits in slice.bits where seen.insert(bits).inserted {
                if values.insert(Name(slice.strings.text(bits))).inserted { added += 1 }
            }
            return true
        }
        return added
    }
}
