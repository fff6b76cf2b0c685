// What a query is run with: clock, bound parameters, limits, cancellation.

/// The value of a bound parameter (`$name` in a statement). It is put in as one word, never as
/// text, so that no value can change what the statement means.
public enum QueryParameter: Hashable, Sendable {
    /// A number, string or boolean.
    case value(FieldValue)
    /// The name of an experiment, field, tag or function.
    case identifier(String)
    /// A regular expression, without slashes.
    case regex(String)
    /// A span of time such as `10m`.
    case duration(String)
}

/// How a query is run.
public struct QueryOptions: Sendable {
    /// What `now()` is; the upper bound of `GROUP BY time` where the statement names none.
    public var now: Timestamp
    /// Values for `$name`.
    public var parameters: [String: QueryParameter] = [:]
    /// Answer as InfluxDB does where CozDB would rather report an error: a field that no
    /// experiment knows is an empty column, an experiment that does not exist an empty answer.
    public var influxCompatible = false
    /// Answer DELETE and DROP with what they would take away, and change nothing.
    public var isDryRun = false
    /// Answer DELETE and DROP with counts of what they took away; never under
    /// `influxCompatible`, whose answer is empty.
    public var reportsDeletions = true

    /// Mask the values of columns and tags that open doors, `id_password` and `api_*_key`: by where
    /// a value comes from, whatever it is called in the answer. WHERE on one is refused, and so
    /// is every statement that changes data.
    public var redactsSecrets = false

    /// Whether a column without any value in a batch counts for nothing when batches are cut: for
    /// who passes over such columns. Then a batch of very many columns can have thousands of rows.
    package var cutsBatchesByValues = false

    /// What a statement may take; nil is what `DatabaseOptions.queryLimits` says.
    public var limits: QueryLimits?

    /// Asked between blocks; true ends the query with an error of kind `cancelled`.
    public var isCancelled: (@Sendable () -> Bool)?

    /// - Parameter now: the clock of the query.
    public init(now: Timestamp) {
        self.now = now
    }
}

extension QueryOptions {
    /// The limits that hold.
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

    /// The same where the query says nothing of limits: those of its database.
    func limited(by limits: QueryLimits) -> QueryOptions {
        var options = self
        if options.limits == nil { options.limits = limits }
        return options
    }
}

/// What a run of statements did, for `--timing` and monitoring.
public struct QueryCounters: Hashable, Sendable {
    /// Rows, or values of single columns, read from storage.
    public var rowsRead = 0
    /// Blocks of the series and columns asked for that reach into the range of time. A block is a
    /// run of up to 1024 values of one column; what is in memory still counts as one block for
    /// each series and column.
    public var blocksInRange = 0
    /// Blocks of them left alone because of their times.
    public var blocksOutOfRange = 0
    /// Blocks in range left alone because their statistics tell that no row in them is wanted.
    public var blocksSkipped = 0
    /// Blocks in range answered from their statistics alone.
    public var blocksSummarized = 0
    /// Blocks decoded. One that is decoded twice counts twice; with LIMIT and the like there can
    /// be blocks in range that nothing was done with.
    public var blocksRead = 0
    /// Bytes of values handed over by storage, uncompressed.
    public var bytesRead = 0
    /// Bytes of the blocks decoded as they are stored, compressed.
    public var storedBytesRead = 0
    /// Rows of the answer.
    public var rowsReturned = 0
    /// Time spent on reading the text.
    public var parse: Duration = .zero
    /// Time spent on resolving names and choosing what to read.
    public var plan: Duration = .zero
    /// Time spent on reading and computing, and in the sink.
    public var execute: Duration = .zero

    /// Nothing done.
    public init() {}
}
