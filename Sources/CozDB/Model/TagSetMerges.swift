// Statistics on rows that merged points with different tags.

/// Rows that merged points whose attributes (tags outside the identity) differ. InfluxDB would keep
/// such points apart. Here their fields are united, and the later of two values for a field wins.
public struct TagSetMerges: Hashable, Sendable {
    /// One merged row.
    public struct Example: Hashable, Sendable {
        /// The row's experiment.
        public var experiment: String
        /// The row's identity tags.
        public var key: SeriesKey
        /// The row's time.
        public var time: Timestamp
        /// The tags in which two of its points differ.
        public var tags: [TagDifference]
    }

    /// A tag in which two points differ.
    public struct TagDifference: Hashable, Sendable {
        /// The tag's name.
        public var name: String
        /// Its value in the earlier point; nil if that point did not have the tag.
        public var earlier: String?
        /// Its value in the later point; nil if that point did not have the tag.
        public var later: String?
    }

    /// Number of such rows.
    public var rows = 0
    /// Number of values in these rows that a different value replaced.
    public var replacedValues = 0
    /// Names of the differing tags of all rows, in byte order.
    public var tags: [String] { names.sorted().map(\.text) }
    var names: Set<Name> = []
    /// Whether a point lacked a tag that another had. Only the identity `all` keeps such points
    /// apart.
    public var isTagMissing = false
    /// One of the rows found last; nil if there are none.
    public var example: Example?

    /// Creates empty statistics.
    public init() {}

    mutating func add(_ other: TagSetMerges) {
        rows += other.rows
        replacedValues += other.replacedValues
        names.formUnion(other.names)
        isTagMissing = isTagMissing || other.isTagMissing
        example = other.example ?? example
    }

    /// Adds the differences between two points of one row.
    mutating func note(_ differences: [TagDifference]) {
        for difference in differences { names.insert(Name(difference.name)) }
        if differences.contains(where: { $0.earlier == nil || $0.later == nil }) {
            isTagMissing = true
        }
    }
}
