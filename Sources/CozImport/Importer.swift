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
    var options = options
    options.schemas = try database.schemas()
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
    var inputs: [(file: InputFile, format: InputFormat)] = []
    for file in files { inputs.append((file, try format(of: file, options))) }
    try checkContexts(inputs, options)
    try checkConflicts(inputs, options, conflicts)

    let pipeline = CommitPipeline(commit: commit, committed: options.committed)
    var importer = Importer(options: options, files: files, start: start)
    do {
        for input in inputs { try importer.read(input.file, input.format, pipeline) }
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
    _ inputs: [(file: InputFile, format: InputFormat)], _ options: ImportOptions,
    _ conflicts: [[UInt8]: DatabaseError]
) throws(DatabaseError) {
    if conflicts.isEmpty { return }
    var importer = Importer(options: options, files: inputs.map(\.file), start: 0)
    for (file, format) in inputs where file.isRepeatable {
        var batch = WriteBatch()
        try importer.begin(file, format)
        var isFinished = false
        while !isFinished {
            isFinished = try importer.fill(&batch, from: file, format)
            for name in batch.experimentNames {
                if let conflict = conflicts[Array(name.utf8)] { throw conflict }
            }
            batch.removeAll()
        }
        try file.rewind()
    }
}

/// The format of a file: the one asked for, or the first that recognises it.
private func format(
    of file: InputFile, _ options: ImportOptions
) throws(DatabaseError) -> InputFormat {
    if let format = options.format { return format }
    let head = try file.peek()
    if let format = options.formats.first(where: { $0.recognizes(head, file.name) }) {
        return format
    }
    let fallback = options.formats.last ?? .lineProtocol
    let foreign: [(magic: String, name: String)] = [
        ("PAR1", "Parquet"), ("{\"", "JSON"), ("[{", "JSON"), ("[\n", "JSON"),
        ("#datatype", "annotated CSV"), ("#group", "annotated CSV"), ("#default", "annotated CSV"),
        ("#constant", "annotated CSV"), ("SQLite format 3", "SQLite"), ("PK\u{3}\u{4}", "zip"),
    ]
    for (magic, name) in foreign where head.starts(with: magic.utf8) {
        throw DatabaseError(
            .usage,
            "looks like \(name), expected line protocol; --format \(fallback.name) imports it as "
                + "that anyway",
            file: file.name)
    }
    return fallback
}

/// Looks through exports for databases and policies before anything is stored.
private func checkContexts(
    _ inputs: [(file: InputFile, format: InputFormat)], _ options: ImportOptions
) throws(DatabaseError) {
    var contexts: [ExportContext] = []
    for (file, format) in inputs
    where file.isRepeatable && format.name == InputFormat.lineProtocol.name {
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
private struct Importer {
    /// Input after which a batch ends whatever its points.
    static let batchSizeBytesMax = 32 << 20

    let options: ImportOptions
    let start: Double
    let totalBytes: Int?
    /// One for each format met so far, by its name.
    private var readers: [String: any PointReader] = [:]
    private var renamedFields: [RenamedField] = []
    /// Stored bytes of the files that are done, and decoded bytes of the same.
    private var doneBytes = 0
    private var decodedBytes = 0
    private var points = 0

    init(options: ImportOptions, files: [InputFile], start: Double) {
        self.options = options
        self.start = start
        totalBytes = files.reduce(Optional(0)) { sum, file in
            guard let sum, let size = file.sizeBytes else { return nil }
            return sum + size
        }
    }

    /// Reads a file to its end and hands in its batches.
    mutating func read(
        _ file: InputFile, _ format: InputFormat, _ pipeline: CommitPipeline
    ) throws(DatabaseError) {
        try begin(file, format)
        var isFinished = false
        while !isFinished {
            if options.isCancelled?() == true {
                throw DatabaseError(
                    .cancelled, "the import was cancelled after \(points) points")
            }
            var batch = pipeline.emptyBatch()
            var failure: DatabaseError?
            do {
                isFinished = try fill(&batch, from: file, format)
            } catch {
                // What was read before the file broke off is worth keeping; what was read
                // before a second database turned up belongs to an import that was refused.
                if error.kind != .io && error.kind != .damaged { throw error }
                failure = error
            }
            points += batch.rowCount + batch.refusals.count
            countRenamed(batch.renamedFields)
            if !batch.isEmpty { try pipeline.submit(batch) }
            if let failure { throw failure }
            report(file)
        }
        doneBytes += file.readBytes
        decodedBytes += file.decodedBytes
    }

    /// A file begins; its format gets a reader where it has none yet.
    mutating func begin(_ file: InputFile, _ format: InputFormat) throws(DatabaseError) {
        if readers[format.name] == nil { readers[format.name] = try format.makeReader(options) }
        try readers[format.name]?.begin(file)
    }

    /// Reads points until the batch is full; true at the end of the file.
    mutating func fill(
        _ batch: inout WriteBatch, from file: InputFile, _ format: InputFormat
    ) throws(DatabaseError) -> Bool {
        batch.source = file.name
        batch.settings = options.settings
        batch.suggestedPreset = format.preset
        batch.renames = options.renames
        let limits = BatchLimits(
            points: Swift.max(1, options.batchRows), sizeBytes: Importer.batchSizeBytesMax)
        // Taken out while it works, so that its state is not copied.
        guard var reader = readers.removeValue(forKey: format.name) else { return true }
        defer { readers[format.name] = reader }
        return try reader.read(file, into: &batch, limits: limits)
    }

    private func report(_ file: InputFile) {
        guard let progress = options.progress else { return }
        progress(
            ImportProgress(
                readBytes: doneBytes + file.readBytes, totalBytes: totalBytes, points: points,
                seconds: secondsOfClock() - start))
    }

    private mutating func countRenamed(_ fields: [(from: String, to: String, values: Int)]) {
        for field in fields {
            let known = renamedFields.firstIndex {
                $0.from.utf8.elementsEqual(field.from.utf8)
            }
            if let known {
                renamedFields[known].values += field.values
            } else {
                renamedFields.append(
                    RenamedField(from: field.from, to: field.to, values: field.values))
            }
        }
    }

    func complete(_ report: inout ImportReport) {
        for name in readers.keys.sorted() { readers[name]?.complete(&report) }
        report.renamedFields = renamedFields
        report.bytes = doneBytes
        report.decodedBytes = decodedBytes
        report.seconds = secondsOfClock() - start
    }
}
