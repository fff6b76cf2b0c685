// A cursor over one column of a series whose rows are all in one segment. Nothing overlaps there,
// so blocks need no merging. ColumnCursor reads all other series.

struct SingleSegmentCursor {
    private let column: Column
    private let part: Series.Part
    private let range: TimeRange
    private let counts: ReadCounts?
    private let shape: ColumnShape
    private let open: ColumnPool.OpenColumn
    /// The rows of the series in the range, and the blocks with values of them.
    private let rows: Range<Int>
    private let blocks: Range<Int>

    /// nil if the column has no value in the segment.
    init?(
        _ view: ExperimentView, column: ColumnID, part: Series.Part, range: TimeRange,
        counts: ReadCounts?, pool: ColumnPool, shape: ColumnShape
    ) throws(DatabaseError) {
        guard let open = try pool.column(column, source: part.source, of: view)
        else { return nil }
        self.column = view.schema.column(column)
        self.part = part
        self.range = range
        self.counts = counts
        self.shape = shape
        self.open = open
        let directory = open.reader.directory
        let all = directory.blocks(rows: part.rows)
        rows = try all.isEmpty ? part.rows : view.sources[part.source].rows(of: part, in: range)
        blocks = rows == part.rows ? all : directory.blocks(rows: rows)
        counts?.blocksOutOfRange += all.count
    }

    func run(
        _ summarize: (_ first: Int64, _ last: Int64) -> Bool,
        _ body: (ColumnPiece) throws(DatabaseError) -> Bool
    ) throws(DatabaseError) {
        guard !blocks.isEmpty else { return }
        var order = OrderCheck()
        let directory = open.reader.directory
        let mayBeSummary = column.isStored(as: open.reader.storedType)
        for block in blocks {
            let (first, last, isOwn) = directory.bounds(ofBlock: block, in: part)
            guard range.overlaps(first: first, last: last) else { continue }
            counts?.blocksInRange += 1
            counts?.blocksOutOfRange -= 1
            let isCovered = range.covers(first: first, last: last)
            if mayBeSummary, isOwn, isCovered, summarize(first, last) {
                counts?.blocksSummarized += 1
                let summary = directory.summary(block, type: column.type)
                guard try body(.summary(summary)) else { return }
                continue
            }
            if case .buckets(let buckets, let withValues) = shape, mayBeSummary,
                FixedBuckets.range.covers(first: first, last: last)
            {
                let slice = try bucketed(block, buckets, withValues)
                guard slice.count > 0 else { continue }
                guard try body(.buckets(slice)) else { return }
                continue
            }
            let slice = try values(block, isCovered)
            guard slice.count > 0 else { continue }
            guard order.accepts(slice.times.span) else {
                throw open.reader.segment.timesOutOfOrder
            }
            guard try body(.values(slice)) else { return }
        }
    }

    private func values(_ block: Int, _ isCovered: Bool) throws(DatabaseError) -> ColumnSlice {
        counts?.blocksDecoded += 1
        counts?.storedBytes += open.reader.directory.sizeBytes(block)
        var withTimes = !isCovered || !column.isStored(as: open.reader.storedType)
        if case .untimed = shape {} else { withTimes = true }
        var slice = try open.reader.values(block: block, rows: rows, withTimes: withTimes)
        slice = slice.shown(as: column)
        if !isCovered { slice.trim(to: range) }
        return slice
    }

    /// The range of rows already limits the values to the time range.
    private func bucketed(
        _ block: Int, _ buckets: FixedBuckets, _ withValues: Bool
    ) throws(DatabaseError) -> BucketedSlice {
        counts?.blocksDecoded += 1
        if withValues { counts?.storedBytes += open.reader.directory.sizeBytes(block) }
        return try open.reader.bucketed(
            block: block, rows: rows, buckets, withValues: withValues)
    }
}
