// The single writer: orders commits into the log, the memtable, segments and the manifest.
//
// Threads meet in one Monitor. How commits become durable is in Engine+Commit.swift. Flushes and
// merges run on queues of their own; the manifest is replaced by one thread at a time.

/// A database open for writing.
final class Engine: Sendable {
    let directory: any Directory
    let options: DatabaseOptions
    let databaseID: UInt64
    let state: Monitor<State>
    /// Holds the lock, and the last acknowledged state, until the database is closed.
    let lockFile: LockFile
    /// Only one thread deletes, or writes again what was refused before.
    private let changeMutex = Monitor(())
    /// Only one thread replaces the manifest.
    private let manifestMutex = Monitor(())
    /// Only one thread removes retired files.
    let removalMutex = Monitor(())
    let flushQueue = SerialQueue()
    /// Prepares space for the log ahead of the commits.
    let reserveQueue = SerialQueue()
    let compactionQueue = SerialQueue()

    /// How far `close` came.
    enum Phase: Comparable {
        case open
        /// Calls that have begun go on; no more begin.
        case closing
        /// Nothing touches a file any more but `close`.
        case closed
        /// The lock is free.
        case released
    }

    /// Everything that threads share.
    struct State {
        /// As it is on disk.
        var manifest: Manifest
        /// With the changes of commits that are not durable yet.
        var stagedSchemas: SchemaSet {
            didSet { schemasVersion &+= 1 }
        }
        /// Changes with `stagedSchemas`: what was validated before is validated again.
        private(set) var schemasVersion = 0
        /// As of the last durable commit.
        var schemas: SchemaSet
        var segments = SegmentSet()
        /// The snapshot made last, with what queries keep beside it; nil once a manifest replaced
        /// what it consists of.
        var lastSnapshot: Snapshot?
        var memtable = Memtable()
        /// The memtable that is being written to segments, and its log.
        var frozen: Memtable?
        var log: LogWriter?
        /// Commits that wait to be written, oldest first; the last group takes more of them. While
        /// there are any, a thread is leading or is about to.
        var groups: [CommitGroup] = []
        /// Sequence of the last commit that was queued, and of the last that is durable.
        var queuedSequence: UInt64
        var durableSequence: UInt64
        /// Whether a thread is writing the log, or was chosen to.
        var hasLeader = false
        /// Threads that want to lead without a commit; they come before those that have one.
        var leaderRequests = 0
        var isSyncScheduled = false
        /// Whether a change of the schemas keeps commits out.
        var isExclusive = false
        /// Why nothing can be written any more.
        var failure: DatabaseError?
        var phase = Phase.open
        /// What the device refused while closing, after all rows were in segments.
        var closingFailure: DatabaseError?
        /// Files that no manifest names any more, with the time when they may go.
        var retired: [(name: FileName, deadline: ContinuousClock.Instant)] = []
        /// How often some of them were removed: whoever found no space may try again.
        var removals = 0
        /// What flushes and merges found since the database was opened.
        var tagSetMerges = TagSetMerges()
        /// Refusals stored before, to keep equal ones once; nil until the first.
        var knownRefusals: KnownRefusals? {
            didSet { refusalsVersion &+= 1 }
        }
        /// Changes with `knownRefusals`, and what is in it.
        var refusalsVersion = 0

        /// Bytes of the rejects journal, in files and in memory.
        var journalSizeBytes: Int {
            manifest.rejects.reduce(0) { $0 + $1.sizeBytes } + memtable.journal.sizeBytes
                + (frozen?.journal.sizeBytes ?? 0)
        }
    }

    init(
        directory: any Directory, lockFile: LockFile, manifest: Manifest, segments: SegmentSet,
        options: DatabaseOptions
    ) {
        self.directory = directory
        self.lockFile = lockFile
        self.options = options
        databaseID = manifest.databaseID
        state = Monitor(
            State(
                manifest: manifest, stagedSchemas: manifest.schemas, schemas: manifest.schemas,
                segments: segments, queuedSequence: manifest.lastSequence,
                durableSequence: manifest.lastSequence))
    }

    // MARK: Rejects

    /// Learns which refusals are stored already, so that importing a file again adds none.
    func loadKnownRefusals() throws(DatabaseError) {
        var isLoaded = false
        while !isLoaded {
            let files = state.withLock { Set($0.manifest.rejects.map(\.number)) }
            var known: [UInt64: Int] = [:]
            for entry in try journal() { known.note(entry) }
            isLoaded = state.withLock { state in
                // What a deletion took away meanwhile is not stored any more.
                guard files.isSubset(of: state.manifest.rejects.map(\.number)) else {
                    return false
                }
                // Another thread may have loaded and added to them meanwhile.
                if let before = state.knownRefusals { before.add(known) }
                state.knownRefusals = state.knownRefusals ?? KnownRefusals(known)
                return true
            }
        }
    }

    /// Every entry of the rejects journal, in the order of commits.
    func journal() throws(DatabaseError) -> [JournalEntry] {
        while true {
            let (stored, recent) = try state.withLock { state throws(DatabaseError) in
                if state.phase >= .closed { throw Engine.closed() }
                return (
                    state.manifest.rejects,
                    (state.frozen?.journal.entries ?? []) + state.memtable.journal.entries
                )
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
        try changeMutex.withLock { _ throws(DatabaseError) in
            try checkOpen()
            return try body()
        }
    }

    /// Waits until what `changing` runs has ended.
    func waitForChanges() { changeMutex.withLock { _ in } }

    /// Keeps commits and changes of the schemas out, until `endExclusive`.
    func beginExclusive() {
        state.withLock(when: { !$0.isExclusive }) { $0.isExclusive = true }
    }

    func endExclusive() { state.withLock { $0.isExclusive = false } }

    // MARK: Whether there is still something to work on

    static func closed() -> DatabaseError {
        DatabaseError(.closed, "the database was closed")
    }

    /// Asked where a call begins.
    func checkOpen() throws(DatabaseError) {
        try state.withLock { state throws(DatabaseError) in try checkOpen(state) }
    }

    func checkOpen(_ state: State) throws(DatabaseError) {
        if let failure = state.failure { throw failure }
        if state.phase >= .closing { throw Engine.closed() }
    }

    /// Asked in the middle of a call, which `close` waits for.
    func checkUsable(_ state: State) throws(DatabaseError) {
        if let failure = state.failure { throw failure }
        if state.phase >= .closed { throw Engine.closed() }
    }

    /// Asked before anything is made, acknowledged or replaced.
    func checkIsAlone() throws(DatabaseError) {
        guard !lockFile.isHeld(in: directory) else { return }
        throw DatabaseError(
            .locked,
            "this file was removed or replaced while the database was open for writing, expected "
                + "it to stay: another process may write now, so this one does not any more. "
                + "Open again", file: directory.path + "/" + FileName.lock.text)
    }

    // MARK: Logs and manifest

    /// The open log, made and named by the manifest if there is none.
    func currentLog(firstSequence: UInt64) throws(DatabaseError) -> LogWriter {
        if let log = state.withLock({ $0.log }) { return log }
        let number = try reserveFileNumber()
        let identity = LogIdentity(
            databaseID: databaseID, number: number, firstSequence: firstSequence)
        let log = try makingRoom { () throws(DatabaseError) in
            try calling("making a log") { () throws(FileError) in
                do throws(FileError) {
                    return try LogWriter(in: directory, identity: identity) {
                        [reserveQueue] work in reserveQueue.async(work)
                    }
                } catch {
                    // Nothing names it; it only takes space, which may be what is missing.
                    try? remove(.log(number))
                    throw error
                }
            }
        }
        try replaceManifest { manifest in
            manifest.logs.append(
                Manifest.Log(number: number, firstSequence: firstSequence, sealedSizeBytes: nil))
        }
        state.withLock { $0.log = log }
        return log
    }

    /// Freezes the memtable and begins a new log; waits while an earlier one is still written.
    func rotate() throws(DatabaseError) {
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

    /// The number of a file that is made next.
    ///
    /// - Throws: `closed`, `locked`: then there may be files of another writer of any number.
    func reserveFileNumber() throws(DatabaseError) -> UInt64 {
        try checkIsAlone()
        return try state.withLock { state throws(DatabaseError) in
            try checkUsable(state)
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
        try manifestMutex.withLock { _ throws(DatabaseError) in
            var manifest = try state.withLock { state throws(DatabaseError) in
                try checkUsable(state)
                var manifest = state.manifest
                manifest.schemas = state.schemas
                return manifest
            }
            edit(&manifest)
            manifest.generation += 1
            // Dies outside of the lock, perhaps with what was read of files that are no more.
            var lastSnapshot: Snapshot?
            defer { withExtendedLifetime(lastSnapshot) {} }
            let edited: Manifest
            do throws(DatabaseError) {
                try checkIsAlone()
                edited = try makingRoom { () throws(DatabaseError) in
                    try calling("replacing the manifest") { () throws(FileError) in
                        var written = manifest
                        try written.write(in: directory)
                        return written
                    }
                }
            } catch {
                // Which manifest the disk has is not known any more.
                throw fail(error)
            }
            lockFile.note(edited)
            state.withLock { state in
                let next = max(state.manifest.nextFileNumber, edited.nextFileNumber)
                state.manifest = edited
                state.manifest.nextFileNumber = next
                swap(&lastSnapshot, &state.lastSnapshot)
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
        // The one before dies outside of the lock.
        var before: Snapshot?
        defer { withExtendedLifetime(before) {} }
        return try state.withLock { state throws(DatabaseError) in
            if state.phase >= .closed { throw Engine.closed() }
            // Nothing was committed since: what was parsed, planned and decoded for it still holds.
            if let last = state.lastSnapshot, last.sequence == state.durableSequence {
                return (state.manifest, last)
            }
            let snapshot = state.segments.snapshot(
                state.manifest, schemas: state.schemas,
                memtables: [state.frozen, state.memtable].compactMap { $0 },
                sequence: state.durableSequence)
            before = state.lastSnapshot
            state.lastSnapshot = snapshot
            return (state.manifest, snapshot)
        }
    }

    func rejects(_ info: Manifest.RejectsFile) throws(DatabaseError) -> [JournalEntry] {
        do throws(DatabaseError) {
            return try RejectsFile.read(info, under: directory, databaseID: databaseID)
        } catch {
            throw error.asDamageIfMissing
        }
    }
}
