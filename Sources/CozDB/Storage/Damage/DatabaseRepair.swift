// Removes what cannot be read from a database and keeps everything else.
//
// The order makes a crash at any point safe. A mark tells the next repair to remove the new files;
// it comes before them. New files are written, damaged ones are copied to the damaged folder, and
// both are made durable. One replaced manifest completes the repair. After it, the mark and the
// damaged originals are removed. Until that manifest, only `LOCK` and the mark change, and MANIFEST
// may be written again with the same bytes.

/// A repair of a database whose lock is held.
struct DatabaseRepair {
    private(set) var report = RepairReport()
    private let directory: any Directory
    private let isDryRun: Bool
    /// The manifest after the repair.
    private var manifest: Manifest
    /// The manifest that was read; nil if it had to be rebuilt from files.
    private let original: Manifest?
    /// The last acknowledged state; nil if the lock file has none of this database.
    private var acknowledged: AcknowledgedState?
    /// Whether an unfinished repair adopted files that the manifest does not name.
    private var continuesAdoption = false
    /// Whether a newer manifest than the one that was read has existed.
    private var isSuperseded = false
    /// The experiments of adopted segments, which the manifest does not name.
    private var newerExperiments: Set<Int> = []
    /// Whether rejects files that the manifest does not name were adopted.
    private var hasNewerRejects = false
    /// Whether the commits of all logs go to segments, because the manifest did not name the logs.
    private var rewritesLogs = false
    /// Files that go to the damaged folder.
    private var damagedFiles: [FileName] = []
    private var nextNumber: UInt64
    /// The number of the first file that an unfinished repair wrote; nil if there is none.
    private let firstLeftover: UInt64?
    private let foundMark: RepairMark?
    private var isMarked = false
    /// The experiments with rows in logs.
    private var experimentsInLogs: Set<Int> = []

    /// - Throws: `notFound` if there is no database; `unsupportedFormat` if it has a newer format.
    init(_ directory: any Directory, isDryRun: Bool) throws(DatabaseError) {
        self.directory = directory
        self.isDryRun = isDryRun
        let found = try FoundManifest(in: directory)
        acknowledged = found.acknowledged
        original = found.manifest
        foundMark = try RepairMark.read(in: directory)
        if let mark = foundMark, mark.isValid(original, acknowledged) {
            firstLeftover = mark.firstNumber
            continuesAdoption = mark.adopts
        } else {
            firstLeftover = nil
        }
        let files = try FoundFiles(
            in: directory, databaseID: original?.databaseID, lockID: acknowledged?.databaseID,
            numberLimit: firstLeftover ?? .max)
        nextNumber = max(original?.nextFileNumber ?? 1, files.numberMax &+ 1)
        manifest = original ?? Manifest(databaseID: files.databaseID)
        report.isDryRun = isDryRun
        for problem in found.problems {
            let lost =
                if problem.isHarmless {
                    "nothing"
                } else if original == nil, problem.name == .manifest {
                    DatabaseRepair.lostWithManifest
                } else {
                    DatabaseCheck.lost(problem.name)
                }
            let error = problem.error
            add(problem.name.text, error.offset, LossText(found: error.message, lost: lost))
            if problem.hasFile, !damagedFiles.contains(problem.name) {
                damagedFiles.append(problem.name)
            }
        }
        if original == nil {
            try rebuild(from: files)
        } else {
            try adoptNewer(files)
        }
    }

    // MARK: Steps

    /// Runs the repair and fills the report.
    ///
    /// - Parameter lock: the locked file; nil for a dry run.
    mutating func run(_ lock: (any File)?) throws(DatabaseError) {
        try repairSegments()
        try repairLogs()
        try settleSchemas()
        try repairRejects()
        guard let lock else { return }
        if report.isEmpty {
            // The newest manifest was put back, or the repair was finished but for the mark.
            try removeLeftovers()
            try removeMark()
        } else {
            try finish(lock)
        }
    }

    private mutating func add(_ file: String, _ offset: Int?, _ text: LossText) {
        report.findings.append(
            CheckFinding(
                severity: .damage, file: file, offset: offset, found: text.found, lost: text.lost))
    }

    private mutating func newNumber() throws(DatabaseError) -> UInt64 {
        try markOnce()
        defer { nextNumber += 1 }
        return nextNumber
    }

    /// Writes the mark before the first change.
    private mutating func markOnce() throws(DatabaseError) {
        if isMarked { return }
        try removeLeftovers()
        let mark = RepairMark(
            databaseID: manifest.databaseID, firstNumber: nextNumber,
            generation: manifest.generation, adopts: isSuperseded)
        // An equal one stays, because without it the lock file would say something else.
        if mark != foundMark {
            try calling("marking the repair") { () throws(FileError) in
                try mark.write(in: directory)
            }
        }
        isMarked = true
    }

    private func removeMark() throws(DatabaseError) {
        if foundMark == nil, !isMarked { return }
        try calling("removing the mark of the repair") { () throws(FileError) in
            try RepairMark.remove(in: directory)
        }
    }

    /// Removes the files of an unfinished repair, which may have filled the disk.
    private mutating func removeLeftovers() throws(DatabaseError) {
        guard let firstLeftover else { return }
        var kept = manifest
        kept.segments = []
        kept.logs = []
        kept.rejects = []
        if try Recovery.removeUnreferenced(directory, kept, from: firstLeftover) {
            report.notes.append("removed the files of a repair that did not finish")
        }
    }

    // MARK: The manifest

    private static let lostWithManifest =
        "what only the manifest stores: identity rules, type rules, presets, declarations, the "
        + "order of segments, the list of forgotten participants, participant tags of deleted "
        + "experiments, and which backups are of this database"

    /// Rebuilds a manifest from what the files say about themselves.
    private mutating func rebuild(from files: FoundFiles) throws(DatabaseError) {
        manifest.logs = files.logs.sorted { $0.number < $1.number }
        rewritesLogs = !manifest.logs.isEmpty
        try rebuildSchemas(from: files.segments)
        manifest.segments = files.segments.map(\.info).sorted { $0.number < $1.number }
        addCounts(of: manifest.segments)
        manifest.rejects = files.rejects.sorted { $0.number < $1.number }
        let firsts = files.logs.map(\.firstSequence).filter { $0 > 0 }
        manifest.lastSequence = (firsts.min() ?? 1) - 1
        // Larger than any real generation: there are only a few manifests for each file.
        let guess = min(nextNumber, 1 << 50) * 16 + 1000
        manifest.generation = acknowledged.map { $0.generation } ?? guess
        // No earlier backup is known to be one of this database as it is now.
        manifest.branches = [
            Manifest.Branch(id: .random(in: .min ... .max), generation: 0, sequence: 0)
        ]
        for (name, found) in files.unreadable { setAside(name, found) }
        if manifest.segments.count > 1 { report.notes.append(DatabaseRepair.orderNote) }
        if !manifest.logs.isEmpty || !manifest.segments.isEmpty {
            report.notes.append(
                "the list of forgotten participants is lost; forget them again before any of "
                    + "their data is written")
            report.notes.append(
                "no earlier backup is known to be of this database; back up to another directory")
        }
    }

    /// Takes a file out that only another manifest could identify.
    private mutating func setAside(_ name: FileName, _ found: String) {
        let lost = "the whole file: only the lost manifest could identify it"
        add(DatabaseRepair.path(name), nil, LossText(found: found, lost: lost))
        damagedFiles.append(name)
    }

    /// Adopts files newer than the manifest if a newer manifest has existed. That is so if the lock
    /// file names one. Missing files show it too, since only a newer manifest lets files go, unless
    /// the lock file proves that this manifest is the newest.
    private mutating func adoptNewer(_ files: FoundFiles) throws(DatabaseError) {
        let there = Set(
            files.segments.map { .segment($0.info.number) } + files.logs.map { .log($0.number) }
                + files.rejects.map { .rejects($0.number) } + files.unreadable.map(\.name))
        let isOlder = (acknowledged?.generation ?? 0) > manifest.generation
        let isGone = !manifest.fileNames.isSubset(of: there)
        isSuperseded =
            isOlder || isGone && acknowledged?.isOf(manifest) != true || continuesAdoption
        manifest.generation = max(manifest.generation, acknowledged?.generation ?? 0)
        guard isSuperseded else { return }
        let named = manifest.fileNames
        for (name, found) in files.unreadable where !named.contains(name) { setAside(name, found) }
        var newer = files.segments.filter { !named.contains(.segment($0.info.number)) }
            .sorted { $0.info.number < $1.info.number }
        for segment in newer where isOfOther(segment.footer) {
            setAside(
                .segment(segment.info.number),
                "the segment is of the experiment \"\(segment.footer.experimentName)\", but the "
                    + "manifest has another experiment with its number")
        }
        newer.removeAll { isOfOther($0.footer) }
        let newerLogs = files.logs.filter { isNewer($0) && !named.contains(.log($0.number)) }
        let newerRejects = files.rejects.filter { !named.contains(.rejects($0.number)) }
            .sorted { $0.number < $1.number }
        let count = newer.count + newerLogs.count + newerRejects.count
        guard count > 0 else { return }
        manifest.logs = (manifest.logs + newerLogs).sorted { $0.number < $1.number }
        rewritesLogs = !newerLogs.isEmpty
        try rebuildSchemas(from: newer)
        for info in newer.map(\.info) {
            // A merge may have reserved its number before the manifest was written.
            let next = manifest.segments.firstIndex { $0.number > info.number }
            manifest.segments.insert(info, at: next ?? manifest.segments.endIndex)
        }
        newerExperiments = Set(newer.map(\.info.experiment))
        addCounts(of: newer.map(\.info))
        manifest.rejects += newerRejects
        hasNewerRejects = !newerRejects.isEmpty
        add(
            FileName.manifest.text, nil,
            LossText(
                found: "the manifest is older than the files: \(newer.count) segments, "
                    + "\(newerLogs.count) logs and \(newerRejects.count) rejects files are newer",
                lost: "what only the newest manifest stored; the newer files were adopted"))
        if !newer.isEmpty { report.notes.append(DatabaseRepair.orderNote) }
    }

    /// Adds what only these segments and the logs know to the schemas.
    private mutating func rebuildSchemas(
        from segments: [FoundFiles.Segment]
    ) throws(DatabaseError) {
        let databaseID = manifest.databaseID
        let logs = try LogSalvage.columns(
            of: manifest.logs, databaseID: databaseID, in: directory)
        var schemas = RebuiltSchemas(manifest.schemas, logs: logs)
        schemas.add(segments, in: directory, databaseID: databaseID)
        manifest.schemas = schemas.schemas
        report.notes += schemas.assumptions
    }

    /// Whether the manifest has another experiment with the number of a segment's.
    private func isOfOther(_ footer: SegmentFooter) -> Bool {
        guard let schema = manifest.schemas[footer.experiment] else { return false }
        return Name(schema.name) != Name(footer.experimentName)
    }

    /// Whether a log has commits that the segments of the manifest do not hold. Its number may have
    /// been reserved before. If a flush stored them since, they change nothing when applied again.
    private func isNewer(_ log: Manifest.Log) -> Bool {
        guard log.firstSequence == 0 else { return log.firstSequence > manifest.lastSequence }
        return log.number >= manifest.nextFileNumber || log.number == acknowledged?.logNumber
    }

    /// Counts the values of segments that no manifest has counted as new values.
    private mutating func addCounts(of segments: some Sequence<Manifest.Segment>) {
        for segment in segments { manifest.counters.insertedValues += segment.valueCount }
    }

    private static let orderNote =
        "segments are ordered by their numbers; if two have different values for one cell, the "
        + "older value may now win"

    // MARK: Segments

    private mutating func repairSegments() throws(DatabaseError) {
        var kept: [Manifest.Segment] = []
        for info in manifest.segments {
            let examination = try SegmentExamination(
                info, of: manifest, in: directory, decodes: true)
            if examination.problems.isEmpty {
                kept.append(info)
                continue
            }
            let name = FileName.segment(info.number)
            if !examination.isThere, newerExperiments.contains(info.experiment) {
                report.notes.append(
                    "\(name.text) is missing, as after a merge or a deletion; newer segments hold "
                        + "its remaining rows")
                continue
            }
            for problem in examination.problems { add(name.text, problem.offset, problem.text) }
            let mayShareCells = kept.contains {
                $0.experiment == info.experiment && $0.firstTime <= info.lastTime
                    && info.firstTime <= $0.lastTime
            }
            if mayShareCells {
                report.notes.append(
                    "\(name.text): older segments overlap it in time; values that lost values had "
                        + "replaced may have returned")
            }
            if examination.isThere { damagedFiles.append(name) }
            guard let reader = examination.reader,
                let schema = manifest.schemas[info.experiment]
            else { continue }
            let salvage = try SegmentSalvage(reader, examination.damage)
            report.notes += salvage.consequences.map { "\(name.text): also lost: \($0)" }
            let count = salvage.keptRowCount
            report.notes.append("\(name.text): kept \(count) of \(info.rowCount) rows")
            if count == 0 { continue }
            if isDryRun {
                kept.append(info)
                continue
            }
            let effort = info.isQuicklyEncoded ? EncodingEffort.quick : .thorough
            kept.append(
                try writeSegment(schema, effort: effort) { writer throws(DatabaseError) in
                    try salvage.write(to: writer)
                })
        }
        manifest.segments = kept
    }

    private mutating func writeSegment(
        _ schema: ExperimentSchema, effort: EncodingEffort = .thorough,
        _ fill: (SegmentWriter) throws(DatabaseError) -> Void
    ) throws(DatabaseError) -> Manifest.Segment {
        try SegmentWriter.write(
            in: directory, number: try newNumber(), databaseID: manifest.databaseID, schema: schema,
            effort: effort, isAlone: { true }, fill
        ) { $0 }
    }

    // MARK: Logs

    private mutating func repairLogs() throws(DatabaseError) {
        var salvage = LogSalvage(manifest)
        var isNeeded = rewritesLogs
        for (index, log) in manifest.logs.enumerated() {
            let name = FileName.log(log.number)
            let before = salvage.losses.count
            let isThere = try salvage.add(log, of: manifest, in: directory)
            let problem = try problem(of: log)
            guard let problem else { continue }
            isNeeded = true
            if !isThere, !newerExperiments.isEmpty {
                report.notes.append(
                    "\(name.text) is missing, as after a flush; newer segments hold its commits")
                continue
            }
            if isThere { damagedFiles.append(name) }
            let next = index + 1 < manifest.logs.count ? manifest.logs[index + 1] : nil
            salvage.noteEnd(of: log, before: next?.firstSequence, acknowledged)
            let lost = salvage.losses[before...].joined(separator: "; ")
            add(
                name.text, isThere ? problem.offset : nil,
                LossText(
                    found: isThere ? problem.message : "the file is missing",
                    lost: lost.isEmpty ? "nothing" : lost))
        }
        guard isNeeded else { return }
        experimentsInLogs = Set(
            salvage.memtable.tables.filter { $0.value.rows.count > 0 }.map(\.key))
        if salvage.commitsBehind > 0 {
            report.notes.append(
                "kept \(salvage.commitsBehind) commits after lost ones; the changes of the lost "
                    + "ones are undone")
        } else if !salvage.losses.isEmpty {
            report.notes.append("the changes of the lost commits are undone")
        }
        manifest.schemas = salvage.schemas
        manifest.lastSequence = max(manifest.lastSequence, salvage.lastSequence)
        if !isDryRun { try write(salvage.memtable) }
        manifest.logs = []
    }

    /// Why a log has to be rewritten; nil if it is intact.
    private func problem(of log: Manifest.Log) throws(DatabaseError) -> DatabaseError? {
        do throws(DatabaseError) {
            let replay = try DatabaseCheck.read(log, of: manifest, acknowledged, in: directory)
            return try DatabaseCheck.stray(in: log, replay, directory)
        } catch {
            if error.isSystemCallFailure { throw error }
            return error
        }
    }

    private mutating func write(_ memtable: Memtable) throws(DatabaseError) {
        for schema in manifest.schemas.all {
            guard let table = memtable.tables[schema.id], table.rows.count > 0 else { continue }
            var flush = MemtableFlush(
                MemtableView(table, strings: memtable.strings), schema: schema)
            let info = try writeSegment(schema) { writer throws(DatabaseError) in
                try flush.write(to: writer)
            }
            manifest.segments.append(info)
            manifest.add(flush.counters)
        }
        if !memtable.journal.isEmpty { try writeRejects(memtable.journal.entries) }
    }

    private mutating func writeRejects(_ entries: [JournalEntry]) throws(DatabaseError) {
        let number = try newNumber()
        let info = try calling("writing the rejects journal") { () throws(FileError) in
            try RejectsFile.write(
                entries, number: number, under: directory, databaseID: manifest.databaseID)
        }
        manifest.rejects.append(info)
    }

    // MARK: Names

    /// Leaves each name to one experiment. If the schemas take more than a manifest may have, also
    /// removes experiments without rows, which only an older manifest still has.
    ///
    /// - Throws: `limitExceeded` if they still do.
    private mutating func settleSchemas() throws(DatabaseError) {
        let filled = experimentsInLogs.union(manifest.segments.map(\.experiment))
        let mayHaveOthers = !manifest.logs.isEmpty
        let renamed = manifest.schemas.separateNames { mayHaveOthers || filled.contains($0) }
        report.notes += renamed.map {
            "two experiments have the name \"\($0.name)\", the older one was deleted before; what "
                + "is left of it is now in \"\($0.new)\""
        }
        let sizeBytesMax = DatabaseOptions.schemasSizeBytesMax
        if manifest.schemas.sizeBytes > sizeBytesMax, !mayHaveOthers {
            for schema in manifest.schemas.all where !filled.contains(schema.id) {
                manifest.schemas.remove(schema.id)
                report.notes.append(
                    "removed the experiment \"\(schema.name)\", which has no rows: the schemas "
                        + "took too much space")
            }
        }
        guard manifest.schemas.sizeBytes > sizeBytesMax else { return }
        throw DatabaseError(
            .limitExceeded,
            "the schemas of all experiments that were found take \(manifest.schemas.sizeBytes) "
                + "bytes, expected at most \(sizeBytesMax); the manifest was not changed. Move the "
                + "newest segments or logs of before this repair out of the database, and repair "
                + "it again", file: directory.path)
    }

    // MARK: Rejects

    private mutating func repairRejects() throws(DatabaseError) {
        let files = manifest.rejects
        manifest.rejects = []
        for info in files {
            let name = FileName.rejects(info.number)
            do throws(DatabaseError) {
                _ = try RejectsFile.read(info, under: directory, databaseID: manifest.databaseID)
                manifest.rejects.append(info)
            } catch {
                if error.isSystemCallFailure { throw error }
                let isThere = error.kind != .notFound
                if !isThere, hasNewerRejects {
                    report.notes.append(
                        "\(DatabaseRepair.path(name)) is missing, as after a merge or a deletion; "
                            + "newer rejects files hold its remaining entries")
                    continue
                }
                let whole = isThere ? try entriesBeforeEnd(of: info) : nil
                add(
                    DatabaseRepair.path(name), error.offset,
                    LossText(
                        found: isThere ? error.message : "the file is missing",
                        lost: whole == nil ? DatabaseCheck.lost(info) : "nothing"))
                if isThere { damagedFiles.append(name) }
                if let whole, !isDryRun { try writeRejects(whole) }
            }
        }
    }

    /// The entries of a rejects file whose only damage is extra bytes at its end; nil for others.
    private func entriesBeforeEnd(
        of info: Manifest.RejectsFile
    ) throws(DatabaseError) -> [JournalEntry]? {
        let bytes = try calling("reading the rejects journal") { () throws(FileError) in
            let name = FileName.rejects(info.number)
            let folder = try DatabaseRepair.folder(of: name, in: directory)
            let file = try folder.open(name.text, writable: false)
            return try file.readReadable(count: min(file.size(), info.sizeBytes), at: 0).bytes
        }
        return try? RejectsFile.decode(bytes, info, databaseID: manifest.databaseID)
    }

    // MARK: Finishing

    private mutating func finish(_ lock: any File) throws(DatabaseError) {
        let folder = try DamagedFolder(in: directory, at: .now)
        report.folder = folder.path
        for name in damagedFiles {
            let source = try calling("opening a folder") { () throws(FileError) in
                try DatabaseRepair.folder(of: name, in: directory)
            }
            let unreadable = try folder.copy(name.text, from: source)
            report.moved.append(DatabaseRepair.path(name))
            if unreadable > 0 {
                report.notes.append(
                    "\(DatabaseRepair.path(name)): \(unreadable) bytes cannot be read from the "
                        + "device; the copy in \(folder.path) has zeros in their place")
            }
        }
        try folder.finish(report.lines)
        try markOnce()
        manifest.nextFileNumber = nextNumber
        try replaceManifest(lock)
        try removeOriginals()
    }

    private mutating func replaceManifest(_ lock: any File) throws(DatabaseError) {
        var known =
            acknowledged
            ?? AcknowledgedState(
                databaseID: manifest.databaseID, generation: 0, manifestChecksum: 0, holder: "")
        known.databaseID = manifest.databaseID
        if known.generation < manifest.generation {
            // As in `Recovery`, the lock file may only name a durable manifest.
            if let original {
                try Manifest.writeAgain(in: directory)
                known.manifestChecksum = original.fileChecksum
            }
            known.generation = manifest.generation
        }
        let lockFile = LockFile(lock, known)
        var next = manifest
        next.generation &+= 1
        try calling("replacing the manifest") { () throws(FileError) in
            // Makes the names of the new segments and of the damaged folder durable.
            try directory.sync()
            try lockFile.open(holder: "a repair")
            try next.write(in: directory)
        }
        manifest = next
        lockFile.note(next)
        if next.logs.isEmpty { lockFile.seal() }
        // Before the originals, so that until then all data is in other files, too.
        try removeMark()
    }

    /// Removes the originals of files that were copied to the damaged folder.
    private func removeOriginals() throws(DatabaseError) {
        try calling("removing files that were copied to the damaged folder") {
            () throws(FileError) in
            for name in damagedFiles where name != .manifest && name != .lock {
                try DatabaseRepair.folder(of: name, in: directory).remove(name.text)
            }
            for name in damagedFiles {
                guard case .rejects = name else { continue }
                try DatabaseRepair.folder(of: name, in: directory).sync()
                break
            }
            try directory.sync()
        }
    }

    private static func folder(
        of name: FileName, in directory: any Directory
    ) throws(FileError) -> any Directory {
        guard case .rejects = name else { return directory }
        return try directory.openDirectory(FileName.rejectsDirectory, create: false)
    }

    private static func path(_ name: FileName) -> String {
        if case .rejects = name { return FileName.rejectsDirectory + "/" + name.text }
        return name.text
    }
}
