// Imports files into a database. Reading and parsing run on the caller's thread, commits on another
// (CommitPipeline). Points keep the order of the input.

public import CozDB
internal import CozPlatform

/// Imports files in order, one after the other.
///
/// Before anything is stored, all files are opened, and exports of InfluxDB are scanned for the
/// databases they contain. A batch ends after `batchRows` points, after 32 MiB of input, or with
/// its file. Files of one folder share batches. Bad lines go to the rejects journal; the good lines
/// around them are stored. Memory does not grow with the size of the files. Returns after the last
/// batch is durable and the memtable is flushed.
///
/// A pipe cannot be read twice and is not scanned. The databases that its DDL section declares are
/// checked before its first point. If a second database appears only later, the import fails there,
/// and the batches committed before stay.
///
/// A folder needs a format that reads folders (`InputFormat.reads`), given as `options.format`. All
/// files below the folder are read, in byte order of their paths; symbolic links and hidden files
/// are skipped.
///
/// - Parameters:
///   - paths: files, plain or gzip, and folders; `-` is standard input. An empty list does nothing.
///   - database: the database, open for writing.
///   - options: formats, defaults for what the input leaves out, and callbacks.
/// - Throws: `notFound`, `io` or `damaged` for files; `usage` for several databases in the input
///   and for settings that differ from the stored ones; `cancelled`; and what `Database.write`
///   throws. Batches reported as committed stay. If a file breaks off, the points before that are
///   committed. Importing the files again completes the import.
public func importFiles(
    _ paths: [String], into database: Database, options: ImportOptions = ImportOptions()
) throws(DatabaseError) -> ImportReport {
    try importFiles(ImportInputs(paths, options: options), into: database, options: options)
}

/// Imports bytes in memory, such as the body of a request, as `importFiles` does with a file.
///
/// - Parameters:
///   - bytes: the contents of a file, plain or gzip.
///   - name: the name of the input in messages and in the rejects journal.
///   - database: the database, open for writing.
///   - options: the format, defaults for what the input leaves out, and callbacks.
/// - Throws: as `importFiles(_:into:options:)` with paths.
public func importBytes(
    _ bytes: [UInt8], name: String, into database: Database,
    options: ImportOptions = ImportOptions()
) throws(DatabaseError) -> ImportReport {
    let inputs = try ImportInputs(bytes: bytes, name: name, options: options)
    return try importFiles(inputs, into: database, options: options)
}

/// Imports files that are already open. Each `ImportInputs` can be imported once.
///
/// - Throws: as `importFiles(_:into:options:)` with paths.
public func importFiles(
    _ inputs: ImportInputs, into database: Database, options: ImportOptions = ImportOptions()
) throws(DatabaseError) -> ImportReport {
    var options = options
    options.schemas = try database.schemas()
    // In line protocol, tags are marked as such.
    if inputs.selection.inputs.contains(where: { $0.format.name != InputFormat.lineProtocol.name })
    {
        for schema in options.schemas where schema.identity == .allTags {
            options.tagNames[Array(schema.name.utf8)] = try database.tagNames(of: schema.name)
        }
    }
    let conflicts = try settingsConflicts(options.settings, with: database)
    let merged = database.tagSetMerges
    let start = monotonicSeconds()
    options.presets = database.presets
    var report = try importFiles(inputs, options: options, conflicts: conflicts) {
        (batch) throws(DatabaseError) in
        try database.write(batch)
    }
    if report.points > 0 {
        try database.flush()
        report.mergedTagSets = MergedTagSets(
            database.tagSetMerges, since: merged, schemas: try database.schemas())
    }
    report.seconds = monotonicSeconds() - start
    return report
}

/// Imports files and hands each batch to `commit` instead of a database. For tests.
func importFiles(
    _ paths: [String], options: ImportOptions, conflicts: [[UInt8]: DatabaseError] = [:],
    commit: @escaping @Sendable (borrowing WriteBatch) throws(DatabaseError) -> WriteReport
) throws(DatabaseError) -> ImportReport {
    try importFiles(
        ImportInputs(paths, options: options), options: options, conflicts: conflicts,
        commit: commit)
}

private func importFiles(
    _ opened: ImportInputs, options: ImportOptions, conflicts: [[UInt8]: DatabaseError],
    commit: @escaping @Sendable (borrowing WriteBatch) throws(DatabaseError) -> WriteReport
) throws(DatabaseError) -> ImportReport {
    let start = monotonicSeconds()
    try options.check()
    let selection = opened.selection
    let inputs = selection.inputs
    var options = options
    options.hasOneFile = inputs.count == 1
    try checkColumnOptions(inputs, options)
    try checkContexts(inputs, options)
    try checkConflicts(inputs, options, conflicts)

    let pipeline = CommitPipeline(commit: commit, committed: options.committed)
    var importer = Importer(options: options, files: inputs.map(\.file), start: start)
    do {
        for input in inputs { try importer.read(input, pipeline) }
        try importer.submitOpenBatch(pipeline)
    } catch {
        pipeline.drain()
        throw error
    }
    var report = try pipeline.finish()
    importer.complete(&report)
    report.passedOver = selection.passedOver
    report.passedOverExamples = selection.passedOverExamples
    return report
}

/// Returns an error for each stored experiment whose settings differ from `settings`, by the UTF-8
/// bytes of its name.
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

/// Refuses the import before anything is stored if it has points of an experiment in `conflicts`.
/// This reads the files a second time, but only if there are conflicts. Pipes are not checked: the
/// commit refuses their first batch with such points.
private func checkConflicts(
    _ inputs: [InputSelection.Input], _ options: ImportOptions,
    _ conflicts: [[UInt8]: DatabaseError]
) throws(DatabaseError) {
    if conflicts.isEmpty { return }
    var importer = Importer(options: options, files: inputs.map(\.file), start: 0)
    for input in inputs where input.file.isRepeatable {
        let (file, format) = (input.file, input.format)
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

/// Refuses options that name columns for formats without columns. Ignoring them would store what
/// the caller wants left out.
private func checkColumnOptions(
    _ inputs: [InputSelection.Input], _ options: ImportOptions
) throws(DatabaseError) {
    guard options.table.namesColumns, var setting = options.table.firstChange else { return }
    var known = [InputFormat.lineProtocol.name, "cozie-json", "beiwe"]
    if options.table.timeOfDayColumn != nil {
        known += [InputFormat.ndjson.name, InputFormat.influxJSON.name]
        setting = .timeOfDayColumn
    }
    guard let input = inputs.first(where: { known.contains($0.format.name) }) else { return }
    throw DatabaseError(
        .usage,
        "found the table option \(setting.rawValue), but \(input.format.name) has no columns that "
            + "options name; leave it out, or import the file on its own",
        file: input.file.name, remedy: .change([setting]))
}

/// Checks the databases and policies of exports before anything is stored.
private func checkContexts(
    _ inputs: [InputSelection.Input], _ options: ImportOptions
) throws(DatabaseError) {
    var contexts = ContextList()
    for input in inputs
    where input.file.isRepeatable && input.format.name == InputFormat.lineProtocol.name {
        let file = input.file
        if ExportScan.mayHaveContexts(try file.peek()) {
            for context in try ExportScan.contexts(of: file) { contexts.insert(context) }
        }
        try file.rewind()
    }
    try ExportReader(database: options.database, policy: options.policy).check(contexts.all)
}

private func monotonicSeconds() -> Double {
    var time = timespec()
    // Sound: fills in a local value.
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

private struct RenamedName: Hashable {
    var isTag: Bool
    var bytes: [UInt8]
}

/// The state of one import on the caller's thread.
private struct Importer {
    /// Input bytes after which a batch ends.
    static let batchSizeBytesMax = 32 << 20

    let options: ImportOptions
    let start: Double
    let totalBytes: Int?
    /// The readers made so far, by the name of their format.
    private var readers: [String: any PointReader] = [:]
    private var renames: [AppliedRename] = []
    /// Indices in `renames`.
    private var renameIndices: [RenamedName: Int] = [:]
    /// An unfinished batch with the last points of a file of a folder. The next file continues it.
    private var openBatch: WriteBatch?
    private var openBatchFolder: String?
    /// Sizes of the finished files: as stored, and decoded.
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

    /// Reads a file to its end and submits its batches. The last batch may wait for the next file.
    mutating func read(
        _ input: InputSelection.Input, _ pipeline: CommitPipeline
    ) throws(DatabaseError) {
        let file = input.file
        if openBatchFolder != file.folder { try submitOpenBatch(pipeline) }
        try begin(file, input.format)
        var isFinished = false
        while !isFinished {
            if options.isCancelled?() == true {
                throw DatabaseError(
                    .cancelled, "the import was cancelled after \(points) points")
            }
            var batch = openBatch.take() ?? pipeline.emptyBatch()
            let before = batch.rowCount + batch.refusedLineCount
            var failure: DatabaseError?
            do {
                isFinished = try fill(&batch, from: file, input.format)
            } catch {
                // If a file breaks off, the points before that are kept. If a second database
                // appears, the import is refused, and with it the points read so far.
                if error.kind != .io && error.kind != .damaged { throw error }
                failure = error
            }
            points += batch.rowCount + batch.refusedLineCount - before
            if isFinished && input.sharesBatches {
                openBatch = batch
                openBatchFolder = file.folder
            } else {
                try submit(batch, pipeline)
            }
            if let failure { throw failure }
            report(file)
        }
        doneBytes += file.readBytes
        decodedBytes += file.decodedBytes
        file.close()
    }

    /// Submits the batch that waits for the next file, if any.
    mutating func submitOpenBatch(_ pipeline: CommitPipeline) throws(DatabaseError) {
        openBatchFolder = nil
        if let batch = openBatch.take() { try submit(batch, pipeline) }
    }

    private mutating func submit(
        _ batch: WriteBatch, _ pipeline: CommitPipeline
    ) throws(DatabaseError) {
        count(batch.appliedRenames)
        if let mistake = batch.mistake { throw mistake }
        if !batch.isEmpty { try pipeline.submit(batch) }
    }

    /// Begins a file, and makes a reader if this is the first file of its format.
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
        batch.assumedParticipant = options.participant
        batch.suggestedPreset = format.preset
        // Set once per batch: a batch keeps its renames when it is emptied.
        if batch.renames.isEmpty, !options.renames.isEmpty { batch.renames = options.renames }
        let limits = BatchLimits(
            points: options.batchRows, sizeBytes: Importer.batchSizeBytesMax)
        // Removed while it works: a copy would duplicate its state.
        guard var reader = readers.removeValue(forKey: format.name) else { return true }
        defer { readers[format.name] = reader }
        return try reader.read(file, into: &batch, limits: limits)
    }

    private func report(_ file: InputFile) {
        guard let progress = options.progress else { return }
        progress(
            ImportProgress(
                readBytes: doneBytes + file.readBytes, totalBytes: totalBytes, points: points,
                seconds: monotonicSeconds() - start))
    }

    private mutating func count(_ more: [AppliedRename]) {
        for rename in more {
            let name = RenamedName(isTag: rename.isTag, bytes: Array(rename.from.utf8))
            if let known = renameIndices[name] {
                renames[known].renamed += rename.renamed
                renames[known].kept += rename.kept
            } else {
                renameIndices[name] = renames.count
                renames.append(rename)
            }
        }
    }

    func complete(_ report: inout ImportReport) {
        for name in readers.keys.sorted() { readers[name]?.complete(&report) }
        report.renames = renames
        report.bytes = doneBytes
        report.decodedBytes = decodedBytes
        report.seconds = monotonicSeconds() - start
    }
}
