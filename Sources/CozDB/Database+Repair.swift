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
    /// The repair is atomic and durable on return: after a crash or an error the data is either
    /// unchanged or repaired. The next repair removes the files of an unfinished one. A run after a
    /// finished one finds nothing to do.
    ///
    /// Cost: reads and decodes everything, rewrites damaged segments, and copies what it moves.
    ///
    /// - Parameters:
    ///   - path: The directory of the database.
    ///   - options: Options of the database, as for `open`.
    ///   - isDryRun: If true, reports what would be done, changes nothing and takes no lock. Starts
    ///     again if a writer changed the database meanwhile.
    /// - Throws: `locked` if another process has the database open for writing, or if a dry run
    ///   found it changed again and again; `notFound` if the path is no database or is a backup;
    ///   `unsupportedFormat`; `io` if a file cannot be read or written, with no data changed;
    ///   `damaged` if no file says which database it belongs to; `limitExceeded` if the found
    ///   schemas take more than a manifest may have.
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
        let names = try directory.names()
        try DirectoryMark.checkIsRepairable(names, path: path)
        // Taking the lock creates the LOCK file. Do not create it in a directory that is no
        // database, nor in an intact copy that came without one.
        if isDryRun || !names.contains(FileName.lock.text) {
            let preview = try preview(directory)
            if isDryRun { return preview }
            if preview.isEmpty { return RepairReport() }
        }
        let lock = try Recovery.takeLock(directory)
        return try withExtendedLifetime(lock) { () throws(DatabaseError) in
            var repair = try DatabaseRepair(directory, isDryRun: false)
            try repair.run(lock)
            return repair.report
        }
    }

    /// Reports what a repair would do. Beside a writer, files of different moments look like
    /// damage: only what is found without a change in between counts.
    private static func preview(_ directory: any Directory) throws(DatabaseError) -> RepairReport {
        var version = try DatabaseVersion(directory)
        var missingCount = 0
        for _ in 0..<20 {
            let result = Result { () throws(DatabaseError) in
                var repair = try DatabaseRepair(directory, isDryRun: true)
                try repair.run(nil)
                return repair.report
            }
            if case .success(let report) = result, report.isEmpty { return report }
            let now = try DatabaseVersion(directory)
            if now == version {
                // A writer removes old files after the change.
                guard case .failure(let error) = result, error.kind == .notFound,
                    missingCount < 5
                else { return try result.get() }
                missingCount += 1
            }
            version = now
        }
        throw DatabaseError(
            .locked,
            "a writer changes the database too often to tell what a repair would do; "
                + "wait until it closes it", file: directory.path)
    }
}

/// What a writer changes with every commit and every new manifest.
private struct DatabaseVersion: Equatable {
    private let lock: [UInt8]?
    /// Who may not read the lock sees only this change.
    private let generation: UInt64?

    init(_ directory: any Directory) throws(DatabaseError) {
        lock = try DatabaseVersion.read { () throws(DatabaseError) in
            try AcknowledgedState.readBytes(in: directory).bytes
        }
        generation = try DatabaseVersion.read { () throws(DatabaseError) in
            try Manifest.read(in: directory)?.generation
        }
    }

    /// Returns nil for a damaged file, which the repair reports.
    private static func read<Value>(
        _ body: () throws(DatabaseError) -> Value?
    ) throws(DatabaseError) -> Value? {
        do throws(DatabaseError) {
            return try body()
        } catch {
            guard error.kind == .io, !error.isReadFailure else { return nil }
            throw error
        }
    }
}
