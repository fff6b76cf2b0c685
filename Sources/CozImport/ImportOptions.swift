// What an import can be told, and what it tells afterwards.

public import CozDB

/// How far an import is.
public struct ImportProgress: Sendable {
    /// Bytes read of all files, as stored (gzip: before decoding).
    public var readBytes = 0
    /// Bytes of all files; nil where one of them is a pipe.
    public var totalBytes: Int?
    /// Points read so far, stored or refused; they may not be durable yet.
    public var points = 0
    /// Seconds since the import began.
    public var seconds = 0.0
}

/// What an import leaves open. The defaults suit an export of one Cozie database.
public struct ImportOptions: Sendable {
    /// How the bytes are to be read; nil: decided for each file by its first bytes.
    public var format: InputFormat?
    /// What `format` nil chooses from: the first that recognises a file, or else the last one.
    public var formats: [InputFormat] = [.lineProtocol]
    /// Unit of the timestamps.
    public var precision = TimestampPrecision.nanoseconds
    /// Settings of experiments that the import creates. One that names settings other than those
    /// stored is refused before anything is stored.
    public var settings = ExperimentSettings()
    /// Fields and tags to store under another name, by the name they come with; the report counts
    /// them. A point that has both names keeps both as they came.
    public var renames: [String: String] = [:]
    /// Experiment of points whose format names none, such as a table of values; nil: such input
    /// is refused.
    public var experiment: String?
    /// Tag that `participant` is added as; nil: the one `settings` names, or `id_participant`.
    public var participantTag: String?
    /// Participant of lines without that tag; nil: such lines stay as they are.
    public var participant: String?
    /// Database of the export to take; needed when it has several.
    public var database: String?
    /// Retention policy of the export to take; needed when it has several.
    public var policy: String?
    /// Time of points without a timestamp; nil: the clock when the import begins. One time for
    /// all of them, as in one request to InfluxDB: points of one series without timestamps
    /// therefore end up in one row.
    public var now: Timestamp?
    /// Points of one batch, which is one commit. 1 to 10,000,000. A batch also ends after 32 MiB
    /// of input, so that memory is bounded.
    public var batchRows = 10_000
    /// What the database knew of its experiments when the import began; set by `importFiles`.
    public internal(set) var schemas: [ExperimentSchema] = []
    /// Whether there is one file to import, and no other that could have a column it lacks; set
    /// by `importFiles`.
    var hasOneFile = false
    /// Called on the caller's thread after each batch was read.
    public var progress: (@Sendable (ImportProgress) -> Void)?
    /// Called after each durable batch, in order, on another thread: points in input order over
    /// all files so far, stored or refused.
    public var committed: (@Sendable (Int) -> Void)?
    /// Asked before each batch; true ends the import, and what was committed stays.
    public var isCancelled: (@Sendable () -> Bool)?

    /// What columns of tables, and keys of rows of JSON, mean where they do not say it.
    public var table = TableOptions()
    /// The presets that the database knows.
    package var presets: [SchemaPreset] = []

    /// The defaults: line protocol with nanoseconds, settings as stored.
    public init() {}

    /// The name that a field or tag is stored under, for readers that look its type up.
    package func storedName(of name: String) -> String {
        // A dictionary finds keys that differ in their Unicode normalisation only.
        guard let index = renames.index(forKey: name),
            renames.keys[index].utf8.elementsEqual(name.utf8)
        else { return name }
        return renames.values[index]
    }
}

/// What an import did.
public struct ImportReport: Sendable {
    /// Points read and not refused as lines.
    public var points = 0
    /// Lines that are no valid line protocol; they are in the rejects journal.
    public var refusedLines = 0
    /// Points that were read but refused as a whole by their experiment.
    public var refusedPoints = 0
    /// Lines and points among the refused of participants that were forgotten; nothing of them is
    /// kept.
    public var forgottenPoints = 0
    /// Field values stored.
    public var values = 0
    /// Values stored after a lossless conversion to the type of their field.
    public var convertedValues = 0
    /// Values refused; the other values of their points are stored.
    public var refusedValues = 0
    /// Refusals that the rejects journal did not keep, as it is full
    /// (`DatabaseOptions.rejectsSizeBytesMax`).
    public var unkeptRefusals = 0
    /// The first few refusals.
    public var examples: [Refusal] = []
    /// Fields whose values met a locked type.
    public var conflicts: [TypeConflict] = []
    private var knownConflicts: Set<TypeConflict> = []
    /// Rows in which points met whose tags differ outside the identity, as far as one memtable or
    /// a merge brought them together (`Database.tagSetMerges`); nil where there are none.
    public var mergedTagSets: MergedTagSets?
    /// Points of other databases or policies that were passed over.
    public var skippedOtherDatabases = 0
    /// Fields named `time` that were dropped, as InfluxDB does.
    public var droppedTimeFields = 0
    /// Fields and tags that got another name on the way, with the number of their values, refused
    /// ones included.
    public var renames: [AppliedRename] = []
    /// Databases and policies that the input named and had points of.
    public var databases: [ExportContext] = []
    /// Files of folders that the format does not read, symbolic links and special files included;
    /// hidden ones are not counted.
    public var passedOver = 0
    /// The first few of them.
    public var passedOverExamples: [String] = []
    /// Bytes read, as stored (gzip: before decoding).
    public var bytes = 0
    /// Bytes read, decoded.
    public var decodedBytes = 0
    /// From the first byte read to the last value in a segment.
    public var seconds = 0.0

    /// Nothing done.
    public init() {}

    /// Whether some input was refused (and is kept in the rejects journal).
    public var hasRefusals: Bool { refusedLines + refusedPoints + refusedValues > 0 }

    mutating func add(_ report: WriteReport) {
        refusedPoints += report.refusedPoints
        unkeptRefusals += report.unkeptRefusals
        forgottenPoints += report.forgottenPoints
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
