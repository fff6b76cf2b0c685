// Backup of a whole database while it is being written, and restore.

extension Database {
    /// Backs up a database to another directory. The database can be open for writing. If the
    /// target holds an earlier backup, only new files are copied. Files that the database does not
    /// have anymore are removed once the new state is durable.
    ///
    /// The backup is a prefix of the commits and has at least all that were acknowledged before the
    /// call. It is durable on return. The database is only read, without a lock, so its writer is
    /// not disturbed. Every copied file is read back and checked block by block.
    ///
    /// If the call fails or the power goes out, an earlier backup stays as it was. A first backup
    /// stays marked as unfinished and cannot be opened; the next call continues it.
    ///
    /// Cost: reads and writes the new files, and reads them again.
    ///
    /// - Parameters:
    ///   - path: The database.
    ///   - target: A directory that is absent, empty, or has an earlier backup of this database. A
    ///     backup can be opened read-only like any database.
    ///   - options: Who may read the backup, what is verified, and a cancellation check.
    /// - Throws: `notFound` if there is no database or the target holds something else; `damaged`
    ///   if a file of the database is corrupt, with the data that is lost; `locked` if another
    ///   backup is writing to the target; `io`; `cancelled`.
    @discardableResult
    public static func backup(
        _ path: String, to target: String, options: BackupOptions = BackupOptions()
    ) throws(DatabaseError) -> BackupReport {
        try backup(path, to: target, options: options, on: PosixFileSystem())
    }

    /// Backs up this database, which may be open for writing or reading. Commits that other threads
    /// make during the call may or may not be in the backup.
    ///
    /// - Throws: As the call with a path; `closed`.
    @discardableResult
    public func backup(
        to target: String, options: BackupOptions = BackupOptions()
    ) throws(DatabaseError) -> BackupReport {
        try backup(to: target, options: options, on: PosixFileSystem())
    }

    /// Restores a backup to a new database. Durable on return; everything is read back and checked.
    /// Until then the directory is marked as unfinished and cannot be opened; the next call
    /// continues the restore. To only read a backup, open it in place.
    ///
    /// The restored database and the original have the same identity, so no check can tell their
    /// files apart: do not mix them.
    ///
    /// Cost: reads and writes the whole backup, and reads the copy again.
    ///
    /// - Parameters:
    ///   - backup: The directory of a backup, or of any other database.
    ///   - path: A directory that is absent, empty, or has an unfinished restore.
    ///   - options: Who may read the database, whom to forget, and a cancellation check.
    /// - Throws: `notFound` if there is no backup or the directory is not empty; `damaged` if the
    ///   backup is corrupt, with the data that is lost; `io`; `cancelled`.
    @discardableResult
    public static func restore(
        _ backup: String, to path: String, options: RestoreOptions = RestoreOptions()
    ) throws(DatabaseError) -> BackupReport {
        try restore(backup, to: path, options: options, on: PosixFileSystem())
    }
}

// MARK: On other file systems

extension Database {
    /// Backs up on another file system, so that tests can inject faults.
    @discardableResult
    package static func backup(
        _ path: String, to target: String, options: BackupOptions, on fileSystem: any FileSystem
    ) throws(DatabaseError) -> BackupReport {
        let source = try calling("opening the database") { () throws(FileError) in
            try fileSystem.openDirectory(path, create: false, access: .ownerOnly)
        }
        return try backup(source, to: target, options: options, on: fileSystem)
    }

    @discardableResult
    package func backup(
        to target: String, options: BackupOptions, on fileSystem: any FileSystem
    ) throws(DatabaseError) -> BackupReport {
        let source: any Directory
        switch try openStore() {
        case .writer(let engine):
            // Throws if the engine is closed.
            _ = try engine.snapshot()
            source = engine.directory
        case .reader(let reader): source = reader.directory
        }
        return try Database.backup(source, to: target, options: options, on: fileSystem)
    }

    private static func backup(
        _ source: any Directory, to target: String, options: BackupOptions,
        on fileSystem: any FileSystem
    ) throws(DatabaseError) -> BackupReport {
        let start = ContinuousClock.now
        // Before the target is created: without a database there is no target.
        let reader = try LiveReader(source)
        try checkIsApart(target, from: source, of: "database", on: fileSystem)
        let directory = try CopyTarget(
            at: target, isRestore: false, on: fileSystem, access: options.fileAccess)
        let copy = DatabaseCopy(
            from: reader, to: directory, verifiesReused: options.verifiesReused,
            isCancelled: options.isCancelled)
        try copy.run()
        try directory.finish()
        return copy.report(since: start)
    }

    /// Restores on another file system, so that tests can inject faults.
    @discardableResult
    package static func restore(
        _ backup: String, to path: String, options: RestoreOptions,
        on fileSystem: any FileSystem
    ) throws(DatabaseError) -> BackupReport {
        let start = ContinuousClock.now
        let source = try calling("opening the backup") { () throws(FileError) in
            try fileSystem.openDirectory(backup, create: false, access: .ownerOnly)
        }
        let reader = try LiveReader(source)
        try checkIsApart(path, from: source, of: "backup", on: fileSystem)
        let directory = try CopyTarget(
            at: path, isRestore: true, on: fileSystem, access: options.fileAccess)
        let copy = DatabaseCopy(
            from: reader, to: directory, verifiesReused: true, isCancelled: options.isCancelled)
        try copy.run(branch: fileSystem.makeIdentity())
        // Before the mark is removed, because nothing else can open the directory until then. The
        // files are complete and durable at this point.
        let forgotten = try options.forgotten.map { list throws(DatabaseError) in
            var own = DatabaseOptions()
            own.fileAccess = options.fileAccess
            return try applyForgotten(list, to: path, options: own, on: fileSystem)
        }
        if forgotten == nil { try directory.writeLock() }
        try directory.finish()
        var report = copy.report(since: start)
        report.forgotten = forgotten
        return report
    }
}

extension Database {
    /// Throws if the target is the source, lies inside it or contains it. Nothing has been created
    /// yet.
    private static func checkIsApart(
        _ target: String, from source: any Directory, of kind: String,
        on fileSystem: any FileSystem
    ) throws(DatabaseError) {
        let found: String
        switch fileSystem.relation(of: target, to: source) {
        case .apart: return
        case .same: found = "the directory of the \(kind) itself"
        case .inside: found = "a directory inside the \(kind) (\(source.path))"
        case .around: found = "a directory that contains the \(kind) (\(source.path))"
        }
        throw DatabaseError(
            .notFound,
            "found \(found), expected a separate directory; nothing was written. Choose another "
                + "directory",
            file: target)
    }
}

extension DatabaseCopy {
    fileprivate func report(since start: ContinuousClock.Instant) -> BackupReport {
        var report = report
        report.seconds = (ContinuousClock.now - start) / .seconds(1)
        return report
    }
}
