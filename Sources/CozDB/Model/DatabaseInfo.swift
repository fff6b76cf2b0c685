// What a database says of itself: sizes, counts, columns, the state of its files.

/// Sizes and counts of a database at one moment.
public struct DatabaseInfo: Sendable {
    /// One experiment.
    public struct Experiment: Sendable {
        /// As points name it; names are compared byte by byte.
        public var name: String
        /// Which tags tell its rows apart, beside time.
        public var identity: Identity
        /// What happens to values of another type than their field's.
        public var typeRule: TypeRule
        /// The preset it was made with; `none` where there was none.
        public var preset: String
        /// Distinct values of the identity tags that have rows.
        public var series = 0
        /// Distinct (series, time), whatever number of points made them.
        public var rows = 0
        /// Field values, each cell once; attributes are not counted.
        public var values = 0
        /// Fields known, with values or not.
        public var fields = 0
        /// Tags outside the identity that points had.
        public var attributes = 0
        /// On disk, in segments.
        public var bytes = 0
        /// nil while it has no rows.
        public var firstTime: Timestamp?
        /// nil while it has no rows.
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

    /// In byte order of the names.
    public var experiments: [Experiment] = []
    /// Immutable column files.
    public var segments = 0
    /// Their size in bytes.
    public var segmentBytes = 0
    /// Logs that a crash now would be recovered from; none after a clean close.
    public var walFiles = 0
    /// Their size in bytes, with the space set aside for commits to come.
    public var walBytes = 0
    /// Lines and values in the rejects journal.
    public var rejects = 0
    /// Those that were refused while it was full, and not kept.
    public var unkeptRejects = 0
    /// Size of the files of the rejects journal, in bytes.
    public var rejectBytes = 0
    /// Everything in the directory.
    public var diskBytes = 0
    /// Commits so far.
    public var sequence: UInt64 = 0
    /// Whether the last writer closed the database.
    public var isSealed = false
    /// What flushes and merges found, since the database was made.
    public var counters = WriteCounters()

    /// An empty database.
    public init() {}
}

/// What became of the values that were written, since the database was made. A value is compared
/// with those of the same flush, and with older ones when a merge brings their segments together:
/// blind appends read nothing that is stored. Until then it counts as inserted.
public struct WriteCounters: Equatable, Sendable {
    /// Values that met none in their cell.
    public var insertedValues = 0
    /// Values that replaced a different one.
    public var replacedValues = 0
    /// Values equal to the one they met.
    public var identicalValues = 0
    /// Rows that points of different tag sets (outside the identity) met in.
    public var mergedRows = 0

    /// Nothing written.
    public init() {}

    mutating func add(_ other: WriteCounters) {
        insertedValues += other.insertedValues
        replacedValues += other.replacedValues
        identicalValues += other.identicalValues
        mergedRows += other.mergedRows
    }
}

/// One column with what is stored of it.
public struct ColumnInfo: Sendable {
    /// Name, kind, type, unit and note.
    public var column: Column
    /// Values, each cell once.
    public var count = 0
    /// Time of its earliest value; nil where it has none.
    public var firstTime: Timestamp?
    /// Time of its latest value; nil where it has none.
    public var lastTime: Timestamp?
    /// On disk, in segments: blocks, directory and dictionary. Row index and presence are shared.
    public var bytes = 0
    /// Encodings of its blocks, most used first.
    public var encodings: [(name: String, blocks: Int)] = []
}

/// Something that `Database.check` found.
public struct CheckFinding: Sendable {
    /// How bad a finding is.
    public enum Severity: String, Sendable {
        /// Stored bytes are not what was written.
        case damage
        /// Worth knowing; nothing is lost.
        case note
    }

    /// How bad it is.
    public var severity: Severity
    /// Path of the file inside the database directory.
    public var file: String
    /// Byte offset in the file; nil where the whole file is meant.
    public var offset: Int?
    /// What is wrong.
    public var found: String
    /// Which data cannot be read because of it.
    public var lost: String
}

/// How much `Database.check` looked at.
public struct CheckSummary: Sendable {
    /// Files looked at.
    public var files = 0
    /// Their size.
    public var bytes = 0
    /// Commits in logs and entries of rejects files.
    public var records = 0
    /// Blocks of segments.
    public var blocks = 0
    /// Findings of severity damage.
    public var damaged = 0
    /// Whether it is a backup: what is damaged there is copied again by a backup with
    /// `verifiesReused`.
    public var isBackup = false
}

/// What `Database.repair` found and did.
public struct RepairReport: Sendable {
    /// What could not be read, and what is lost by it, as `Database.check` says it.
    public var findings: [CheckFinding] = []
    /// What else is lost or not known any more, and what was kept.
    public var notes: [String] = []
    /// Files that were moved aside, by their paths inside the database directory.
    public var moved: [String] = []
    /// Where they are now, inside the database directory; nil where nothing was to be repaired.
    public var folder: String?
    /// Whether nothing was changed.
    public var isDryRun = false

    /// Whether there was nothing to repair.
    public var isEmpty: Bool { findings.isEmpty }

    /// The same as lines of text.
    public var lines: [String] {
        findings.map { finding in
            let place = finding.offset.map { ", offset \($0)" } ?? ""
            return "damage: \(finding.file)\(place): \(finding.found); lost: \(finding.lost)"
        } + notes.map { "note: \($0)" }
    }
}

/// One entry of the rejects journal.
public struct RejectEntry: Sendable {
    /// What has become of a refused value or line.
    public enum State: String, Sendable {
        /// Not stored.
        case waiting
        /// Not stored: the cell had another value when it was replayed.
        case superseded
        /// Stored by a replay.
        case done
    }

    /// What was refused, and why.
    public var refusal: Refusal
    /// What has become of it.
    public var state: State
    /// How often it was refused: lines of one source that have the same text, and were refused for
    /// the same reason, are one entry.
    public var count = 1
    /// The last of those lines; that of the refusal itself where there is one.
    public var lastLine: Int
}

/// What a replay of the rejects journal did.
public struct ReplayReport: Sendable {
    /// Values written and marked done.
    public var replayed = 0
    /// Values left alone because their cell has a value.
    public var superseded = 0
    /// Values whose type still does not fit.
    public var refused = 0
    /// Entries of whole lines, which only an importer can read.
    public var lines = 0
}
