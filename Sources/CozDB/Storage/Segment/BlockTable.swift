// The entries of blocks in the directories of a segment; docs/format/segment.md.

/// The entry of a block: its rows, where it is, and what is in it.
struct BlockEntry: Sendable {
    /// From the first to the last row with a value.
    var rows: ClosedRange<Int>
    var handle: BlockHandle
    var encoding: UInt8
    /// The number of values, their times and, in fields of numbers, statistics.
    var summary: ColumnSummary
}

/// The entries of the blocks of one field, or of the blocks of times, stored by column.
struct BlockTable: Sendable {
    /// The columns, in the order of the file. A directory of times has those up to `lastTime`.
    enum Column {
        static let firstRow = 0
        static let lastRow = 1
        static let count = 2
        static let offset = 3
        static let sizeBytes = 4
        static let checksum = 5
        static let encoding = 6
        static let firstTime = 7
        static let lastTime = 8
        static let min = 9
        static let max = 10
        static let sum = 11
        static let first = 12
        static let last = 13
    }

    static let timeColumnCount = Column.lastTime + 1
    static let fieldColumnCount = Column.last + 1
    /// In fields of floats, the columns from here on are bit patterns of floats.
    static let firstStatistic = Column.min

    private(set) var integers: IntegerTable
    /// The number of values before each block.
    private(set) var ordinals: [Int] = []

    /// - Parameter integers: by default, the empty directory of a field.
    init(_ integers: IntegerTable = IntegerTable(columnCount: BlockTable.fieldColumnCount)) {
        self.integers = integers
        ordinals.reserveCapacity(count)
        var total = 0
        for block in 0..<count {
            ordinals.append(total)
            // Damaged counts may overflow. `check` rejects them.
            total &+= valueCount(block)
        }
    }

    var count: Int { integers.count }

    // MARK: Columns

    func firstRow(_ block: Int) -> Int { integers.int(Column.firstRow, block) }

    func lastRow(_ block: Int) -> Int { integers.int(Column.lastRow, block) }

    /// From the first to the last row with a value.
    func rows(ofBlock block: Int) -> Range<Int> {
        let first = firstRow(block)
        return first..<max(first, lastRow(block) + 1)
    }

    /// The number of values.
    func valueCount(_ block: Int) -> Int { integers.int(Column.count, block) }

    func offset(_ block: Int) -> Int { integers.int(Column.offset, block) }

    func sizeBytes(_ block: Int) -> Int { integers.int(Column.sizeBytes, block) }

    func handle(_ block: Int) -> BlockHandle {
        BlockHandle(
            offset: offset(block), sizeBytes: sizeBytes(block),
            checksum: UInt32(truncatingIfNeeded: integers.int(Column.checksum, block)))
    }

    func encoding(_ block: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: integers.int(Column.encoding, block))
    }

    func firstTime(_ block: Int) -> Int64 {
        Int64(bitPattern: integers.columns[Column.firstTime][block])
    }

    func lastTime(_ block: Int) -> Int64 {
        Int64(bitPattern: integers.columns[Column.lastTime][block])
    }

    /// Statistics are 0 in a directory of times.
    func summary(_ block: Int, type: FieldType) -> ColumnSummary {
        func word(_ column: Int) -> UInt64 {
            column < integers.columns.count ? integers.columns[column][block] : 0
        }
        return ColumnSummary(
            type: type, count: valueCount(block), firstTime: firstTime(block),
            lastTime: lastTime(block), min: word(Column.min), max: word(Column.max),
            sum: word(Column.sum), first: word(Column.first), last: word(Column.last))
    }

    /// The blocks that may have values in these rows.
    func blocks(rows: Range<Int>) -> Range<Int> {
        guard !rows.isEmpty else { return 0..<0 }
        let start = firstBlock(from: rows.lowerBound)
        let end = integers.columns[Column.firstRow].partitioningIndex {
            Int($0) >= rows.upperBound
        }
        return start..<max(start, end)
    }

    /// The first block whose last row is not before a row.
    func firstBlock(from row: Int) -> Int {
        integers.columns[Column.lastRow].partitioningIndex { Int($0) >= row }
    }

    /// In a directory of times: the block with a row of the segment, and all rows of the block.
    /// Each row is in exactly one block: no block has more values than rows, and together they have
    /// as many as the segment has rows (`check`).
    func timeBlock(row: Int) -> (block: Int, rows: Range<Int>) {
        let block = firstBlock(from: row)
        return (block, rows(ofBlock: block))
    }

    /// Whether a block can be decoded only with other blocks of the segment.
    func isReference(_ block: Int) -> Bool {
        BlockEncoding(rawValue: encoding(block))?.isReference ?? false
    }

    // MARK: Entries

    func entry(_ block: Int, type: FieldType) -> BlockEntry {
        BlockEntry(
            rows: firstRow(block)...max(firstRow(block), lastRow(block)), handle: handle(block),
            encoding: encoding(block), summary: summary(block, type: type))
    }

    mutating func append(_ entry: BlockEntry) {
        ordinals.append(count == 0 ? 0 : ordinals[count - 1] + valueCount(count - 1))
        let summary = entry.summary
        let words = [
            UInt64(entry.rows.lowerBound), UInt64(entry.rows.upperBound), UInt64(summary.count),
            UInt64(entry.handle.offset), UInt64(entry.handle.sizeBytes),
            UInt64(entry.handle.checksum), UInt64(entry.encoding),
            UInt64(bitPattern: summary.firstTime), UInt64(bitPattern: summary.lastTime),
            summary.min, summary.max, summary.sum, summary.first, summary.last,
        ]
        integers.append(words.prefix(integers.columns.count))
    }

    /// Changes the handle of a block that was moved.
    mutating func move(_ block: Int, to handle: BlockHandle) {
        integers.columns[Column.offset][block] = UInt64(handle.offset)
        integers.columns[Column.checksum][block] = UInt64(handle.checksum)
    }

    /// Checks that rows ascend, no block has more values than rows, and none is larger than the
    /// file.
    ///
    /// - Parameter valueCount: the number of values in all blocks.
    func check(rowCount: Int, valueCount: Int, fileSizeBytes: Int) throws(FormatError) {
        var nextRow = 0
        var total = 0
        for block in 0..<count {
            let (first, last) = (firstRow(block), lastRow(block))
            let count = self.valueCount(block)
            guard first >= nextRow, first <= last, last < rowCount, count > 0,
                count <= SegmentFormat.blockCountMax, count <= last - first + 1
            else {
                throw FormatError(
                    .invalid,
                    "a block whose rows or number of values are out of range", at: 0)
            }
            guard (0...fileSizeBytes).contains(sizeBytes(block)) else {
                throw FormatError(.invalid, "a block that is larger than its file", at: 0)
            }
            nextRow = last + 1
            total += count
        }
        guard total == valueCount else {
            throw FormatError(.invalid, "\(total) values in blocks, expected \(valueCount)", at: 0)
        }
    }
}
