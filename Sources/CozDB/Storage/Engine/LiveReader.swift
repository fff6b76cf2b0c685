// Reads a database that another process may be writing, without a lock and without writing.

/// A database that is open for reading only.
final class LiveReader: Sendable {
    let directory: any Directory
    private let segments = Monitor(SegmentSet())
    /// The last manifest and its open file. Most queries find that it is still current. While the
    /// file is open, its inode cannot be reused.
    private let lastManifest = Monitor<(manifest: Manifest, file: any File)?>(nil)

    /// The snapshot of a manifest without logs. It stays valid until the manifest is replaced.
    private let lastSnapshot = Monitor<(generation: UInt64, snapshot: Snapshot)?>(nil)

    /// Each retry means that the writer has replaced the manifest.
    private static let attemptCountMax = 1000

    convenience init(_ path: String, on fileSystem: any FileSystem) throws(DatabaseError) {
        let opened = try calling("opening the database") { () throws(FileError) in
            try fileSystem.openDirectory(path, create: false, access: .ownerOnly)
        }
        try self.init(opened)
    }

    init(_ directory: any Directory) throws(DatabaseError) {
        self.directory = directory
        try DirectoryMark.checkIsComplete(directory)
        _ = try manifest()
    }

    func manifest() throws(DatabaseError) -> Manifest {
        let known = lastManifest.withLock { $0 }
        if let known, directory.isUnchanged(FileName.manifest.text, since: known.file) {
            return known.manifest
        }
        guard let read = try Manifest.readOpen(in: directory) else {
            let names = try directory.names()
            throw DirectoryMark.noManifest(
                names, try AcknowledgedState.read(in: directory), path: directory.path)
        }
        lastManifest.withLock { $0 = read }
        return read.manifest
    }

    /// What the writer changes with each commit: the manifest, and the durable log.
    struct Position: Equatable, Sendable {
        var generation: UInt64
        var logNumber: UInt64?
        var logSizeBytes: UInt64?
    }

    func position() throws(DatabaseError) -> Position {
        let acknowledged = try AcknowledgedState.read(in: directory).state
        return Position(
            generation: try manifest().generation, logNumber: acknowledged?.logNumber,
            logSizeBytes: acknowledged?.logSizeBytes)
    }

    /// A snapshot of everything that was acknowledged when the call began, or of a newer state.
    func snapshot() throws(DatabaseError) -> Snapshot {
        let manifest = try manifest()
        let known = lastSnapshot.withLock {
            $0?.generation == manifest.generation ? $0?.snapshot : nil
        }
        if let known { return known }
        let (generation, isFinal, snapshot) = try read { manifest, segments, replay in
            let snapshot = segments.snapshot(
                manifest, schemas: replay.schemas, memtables: [replay.memtable],
                sequence: replay.lastSequence)
            // A segment that cannot be opened now may be later, for example with more memory.
            let isFinal = manifest.logs.isEmpty && segments.failures.isEmpty
            return (manifest.generation, isFinal, snapshot)
        }
        lastSnapshot.withLock { $0 = isFinal ? (generation, snapshot) : nil }
        return snapshot
    }

    /// Calls the body with a manifest, its open segments and its replayed logs.
    ///
    /// The segments and logs of one manifest are a consistent state even after the writer has
    /// replaced the manifest, because later commits are in other logs. Reading restarts only if a
    /// file was removed before it could be opened. Open files stay open for the next attempt, so
    /// each attempt opens fewer.
    func read<Result>(
        _ body: (Manifest, SegmentSet, LogReplay) throws(DatabaseError) -> Result
    ) throws(DatabaseError) -> Result {
        // Problems seen under the current manifest. With two damaged files, either may be reported.
        var seen: Set<String> = []
        for _ in 0..<LiveReader.attemptCountMax {
            let manifest = try manifest()
            do throws(DatabaseError) {
                // Read after the manifest: if it is newer, the manifest on disk is newer too.
                let found = try AcknowledgedState.read(in: directory)
                try found.check(manifest, in: directory)
                var open = segments.withLock { $0 }
                open.follow(manifest, in: directory)
                segments.withLock { $0 = open }
                // The first time, it may mean that the manifest was replaced; the second time, it
                // is damage.
                if let failure = open.failures.min(by: { $0.key < $1.key })?.value,
                    !seen.contains(LiveReader.name(of: failure))
                {
                    throw failure
                }
                let replay = try LogReplay(manifest, acknowledged: found.state, in: directory)
                return try body(manifest, open, replay)
            } catch {
                // A file was removed, or a log was being written, and the manifest may be newer
                // now.
                let isSame = try self.manifest().generation == manifest.generation
                if !isSame { seen = [] }
                guard seen.insert(LiveReader.name(of: error)).inserted else {
                    throw error.asDamageIfMissing
                }
            }
        }
        throw DatabaseError(
            .io, "the database changed too often while it was being opened; try again",
            file: directory.path)
    }

    /// Identifies a problem.
    private static func name(of problem: DatabaseError) -> String {
        "\(problem.message) \(problem.file ?? "") \(problem.offset ?? -1)"
    }
}
