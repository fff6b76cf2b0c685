// The options of a query: clock, bound parameters, limits and cancellation.

/// The options of a query.
public struct QueryOptions: Sendable {
    /// The value of `now()`, and the default upper bound of `GROUP BY time`; nil means the time of
    /// the call by the system clock.
    public var now: Timestamp?
    /// The values of `$name` parameters.
    public var parameters: [String: QueryParameter] = [:]
    /// Whether to answer like InfluxDB instead of reporting an error. An unknown field becomes an
    /// empty column and an unknown experiment an empty result.
    public var influxCompatible = false
    /// Whether DELETE and DROP only report what they would delete.
    public var isDryRun = false
    /// Whether DELETE and DROP report counts of what they deleted. Ignored under
    /// `influxCompatible`, where their result is empty.
    public var reportsDeletions = true

    /// Whether to mask the values of credential columns and tags (`id_password`, `api_*_key`).
    /// Masking follows the origin of a value, so aliases do not bypass it. A WHERE condition on
    /// such a column is refused, as is every statement that changes data.
    public var redactsSecrets = false

    /// Whether SHOW FIELDS leaves out fields without values. With many fields and groups, these are
    /// nearly all rows.
    package var omitsEmptyFields = false

    /// Whether the text was generated from a schema, which may have many fields: it may then be as
    /// long as any text.
    package var isGenerated = false

    /// The attempt to run on the caller's thread; nil if the query may take its time.
    var brief: BriefRun?

    /// The limits of a statement; nil means `DatabaseOptions.queryLimits`.
    public var limits: QueryLimits?

    /// A cancellation check, called between blocks. If it returns true, the query fails with an
    /// error of kind `cancelled`. It must not change the database: while a DELETE runs, changes
    /// wait for it.
    public var isCancelled: (@Sendable () -> Bool)?

    /// Creates options with default values.
    ///
    /// - Parameter now: the value of `now()`; nil means the time of the call.
    public init(now: Timestamp? = nil) {
        self.now = now
    }
}

extension QueryOptions {
    /// The limits in effect.
    var effectiveLimits: QueryLimits {
        get { limits ?? QueryLimits() }
        set { limits = newValue }
    }

    var textSizeBytesMax: Int {
        get { effectiveLimits.textSizeBytesMax }
        set { effectiveLimits.textSizeBytesMax = newValue }
    }
    var nestingDepthMax: Int {
        get { effectiveLimits.nestingDepthMax }
        set { effectiveLimits.nestingDepthMax = newValue }
    }
    var rowCountMax: Int {
        get { effectiveLimits.rowCountMax }
        set { effectiveLimits.rowCountMax = newValue }
    }
    var groupCountMax: Int {
        get { effectiveLimits.groupCountMax }
        set { effectiveLimits.groupCountMax = newValue }
    }
    var bucketCountMax: Int {
        get { effectiveLimits.bucketCountMax }
        set { effectiveLimits.bucketCountMax = newValue }
    }

    /// The value of `now()`. A call sets it once (`resolved`), so that all of its statements have
    /// the same.
    package var currentTime: Timestamp { now ?? .now }

    /// Returns the options of one call: with its time, with its parameters, and with the database's
    /// limits, if the options set none.
    func resolved(
        _ parameters: [String: any QueryParameterConvertible] = [:], limits: QueryLimits
    ) -> QueryOptions {
        var options = self
        options.now = currentTime
        for (name, value) in parameters { options.parameters[name] = value.queryParameter }
        if options.limits == nil { options.limits = limits }
        if isGenerated { options.textSizeBytesMax = QueryLimits.textSizeBytesBound }
        return options
    }
}

/// The counters of a run of statements, for monitoring.
public struct QueryCounters: Hashable, Sendable {
    /// Rows, or values of single columns, read from storage.
    public var rowsRead = 0
    /// Blocks of the requested series and columns that overlap the time range. A block holds up to
    /// 1024 values of one column. Data in a memtable counts as one block per series and column.
    public var blocksInRange = 0
    /// Blocks skipped because of their times.
    public var blocksOutOfRange = 0
    /// Blocks in range that were skipped because their statistics rule out a matching row.
    public var blocksSkipped = 0
    /// Blocks in range that were answered from their statistics alone.
    public var blocksSummarized = 0
    /// Blocks decoded. A block that is decoded twice counts twice. With LIMIT, some blocks in range
    /// may not be visited.
    public var blocksRead = 0
    /// Uncompressed bytes of the values returned by storage.
    public var bytesRead = 0
    /// Compressed bytes of the decoded blocks.
    public var storedBytesRead = 0
    /// Rows returned.
    public var rowsReturned = 0
    /// Time spent parsing.
    public var parse: Duration = .zero
    /// Time spent planning: resolving names and choosing what to read.
    public var plan: Duration = .zero
    /// Time spent reading, computing and in the sink.
    public var execute: Duration = .zero

    /// Creates counters that are all zero.
    public init() {}
}
