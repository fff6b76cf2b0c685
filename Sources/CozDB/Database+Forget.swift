// Forgetting participants: deletes all their data and refuses it from then on. See docs/erasure.md.

extension Database {
    /// Forgets participants. Deletes every row whose participant tag has one of the names, in all
    /// experiments; every entry of the rejects journal that names them; and every column and
    /// experiment that has no value left. When the call returns, no file of the database has a byte
    /// that belonged to them alone. Later writes for them are refused and not kept, until
    /// `readmit`.
    ///
    /// Data and list change atomically: a crash leaves everything or nothing forgotten. Existing
    /// snapshots and readers keep what they see. Backups made before keep their data.
    ///
    /// Cost: as `delete` for all experiments. An experiment in which an attribute names
    /// participants is merged first and read completely.
    ///
    /// - Parameters:
    ///   - participants: Names, compared byte by byte. A name need not have data.
    ///   - list: The list of another database, or of a later state of this one. Participants on it
    ///     are forgotten too.
    ///   - removingSetAside: Whether to delete the files that a repair moved to `damaged/`. They
    ///     cannot be read, so their owners are unknown. While there are any, the call throws unless
    ///     this is true.
    ///   - isDryRun: Counts what would be deleted and changes nothing. The database may be
    ///     read-only.
    ///   - isCancelled: Called between series. If it returns true, the call throws `cancelled`. It
    ///     must not change the database: changes wait for this call.
    /// - Throws: As `delete`; `usage` if a name is empty or longer than 65,535 bytes, or if a
    ///   repair has set files aside. After an error nothing is changed, unless `io` says that a
    ///   file could not be removed.
    @discardableResult
    public func forget(
        _ participants: [String], merging list: ForgottenList = ForgottenList(),
        removingSetAside: Bool = false, isDryRun: Bool = false,
        isCancelled: (@Sendable () -> Bool)? = nil
    ) throws(DatabaseError) -> ForgetReport {
        try Database.check(participants)
        let wanted = Engine.Forgetting(
            participants: participants, list: list, removesSetAside: removingSetAside
        ) { () throws(DatabaseError) in
            if isCancelled?() == true {
                throw DatabaseError(.cancelled, "interrupted; nothing was forgotten")
            }
        }
        if isDryRun { return try preview(wanted) }
        return try change { engine throws(DatabaseError) in
            defer { noteChange(of: nil) }
            return try engine.forget(wanted)
        }
    }

    /// Removes participants from the list of forgotten ones. What is written for them from now on
    /// is stored again. Durable on return.
    ///
    /// - Returns: The given participants that were on the list.
    /// - Throws: `usage` if the database is read-only; `io`.
    @discardableResult
    public func readmit(_ participants: [String]) throws(DatabaseError) -> [String] {
        try Database.check(participants)
        return try change { engine throws(DatabaseError) in try engine.readmit(participants) }
    }

    /// Returns the list of forgotten participants, as digests. Keep a copy with your backups; pass
    /// it to `forget(_:merging:)` after restoring an older one.
    ///
    /// - Throws: As `snapshot`.
    public func forgottenList() throws(DatabaseError) -> ForgottenList {
        switch try openStore() {
        case .writer(let engine): try engine.moment().0.forgotten
        case .reader(let reader):
            try reader.read { manifest, _, _ throws(DatabaseError) in manifest.forgotten }
        }
    }

    private func participantTags() throws(DatabaseError) -> Set<Name> {
        switch try openStore() {
        case .writer(let engine): engine.state.withLock { $0.schemas.participantTags }
        case .reader(let reader):
            try reader.read { _, _, replay throws(DatabaseError) in replay.schemas.participantTags }
        }
    }

    /// Forgets everyone on a list, in a database that is being restored and that no other process
    /// can open yet.
    ///
    /// - Throws: As `open` for writing, and `forget`.
    @discardableResult
    static func applyForgotten(
        _ list: ForgottenList, to path: String, options: DatabaseOptions = DatabaseOptions(),
        on fileSystem: any FileSystem
    ) throws(DatabaseError) -> ForgetReport {
        var options = options
        options.createsDatabase = false
        let engine = try Recovery.open(
            path, on: fileSystem, options: options, isRestoring: true)
        let database = Database(.writer(engine), options)
        do throws(DatabaseError) {
            let report = try database.forget([], merging: list)
            try database.close()
            return report
        } catch {
            try? database.close()
            throw error
        }
    }

    private static func check(_ participants: [String]) throws(DatabaseError) {
        for name in participants {
            guard (1...DatabaseOptions.nameSizeBytesMax).contains(name.utf8.count) else {
                throw DatabaseError(
                    .usage,
                    "a participant name has \(name.utf8.count) bytes; expected 1 to "
                        + "\(DatabaseOptions.nameSizeBytesMax)")
            }
        }
    }

    /// Counts what would be deleted.
    private func preview(_ wanted: Engine.Forgetting) throws(DatabaseError) -> ForgetReport {
        var report = ForgetReport()
        report.setAsideFiles = try DamagedCopies(in: directory).count
        let snapshot = try takeSnapshot()
        let tags = try participantTags()
        let (_, names) = try wanted.settle(try forgottenList(), tags, in: snapshot, &report)
        let rows = ParticipantRows(tags: tags, participants: names)
        let deletion = wanted.deletion(of: rows, in: snapshot)
        for experiment in deletion.experiments {
            var counts = DeletionReport.Experiment(name: experiment.view.schema.name)
            try experiment.forEachSeries { _, _, loss throws(DatabaseError) in
                try deletion.checkCancelled()
                counts.series += 1
                counts.rows += loss.rows
                counts.values += loss.values
            }
            report.deletion.experiments.append(counts)
        }
        guard let isGone = deletion.refusals else { return report }
        var counts: [Name: Int] = [:]
        for case .refusal(let refusal) in try journal() where try isGone(refusal) {
            counts[Name(refusal.experiment), default: 0] += 1
        }
        report.deletion.add(refusals: counts)
        return report
    }
}
