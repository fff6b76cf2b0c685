// Options for opening a database, with units, defaults and ranges.

/// Options for opening a database. The defaults suit a study with a few hundred participants.
public struct DatabaseOptions: Sendable {
    /// When a write is acknowledged.
    public enum Durability: Hashable, Sendable {
        /// After fdatasync. An acknowledged write survives power loss.
        case full
        /// After the write to the operating system. A sync begins this many milliseconds after the
        /// first commit that it covers, 0 to 3,600,000. A process crash loses nothing. Power loss
        /// loses at most the writes of that interval and of the sync.
        case relaxed(milliseconds: Int)
    }

    /// Who may read the files.
    public enum FileAccess: Hashable, Sendable {
        /// Files 0600, directories 0700, whatever the umask.
        case ownerOnly
        /// Files 0640, directories 0750: members of the group may open the database read-only. LOCK
        /// stays 0600, so that a reader cannot take the lock and keep the writer out.
        case groupReadable
    }

    /// Whether opening for writing creates a database if the directory is absent or empty.
    public var createsDatabase = true

    /// When a write is acknowledged; `full` by default.
    public var durability: Durability = .full
    /// Who may read files created from now on; only the owner by default.
    public var fileAccess: FileAccess = .ownerOnly

    /// Size in bytes at which a memtable is flushed to a segment. A second memtable of this size
    /// may exist during the flush. 1 byte to 1 GiB; less than 1 MiB makes many small segments.
    public var memtableSizeBytesMax = 24 << 20

    /// Number of adjacent segments of similar size that triggers a background merge. 2 to 64.
    public var compactionSegmentCount = 8

    /// Whether segments are merged in the background. `compact()` works in any case.
    public var compactsInBackground = true

    /// Seconds that obsolete segments stay on disk for slow readers. Obsolete logs stay until the
    /// next flush, at most this long. 0 to 86,400.
    public var retireSeconds = 60

    /// Maximum length of an experiment, tag or field name, and of a tag value, in bytes of UTF-8.
    public static let nameSizeBytesMax = 65_535

    /// Maximum length of a string value in bytes of UTF-8. 1 byte to 16 MiB.
    public var stringSizeBytesMax = 1 << 20

    /// Maximum number of columns (fields and attributes) of an experiment, about 100 times what a
    /// study uses. Beyond it, values of new fields are refused one by one, and points with a new
    /// attribute as a whole. Removed columns count, because numbers are not used again. A flush or
    /// merge uses about 6 KB of memory per column. 1 to 1,000,000.
    public var columnCountMax = 30_000

    /// Approximate size limit of the rejects journal in bytes. A refused value takes about 100
    /// bytes; a refused line takes its own length and that of the reason. When the journal is full,
    /// refusals are counted but not kept (`WriteReport.unkeptRefusals`). 0 to 1 TiB.
    public var rejectsSizeBytesMax = 128 << 20

    /// Maximum number of experiments. Points of further experiments are refused. Every flush writes
    /// one segment per experiment. 1 to 100,000.
    public var experimentCountMax = 5000

    /// Maximum length of a series key: the names and values of the identity tags, plus four bytes
    /// per tag. Points with a longer key are refused.
    public static let seriesKeySizeBytesMax = 256 << 10

    /// Maximum size of all names, units, notes and declarations of all experiments, in bytes. They
    /// are stored in the manifest, which every flush rewrites.
    public static let schemasSizeBytesMax = 16 << 20

    /// Maximum size of a batch in bytes of its encoded form. In memory a batch can take up to 12
    /// times as much. 1 byte to 1 GiB.
    public var batchSizeBytesMax = 256 << 20

    /// Number of `async` calls that change the database at the same time, such as writes. Further
    /// calls wait. Writes share a few threads and their syncs; each other call has a
    /// thread. 1 to 10,000.
    public var changeThreadCountMax = 64

    /// Number of threads for `async` queries. Further queries wait. 1 to 10,000.
    public var queryThreadCountMax = 32

    /// Maximum number of `async` calls of either kind that wait for a thread. A further call throws
    /// `busy` at once. A waiting call keeps its arguments in memory, such as a batch. 0 means no
    /// call waits; `Int.max` means no limit.
    public var waitingCallCountMax = 10_000

    /// What happens to a batch if one of its points or values cannot be stored.
    public enum RefusalPolicy: Hashable, Sendable {
        /// The rest is stored. Refusals go to the rejects journal and are counted in the report.
        case report
        /// Nothing of the batch is stored, and `write` throws `usage` with an example.
        case `throw`
    }

    /// What happens to a batch that cannot be stored completely; `report` by default.
    public var refusalPolicy = RefusalPolicy.report

    /// Limits for statements whose `QueryOptions.limits` sets none.
    public var queryLimits = QueryLimits()

    /// Presets available to new experiments, by name. A preset is stored with the first experiment
    /// that uses it, so later openings need not pass it again. A stored preset never changes: a
    /// later one of the same name is ignored.
    public var presets: [SchemaPreset] = []

    /// Called for events of interest to an operator: a recovery, a flush, a merge, a lack of space,
    /// the end of writing after an error.
    ///
    /// Called on the thread that does the work, which waits. Calls that change or close the
    /// database would wait for that thread, so leave them to another one.
    public var onEvent: (@Sendable (DatabaseEvent) -> Void)?

    /// Changes each encoded commit before it is checked; only tests set it.
    var changeRecord: (@Sendable (inout [UInt8]) -> Void)?

    /// Creates options with the default values.
    public init() {}
}
