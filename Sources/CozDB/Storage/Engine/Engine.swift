// The single writer of a database: it takes commits through the log, the memtable, segments and the
// manifest.
//
// What a thread holds, in the order in which it takes it. A thread that takes several takes them
// from the top down, and takes nothing while it is inside the monitor:
//
//     1  changeMutex        one thread deletes, alters, forgets or replays refusals
//     2  compactionQueue    one thread merges or rewrites segments
//     3  isExclusive        commits are kept out
//     4  leadership         one thread writes the log or freezes the memtable (CommitQueue)
//     5  manifestMutex      one thread replaces the manifest
//     6  removalMutex       one thread removes obsolete files
//     7  state              the monitor: short sections, no file is touched in them
//
// `exclusively` takes 1 to 3 and flushes, `withoutOtherCommits` takes 1 and 3. A commit takes 4,
// and 5 where it begins a log. The flush of a frozen memtable, on flushQueue, takes 5. `close`
// first waits for all calls that have begun, so that no other thread has or can get 1; it takes 3
// before it waits for 2. LockFile and Snapshot have monitors of their own, inside of which nothing
// is taken.

/// A database that is open for writing.
final class Engine: Sendable {
    let directory: any Directory
    let options: DatabaseOptions
    let databaseID: UInt64
    let state: Monitor<State>
    /// Holds the lock and the last acknowledged state until the database is closed.
    let lockFile: LockFile
    /// Held by the one thread that deletes, alters, forgets or replays refusals.
    let changeMutex = Monitor(())
    /// The calls that change the database.
    private let calls = RunningCalls()
    /// Held by the thread that replaces the manifest.
    private let manifestMutex = Monitor(())
    /// Held by the thread that removes obsolete files.
    let removalMutex = Monitor(())
    let flushQueue = SerialQueue()
    /// Writes zeros to the log ahead of the commits.
    let reserveQueue = SerialQueue()
    let compactionQueue = SerialQueue()

    /// The progress of `close`.
    enum Phase: Comparable {
        case open
        /// Running calls go on, and `close` waits for them; new ones are refused.
        case closing
        /// Only `close` still touches files.
        case closed
        /// The lock is released.
        case released
    }

    /// The state that threads share.
    struct State {
        /// The manifest on disk.
        var manifest: Manifest
        /// The schemas with the changes of commits that are not applied yet.
        var stagedSchemas: SchemaSet {
            didSet { schemasVersion &+= 1 }
        }
        /// Changes with `stagedSchemas`. Commits validated against an older version are validated
        /// again.
        private(set) var schemasVersion = 0
        /// The schemas as of the last applied commit.
        var schemas: SchemaSet
        var segments = SegmentSet()
        /// The last snapshot, with what queries cache in it; nil after the manifest was replaced.
        var lastSnapshot: Snapshot?
        var memtable = Memtable()
        /// The memtable that is being flushed.
        var frozen: Memtable?
        var log: LogWriter?
        /// The commits that wait for the log, and its leader.
        var commits: CommitQueue
        /// Sequence of the last commit that readers see. With full durability it is on disk.
        var committedSequence: UInt64
        var isSyncScheduled = false
        /// Whether commits are blocked, for example by a schema change.
        var isExclusive = false
        /// The error that stopped all writing.
        var failure: DatabaseError?
        var phase = Phase.open
        /// An I/O error of the last merges, after all rows were in segments.
        var closingFailure: DatabaseError?
        /// Obsolete files that no manifest names, with the time when they may be removed.
        var retired: [(name: FileName, deadline: ContinuousClock.Instant)] = []
        /// How often obsolete files were removed. A thread without disk space retries if this
        /// changed.
        var removals = 0
        /// Rows with different attributes that flushes and merges united since opening.
        var tagSetMerges = TagSetMerges()
        /// The stored refusals, to store equal ones once; nil until they are first needed.
        var knownRefusals: KnownRefusals? {
            didSet { refusalsVersion &+= 1 }
        }
        /// Changes with `knownRefusals` and with its content.
        var refusalsVersion = 0

        /// Size of the rejects journal, in files and in memory.
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
                segments: segments, commits: CommitQueue(lastSequence: manifest.lastSequence),
                committedSequence: manifest.lastSequence))
    }

    // MARK: Rejects

    /// Loads the stored refusals, so that importing a file again adds none.
    func loadKnownRefusals() throws(DatabaseError) {
        var isLoaded = false
        while !isLoaded {
            let (files, version) = state.withLock {
                (Set($0.manifest.rejects.map(\.number)), $0.refusalsVersion)
            }
            var known: [UInt64: KnownRefusal] = [:]
            for entry in try journal() { known.note(entry) }
            isLoaded = state.withLock { state in
                // A deletion may have removed some of them meanwhile, and a replay may have changed
                // what counts as known.
                guard files.isSubset(of: state.manifest.rejects.map(\.number)),
                    state.knownRefusals != nil || version == state.refusalsVersion
                else { return false }
                // Another thread may have loaded them and added to them.
                if let before = state.knownRefusals { before.add(known) }
                state.knownRefusals = state.knownRefusals ?? KnownRefusals(known)
                return true
            }
        }
    }

    /// All entries of the rejects journal, in commit order.
    func journal() throws(DatabaseError) -> [JournalEntry] {
        while true {
            let (stored, recent) = try state.withLock { state throws(DatabaseError) in
                if state.phase >= .closed { throw .databaseClosed }
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
                // A deletion removes files at once. The manifest is another one then.
                if state.withLock({ $0.manifest.rejects == stored }) { throw error }
            }
        }
    }

    /// Runs a change that depends on stored data, without other such changes at the same time.
    func changing<Value>(
        _ body: () throws(DatabaseError) -> Value
    ) throws(DatabaseError) -> Value {
        try changeMutex.withLock { _ throws(DatabaseError) in
            try checkOpen()
            return try body()
        }
    }

    /// Blocks commits and schema changes until `endExclusive`.
    func beginExclusive() {
        state.withLock(when: { !$0.isExclusive }) { $0.isExclusive = true }
    }

    func endExclusive() { state.withLock { $0.isExclusive = false } }

    // MARK: Checks

    /// Runs a call that changes the database. `close` waits for it.
    ///
    /// - Throws: `closed` if `close` has begun; what the body throws.
    func call<Value>(
        _ body: () throws(DatabaseError) -> Value
    ) throws(DatabaseError) -> Value {
        guard calls.enter() else { throw .databaseClosed }
        defer { calls.leave() }
        return try body()
    }

    /// Refuses further calls and waits for those that have begun.
    func endCalls() { calls.end() }

    /// Checks that the database is open. For calls that `close` waits for it still is.
    func checkOpen() throws(DatabaseError) {
        try state.withLock { state throws(DatabaseError) in try checkOpen(state) }
    }

    func checkOpen(_ state: State) throws(DatabaseError) {
        if let failure = state.failure { throw failure }
        if state.phase >= .closed { throw .databaseClosed }
    }

    /// Checks that the lock file is still in place, before anything is written or acknowledged.
    func checkIsAlone() throws(DatabaseError) {
        guard !lockFile.isHeld(in: directory) else { return }
        throw DatabaseError(
            .locked,
            "this file was removed or replaced while the database was open for writing; another "
                + "process may be writing now, so this one stopped. Open the database again",
            file: directory.path + "/" + FileName.lock.text)
    }

    // MARK: Logs and manifest

    /// The open log. If there is none, it is created and named in the manifest.
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
                    // No manifest names the file, and the disk may be full.
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

    /// Freezes the memtable and begins a new log. Waits while an earlier memtable is being flushed.
    func rotate() throws(DatabaseError) {
        let (sequence, failure) = state.withLock(when: { $0.frozen == nil || $0.failure != nil }) {
            ($0.committedSequence, $0.failure)
        }
        if let failure { throw failure }
        if let old = state.withLock({ $0.log.take() }) {
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

    /// Reserves the number of a new file.
    ///
    /// - Throws: `closed` or `locked`. Another writer may be using the same numbers then.
    func reserveFileNumber() throws(DatabaseError) -> UInt64 {
        try checkIsAlone()
        return try state.withLock { state throws(DatabaseError) in
            try checkOpen(state)
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
                try checkOpen(state)
                var manifest = state.manifest
                manifest.schemas = state.schemas
                return manifest
            }
            edit(&manifest)
            manifest.generation += 1
            // Released outside of the monitor, because it may free much cached data.
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
                // It is unknown which manifest the disk has.
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

    /// A snapshot of everything committed at this moment.
    func snapshot() throws(DatabaseError) -> Snapshot {
        try moment().1
    }

    /// A snapshot of everything committed at this moment; nil if another thread uses the state.
    func snapshotIfFree() throws(DatabaseError) -> Snapshot? {
        var before: Snapshot?
        defer { withExtendedLifetime(before) {} }
        return try state.withLockIfFree { state throws(DatabaseError) in
            try Engine.snapshot(of: &state, replacing: &before)
        }
    }

    /// The manifest and a snapshot of everything committed at this moment.
    func moment() throws(DatabaseError) -> (Manifest, Snapshot) {
        // The replaced snapshot is released outside of the mutex.
        var before: Snapshot?
        defer { withExtendedLifetime(before) {} }
        return try state.withLock { state throws(DatabaseError) in
            (state.manifest, try Engine.snapshot(of: &state, replacing: &before))
        }
    }

    private static func snapshot(
        of state: inout State, replacing before: inout Snapshot?
    ) throws(DatabaseError) -> Snapshot {
        if state.phase >= .closed { throw .databaseClosed }
        // Reuses the last snapshot and its caches if nothing was committed since.
        if let last = state.lastSnapshot, last.sequence == state.committedSequence { return last }
        let snapshot = state.segments.snapshot(
            state.manifest, schemas: state.schemas,
            memtables: [state.frozen, state.memtable].compactMap { $0 },
            sequence: state.committedSequence)
        before = state.lastSnapshot
        state.lastSnapshot = snapshot
        return snapshot
    }

    func rejects(_ info: Manifest.RejectsFile) throws(DatabaseError) -> [JournalEntry] {
        do throws(DatabaseError) {
            return try RejectsFile.read(info, under: directory, databaseID: databaseID)
        } catch {
            throw error.asDamageIfMissing
        }
    }
}
