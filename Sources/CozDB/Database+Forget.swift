// Forgetting participants: everything of them out of the database, and kept out; docs/erasure.md.

extension Database {
    /// Forgets participants: every row that has one of them in the tag that names participants, in
    /// any experiment, every entry of the rejects journal that names them, every column and
    /// experiment that has no value afterwards. No file of the database holds a byte that only
    /// they had when the call returns. What is written of them later is refused and not kept,
    /// until `readmit`.
    ///
    /// Data and list change in one step: a crash leaves nothing forgotten, or all. Snapshots and
    /// readers that were there before keep what they see; backups made before keep what they have.
    ///
    /// Cost: as `delete`, for all experiments; one in which an attribute names participants is
    /// merged before and read whole.
    ///
    /// - Parameters:
    ///   - participants: names, compared byte by byte; also of somebody who has no data any more.
    ///   - list: of another database, or of a later state of this one: whoever of the data is on
    ///     it is forgotten, and everybody on it is kept out.
    ///   - removingSetAside: whether the files that a repair moved to `damaged/` go as well. Nobody
    ///     can read them, so nobody can tell whose they are: while there are any, nothing is
    ///     forgotten without this.
    ///   - isDryRun: count what would go, and change nothing; the database may be read-only.
    ///   - isCancelled: asked between series; true ends with an error of kind `cancelled`.
    /// - Throws: as `delete`; `usage` for an empty name, or for files that a repair set aside.
    ///   Nothing is changed then, except where `io` says that a file could not be removed.
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
        return try isDryRun ? preview(wanted) : writer().forget(wanted)
    }

    /// Takes participants off the list of those who were forgotten: what is written of them from
    /// now on is stored again. Durable on return.
    ///
    /// - Returns: those who were on the list.
    /// - Throws: `usage` where the database is read-only; `io`.
    @discardableResult
    public func readmit(_ participants: [String]) throws(DatabaseError) -> [String] {
        try Database.check(participants)
        return try writer().readmit(participants)
    }

    /// The participants that were forgotten, as digests: to be kept beside backups, and given to
    /// `forget(_:merging:)` after an older one was restored.
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

    /// Forgets everybody on a list in a database that is being restored, and that nobody else can
    /// open yet.
    ///
    /// - Throws: as `open` for writing, and `forget`.
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
                    "the name of a participant has \(name.utf8.count) bytes; expected 1 to "
                        + "\(DatabaseOptions.nameSizeBytesMax)")
            }
        }
    }

    /// Counts what would go.
    private func preview(_ wanted: Engine.Forgetting) throws(DatabaseError) -> ForgetReport {
        var report = ForgetReport()
        report.setAsideFiles = try SetAside(in: directory).count
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
