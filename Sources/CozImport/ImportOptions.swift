// The options, progress and report of an import.

public import CozDB

/// The progress of an import.
public struct ImportProgress: Sendable {
    /// Bytes read from all files, as stored (gzip: before decoding).
    public var readBytes = 0
    /// Bytes of all files, as stored; nil if one of them is a pipe.
    public var totalBytes: Int?
    /// Points read so far, stored or refused; they may not be durable yet.
    public var points = 0
    /// Seconds since the import began.
    public var seconds = 0.0
}

/// The options of an import. The defaults suit an export of one Cozie database.
public struct ImportOptions: Sendable {
    /// The format of all files; nil: detected per file from its first bytes.
    public var format: InputFormat?
    /// The formats to detect. The first one that recognizes a file is used, else the last one. By
    /// default those of this module; `CozStudy` has more.
    public var formats: [InputFormat] = [
        .influxJSON, .ndjson, .annotatedCSV, .influxCSV, .csv, .lineProtocol,
    ]
    /// The unit of timestamps.
    public var precision = TimestampPrecision.nanoseconds
    /// Settings for experiments that the import creates. If an experiment exists with other
    /// settings, the import is refused before anything is stored.
    public var settings = ExperimentSettings()
    /// Stored names of fields and tags, by their names in the input. The report counts the values
    /// renamed. A point that has both names keeps both unchanged.
    public var renames: [String: String] = [:]
    /// The experiment of points whose format names none, such as rows of a table; nil: such input
    /// is refused.
    public var experiment: String?
    /// The tag that `participant` is stored as; nil: the one in the identity of `settings` (for
    /// tables and JSON also that of `experiment` in the database), or else `id_participant`.
    public var participantTag: String?
    /// The participant of points without that tag; nil: such points stay as they are.
    public var participant: String?
    /// The database of the export to import; needed if the export has several.
    public var database: String?
    /// The retention policy of the export to import; needed if the export has several.
    public var policy: String?
    /// The time of points without a timestamp. nil: for line protocol, the clock at the start of
    /// the import; other formats refuse such points. All of them get the same time, as in one
    /// request to InfluxDB. So points of one series without timestamps are merged into one row.
    public var now: Timestamp?
    /// Points per batch; each batch is one commit. 1 to 10,000,000. A batch also ends after 32 MiB
    /// of input, which bounds memory.
    public var batchRows = 10_000
    /// The schemas in the database when the import began; set by `importFiles`.
    public internal(set) var schemas: [ExperimentSchema] = []
    /// The tags of experiments whose identity is all tags, by the UTF-8 bytes of the experiment's
    /// name. Their schemas do not list them. Set by `importFiles` for formats that need it.
    var tagNames: [[UInt8]: Set<[UInt8]>] = [:]
    /// Whether the import has a single file, so that a missing column cannot be in another file;
    /// set by `importFiles`.
    var hasOneFile = false
    /// Called on the caller's thread after each batch is read.
    public var progress: (@Sendable (ImportProgress) -> Void)?
    /// Called after each durable batch, in order, on another thread, with the number of points so
    /// far. The count follows input order over all files and includes refused points.
    public var committed: (@Sendable (Int) -> Void)?
    /// The cancellation check, called before each batch. If it returns true, the import ends;
    /// committed batches stay.
    public var isCancelled: (@Sendable () -> Bool)?

    /// The meaning of table columns and JSON keys.
    public var table = TableOptions()
    /// The presets of the database.
    package var presets: [SchemaPreset] = []

    /// Creates the default options: line protocol in nanoseconds, settings as stored.
    public init() {}

    /// Throws `usage` for the first option out of range.
    func check() throws(DatabaseError) {
        guard (1...10_000_000).contains(batchRows) else {
            throw DatabaseError(.usage, "batchRows is \(batchRows); expected 1 to 10000000")
        }
        try settings.identity?.check()
        guard table.skippedLines >= 0 else {
            throw DatabaseError(
                .usage, "table.skippedLines is \(table.skippedLines); expected 0 or more",
                remedy: .change([.skippedLines]))
        }
        if let delimiter = table.delimiter, "\"\r\n".utf8.contains(delimiter) {
            throw DatabaseError(
                .usage,
                "table.delimiter is byte \(delimiter), a quote or a line break; expected another "
                    + "byte", remedy: .change([.delimiter]))
        }
        let sizeMax = DatabaseOptions.nameSizeBytesMax
        for (name, text) in [("participant", participant), ("participantTag", participantTag)] {
            guard let text, text.utf8.count > sizeMax else { continue }
            throw DatabaseError(
                .usage, "\(name) has \(text.utf8.count) bytes; expected at most \(sizeMax)")
        }
        try checkSkipped()
        try checkRenames()
    }

    /// Refuses to rename the tag under which the options themselves add participants.
    private func checkRenames() throws(DatabaseError) {
        guard participant != nil || table.participantColumn != nil else { return }
        let tag = participantTags.tag(of: experiment.map { Array($0.utf8) })
        if let problem = stored.problem(ofParticipantTag: tag) {
            throw DatabaseError(.usage, problem, remedy: .change([.participantTag]))
        }
    }

    /// Refuses a column that is left out and also has a role.
    private func checkSkipped() throws(DatabaseError) {
        let named: [(String?, Remedy.Setting)] =
            table.tagColumns.map { ($0, .tagColumns) } + [
                (table.participantColumn, .participantColumn),
                (table.experimentColumn, .experimentColumn), (table.timeColumn, .timeColumn),
                (table.timeOfDayColumn, .timeOfDayColumn),
            ]
        let ignored = Set(table.ignoredColumns)
        for case (let name?, let setting) in named where ignored.contains(name) {
            throw DatabaseError(
                .usage,
                "found the column \"\(name)\" as one to skip and as \(setting.rawValue), expected "
                    + "one of them",
                remedy: .change([.skippedColumns, setting]))
        }
    }

    /// The tags that name participants. Costs a look at each experiment.
    package var participantTags: ParticipantTags {
        ParticipantTags(participantTag, settings.identity, schemas)
    }

    /// The renames, as importers ask for them.
    package var stored: Renames { Renames(renames) }

    /// Returns the name under which a field or tag is stored.
    package func storedName(of name: String) -> String {
        stored.stored(name)
    }
}

/// The result of an import.
public struct ImportReport: Sendable {
    /// Points read, without refused lines.
    public var points = 0
    /// Lines that could not be parsed; they are in the rejects journal.
    public var refusedLines = 0
    /// Points that were parsed but refused as a whole by their experiment.
    public var refusedPoints = 0
    /// Refused lines and points of forgotten participants. Nothing of them is kept.
    public var forgottenPoints = 0
    /// Field values stored.
    public var values = 0
    /// Values stored after a lossless conversion to the type of their field.
    public var convertedValues = 0
    /// Values refused; the other values of their points are stored.
    public var refusedValues = 0
    /// Refused values that name a forgotten participant. They are not kept.
    public var forgottenValues = 0
    /// Refusals not kept because the rejects journal is full
    /// (`DatabaseOptions.rejectsSizeBytesMax`).
    public var unkeptRefusals = 0
    /// The first few refusals.
    public var examples: [Refusal] = []
    /// Fields that got values of a type other than their own.
    public var conflicts: [TypeConflict] = []
    private var knownConflicts: Set<TypeConflict> = []
    /// Rows that merged points whose tags differ outside the identity; nil if there are none.
    /// Counts only points that met in one memtable or in a merge (`Database.tagSetMerges`).
    public var mergedTagSets: MergedTagSets?
    /// Points skipped because they belong to other databases or policies.
    public var skippedOtherDatabases = 0
    /// Fields named `time` that were dropped, as InfluxDB does.
    public var droppedTimeFields = 0
    /// Fields and tags that were renamed, with the number of their values, refused ones included.
    public var renames: [AppliedRename] = []
    /// Databases and policies in the input that have points.
    public var databases: [ExportContext] = []
    /// Files in folders that the format does not read, including symbolic links and special files;
    /// hidden files are not counted.
    public var passedOver = 0
    /// The first few of these files.
    public var passedOverExamples: [String] = []
    /// Bytes read, as stored (gzip: before decoding).
    public var bytes = 0
    /// Bytes read, decoded.
    public var decodedBytes = 0
    /// Seconds from the first byte read to the last value in a segment.
    public var seconds = 0.0

    /// Creates an empty report.
    public init() {}

    /// Whether some input was refused.
    public var hasRefusals: Bool { refusedLines + refusedPoints + refusedValues > 0 }

    mutating func add(_ report: WriteReport) {
        refusedPoints += report.refusedPoints
        unkeptRefusals += report.unkeptRefusals
        forgottenPoints += report.forgottenPoints
        forgottenValues += report.forgottenValues
        values += report.values
        convertedValues += report.convertedValues
        refusedValues += report.refusedValues
        add(examples: report.examples)
        for conflict in report.conflicts where knownConflicts.insert(conflict).inserted {
            conflicts.append(conflict)
        }
    }

    mutating func add(examples more: [Refusal]) {
        for example in more where examples.count < WriteReport.exampleCountMax {
            if !examples.contains(example) { examples.append(example) }
        }
    }
}
