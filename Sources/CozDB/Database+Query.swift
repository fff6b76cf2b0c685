// Queries on an open database.

extension Database {
    /// Runs statements on what is committed now and hands their answers to a sink as they come.
    /// All statements see one snapshot; after one that changes data, the next.
    ///
    /// - Throws: `usage` before anything is run where the text does not parse; otherwise what the
    ///   first failing statement threw, after the sink was told. Later statements are not run.
    /// - Returns: what the run read and how long its parts took.
    @discardableResult
    public func query<Sink: QueryResultSink>(
        _ text: String, options: QueryOptions, into sink: inout Sink
    ) throws(DatabaseError) -> QueryCounters {
        let engine = QueryEngine(snapshot: try snapshot(), options: options)
        return try engine.run(text, into: &sink)
    }

    /// Runs statements and collects their answers in memory.
    ///
    /// - Throws: as `query(_:options:into:)`.
    public func query(_ text: String, options: QueryOptions) throws(DatabaseError) -> QueryResult {
        var collector = QueryResultCollector()
        let counters = try query(text, options: options, into: &collector)
        var result = collector.result
        result.counters = counters
        return result
    }

    /// Whether a text has a statement that changes data, for which the database must be open for
    /// writing. False where the text does not parse: running it says why.
    public static func changesData(_ text: String, options: QueryOptions) -> Bool {
        QueryEngine.changesData(text, options: options)
    }
}
