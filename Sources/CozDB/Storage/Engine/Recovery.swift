// The steps of opening a database for writing. Their order makes a crash at any point safe.

internal import CozPlatform

enum Recovery {
    /// Opens a database for writing, or creates one in a missing or empty directory.
    ///
    /// 1. Open or create the directory, take the lock, and read the last acknowledged state.
    /// 2. Read the manifest and compare it with that state.
    /// 3. Open the segments and replay the logs. Everything that the manifest names must be intact.
    ///    Then write the lock file, and the first manifest if there is none.
    /// 4. Only then remove files that no manifest names, which a crash may have left behind.
    /// 5. Flush what the logs held, so that no log is ever appended to again.
    ///
    /// - Parameter isRestoring: whether a restore opens the directory before it is complete.
    /// - Throws: `locked`, with the holder; `notFound` if the directory holds something else;
    ///   `damaged` if a file that the manifest names is missing or not as it was written.
    static func open(
        _ path: String, on fileSystem: any FileSystem, options: DatabaseOptions,
        isRestoring: Bool = false
    ) throws(DatabaseError) -> Engine {
        let directory = try calling("opening the database") { () throws(FileError) in
            try fileSystem.openDirectory(
                path, create: options.createsDatabase, access: options.fileAccess)
        }
        let names = try directory.names()
        try DirectoryMark.checkIsWritable(names, path: path, isRestoring: isRestoring)
        try checkIsDatabase(names, in: directory, createsDatabase: options.createsDatabase)
        let hadLock = names.contains(FileName.lock.text)
        let lock = try takeLock(directory)
        let found = hadLock ? try AcknowledgedState.read(lock) : .nothing
        var manifest = try Manifest.read(in: directory)
        if let manifest {
            try found.check(manifest, in: directory)
            try checkRepair(manifest, found.state, in: directory)
        } else if found.knowsManifest {
            throw DirectoryMark.noManifest(names, found, path: path)
        }
        var segments = SegmentSet()
        var replay: LogReplay?
        if let manifest {
            segments.follow(manifest, in: directory)
            if let failure = segments.failures.min(by: { $0.key < $1.key }) {
                throw failure.value.asDamageIfMissing
            }
            do throws(DatabaseError) {
                replay = try LogReplay(manifest, acknowledged: found.state, in: directory)
            } catch {
                throw error.asDamageIfMissing
            }
        }
        let lockFile: LockFile
        do throws(DatabaseError) {
            lockFile = try begin(lock, found.state, &manifest, in: directory, on: fileSystem)
        } catch {
            guard let known = manifest, error.cause?.isOutOfSpace == true else { throw error }
            // If the manifest may not be durable, only files with numbers that it has not reached
            // may go.
            let isDurable = found.state?.isOf(known) == true
            let first = isDurable ? 0 : known.nextFileNumber
            guard try removeUnreferenced(directory, known, from: first) else { throw error }
            // Read again, since one of the records may have been overwritten.
            let left = try AcknowledgedState.read(lock).state
            lockFile = try begin(lock, left, &manifest, in: directory, on: fileSystem)
        }
        guard let manifest else { preconditionFailure("made where there was none") }
        _ = try removeUnreferenced(directory, manifest)
        if names.contains(FileName.repairMark.text) {
            // Later files must not be taken for those of the unfinished repair.
            try calling("removing the mark of a repair") { () throws(FileError) in
                try RepairMark.remove(in: directory)
            }
        }
        let engine = Engine(
            directory: directory, lockFile: lockFile, manifest: manifest, segments: segments,
            options: options)
        if let replay, !manifest.logs.isEmpty {
            try engine.recover(manifest, replay)
        }
        return engine
    }

    /// Writes the lock file durably with the state of the manifest, and a first manifest if there
    /// is none.
    ///
    /// The lock file must only name a manifest that is durable. A manifest that it does not name
    /// yet may not be, because of a crash between its rename and the sync of the directory. So that
    /// manifest is written again first.
    private static func begin(
        _ lock: any File, _ found: AcknowledgedState?, _ manifest: inout Manifest?,
        in directory: any Directory, on fileSystem: any FileSystem
    ) throws(DatabaseError) -> LockFile {
        if let manifest, found?.isOf(manifest) != true { try Manifest.writeAgain(in: directory) }
        if manifest == nil {
            // The name of the lock file may not be durable.
            try calling("making the database") { () throws(FileError) in try directory.sync() }
        }
        let started = Timestamp(nanoseconds: fileSystem.now()).description
        let holder = "process \(getpid()), since \(started)"
        let databaseID = manifest?.databaseID ?? fileSystem.makeIdentity()
        let lockFile = LockFile(
            lock,
            AcknowledgedState(
                serial: found?.serial ?? AcknowledgedState.serialBeforeFirst,
                databaseID: databaseID,
                generation: manifest?.generation ?? 0,
                manifestChecksum: manifest?.fileChecksum ?? 0, holder: holder))
        try calling("writing the lock") { () throws(FileError) in
            try lockFile.open(holder: holder)
        }
        if manifest != nil { return lockFile }
        let first = try calling("making the database") { () throws(FileError) in
            var first = Manifest(databaseID: databaseID)
            first.generation = 1
            try first.write(in: directory)
            return first
        }
        manifest = first
        lockFile.note(first)
        return lockFile
    }

    /// Checks that the directory is a database, or that one can be created: it is empty, or an
    /// earlier creation was interrupted.
    private static func checkIsDatabase(
        _ names: [String], in directory: any Directory, createsDatabase: Bool
    ) throws(DatabaseError) {
        if names.contains(FileName.manifest.text) { return }
        let isEmpty = names.allSatisfy { name in
            FileName(name) == .lock || FileName(name) == .manifestDraft
        }
        guard isEmpty, createsDatabase else {
            throw DirectoryMark.noManifest(
                names, try AcknowledgedState.read(in: directory), path: directory.path,
                advice: createsDatabase ? " and is not empty; name another directory" : "")
        }
    }

    /// Refuses a database whose repair adopts files that the manifest does not name, and did not
    /// finish: opening would remove them.
    private static func checkRepair(
        _ manifest: Manifest, _ acknowledged: AcknowledgedState?, in directory: any Directory
    ) throws(DatabaseError) {
        guard let mark = try RepairMark.read(in: directory), mark.adopts,
            mark.isValid(manifest, acknowledged)
        else { return }
        throw DatabaseError(
            .damaged,
            "a repair did not finish, and files that are newer than the manifest would be lost; "
                + "repair the database again", file: directory.path, remedy: .previewRepair)
    }

    static func takeLock(_ directory: any Directory) throws(DatabaseError) -> any File {
        let name = FileName.lock.text
        let lock = try calling("locking the database") { () throws(FileError) in
            try directory.lock(name)
        }
        if let lock { return lock }
        let known = (try? AcknowledgedState.read(in: directory))?.state?.holder ?? ""
        let holder = known.isEmpty ? "unknown" : known
        let isOwn = holder.hasBytePrefix("process \(getpid()),")
        throw DatabaseError(
            .locked,
            isOwn
                ? "another Database in this process (\(getpid())) is open for writing; share it, "
                    + "close it first, or open read-only"
                : "another process has this database open for writing (\(holder)); wait until it "
                    + "closes it, or open read-only", file: directory.path)
    }

    /// Removes files that a durable manifest does not name.
    ///
    /// - Parameter first: the lowest file number that may be removed.
    /// - Returns: whether it removed any.
    static func removeUnreferenced(
        _ directory: any Directory, _ manifest: Manifest, from first: UInt64 = 0
    ) throws(DatabaseError) -> Bool {
        let named = manifest.fileNames
        func isUnreferenced(_ name: String, inRejects: Bool) -> Bool {
            guard let file = FileName(name) else { return false }
            switch file {
            case .manifestDraft: return !inRejects
            case .segment(let number), .log(let number):
                return !inRejects && number >= first && !named.contains(file)
            case .rejects(let number):
                return inRejects && number >= first && !named.contains(file)
            default: return false
            }
        }
        do throws(FileError) {
            let names = try directory.list()
            let unreferenced = names.filter { isUnreferenced($0, inRejects: false) }
            try remove(unreferenced, from: directory)
            guard names.contains(FileName.rejectsDirectory) else { return !unreferenced.isEmpty }
            let folder = try directory.openDirectory(FileName.rejectsDirectory, create: false)
            let refused = try folder.list().filter { isUnreferenced($0, inRejects: true) }
            try remove(refused, from: folder)
            if manifest.rejects.isEmpty, try folder.list().isEmpty {
                // The folder's name may not be durable, and only creating it again syncs it.
                try directory.removeDirectory(FileName.rejectsDirectory)
                try directory.sync()
            }
            return !unreferenced.isEmpty || !refused.isEmpty
        } catch {
            guard error.code == EISDIR else {
                throw DatabaseError(error, while: "removing files of an interrupted write")
            }
            throw DatabaseError(
                .io,
                "found a folder with the name of a database file, expected a file; inspect it, "
                    + "then move it out of the database", file: error.path)
        }
    }

    private static func remove(
        _ names: [String], from folder: any Directory
    ) throws(FileError) {
        for name in names {
            // Another thread of an open database may have removed an obsolete file.
            try folder.removeIfPresent(name)
        }
        // Files may hold deleted data, so their removal must survive a power loss.
        if !names.isEmpty { try folder.sync() }
    }
}

extension Engine {
    /// Applies the replayed logs of the last session and flushes them to segments.
    func recover(_ manifest: Manifest, _ replay: LogReplay) throws(DatabaseError) {
        state.withLock { state in
            state.schemas = replay.schemas
            state.stagedSchemas = replay.schemas
            state.committedSequence = replay.lastSequence
            state.commits = CommitQueue(lastSequence: replay.lastSequence)
        }
        let commits = replay.lastSequence &- manifest.lastSequence
        options.onEvent?(
            .recovered(
                commits: Int(truncatingIfNeeded: commits), discardedBytes: replay.tornBytes))
        try install(replay.memtable, schemas: replay.schemas, keeping: nil)
    }
}
