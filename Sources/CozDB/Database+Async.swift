// The calls of `Database` for tasks: the same work on threads of its own, so that Swift's
// cooperative pool never waits for a disk or a lock. Each database has threads of its own.

extension Database {
    /// Opens a database as the synchronous `open` does.
    ///
    /// - Throws: as the synchronous form.
    public static func open(
        _ path: String, access: DatabaseAccess = .readWrite,
        options: DatabaseOptions = DatabaseOptions()
    ) async throws(DatabaseError) -> Database {
        try await WaitingCalls.openings.run { () throws(DatabaseError) in
            try open(path, access: access, options: options)
        }
    }

    /// Commits a batch, whole or not at all; durable on return, as the option `durability` says.
    /// Tasks that write at the same time share a sync. Cancelling the task changes nothing: a
    /// commit that was handed in is finished.
    ///
    /// - Throws: as the synchronous form; `limitExceeded` where more calls wait than
    ///   `DatabaseOptions.waitingCallCountMax`, as all `async` calls do.
    public func write(_ batch: WriteBatch) async throws(DatabaseError) -> WriteReport {
        try await changes.run { () throws(DatabaseError) in try self.write(batch) }
    }

    /// Writes what is in memory to segments. Cancelling the task changes nothing.
    ///
    /// - Throws: as the synchronous form.
    public func flush() async throws(DatabaseError) {
        try await changes.run { () throws(DatabaseError) in try self.flush() }
    }

    /// Merges all segments of each experiment into one. Cancelling the task changes nothing.
    ///
    /// - Throws: as the synchronous form.
    public func compact() async throws(DatabaseError) {
        try await changes.run { () throws(DatabaseError) in try self.compact() }
    }

    /// Deletes rows, or the values of single fields. Cancelling the task changes nothing: a
    /// deletion that was begun is finished.
    ///
    /// - Throws: as the synchronous form.
    @discardableResult
    public func delete(
        experiment: String? = nil, tags: [String: String] = [:], in range: TimeRange = .all,
        fields: [String] = []
    ) async throws(DatabaseError) -> DeletionReport {
        try await changes.run { () throws(DatabaseError) in
            try self.delete(experiment: experiment, tags: tags, in: range, fields: fields)
        }
    }

    /// Deletes an experiment with its schema. Cancelling the task changes nothing.
    ///
    /// - Throws: as the synchronous form.
    @discardableResult
    public func drop(experiment: String) async throws(DatabaseError) -> DeletionReport {
        try await changes.run { () throws(DatabaseError) in
            try self.drop(experiment: experiment)
        }
    }

    /// Flushes, merges what is worth it, seals the manifest and frees the lock. Calls of other
    /// tasks that have begun are waited for, later ones throw `closed`. Cancelling the task changes
    /// nothing.
    ///
    /// - Throws: as the synchronous form.
    public func close() async throws(DatabaseError) {
        try await changes.run { () throws(DatabaseError) in try self.close() }
    }

    /// Everything committed up to now, for several queries.
    ///
    /// - Throws: as the synchronous form.
    public func snapshot() async throws(DatabaseError) -> DatabaseSnapshot {
        try await queries.calls.run(isCancellable: true) { () throws(DatabaseError) in
            try self.snapshot()
        }
    }

    /// Runs every statement of a text on one snapshot and collects the answer in memory. Returns at
    /// once when the task is cancelled; the query then ends with its next block.
    ///
    /// - Parameter options: clock, parameters and limits; nil is now, without parameters.
    /// - Throws: as the synchronous form; `cancelled` where the task was cancelled.
    public func query(
        _ text: String, options: QueryOptions? = nil
    ) async throws(DatabaseError) -> QueryResult {
        try await queries.cancellable(options ?? Database.options) {
            options throws(DatabaseError) in
            try self.query(text, options: options)
        }
    }

    /// Starts a query and hands its answer out in batches; see `QueryCursor`.
    ///
    /// - Throws: as the synchronous form.
    public func cursor(
        _ text: String, options: QueryOptions? = nil
    ) async throws(DatabaseError) -> QueryCursor {
        try await queries.calls.run(isCancellable: true) { () throws(DatabaseError) in
            try self.cursor(text, options: options)
        }
    }
}

extension DatabaseSnapshot {
    /// Runs every statement of a text and collects the answer in memory. Returns at once when the
    /// task is cancelled; the query then ends with its next block.
    ///
    /// - Parameter options: clock, parameters and limits; nil is now, without parameters.
    /// - Throws: as the synchronous form; `cancelled` where the task was cancelled.
    public func query(
        _ text: String, options: QueryOptions? = nil
    ) async throws(DatabaseError) -> QueryResult {
        try await context.cancellable(options ?? Database.options) {
            options throws(DatabaseError) in
            try self.query(text, options: options)
        }
    }
}
