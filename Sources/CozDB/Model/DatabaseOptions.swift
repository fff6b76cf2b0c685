// Every knob of a database, with unit, default and range.

/// How a database is opened. The defaults suit a study of a few hundred participants.
public struct DatabaseOptions: Sendable {
    /// When a write is acknowledged.
    public enum Durability: Hashable, Sendable {
        /// After fdatasync: an acknowledged write survives power loss.
        case full
        /// After the write to the operating system; synced at most this many milliseconds later.
        /// A crash of the process loses nothing, power loss at most that span.
        case relaxed(milliseconds: Int)
    }

    /// Who may read the files.
    public enum FileAccess: Hashable, Sendable {
        /// Files 0600, directories 0700, whatever the umask.
        case ownerOnly
        /// Files 0640, directories 0750: members of the group may open the database read-only.
        /// LOCK stays 0600, so that no reader can take the lock and keep the writer out.
        case groupReadable
    }

    /// Whether opening for writing makes a database where the directory is absent or empty.
    public var createsDatabase = true

    /// When a write is acknowledged; `full` unless told otherwise.
    public var durability: Durability = .full
    /// Who may read files that this opening makes; the owner alone unless told otherwise.
    public var fileAccess: FileAccess = .ownerOnly

    /// Rows are kept in memory up to this many bytes before they are written to a segment.
    /// Two such tables can exist while one is being written. 1 MiB to 1 GiB.
    public var memtableSizeBytesMax = 24 << 20

    /// Adjacent segments of similar size that make the background merge them. 2 to 64.
    public var compactionSegmentCount = 8

    /// Whether segments are merged in the background; `compact()` works in any case.
    public var compactsInBackground = true

    /// Seconds that segments which the newest manifest no longer names stay for slow readers. Logs
    /// stay until the next flush, at most so long. 0 to 86,400.
    public var retireSeconds = 60

    /// Longest name of an experiment, tag or field, and longest tag value, in bytes of UTF-8.
    public static let nameSizeBytesMax = 65_535

    /// Longest string value, in bytes of UTF-8. At most 16 MiB.
    public var stringSizeBytesMax = 1 << 20

    /// Columns (fields and attributes) that one experiment can have: a hundred times those of a
    /// study. What would be one more is refused, values of a new field alone, points with a new
    /// attribute as a whole. A row has no more values and attributes than that, and a flush or
    /// merge takes some six kilobytes of memory for each. 1 to 1,000,000.
    public var columnCountMax = 30_000

    /// What the rejects journal may hold, in bytes, about: a refused value takes some hundred, a
    /// line its own and its reason. What is refused when it is full is counted, not kept
    /// (`WriteReport.unkeptRefusals`). At least 0.
    public var rejectsSizeBytesMax = 128 << 20

    /// Experiments that a database can have; points of one more are refused. Each is a segment of
    /// its own in every flush. 1 to 100,000.
    public var experimentCountMax = 5000

    /// Longest series key: the names and values of the tags that identify a row, four bytes more
    /// for each tag. Points with a longer one are refused.
    public static let seriesKeySizeBytesMax = 256 << 10

    /// Names, units, notes and declarations of all experiments together, in bytes. The manifest
    /// has them, which is written with every flush.
    public static let schemasSizeBytesMax = 16 << 20

    /// Largest batch of one commit, in bytes of its encoded form; in memory each is up to twelve.
    /// At most 1 GiB.
    public var batchSizeBytesMax = 256 << 20

    /// Threads that run `async` calls which change the database: writing, flushing, closing. More
    /// calls wait for one. Writers that wait together share a sync. 1 to 10,000.
    public var changeThreadCountMax = 64

    /// Threads that run `async` queries; more wait. 1 to 10,000.
    public var queryThreadCountMax = 32

    /// `async` calls of either kind that may wait for a thread; one more throws `limitExceeded` at
    /// once. Each holds what it was given, such as a batch. 0: none waits; `Int.max`: all do.
    public var waitingCallCountMax = 10_000

    /// What becomes of a commit of which a point or value cannot be stored.
    public enum RefusalPolicy: Hashable, Sendable {
        /// The rest is stored; what is refused goes to the rejects journal, and the report counts
        /// it.
        case report
        /// Nothing of the batch is stored, and `write` throws `usage` with an example.
        case `throw`
    }

    /// What becomes of a commit of which a part is refused; `report` unless told otherwise.
    public var refusalPolicy = RefusalPolicy.report

    /// What a statement may take, where `QueryOptions.limits` does not say.
    public var queryLimits = QueryLimits()

    /// Presets that new experiments can be created with, by name. What a preset says is stored
    /// with the experiment: later openings need not name it again.
    public var presets: [SchemaPreset] = []

    /// Called with one line of text for events that an operator may want to see (recovery,
    /// compaction, retired files). Never called with values of measurements.
    public var log: (@Sendable (String) -> Void)?

    /// The defaults.
    public init() {}
}
