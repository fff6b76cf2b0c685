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

    /// Runs a query at once, on the caller's thread, if it is brief. Returns nil if it is not.
    ///
    /// - Parameter body: Returns nil if it would have to wait for another thread.
    func briefly<Value>(
        _ text: String, _ options: QueryOptions,
        _ body: (QueryOptions) throws(DatabaseError) -> Value?
    ) throws(DatabaseError) -> Value? {
        // The caller's own check may wait for something.
        guard text.utf8.count <= BriefRun.textSizeBytesMax, options.isCancelled == nil,
            !Task.isCancelled
        else { return nil }
        try process.check()
        let run = BriefRun()
        var options = options
        options.brief = run
        options.isCancelled = { run.isOver }
        do throws(DatabaseError) {
            return try body(options)
        } catch {
            if run.hasGivenUp { return nil }
            throw error
        }
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
