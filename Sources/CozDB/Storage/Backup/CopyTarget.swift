// The target directory of a backup or a restore: its marker files, the files it already has, and
// the order in which a new state replaces an old one; docs/backup.md.

/// A directory that becomes a copy of a database.
final class CopyTarget {
    let directory: any Directory
    /// The manifest of an earlier, complete backup.
    let earlier: Manifest?
    private(set) var isMarked: Bool
    /// Locked until the copy is done. Two copies at once would remove each other's files.
    private let lockFile: any File
    private var rejectsFolder: (any Directory)?
    /// Logs with a longer copy stored as a draft, next to the shorter one that `earlier` names.
    var draftedLogs: [UInt64] = []

    /// Opens or creates the directory and marks it. A new backup is marked as unfinished; a
    /// directory with an earlier backup stays valid. A restore takes an empty directory, or one
    /// with an unfinished restore.
    ///
    /// - Throws: `notFound` if the directory holds something else, `locked` if another copy is
    ///   written to it, `damaged` if the earlier backup has no manifest.
    init(
        at path: String, isRestore: Bool, on fileSystem: any FileSystem,
        access: DatabaseOptions.FileAccess
    ) throws(DatabaseError) {
        let directory = try calling("opening the target") { () throws(FileError) in
            try fileSystem.openDirectory(path, create: true, access: access)
        }
        self.directory = directory
        let check = isRestore ? CopyTarget.checkTakesRestore : CopyTarget.checkTakesBackup
        try check(try CopyTarget.names(in: directory), path)
        let lockFile = try CopyTarget.lock(isRestore ? .incompleteMark : .backupMark, in: directory)
        self.lockFile = lockFile
        try calling("marking the directory as \(isRestore ? "unfinished" : "a backup")") {
            () throws(FileError) in
            try CopyTarget.fill(
                lockFile,
                isRestore ? DirectoryMark.unfinishedRestoreText : DirectoryMark.backupText)
            try directory.sync()
        }
        // Checked again under the lock, because another copy may have changed the directory.
        let names = try CopyTarget.names(in: directory)
        try check(names, path)
        isMarked = names.contains(FileName.incompleteMark.text)
        earlier = isRestore ? nil : try Manifest.read(in: directory)
        if !isRestore {
            if earlier == nil { try mark(DirectoryMark.unfinishedBackupText) }
            return
        }
        // An unfinished restore may have left a different manifest and lock file.
        try calling("removing files of an unfinished restore") { () throws(FileError) in
            for name in [FileName.manifest.text, FileName.lock.text] where names.contains(name) {
                try directory.remove(name)
                try directory.sync()
            }
        }
    }

    /// Checks that the earlier backup is of this database, in an earlier state or the same.
    ///
    /// - Throws: `notFound`, with the reason.
    func checkPrecedes(_ manifest: Manifest) throws(DatabaseError) {
        guard let earlier else { return }
        if earlier.databaseID != manifest.databaseID {
            throw refusal("a backup of another database")
        }
        let segments = Dictionary(
            earlier.segments.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
        let rejects = Dictionary(
            earlier.rejects.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
        let hasDiverged =
            earlier.generation > manifest.generation
            || manifest.segments.contains { segments[$0.number]?.isSameFile(as: $0) == false }
            || manifest.rejects.contains { (rejects[$0.number] ?? $0) != $0 }
        let isBefore = try isBefore(manifest.branches, earlier)
        if hasDiverged || !isBefore { throw otherLine() }
    }

    /// Whether the earlier backup was taken before the first restore that it does not know of.
    private func isBefore(
        _ branches: [Manifest.Branch], _ earlier: Manifest
    ) throws(DatabaseError) -> Bool {
        guard branches.starts(with: earlier.branches) else { return false }
        guard let branch = branches.dropFirst(earlier.branches.count).first else { return true }
        if earlier.generation > branch.generation { return false }
        // Logs may have grown within one generation.
        var last = earlier.lastSequence
        for log in earlier.logs {
            guard let file = try existing(.log(log.number)) else { continue }
            let walked = try? DatabaseCopy.walk(
                file, log, earlier.databaseID, log.sealedSizeBytes)
            // The backup may have any commit if the log cannot be read.
            last = max(last, walked?.lastCommit ?? .max)
        }
        return last <= branch.sequence
    }

    /// The error if the backup has commits that the database never had.
    func otherLine() -> DatabaseError {
        refusal(
            "a backup of another branch of this database, or of a later state (the database may "
                + "have been restored from an older backup)")
    }

    private func refusal(_ found: String) -> DatabaseError {
        DatabaseError(
            .notFound,
            "found \(found), expected an earlier backup of the same database or an empty "
                + "directory; nothing was changed. Name another directory, or remove this one if "
                + "it is not needed", file: directory.path)
    }
}

// MARK: Opening

extension CopyTarget {
    private static func names(in directory: any Directory) throws(DatabaseError) -> [String] {
        try calling("listing the target") { () throws(FileError) in try directory.list() }
    }

    private static func lock(
        _ name: FileName, in directory: any Directory
    ) throws(DatabaseError) -> any File {
        let file = try calling("locking the target") { () throws(FileError) in
            try directory.lock(name.text)
        }
        guard let file else {
            throw DatabaseError(
                .locked,
                "another backup or restore is writing to this directory; wait until it finishes",
                file: directory.path)
        }
        return file
    }

    private static func fill(_ file: any File, _ text: String) throws(FileError) {
        let bytes = Array(text.utf8)
        if try file.readAll(count: bytes.count + 1, at: 0) == bytes { return }
        try file.truncate(to: 0)
        try file.writeAll(bytes.span, at: 0)
        try file.syncData()
    }

    private static func checkTakesBackup(
        _ names: [String], _ path: String
    ) throws(DatabaseError) {
        let files = names.map { FileName($0) }
        if files.contains(.backupMark) {
            // If both the manifest and the mark are missing, only a backup that has just begun is
            // undamaged.
            let isKnown = files.contains(.manifest) || files.contains(.incompleteMark)
            if isKnown || DirectoryMark.isBeginning(names) { return }
            throw DatabaseError(
                .damaged,
                "found a backup without a file \(FileName.manifest.text), expected one; nothing "
                    + "was changed. Name another directory", file: path)
        }
        if names.isEmpty { return }
        let found =
            files.contains(.incompleteMark)
            ? "a restore that did not finish"
            : files.contains(.manifest) ? "a database that is not a backup" : "other files"
        throw DatabaseError(
            .notFound,
            "found \(found), expected an earlier backup or an empty directory; nothing was "
                + "changed. Name another directory for the backup", file: path)
    }

    private static func checkTakesRestore(
        _ names: [String], _ path: String
    ) throws(DatabaseError) {
        let files = names.map { FileName($0) }
        let isUnfinished = files.contains(.incompleteMark) && !files.contains(.backupMark)
        guard !names.isEmpty, !isUnfinished else { return }
        throw DatabaseError(
            .notFound,
            "found \(files.contains(.manifest) ? "a database" : "files"), expected no directory "
                + "or an empty one; nothing was changed. Name another directory, or move this one",
            file: path)
    }

    private func mark(_ text: String) throws(DatabaseError) {
        let name = FileName.incompleteMark.text
        try calling("marking the target as unfinished") { () throws(FileError) in
            let file =
                try isMarked
                ? directory.open(name, writable: true) : directory.create(name)
            try CopyTarget.fill(file, text)
            try directory.sync()
        }
        isMarked = true
    }
}

// MARK: Files

extension CopyTarget {
    /// The folder of a file, which is created if missing.
    func folder(of name: FileName) throws(DatabaseError) -> any Directory {
        guard case .rejects = name else { return directory }
        if let rejectsFolder { return rejectsFolder }
        let folder = try calling("making the rejects folder") { () throws(FileError) in
            try directory.openDirectory(FileName.rejectsDirectory, create: true)
        }
        rejectsFolder = folder
        return folder
    }

    /// Creates a complete, durable and verified file, or none. Its name becomes durable when the
    /// copy is published.
    ///
    /// - Parameter check: verifies the file by reading it back.
    func write(
        _ name: FileName, _ fill: (any File) throws(DatabaseError) -> Void,
        check: () throws(DatabaseError) -> Void
    ) throws(DatabaseError) {
        let folder = try folder(of: name)
        let file = try calling("making a file of the copy") { () throws(FileError) in
            try folder.removeIfPresent(name.text)
            return try folder.create(name.text)
        }
        do throws(DatabaseError) {
            try fill(file)
            try calling("syncing a file of the copy") { () throws(FileError) in
                try file.syncData()
            }
            try check()
        } catch {
            // A file whose sync failed can look complete to the next copy, until a power loss.
            try? folder.remove(name.text)
            throw error
        }
    }

    /// A file of the target, open for reading; nil if it is missing.
    func existing(_ name: FileName) throws(DatabaseError) -> (any File)? {
        let folder = try folder(of: name)
        return try calling("reading the target") { () throws(FileError) in
            try folder.openIfPresent(name.text)
        }
    }

    /// Syncs a file that an unfinished copy may have left unsynced.
    func sync(_ name: FileName) throws(DatabaseError) {
        let folder = try folder(of: name)
        try calling("syncing a file of the copy") { () throws(FileError) in
            try folder.open(name.text, writable: true).syncData()
        }
    }
}

// MARK: Publishing

extension CopyTarget {
    /// Makes a manifest current after all its files were copied. Durable on return.
    func publish(_ manifest: Manifest) throws(DatabaseError) {
        try calling("syncing the target") { () throws(FileError) in
            // A repair of the earlier backup may have left a lock file, which names an older
            // manifest.
            try directory.removeIfPresent(FileName.lock.text)
            try rejectsFolder?.sync()
            try directory.sync()
        }
        try replaceLogs()
        let bytes = manifest.encoded()
        let isSame = draftedLogs.isEmpty && earlier?.encoded() == bytes
        if !isSame {
            try calling("writing the manifest of the copy") { () throws(FileError) in
                var manifest = manifest
                try manifest.write(in: directory)
            }
        }
        guard try Manifest.read(in: directory)?.encoded() == bytes else {
            throw DatabaseError(
                .io, "the manifest reads back differently from what was written; check the device",
                file: directory.path)
        }
    }

    /// Replaces logs by their longer copies. The earlier backup stays readable throughout: its
    /// manifest first allows the last log to have any length, then the log is replaced.
    private func replaceLogs() throws(DatabaseError) {
        guard var manifest = earlier, !draftedLogs.isEmpty else { return }
        for index in manifest.logs.indices
        where draftedLogs.contains(manifest.logs[index].number) {
            manifest.logs[index].sealedSizeBytes = nil
        }
        try calling("replacing a log of the backup") { () throws(FileError) in
            try manifest.write(in: directory)
            for number in draftedLogs {
                try directory.rename(
                    FileName.logDraft(number).text, to: FileName.log(number).text)
            }
            try directory.sync()
        }
    }

    /// Removes the files that the published manifest does not name, and with them all data that was
    /// deleted or forgotten since the earlier backup. Durable on return.
    ///
    /// - Returns: the number of removed files.
    func removeUnreferenced(_ manifest: Manifest) throws(DatabaseError) -> Int {
        let named = manifest.fileNames
        return try calling(
            "removing obsolete files (the copy is complete; the next one removes them)"
        ) { () throws(FileError) in
            let names = try directory.list()
            var count = try CopyTarget.removeUnreferenced(names, named, from: directory)
            if names.contains(FileName.rejectsDirectory) {
                let folder = try directory.openDirectory(
                    FileName.rejectsDirectory, create: false)
                count += try CopyTarget.removeUnreferenced(folder.list(), named, from: folder)
            }
            return count
        }
    }

    private static func removeUnreferenced(
        _ names: [String], _ named: Set<FileName>, from folder: any Directory
    ) throws(FileError) -> Int {
        var count = 0
        for name in names {
            switch FileName(name) {
            case .segment, .log, .rejects:
                if let file = FileName(name), named.contains(file) { continue }
                count += 1
            case .manifestDraft, .logDraft: break
            default: continue
            }
            try folder.remove(name)
        }
        // Syncs even if nothing was removed, since an earlier attempt may have stopped before its
        // sync.
        try folder.sync()
        return count
    }

    /// Writes the lock file of a restored database, which makes its manifest the acknowledged one.
    /// Durable on return.
    func writeLock() throws(DatabaseError) {
        guard let manifest = try Manifest.read(in: directory) else { return }
        let lock = try Recovery.takeLock(directory)
        let known = AcknowledgedState(
            databaseID: manifest.databaseID, generation: manifest.generation,
            manifestChecksum: manifest.fileChecksum, holder: "")
        let lockFile = LockFile(lock, known)
        try calling("writing the lock") { () throws(FileError) in
            try lockFile.open(holder: "a restore")
        }
        lockFile.seal()
    }

    /// Removes the mark. The directory is then a complete copy.
    func finish() throws(DatabaseError) {
        guard isMarked else { return }
        try calling("removing the marker file of the finished copy") { () throws(FileError) in
            try directory.remove(FileName.incompleteMark.text)
            try directory.sync()
        }
        isMarked = false
    }
}

extension Manifest.Segment {
    /// Whether both are the same file. The footer checksum covers the whole file.
    func isSameFile(as other: Manifest.Segment) -> Bool {
        number == other.number && sizeBytes == other.sizeBytes
            && footerChecksum == other.footerChecksum
    }
}
