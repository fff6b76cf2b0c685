// The rejects journal: listing what was refused, and writing it again when the schema has changed.

extension Database {
    /// Calls the body with every entry in the order of commits, each refusal once, with what has
    /// become of it. Equal lines are one entry with a count. Return false to stop.
    ///
    /// Cost: reads the whole journal into memory.
    ///
    /// - Throws: what the body throws; `closed`; `io` and `damaged` with the file that cannot be
    ///   read.
    public func rejects(
        _ body: (RejectEntry) throws(DatabaseError) -> Bool
    ) throws(DatabaseError) {
        let entries = try journal()
        var states: [UInt64: RejectEntry.State] = [:]
        var repeats: [UInt64: (count: Int, line: Int)] = [:]
        for entry in entries {
            switch entry {
            case .mark(let id, let state): states[id] = state
            case .repeated(let id, let count, let line, _):
                let before = repeats[id] ?? (0, 0)
                repeats[id] = (before.count + count, max(before.line, line))
            case .refusal, .dropped: break
            }
        }
        let isPlain = states.isEmpty && repeats.isEmpty
        for case .refusal(let refusal) in entries {
            var entry = RejectEntry(refusal: refusal, state: .waiting, lastLine: refusal.line)
            if !isPlain {
                let id = refusal.journalID
                entry.state = states[id] ?? .waiting
                if let repeated = repeats[id] {
                    entry.count += repeated.count
                    entry.lastLine = max(entry.lastLine, repeated.line)
                }
            }
            guard try body(entry) else { return }
        }
    }

    /// The same with nothing secret in it: refused lines, which may be of any form, are masked
    /// whole, values and tags as `QueryOptions.redactsSecrets` masks them.
    public func redactedRejects(
        _ body: (RejectEntry) throws(DatabaseError) -> Bool
    ) throws(DatabaseError) {
        try rejects { entry throws(DatabaseError) in
            var entry = entry
            entry.refusal = entry.refusal.redacted
            return try body(entry)
        }
    }

    /// Widens the type of a field: integer to float, anything to string. Durable on return.
    ///
    /// Cost: flushes; integer to float reads the statistics of all blocks of the field.
    ///
    /// - Throws: `notFound` for the experiment or field; `usage` where a stored value would not
    ///   stay the same number, or the database is read-only; then nothing is changed.
    public func alter(
        experiment: String, field: String, type: FieldType
    ) throws(DatabaseError) {
        try writer().alter(experiment: experiment, field: field, type: type)
    }

    /// Takes entries out of the rejects journal for good: what they hold is in no file of the
    /// database afterwards. Durable on return.
    ///
    /// - Parameter experiment: only refused values of this one, and refused lines that name it;
    ///   nil: all entries.
    /// - Returns: how many entries went, those that a replay had written included.
    /// - Throws: `usage` where the database is read-only; `io` where a file cannot be written: then
    ///   nothing is changed.
    @discardableResult
    public func clearRejects(of experiment: String? = nil) throws(DatabaseError) -> Int {
        let report = try writer().delete { _ throws(DatabaseError) in
            var deletion = Deletion()
            deletion.dropsRefusalCounts = experiment == nil
            deletion.refusals = { refusal throws(DatabaseError) in
                experiment.map { Name($0) == Name(refusal.experiment) } ?? true
            }
            return deletion
        }
        return report.refusals
    }

    /// Writes refused values again that fit their field's type now, into empty cells only.
    /// Values and what became of them are one commit.
    ///
    /// Durable on return, as `write` is.
    ///
    /// - Parameter overwrite: also where the cell has a value meanwhile.
    /// - Throws: `usage` where the database is read-only, and what `write` throws; then nothing
    ///   is changed.
    public func replayRejects(overwrite: Bool = false) throws(DatabaseError) -> ReplayReport {
        let engine = try writer()
        // A deletion between reading and writing would be undone.
        return try engine.changing { () throws(DatabaseError) in try replay(engine, overwrite) }
    }

    private func replay(
        _ engine: Engine, _ overwrite: Bool
    ) throws(DatabaseError) -> ReplayReport {
        let snapshot = try takeSnapshot()
        var report = ReplayReport()
        var batch = WriteBatch()
        batch.source = "replay"
        var marks: [JournalEntry] = []
        try rejects { entry throws(DatabaseError) in
            if entry.state == .done { return true }
            guard
                case .value(let experiment, let key, let time, let field, let value, _) =
                    entry.refusal.subject
            else {
                report.lines += entry.count
                return true
            }
            let id = entry.refusal.journalID
            guard let view = snapshot.experiment(experiment),
                let column = view.schema.field(field), let fitting = value.cast(to: column.type)
            else {
                report.refused += 1
                return true
            }
            if !overwrite, try view.hasValue(column.id, key, time) {
                report.superseded += 1
                if entry.state != .superseded { marks.append(.mark(id: id, state: .superseded)) }
                return true
            }
            batch.add(experiment: experiment, key: key, time: time, field: field, value: fitting)
            marks.append(.mark(id: id, state: .done))
            report.replayed += 1
            return true
        }
        if !marks.isEmpty { _ = try engine.write(batch, marks: marks) }
        return report
    }

    /// Entries of the journal: files first, then what only the log has.
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

    /// What was refused, and how much of it the journal did not keep.
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
    /// Whether one cell has a value.
    func hasValue(
        _ column: ColumnID, _ key: SeriesKey, _ time: Timestamp
    ) throws(DatabaseError) -> Bool {
        let range = TimeRange(lower: time.nanoseconds, upper: time.nanoseconds + 1)
        guard let series = try series(in: range, where: { $0 == key }).first else { return false }
        return try last(column, of: series, in: range) != nil
    }
}

extension FieldValue {
    /// The value as a field of this type takes it; nil where it would not be the same.
    func cast(to type: FieldType) -> FieldValue? {
        switch (self, type) {
        case _ where self.type == type:
            return self
        case (_, .string):
            return .string(plainText)
        case (.integer(let number), .float) where number.magnitude <= 1 << 53:
            return .float(Double(number))
        case (.float(let number), .integer) where number.sign == .plus || number != 0:
            return Int64(exactly: number).map { .integer($0) }
        default:
            return nil
        }
    }
}
