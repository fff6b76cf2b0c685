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
        let flag = CancellationFlag()
        let watched = options.watching(flag)
        let result = await withTaskCancellationHandler {
            do throws(DatabaseError) {
                let value = try await calls.run(isCancellable: true) { () throws(DatabaseError) in
                    try body(watched)
                }
                return Result<Value, DatabaseError>.success(value)
            } catch {
                return Result<Value, DatabaseError>.failure(error)
            }
        } onCancel: {
            flag.raise()
        }
        return try result.get()
    }
}
