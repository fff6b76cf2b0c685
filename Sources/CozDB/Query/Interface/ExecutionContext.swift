// The state that all parts of a running query share: counters, cancellation and memory.

/// The counters, cancellation check and memory account of a query.
///
/// Unchecked, also for exclusive access: one thread at a time uses a context.
final class ExecutionContext: @unchecked Sendable {
    /// Phase times and returned rows; `total` also includes reads.
    @safe @exclusivity(unchecked) var counters = QueryCounters()
    /// The memory that the query's buffers hold.
    let memory: QueryMemory
    /// The open columns of the thread.
    lazy var columns = ColumnPool()
    /// Values and tree nodes visited by windows, a measure of their cost.
    var windowSteps = 0
    @safe @exclusivity(unchecked) private var counts: [ReadCounts] = []
    /// The cancellation check, shared by all threads of the query.
    let stop: CancellationCheck

    convenience init(_ options: QueryOptions, stop: CancellationCheck? = nil) {
        self.init(
            memory: QueryMemory(sizeBytesMax: options.effectiveLimits.memorySizeBytesMax),
            stop: stop ?? CancellationCheck(options.isCancelled))
    }

    private init(memory: QueryMemory, stop: CancellationCheck) {
        self.memory = memory
        self.stop = stop
    }

    /// A context for another thread of the same query with all counts at zero.
    var forAnotherThread: ExecutionContext {
        ExecutionContext(memory: memory, stop: stop)
    }

    /// Returns the read counts of a FROM item, given its number in the statement.
    func reads(_ source: Int) -> ReadCounts {
        while counts.count <= source { counts.append(ReadCounts()) }
        return counts[source]
    }

    /// Adds the read counts of another context of the same query.
    func add(_ other: ExecutionContext) {
        for (source, counts) in other.counts.enumerated() { reads(source).add(counts) }
    }

    /// All counts of the query.
    var total: QueryCounters {
        var total = counters
        for part in counts { total.add(part) }
        return total
    }

    /// Whether the query is cancelled.
    var isStopping: Bool { stop.isRaised }

    func checkCancelled() throws(DatabaseError) { try stop.check() }

    /// Counts the values that storage returned and checks for cancellation.
    func read(_ slice: ColumnSlice, _ source: Int) throws(DatabaseError) {
        let counts = reads(source)
        counts.rows += slice.count
        counts.bytes += slice.count * 16
        try checkCancelled()
    }

    /// Counts values that storage returned by bucket and checks for cancellation.
    func read(_ slice: BucketedSlice, _ source: Int) throws(DatabaseError) {
        let counts = reads(source)
        counts.rows += slice.count
        counts.bytes += slice.bits.count * 8
        try checkCancelled()
    }
}

extension QueryCounters {
    mutating func add(_ reads: ReadCounts) {
        rowsRead += reads.rows
        bytesRead += reads.bytes
        blocksInRange += reads.blocksInRange
        blocksOutOfRange += reads.blocksOutOfRange
        blocksSkipped += reads.blocksExcluded
        blocksSummarized += reads.blocksSummarized
        blocksRead += reads.blocksDecoded
        storedBytesRead += reads.storedBytes
    }
}
