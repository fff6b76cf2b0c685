// Taking out what cannot be read, and keeping everything else.

extension Database {
    /// Moves what cannot be read into a folder inside the database, `damaged/` and the time, and
    /// keeps everything else. Nothing is deleted or overwritten.
    ///
    /// Segments with damaged blocks are written again with all that can be read of them: rows
    /// lose the cells that cannot be read, or go where their times or series cannot. Of a damaged
    /// log all whole commits are kept, also those behind the damage. A manifest that is lost is
    /// made again of what the files say of themselves; what they do not know is in the report.
    /// The report is written beside the files that were moved too.
    ///
    /// Durable on return, and true at one moment: after a crash the database is as it was, or
    /// repaired. Run again, it finds nothing to do. Cost: reads and decodes everything, writes
    /// again the segments that are damaged, copies what it moves.
    ///
    /// - Parameter isDryRun: whether only to say what would be done; takes no lock then.
    /// - Throws: `locked` while another process writes; `notFound`, also of a backup;
    ///   `unsupportedFormat`; `io`, with nothing changed, where a file cannot be read or written;
    ///   `damaged` where no file says which database it belongs to.
    public static func repair(
        _ path: String, options: DatabaseOptions = DatabaseOptions(), isDryRun: Bool = false
    ) throws(DatabaseError) -> RepairReport {
        try repair(path, on: PosixFileSystem(), options: options, isDryRun: isDryRun)
    }

    /// The same on any file system.
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
        // Taking a lock makes its file: not in a directory that is no database, nor in a copy
        // without one where there is nothing to do.
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
