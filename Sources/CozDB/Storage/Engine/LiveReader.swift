// Reading a database that another process may be writing: no lock, nothing written.

internal import Synchronization

/// A database open for reading only.
final class LiveReader: Sendable {
    let directory: any Directory
    private let segments = Mutex(SegmentSet())
    /// The manifest read last, with its file: most queries find that it is the manifest still.
    /// While it is open no other file can be taken for it.
    private let lastManifest = Mutex<(manifest: Manifest, file: any File)?>(nil)

    /// The snapshot of a manifest without logs: nothing is committed until it is replaced.
    private let lastSnapshot = Mutex<(generation: UInt64, snapshot: Snapshot)?>(nil)

    /// Every retry means that the writer replaced the manifest in between.
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
            let names = try calling("listing the database") { () throws(FileError) in
                try directory.list()
            }
            throw DirectoryMark.noManifest(
                names, try AcknowledgedState.read(in: directory), path: directory.path)
        }
        lastManifest.withLock { $0 = read }
        return read.manifest
    }

    /// Everything committed: at least what was acknowledged when the call began.
    func snapshot() throws(DatabaseError) -> Snapshot {
        let manifest = try manifest()
        let known = lastSnapshot.withLock {
            $0?.generation == manifest.generation ? $0?.snapshot : nil
        }
        if let known { return known }
        let (generation, hasLogs, snapshot) = try read { manifest, segments, replay in
            let snapshot = segments.snapshot(
                manifest, schemas: replay.schemas, memtables: [replay.memtable],
                sequence: replay.lastSequence)
            return (manifest.generation, !manifest.logs.isEmpty, snapshot)
        }
        lastSnapshot.withLock { $0 = hasLogs ? nil : (generation, snapshot) }
        return snapshot
    }

    /// Calls the body with a manifest, its open segments and its logs.
    ///
    /// Segments and the commits in those logs are a moment of the database, also where the writer
    /// has replaced the manifest meanwhile: later commits are in other logs. So reading starts
    /// again only where a file was gone before it could be opened; what is open stays open for the
    /// next attempt, however short the sessions of writers are.
    func read<Result>(
        _ body: (Manifest, SegmentSet, LogReplay) throws(DatabaseError) -> Result
    ) throws(DatabaseError) -> Result {
        // What was met under one manifest: of two damaged files now the one shows, now the other.
        var seen: Set<String> = []
        for _ in 0..<LiveReader.attemptCountMax {
            let manifest = try manifest()
            do throws(DatabaseError) {
                // After the manifest: where it is newer, so is the manifest by now.
                let found = try AcknowledgedState.read(in: directory)
                try found.check(manifest, in: directory)
                var open = segments.withLock { $0 }
                open.follow(manifest, in: directory)
                segments.withLock { $0 = open }
                // First it may mean that there is a newer manifest; then it is what it says.
                if let failure = open.failures.min(by: { $0.key < $1.key })?.value,
                    !seen.contains(LiveReader.name(of: failure))
                {
                    throw failure
                }
                let replay = try LogReplay(manifest, acknowledged: found.state, in: directory)
                return try body(manifest, open, replay)
            } catch {
                // A file that is gone, or a log that was being written, under a newer manifest.
                let isSame = try self.manifest().generation == manifest.generation
                if !isSame { seen = [] }
                guard seen.insert(LiveReader.name(of: error)).inserted else {
                    throw error.asDamageIfMissing
                }
            }
        }
        throw DatabaseError(
            .io, "files are removed faster than they can be opened; try again",
            file: directory.path)
    }

    /// Tells problems apart.
    private static func name(of problem: DatabaseError) -> String {
        "\(problem.message) \(problem.file ?? "") \(problem.offset ?? -1)"
    }
}
