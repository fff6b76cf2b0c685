// Integrity check: reads every byte of a database and reports damage. Takes no lock, changes
// nothing.

extension Database {
    /// Reads every file that the manifest names and reports each corruption: file, offset, and the
    /// data that is lost (experiment, fields, series, time range).
    ///
    /// Verifies the checksum of every block, commit and file. Also decodes directories, series,
    /// presence vectors, dictionaries, commits and refusals. With `decodes`, times and values are
    /// decoded too; this finds data that was written incorrectly, which checksums cannot.
    ///
    /// A writer may be active: if the manifest is replaced during the check, the check starts
    /// again.
    ///
    /// Cost: reads every byte once, on all cores. With `decodes` it reads them twice and takes
    /// several times as long.
    ///
    /// - Throws: `notFound` if there is no database. Damage is passed to `body`, not thrown.
    public static func check(
        _ path: String, options: DatabaseOptions = DatabaseOptions(), decodes: Bool = false,
        _ body: (CheckFinding) -> Void
    ) throws(DatabaseError) -> CheckSummary {
        try check(path, on: PosixFileSystem(), options: options, decodes: decodes, body)
    }

    /// Checks a database on any file system.
    static func check(
        _ path: String, on fileSystem: any FileSystem,
        options: DatabaseOptions = DatabaseOptions(), decodes: Bool = false,
        _ body: (CheckFinding) -> Void
    ) throws(DatabaseError) -> CheckSummary {
        let directory = try calling("opening the database") { () throws(FileError) in
            try fileSystem.openDirectory(path, create: false, access: options.fileAccess)
        }
        try DirectoryMark.checkIsComplete(directory)
        let attemptCountMax = 100
        var attempt = 1
        while true {
            var check = DatabaseCheck(directory, decodes: decodes)
            let generation = try check.run()
            // If a newer manifest exists, the damage may be in a file that it does not name.
            if check.summary.damaged > 0, attempt < attemptCountMax,
                let now = try? Manifest.read(in: directory), now.generation != generation
            {
                attempt += 1
                continue
            }
            for finding in check.findings { body(finding) }
            return check.summary
        }
    }
}
