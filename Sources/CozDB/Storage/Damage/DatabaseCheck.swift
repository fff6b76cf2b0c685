// Verifies all files of a database and reports what is damaged and what is lost by it.

/// Verifies everything that a manifest names. Changes nothing.
struct DatabaseCheck {
    private(set) var findings: [CheckFinding] = []
    private(set) var summary = CheckSummary()
    private let directory: any Directory
    private let decodes: Bool
    /// The last acknowledged state; nil if the lock file has none.
    private var acknowledged: AcknowledgedState?
    /// Whether the lock file names a newer or a different manifest.
    private var isManifestSuspect = false

    /// - Parameter decodes: whether times and values are decoded, in addition to their checksums.
    init(_ directory: any Directory, decodes: Bool) {
        self.directory = directory
        self.decodes = decodes
    }

    /// Runs the check.
    ///
    /// - Returns: the generation of the manifest; nil if the manifest cannot be read.
    /// - Throws: `notFound` if there is no database; `io` if the system refuses to read it.
    mutating func run() throws(DatabaseError) -> UInt64? {
        let names = try directory.names()
        summary.isBackup = DirectoryMark.isBackup(names)
        let manifest: Manifest
        do throws(DatabaseError) {
            guard let read = try Manifest.read(in: directory) else {
                let lock = try checkIsDatabase(names)
                add(
                    FileName.manifest.text, nil, "the manifest is missing",
                    DirectoryMark.hasData(names, lock) ? DatabaseCheck.lostAll : "everything")
                return nil
            }
            manifest = read
        } catch {
            if error.kind == .notFound || error.isRefusal { throw error }
            add(FileName.manifest.text, error.offset, error.message, DatabaseCheck.lostAll)
            return nil
        }
        count(FileName.manifest.text)
        try checkManifest(manifest)
        try checkSegments(manifest)
        try checkLogs(manifest)
        try checkRejects(manifest)
        try checkNames(manifest)
        return manifest.generation
    }

    /// What is lost if the manifest is lost.
    private static let lostAll =
        "everything, until it is put back or a repair rebuilds it from the other files"

    private func checkIsDatabase(
        _ names: [String]
    ) throws(DatabaseError) -> AcknowledgedState.Found {
        let known = names.compactMap { FileName($0) }
        let lock = try AcknowledgedState.read(in: directory)
        let isBegun = known.allSatisfy { $0 == .lock || $0 == .manifestDraft }
        guard lock.knowsManifest || !isBegun else {
            throw DirectoryMark.noManifest(names, lock, path: directory.path)
        }
        return lock
    }

    // MARK: Counts and findings

    private mutating func add(
        _ file: String, _ offset: Int?, _ found: String, _ lost: String,
        severity: CheckFinding.Severity = .damage
    ) {
        if severity == .damage { summary.damaged += 1 }
        findings.append(
            CheckFinding(severity: severity, file: file, offset: offset, found: found, lost: lost))
    }

    /// Without a size, asks the file. One that cannot be opened is reported when it is read.
    private mutating func count(_ name: String, _ sizeBytes: Int? = nil) {
        summary.files += 1
        summary.bytes += sizeBytes ?? (try? directory.open(name, writable: false).size()) ?? 0
    }

    // MARK: The manifest

    /// Checks that the manifest is the newest one.
    private mutating func checkManifest(_ manifest: Manifest) throws(DatabaseError) {
        do throws(DatabaseError) {
            let check = try LockCheck(manifest, in: directory)
            acknowledged = check.found.state
            if case .nothing = check.found {
            } else {
                count(FileName.lock.text)
            }
            guard let (name, error) = check.problem else {
                guard check.hasTornRecord else { return }
                return add(
                    FileName.lock.text, nil,
                    "one of the two records is incomplete; the next writer replaces it",
                    "nothing: the other record is intact", severity: .note)
            }
            isManifestSuspect = name == .manifest
            add(name.text, error.offset, error.message, DatabaseCheck.lost(name))
        } catch {
            if error.isRefusal { throw error }
            add(FileName.lock.text, error.offset, error.message, DatabaseCheck.lost(.lock))
        }
    }

    /// What is lost if the lock file and the manifest disagree.
    static func lost(_ name: FileName) -> String {
        name == .lock
            ? "only the proof that no file was replaced by an older one"
            : "everything stored after this manifest, unless another file has it"
    }

    // MARK: Segments

    private mutating func checkSegments(_ manifest: Manifest) throws(DatabaseError) {
        let segments = manifest.segments
        // Does not keep the examinations, because they keep their files open.
        typealias Examined = (sizeBytes: Int, blockCount: Int, problems: [SegmentCheck.Problem])
        let results = Monitor<[Int: Result<Examined, DatabaseError>]>([:])
        let (directory, decodes) = (directory, decodes)
        Cores.perform(iterations: segments.count) { index in
            let result = Result { () throws(DatabaseError) -> Examined in
                let examination = try SegmentExamination(
                    segments[index], of: manifest, in: directory, decodes: decodes)
                return (examination.sizeBytes, examination.blockCount, examination.problems)
            }
            results.withLock { $0[index] = result }
        }
        for index in segments.indices {
            let name = FileName.segment(segments[index].number).text
            switch results.withLock({ $0[index] }) {
            case .success(let examination):
                count(name, examination.sizeBytes)
                summary.blocks += examination.blockCount
                for problem in examination.problems {
                    add(name, problem.offset, problem.text.found, problem.text.lost)
                }
            case .failure(let error):
                if error.isRefusal { throw error }
                count(name)
                add(name, error.offset, error.message, manifest.lost(segments[index]))
            case nil: break
            }
        }
    }

    // MARK: Logs

    private mutating func checkLogs(_ manifest: Manifest) throws(DatabaseError) {
        for log in manifest.logs {
            let name = FileName.log(log.number).text
            count(name)
            do throws(DatabaseError) {
                let replay = try DatabaseCheck.read(log, of: manifest, acknowledged, in: directory)
                let first = max(log.firstSequence, 1) - 1
                summary.records += Int(replay.lastSequence - min(first, replay.lastSequence))
                if replay.tornBytes > 0 {
                    add(
                        name, nil,
                        "an unfinished commit at the end; the next writer discards it",
                        "nothing that was acknowledged", severity: .note)
                }
                if let stray = try DatabaseCheck.stray(in: log, replay, directory) {
                    add(name, stray.offset, stray.message, "nothing")
                }
            } catch {
                if error.isRefusal { throw error }
                let error = error.asDamageIfMissing
                add(
                    name, error.offset, error.message,
                    "commits of this log from this offset on, in unknown experiments; all commits "
                        + "before it are intact")
            }
        }
    }

    /// Reads a log until it is intact or fails twice in the same way, since a writer may be
    /// changing it.
    static func read(
        _ log: Manifest.Log, of manifest: Manifest, _ acknowledged: AcknowledgedState?,
        in directory: any Directory
    ) throws(DatabaseError) -> LogReplay {
        var one = manifest
        one.logs = [log]
        var problem: DatabaseError?
        while true {
            do throws(DatabaseError) {
                return try LogReplay(one, acknowledged: acknowledged, in: directory)
            } catch {
                let wasSeen = problem?.message == error.message && problem?.offset == error.offset
                if wasSeen || error.isRefusal { throw error }
                problem = error
            }
        }
    }

    /// A nonzero byte between the frames of a log or after the end of a complete one, as an error;
    /// nil if there is none. It affects no commit.
    ///
    /// - Throws: `io` if the system refuses to read the file.
    static func stray(
        in log: Manifest.Log, _ replay: LogReplay, _ directory: any Directory
    ) throws(DatabaseError) -> DatabaseError? {
        let name = FileName.log(log.number).text
        let pieceSizeBytes = 1 << 20
        var offset = replay.strayOffset
        if offset == nil, let sealed = log.sealedSizeBytes {
            offset = try calling("reading the write-ahead log") { () throws(FileError) -> Int? in
                let file = try directory.open(name, writable: false)
                let size = try file.size()
                for start in stride(from: sealed, to: size, by: pieceSizeBytes) {
                    let count = min(pieceSizeBytes, size - start)
                    let bytes = try file.readAll(count: count, at: start)
                    if let index = bytes.firstIndex(where: { $0 != 0 }) { return start + index }
                }
                return nil
            }
        }
        return offset.map {
            DatabaseError(
                .damaged,
                "found other bytes than zeros between the commits of the log or after its end",
                file: directory.path + "/" + name, offset: $0)
        }
    }

    // MARK: Rejects

    private mutating func checkRejects(_ manifest: Manifest) throws(DatabaseError) {
        for info in manifest.rejects {
            let name = FileName.rejects(info.number).text
            let path = FileName.rejectsDirectory + "/" + name
            do throws(DatabaseError) {
                let entries = try RejectsFile.read(
                    info, under: directory, databaseID: manifest.databaseID)
                summary.records += entries.count
                count(path, info.sizeBytes)
            } catch {
                count(path, 0)
                if error.isRefusal { throw error }
                let error = error.asDamageIfMissing
                add(path, error.offset, error.message, DatabaseCheck.lost(info))
            }
        }
    }

    /// What is lost with a rejects file.
    static func lost(_ info: Manifest.RejectsFile) -> String {
        (info.entryCount == 1 ? "1 entry" : "\(info.entryCount) entries")
            + " of the rejects journal: refused lines and values, and marks of replayed ones"
    }

    // MARK: Names

    /// Notes an entry that the manifest does not name. If it has the name of a database file but is
    /// a folder, it blocks every writer.
    ///
    /// - Parameters:
    ///   - path: the path in the database, if it is not the name.
    ///   - found: the note on a file; nil for none.
    private mutating func noteUnreferenced(
        _ name: String, in folder: any Directory, path: String? = nil, _ found: String?
    ) {
        var found = found
        do throws(FileError) {
            _ = try folder.open(name, writable: false)
        } catch {
            if error.isWrongFileType {
                found =
                    "this is not a regular file, which prevents writing to the database; remove it"
            }
        }
        if let found { add(path ?? name, nil, found, "nothing", severity: .note) }
    }

    private mutating func checkNames(_ manifest: Manifest) throws(DatabaseError) {
        let named = manifest.fileNames
        let unreferenced =
            "a file that the manifest does not name; "
            + (isManifestSuspect
                ? "it may be newer than the manifest; a repair adopts it"
                : "the next writer removes it")
        let foreign = "not a file of the database"
        let names = try directory.names()
        for name in names where !FileName.directories.contains(name) {
            let file = FileName(name)
            if let file, named.contains(file) { continue }
            switch file {
            case .segment, .log: noteUnreferenced(name, in: directory, unreferenced)
            case .manifestDraft: noteUnreferenced(name, in: directory, nil)
            case .repairMark:
                let found =
                    "the mark of a repair that did not finish; the next repair removes it"
                add(name, nil, found, "nothing", severity: .note)
            case nil: add(name, nil, foreign, "nothing", severity: .note)
            default: break
            }
        }
        guard names.contains(FileName.rejectsDirectory) else { return }
        let folder: any Directory
        let refused: [String]
        do throws(FileError) {
            folder = try directory.openDirectory(FileName.rejectsDirectory, create: false)
            refused = try folder.list()
        } catch {
            guard error.isWrongFileType else {
                throw DatabaseError(error, while: "listing the rejects journal")
            }
            add(
                FileName.rejectsDirectory, nil,
                "found something other than a folder, expected a folder; put the folder back, or "
                    + "remove this",
                "nothing beyond the losses reported above")
            return
        }
        for name in refused {
            let path = FileName.rejectsDirectory + "/" + name
            switch FileName(name) {
            case .rejects(let number):
                if named.contains(.rejects(number)) { continue }
                noteUnreferenced(name, in: folder, path: path, unreferenced)
            default: add(path, nil, foreign, "nothing", severity: .note)
            }
        }
    }
}
