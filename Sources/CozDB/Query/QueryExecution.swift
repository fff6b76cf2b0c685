// The execution of a text, statement by statement and step by step.

/// A running text. It can pause after each step, and continue on another thread.
final class QueryExecution<Sink: QueryResultSink> {
    private let engine: QueryEngine
    private let text: String
    private let stop: CancellationCheck
    private let context: ExecutionContext
    private let output: SinkOutput<Sink>
    private let cache: StatementCache
    private var prepared: PreparedStatements?
    private let depth: Int
    private var current: Snapshot
    /// The statement that runs, or runs next.
    private var statement = 0
    /// The rows of the statement; nil before it starts.
    private var rows: SelectExecution?
    /// Stops the query when its time is over; nil if it has no limit.
    private let timer: QueryTimer?

    init(_ engine: QueryEngine, _ text: String, _ sink: Sink) {
        var engine = engine
        timer = engine.options.effectiveLimits.durationMax.map { QueryTimer($0) }
        if let timer { engine.options.isCancelled = timer.check(engine.options.isCancelled) }
        self.engine = engine
        self.text = text
        stop = CancellationCheck(engine.options.isCancelled)
        context = ExecutionContext(engine.options, stop: stop)
        output = SinkOutput(sink, context, engine.options)
        cache = StatementCache.of(engine.snapshot)
        prepared = cache.known(text, engine.options)
        depth = prepared?.depth ?? StatementStack.depthMax(text, engine.options)
        current = engine.snapshot
    }

    /// The sink, with what it has received.
    var sink: Sink { output.sink }

    /// What the statements did so far.
    var counters: QueryCounters { context.total }

    /// Runs steps while the condition holds. Returns whether there are more.
    ///
    /// - Throws: As `QueryEngine.run`. The text is at its end then.
    func run(while condition: () -> Bool) throws(DatabaseError) -> Bool {
        guard let timer else { return try runSteps(while: condition) }
        return try timer.run { () throws(DatabaseError) in try runSteps(while: condition) }
    }

    private func runSteps(while condition: () -> Bool) throws(DatabaseError) -> Bool {
        try StatementStack.run(depth: depth) { () throws(DatabaseError) in
            try stop.over { () throws(DatabaseError) in
                let clock = ContinuousClock()
                let start = clock.now
                let others = context.counters.parse + context.counters.plan
                defer {
                    let known = context.counters.parse + context.counters.plan - others
                    context.counters.execute += clock.now - start - known
                }
                while condition() {
                    guard try step(while: condition) else { return false }
                }
                return true
            }
        }
    }

    private func prepare() throws(DatabaseError) -> PreparedStatements {
        if let prepared { return prepared }
        let clock = ContinuousClock()
        let start = clock.now
        let made = try cache.prepare(text, engine.options, depth: depth)
        context.counters.parse = clock.now - start
        prepared = made
        return made
    }

    /// Starts a statement, or writes rows of it while the condition holds. Returns false after the
    /// last statement.
    private func step(while condition: () -> Bool) throws(DatabaseError) -> Bool {
        let prepared = try prepare()
        guard statement < prepared.statements.count else { return false }
        if rows == nil { try output.beginStatement(statement) }
        let isComplete: Bool
        do throws(DatabaseError) {
            let (parsed, offset) = prepared.statements[statement]
            isComplete = try DatabaseError.located(at: offset) { () throws(DatabaseError) in
                if let rows { return try write(rows, while: condition) }
                return try start(parsed, prepared)
            }
        } catch {
            rows = nil
            let error = timer?.cause(of: error) ?? error
            try output.sink.endStatement(error)
            throw error
        }
        guard isComplete else { return true }
        rows = nil
        try output.sink.endStatement(nil)
        statement += 1
        return true
    }

    /// Writes rows while the condition holds. Returns whether the statement is complete.
    private func write(
        _ rows: SelectExecution, while condition: () -> Bool
    ) throws(DatabaseError) -> Bool {
        repeat {
            guard try rows.step() else {
                // A cancelled statement must not pass as a complete result.
                try stop.checkSeen()
                return true
            }
        } while condition()
        return false
    }

    /// Starts the statement. Returns whether it is complete.
    private func start(
        _ parsed: Statement, _ prepared: PreparedStatements
    ) throws(DatabaseError) -> Bool {
        try context.checkCancelled()
        // A prepared plan is valid only for the snapshot it was made for.
        let run = StatementRun(
            snapshot: current, options: engine.options, context: context, change: engine.change,
            prepared: current === engine.snapshot ? (prepared, statement) : nil)
        switch try run.start(parsed, into: output) {
        case .rows(let started):
            rows = started
            return false
        case .complete(let changed?): current = changed
        case .complete(nil): try stop.checkSeen()
        }
        return true
    }
}

/// The execution of one statement.
private struct StatementRun {
    enum Outcome {
        /// A SELECT, whose rows are not yet written.
        case rows(SelectExecution)
        /// A statement that is complete, with the snapshot to continue with if it changed data.
        case complete(Snapshot?)
    }

    let snapshot: Snapshot
    let options: QueryOptions
    let context: ExecutionContext
    let change: ((DataChange) throws(DatabaseError) -> ChangeOutcome)?
    /// The prepared text and the index of the statement in it.
    let prepared: (text: PreparedStatements, index: Int)?

    /// Runs the statement, or starts it if it is a SELECT.
    func start(
        _ statement: Statement, into output: SinkOutput<some QueryResultSink>
    ) throws(DatabaseError) -> Outcome {
        if let brief = options.brief {
            guard case .select = statement else { throw brief.giveUp() }
        }
        if options.redactsSecrets { try RedactionChecks.check(statement) }
        switch statement {
        case .select(let select): return .rows(try start(select, into: output))
        case .show(let show):
            try ShowExecution(snapshot: snapshot, options: options, context: context)
                .run(show, into: output)
            return .complete(nil)
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
            return .complete(altered.snapshot)
        case .explain(let select, let analyze):
            var explain = ExplainExecution(
                snapshot: snapshot, options: options, context: context)
            try explain.run(select, analyze: analyze, into: output)
            return .complete(nil)
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

    private func start(
        _ select: SelectStatement, into output: SinkOutput<some QueryResultSink>
    ) throws(DatabaseError) -> SelectExecution {
        if let offset = select.targetOffset {
            throw DatabaseError(
                .usage,
                "SELECT INTO is not supported; export the result as line protocol and import it",
                offset: offset, remedy: .change([.format]))
        }
        let clock = ContinuousClock()
        let start = clock.now
        let plan = try self.plan(select)
        context.counters.plan += clock.now - start
        if let brief = options.brief, !plan.isBrief { throw brief.giveUp() }
        try output.begin(plan)
        return try Executor(options: options, context: context).start(plan, into: output)
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
    ) throws(DatabaseError) -> Outcome {
        let (options, context) = (options, context)
        let planned: (Snapshot) throws(DatabaseError) -> Deletion = {
            snapshot throws(DatabaseError) in
            try context.stop.over { () throws(DatabaseError) in
                try plan(DeletePlanner(snapshot: snapshot, options: options, context: context))
            }
        }
        if options.isDryRun {
            try output.preview(try planned(snapshot))
            return .complete(nil)
        }
        let outcome = try apply(.delete(planned))
        if let report = outcome.deletion, options.reportsDeletions, !options.influxCompatible {
            try output.emit(report)
        }
        return .complete(outcome.snapshot)
    }
}

extension SelectPlan {
    /// The most values that a brief query may look at.
    private static let briefValueCountMax = 1 << 16

    /// Whether the plan reads a few rows that are in memory, and no file.
    var isBrief: Bool {
        // Buckets and windows may be more than the rows.
        if buckets != nil || hasSeriesFunctions { return false }
        var rowCount = 0
        for source in sources {
            guard case .experiment(let view) = source.origin else { return false }
            for stored in view.sources {
                switch stored {
                case .segment(let segment):
                    let footer = segment.footer
                    if range.overlaps(first: footer.firstTime, last: footer.lastTime) {
                        return false
                    }
                case .memtable(let memtable): rowCount += memtable.rows.count
                }
            }
        }
        return rowCount * (references.count + 1) <= SelectPlan.briefValueCountMax
    }
}
