// How much one statement may take before it is refused.

/// Limits of a statement. Going beyond one ends the query with an error of kind `limitExceeded`
/// that names the limit and its value.
public struct QueryLimits: Hashable, Sendable {
    /// Longest text, in bytes. 1 to 64 MiB.
    public var textSizeBytesMax = 1 << 20
    /// Deepest nesting of parentheses, subqueries and chains of operators. 1 to 500; more counts
    /// as 500.
    public var nestingDepthMax = 500
    /// Most rows of one statement's answer, and of one subquery's that has to be kept whole.
    public var rowCountMax = 1_000_000_000
    /// Most groups of one statement.
    public var groupCountMax = 10_000_000
    /// Most buckets of `GROUP BY time` in one group.
    public var bucketCountMax = 10_000_000
    /// Most bytes that a statement's own buffers hold at one time: values that a function needs
    /// all of, groups, rows to be sorted, answers of subqueries, lists of series. Decoded blocks,
    /// a few megabytes, come on top; so does what a sink keeps, except that of a collected
    /// `QueryResult` counts, too.
    public var memorySizeBytesMax = 4 << 30

    /// The defaults.
    public init() {}
}
