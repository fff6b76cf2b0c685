// Reading every byte of a database and naming what cannot be read. Takes no lock, changes nothing.

extension Database {
    /// Reads everything that the manifest names and tells what is not what was written: file,
    /// offset, and which data is lost by it (experiment, fields, series, range of time).
    ///
    /// The checksum of every block, commit and file is verified. Directories, series, presence,
    /// dictionaries, commits and refusals are decoded as well; times and values with `decodes`,
    /// which finds what no disk can do: bytes that were written wrongly.
    ///
    /// Runs beside a writer: where the manifest is replaced meanwhile, the check begins anew.
    /// Cost: reads every byte once, on all cores; with `decodes`, twice, and several times as long.
    ///
    /// - Throws: `notFound` where there is no database; damage is told to `body`, not thrown.
    public static func check(
        _ path: String, options: DatabaseOptions = DatabaseOptions(), decodes: Bool = false,
        _ body: (CheckFinding) -> Void
    ) throws(DatabaseError) -> CheckSummary {
        try check(path, on: PosixFileSystem(), options: options, decodes: decodes, body)
    }

    /// The same on any file system.
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
            // Damage that the manifest read now does not name is none.
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
