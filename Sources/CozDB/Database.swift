// The public entry point: open, write, flush, compact, snapshot, close.

internal import CozPlatform
internal import Synchronization

/// How a database is opened.
public enum DatabaseAccess: Sendable {
    /// The single writer. It never blocks readers.
    case readWrite
    /// A reader. Any number may be open, in this process or in others. Nothing is created, written
    /// or locked.
    case readOnly
}

/// A connection to one database directory. Safe to use from any thread.
///
/// One process at a time can have a database open for writing, with one `Database`. Any number can
/// be open for reading at the same time. Call `close()` when done writing: it flushes, writes the
/// final manifest and releases the lock. Without it no acknowledged write is lost, but the next
/// opening has to replay the log. The lock is then held until the last reference is gone, those of
/// snapshots, unfinished cursors and a running merge included.
///
/// A child process made by `fork` cannot use a `Database` that its parent opened: every call throws
/// `usage`.
public final class Database: Sendable {
    /// Use `openStore()` to access it: it checks that the database is open.
    let store: Store
    /// State that queries need in addition to the store.
    let queries: QueryContext
    /// Threads that run the `async` calls that change the database.
    let changes: BlockingCallPool
    let observers = ChangeObservers()
    /// Whether `close` was called on a read-only database.
    private let isReaderClosed = Atomic<Bool>(false)
    /// The presets given at opening, for importers that must know types before they write.
    package let presets: [SchemaPreset]

    /// The implementation behind each kind of access.
    enum Store: Sendable {
        case writer(Engine)
        case reader(LiveReader)
    }

    init(_ store: Store, _ options: DatabaseOptions) {
        self.store = store
        queries = QueryContext(options)
        changes = BlockingCallPool(
            callCountMax: options.changeThreadCountMax,
            waitingCountMax: options.waitingCallCountMax)
        presets = options.presets
    }

    // Nobody can write with it any more.
    deinit { observers.finish() }

    /// Opens a database. For writing, also creates one if the directory is absent or empty (see
    /// `DatabaseOptions.createsDatabase`).
    ///
    /// Cost: reads the manifest and the end of each segment, whatever the size of the data. The
    /// first opening for writing after a crash also replays the log.
    ///
    /// - Throws: `usage` if an option is out of range, or for `:memory:` (see `inMemory`);
    ///   `notFound` if there is no database; `locked` if another writer has it open (the message
    ///   has its process ID); `damaged` or `unsupportedFormat` with file and offset.
    public static func open(
        _ path: String, access: DatabaseAccess = .readWrite,
        options: DatabaseOptions = DatabaseOptions()
    ) throws(DatabaseError) -> Database {
        guard path != ":memory:" else {
            throw DatabaseError(
                .usage,
                "found \":memory:\", expected the path of a directory; Database.inMemory() makes a "
                    + "database in memory, and ./:memory: is a directory of that name")
        }
        return try open(path, access: access, options: options, on: PosixFileSystem())
    }

    /// Creates an empty database in the memory of this process, for tests and for data that nobody
    /// needs later. It is gone when its last reference is released, or when the process ends.
    /// `backup(to:)` saves it.
    ///
    /// Everything else is as in a directory, merges and limits included. Memory use is that of the
    /// files, and of the log since the last flush.
    ///
    /// - Throws: `usage` if an option is out of range.
    public static func inMemory(
        options: DatabaseOptions = DatabaseOptions()
    ) throws(DatabaseError) -> Database {
        var options = options
        options.createsDatabase = true
        return try open("memory", access: .readWrite, options: options, on: MemoryFileSystem())
    }

    /// Opens a database on another file system, so that tests can inject faults.
    package static func open(
        _ path: String, access: DatabaseAccess, options: DatabaseOptions,
        on fileSystem: any FileSystem
    ) throws(DatabaseError) -> Database {
        try options.check()
        return switch access {
        case .readWrite:
            Database(.writer(try Recovery.open(path, on: fileSystem, options: options)), options)
        case .readOnly:
            Database(.reader(try LiveReader(path, on: fileSystem)), options)
        }
    }

    /// Commits a batch atomically. When the call returns, the batch is durable (see
    /// `DatabaseOptions.durability`) and visible to every snapshot taken afterwards.
    ///
    /// A value that cannot be stored is refused and kept in the rejects journal, in the same
    /// commit. The rest of the batch is stored, and the report counts the refusals (see
    /// `DatabaseOptions.refusalPolicy`). Many threads can write at the same time; concurrent
    /// commits share one sync.
    ///
    /// - Throws: `usage` if the batch was used wrongly (`WriteBatch.mistake`), if its settings
    ///   differ from the stored ones, or if the database is read-only; `limitExceeded`; `io` if a
    ///   write or sync fails. After `io`, nothing more is acknowledged until the database is opened
    ///   again.
    public func write(_ batch: borrowing WriteBatch) throws(DatabaseError) -> WriteReport {
        try change { engine throws(DatabaseError) in
            do throws(DatabaseError) {
                guard let report = try engine.write(batch) else {
                    preconditionFailure("without a follower, a commit waits for its report")
                }
                noteChange(of: batch, report.sequence, engine)
                return report
            } catch {
                noteFailure(error, of: batch)
                throw error
            }
        }
    }

    /// Declares fields of an experiment: units, notes, questions with their options, and the types
    /// of fields that have no value yet. Durable on return. Repeating a declaration stores nothing.
    /// If the experiment does not exist, it is created with `settings`.
    ///
    /// - Parameters:
    ///   - experiment: The experiment's name.
    ///   - fields: Each one replaces an earlier declaration of the same field. Without fields,
    ///     nothing is stored and no experiment is created.
    ///   - settings: Used if the experiment is created; an existing experiment must match them.
    /// - Returns: A report. Its `conflicts` list the fields that already have another type; they
    ///   keep it.
    /// - Throws: As `write`; `usage` if a name or text is longer than 65,535 bytes.
    @discardableResult
    public func declare(
        experiment: String, fields: [SchemaPreset.Field],
        settings: ExperimentSettings = ExperimentSettings()
    ) throws(DatabaseError) -> WriteReport {
        var batch = WriteBatch()
        batch.settings = settings
        let number = batch.experiment(experiment.utf8.span)
        for field in fields { batch.declare(field, experiment: number) }
        return try write(batch)
    }

    /// Flushes the memtable to segments. Durability does not depend on it; it empties the log.
    /// Writers wait until it is done.
    ///
    /// - Throws: `usage` if the database is read-only; `closed`; `io` if a write or sync fails.
    ///   After `io`, nothing more is acknowledged until the database is opened again. Acknowledged
    ///   writes are still in the log.
    public func flush() throws(DatabaseError) {
        try change { engine throws(DatabaseError) in try engine.flush() }
    }

    /// Merges all segments of each experiment into one, the smallest and fastest form.
    ///
    /// Cost: rewrites all data that is not in a single segment yet, and needs as much free disk
    /// space while it runs. Readers do not wait; writers wait only
    /// for the flush at the start.
    ///
    /// - Throws: As `flush`; `damaged` if a segment cannot be read. The data stays as it was.
    public func compact() throws(DatabaseError) {
        try change { engine throws(DatabaseError) in try engine.compactAll() }
    }

    /// Flushes, merges small segments, writes the final manifest and releases the lock. Waits for
    /// calls of other threads and tasks that change the database, also for those that wait for a
    /// thread; later calls throw `closed`. So does a query that has not begun. A concurrent `close`
    /// waits for the first one and does nothing. Snapshots and cursors stay usable. On a read-only
    /// database `close` has nothing to wait for.
    ///
    /// An import is many calls and ends with `closed`, and so does a text of several statements.
    /// An `async` import is one call: cancel its task first.
    ///
    /// A callback of a call that changes the database must not close it: it would wait for itself.
    ///
    /// - Throws: `io` if the last flush fails or, as the message then says, only the merge after
    ///   it. The lock is released in both cases. Acknowledged writes are safe: the next opening
    ///   recovers from the log.
    public func close() throws(DatabaseError) {
        try queries.process.check()
        defer { observers.finish() }
        switch store {
        case .writer(let engine):
            let isIdle = Gate()
            changes.end { isIdle.open() }
            isIdle.wait()
            try engine.close()
        case .reader: isReaderClosed.store(true, ordering: .relaxed)
        }
    }

    /// Returns the store.
    ///
    /// - Throws: `closed`; `usage` in a child process made by `fork`.
    func openStore() throws(DatabaseError) -> Store {
        try queries.process.check()
        if isReaderClosed.load(ordering: .relaxed) { throw .databaseClosed }
        return store
    }

    /// The schemas of all experiments, in byte order of their names.
    ///
    /// - Throws: As `snapshot`.
    public func schemas() throws(DatabaseError) -> [ExperimentSchema] {
        try takeSnapshot().experiments.map(\.schema)
    }

    /// Returns a snapshot of everything committed so far.
    func takeSnapshot() throws(DatabaseError) -> Snapshot {
        switch try openStore() {
        case .writer(let engine): try engine.snapshot()
        case .reader(let reader): try reader.snapshot()
        }
    }

    /// Runs a call that changes the database. `close` waits for it.
    func change<Value>(
        _ body: (Engine) throws(DatabaseError) -> Value
    ) throws(DatabaseError) -> Value {
        guard case .writer(let engine) = try openStore() else {
            throw DatabaseError(
                .usage, "the database is open read-only; open it with access: .readWrite")
        }
        return try engine.call { () throws(DatabaseError) in try body(engine) }
    }
}
