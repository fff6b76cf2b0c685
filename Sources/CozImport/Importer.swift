// Files to batches to a database. Reading and parsing happen on the caller's thread, commits on
// another (CommitPipeline); the order of the points is that of the input.

public import CozDB
internal import Glibc

/// Imports files in order, one after the other.
///
/// All files are opened, and exports among them scanned for their databases, before anything is
/// stored. A batch ends after `batchRows` points, after 32 MiB of input, and with its file. Good
/// lines around bad ones are stored; bad ones are kept in the rejects journal. Memory does not
/// grow with the size of the files. Waits until the last batch is durable, and flushes.
///
/// An input that cannot be read twice (a pipe) is not scanned: the databases that its DDL section
/// declares are checked before the first point; where a second database turns up only later, the
/// import ends there with an error, and the batches committed before it stay.
///
/// - Parameter paths: files, plain or gzip; `-` is standard input. None: nothing happens.
/// - Throws: `notFound`, `io` or `damaged` for files; `usage` for several databases in the input
///   and for settings that differ from those stored; `cancelled`; and what `Database.write`
///   throws. Batches reported as committed stay, and the points read before a file broke off are
///   committed; importing the files again completes them.
@discardableResult
public func importFiles(
    _ paths: [String], into database: Database, options: ImportOptions = ImportOptions()
) throws(DatabaseError) -> ImportReport {
    let conflicts = try settingsConflicts(options.settings, with: database)
    let merged = database.tagSetMerges
    let start = secondsOfClock()
    var report = try importFiles(paths, options: options, conflicts: conflicts) {
        (batch) throws(DatabaseError) in
        try database.write(batch)
    }
    if report.points > 0 {
        try database.flush()
        report.mergedTagSets = MergedTagSets(
            database.tagSetMerges, since: merged, schemas: try database.schemas())
    }
    report.seconds = secondsOfClock() - start
    return report
}

/// The same with another destination, for tests.
func importFiles(
    _ paths: [String], options: ImportOptions, conflicts: [[UInt8]: DatabaseError] = [:],
    commit: @escaping @Sendable (borrowing WriteBatch) throws(DatabaseError) -> WriteReport
) throws(DatabaseError) -> ImportReport {
    let start = secondsOfClock()
    var files: [InputFile] = []
    for path in paths { files.append(try InputFile(path: path)) }
    for file in files { try checkFormat(of: file, options.format) }
    try checkContexts(files, options)
    try checkConflicts(files, options, conflicts)

    let pipeline = CommitPipeline(commit: commit, committed: options.committed)
    var importer = Importer(options: options, files: files, start: start)
    do {
        for file in files { try importer.read(file, pipeline) }
    } catch {
        pipeline.drain()
        throw error
    }
    var report = try pipeline.finish()
    importer.complete(&report)
    return report
}

/// The stored experiments whose settings differ from those named, by the bytes of their names, with
/// the reason for refusing points of them.
private func settingsConflicts(
    _ settings: ExperimentSettings, with database: Database
) throws(DatabaseError) -> [[UInt8]: DatabaseError] {
    if settings == ExperimentSettings() { return [:] }
    var conflicts: [[UInt8]: DatabaseError] = [:]
    for schema in try database.schemas() {
        do {
            try schema.check(settings)
        } catch {
            conflicts[Array(schema.name.utf8)] = error
        }
    }
    return conflicts
}

/// Refuses the import before anything is stored when it has points of an experiment with other
/// settings. The files are read once more for that, which only happens where there is such an
/// experiment; a pipe cannot be, there the first batch concerned is refused.
private func checkConflicts(
    _ files: [InputFile], _ options: ImportOptions, _ conflicts: [[UInt8]: DatabaseError]
) throws(DatabaseError) {
    if conflicts.isEmpty { return }
    var importer = Importer(options: options, files: files, start: 0)
    for file in files where file.isRepeatable {
        var batch = WriteBatch()
        importer.parser.beginFile()
        var isFinished = false
        while !isFinished {
            isFinished = try importer.fill(&batch, from: file)
            for name in batch.experimentNames {
                if let conflict = conflicts[Array(name.utf8)] { throw conflict }
            }
            batch.removeAll()
        }
        try file.rewind()
    }
}

/// Refuses input that is plainly something other than line protocol.
private func checkFormat(
    of file: InputFile, _ format: InputFormat
) throws(DatabaseError) {
    guard format == .auto else { return }
    let head = try file.peek()
    let foreign: [(magic: String, name: String)] = [
        ("PAR1", "Parquet"), ("{\"", "JSON"), ("[{", "JSON"), ("[\n", "JSON"),
        ("#datatype", "annotated CSV"), ("#group", "annotated CSV"), ("#default", "annotated CSV"),
        ("#constant", "annotated CSV"), ("SQLite format 3", "SQLite"), ("PK\u{3}\u{4}", "zip"),
    ]
    for (magic, name) in foreign where head.starts(with: magic.utf8) {
        throw DatabaseError(
            .usage,
            "looks like \(name), expected line protocol; --format lp imports it as that anyway",
            file: file.name)
    }
}

/// Looks through exports for databases and policies before anything is stored.
private func checkContexts(
    _ files: [InputFile], _ options: ImportOptions
) throws(DatabaseError) {
    var contexts: [ExportContext] = []
    for file in files where file.isRepeatable {
        guard ExportScan.mayHaveContexts(try file.peek()) else { continue }
        for context in try ExportScan.contexts(of: file) where !contexts.contains(context) {
            contexts.append(context)
        }
        try file.rewind()
    }
    try ExportReader(database: options.database, policy: options.policy).check(contexts)
}

private func secondsOfClock() -> Double {
    var time = timespec()
    // Sound: fills in a local value.
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// The state of one import on the caller's thread.
private struct Importer: ~Copyable {
    /// Input after which a batch ends whatever its points.
    static let batchSizeBytesMax = 32 << 20
    /// Bytes asked for in one read: few enough to be in the processor's cache when parsed.
    static let chunkSizeBytes = 1 << 18

    let options: ImportOptions
    let start: Double
    let totalBytes: Int?
    var parser: LineProtocolParser
    /// Stored bytes of the files that are done, and decoded bytes of all.
    var doneBytes = 0
    var decodedBytes = 0
    var points = 0

    init(options: ImportOptions, files: [InputFile], start: Double) {
        self.options = options
        self.start = start
        totalBytes = files.reduce(Optional(0)) { sum, file in
            guard let sum, let size = file.sizeBytes else { return nil }
            return sum + size
        }
        var lines = LineProtocolParser.Options()
        lines.precision = options.precision
        lines.now = options.now ?? Importer.clock()
        lines.participant = options.participant
        if let tag = options.participantTag {
            lines.participantTag = tag
        } else if case .participant(let tag) = options.settings.identity {
            lines.participantTag = tag
        }
        lines.database = options.database
        lines.policy = options.policy
        parser = LineProtocolParser(options: lines)
    }

    private static func clock() -> Timestamp {
        var time = timespec()
        // Sound: fills in a local value.
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// Reads a file to its end and hands in its batches.
    mutating func read(
        _ file: InputFile, _ pipeline: CommitPipeline
    ) throws(DatabaseError) {
        parser.beginFile()
        parser.checksDeclarations = !file.isRepeatable
        var isFinished = false
        while !isFinished {
            if options.isCancelled?() == true {
                throw DatabaseError(
                    .cancelled, "the import was cancelled after \(points) points")
            }
            var batch = pipeline.emptyBatch()
            batch.source = file.name
            batch.settings = options.settings
            var failure: DatabaseError?
            do {
                isFinished = try fill(&batch, from: file)
            } catch {
                // What was read before the file broke off is worth keeping; what was read
                // before a second database turned up belongs to an import that was refused.
                if error.kind != .io && error.kind != .damaged { throw error }
                failure = error
            }
            points += batch.rowCount + batch.refusals.count
            if !batch.isEmpty { try pipeline.submit(batch) }
            if let failure { throw failure }
            report(file)
        }
        doneBytes += file.readBytes
    }

    /// Reads points until the batch is full; true at the end of the file.
    mutating func fill(
        _ batch: inout WriteBatch, from file: InputFile
    ) throws(DatabaseError) -> Bool {
        var size = 0
        while true {
            switch try parser.parse(into: &batch, points: Swift.max(1, options.batchRows)) {
            case .batchFull: return false
            case .finished: return true
            case .needsInput: break
            }
            if size >= Importer.batchSizeBytesMax && !batch.isEmpty { return false }
            let count = try parser.append(from: file, sizeBytesMax: Importer.chunkSizeBytes)
            if count == 0 { parser.finish() }
            size += count
            decodedBytes += count
        }
    }

    private func report(_ file: InputFile) {
        guard let progress = options.progress else { return }
        progress(
            ImportProgress(
                readBytes: doneBytes + file.readBytes, totalBytes: totalBytes, points: points,
                seconds: secondsOfClock() - start))
    }

    func complete(_ report: inout ImportReport) {
        report.skippedOtherDatabases = parser.skippedPoints
        report.droppedTimeFields = parser.droppedTimeFields
        report.databases = parser.contexts
        report.bytes = doneBytes
        report.decodedBytes = decodedBytes
        report.seconds = secondsOfClock() - start
    }
}
