// The way through the query layer: text in, rows out. Statements that change data are handed to
// whoever owns the database.

/// A change that a statement asks for.
enum DataChange: Sendable {
    /// Widen the type of a field.
    case alter(experiment: String, field: String, type: FieldType)
    /// Remove rows or series; not built yet.
    case delete(String)
}

/// Runs statements on one snapshot.
struct QueryEngine {
    let snapshot: Snapshot
    let options: QueryOptions
    /// Makes a change and returns the snapshot that shows it; nil where nothing may be changed.
    let change: ((DataChange) throws(DatabaseError) -> Snapshot)?

    init(
        snapshot: Snapshot, options: QueryOptions,
        change: ((DataChange) throws(DatabaseError) -> Snapshot)? = nil
    ) {
        self.snapshot = snapshot
        self.options = options
        self.change = change
    }

    /// Runs every statement of the text; the first that fails ends the run.
    ///
    /// - Throws: `usage` before anything is run where the text does not parse; else what the
    ///   failing statement threw, after the sink was told.
    @discardableResult
    func run(
        _ text: String, into sink: inout some QueryResultSink
    ) throws(DatabaseError) -> QueryCounters {
        let clock = ContinuousClock()
        let start = clock.now
        let statements = try Parser.parseWithPlaces(text, options: options)
        let counters = CounterBox(isCancelled: options.isCancelled)
        counters.value.parse = clock.now - start
        let output = SinkOutput(sink, counters, options)
        defer { sink = output.sink }
        var current = snapshot
        for (index, (statement, offset)) in statements.enumerated() {
            try output.sink.beginStatement(index)
            do throws(DatabaseError) {
                try counters.checkCancelled()
                let run = StatementRun(
                    snapshot: current, options: options, counters: counters, change: change)
                let changed = try DatabaseError.located(at: offset) { () throws(DatabaseError) in
                    try run.run(statement, into: output)
                }
                if let changed { current = changed }
            } catch {
                try output.sink.endStatement(error)
                throw error
            }
            try output.sink.endStatement(nil)
        }
        return counters.value
    }

    /// The statements of a text that would change data, so that callers know how to open.
    static func changesData(_ text: String, options: QueryOptions) -> Bool {
        guard let statements = try? Parser.parse(text, options: options) else { return false }
        return statements.contains {
            switch $0 {
            case .select, .show, .explain, .administration: false
            case .delete, .dropSeries, .dropMeasurement, .alter: true
            }
        }
    }
}

/// Runs one statement.
private struct StatementRun {
    let snapshot: Snapshot
    let options: QueryOptions
    let counters: CounterBox
    let change: ((DataChange) throws(DatabaseError) -> Snapshot)?

    /// The snapshot to go on with, where the statement changed data.
    func run(
        _ statement: Statement, into output: SinkOutput<some QueryResultSink>
    ) throws(DatabaseError) -> Snapshot? {
        switch statement {
        case .select(let select):
            try run(select, into: output)
            return nil
        case .show(let show):
            try ShowExecution(snapshot: snapshot, options: options, counters: counters)
                .run(show, into: output)
            return nil
        case .alter(let experiment, let field, let type):
            return try apply(.alter(experiment: experiment, field: field, type: type))
        case .explain: throw notYet("EXPLAIN")
        case .delete: return try apply(.delete("DELETE"))
        case .dropSeries: return try apply(.delete("DROP SERIES"))
        case .dropMeasurement: return try apply(.delete("DROP MEASUREMENT"))
        case .administration(let words):
            throw DatabaseError(
                .usage, "\(words) is not supported: CozDB has no server, users or databases")
        }
    }

    private func run(
        _ select: SelectStatement, into output: SinkOutput<some QueryResultSink>
    ) throws(DatabaseError) {
        let clock = ContinuousClock()
        let start = clock.now
        var planner = Planner(snapshot: snapshot, options: options)
        let plan = try planner.plan(select)
        let planned = clock.now
        counters.value.plan += planned - start
        output.begin(plan)
        defer { counters.value.execute += clock.now - planned }
        try Executor(options: options, counters: counters).run(plan, into: output)
    }

    private func apply(_ wanted: DataChange) throws(DatabaseError) -> Snapshot {
        if case .delete(let words) = wanted { throw notYet(words) }
        guard let change else {
            throw DatabaseError(
                .usage, "the statement changes data, but the database is open for reading only")
        }
        return try change(wanted)
    }

    private func notYet(_ words: String) -> DatabaseError {
        DatabaseError(.usage, "\(words) is not supported yet")
    }
}

/// Passes the series of a plan on to the caller's sink.
final class SinkOutput<Sink: QueryResultSink>: SeriesOutput {
    var sink: Sink
    private let counters: CounterBox
    private let options: QueryOptions
    private var columns: [ResultColumn] = []
    private var zone: TimeZoneRules?
    private var rowCount = 0
    private let batchRowsMax = 1 << 15

    init(_ sink: Sink, _ counters: CounterBox, _ options: QueryOptions) {
        self.sink = sink
        self.counters = counters
        self.options = options
    }

    func begin(_ plan: SelectPlan) {
        rowCount = 0
        zone = plan.zone
        columns = [ResultColumn(name: plan.timeName, type: .integer, isTime: true)]
        columns += plan.columns.map { column in
            var result = ResultColumn(name: column.name, type: column.type)
            if case .column(let index) = column.evaluation, plan.references[index].isTag {
                result.tag = plan.references[index].name
            }
            return result
        }
    }

    func beginSeries(
        name: String, tags: [(name: String, value: String)]
    ) throws(DatabaseError) {
        try sink.beginSeries(ResultSeries(name: name, tags: tags, columns: columns, zone: zone))
    }

    func rows(times: [Int64], columns: [ResultVector]) throws(DatabaseError) {
        rowCount += times.count
        counters.value.rowsReturned += times.count
        guard rowCount <= options.rowCountMax else {
            throw DatabaseError(
                .limitExceeded,
                "the answer has more than \(options.rowCountMax) rows (rowCountMax)")
        }
        let columns = [.times(times)] + columns
        guard times.count > batchRowsMax else {
            try sink.rows(ResultBatch(columns: columns, count: times.count))
            return
        }
        // The empty buckets of a group come all at once; between pieces of them the query can be
        // cancelled, and the sink can say that nobody reads on.
        for start in stride(from: 0, to: times.count, by: batchRowsMax) {
            try counters.checkCancelled()
            let rows = start..<min(start + batchRowsMax, times.count)
            let part = ResultBatch(columns: columns.map { $0.part(rows) }, count: rows.count)
            try sink.rows(part)
        }
    }

    func endSeries() throws(DatabaseError) {
        try sink.endSeries()
    }
}
