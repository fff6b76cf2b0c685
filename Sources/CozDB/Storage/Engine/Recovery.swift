// What opening for writing does, step by step; the order is what makes a crash at any point safe.

internal import Glibc

enum Recovery {
    /// Opens a database for writing, or makes one in an absent or empty directory.
    ///
    /// 1. Open (make) the directory, take the lock.
    /// 2. Read the manifest; without one, write the first.
    /// 3. Remove files that no manifest names: left by a crash between making and naming them.
    /// 4. Open the segments, replay the logs.
    /// 5. Write what the logs held to segments, so that no log is ever appended to again.
    ///
    /// - Throws: `locked` with the holder, `notFound` where the directory holds something else,
    ///   `damaged` where what the manifest names is not there as it was written.
    static func open(
        _ path: String, on fileSystem: any FileSystem, options: DatabaseOptions
    ) throws(DatabaseError) -> Engine {
        let directory = try calling("opening the database") { () throws(FileError) in
            try fileSystem.openDirectory(
                path, create: options.createsDatabase, access: options.fileAccess)
        }
        let names = try calling("listing the database") { () throws(FileError) in
            try directory.list()
        }
        try checkIsDatabase(names, path: path, createsDatabase: options.createsDatabase)
        let lock = try takeLock(directory)
        let manifest = try readOrMakeManifest(directory)
        try removeUnnamed(directory, manifest)
        var segments = SegmentSet()
        try segments.follow(manifest, in: directory)
        let engine = Engine(
            directory: directory, lockFile: lock, manifest: manifest, segments: segments,
            options: options)
        if !manifest.logs.isEmpty { try engine.recover(manifest) }
        return engine
    }

    /// An empty directory will do, or one in which an earlier attempt to make a database ended.
    private static func checkIsDatabase(
        _ names: [String], path: String, createsDatabase: Bool
    ) throws(DatabaseError) {
        if names.contains(FileName.manifest.text) { return }
        let isEmpty = names.allSatisfy { name in
            FileName(name) == .lock || FileName(name) == .manifestDraft
        }
        guard isEmpty, createsDatabase else {
            throw DatabaseError(
                .notFound,
                "not a CozDB database: it has no file \(FileName.manifest.text)"
                    + (createsDatabase ? " and is not empty; name another directory" : ""),
                file: path)
        }
    }

    private static func takeLock(_ directory: any Directory) throws(DatabaseError) -> any File {
        let name = FileName.lock.text
        let lock = try calling("locking the database") { () throws(FileError) in
            try directory.lock(name)
        }
        guard let lock else {
            let holder = try? directory.open(name, writable: false).readAll(count: 200, at: 0)
            let text = String(decoding: holder ?? [], as: UTF8.self)
            throw DatabaseError(
                .locked,
                "another process writes to this database (\(text.isEmpty ? "unknown" : text)); "
                    + "wait until it ends, or open read-only", file: directory.path)
        }
        let started = Timestamp(nanoseconds: now()).description
        let holder = Array("process \(getpid()), since \(started)".utf8)
        // Only a help for others: a full disk must not keep the owner out.
        try? lock.truncate(to: 0)
        try? lock.writeAll(holder.span, at: 0)
        return lock
    }

    static func now() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    private static func readOrMakeManifest(
        _ directory: any Directory
    ) throws(DatabaseError) -> Manifest {
        if let manifest = try Manifest.read(in: directory) { return manifest }
        var manifest = Manifest(databaseID: UInt64.random(in: 1...UInt64.max))
        manifest.generation = 1
        let first = manifest
        try calling("making the database") { () throws(FileError) in
            try first.write(in: directory)
        }
        return manifest
    }

    static func removeUnnamed(
        _ directory: any Directory, _ manifest: Manifest
    ) throws(DatabaseError) {
        let segments = Set(manifest.segments.map(\.number))
        let logs = Set(manifest.logs.map(\.number))
        let rejects = Set(manifest.rejects.map(\.number))
        try calling("removing files of an interrupted write") { () throws(FileError) in
            var names = try directory.list()
            for name in names {
                switch FileName(name) {
                case .segment(let number) where !segments.contains(number),
                    .log(let number) where !logs.contains(number):
                    try directory.remove(name)
                case .manifestDraft: try directory.remove(name)
                default: break
                }
            }
            guard names.contains(FileName.rejectsDirectory) else { return }
            let folder = try directory.openDirectory(FileName.rejectsDirectory, create: false)
            names = try folder.list()
            for name in names {
                if case .rejects(let number) = FileName(name), !rejects.contains(number) {
                    try folder.remove(name)
                }
            }
        }
    }
}

extension Engine {
    /// Replays the logs of the last session and writes what they held to segments.
    func recover(_ manifest: Manifest) throws(DatabaseError) {
        let replay = try LogReplay(manifest, in: directory)
        state.withLock { state in
            // Numbers that the crashed session gave to files no manifest names may be given again.
            state.schemas = replay.schemas
            state.stagedSchemas = replay.schemas
            state.durableSequence = replay.lastSequence
            state.queuedSequence = replay.lastSequence
        }
        let commits = replay.lastSequence - manifest.lastSequence
        options.log?(
            "recovered \(commits) commits from the log"
                + (replay.tornBytes > 0 ? "; an unfinished one was cut off" : ""))
        try install(replay.memtable, schemas: replay.schemas, keeping: nil) { _ in }
    }
}
