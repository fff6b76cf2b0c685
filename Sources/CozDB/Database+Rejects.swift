// The rejects journal: list, clear and replay refused values; change the type of a field.

extension Database {
    /// Calls the body with each entry in commit order, each refusal once, with its current state.
    /// Equal lines are one entry with a count. The body returns false to stop.
    ///
    /// Cost: reads the whole journal into memory, which takes up to five times its size.
    ///
    /// - Throws: What the body throws; `closed`; `io` and `damaged` with the file that cannot be
    ///   read.
    public func rejects(
        _ body: (RejectEntry) throws(DatabaseError) -> Bool
    ) throws(DatabaseError) {
        let entries = try journal()
        var states: [UInt64: RejectEntry.State] = [:]
        var repeats: [UInt64: (count: Int, line: Int)] = [:]
        /// How often a refusal was added again after a replay had stored it.
        var additions: [UInt64: Int] = [:]
        for entry in entries {
            switch entry {
            case .refusal(let refusal):
                guard !states.isEmpty else { continue }
                let id = refusal.journalID
                if states.removeValue(forKey: id) != nil { additions[id, default: 0] += 1 }
            case .mark(let id, let state): states[id] = state
            case .repeated(let id, let count, let line, _):
                let before = repeats[id] ?? (0, 0)
                repeats[id] = (before.count + count, max(before.line, line))
            case .dropped: break
            }
        }
        let isPlain = states.isEmpty && repeats.isEmpty && additions.isEmpty
        for case .refusal(let refusal) in entries {
            var entry = RejectEntry(refusal: refusal, state: .waiting, lastLine: refusal.line)
            if !isPlain {
                let id = refusal.journalID
                // Only the last one counts.
                if let count = additions[id], count > 0 {
                    additions[id] = count - 1
                    continue
                }
                entry.state = states[id] ?? .waiting
                if let repeated = repeats[id] {
                    entry.count += repeated.count
                    entry.lastLine = max(entry.lastLine, repeated.line)
                }
            }
            guard try body(entry) else { return }
        }
    }

    /// Calls the body with each entry, with credentials masked. Refused lines can have any form, so
    /// they are masked completely. Values and tags are masked as by `QueryOptions.redactsSecrets`.
    ///
    /// - Throws: As `rejects`.
    public func redactedRejects(
        _ body: (RejectEntry) throws(DatabaseError) -> Bool
    ) throws(DatabaseError) {
        try rejects { entry throws(DatabaseError) in
            var entry = entry
            entry.refusal = entry.refusal.redacted
            return try body(entry)
        }
    }

    /// Widens the type of a field: integer to float, or any type to string. Durable on return.
    ///
    /// Cost: a flush. Integer to float also reads the statistics of all blocks of the field.
    ///
    /// - Throws: `notFound` if the experiment or field does not exist; `usage` if a stored value
    ///   would change, or if the database is read-only. Nothing is changed then.
    public func alter(
        experiment: String, field: String, type: FieldType
    ) throws(DatabaseError) {
        try alter(experiment, field, type) { _ in }
    }

    /// Widens the type of a field, and returns what `close` must not prevent any more.
    func alter<Value>(
        _ experiment: String, _ field: String, _ type: FieldType,
        _ then: (Engine) throws(DatabaseError) -> Value
    ) throws(DatabaseError) -> Value {
        try change { engine throws(DatabaseError) in
            try engine.alter(experiment: experiment, field: field, type: type)
            noteChange(of: [experiment])
            return try then(engine)
        }
    }

    /// Deletes entries of the rejects journal. Afterwards no file of the database has their
    /// content. Durable on return.
    ///
    /// - Parameter experiment: Deletes only values refused in this experiment and refused lines
    ///   that name it. nil deletes all entries.
    /// - Returns: The number of deleted entries, including those that a replay has written.
    /// - Throws: `usage` if the database is read-only; `io` if a file cannot be written. Nothing is
    ///   changed then.
    @discardableResult
    public func clearRejects(of experiment: String? = nil) throws(DatabaseError) -> Int {
        try change { engine throws(DatabaseError) in
            try engine.delete { _ throws(DatabaseError) in
                var deletion = Deletion()
                deletion.dropsRefusalCounts = experiment == nil
                deletion.refusals = { refusal throws(DatabaseError) in
                    experiment.map { Name($0) == Name(refusal.experiment) } ?? true
                }
                return deletion
            }.refusals
        }
    }

    /// Writes the refused values that fit their field's current type. Only empty cells are written.
    /// The values and the new states of their entries are one commit, durable as a `write` is.
    /// Other commits wait meanwhile.
    ///
    /// - Parameter overwrite: Whether to also replace stored values, which can be newer or older
    ///   than the refused ones.
    /// - Throws: What `write` throws; `usage` if the database is read-only. Nothing is changed
    ///   then.
    public func replayRejects(overwrite: Bool = false) throws(DatabaseError) -> ReplayReport {
        try change { engine throws(DatabaseError) in
            // A deletion between the read and the write would be undone, and a commit lost.
            try engine.withoutOtherCommits { () throws(DatabaseError) in
                try replay(engine, overwrite)
            }
        }
    }

    private func replay(
        _ engine: Engine, _ overwrite: Bool
    ) throws(DatabaseError) -> ReplayReport {
        let snapshot = try takeSnapshot()
        var report = ReplayReport()
        var batch = WriteBatch()
        batch.source = "replay"
        var replayed = ReplayedRefusals()
        try rejects { entry throws(DatabaseError) in
            if entry.state == .done { return true }
            guard
                case .value(let experiment, let key, let time, let field, let value, let locked) =
                    entry.refusal.subject
            else {
                report.lines += entry.count
                return true
            }
            let id = entry.refusal.journalID
            guard !entry.refusal.isCut, let view = snapshot.experiment(experiment),
                let fitting = value.cast(to: view.schema.replayType(of: field) ?? value.type),
                // What an integer field refused was rounded to this float.
                !(locked == .integer && value.type == .float && fitting.type == .integer),
                (Timestamp.min...Timestamp.max).contains(time), key.isStorable,
                (1...DatabaseOptions.nameSizeBytesMax).contains(field.utf8.count),
                fitting.textSizeBytes <= engine.options.stringSizeBytesMax
            else {
                report.refused += 1
                return true
            }
            let own = key.identity(view.schema.identity)
            if !overwrite, let column = view.schema.field(field),
                try view.hasValue(column.id, own, time)
            {
                report.superseded += 1
                if entry.state != .superseded { replayed.superseded.append(id) }
                return true
            }
            var tags = key
            // The row may have got other attributes in the meantime.
            if own != key, try view.hasRow(own, time) { tags = own }
            batch.add(experiment: experiment, key: tags, time: time, field: field, value: fitting)
            replayed.ofRows.append(id)
            report.replayed += 1
            return true
        }
        if !replayed.isEmpty {
            if let written = try engine.write(batch, replayed: replayed, ownsExclusivity: true) {
                noteChange(of: batch, written.sequence, engine)
                // Each value is a point of its own.
                let again = written.refusedValues + written.refusedPoints
                report.replayed -= again
                report.refused += again
            }
        }
        return report
    }

    /// Returns the entries of the journal: those of the files, then those that are only in the log.
    func journal() throws(DatabaseError) -> [JournalEntry] {
        switch try openStore() {
        case .writer(let engine):
            return try engine.journal()
        case .reader(let reader):
            return try reader.read { manifest, _, replay throws(DatabaseError) in
                var entries: [JournalEntry] = []
                for info in manifest.rejects {
                    entries += try RejectsFile.read(
                        info, under: reader.directory, databaseID: manifest.databaseID)
                }
                return entries + replay.memtable.journal.entries
            }
        }
    }

    /// Returns the number of refusals that the journal holds, and of those it did not keep.
    func rejectCounts() throws(DatabaseError) -> (kept: Int, unkept: Int) {
        var counts = (kept: 0, unkept: 0)
        for entry in try journal() {
            switch entry {
            case .refusal: counts.kept += 1
            case .repeated(_, let count, _, _): counts.kept += count
            case .dropped(let count): counts.unkept += count
            case .mark: break
            }
        }
        return counts
    }
}

extension ExperimentView {
    /// Whether a row is stored.
    func hasRow(_ key: SeriesKey, _ time: Timestamp) throws(DatabaseError) -> Bool {
        let range = TimeRange(lower: time.nanoseconds, upper: time.nanoseconds + 1)
        guard let series = try series(of: key, in: range) else { return false }
        return try rowCount(of: series, in: range) > 0
    }

    /// Whether one cell has a value.
    func hasValue(
        _ column: ColumnID, _ key: SeriesKey, _ time: Timestamp
    ) throws(DatabaseError) -> Bool {
        let range = TimeRange(lower: time.nanoseconds, upper: time.nanoseconds + 1)
        guard let series = try series(of: key, in: range) else { return false }
        return try end(column, of: series, in: range, last: true) != nil
    }
}

extension SeriesKey {
    /// Returns the key of the tags that identify a row.
    func identity(_ identity: Identity) -> SeriesKey {
        let tags = tags
        let own = tags.filter { identity.contains($0.name) }
        return own.count == tags.count ? self : SeriesKey(tags: own)
    }

    /// Whether a point may have these tags. A refusal may name others.
    fileprivate var isStorable: Bool {
        let range = 1...DatabaseOptions.nameSizeBytesMax
        return tags.allSatisfy { tag in
            range.contains(tag.name.utf8.count) && tag.value.utf8.count <= range.upperBound
        }
    }
}

extension FieldValue {
    /// Returns the value converted to a type; nil if the conversion would lose information.
    func cast(to type: FieldType) -> FieldValue? {
        switch (self, type) {
        case _ where self.type == type:
            return self
        case (_, .string):
            return .string(plainText)
        case (.integer(let number), .float) where number.magnitude <= 1 << 53:
            return .float(Double(number))
        case (.float(let number), .integer):
            return Int64(exact: number).map { .integer($0) }
        default:
            return nil
        }
    }
}

extension ExperimentSchema {
    /// The type of a field, or the one that it will have; nil if its next value decides.
    fileprivate func replayType(of field: String) -> FieldType? {
        self.field(field)?.type ?? declaration(of: field)?.type
    }
}
