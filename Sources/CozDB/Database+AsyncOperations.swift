// The `async` forms of what operates a database: declarations, counts, backups, forgetting and the
// rejects journal. A service does these for requests, too.

extension Database {
    /// Runs work that changes the database on a thread of its own, for `async` calls of other
    /// modules.
    package func changing<Value: Sendable>(
        _ body: @escaping @Sendable () throws(DatabaseError) -> Value
    ) async throws(DatabaseError) -> Value {
        try await changes.run(body)
    }

    /// Runs work that may wait for others, such as a client that sends slowly, on a thread that no
    /// other call needs.
    package static func waiting<Value: Sendable>(
        _ body: @escaping @Sendable () throws(DatabaseError) -> Value
    ) async throws(DatabaseError) -> Value {
        try await BlockingCallPool(callCountMax: 1, waitingCountMax: 0).run(body)
    }

    /// Declares fields of an experiment. Cancelling the task has no effect.
    ///
    /// - Throws: As the synchronous form.
    @discardableResult
    public func declare(
        experiment: String, fields: [SchemaPreset.Field],
        settings: ExperimentSettings = ExperimentSettings()
    ) async throws(DatabaseError) -> WriteReport {
        try await changes.run { () throws(DatabaseError) in
            try self.declare(experiment: experiment, fields: fields, settings: settings)
        }
    }

    /// Widens the type of a field. Cancelling the task has no effect.
    ///
    /// - Throws: As the synchronous form.
    public func alter(
        experiment: String, field: String, type: FieldType
    ) async throws(DatabaseError) {
        try await changes.run { () throws(DatabaseError) in
            try self.alter(experiment: experiment, field: field, type: type)
        }
    }

    /// Forgets participants. Cancelling the task does what `isCancelled` does.
    ///
    /// - Throws: As the synchronous form.
    @discardableResult
    public func forget(
        _ participants: [String], merging list: ForgottenList = ForgottenList(),
        removingSetAside: Bool = false, isDryRun: Bool = false,
        isCancelled: (@Sendable () -> Bool)? = nil
    ) async throws(DatabaseError) -> ForgetReport {
        try await changes.run(watching: isCancelled) { isCancelled throws(DatabaseError) in
            try self.forget(
                participants, merging: list, removingSetAside: removingSetAside,
                isDryRun: isDryRun, isCancelled: isCancelled)
        }
    }

    /// Removes participants from the list of forgotten ones. Cancelling the task has no effect.
    ///
    /// - Returns: The given participants that were on the list.
    /// - Throws: As the synchronous form.
    @discardableResult
    public func readmit(_ participants: [String]) async throws(DatabaseError) -> [String] {
        try await changes.run { () throws(DatabaseError) in try self.readmit(participants) }
    }

    /// Writes the refused values that fit their field's current type. Cancelling the task has no
    /// effect.
    ///
    /// - Throws: As the synchronous form.
    public func replayRejects(
        overwrite: Bool = false
    ) async throws(DatabaseError) -> ReplayReport {
        try await changes.run { () throws(DatabaseError) in
            try self.replayRejects(overwrite: overwrite)
        }
    }

    /// Empties the rejects journal. Cancelling the task has no effect.
    ///
    /// - Throws: As the synchronous form.
    @discardableResult
    public func clearRejects(of experiment: String? = nil) async throws(DatabaseError) -> Int {
        try await changes.run { () throws(DatabaseError) in try self.clearRejects(of: experiment) }
    }

    /// Returns entries of the rejects journal in commit order, each refusal once, with its current
    /// state. If the task is cancelled, the call throws `cancelled`.
    ///
    /// Each call reads the journal again. If it changes between two calls, pages can overlap, or
    /// miss entries.
    ///
    /// Cost: reads the whole journal into memory, which takes up to five times its size.
    ///
    /// - Parameters:
    ///   - experiment: Only values refused in this experiment and refused lines that name it; nil:
    ///     all.
    ///   - offset: How many of them to leave out.
    ///   - limit: How many to return at most.
    ///   - redactsSecrets: Whether credentials are masked, as by `redactedRejects`.
    /// - Throws: `closed`; `busy` if too many calls are waiting; `io` and `damaged` with the file
    ///   that cannot be read.
    public func rejects(
        of experiment: String? = nil, offset: Int = 0, limit: Int = .max,
        redactsSecrets: Bool = false
    ) async throws(DatabaseError) -> [RejectEntry] {
        try await queries.calls.run(isCancellable: true, watching: nil) {
            isCancelled throws(DatabaseError) in
            var entries: [RejectEntry] = []
            var left = max(0, offset)
            // A cancelled task has its error already; a page of no length needs no reading.
            if isCancelled() || limit <= 0 { return entries }
            try self.rejects { entry throws(DatabaseError) in
                if isCancelled() { return false }
                if let experiment, Name(experiment) != Name(entry.refusal.experiment) {
                    return true
                }
                if left > 0 {
                    left -= 1
                    return true
                }
                entries.append(entry)
                if redactsSecrets { entries[entries.count - 1].refusal = entry.refusal.redacted }
                return entries.count < limit
            }
            return entries
        }
    }

    /// Checks a database, as the synchronous form with a closure does. Cancelling the task has no
    /// effect.
    ///
    /// - Returns: The counts and what was found.
    /// - Throws: As the synchronous form.
    public static func check(
        _ path: String, options: DatabaseOptions = DatabaseOptions(), decodes: Bool = false
    ) async throws(DatabaseError) -> (summary: CheckSummary, findings: [CheckFinding]) {
        try await waiting { () throws(DatabaseError) in
            var findings: [CheckFinding] = []
            let summary = try Database.check(path, options: options, decodes: decodes) {
                findings.append($0)
            }
            return (summary, findings)
        }
    }

    /// Backs up this database. Cancelling the task does what `BackupOptions.isCancelled` does. A
    /// backup occupies a thread of `DatabaseOptions.queryThreadCountMax` while it runs.
    ///
    /// - Throws: As the synchronous form.
    @discardableResult
    public func backup(
        to target: String, options: BackupOptions = BackupOptions()
    ) async throws(DatabaseError) -> BackupReport {
        try await queries.calls.run(watching: options.isCancelled) {
            isCancelled throws(DatabaseError) in
            var options = options
            options.isCancelled = isCancelled
            return try self.backup(to: target, options: options)
        }
    }

    /// Returns counts of rows, values and bytes. If the task is cancelled, the call throws
    /// `cancelled`.
    ///
    /// - Throws: As the synchronous form.
    public func info() async throws(DatabaseError) -> DatabaseInfo {
        try await queries.calls.run(isCancellable: true) { () throws(DatabaseError) in
            try self.info()
        }
    }

    /// Returns the schemas of all experiments. If the task is cancelled, the call throws
    /// `cancelled`.
    ///
    /// - Throws: As the synchronous form.
    public func schemas() async throws(DatabaseError) -> [ExperimentSchema] {
        try await queries.calls.run(isCancellable: true) { () throws(DatabaseError) in
            try self.schemas()
        }
    }
}
