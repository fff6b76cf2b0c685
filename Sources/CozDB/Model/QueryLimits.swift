// Resource limits of a statement.

/// Resource limits of a statement. Exceeding one ends the query with `limitExceeded`; the message
/// has the limit's name and value.
public struct QueryLimits: Hashable, Sendable {
    /// Maximum length of the text in bytes. 1 to 64 MiB. Also the maximum number of values that
    /// bound lists put into the text.
    public var textSizeBytesMax = 1 << 20
    /// Maximum nesting of parentheses, subqueries and operator chains. 1 to 500; larger values
    /// count as 500.
    public var nestingDepthMax = 500
    /// Maximum number of result rows, also of a subquery whose result is materialized.
    public var rowCountMax = 1_000_000_000
    /// Maximum number of groups.
    public var groupCountMax = 10_000_000
    /// Maximum number of `GROUP BY time` buckets per group.
    public var bucketCountMax = 10_000_000
    /// Maximum memory of a statement's buffers in bytes: materialized function inputs, groups, rows
    /// to be sorted, subquery results, lists of series. A collected `QueryResult` counts too.
    /// Decoded blocks (a few megabytes) and buffers of other sinks do not. The columns of a
    /// statement count by themselves, and may take 16 MiB if the limit is less.
    public var memorySizeBytesMax = 4 << 30
    /// Maximum time for which all statements of a text may run together; nil is no limit. The time
    /// in which a cursor waits until its batches are taken does not count. A change that has begun
    /// is completed.
    public var durationMax: Duration?

    /// The largest `textSizeBytesMax`.
    static let textSizeBytesBound = 64 << 20

    /// Creates limits with the default values.
    public init() {}
}
