// Plans DELETE and DROP: resolves names and splits WHERE into times, tags and the rest, so that
// storage knows which rows to delete. WHERE has the same meaning as in SELECT.

/// A planner that determines what a statement deletes from a snapshot.
struct DeletePlanner {
    let snapshot: Snapshot
    let options: QueryOptions
    let context: ExecutionContext

    /// What WHERE may name. InfluxDB's DELETE takes only tags, DROP SERIES only identity tags.
    private enum Rule {
        case anything, tags, identityTags
    }

    func plan(_ statement: DeleteStatement, isSeries: Bool) throws(DatabaseError) -> Deletion {
        if !options.influxCompatible {
            try TimeConditionChecks.checkDates(statement.condition)
            try TimeConditionChecks.checkAlternatives(statement.condition)
        }
        // This also checks the calls in the condition.
        let split = try StatementChecks(
            SelectStatement(condition: statement.condition), now: options.currentTime, zone: nil
        ).split
        if isSeries, split.first != nil || split.last != nil {
            throw DatabaseError(.usage, "DROP SERIES doesn't support time in WHERE clause")
        }
        var planner = Planner(snapshot: snapshot, options: options)
        let plan = SelectPlan()
        plan.range = TimeRange(
            lower: max(split.first ?? .min, TimeRange.all.lower),
            upper: min((split.last ?? .max).addingSaturating(1), TimeRange.all.upper))
        plan.sources = try views(statement, planner).map { PlannedSource(.experiment($0)) }
        try Planner.checkFields(statement.fields.count, in: plan.sources.count)
        try planner.resolveConditions(plan, split.rest)
        let rule: Rule = isSeries ? .identityTags : options.influxCompatible ? .tags : .anything
        try check(plan, split.rest, rule)
        var deletion = Deletion(checkCancelled: { () throws(DatabaseError) in
            try context.checkCancelled()
        })
        for source in plan.sources.indices {
            let columns = try columns(statement.fields, plan.sources[source])
            if columns.isEmpty, !statement.fields.isEmpty { continue }
            deletion.experiments.append(self.deletion(plan, source, columns))
        }
        try checkFields(statement.fields, plan)
        deletion.refusals =
            RefusalFilter(
                range: plan.range, condition: split.rest, fields: statement.fields.map(\.name),
                snapshot: snapshot, experiments: statement.sources.isEmpty ? nil : plan.experiments,
                options: options, references: plan.references.filter { $0.computation == nil }
            ).accepts
        return deletion
    }

    /// Plans DROP MEASUREMENT: deletes the rows, schema and refusals of one experiment.
    func plan(drop name: String, offset: Int) throws(DatabaseError) -> Deletion {
        let planner = Planner(snapshot: snapshot, options: options)
        let source = Source.experiment(name, qualifiers: [], offset: offset)
        guard let view = try planner.experiments(source).first else { return Deletion() }
        var deletion = Deletion(checkCancelled: { () throws(DatabaseError) in
            try context.checkCancelled()
        })
        deletion.experiments = [ExperimentDeletion(view: view, dropsSchema: true)]
        deletion.refusals =
            RefusalFilter(
                range: .all, condition: nil, fields: [], snapshot: snapshot,
                experiments: [Name(name)], options: options, references: []
            ).accepts
        return deletion
    }

    private func views(
        _ statement: DeleteStatement, _ planner: Planner
    ) throws(DatabaseError) -> [ExperimentView] {
        if statement.sources.isEmpty { return snapshot.experiments }
        var names: Set<Name> = []
        try planner.checkPatterns(statement.sources)
        for source in statement.sources {
            for view in try planner.experiments(source) { names.insert(Name(view.schema.name)) }
        }
        return snapshot.experiments.filter { names.contains(Name($0.schema.name)) }
    }

    // MARK: Checks

    private func check(
        _ plan: SelectPlan, _ condition: Expression?, _ rule: Rule
    ) throws(DatabaseError) {
        if rule == .anything { return }
        for source in plan.sources {
            for (index, binding) in source.bindings.enumerated() {
                guard case .column(_, let isTag) = binding, !isTag || rule == .identityTags else {
                    continue
                }
                let name = plan.references[index].name
                let message =
                    isTag
                    ? "DROP SERIES accepts only identity tags in WHERE; found \"\(name)\"; use "
                        + "DELETE"
                    : "fields not supported in WHERE clause during deletion"
                throw DatabaseError(.usage, message, offset: condition?.offset(ofName: name))
            }
        }
    }

    /// Returns the named fields that an experiment has.
    private func columns(
        _ fields: [Reference], _ source: PlannedSource
    ) throws(DatabaseError) -> [ColumnID] {
        guard case .experiment(let view) = source.origin else { return [] }
        return fields.compactMap { view.schema.field($0.name)?.id }
    }

    private func checkFields(_ fields: [Reference], _ plan: SelectPlan) throws(DatabaseError) {
        if options.influxCompatible || plan.sources.isEmpty { return }
        var schemas: [ExperimentSchema] = []
        for case .experiment(let view) in plan.sources.map(\.origin) { schemas.append(view.schema) }
        for field in fields where !schemas.contains(where: { $0.field(field.name) != nil }) {
            let names = schemas.flatMap { $0.fields.map(\.name) }
            throw DatabaseError(
                .usage,
                "there is no field \"\(field.name)\" to delete; tags are deleted with their rows"
                    + NameSuggestion.text(field.name, among: names), offset: field.offset)
        }
    }

    // MARK: Rows

    private func deletion(
        _ plan: SelectPlan, _ source: Int, _ columns: [ColumnID]
    ) -> ExperimentDeletion {
        guard case .experiment(let view) = plan.sources[source].origin else {
            preconditionFailure("DELETE reads experiments only")
        }
        var deletion = ExperimentDeletion(view: view, columns: Set(columns), range: plan.range)
        guard let condition = plan.sources[source].condition else { return deletion }
        deletion.accepts = condition.acceptsKey
        deletion.select = { series throws(DatabaseError) in
            var tags = TagCache(series.key)
            let settled = condition.specialized { tags.value(of: $0) }
            if settled.neverMatches { return .none }
            if settled.alwaysMatches { return .range(plan.range) }
            let input = InputSeries(origin: .stored(view, series), source: source)
            return .times(try self.times(plan, input, series, settled))
        }
        return deletion
    }

    /// Returns the times of a series' rows that satisfy a condition on columns.
    private func times(
        _ plan: SelectPlan, _ input: InputSeries, _ series: Series, _ condition: Evaluation
    ) throws(DatabaseError) -> [Int64] {
        guard case .stored(let view, _) = input.origin else { return [] }
        let evaluator = Evaluator(integersDivideToFloat: false, readsStoredRows: true)
        var reader = RowBatchReader(
            plan, input, driving: nil, in: plan.range, descending: false, context: context)
        var batch = RowBatch()
        var matching: [Int64] = []
        var seen: [Int64] = []
        // The reader skips rows without any of these columns. All such rows have the same result.
        let matchesEmptyRow = condition.matchesEmptyRow
        while try reader.next(into: &batch) {
            let mask = evaluator.mask(condition, batch.references, count: batch.count)
            for row in 0..<batch.count where mask[row] { matching.append(batch.times[row]) }
            if matchesEmptyRow { seen.append(contentsOf: batch.times) }
        }
        guard matchesEmptyRow else { return matching }
        let all = try view.rowTimes(of: series, in: plan.range)
        let isSeen = RowSelection.times(seen).mask(all)
        let others = all.indices.filter { isSeen?[$0] != true }.map { all[$0] }
        return (matching + others).sorted()
    }
}

extension SelectPlan {
    fileprivate var experiments: Set<Name> {
        var names: Set<Name> = []
        for case .experiment(let view) in sources.map(\.origin) {
            names.insert(Name(view.schema.name))
        }
        return names
    }
}

extension Expression {
    /// Returns the offset of the first occurrence of a name.
    fileprivate func offset(ofName name: String) -> Int? {
        var found: Int?
        walk { part in
            if case .reference(let reference) = part, Name(reference.name) == Name(name) {
                found = found ?? reference.offset
            }
        }
        return found
    }
}

/// Selects the refusals to delete: those that the statement covers judging by times and tags alone.
/// A refused value has a time and a field. A refused line is deleted only if its whole series is.
private final class RefusalFilter {
    private let range: TimeRange
    private let condition: Expression?
    /// The fields to delete; empty to delete whole rows.
    private let fields: Set<Name>
    private let snapshot: Snapshot
    /// The experiments of FROM; nil means all.
    private let experiments: Set<Name>?
    private let options: QueryOptions
    /// The names in the condition, each once, with their types in the whole statement.
    private let references: [PlannedReference]
    /// The condition bound to each experiment; nil if it cannot be bound.
    private var bound: [Name: Evaluation?] = [:]
    /// The same by what the names mean; experiments share it.
    private var boundByMeaning: [BoundNames: Evaluation?] = [:]

    init(
        range: TimeRange, condition: Expression?, fields: [String], snapshot: Snapshot,
        experiments: Set<Name>?, options: QueryOptions, references: [PlannedReference]
    ) {
        self.range = range
        self.condition = condition
        self.references = references
        self.fields = Set(fields.map { Name($0) })
        self.snapshot = snapshot
        self.experiments = experiments
        self.options = options
    }

    func accepts(_ refusal: Refusal) -> Bool {
        switch refusal.subject {
        case .value(let experiment, let key, let time, let field, _, _):
            // A value may be refused because no row can have its time.
            guard range == .all || range.contains(time.nanoseconds),
                fields.isEmpty || fields.contains(Name(field))
            else { return false }
            var tags = TagCache(key)
            return isMeant(experiment) { tags.value(of: $0) }
        case .line(let bytes):
            guard range == .all, fields.isEmpty, let line = LineSeries(bytes), line.isWhole else {
                return false
            }
            return isMeant(line)
        }
    }

    /// If a tag occurs twice, the intended value is unknown, so every value is tried.
    private func isMeant(_ line: LineSeries) -> Bool {
        let identity = snapshot.experiment(line.experiment)?.schema.identity ?? .allTags
        var values: [Name: [String]] = [:]
        for tag in line.tags where identity.contains(tag.name) {
            values[Name(tag.name), default: []].append(tag.value)
        }
        // An option, or a column, may have named the participant.
        let isComplete = identity.tagNames.allSatisfy { values[Name($0)] != nil }
        guard condition == nil || isComplete else { return false }
        var read: Set<Name> = []
        let isMeant = isMeant(line.experiment) { tag in
            read.insert(Name(tag))
            return values[Name(tag)]?.first ?? ""
        }
        return isMeant
            || read.contains { name in
                values[name]?.dropFirst().contains { value in
                    self.isMeant(line.experiment) { tag in
                        Name(tag) == name ? value : values[Name(tag)]?.first ?? ""
                    }
                } ?? false
            }
    }

    /// - Parameter value: returns the value of a tag; empty if it is missing.
    private func isMeant(_ experiment: String, _ value: (String) -> String) -> Bool {
        guard experiments?.contains(Name(experiment)) ?? true else { return false }
        guard let condition else { return true }
        let name = Name(experiment)
        if bound[name] == nil { bound[name] = .some(bind(condition, to: experiment)) }
        guard let evaluation = bound[name] ?? nil else { return false }
        return evaluation.specialized { value($0) }.alwaysMatches
    }

    /// Binds the condition to an experiment, treating every name that is not a column as a tag.
    private func bind(_ condition: Expression, to experiment: String) -> Evaluation? {
        let schema =
            snapshot.experiment(experiment)?.schema
            ?? ExperimentSchema(
                id: 0, name: experiment, identity: .tags([]), typeRule: .lossless,
                preset: SchemaPreset.none)
        let plan = SelectPlan()
        plan.sources = [PlannedSource(.experiment(ExperimentView(schema: schema)))]
        for reference in references {
            _ = plan.reference(
                Reference(name: reference.name, kind: reference.kind, offset: reference.offset))
        }
        var lenient = options
        lenient.influxCompatible = true
        var planner = Planner(snapshot: snapshot, options: lenient)
        do throws(DatabaseError) {
            try planner.bindReferences(plan, from: 0)
            for (index, reference) in plan.references.enumerated() {
                guard case .missing = plan.sources[0].bindings[index] else { continue }
                guard reference.kind == .any || reference.kind == .tag else { continue }
                // Unless it is a field of another experiment of the statement.
                let isField = references[index].type != nil && !references[index].isTag
                plan.sources[0].bindings[index] = isField ? .null : .tag(reference.name)
            }
            // A name means one thing in all experiments of the statement.
            for (index, meant) in references.enumerated() where meant.type != nil {
                plan.references[index].type = meant.type
                plan.references[index].isTag = meant.isTag
                let isNull = plan.sources[0].isNull(
                    index, meant.kind, meant.type, isField: !meant.isTag)
                if isNull { plan.sources[0].bindings[index] = .null }
            }
            let names = BoundNames(plan, plan.sources[0])
            if let known = boundByMeaning[names] { return known }
            // A condition that cannot be bound applies to no refusal.
            let own = try? ConditionBinder(plan: plan, source: plan.sources[0]).bind(condition)
            boundByMeaning[names] = .some(own)
            return own
        } catch {
            return nil
        }
    }
}
