// The write path. The calling thread validates and encodes its commit and adds it to a group; see
// `CommitQueue` for group commit. The followers of a group are woken after the next leader, so that
// the disk works while they prepare new commits.

internal import CozPlatform

extension Engine {
    /// What a commit is validated against, with version numbers.
    private struct CommitBasis {
        var schemas: SchemaSet
        var known: KnownRefusals?
        /// How much the rejects journal may still grow.
        var journalRoomBytes: Int
        var forgotten: ForgottenList
        var schemasVersion: Int
        var refusalsVersion: Int
    }

    /// Gets the report of a commit that another thread wrote.
    typealias Follower = @Sendable (Result<WriteReport, DatabaseError>) -> Void

    /// Commits a batch. It is as durable on return as the options say.
    ///
    /// - Parameters:
    ///   - replayed: the refusals that the batch deals with; nil if it is not a replay.
    ///   - ownsExclusivity: whether the body of `withoutOtherCommits` calls it.
    ///   - follower: gets the report if another thread writes the commit, so that this one need not
    ///     wait; nil to wait.
    /// - Returns: nil if the follower gets the report.
    func write(
        _ batch: borrowing WriteBatch, replayed: ReplayedRefusals? = nil,
        ownsExclusivity: Bool = false, follower: Follower? = nil
    ) throws(DatabaseError) -> WriteReport? {
        while true {
            let basis = try commitBasis(ownsExclusivity)
            let filter = try ForgottenFilter(
                batch, basis.forgotten, basis.schemas,
                isWhole: options.refusalPolicy == .throw && replayed == nil)
            if let filter {
                let done = try commit(filter.admitted, replayed, on: basis, ownsExclusivity, nil)
                if case .report(var report) = done {
                    filter.count(into: &report)
                    return report
                }
            } else {
                switch try commit(batch, replayed, on: basis, ownsExclusivity, follower) {
                case .report(let report): return report
                case .follows: return nil
                case .isOutdated: break
                }
            }
        }
    }

    /// Runs the body while other commits are blocked, after those that are queued. The body
    /// commits with `write(ownsExclusivity: true)`.
    func withoutOtherCommits<Value>(
        _ body: () throws(DatabaseError) -> Value
    ) throws(DatabaseError) -> Value {
        try changing { () throws(DatabaseError) in
            beginExclusive()
            defer { endExclusive() }
            try state.withLock(
                when: { $0.committedSequence == $0.commits.lastSequence || $0.failure != nil }
            ) { state throws(DatabaseError) in try checkOpen(state) }
            return try body()
        }
    }

    private enum Outcome {
        case report(WriteReport)
        /// The follower gets the report.
        case follows
        /// The batch must be validated again.
        case isOutdated
    }

    /// Commits a batch without data of forgotten participants.
    private func commit(
        _ batch: borrowing WriteBatch, _ replayed: ReplayedRefusals?,
        on basis: CommitBasis, _ ownsExclusivity: Bool, _ follower: Follower?
    ) throws(DatabaseError) -> Outcome {
        var encoder = CommitEncoder(
            batch, schemas: basis.schemas, options: options,
            journal: CommitJournal(
                known: basis.known, roomBytes: basis.journalRoomBytes,
                replayed: replayed),
            forgotten: basis.forgotten)
        guard var record = try encoder.encode(batch) else { return .report(encoder.report) }
        if encoder.journal.hasRefusals, basis.known == nil {
            try loadKnownRefusals()
            return .isOutdated
        }
        options.changeRecord?(&record)
        try checkSize(record)
        try checkReadable(record, basis.schemas)
        // If another commit changed what this one was validated against, it is validated again.
        guard
            let (role, report) = try queue(
                record, of: encoder, on: basis, ownsExclusivity, follower)
        else { return .isOutdated }
        if case .follows = role, follower != nil { return .follows }
        try finish(role)
        // An equal refusal of a replayed value is a new one.
        if replayed != nil { state.withLock { $0.knownRefusals = nil } }
        return .report(report)
    }

    /// Returns what to validate against. Waits while commits are blocked or both memtables are
    /// full.
    private func commitBasis(_ ownsExclusivity: Bool) throws(DatabaseError) -> CommitBasis {
        let memtableLimit = options.memtableSizeBytesMax
        return try state.withLock(
            when: {
                (ownsExclusivity || !$0.isExclusive)
                    && ($0.frozen == nil || $0.memtable.sizeBytes < memtableLimit)
                    || $0.failure != nil || $0.phase >= .closed
            }
        ) { state throws(DatabaseError) in
            try checkOpen(state)
            return CommitBasis(
                schemas: state.stagedSchemas, known: state.knownRefusals,
                journalRoomBytes: options.rejectsSizeBytesMax - state.journalSizeBytes,
                forgotten: state.manifest.forgotten,
                schemasVersion: state.schemasVersion, refusalsVersion: state.refusalsVersion)
        }
    }

    private func checkSize(_ record: [UInt8]) throws(DatabaseError) {
        let limit = min(options.batchSizeBytesMax, LogFormat.commitSizeBytesMax)
        guard record.count <= limit else {
            throw DatabaseError(
                .limitExceeded,
                "a batch of \(record.count) bytes exceeds batchSizeBytesMax (\(limit)); split it")
        }
    }

    /// Refuses a record that cannot be replayed. In the log, it would make the database unusable.
    private func checkReadable(
        _ record: [UInt8], _ schemas: SchemaSet
    ) throws(DatabaseError) {
        do throws(FormatError) {
            try Memtable.verify(record, schemas)
        } catch {
            throw DatabaseError(
                .usage,
                "the encoded batch cannot be read back (\(error.message)); nothing was stored")
        }
    }

    /// Gives a commit its sequence and its group; nil if it must be validated again.
    private func queue(
        _ record: [UInt8], of encoder: CommitEncoder, on basis: CommitBasis,
        _ ownsExclusivity: Bool, _ follower: Follower?
    ) throws(DatabaseError) -> (role: CommitQueue.Role, report: WriteReport)? {
        let refusals = encoder.journal.added
        var report = encoder.report
        return try state.withLock { state throws(DatabaseError) in
            try checkOpen(state)
            guard ownsExclusivity || !state.isExclusive,
                basis.schemasVersion == state.schemasVersion,
                refusals.isEmpty || basis.refusalsVersion == state.refusalsVersion
            else { return nil }
            if !encoder.changes.isEmpty { state.stagedSchemas = encoder.schemas }
            if !refusals.isEmpty {
                state.knownRefusals?.add(refusals)
                state.refusalsVersion &+= 1
            }
            let role = state.commits.add(record)
            report.sequence = state.commits.lastSequence
            if case .follows(let group) = role, let follower {
                group.whenDone { [report] failure in
                    follower(failure.map { .failure($0) } ?? .success(report))
                }
            }
            return (role, report)
        }
    }

    /// Waits until the commit can be acknowledged, and writes its group if this thread becomes the
    /// leader.
    private func finish(_ role: CommitQueue.Role) throws(DatabaseError) {
        switch role {
        case .leads(let group):
            try lead(group)
        case .isNext(let group):
            group.turn.wait()
            try state.withLock { state throws(DatabaseError) in
                if let failure = group.failure { throw failure }
                state.commits.removeFirst()
            }
            try lead(group)
        case .follows(let group):
            group.isDone.wait()
            if let failure = group.failure { throw failure }
        }
    }

    /// Writes a group of commits to the log and applies them. Only the leader calls it.
    private func lead(_ group: CommitGroup) throws(DatabaseError) {
        var isApplied = false
        do throws(DatabaseError) {
            let log = try currentLog(firstSequence: group.firstSequence)
            try makingRoom { () throws(DatabaseError) in
                try calling("writing the log") { () throws(FileError) in
                    try log.append(group.records, firstSequence: group.firstSequence)
                }
            }
            if !syncsLater() {
                try calling("syncing the log") { () throws(FileError) in try log.sync() }
                noteDurable(log)
            }
            // Checked after the sync: a writer that takes the lock later finds these commits in the
            // log.
            try checkIsAlone()
            try apply(group)
            isApplied = true
            if state.withLock({ $0.memtable.sizeBytes >= options.memtableSizeBytesMax }) {
                group.finish()
                try rotate()
                resignLeader()
            } else {
                resignLeader()
                if group.records.count > 1 { group.finish() }
            }
        } catch {
            let failure = fail(error)
            if !isApplied {
                group.failure = failure
                group.open()
            }
            throw failure
        }
    }

    /// Stores the durable log size in the lock file, so that a cut or replaced log is detected.
    private func noteDurable(_ log: LogWriter) {
        lockFile.note(
            log: log.identity.number, sizeBytes: log.durableSizeBytes,
            checksum: log.durableChecksum)
    }

    /// Applies the commits of a group to the memtable. The mutex is released after each, so that
    /// others can queue. Readers may see the first commits of the group.
    private func apply(_ group: CommitGroup) throws(DatabaseError) {
        for (index, record) in group.records.enumerated() {
            let sequence = group.firstSequence + UInt64(index)
            try state.withLock { state throws(DatabaseError) in
                try namingFile("write-ahead log") { () throws(FormatError) in
                    try state.memtable.apply(record, sequence: sequence, schemas: &state.schemas)
                }
                state.committedSequence = sequence
            }
        }
    }

    // MARK: Leader

    /// Makes this thread the leader until `resignLeader`. If commits are blocked, queued commits
    /// are written first.
    func becomeLeader() throws(DatabaseError) {
        state.withLock(
            when: {
                $0.frozen == nil && ($0.commits.isEmpty || !$0.isExclusive) || $0.failure != nil
            }
        ) { $0.commits.requestLeadership() }
        state.withLock(
            when: { !$0.commits.hasLeader && $0.frozen == nil || $0.failure != nil }
        ) { $0.commits.becomeLeader() }
        do throws(DatabaseError) {
            try state.withLock { state throws(DatabaseError) in try checkOpen(state) }
        } catch {
            resignLeader()
            throw error
        }
    }

    /// Lets another thread lead: one that asked for it, else the first of the next group.
    func resignLeader() {
        let next = state.withLock { $0.commits.resignLeader() }
        next?.turn.open()
    }

    /// Stops all writing until the database is opened again. After a failed write, it is unknown
    /// what reached the disk.
    func fail(_ error: DatabaseError) -> DatabaseError {
        let (groups, isFirst) = state.withLock { state in
            let isFirst = state.failure == nil
            if isFirst { state.failure = error }
            return (state.commits.fail(error), isFirst)
        }
        for group in groups { group.open() }
        // Frees space that others may need.
        if error.cause?.isOutOfSpace == true { removeRetired(all: true) }
        if isFirst { options.onEvent?(.stoppedWriting(error)) }
        return error
    }

    // MARK: Relaxed durability

    /// Whether relaxed durability lets the log be synced later. False if no thread could be started
    /// for that.
    private func syncsLater() -> Bool {
        guard case .relaxed(let milliseconds) = options.durability else { return false }
        let isScheduled = state.withLock { state in
            defer { state.isSyncScheduled = true }
            return state.isSyncScheduled
        }
        if isScheduled { return true }
        let isStarted = DetachedThread.start { [weak self] in
            // In short sleeps, so that the thread ends soon after a database that is closed.
            var left = milliseconds
            while left > 0, self?.state.withLock({ $0.phase == .open }) == true {
                _ = poll(nil, 0, Int32(min(left, 500)))
                left -= 500
            }
            self?.syncLog()
        }
        if !isStarted { state.withLock { $0.isSyncScheduled = false } }
        return isStarted
    }

    /// Syncs acknowledged commits of relaxed durability.
    private func syncLog() {
        state.withLock { $0.commits.requestLeadership() }
        let log: LogWriter? = state.withLock(when: { !$0.commits.hasLeader }) { state in
            state.commits.becomeLeader()
            state.isSyncScheduled = false
            return state.failure == nil ? state.log : nil
        }
        do throws(DatabaseError) {
            if let log {
                try calling("syncing the log") { () throws(FileError) in try log.sync() }
                noteDurable(log)
            }
            resignLeader()
        } catch {
            _ = fail(error)
        }
    }
}
