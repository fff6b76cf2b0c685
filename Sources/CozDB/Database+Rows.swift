// Writing values of a program's own types.

extension Database {
    /// Commits rows atomically: values whose properties are their times, tags and fields, as
    /// `WriteBatch.add(_:experiment:tags:)` takes them.
    ///
    ///     try database.write(samples, experiment: "dev")
    ///
    /// - Parameters:
    ///   - rows: The values. A row of which all fields are nil stores nothing. If none stores
    ///     anything, no experiment is created.
    ///   - experiment: Its identity says which properties are tags; for a new experiment, that of
    ///     `settings`. Properties with the names of its attributes are tags, too,
    ///     unless it has a field of that name.
    ///   - tags: Further properties that are tags. ``Identity/allTags`` names none: name all.
    ///   - settings: Used if the experiment is created; an existing experiment must match them.
    /// - Throws: As `write(_:)`, and as `WriteBatch.add(_:experiment:tags:)` for the first wrong
    ///   row, with its number; then nothing is stored.
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
        try await write { () throws(DatabaseError) in
            try self.batch(rows, experiment, tags, settings)
        }
    }

    private func batch<Row: Encodable>(
        _ rows: some Sequence<Row>, _ experiment: String, _ tags: [String],
        _ settings: ExperimentSettings
    ) throws(DatabaseError) -> WriteBatch {
        let schema = try takeSnapshot().experiment(experiment)?.schema
        let identity = settings.identity ?? schema?.identity ?? .standard
        // A property that some rows store as a tag must not become a field of the same name.
        let attributes = schema?.attributes.map(\.name).filter { schema?.field($0) == nil } ?? []
        let encoder = try RowEncoder(identity, tags: tags + attributes)
        var batch = WriteBatch()
        batch.settings = settings
        // If the experiment gets another identity meanwhile, the commit refuses the batch.
        batch.settings.identity = identity
        for (index, row) in rows.enumerated() {
            do throws(DatabaseError) {
                try encoder.encode(row)
                if encoder.fields.isEmpty, encoder.time != nil { continue }
                try batch.add(encoder, experiment: experiment)
            } catch {
                var error = error
                error.message = "row \(index + 1): " + error.message
                throw error
            }
        }
        return batch
    }
}
