// Limits the rows that are decoded together by the size of their strings, so that memory does not
// grow with the length of strings. Only blocks that store their strings themselves count: a
// dictionary is small (docs/format/segment.md).

/// The sizes of the strings in a range of rows of one segment.
struct StringSizes {
    /// The approximate size of the strings of a batch of rows.
    static let batchSizeBytesMax = 8 << 20

    private let rows: Range<Int>
    private let sizeBytesMax: Int
    /// The first row in the range of each block, and the size of its strings.
    private var blocks: [(row: Int, sizeBytes: Int)] = []

    init(_ rows: Range<Int>, sizeBytesMax: Int) {
        self.rows = rows
        self.sizeBytesMax = sizeBytesMax
    }

    /// Adds a column. Reads the lengths of its strings up to the limit.
    ///
    /// - Parameter isRead: whether a block with these rows will be decoded.
    mutating func add(
        _ reader: SegmentColumnReader, where isRead: (Range<Int>) -> Bool = { _ in true }
    ) {
        guard reader.storedType == .string else { return }
        var total = 0
        for block in reader.directory.blocks(rows: rows) where !reader.isLoaded(block) {
            let blockRows = reader.directory.rows(ofBlock: block)
            guard isRead(blockRows) else { continue }
            // The rows end before an unreadable block: perhaps it is not needed.
            let known = try? reader.segment.stringSizeBytes(reader.directory, block: block)
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
