// Times of rows of a segment, which are stored in blocks of their own.

/// Looks up times of ascending rows; keeps the block used last.
struct RowTimes {
    private let segment: SegmentReader
    private var directory: FieldDirectory?
    private var blockRows = 0..<0
    private var blockTimes: [Int64] = []

    init(_ segment: SegmentReader) {
        self.segment = segment
    }

    /// Appends the times of ascending rows, piece by piece of the blocks of times.
    mutating func append(
        _ rows: Span<UInt32>, to times: inout [Int64]
    ) throws(DatabaseError) {
        times.reserveCapacity(times.count + rows.count)
        var index = 0
        while index < rows.count {
            try load(row: Int(rows[index]))
            var end = rows.count
            if Int(rows[end - 1]) >= blockRows.upperBound {
                end = firstIndex(
                    in: rows, notBefore: UInt32(blockRows.upperBound), from: index)
            }
            appendWords(
                of: blockTimes.span, at: rows.extracting(index..<end),
                from: blockRows.lowerBound, to: &times)
            index = end
        }
    }

    private mutating func load(row: Int) throws(DatabaseError) {
        guard !blockRows.contains(row) else { return }
        let directory: FieldDirectory
        if let known = self.directory {
            directory = known
        } else {
            directory = try segment.timeBlocks()
        }
        self.directory = directory
        let (block, rows) = directory.timeBlock(row: row)
        blockTimes = try segment.times(block: block)
        blockRows = rows
    }
}
