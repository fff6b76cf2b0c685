// Reports about a database: sizes, counts, columns, integrity, rejects.

/// Sizes and counts of a database at one moment.
public struct DatabaseInfo: Sendable {
    /// Information about one experiment.
    public struct Experiment: Sendable {
        /// The experiment's name. Names are compared byte by byte.
        public var name: String
        /// Which tags identify its rows, in addition to time.
        public var identity: Identity
        /// How values of another type than their field's are handled.
        public var typeRule: TypeRule
        /// The preset it was created with, or `none`.
        public var preset: String
        /// Number of series that have rows.
        public var series = 0
        /// Number of distinct (series, time) pairs, however many points wrote them.
        public var rows = 0
        /// Number of cells that have a value, without attributes.
        public var values = 0
        /// Number of known fields, with or without values.
        public var fields = 0
        /// Number of attributes: tags outside the identity.
        public var attributes = 0
        /// Size of its segments on disk.
        public var bytes = 0
        /// Time of the first row; nil if there are no rows.
        public var firstTime: Timestamp?
        /// Time of the last row; nil if there are no rows.
        public var lastTime: Timestamp?

        init(_ schema: ExperimentSchema) {
            name = schema.name
            identity = schema.identity
            typeRule = schema.typeRule
            preset = schema.preset
            fields = schema.fields.count
            attributes = schema.attributes.count
        }
    }

    /// The experiments, in byte order of their names.
    public var experiments: [Experiment] = []
    /// Number of segments, which are immutable column files.
    public var segments = 0
    /// Size of the segments in bytes.
    public var segmentBytes = 0
    /// Number of logs that recovery would read after a crash; 0 after a clean close.
    public var walFiles = 0
    /// Size of the logs in bytes, including space preallocated for future commits.
    public var walBytes = 0
    /// Number of lines and values in the rejects journal.
    public var rejects = 0
    /// Number of refusals not kept because the journal was full.
    public var unkeptRejects = 0
    /// Size of the rejects files in bytes.
    public var rejectBytes = 0
    /// Size of all files in the directory, in bytes.
    public var diskBytes = 0
    /// Number of commits so far.
    public var sequence: UInt64 = 0
    /// Whether the last writer closed the database cleanly.
    public var isSealed = false
    /// What flushes and merges have found since the database was created.
    public var counters = WriteCounters()

    /// Creates an empty report.
    public init() {}
}

/// Outcomes of all values written since the database was created.
///
/// Writes are blind appends that read no stored data. A value is compared with other values of the
/// same flush, and with older ones when a merge brings their segments together. Until then it
/// counts as inserted.
public struct WriteCounters: Equatable, Sendable {
    /// Values whose cell was empty.
    public var insertedValues = 0
    /// Values that replaced a different value.
    public var replacedValues = 0
    /// Values equal to the one already in the cell.
    public var identicalValues = 0
    /// Rows that merged points whose attributes differ.
    public var mergedRows = 0

    /// Creates counters at zero.
    public init() {}

    mutating func add(_ other: WriteCounters) {
        insertedValues += other.insertedValues
        replacedValues += other.replacedValues
        identicalValues += other.identicalValues
        mergedRows += other.mergedRows
    }
}

/// A column and the size of its data.
public struct ColumnInfo: Sendable {
    /// Name, kind, type, unit and note.
    public var column: Column
    /// Number of cells that have a value.
    public var count = 0
    /// Time of the earliest value; nil if there is none.
    public var firstTime: Timestamp?
    /// Time of the latest value; nil if there is none.
    public var lastTime: Timestamp?
    /// Size in segments: blocks, block directory and dictionary. The row index and presence vectors
    /// are shared between columns and not included.
    public var bytes = 0
    /// Encodings of its blocks, most used first.
    public var encodings: [(name: String, blocks: Int)] = []
}

/// A problem found by `Database.check`.
public struct CheckFinding: Sendable {
    /// How serious a finding is.
    public enum Severity: String, Sendable {
        /// Stored bytes are corrupt.
        case damage
        /// Nothing is lost.
        case note
    }

    /// How serious it is.
    public var severity: Severity
    /// Path of the file, relative to the database directory.
    public var file: String
    /// Byte offset in the file; nil if the finding concerns the whole file.
    public var offset: Int?
    /// Description of the problem.
    public var found: String
    /// The data that cannot be read because of it.
    public var lost: String
}

/// What `Database.check` verified.
public struct CheckSummary: Sendable {
    /// Number of files.
    public var files = 0
    /// Size of the files in bytes.
    public var bytes = 0
    /// Number of log commits and rejects entries.
    public var records = 0
    /// Number of segment blocks.
    public var blocks = 0
    /// Number of findings with severity `damage`.
    public var damaged = 0
    /// Whether the database is a backup. Its damaged files can be copied again by a backup with
    /// `verifiesReused`.
    public var isBackup = false
}

/// What `Database.repair` found and did.
public struct RepairReport: Sendable {
    /// What could not be read and what is lost by it, as `Database.check` reports it.
    public var findings: [CheckFinding] = []
    /// What else is lost or unknown, and what was kept.
    public var notes: [String] = []
    /// Files that were moved aside, by their original paths relative to the database directory.
    public var moved: [String] = []
    /// Their new directory, relative to the database directory; nil if there was nothing to repair.
    public var folder: String?
    /// Whether it was a dry run, which changes nothing.
    public var isDryRun = false

    /// Whether there was nothing to repair.
    public var isEmpty: Bool { findings.isEmpty }

    /// The report as lines of text.
    public var lines: [String] {
        findings.map { finding in
            let place = finding.offset.map { ", offset \($0)" } ?? ""
            return "damage: \(finding.file)\(place): \(finding.found); lost: \(finding.lost)"
        } + notes.map { "note: \($0)" }
    }
}

/// An entry of the rejects journal.
public struct RejectEntry: Sendable {
    /// The state of a refused value or line.
    public enum State: String, Sendable {
        /// Not stored.
        case waiting
        /// Not stored, because the cell had another value at replay.
        case superseded
        /// Stored by a replay.
        case done
    }

    /// What was refused, and why.
    public var refusal: Refusal
    /// Its current state.
    public var state: State
    /// How often it was refused. Lines with the same source, text and reason are one entry.
    public var count = 1
    /// Number of the last such line; for a single refusal, its own line.
    public var lastLine: Int
}

/// The result of replaying the rejects journal.
public struct ReplayReport: Sendable {
    /// Values written and marked `done`.
    public var replayed = 0
    /// Values not written because their cell has a value.
    public var superseded = 0
    /// Values whose type still does not fit.
    public var refused = 0
    /// Refused lines, which only an importer can read again.
    public var lines = 0
}
