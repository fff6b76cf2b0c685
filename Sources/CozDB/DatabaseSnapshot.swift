// A moment of a database that several queries see, and the streaming of one query.

/// Everything committed up to one moment. Queries on it see neither earlier nor later commits,
/// whatever is written, merged or deleted meanwhile.
///
/// Safe from any thread. It keeps the files of its moment open, and with that their space on disk
/// in use, until the last copy of it is gone; it outlives `Database.close()`.
public struct DatabaseSnapshot: Sendable {
    let snapshot: Snapshot
    let context: QueryContext

    /// Number of the last commit it contains, as `WriteReport.sequence` counts; 0 for none.
    public var sequence: UInt64 { snapshot.sequence }

    /// The schemas of all experiments, in byte order of their names.
    public var schemas: [ExperimentSchema] { snapshot.experiments.map(\.schema) }

    /// The same moment with the values of `id_password` and `api_*_key` masked, as
    /// `QueryOptions.redactsSecrets` does for one query; their columns are texts.
    public var redacted: DatabaseSnapshot {
        DatabaseSnapshot(snapshot: snapshot.redacted, context: context)
    }

    /// Distinct rows of an experiment; 0 where there is none of this name. Reads no value: counts
    /// come from footers, and from the times of rows where segments overlap.
    ///
    /// - Throws: `io`, `damaged`.
    public func rowCount(of experiment: String) throws(DatabaseError) -> Int {
        try context.process.check()
        return try snapshot.experiment(experiment)?.rowCount() ?? 0
    }

    /// Runs every statement of a text and collects the answer in memory; the first statement that
    /// fails ends the run.
    ///
    /// - Parameter options: clock, parameters and limits; nil is now, without parameters.
    /// - Throws: as `Database.query`; `usage` for a statement that would change data.
    public func query(
        _ text: String, options: QueryOptions? = nil
    ) throws(DatabaseError) -> QueryResult {
        let options = (options ?? Database.options).limited(by: context.limits)
        return try QueryResultCollector.collect(options) { collector throws(DatabaseError) in
            try query(text, options: options, into: &collector)
        }
    }

    /// The same, handing rows over as they are computed; memory is a few blocks. All of it happens
    /// on the caller's thread, but for a text that nests deeper than its stack has room for: that
    /// runs on a thread with a larger one, while the caller waits.
    ///
    /// - Throws: as the collecting form, and what the sink throws.
    @discardableResult
    public func query<Sink: QueryResultSink>(
        _ text: String, options: QueryOptions, into sink: inout Sink
    ) throws(DatabaseError) -> QueryCounters {
        try context.process.check()
        return try QueryEngine(snapshot: snapshot, options: options.limited(by: context.limits))
            .run(text, into: &sink)
    }

    /// Starts a query and hands its answer out in batches; see `QueryCursor`.
    ///
    /// - Throws: `limitExceeded` where the system has no thread left.
    public func cursor(
        _ text: String, options: QueryOptions? = nil
    ) throws(DatabaseError) -> QueryCursor {
        try QueryCursor(options ?? Database.options, context.process) {
            options, sink throws(DatabaseError) in
            try self.query(text, options: options, into: &sink)
        }
    }
}

extension Database {
    /// Everything committed up to now, for several queries that shall see one moment. A database
    /// open for reading looks for the newest commits of its writer.
    ///
    /// Cost: little for the writer; a reader reads the manifest and the log.
    ///
    /// - Throws: `closed`; for a reader also `io` and `damaged`.
    public func snapshot() throws(DatabaseError) -> DatabaseSnapshot {
        DatabaseSnapshot(snapshot: try takeSnapshot(), context: queries)
    }

    /// Starts a query and hands its answer out in batches; see `QueryCursor`. It sees what was
    /// committed when the call began.
    ///
    /// - Throws: as `snapshot`; `limitExceeded` where the system has no thread left. A text that
    ///   does not parse is told by the cursor's first `next()`.
    public func cursor(
        _ text: String, options: QueryOptions? = nil
    ) throws(DatabaseError) -> QueryCursor {
        let snapshot = try takeSnapshot()
        return try QueryCursor(options ?? Database.options, queries.process) {
            options, sink throws(DatabaseError) in
            try self.query(text, on: snapshot, options: options, into: &sink)
        }
    }
}
