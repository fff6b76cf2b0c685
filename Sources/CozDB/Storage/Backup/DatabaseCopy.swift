// Copies the state of a database at one moment to another directory and verifies every byte. It
// only reads the source, without a lock, so the source may be written meanwhile; docs/backup.md.

/// One backup or restore.
final class DatabaseCopy {
    private let reader: LiveReader
    private let source: any Directory
    private let target: CopyTarget
    private let isCancelled: (@Sendable () -> Bool)?
    private let verifiesReused: Bool
    private(set) var report = BackupReport()
    /// Immutable files that are already copied, durable and verified.
    private var verifiedFiles: Set<FileName> = []
    /// Whether the current failure came from the source.
    private var hasSourceFailed = false

    private static let chunkSizeBytes = 4 << 20
    /// Each attempt continues the one before. The source changed in between.
    private static let attemptCountMax = 1000

    init(
        from reader: LiveReader, to target: CopyTarget, verifiesReused: Bool,
        isCancelled: (@Sendable () -> Bool)?
    ) {
        self.reader = reader
        source = reader.directory
        self.target = target
        self.verifiesReused = verifiesReused
        self.isCancelled = isCancelled
        report.isIncremental = target.earlier != nil
    }

    /// Copies everything that was acknowledged when the call began, or a newer state, and publishes
    /// it in the target. The caller removes the mark.
    ///
    /// - Parameter branch: id of the branch that begins with a restore; nil for a backup.
    func run(branch: UInt64? = nil) throws(DatabaseError) {
        var manifest = try copyState()
        if let branch {
            if manifest.branches.count >= Manifest.branchCountMax {
                manifest.branches.removeFirst()
            }
            manifest.branches.append(
                Manifest.Branch(
                    id: branch, generation: manifest.generation, sequence: report.lastCommit))
        }
        try target.publish(manifest)
        report.copiedFiles += 1
        report.copiedBytes += manifest.encoded().count
        report.removedFiles = try target.removeUnreferenced(manifest)
    }

    /// Copies all files of one moment of the source.
    ///
    /// - Returns: the manifest that names them, with complete logs.
    private func copyState() throws(DatabaseError) -> Manifest {
        var problem: DatabaseError?
        for _ in 0..<DatabaseCopy.attemptCountMax {
            // Replays the logs like every reader does. A log that it would refuse is not copied.
            let manifest = try reader.read { manifest, _, _ in manifest }
            do throws(DatabaseError) {
                let copied = try copyFiles(of: manifest)
                // If participants were forgotten meanwhile, copies again without their data.
                let isCurrent = try reader.manifest().forgotten == manifest.forgotten
                if isCurrent { return copied }
                target.draftedLogs = []
            } catch {
                // A failure in the target is not retried, since its content is unknown.
                guard hasSourceFailed else { throw error }
                // A file was removed, or a log was being written, and the manifest may be newer
                // now.
                let isSame = try reader.manifest().generation == manifest.generation
                let wasSeen = problem?.message == error.message && problem?.offset == error.offset
                if isSame, wasSeen { throw error.asDamageIfMissing }
                problem = error
                hasSourceFailed = false
                target.draftedLogs = []
            }
        }
        throw problem
            ?? DatabaseError(
                .io, "the database changed too often while it was being copied; try again",
                file: source.path)
    }

    private func copyFiles(of manifest: Manifest) throws(DatabaseError) -> Manifest {
        try target.checkPrecedes(manifest)
        var copied = manifest
        report.lastCommit = manifest.lastSequence
        // Logs first, because a flush may remove them.
        for index in manifest.logs.indices {
            copied.logs[index].sealedSizeBytes = try copyLog(
                manifest.logs[index], databaseID: manifest.databaseID)
        }
        for info in manifest.rejects where !verifiedFiles.contains(.rejects(info.number)) {
            try copyRejects(info, databaseID: manifest.databaseID)
            verifiedFiles.insert(.rejects(info.number))
        }
        for info in manifest.segments where !verifiedFiles.contains(.segment(info.number)) {
            try copySegment(info, of: manifest)
            verifiedFiles.insert(.segment(info.number))
        }
        return copied
    }

    private func note(_ sizeBytes: Int, isCopied: Bool) {
        if isCopied {
            report.copiedFiles += 1
            report.copiedBytes += sizeBytes
        } else {
            report.reusedFiles += 1
            report.reusedBytes += sizeBytes
        }
    }

    // MARK: Segments and rejects

    private func copySegment(
        _ info: Manifest.Segment, of manifest: Manifest
    ) throws(DatabaseError) {
        let name = FileName.segment(info.number)
        if try hasSegment(info, of: manifest) {
            return note(info.sizeBytes, isCopied: false)
        }
        // Verifies that the file is the one in the manifest before it is copied.
        try reading { () throws(DatabaseError) in
            _ = try SegmentReader(
                in: source, info, databaseID: manifest.databaseID, access: .copied)
        }
        try copyFile(name, in: source, sizeBytes: info.sizeBytes) { () throws(DatabaseError) in
            let folder = target.directory
            guard try DatabaseCopy.damage(info, of: manifest, in: folder) != nil else { return }
            let damage = try reading { () throws(DatabaseError) in
                try DatabaseCopy.damage(info, of: manifest, in: source)
            }
            if let damage {
                hasSourceFailed = true
                throw damage
            }
            throw copyMismatch(of: folder.path + "/" + name.text)
        }
        note(info.sizeBytes, isCopied: true)
    }

    /// Whether the target has an intact copy of a segment.
    private func hasSegment(
        _ info: Manifest.Segment, of manifest: Manifest
    ) throws(DatabaseError) -> Bool {
        let name = FileName.segment(info.number)
        guard try target.existing(name) != nil else { return false }
        let isNamed = target.earlier?.segments.contains { $0.isSameFile(as: info) } ?? false
        if isNamed, !verifiesReused {
            let copy = try unlessDamaged { () throws(DatabaseError) in
                try SegmentReader(
                    in: target.directory, info, databaseID: manifest.databaseID, access: .copied)
            }
            return copy != nil
        }
        try checkCancelled()
        guard try DatabaseCopy.damage(info, of: manifest, in: target.directory) == nil else {
            return false
        }
        try target.sync(name)
        return true
    }

    private func copyRejects(
        _ info: Manifest.RejectsFile, databaseID: UInt64
    ) throws(DatabaseError) {
        let name = FileName.rejects(info.number)
        if try target.existing(name) != nil {
            let entries = try unlessDamaged { () throws(DatabaseError) in
                try RejectsFile.read(info, under: target.directory, databaseID: databaseID)
            }
            if entries != nil {
                try target.sync(name)
                return note(info.sizeBytes, isCopied: false)
            }
        }
        let folder = try reading { () throws(DatabaseError) in
            _ = try RejectsFile.read(info, under: source, databaseID: databaseID)
            return try calling("opening the rejects journal") { () throws(FileError) in
                try source.openDirectory(FileName.rejectsDirectory, create: false)
            }
        }
        try copyFile(name, in: folder, sizeBytes: info.sizeBytes) { () throws(DatabaseError) in
            do throws(DatabaseError) {
                _ = try RejectsFile.read(info, under: target.directory, databaseID: databaseID)
            } catch {
                throw error.kind == .damaged ? copyMismatch(of: error.file ?? name.text) : error
            }
        }
        note(info.sizeBytes, isCopied: true)
    }

    /// The result of reading a file of the target; nil if the file is damaged. I/O errors are
    /// thrown.
    private func unlessDamaged<Result>(
        _ body: () throws(DatabaseError) -> Result
    ) throws(DatabaseError) -> Result? {
        do throws(DatabaseError) {
            return try body()
        } catch {
            guard error.kind == .io else { return nil }
            throw error
        }
    }

    /// The first problem of a segment, as `check` reports it; nil if it is intact.
    private static func damage(
        _ info: Manifest.Segment, of manifest: Manifest, in folder: any Directory
    ) throws(DatabaseError) -> DatabaseError? {
        let found = try SegmentExamination(info, of: manifest, in: folder, decodes: false)
        guard let problem = found.problems.first else { return nil }
        return DatabaseError(
            .damaged,
            "\(problem.text.message). An earlier backup is unchanged; check the database for all "
                + "damage",
            file: folder.path + "/" + FileName.segment(info.number).text, offset: problem.offset,
            remedy: .check)
    }

    private func copyMismatch(of path: String) -> DatabaseError {
        DatabaseError(
            .io,
            "the copy reads back differently, although the source is intact; check the device of "
                + "the target and try again", file: path)
    }

    // MARK: Logs

    /// Copies a log up to its last whole commit.
    ///
    /// - Returns: the size of the copy, which is a complete log.
    private func copyLog(_ log: Manifest.Log, databaseID: UInt64) throws(DatabaseError) -> Int {
        let name = FileName.log(log.number)
        let (file, size, lastCommit) = try reading { () throws(DatabaseError) in
            let file = try calling("opening the write-ahead log") { () throws(FileError) in
                try source.open(name.text, writable: false)
            }
            let (size, last) = try DatabaseCopy.walk(file, log, databaseID, log.sealedSizeBytes)
            return (file, size, last)
        }
        report.lastCommit = max(report.lastCommit, lastCommit)
        let isNamed = target.earlier?.logs.contains { $0.number == log.number } ?? false
        if isNamed, let copy = try target.existing(name) {
            let copySize = try calling("reading the target") { () throws(FileError) in
                try copy.size()
            }
            if try isPrefix(copy, copySize, of: file, size) {
                if copySize == size {
                    try target.sync(name)
                    note(size, isCopied: false)
                    return size
                }
            } else if (try? DatabaseCopy.walk(copy, log, databaseID, copySize)) != nil {
                throw target.otherLine()
            }
        }
        let written = isNamed ? FileName.logDraft(log.number) : name
        try copyFile(written, in: source, from: name, sizeBytes: size) {
            () throws(DatabaseError) in
            guard let copy = try target.existing(written) else { throw copyMismatch(of: name.text) }
            let walked = try? DatabaseCopy.walk(copy, log, databaseID, size)
            guard walked?.sizeBytes == size else { throw copyMismatch(of: copy.path) }
        }
        if isNamed { target.draftedLogs.append(log.number) }
        note(size, isCopied: true)
        return size
    }

    /// The size of a log up to its last whole commit, and the sequence of that commit; 0 if there
    /// is none.
    static func walk(
        _ file: any File, _ log: Manifest.Log, _ databaseID: UInt64, _ sealedSizeBytes: Int?
    ) throws(DatabaseError) -> (sizeBytes: Int, lastCommit: UInt64) {
        let identity = LogIdentity(
            databaseID: databaseID, number: log.number, firstSequence: log.firstSequence)
        var reader = try LogReader(file, expecting: identity, sealedSizeBytes: sealedSizeBytes)
        var last: UInt64 = 0
        while let frame = try reader.next() {
            last = frame.firstSequence &+ UInt64(frame.commits.count) &- 1
        }
        return (reader.validSizeBytes, last)
    }

    /// Whether a log of the target is a prefix of the source's.
    private func isPrefix(
        _ copy: any File, _ copySize: Int, of file: any File, _ size: Int
    ) throws(DatabaseError) -> Bool {
        guard copySize <= size else { return false }
        for offset in stride(from: 0, to: copySize, by: DatabaseCopy.chunkSizeBytes) {
            let count = min(DatabaseCopy.chunkSizeBytes, copySize - offset)
            let there = try calling("reading the target") { () throws(FileError) in
                try copy.readAll(count: count, at: offset)
            }
            let here = try reading { () throws(DatabaseError) in
                try calling("reading the write-ahead log") { () throws(FileError) in
                    try file.readAll(count: count, at: offset)
                }
            }
            guard there == here else { return false }
        }
        return true
    }

    // MARK: Bytes

    /// Copies the first bytes of a file and verifies the copy. It is durable on return, or removed.
    ///
    /// - Parameter original: the name in the source, if it differs.
    private func copyFile(
        _ name: FileName, in folder: any Directory, from original: FileName? = nil,
        sizeBytes: Int, check: () throws(DatabaseError) -> Void
    ) throws(DatabaseError) {
        let file = try reading { () throws(DatabaseError) in
            try calling("opening a file to copy") { () throws(FileError) in
                try folder.open((original ?? name).text, writable: false)
            }
        }
        try target.write(
            name,
            { copy throws(DatabaseError) in
                for offset in stride(from: 0, to: sizeBytes, by: DatabaseCopy.chunkSizeBytes) {
                    try checkCancelled()
                    let count = min(DatabaseCopy.chunkSizeBytes, sizeBytes - offset)
                    let bytes = try reading { () throws(DatabaseError) in
                        let bytes = try calling("reading a file to copy") { () throws(FileError) in
                            try file.readAll(count: count, at: offset)
                        }
                        guard bytes.count == count else {
                            throw DatabaseError(
                                .damaged,
                                "the file has \(offset + bytes.count) bytes, expected \(sizeBytes)",
                                file: file.path, offset: offset + bytes.count)
                        }
                        return bytes
                    }
                    try calling("writing a file of the copy") { () throws(FileError) in
                        try copy.writeAll(bytes.span, at: offset)
                    }
                }
            }, check: check)
    }

    private func checkCancelled() throws(DatabaseError) {
        if isCancelled?() == true {
            throw DatabaseError(
                .cancelled,
                "cancelled; an earlier backup is unchanged, a new copy stays marked as "
                    + "unfinished. Run the same copy again to continue",
                file: target.directory.path)
        }
    }

    /// Runs a body that reads the source, and records that its failures came from there.
    private func reading<Result>(
        _ body: () throws(DatabaseError) -> Result
    ) throws(DatabaseError) -> Result {
        do throws(DatabaseError) {
            return try body()
        } catch {
            hasSourceFailed = true
            throw error
        }
    }
}
