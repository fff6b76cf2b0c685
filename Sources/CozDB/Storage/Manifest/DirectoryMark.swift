// Marker files that tell a backup or an unfinished copy from a database before its manifest is
// read; docs/backup.md.

/// The marker files that `backup` and `restore` write.
enum DirectoryMark {
    static let backupText = """
        This directory is a backup of a CozDB database.
        It can be read like a database. Only the next backup writes to it, and locks this file
        while it runs. To continue with the data, restore it to another directory.

        """

    static let unfinishedBackupText = """
        The backup to this directory is not finished, so it cannot be opened.
        Run the same backup again: it continues with the files here and removes this file.

        """

    static let unfinishedRestoreText = """
        The restore to this directory is not finished, so it cannot be opened.
        Run the same restore again: it continues with the files here and removes this file.

        """

    /// Refuses a directory whose backup or restore has not finished.
    ///
    /// - Throws: `notFound`, with what to do.
    static func checkIsComplete(_ directory: any Directory) throws(DatabaseError) {
        let (isMarked, isBackup) = try calling("opening the database") {
            () throws(FileError) -> (Bool, Bool) in
            let isBackup = try directory.openIfPresent(FileName.backupMark.text) != nil
            var isMarked = try directory.openIfPresent(FileName.incompleteMark.text) != nil
            // A backup may have stopped before it wrote the second marker.
            if !isMarked, isBackup { isMarked = isBeginning(try directory.list()) }
            return (isMarked, isBackup)
        }
        if isMarked { throw incomplete(isBackup: isBackup, path: directory.path) }
    }

    /// Whether the directory holds only the marker of a backup.
    static func isBeginning(_ names: [String]) -> Bool {
        names.allSatisfy { FileName($0) == .backupMark || FileName($0) == .manifestDraft }
    }

    /// Refuses to write to a backup or to an unfinished copy.
    ///
    /// - Parameter isRestoring: whether the restore itself opens the directory.
    /// - Throws: `notFound`, with what to do.
    static func checkIsWritable(
        _ names: [String], path: String, isRestoring: Bool
    ) throws(DatabaseError) {
        let isBackup = isBackup(names)
        if names.contains(FileName.incompleteMark.text), !isRestoring {
            throw incomplete(isBackup: isBackup, path: path)
        }
        if isBackup {
            throw DatabaseError(
                .notFound,
                "found a backup, expected a database to write to; nothing was changed. Restore the "
                    + "backup to another directory and write there, or open the backup read-only",
                file: path, remedy: .restore)
        }
    }

    /// Whether a directory with these files is a backup.
    static func isBackup(_ names: [String]) -> Bool { names.contains(FileName.backupMark.text) }

    /// Refuses to repair a backup. The next backup would not know what the repair removed, and the
    /// damaged folder would stay in it.
    ///
    /// - Throws: `notFound`, with what to do.
    static func checkIsRepairable(_ names: [String], path: String) throws(DatabaseError) {
        guard isBackup(names) else { return }
        throw DatabaseError(
            .notFound,
            "found a backup, expected a database to repair; nothing was changed. Back up again "
                + "with verification, which replaces damaged files. If the database is lost, copy "
                + "the backup, remove the file \(FileName.backupMark.text) from the copy, and "
                + "repair the copy", file: path, remedy: .verifyBackup)
    }

    /// Whether the files are a database's: segments or logs, or rejects of one that LOCK knows.
    static func hasData(_ names: [String], _ found: AcknowledgedState.Found) -> Bool {
        hasSegmentsOrLogs(names)
            || found.knowsManifest && names.contains(FileName.rejectsDirectory)
    }

    static func hasSegmentsOrLogs(_ names: [String]) -> Bool {
        names.contains { name in
            switch FileName(name) {
            case .segment, .log: true
            default: false
            }
        }
    }

    /// The error for a directory that has no manifest.
    ///
    /// - Parameters:
    ///   - found: the content of the lock file. It tells a lost manifest from a missing one.
    ///   - advice: appended if the directory is not a database.
    static func noManifest(
        _ names: [String], _ found: AcknowledgedState.Found, path: String, advice: String = ""
    ) -> DatabaseError {
        let (manifest, lock) = (FileName.manifest.text, FileName.lock.text)
        if hasData(names, found) {
            return DatabaseError(
                .notFound,
                "the file \(manifest) of this database is missing; if nobody is creating the "
                    + "database, put it back, or repair the database to rebuild it from the other "
                    + "files",
                file: path, remedy: .previewRepair)
        }
        if found.knowsManifest {
            return DatabaseError(
                .notFound,
                "the file \(manifest) and all data files of this database are missing; if nobody "
                    + "is creating it, put them back, or restore a backup to another directory; to "
                    + "create a new database here, remove \(lock)", file: path, remedy: .restore)
        }
        return DatabaseError(
            .notFound, "not a CozDB database: it has no file \(manifest)" + advice, file: path)
    }

    private static func incomplete(isBackup: Bool, path: String) -> DatabaseError {
        let what = isBackup ? "backup" : "restore"
        return DatabaseError(
            .notFound,
            "found an unfinished copy of a database (a file \(FileName.incompleteMark.text)), "
                + "expected a complete one: a \(what) did not finish. Run the \(what) again, or "
                + "remove the directory", file: path, remedy: isBackup ? .backup : .restore)
    }
}
