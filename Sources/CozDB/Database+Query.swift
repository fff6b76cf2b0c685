// Statements on a database, either streamed into a sink or collected. `query` reads, `execute` also
// changes.

extension Database {
    /// Runs every statement of a text on one snapshot and collects the result in memory. Stops at
    /// the first statement that fails. A statement that would change data fails; see `execute`. So
    /// a service can pass on the statements of its users.
    ///
    /// - Parameters:
    ///   - text: One or more statements, separated by `;`.
    ///   - parameters: Values of `$name` in the text, in addition to those of the options.
    ///   - options: Clock, limits and cancellation.
    /// - Throws: `usage` with the offset in the text if it does not parse or fails its checks;
    ///   `limitExceeded` with the name of the limit; `cancelled`; `damaged` if a block that the
    ///   statement needs cannot be read.
    public func query(
        _ text: String, parameters: [String: any QueryParameterConvertible] = [:],
        options: QueryOptions = QueryOptions()
    ) throws(DatabaseError) -> QueryResult {
        try snapshot().query(text, parameters: parameters, options: options)
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
        try snapshot().query(text, parameters: parameters, options: options, into: &sink)
    }

    /// Runs every statement of a text as `query`, and also those that change data: DELETE, DROP and
    /// ALTER. A change is visible to the statements after it. If a statement fails, the changes of
    /// those before it stay.
    ///
    /// - Parameters: As `query`.
    /// - Returns: The results; that of a deletion has a row of counts if
    ///   `QueryOptions.reportsDeletions` is set.
    /// - Throws: As `query`, and as `delete`, `drop` and `alter`.
    @discardableResult
    public func execute(
        _ text: String, parameters: [String: any QueryParameterConvertible] = [:],
        options: QueryOptions = QueryOptions()
    ) throws(DatabaseError) -> QueryResult {
        let options = options.resolved(parameters, limits: queries.limits)
        return try QueryResultCollector.collect(options) { collector throws(DatabaseError) in
            try engine(options).run(text, into: &collector)
        }
    }

    /// Runs every statement of a text as the collecting form, and passes rows to the sink.
    ///
    /// - Throws: As the collecting form, and what the sink throws.
    @discardableResult
    public func execute<Sink: QueryResultSink>(
        _ text: String, parameters: [String: any QueryParameterConvertible] = [:],
        options: QueryOptions = QueryOptions(), into sink: inout Sink
    ) throws(DatabaseError) -> QueryCounters {
        var caller = CallerSink(base: sink)
        defer { sink = caller.base }
        let options = options.resolved(parameters, limits: queries.limits)
        return try engine(options).run(text, into: &caller)
    }

    /// Returns an engine that applies changes to this database.
    private func engine(_ options: QueryOptions) throws(DatabaseError) -> QueryEngine {
        QueryEngine(snapshot: try takeSnapshot(), options: options) {
            change throws(DatabaseError) in
            switch change {
            case .alter(let experiment, let field, let type):
                return try self.alter(experiment, field, type) { engine throws(DatabaseError) in
                    ChangeOutcome(snapshot: try engine.snapshot())
                }
            case .delete(let plan):
                return try self.delete(plan) { engine, report throws(DatabaseError) in
                    ChangeOutcome(snapshot: try engine.snapshot(), deletion: report)
                }
            }
        }
    }

    /// Whether the text has a statement that changes data: it needs `execute`, and a database open
    /// for writing. False if it does not parse.
    public static func changesData(
        _ text: String, options: QueryOptions = QueryOptions()
    ) -> Bool {
        QueryEngine.changesData(text, options: options)
    }
}
