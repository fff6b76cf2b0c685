// Writing values of a program's own types.

extension Database {
    /// Commits rows atomically: values whose properties are their times, tags and fields, as
    /// `WriteBatch.add(_:experiment:tags:)` takes them.
    ///
    ///     try database.write(samples, experiment: "dev")
    ///
    /// - Parameters:
    ///   - rows: The values. Without any, nothing is stored and no experiment is created.
    ///   - experiment: Its identity says which properties are tags; for a new experiment, that of
    ///     `settings`.
    ///   - tags: Further properties that are tags. ``Identity/allTags`` names none: name all.
    ///   - settings: Used if the experiment is created; an existing experiment must match them.
    /// - Throws: As `write(_:)`, and as `WriteBatch.add(_:experiment:tags:)` for the first wrong
    ///   row; then nothing is stored.
    public func write<Row: Encodable>(
        _ rows: some Sequence<Row>, experiment: String, tags: [String] = [],
        settings: ExperimentSettings = ExperimentSettings()
    ) throws(DatabaseError) -> WriteReport {
        try write(try batch(rows, experiment, tags, settings))
    }

    /// Commits rows atomically. Cancelling the task has no effect.
    ///
    /// - Throws: As the synchronous form.
    public func write<Row: Encodable & SendableMetatype>(
        _ rows: some Sequence<Row> & Sendable, experiment: String, tags: [String] = [],
        settings: ExperimentSettings = ExperimentSettings()
    ) async throws(DatabaseError) -> WriteReport {
        try await changes.run { () throws(DatabaseError) in
            try self.write(try self.batch(rows, experiment, tags, settings))
        }
    }

    private func batch<Row: Encodable>(
        _ rows: some Sequence<Row>, _ experiment: String, _ tags: [String],
        _ settings: ExperimentSettings
    ) throws(DatabaseError) -> WriteBatch {
        let stored = try takeSnapshot().experiment(experiment)?.schema.identity
        let identity = settings.identity ?? stored ?? .standard
        let encoder = try RowEncoder(identity, tags: tags)
        var batch = WriteBatch()
        batch.settings = settings
        // If the experiment gets another identity meanwhile, the commit refuses the batch.
        batch.settings.identity = identity
        for row in rows { try batch.add(row, experiment: experiment, encoder) }
        return batch
    }
}
