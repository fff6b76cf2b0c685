// Reads the times of rows of a segment, which have their own blocks.

/// Looks up times of ascending rows and keeps the last block.
struct RowTimes {
    private let segment: SegmentReader
    private var blockRows = 0..<0
    private var blockTimes: [Int64] = []

    init(_ segment: SegmentReader) {
        self.segment = segment
    }

    /// Appends the times of ascending rows, block by block.
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
        let (block, rows) = try segment.timeBlock(row: row)
        blockTimes = try segment.times(block: block)
        blockRows = rows
    }
}
