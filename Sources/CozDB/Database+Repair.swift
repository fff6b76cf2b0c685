// Repair: moves damaged data aside and keeps everything else.

extension Database {
    /// Repairs a database: moves what cannot be read to the subdirectory `damaged/TIME`, where TIME
    /// is the current time, and keeps everything else. Nothing is deleted or overwritten.
    ///
    /// Segments with damaged blocks are rewritten from the blocks that can be read. Rows lose
    /// unreadable cells; rows whose times or series cannot be read are lost. From a damaged log,
    /// all intact commits are kept, including those after the damage. A lost manifest is rebuilt
    /// from the other files; the report lists what they do not say. The report is also written next
    /// to the files that were moved.
    ///
    /// The repair is atomic and durable on return: after a crash the database is either unchanged
    /// or repaired. A second run finds nothing to do.
    ///
    /// Cost: reads and decodes everything, rewrites damaged segments, and copies what it moves.
    ///
    /// - Parameters:
    ///   - path: The directory of the database.
    ///   - options: Options of the database, as for `open`.
    ///   - isDryRun: If true, reports what would be done, changes nothing and takes no lock.
    /// - Throws: `locked` if another process has the database open for writing; `notFound` if the
    ///   path is no database or is a backup; `unsupportedFormat`; `io` if a file cannot be read or
    ///   written, with nothing changed; `damaged` if no file says which database it belongs to.
    public static func repair(
        _ path: String, options: DatabaseOptions = DatabaseOptions(), isDryRun: Bool = false
    ) throws(DatabaseError) -> RepairReport {
        try repair(path, on: PosixFileSystem(), options: options, isDryRun: isDryRun)
    }

    /// Repairs a database on any file system.
    static func repair(
        _ path: String, on fileSystem: any FileSystem,
        options: DatabaseOptions = DatabaseOptions(), isDryRun: Bool = false
    ) throws(DatabaseError) -> RepairReport {
        let directory = try calling("opening the database") { () throws(FileError) in
            try fileSystem.openDirectory(path, create: false, access: options.fileAccess)
        }
        try DirectoryMark.checkIsComplete(directory)
        let names = try calling("listing the database") { () throws(FileError) in
            try directory.list()
        }
        try DirectoryMark.checkIsRepairable(names, path: path)
        // Taking the lock creates the LOCK file. Do not create it in a directory that is no
        // database, nor in an intact copy that came without one.
        if !isDryRun, !names.contains(FileName.lock.text) {
            var trial = try DatabaseRepair(directory, isDryRun: true)
            try trial.run(nil)
            if trial.report.isEmpty { return RepairReport() }
        }
        let lock = isDryRun ? nil : try Recovery.takeLock(directory)
        return try withExtendedLifetime(lock) { () throws(DatabaseError) in
            var repair = try DatabaseRepair(directory, isDryRun: isDryRun)
            try repair.run(lock)
            return repair.report
        }
    }
}
