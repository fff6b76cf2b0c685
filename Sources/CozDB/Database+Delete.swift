// Deleting without a statement's text: the same as DELETE and DROP MEASUREMENT.

extension Database {
    /// Deletes rows, or the values of single fields, and every byte of them in the database's
    /// files. Durable on return; snapshots and readers that were there before keep what they see.
    ///
    ///     try database.delete(tags: ["id_participant": "p07"])
    ///
    /// A row goes with its last field. Refused values in the rejects journal go as rows do;
    /// refused lines go with their whole series.
    ///
    /// Cost: rewrites the segments that hold any of it, copying the blocks that stay whole.
    /// Writers wait meanwhile, readers do not.
    ///
    /// - Parameters:
    ///   - experiment: nil means all.
    ///   - tags: what rows must have, tags outside the identity included; a tag that a row does
    ///     not have is empty.
    ///   - range: of times.
    ///   - fields: whose values go; none means whole rows. They keep their type.
    /// - Throws: `usage` where nothing says what to delete, a field or tag is unknown, or the
    ///   database is read-only; `notFound` for an unknown experiment; `damaged` and `io`. Nothing
    ///   is changed then, except where `io` says that a file with deleted data could not be
    ///   removed.
    @discardableResult
    public func delete(
        experiment: String? = nil, tags: [String: String] = [:], in range: TimeRange = .all,
        fields: [String] = []
    ) throws(DatabaseError) -> DeletionReport {
        guard experiment != nil || !tags.isEmpty || range != .all else {
            throw DatabaseError(
                .usage, "found nothing that says what to delete; name an experiment, tags or times")
        }
        let statement = DeleteStatement(
            experiment: experiment, tags: tags, range: range, fields: fields)
        return try writer().delete { snapshot throws(DatabaseError) in
            try DeletePlanner(snapshot: snapshot).plan(statement, isSeries: false)
        }
    }

    /// Deletes an experiment: rows, schema with all its types, refusals. One made later under the
    /// same name begins anew.
    ///
    /// - Throws: as `delete`.
    @discardableResult
    public func drop(experiment: String) throws(DatabaseError) -> DeletionReport {
        try writer().delete { snapshot throws(DatabaseError) in
            try DeletePlanner(snapshot: snapshot).plan(drop: experiment, offset: 0)
        }
    }
}

extension DeletePlanner {
    fileprivate init(snapshot: Snapshot) {
        self.init(
            snapshot: snapshot, options: Database.options, counters: CounterBox(Database.options))
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
        guard let first = parts.first else { return }
        condition = parts.dropFirst().reduce(first) { .binary(.and, $0, $1) }
    }
}
