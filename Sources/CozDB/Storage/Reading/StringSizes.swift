// Limits the rows that are decoded together by the size of their strings, so that memory does not
// grow with the length of strings. Only blocks that store their strings themselves count: a
// dictionary is small (docs/format/segment.md).

/// The sizes of the strings in a range of rows of one segment.
struct StringSizes {
    /// The approximate size of the strings of a batch of rows.
    static let batchSizeBytesMax = 8 << 20

    let rows: Range<Int>
    let sizeBytesMax: Int
    /// The first row in the range of each block, and the size of its strings.
    var blocks: [(row: Int, sizeBytes: Int)] = []

    /// Adds the strings of a column. Reads their lengths up to the limit.
    ///
    /// - Parameter chosen: rows of which a block must have any to be decoded; nil means all rows.
    mutating func add(_ column: ColumnPool.OpenColumn, among chosen: ChosenRows? = nil) {
        guard column.reader.storedType == .string else { return }
        let (directory, segment) = (column.reader.directory, column.reader.segment)
        var total = 0
        for block in directory.blocks(rows: rows) where !column.reader.isLoaded(block) {
            let blockRows = directory.rows(ofBlock: block)
            if let chosen, !chosen.hasAny(of: blockRows) { continue }
            // The rows end before an unreadable block: perhaps it is not needed.
            let known = try? segment.stringSizeBytes(directory, block: block)
            let size = known ?? sizeBytesMax + 1
            guard size > 0 else { continue }
            let row = max(rows.lowerBound, blockRows.lowerBound)
            blocks.append((row, size))
            total += size
            if total > sizeBytesMax, row > rows.lowerBound { return }
        }
    }

    /// The end of the first rows whose strings do not exceed the limit. At least one row.
    func end() -> Int {
        var total = 0
        for block in blocks.sorted(by: { $0.row < $1.row }) {
            total += block.sizeBytes
            if total > sizeBytesMax, block.row > rows.lowerBound { return block.row }
        }
        return rows.upperBound
    }
}
