// The `async` calls of `Database`. They run on threads of the library, so that Swift's
// cooperative pool never waits for a disk or a lock. Only a brief query runs at once (`BriefRun`).

extension Database {
    /// Opens a database.
    ///
    /// - Throws: As the synchronous form.
    public static func open(
        _ path: String, access: DatabaseAccess = .readWrite,
        options: DatabaseOptions = DatabaseOptions()
    ) async throws(DatabaseError) -> Database {
        try await BlockingCallPool.openings.run { () throws(DatabaseError) in
            try open(path, access: access, options: options)
        }
    }

    /// Commits a batch atomically. Durable on return (see `DatabaseOptions.durability`). Tasks that
    /// write concurrently share a sync. Cancelling the task has no effect: a commit that was
    /// submitted completes.
    ///
    /// - Throws: As the synchronous form; `busy` if more calls wait than
    ///   `DatabaseOptions.waitingCallCountMax` allows. This applies to all `async` calls.
    public func write(_ batch: WriteBatch) async throws(DatabaseError) -> WriteReport {
        try await write { () throws(DatabaseError) in batch }
    }

    /// Commits a batch that is made on the thread that encodes it.
    func write(
        _ make: @escaping @Sendable () throws(DatabaseError) -> WriteBatch
    ) async throws(DatabaseError) -> WriteReport {
        try await changes.runBriefly { give in
            do throws(DatabaseError) {
                let report = try self.change { engine throws(DatabaseError) in
                    try self.write(try make(), engine, give)
                }
                return report.map { .success($0) }
            } catch {
                return .failure(error)
            }
        }
    }

    /// Commits a batch. Returns nil if another thread gives the report.
    private func write(
        _ batch: WriteBatch, _ engine: Engine, _ give: @escaping Engine.Follower
    ) throws(DatabaseError) -> WriteReport? {
        do throws(DatabaseError) {
            let report = try engine.write(batch) { result in
                switch result {
                case .success(let report): self.noteChange(of: batch, report.sequence, engine)
                case .failure(let error): self.noteFailure(error, of: batch)
                }
                give(result)
            }
            if let report { noteChange(of: batch, report.sequence, engine) }
            return report
        } catch {
            noteFailure(error, of: batch)
            throw error
        }
    }

    /// Flushes the memtable to segments. Cancelling the task has no effect.
    ///
    /// - Throws: As the synchronous form.
    public func flush() async throws(DatabaseError) {
        try await changes.run { () throws(DatabaseError) in try self.flush() }
    }

    /// Merges all segments of each experiment into one. Cancelling the task has no effect.
    ///
    /// - Throws: As the synchronous form.
    public func compact() async throws(DatabaseError) {
        try await changes.run { () throws(DatabaseError) in try self.compact() }
    }

    /// Deletes rows, or the values of single fields. Cancelling the task has no effect: a deletion
    /// that has started completes.
    ///
    /// - Throws: As the synchronous form.
    @discardableResult
    public func delete(
        experiment: String? = nil, tags: [String: String] = [:], in range: TimeRange = .all,
        fields: [String] = []
    ) async throws(DatabaseError) -> DeletionReport {
        try await changes.run { () throws(DatabaseError) in
            try self.delete(experiment: experiment, tags: tags, in: range, fields: fields)
        }
    }

    /// Deletes an experiment with its schema. Cancelling the task has no effect.
    ///
    /// - Throws: As the synchronous form.
    @discardableResult
    public func drop(experiment: String) async throws(DatabaseError) -> DeletionReport {
        try await changes.run { () throws(DatabaseError) in
            try self.drop(experiment: experiment)
        }
    }

    /// Flushes, merges small segments, writes the final manifest and releases the lock. Waits and
    /// refuses as the synchronous form does. Cancelling the task has no effect.
    ///
    /// - Throws: As the synchronous form.
    public func close() async throws(DatabaseError) {
        try queries.process.check()
        await withCheckedContinuation { continuation in
            changes.end { continuation.resume() }
        }
        let result: Result<Void, DatabaseError> = await withCheckedContinuation { continuation in
            let close = { @Sendable in
                continuation.resume(
                    returning: Result { () throws(DatabaseError) in try self.close() })
            }
            // If the system has no thread left, this one waits: the lock must not stay.
            if !WorkerThreads.start(close) { close() }
        }
        try result.get()
    }

    /// Returns a snapshot of everything committed so far.
    ///
    /// - Throws: As the synchronous form.
    public func snapshot() async throws(DatabaseError) -> DatabaseSnapshot {
        try await queries.calls.run(isCancellable: true) { () throws(DatabaseError) in
            try self.snapshot()
        }
    }

    /// Runs every statement of a text on one snapshot and collects the result in memory. When the
    /// task is cancelled, the call returns at once and the query stops at its next block.
    /// Runs on a thread of the library; a query of a few recent rows, which are in memory, runs at
    /// once, for a millisecond at most.
    ///
    /// - Parameters:
    ///   - text: One or more statements, separated by `;`.
    ///   - parameters: Values of `$name` in the text, in addition to those of the options.
    ///   - options: Clock, limits and cancellation.
    /// - Throws: As the synchronous form; `cancelled` if the task was cancelled.
    public func query(
        _ text: String, parameters: [String: any QueryParameterConvertible] = [:],
        options: QueryOptions = QueryOptions()
    ) async throws(DatabaseError) -> QueryResult {
        let options = options.resolved(parameters, limits: queries.limits)
        let result = try queries.briefly(text, options) { options throws(DatabaseError) in
            guard case .writer(let engine) = try self.openStore(),
                let snapshot = try engine.snapshotIfFree()
            else { return QueryResult?.none }
            return try DatabaseSnapshot(snapshot: snapshot, context: self.queries)
                .query(text, options: options)
        }
        if let result { return result }
        return try await queries.cancellable(options) { options throws(DatabaseError) in
            try self.query(text, options: options)
        }
    }

    /// Runs every statement of a text, also those that change data. When the task is cancelled, the
    /// call returns at once. A change that has started completes.
    ///
    /// - Parameters: As `query`.
    /// - Throws: As the synchronous form; `cancelled` if the task was cancelled.
    @discardableResult
    public func execute(
        _ text: String, parameters: [String: any QueryParameterConvertible] = [:],
        options: QueryOptions = QueryOptions()
    ) async throws(DatabaseError) -> QueryResult {
        try await queries.cancellable(
            options.resolved(parameters, limits: queries.limits)
        ) {
            options throws(DatabaseError) in
            try self.execute(text, options: options)
        }
    }

    /// Starts a query that returns its rows in batches. See `QueryCursor`.
    ///
    /// - Throws: As the synchronous form.
    public func cursor(
        _ text: String, parameters: [String: any QueryParameterConvertible] = [:],
        options: QueryOptions = QueryOptions()
    ) async throws(DatabaseError) -> QueryCursor {
        let options = options.resolved(parameters, limits: queries.limits)
        return try await queries.calls.run(isCancellable: true) { () throws(DatabaseError) in
            try self.cursor(text, options: options)
        }
    }
}

extension DatabaseSnapshot {
    /// Runs every statement of a text and collects the result in memory. When the task is
    /// cancelled, the call returns at once and the query stops at its next block.
    ///
    /// - Parameters:
    ///   - text: One or more statements, separated by `;`.
    ///   - parameters: Values of `$name` in the text, in addition to those of the options.
    ///   - options: Clock, limits and cancellation.
    /// - Throws: As the synchronous form; `cancelled` if the task was cancelled.
    public func query(
        _ text: String, parameters: [String: any QueryParameterConvertible] = [:],
        options: QueryOptions = QueryOptions()
    ) async throws(DatabaseError) -> QueryResult {
        let options = options.resolved(parameters, limits: context.limits)
        let result = try context.briefly(text, options) { options throws(DatabaseError) in
            try self.query(text, options: options)
        }
        if let result { return result }
        return try await context.cancellable(options) { options throws(DatabaseError) in
            try self.query(text, options: options)
        }
    }
}
