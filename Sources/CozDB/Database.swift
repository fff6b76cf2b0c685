// The public face: open, write, query, snapshot, flush, compact, close.

internal import Glibc
internal import Synchronization

/// How a database is opened.
public enum DatabaseAccess: Sendable {
    /// The one writer. Readers are never blocked.
    case readWrite
    /// Any number of readers, in this process or others; nothing is created, written or locked.
    case readOnly
}

/// An open database: one directory. Safe from any thread.
///
/// One `Database` at a time, of any process, is open for writing; any number is open for reading
/// beside it. Call `close()` when done writing: it flushes, seals the manifest and frees the lock.
/// Without it nothing acknowledged is lost, but the next opening replays the log.
///
/// A child made by `fork` cannot use what its parent opened: every call throws `usage` there.
public final class Database: Sendable {
    /// To be asked for by `openStore()`.
    let store: Store
    /// What queries need beside it.
    let queries: QueryContext
    /// Threads of `async` calls that change something.
    let changes: WaitingCalls
    /// Whether `close` was called on a database open for reading.
    private let isReaderClosed = Atomic<Bool>(false)
    /// The presets it was opened with, for importers that must know types before they write.
    package let presets: [SchemaPreset]

    /// What stands behind a database of each kind of access.
    enum Store: Sendable {
        case writer(Engine)
        case reader(LiveReader)
    }

    init(_ store: Store, _ options: DatabaseOptions) {
        self.store = store
        queries = QueryContext(options)
        changes = WaitingCalls(
            threadCountMax: options.changeThreadCountMax,
            waitingCountMax: options.waitingCallCountMax)
        presets = options.presets
    }

    /// Opens a database; for writing also makes one where the directory is absent or empty
    /// (`DatabaseOptions.createsDatabase`).
    ///
    /// Cost: reads the manifest and the end of each segment, whatever the size of the data; for
    /// writing after a crash also what the log holds.
    ///
    /// - Throws: `usage` for options out of range, `notFound` where there is no database, `locked`
    ///   where another writer has it (with its process number), `damaged` and `unsupportedFormat`
    ///   with file and offset.
    public static func open(
        _ path: String, access: DatabaseAccess = .readWrite,
        options: DatabaseOptions = DatabaseOptions()
    ) throws(DatabaseError) -> Database {
        try open(path, access: access, options: options, on: PosixFileSystem())
    }

    /// The same on another file system: the seam for tests that inject faults.
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

    /// Commits a batch, whole or not at all. On return it is durable (as the option `durability`
    /// says) and visible to every snapshot taken afterwards.
    ///
    /// Values that cannot be stored are refused one by one and kept in the rejects journal, in
    /// the same commit; the report counts them (`DatabaseOptions.refusalPolicy`). Many threads may
    /// write at once: their commits share one sync.
    ///
    /// - Throws: `usage` where the batch was used wrongly (`WriteBatch.mistake`), names settings
    ///   other than those stored, or the database is read-only; `limitExceeded`; `io` where the
    ///   disk refuses: then nothing more is acknowledged until the database is opened again.
    public func write(_ batch: borrowing WriteBatch) throws(DatabaseError) -> WriteReport {
        try writer().write(batch)
    }

    /// Declares fields of an experiment: units, notes, questions with their options, and the types
    /// of fields that have no value yet. Durable on return; declaring the same again stores
    /// nothing. The experiment is created where it is new, with the settings.
    ///
    /// - Parameter fields: each replaces an earlier declaration of the same field.
    /// - Returns: `conflicts` lists the fields that have another type already, and keep it.
    /// - Throws: as `write`; `usage` for a name or text of more than 65,535 bytes.
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

    /// Writes what is in memory to segments. Durability does not need it; it empties the log.
    /// Writers wait meanwhile.
    ///
    /// - Throws: `usage` where the database is read-only; `closed`; `io` where the disk refuses:
    ///   then nothing more is acknowledged until the database is opened again, and what was
    ///   acknowledged is in the log still.
    public func flush() throws(DatabaseError) {
        try writer().flush()
    }

    /// Merges all segments of each experiment into one: the smallest and fastest form.
    ///
    /// Cost: rewrites everything that is not in one segment already, and needs as much free space
    /// meanwhile. Neither readers nor writers wait.
    ///
    /// - Throws: as `flush`; `damaged` where a segment cannot be read. The data stays as it was.
    public func compact() throws(DatabaseError) {
        try writer().compactAll()
    }

    /// Flushes, merges what is worth it, seals the manifest and frees the lock. Calls of other
    /// threads that have begun are waited for, later ones throw `closed`; another `close` waits
    /// for the first and does nothing. Snapshots and cursors may live on. A database open for
    /// reading has nothing to wait for: later calls throw `closed`.
    ///
    /// - Throws: `io` where the last flush fails, or, as the message says, only the merge that
    ///   follows it. The lock is free then too, and what was acknowledged is safe: the next opening
    ///   recovers from the log what no segment has.
    public func close() throws(DatabaseError) {
        try queries.process.check()
        switch store {
        case .writer(let engine): try engine.close()
        case .reader: isReaderClosed.store(true, ordering: .relaxed)
        }
    }

    /// What a call works on, where it may.
    func openStore() throws(DatabaseError) -> Store {
        try queries.process.check()
        if isReaderClosed.load(ordering: .relaxed) { throw Engine.closed() }
        return store
    }

    /// The schemas of all experiments, in byte order of their names.
    ///
    /// - Throws: as `snapshot`.
    public func schemas() throws(DatabaseError) -> [ExperimentSchema] {
        try takeSnapshot().experiments.map(\.schema)
    }

    /// Everything committed up to now.
    func takeSnapshot() throws(DatabaseError) -> Snapshot {
        switch try openStore() {
        case .writer(let engine): try engine.snapshot()
        case .reader(let reader): try reader.snapshot()
        }
    }

    func writer() throws(DatabaseError) -> Engine {
        guard case .writer(let engine) = try openStore() else {
            throw DatabaseError(
                .usage, "the database is open read-only; open it with access: .readWrite")
        }
        return engine
    }
}
