// Deletion from code, equivalent to the statements DELETE and DROP MEASUREMENT.

extension Database {
    /// Deletes rows, or the values of single fields, and every byte of them in the database's
    /// files. Durable on return. Existing snapshots and readers keep what they see.
    ///
    ///     try database.delete(tags: ["id_participant": "p07"])
    ///
    /// A row whose last field is deleted disappears. Matching refused values in the rejects journal
    /// are deleted as well; a refused line is deleted only with its whole series.
    ///
    /// Cost: rewrites the segments that hold matching data and copies their unaffected blocks.
    /// Writers wait until it is done, readers do not.
    ///
    /// - Parameters:
    ///   - experiment: nil means all experiments.
    ///   - tags: Tags that rows must have, including attributes. A tag that a row does not have
    ///     counts as empty.
    ///   - range: Times of the rows.
    ///   - fields: Fields whose values are deleted; empty means whole rows. The fields keep their
    ///     type.
    /// - Throws: `usage` if nothing says what to delete, if a field or tag is unknown, or if the
    ///   database is read-only; `notFound` for an unknown experiment; `damaged`; `io`. After an
    ///   error nothing is changed, unless `io` says that a file with deleted data could not be
    ///   removed.
    @discardableResult
    public func delete(
        experiment: String? = nil, tags: [String: String] = [:], in range: TimeRange = .all,
        fields: [String] = []
    ) throws(DatabaseError) -> DeletionReport {
        guard experiment != nil || !tags.isEmpty || range != .all else {
            throw DatabaseError(
                .usage, "nothing says what to delete; give an experiment, tags or a time range")
        }
        let statement = DeleteStatement(
            experiment: experiment, tags: tags, range: range, fields: fields)
        return try delete { snapshot throws(DatabaseError) in
            try DatabaseError.withoutOffset { () throws(DatabaseError) in
                try DeletePlanner(snapshot: snapshot).plan(statement, isSeries: false)
            }
        }
    }

    /// Deletes an experiment: its rows, its schema with all types, and its refusals. A new
    /// experiment of the same name starts empty.
    ///
    /// - Throws: As `delete`.
    @discardableResult
    public func drop(experiment: String) throws(DatabaseError) -> DeletionReport {
        try delete { snapshot throws(DatabaseError) in
            try DatabaseError.withoutOffset { () throws(DatabaseError) in
                try DeletePlanner(snapshot: snapshot).plan(drop: experiment, offset: 0)
            }
        }
    }

    /// Deletes what a plan selects, and tells observers.
    private func delete(
        _ plan: (Snapshot) throws(DatabaseError) -> Deletion
    ) throws(DatabaseError) -> DeletionReport {
        try delete(plan) { _, report in report }
    }

    /// Deletes what a plan selects, and returns what `close` must not prevent any more.
    func delete<Value>(
        _ plan: (Snapshot) throws(DatabaseError) -> Deletion,
        _ then: (Engine, DeletionReport) throws(DatabaseError) -> Value
    ) throws(DatabaseError) -> Value {
        var names: Set<String> = []
        // A deletion that fails after the manifest was replaced has deleted.
        defer { if !names.isEmpty { noteChange(of: names) } }
        return try change { engine throws(DatabaseError) in
            let report = try engine.delete { snapshot throws(DatabaseError) in
                let deletion = try plan(snapshot)
                names = Set(deletion.experiments.map(\.view.schema.name))
                return deletion
            }
            return try then(engine, report)
        }
    }
}

extension DeletePlanner {
    fileprivate init(snapshot: Snapshot) {
        let options = QueryOptions(now: .now)
        self.init(snapshot: snapshot, options: options, context: ExecutionContext(options))
    }
}

extension DeleteStatement {
    fileprivate init(
        experiment: String?, tags: [String: String], range: TimeRange, fields: [String]
    ) {
        self.init(fields: fields.map { Reference(name: $0) })
        if let experiment { sources = [.experiment(experiment, qualifiers: [], offset: 0)] }
        var parts = tags.sorted { Name($0.key) < Name($1.key) }.map { name, value in
            Expression.binary(
                .equal, .reference(Reference(name: name, kind: .tag)), .string(value))
        }
        let time = Expression.reference(Reference(name: "time"))
        if range.lower > TimeRange.all.lower {
            parts.append(.binary(.greaterOrEqual, time, .integer(range.lower)))
        }
        if range.upper < TimeRange.all.upper {
            parts.append(.binary(.less, time, .integer(range.upper)))
        }
        // A balanced tree: one as deep as there are tags would overflow the stack.
        while parts.count > 1 {
            parts = stride(from: 0, to: parts.count, by: 2).map { index in
                index + 1 < parts.count
                    ? .binary(.and, parts[index], parts[index + 1]) : parts[index]
            }
        }
        condition = parts.first
    }
}
