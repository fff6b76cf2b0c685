// The entry point of the query layer: text in, rows out. The caller applies changes of data.

/// A change requested by a statement.
enum DataChange {
    /// Widens the type of a field.
    case alter(experiment: String, field: String, type: FieldType)
    /// Deletes the data that the plan selects. The plan is computed while no commits run.
    case delete((Snapshot) throws(DatabaseError) -> Deletion)
}

/// The result of a change.
struct ChangeOutcome {
    /// A snapshot that includes the change.
    var snapshot: Snapshot
    var deletion: DeletionReport?
}

/// Runs statements on one snapshot.
struct QueryEngine {
    let snapshot: Snapshot
    private(set) var options: QueryOptions
    /// Applies a change; nil if only statements that read may run.
    let change: ((DataChange) throws(DatabaseError) -> ChangeOutcome)?

    init(
        snapshot: Snapshot, options: QueryOptions,
        change: ((DataChange) throws(DatabaseError) -> ChangeOutcome)? = nil
    ) {
        self.snapshot = options.redactsSecrets ? snapshot.redacted : snapshot
        self.options = options
        // On a redacted snapshot, too, a condition would reveal the values.
        if snapshot.isRedacted { self.options.redactsSecrets = true }
        self.change = change
    }

    /// Runs every statement of the text and stops at the first failure.
    ///
    /// - Throws: `usage` before anything runs if the text does not parse; otherwise the error of
    ///   the failing statement, after the sink receives it.
    @discardableResult
    func run(
        _ text: String, into sink: inout some QueryResultSink
    ) throws(DatabaseError) -> QueryCounters {
        let stop = CancellationCheck(options.isCancelled)
        let cache = StatementCache.of(snapshot)
        let known = cache.known(text, options)
        let depth = known?.depth ?? StatementStack.depthMax(text, options)
        return try StatementStack.run(depth: depth) { () throws(DatabaseError) in
            try stop.over { () throws(DatabaseError) in
                let clock = ContinuousClock()
                let start = clock.now
                let prepared: PreparedStatements
                if let known {
                    prepared = known
                } else {
                    prepared = try cache.prepare(text, options, depth: depth)
                }
                return try run(prepared, parse: clock.now - start, stop, into: &sink)
            }
        }
    }

    private func run(
        _ prepared: PreparedStatements, parse: Duration, _ stop: CancellationCheck,
        into sink: inout some QueryResultSink
    ) throws(DatabaseError) -> QueryCounters {
        let context = ExecutionContext(options, stop: stop)
        context.counters.parse = parse
        let output = SinkOutput(sink, context, options)
        defer { sink = output.sink }
        var current = snapshot
        for (index, (statement, offset)) in prepared.statements.enumerated() {
            try output.beginStatement(index)
            do throws(DatabaseError) {
                try context.checkCancelled()
                // A prepared plan is valid only for the snapshot it was made for.
                let run = StatementRun(
                    snapshot: current, options: options, context: context, change: change,
                    prepared: current === snapshot ? (prepared, index) : nil)
                let changed = try DatabaseError.located(at: offset) { () throws(DatabaseError) in
                    try run.run(statement, into: output)
                }
                // A cancelled statement must not pass as a complete result.
                if changed == nil { try stop.checkSeen() }
                if let changed { current = changed }
            } catch {
                try output.sink.endStatement(error)
                throw error
            }
            try output.sink.endStatement(nil)
        }
        return context.total
    }

    /// Returns whether the text has a statement that changes data and so needs a writer.
    static func changesData(_ text: String, options: QueryOptions) -> Bool {
        guard !options.isDryRun, !options.redactsSecrets else { return false }
        let changes = try? StatementStack.run(text, options) { () throws(DatabaseError) in
            try Parser.parse(text, options: options).contains {
                switch $0 {
                case .select, .show, .explain, .administration: false
                case .delete, .dropSeries, .dropMeasurement, .alter: true
                }
            }
        }
        return changes ?? false
    }
}

extension QueryEngine {
    /// Returns the experiments that a text reads; nil if it may read any.
    static func experimentsRead(_ text: String, options: QueryOptions) -> Set<String>? {
        let names = try? StatementStack.run(text, options) { () throws(DatabaseError) in
            var names: Set<String>? = []
            for statement in try Parser.parse(text, options: options) {
                switch statement {
                case .select(let select), .explain(let select, _):
                    addNames(select.sources, to: &names)
                case .show(let show) where !show.sources.isEmpty:
                    addNames(show.sources, to: &names)
                default: names = nil
                }
            }
            return names
        }
        return names ?? nil
    }

    private static func addNames(_ sources: [Source], to names: inout Set<String>?) {
        for source in sources {
            switch source {
            case .experiment(let name, _, _): names?.insert(name)
            case .pattern: names = nil
            case .subquery(let select): addNames(select.sources, to: &names)
            }
        }
    }
}

/// The execution of one statement.
private struct StatementRun {
    let snapshot: Snapshot
    let options: QueryOptions
    let context: ExecutionContext
    let change: ((DataChange) throws(DatabaseError) -> ChangeOutcome)?
    /// The prepared text and the index of the statement in it.
    let prepared: (text: PreparedStatements, index: Int)?

    /// Runs the statement. Returns the snapshot to continue with if it changed data.
    func run(
        _ statement: Statement, into output: SinkOutput<some QueryResultSink>
    ) throws(DatabaseError) -> Snapshot? {
        if options.redactsSecrets { try RedactionChecks.check(statement) }
        switch statement {
        case .select(let select):
            try run(select, into: output)
            return nil
        case .show(let show):
            try ShowExecution(snapshot: snapshot, options: options, context: context)
                .run(show, into: output)
            return nil
        case .alter(let experiment, let field, let type):
            if options.isDryRun {
                throw DatabaseError(
                    .usage,
                    "found ALTER in a dry run, expected DELETE or DROP; run ALTER without it")
            }
            let altered = try apply(.alter(experiment: experiment, field: field, type: type))
            // As SHOW FIELD KEYS shows the field.
            var table = ResultTable(
                [("fieldKey", .string), ("fieldType", .string)], name: experiment)
            table.append([.string(field), .string(type.name)])
            try output.end(&table)
            return altered.snapshot
        case .explain(let select, let analyze):
            var explain = ExplainExecution(
                snapshot: snapshot, options: options, context: context)
            try explain.run(select, analyze: analyze, into: output)
            return nil
        case .delete(let delete):
            return try remove(into: output) { planner throws(DatabaseError) in
                try planner.plan(delete, isSeries: false)
            }
        case .dropSeries(let drop):
            return try remove(into: output) { planner throws(DatabaseError) in
                try planner.plan(drop, isSeries: true)
            }
        case .dropMeasurement(let name, let offset):
            return try remove(into: output) { planner throws(DatabaseError) in
                try planner.plan(drop: name, offset: offset)
            }
        case .administration(let words):
            throw DatabaseError(
                .usage, "\(words) is not supported: CozDB has no server, users or databases")
        }
    }

    private func run(
        _ select: SelectStatement, into output: SinkOutput<some QueryResultSink>
    ) throws(DatabaseError) {
        if let offset = select.targetOffset {
            throw DatabaseError(
                .usage,
                "SELECT INTO is not supported; export the result as line protocol and import it",
                offset: offset, remedy: .change([.format]))
        }
        let clock = ContinuousClock()
        let start = clock.now
        let plan = try self.plan(select)
        let planned = clock.now
        context.counters.plan += planned - start
        try output.begin(plan)
        defer { context.counters.execute += clock.now - planned }
        try Executor(options: options, context: context).run(plan, into: output)
    }

    private func plan(_ select: SelectStatement) throws(DatabaseError) -> SelectPlan {
        if let prepared, let known = prepared.text.plan(prepared.index) { return known }
        var planner = Planner(snapshot: snapshot, options: options)
        let plan = try planner.plan(select)
        // A plan from a cancelled query must not be cached.
        try CancellationCheck.check()
        if let prepared { prepared.text.keep(plan, prepared.index) }
        return plan
    }

    private func apply(_ wanted: DataChange) throws(DatabaseError) -> ChangeOutcome {
        guard let change else {
            throw DatabaseError(
                .usage,
                "found a statement that changes data, expected one that reads; run it with "
                    + "Database.execute")
        }
        // The change checks for cancellation itself, at points where it can stop safely.
        return try CancellationCheck.suspended { () throws(DatabaseError) in try change(wanted) }
    }

    /// Executes DELETE or DROP, or previews it in a dry run.
    private func remove(
        into output: SinkOutput<some QueryResultSink>,
        _ plan: @escaping (DeletePlanner) throws(DatabaseError) -> Deletion
    ) throws(DatabaseError) -> Snapshot? {
        let clock = ContinuousClock()
        let start = clock.now
        defer { context.counters.execute += clock.now - start }
        let (options, context) = (options, context)
        let planned: (Snapshot) throws(DatabaseError) -> Deletion = {
            snapshot throws(DatabaseError) in
            try context.stop.over { () throws(DatabaseError) in
                try plan(DeletePlanner(snapshot: snapshot, options: options, context: context))
            }
        }
        if options.isDryRun {
            try output.preview(try planned(snapshot))
            return nil
        }
        let outcome = try apply(.delete(planned))
        if let report = outcome.deletion, options.reportsDeletions, !options.influxCompatible {
            try output.emit(report)
        }
        return outcome.snapshot
    }
}
