// What was found where points with different tags became one row.

/// Rows in which points met whose tags differ outside the identity. InfluxDB would have kept such
/// points apart; here their fields are united, and of two values for one field the later wins.
public struct TagSetMerges: Hashable, Sendable {
    /// One such row.
    public struct Example: Hashable, Sendable {
        /// The experiment of the row.
        public var experiment: String
        /// The row's identity.
        public var key: SeriesKey
        /// The time of the row.
        public var time: Timestamp
        /// The tags in which two of its points differ.
        public var tags: [TagDifference]
    }

    /// One tag of two points.
    public struct TagDifference: Hashable, Sendable {
        /// The name of the tag.
        public var name: String
        /// The value of the point that came first; nil where it did not have the tag.
        public var earlier: String?
        /// The value of the point that came later; nil where it did not have the tag.
        public var later: String?
    }

    /// How many rows.
    public var rows = 0
    /// Values in these rows that were replaced by a different one.
    public var replacedValues = 0
    /// Names of the tags that differed in any of the rows, in byte order.
    public var tags: [String] = []
    /// Whether one of the points lacked a tag that another had: then only the identity `all`
    /// keeps them apart.
    public var isTagMissing = false
    /// One of the rows found last; nil where there are none.
    public var example: Example?

    /// Nothing found.
    public init() {}

    mutating func add(_ other: TagSetMerges) {
        rows += other.rows
        replacedValues += other.replacedValues
        note(other.tags)
        isTagMissing = isTagMissing || other.isTagMissing
        example = other.example ?? example
    }

    /// Takes in how two points of one row differ.
    mutating func note(_ differences: [TagDifference]) {
        note(differences.map(\.name))
        if differences.contains(where: { $0.earlier == nil || $0.later == nil }) {
            isTagMissing = true
        }
    }

    private mutating func note(_ names: [String]) {
        for name in names where !tags.contains(where: { Name($0) == Name(name) }) {
            tags.append(name)
        }
        tags.sort { Name($0) < Name($1) }
    }
}
