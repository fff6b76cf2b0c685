// Snapshots of a database, and cursors on them.

/// A consistent view of everything committed up to one moment. Later writes, merges and deletions
/// do not affect it.
///
/// Safe to use from any thread. A snapshot keeps its files open, and their disk space in use, until
/// its last copy is released. It stays usable after `Database.close()`.
public struct DatabaseSnapshot: Sendable {
    let snapshot: Snapshot
    let context: QueryContext

    /// Sequence number of the last commit it contains (see `WriteReport.sequence`); 0 if there is
    /// none.
    public var sequence: UInt64 { snapshot.sequence }

    /// The schemas of all experiments, in byte order of their names.
    public var schemas: [ExperimentSchema] { snapshot.experiments.map(\.schema) }

    /// The same snapshot with the values of credential columns (`id_password` and `api_*_key`)
    /// masked, as `QueryOptions.redactsSecrets` does for one query. These columns become strings,
    /// and conditions on them are refused.
    public var redacted: DatabaseSnapshot {
        DatabaseSnapshot(snapshot: snapshot.redacted, context: context)
    }

    /// Returns the number of distinct rows of an experiment; 0 if it does not exist. Reads no
    /// values: counts come from segment footers, and from row times where segments overlap.
    ///
    /// - Throws: `io`, `damaged`.
    public func rowCount(of experiment: String) throws(DatabaseError) -> Int {
        try context.process.check()
        return try snapshot.experiment(experiment)?.rowCount() ?? 0
    }

    /// Runs every statement of a text and collects the result in memory. Stops at the first
    /// statement that fails.
    ///
    /// - Throws: As `Database.query`; `usage` for a statement that would change data.
    public func query(
        _ text: String, parameters: [String: any QueryParameterConvertible] = [:],
        options: QueryOptions = QueryOptions()
    ) throws(DatabaseError) -> QueryResult {
        let options = options.resolved(parameters, limits: context.limits)
        return try QueryResultCollector.collect(options) { collector throws(DatabaseError) in
            try run(text, options: options, into: &collector)
        }
    }

    /// Runs every statement of a text and passes rows to the sink as they are computed. Memory use
    /// is a few blocks. The query runs on the caller's thread. A text nested too deeply for that
    /// thread's stack runs on a thread with a larger one while the caller waits.
    ///
    /// - Throws: As the collecting form, and what the sink throws.
    @discardableResult
    public func query<Sink: QueryResultSink>(
        _ text: String, parameters: [String: any QueryParameterConvertible] = [:],
        options: QueryOptions = QueryOptions(), into sink: inout Sink
    ) throws(DatabaseError) -> QueryCounters {
        var caller = CallerSink(base: sink)
        defer { sink = caller.base }
        return try run(
            text, options: options.resolved(parameters, limits: context.limits), into: &caller)
    }

    private func run(
        _ text: String, options: QueryOptions, into sink: inout some QueryResultSink
    ) throws(DatabaseError) -> QueryCounters {
        try context.process.check()
        return try QueryEngine(snapshot: snapshot, options: options).run(text, into: &sink)
    }

    /// Starts a query that returns its rows in batches. See `QueryCursor`.
    ///
    /// - Throws: `busy` if the system has no thread left.
    public func cursor(
        _ text: String, parameters: [String: any QueryParameterConvertible] = [:],
        options: QueryOptions = QueryOptions()
    ) throws(DatabaseError) -> QueryCursor {
        let options = options.resolved(parameters, limits: context.limits)
        return try QueryCursor(snapshot, text, options, context.process)
    }
}

extension Database {
    /// Returns a snapshot of everything committed so far, so that several queries see the same
    /// data. On a read-only database it includes the latest commits of the writer.
    ///
    /// Cost: little on the writer. A reader reads the manifest and the log.
    ///
    /// - Throws: `closed`; on a read-only database also `io` and `damaged`.
    public func snapshot() throws(DatabaseError) -> DatabaseSnapshot {
        DatabaseSnapshot(snapshot: try takeSnapshot(), context: queries)
    }

    /// Starts a query that returns its rows in batches. See `QueryCursor`. It sees what was
    /// committed when the call began.
    ///
    /// - Throws: As `snapshot`; `busy` if the system has no thread left. If the text does
    ///   not parse, the cursor's first `next()` throws.
    public func cursor(
        _ text: String, parameters: [String: any QueryParameterConvertible] = [:],
        options: QueryOptions = QueryOptions()
    ) throws(DatabaseError) -> QueryCursor {
        try snapshot().cursor(text, parameters: parameters, options: options)
    }
}
