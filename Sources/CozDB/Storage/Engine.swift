// The single writer: orders commits into the log, the memtable, segments and the manifest.
//
// Threads meet in one Monitor. Commits queue up in it; the first thread that finds nobody writing
// leads: it writes and syncs the queue as one frame, applies it and wakes the others. Flushes and
// merges run on queues of their own; the manifest is replaced by one thread at a time.

internal import Dispatch

/// A database open for writing.
final class Engine: Sendable {
    let directory: any Directory
    let options: DatabaseOptions
    let databaseID: UInt64
    let state: Monitor<State>
    /// Only one thread deletes, or writes again what was refused before.
    private let changeTurn = Monitor(())
    /// Only one thread replaces the manifest.
    private let manifestTurn = Monitor(())
    let flushQueue = DispatchQueue(label: "cozdb.flush")
    /// Apart from flushes: a sync waits for the leader, and the leader may wait for a flush.
    private let syncQueue = DispatchQueue(label: "cozdb.sync")
    let compactionQueue = DispatchQueue(label: "cozdb.compaction", qos: .utility)

    /// Everything that threads share.
    struct State {
        /// As it is on disk.
        var manifest: Manifest
        /// With the changes of commits that are not durable yet.
        var stagedSchemas: SchemaSet
        /// As of the last durable commit.
        var schemas: SchemaSet
        var segments = SegmentSet()
        /// The lock goes with the descriptor: held until the database is closed.
        var lockFile: (any File)?
        var memtable = Memtable()
        /// The memtable that is being written to segments, and its log.
        var frozen: Memtable?
        var log: LogWriter?
        var pending: [PendingCommit] = []
        /// Sequence of the last commit that was queued, and of the last that is durable.
        var queuedSequence: UInt64
        var durableSequence: UInt64
        /// Whether a thread is writing the log.
        var isLeading = false
        var isSyncScheduled = false
        /// Whether a change of the schemas keeps commits out.
        var isExclusive = false
        /// Why nothing can be written any more.
        var failure: DatabaseError?
        var isClosed = false
        /// Files that no manifest names any more, with the time when they may go.
        var retired: [(name: FileName, deadline: DispatchTime)] = []
        /// What flushes and merges found since the database was opened.
        var tagSetMerges = TagSetMerges()
        /// `journalID` of refusals stored before, to keep equal ones once; nil until the first.
        var knownRefusals: Set<UInt64>?
    }

    struct PendingCommit {
        var record: [UInt8]
        var sequence: UInt64
    }

    init(
        directory: any Directory, lockFile: any File, manifest: Manifest, segments: SegmentSet,
        options: DatabaseOptions
    ) {
        self.directory = directory
        self.options = options
        databaseID = manifest.databaseID
        state = Monitor(
            State(
                manifest: manifest, stagedSchemas: manifest.schemas, schemas: manifest.schemas,
                segments: segments, lockFile: lockFile, queuedSequence: manifest.lastSequence,
                durableSequence: manifest.lastSequence))
    }

    // MARK: Writing

    /// Commits a batch; durable as the options say when it returns.
    ///
    /// - Parameter marks: entries of the rejects journal that the batch deals with.
    func write(
        _ batch: borrowing WriteBatch, marks: [JournalEntry] = []
    ) throws(DatabaseError) -> WriteReport {
        var staged = try stage(batch, marks)
        if staged == nil {
            try loadKnownRefusals()
            staged = try stage(batch, marks)
        }
        guard let staged else { return WriteReport() }
        if staged.sequence > 0 { try makeDurable(staged.sequence) }
        return staged
    }

    /// Validates a batch and queues its record; the report's sequence is 0 if there is nothing
    /// to write.
    ///
    /// - Returns: nil where the batch has refusals and those stored before must be loaded first.
    private func stage(
        _ batch: borrowing WriteBatch, _ marks: [JournalEntry]
    ) throws(DatabaseError) -> WriteReport? {
        // A borrowed value cannot be captured by the closure below; copying it costs references.
        let batch = copy batch
        let memtableLimit = options.memtableSizeBytesMax
        return try state.withLock(
            when: {
                !$0.isExclusive && ($0.frozen == nil || $0.memtable.sizeBytes < memtableLimit)
                    || $0.failure != nil
            }
        ) { state throws(DatabaseError) in
            try checkUsable(state)
            var encoder = CommitEncoder(
                batch, schemas: state.stagedSchemas, options: options,
                known: state.knownRefusals, marks: marks)
            guard let record = try encoder.encode(batch) else { return encoder.report }
            if !encoder.refusals.isEmpty, state.knownRefusals == nil { return nil }
            let limit = min(options.batchSizeBytesMax, LogFormat.commitSizeBytesMax)
            guard record.count <= limit else {
                throw DatabaseError(
                    .limitExceeded,
                    "a batch of \(record.count) bytes exceeds batchSizeBytesMax "
                        + "(\(limit)); write it in parts")
            }
            for refusal in encoder.refusals {
                state.knownRefusals?.insert(refusal.journalID)
            }
            state.stagedSchemas = encoder.schemas
            state.queuedSequence += 1
            state.pending.append(PendingCommit(record: record, sequence: state.queuedSequence))
            var report = encoder.report
            report.sequence = state.queuedSequence
            return report
        }
    }

    /// Learns which refusals are stored already, so that importing a file again adds none.
    private func loadKnownRefusals() throws(DatabaseError) {
        var isLoaded = false
        while !isLoaded {
            let files = state.withLock { Set($0.manifest.rejects.map(\.number)) }
            var known: Set<UInt64> = []
            for case .refusal(let refusal) in try journal() { known.insert(refusal.journalID) }
            isLoaded = state.withLock { state in
                // What a deletion took away meanwhile is not stored any more.
                guard files.isSubset(of: state.manifest.rejects.map(\.number)) else {
                    return false
                }
                // Another thread may have loaded and added to them meanwhile.
                state.knownRefusals = known.union(state.knownRefusals ?? [])
                return true
            }
        }
    }

    /// Every entry of the rejects journal, in the order of commits.
    func journal() throws(DatabaseError) -> [JournalEntry] {
        while true {
            let (stored, recent) = state.withLock { state in
                (state.manifest.rejects, (state.frozen?.journal ?? []) + state.memtable.journal)
            }
            do throws(DatabaseError) {
                var entries: [JournalEntry] = []
                for info in stored { entries += try rejects(info) }
                return entries + recent
            } catch {
                // A deletion takes files away at once; the manifest has others then.
                if state.withLock({ $0.manifest.rejects == stored }) { throw error }
            }
        }
    }

    /// Runs something that reads what is stored and changes it, while nobody else does that.
    func changing<Value>(
        _ body: () throws(DatabaseError) -> Value
    ) throws(DatabaseError) -> Value {
        try changeTurn.withLock { _ throws(DatabaseError) in try body() }
    }

    func checkUsable(_ state: State) throws(DatabaseError) {
        if let failure = state.failure { throw failure }
        if state.isClosed { throw DatabaseError(.closed, "the database was closed") }
    }

    /// Returns when a commit is durable; writes it, and all others queued, if nobody else does.
    private func makeDurable(_ sequence: UInt64) throws(DatabaseError) {
        while true {
            let group: [PendingCommit]? = try state.withLock(
                when: { !$0.isLeading || $0.durableSequence >= sequence || $0.failure != nil }
            ) { state throws(DatabaseError) in
                if state.durableSequence >= sequence { return nil }
                if let failure = state.failure { throw failure }
                state.isLeading = true
                let count = Engine.groupCount(state.pending.map(\.record.count))
                let group = Array(state.pending[..<count])
                state.pending.removeFirst(count)
                return group
            }
            guard let group else { return }
            do throws(DatabaseError) {
                try lead(group)
            } catch {
                throw fail(error)
            }
        }
    }

    /// How many of the pending commits one frame takes: one at least, and no more than a reader
    /// accepts.
    static func groupCount(_ sizes: [Int]) -> Int {
        var total = 0
        for (index, size) in sizes.enumerated() {
            total += size
            if index > 0, total > LogFormat.groupSizeBytesMax { return index }
        }
        return sizes.count
    }

    /// Writes a group of commits to the log and applies them. Only the leading thread is here.
    private func lead(_ group: [PendingCommit]) throws(DatabaseError) {
        var payload = ByteWriter()
        for commit in group { payload.appendBlob(commit.record) }
        let log = try currentLog(firstSequence: group[0].sequence)
        try calling("writing the log") { () throws(FileError) in
            try log.append(
                payload: payload.bytes, commitCount: group.count,
                firstSequence: group[0].sequence)
            if options.durability == .full { try log.sync() }
        }
        let isFull = try state.withLock { state throws(DatabaseError) in
            for commit in group {
                try namingFile("write-ahead log") { () throws(FormatError) in
                    try state.memtable.apply(
                        commit.record, sequence: commit.sequence, schemas: &state.schemas)
                }
                state.durableSequence = commit.sequence
            }
            return state.memtable.sizeBytes >= options.memtableSizeBytesMax
        }
        if isFull { try rotate() }
        if case .relaxed(let milliseconds) = options.durability { scheduleSync(milliseconds) }
        state.withLock { $0.isLeading = false }
    }

    /// After a failed write nothing is known of what reached the disk: nothing more is written
    /// until the database is opened again.
    func fail(_ error: DatabaseError) -> DatabaseError {
        state.withLock { state in
            state.isLeading = false
            if state.failure == nil { state.failure = error }
        }
        options.log?("stopped writing: \(error)")
        return error
    }

    private func scheduleSync(_ milliseconds: Int) {
        let isFirst = state.withLock { state in
            defer { state.isSyncScheduled = true }
            return !state.isSyncScheduled
        }
        guard isFirst else { return }
        syncQueue.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { self.syncLog() }
    }

    /// Makes acknowledged commits of relaxed durability durable.
    private func syncLog() {
        let log: LogWriter? = state.withLock(when: { !$0.isLeading }) { state in
            state.isSyncScheduled = false
            guard state.failure == nil, let log = state.log else { return nil }
            state.isLeading = true
            return log
        }
        guard let log else { return }
        do throws(DatabaseError) {
            try calling("syncing the log") { () throws(FileError) in try log.sync() }
            state.withLock { $0.isLeading = false }
        } catch {
            _ = fail(error)
        }
    }

    // MARK: Logs and manifest

    /// The open log, made and named by the manifest if there is none.
    private func currentLog(firstSequence: UInt64) throws(DatabaseError) -> LogWriter {
        if let log = state.withLock({ $0.log }) { return log }
        let number = try reserveFileNumber()
        let identity = LogIdentity(
            databaseID: databaseID, number: number, firstSequence: firstSequence)
        let log = try calling("making a log") { () throws(FileError) in
            try LogWriter(in: directory, identity: identity)
        }
        try replaceManifest { manifest in
            manifest.logs.append(
                Manifest.Log(number: number, firstSequence: firstSequence, sealedSizeBytes: nil))
        }
        state.withLock { $0.log = log }
        return log
    }

    /// Freezes the memtable and begins a new log; waits while an earlier one is still written.
    private func rotate() throws(DatabaseError) {
        let (sequence, failure) = state.withLock(when: { $0.frozen == nil || $0.failure != nil }) {
            ($0.durableSequence, $0.failure)
        }
        if let failure { throw failure }
        let old = state.withLock { state in
            defer { state.log = nil }
            return state.log
        }
        if let old {
            try calling("syncing the log") { () throws(FileError) in try old.sync() }
            try replaceManifest { manifest in
                for index in manifest.logs.indices
                where manifest.logs[index].number == old.identity.number {
                    manifest.logs[index].sealedSizeBytes = old.sizeBytes
                }
            }
        }
        _ = try currentLog(firstSequence: sequence + 1)
        state.withLock { state in
            state.frozen = state.memtable
            state.memtable = Memtable()
        }
        flushQueue.async { self.flushInBackground() }
    }

    func reserveFileNumber() throws(DatabaseError) -> UInt64 {
        state.withLock { state in
            defer { state.manifest.nextFileNumber += 1 }
            return state.manifest.nextFileNumber
        }
    }

    /// Replaces the manifest on disk, then in memory.
    ///
    /// - Parameter install: runs together with the change in memory.
    func replaceManifest(
        _ edit: (inout Manifest) -> Void, install: (inout State) -> Void = { _ in }
    ) throws(DatabaseError) {
        try manifestTurn.withLock { _ throws(DatabaseError) in
            var manifest = try state.withLock { state throws(DatabaseError) in
                try checkUsable(state)
                var manifest = state.manifest
                manifest.schemas = state.schemas
                return manifest
            }
            edit(&manifest)
            manifest.generation += 1
            let edited = manifest
            do throws(FileError) {
                try edited.write(in: directory)
            } catch {
                // Which manifest the disk has is not known any more.
                throw fail(DatabaseError(error, while: "replacing the manifest"))
            }
            state.withLock { state in
                let next = max(state.manifest.nextFileNumber, edited.nextFileNumber)
                state.manifest = edited
                state.manifest.nextFileNumber = next
                install(&state)
            }
        }
    }

    // MARK: Reading

    /// Everything durable at this moment.
    func snapshot() throws(DatabaseError) -> Snapshot {
        try moment().1
    }

    /// The manifest and everything durable at this moment.
    func moment() throws(DatabaseError) -> (Manifest, Snapshot) {
        try state.withLock { state throws(DatabaseError) in
            if state.isClosed { throw DatabaseError(.closed, "the database was closed") }
            let snapshot = state.segments.snapshot(
                state.manifest, schemas: state.schemas,
                memtables: [state.frozen, state.memtable].compactMap { $0 },
                sequence: state.durableSequence)
            return (state.manifest, snapshot)
        }
    }

    func rejects(_ info: Manifest.RejectsFile) throws(DatabaseError) -> [JournalEntry] {
        try RejectsFile.read(info, under: directory, databaseID: databaseID)
    }
}
