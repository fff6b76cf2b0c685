// Copies of a whole database: backup beside a writer, and the way back.

extension Database {
    /// Copies a database to another directory while it may be written to, or brings the backup
    /// that is there up to date: then only new files are copied, and those that the database has no
    /// more are removed, once the new state is durable.
    ///
    /// The backup holds a prefix of the commits, at least all that were acknowledged before the
    /// call. It is durable on return. The database is only read, without a lock; its writer is not
    /// disturbed. All that is copied is read back and checked block by block. Where the call fails
    /// or the power goes, an earlier backup stays what it was; a first one stays marked as
    /// unfinished, refused by everything that opens databases, and the next call goes on with it.
    ///
    /// Cost: reads and writes what is new, and reads it again.
    ///
    /// - Parameters:
    ///   - path: the database.
    ///   - target: a directory: absent, empty, or with an earlier backup of this database. It can
    ///     be opened read-only as any database.
    /// - Throws: `notFound` where there is no database or the target holds something else;
    ///   `damaged` where a file of the database is not what was written, with what is lost;
    ///   `locked` where another backup writes to the target; `io`; `cancelled`.
    @discardableResult
    public static func backup(
        _ path: String, to target: String, options: BackupOptions = BackupOptions()
    ) throws(DatabaseError) -> BackupReport {
        try backup(path, to: target, options: options, on: PosixFileSystem())
    }

    /// Copies this database, open for writing or reading, as the call for a path does. Commits
    /// that other threads make meanwhile may be in the backup or not.
    ///
    /// - Throws: as the call for a path; `closed`.
    @discardableResult
    public func backup(
        to target: String, options: BackupOptions = BackupOptions()
    ) throws(DatabaseError) -> BackupReport {
        try backup(to: target, options: options, on: PosixFileSystem())
    }

    /// Makes a database of a backup, which may also be opened in place read-only. Durable on
    /// return; all of it is read back and checked. Until then the directory is marked as
    /// unfinished and refused by everything that opens databases; the next call goes on with it.
    ///
    /// The new database and the one that the backup is of are the same one for all checks of
    /// files: do not mix files of both.
    ///
    /// Cost: reads and writes the whole backup, and reads the copy again.
    ///
    /// - Parameters:
    ///   - backup: the directory of a backup; any database will do.
    ///   - path: a directory: absent, empty, or with a restore that did not finish.
    /// - Throws: `notFound` where there is no backup or the directory holds something; `damaged`
    ///   where the backup is not what was written, with what is lost; `io`; `cancelled`.
    @discardableResult
    public static func restore(
        _ backup: String, to path: String, options: RestoreOptions = RestoreOptions()
    ) throws(DatabaseError) -> BackupReport {
        try restore(backup, to: path, options: options, on: PosixFileSystem())
    }
}

// MARK: On other file systems

extension Database {
    /// The same on another file system: the seam for tests that inject faults.
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
            // Throws where it is closed.
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
        // Before anything is made: without a database there is no target either.
        let reader = try LiveReader(source)
        try checkIsApart(target, from: source, of: "database", on: fileSystem)
        let directory = try CopyTarget(
            backupAt: target, on: fileSystem, access: options.fileAccess)
        let copy = DatabaseCopy(
            from: reader, to: directory, verifiesReused: options.verifiesReused,
            isCancelled: options.isCancelled)
        try copy.run()
        try directory.finish()
        return copy.report(since: start)
    }

    /// The same on another file system: the seam for tests that inject faults.
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
            restoreAt: path, on: fileSystem, access: options.fileAccess)
        let copy = DatabaseCopy(
            from: reader, to: directory, verifiesReused: true, isCancelled: options.isCancelled)
        try copy.run(branch: fileSystem.makeIdentity())
        // Before anybody else can open it: files are whole and durable, the mark is still there.
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
    /// Refuses a copy into what is copied, and around it, before anything is made.
    private static func checkIsApart(
        _ target: String, from source: any Directory, of kind: String,
        on fileSystem: any FileSystem
    ) throws(DatabaseError) {
        let found: String
        switch fileSystem.place(of: target, seenFrom: source) {
        case .apart: return
        case .same: found = "the directory of the \(kind) itself"
        case .inside: found = "a place inside of the \(kind) (\(source.path))"
        case .around: found = "a directory that the \(kind) lies in (\(source.path))"
        }
        throw DatabaseError(
            .notFound,
            "found \(found), expected a directory apart from it; nothing was written. Name another",
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
