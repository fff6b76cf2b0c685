// State that all queries of one open database share.

/// The limits, threads and process of a database's queries.
struct QueryContext: Sendable {
    /// Limits for statements whose options set none.
    let limits: QueryLimits
    /// Threads of `async` queries.
    let calls: BlockingCallPool
    let process = ProcessGuard()

    init(_ options: DatabaseOptions) {
        limits = options.queryLimits
        calls = BlockingCallPool(
            callCountMax: options.queryThreadCountMax,
            waitingCountMax: options.waitingCallCountMax)
    }

    /// Runs a query on one of the query threads. Cancelling the task ends the wait at once, and the
    /// query at its next block.
    func cancellable<Value: Sendable>(
        _ options: QueryOptions,
        _ body: @escaping @Sendable (QueryOptions) throws(DatabaseError) -> Value
    ) async throws(DatabaseError) -> Value {
        try process.check()
        return try await calls.run(isCancellable: true, watching: options.isCancelled) {
            isCancelled throws(DatabaseError) in
            var options = options
            options.isCancelled = isCancelled
            return try body(options)
        }
    }
}
