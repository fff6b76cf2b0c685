// What all parts of a running query share: counters, the wish to stop, memory.

/// Counters, the wish to stop and the memory of a query; one thread at a time.
final class CounterBox {
    /// Times and rows returned; `total` has what was read too.
    var value = QueryCounters()
    /// What the buffers of the query take.
    let memory: QueryMemory
    /// Columns that the thread has open.
    lazy var columns = ColumnPool()
    /// Values and nodes of trees that windows looked at: what their cost grows with.
    var windowSteps = 0
    private var counts: [ReadCounts] = []
    /// Of the query, whatever thread works on it.
    let stop: StopSign

    /// Whether blocks are cut by the values they have, not by their columns.
    let cutsByValues: Bool

    convenience init(_ options: QueryOptions, stop: StopSign? = nil) {
        self.init(
            memory: QueryMemory(sizeBytesMax: options.effectiveLimits.memorySizeBytesMax),
            stop: stop ?? StopSign(options.isCancelled),
            cutsByValues: options.cutsBatchesByValues)
    }

    private init(memory: QueryMemory, stop: StopSign, cutsByValues: Bool) {
        self.memory = memory
        self.stop = stop
        self.cutsByValues = cutsByValues
    }

    /// One for the same query with nothing counted yet.
    var emptied: CounterBox {
        CounterBox(memory: memory, stop: stop, cutsByValues: cutsByValues)
    }

    /// The counts of an item of FROM, by its number in the statement.
    func reads(_ source: Int) -> ReadCounts {
        while counts.count <= source { counts.append(ReadCounts()) }
        return counts[source]
    }

    /// Adds what another one counted of the same query.
    func add(_ other: CounterBox) {
        for (source, counts) in other.counts.enumerated() { reads(source).add(counts) }
    }

    /// Everything that was counted.
    var total: QueryCounters {
        var total = value
        for part in counts { total.add(part) }
        return total
    }

    /// Whether the query shall stop.
    var isStopping: Bool { stop.isRaised }

    func checkCancelled() throws(DatabaseError) { try stop.check() }

    /// Counts values handed over, and asks whether to go on.
    func read(_ slice: ColumnSlice, _ source: Int) throws(DatabaseError) {
        let counts = reads(source)
        counts.rows += slice.count
        counts.bytes += slice.count * 16
        try checkCancelled()
    }

    /// The same for values that came by buckets.
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
