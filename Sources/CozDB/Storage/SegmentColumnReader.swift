// Decodes blocks of one field of a segment together with the rows, or times, of the values.

/// Values of one column with the rows they belong to.
struct RowValues {
    var rows: [UInt32] = []
    var bits: [UInt64] = []
    var strings = StringTable.empty

    mutating func removeAll() {
        rows.removeAll(keepingCapacity: true)
        bits.removeAll(keepingCapacity: true)
        strings = .empty
    }
}

/// A decoded block with the rows of its values.
final class ColumnBlock: Sendable {
    let number: Int
    let rows: [UInt32]
    let bits: [UInt64]
    let strings: StringTable

    init(number: Int, rows: [UInt32], bits: [UInt64], strings: StringTable) {
        self.number = number
        self.rows = rows
        self.bits = bits
        self.strings = strings
    }
}

struct SegmentColumnReader {
    let directory: FieldDirectory
    /// The type the values have in this segment; the schema's may have been widened since.
    let storedType: FieldType

    private let segment: SegmentReader
    private let field: Int
    private var presence: PresenceVector?
    /// The chunk of the presence vector decoded last, and its rows.
    private var chunk = -1
    private var chunkRows: [UInt32] = []
    /// The block decoded last.
    private var loaded: ColumnBlock?
    private var dictionary: StringTable?
    private var timeDirectory: IntegerTable?
    private var timeBlock = -1
    private var timeBlockFirstRow = 0
    private var blockTimes: [Int64] = []

    init(_ segment: SegmentReader, field: Int, directory: FieldDirectory) {
        self.segment = segment
        self.field = field
        self.directory = directory
        storedType = segment.footer.fields[field].column.type
    }

    /// The values of a block that lie in these rows.
    mutating func values(block: Int, rows: Range<Int>) throws(DatabaseError) -> ColumnSlice {
        let table = directory.table
        let isShared =
            table.int(BlockColumn.firstRow, block) < rows.lowerBound
            || table.int(BlockColumn.lastRow, block) >= rows.upperBound
        let loaded = try isShared ? loadShared(block) : load(block)
        let places = loaded.places(rows)
        var slice = ColumnSlice(type: storedType)
        slice.strings = loaded.strings
        slice.bits = places.count < loaded.bits.count ? Array(loaded.bits[places]) : loaded.bits
        slice.times = try times(loaded.rows[places])
        let next = block + 1
        if next >= table.count || table.int(BlockColumn.firstRow, next) >= rows.upperBound {
            forgetBlocks()
        }
        return slice
    }

    /// Appends all values in these rows, each with its row counted from the first of them.
    /// Asking for ascending rows reads each block once.
    mutating func append(rows: Range<Int>, to target: inout RowValues) throws(DatabaseError) {
        for block in directory.blocks(rows: rows) {
            let loaded = try load(block)
            let places = loaded.places(rows)
            guard !places.isEmpty else { continue }
            var offset: UInt64 = 0
            if target.bits.isEmpty {
                target.strings = loaded.strings
            } else if target.strings !== loaded.strings {
                offset = UInt64(target.strings.count)
                target.strings = StringTable(target.strings, loaded.strings)
            }
            for index in places {
                target.rows.append(loaded.rows[index] - UInt32(rows.lowerBound))
                target.bits.append(loaded.bits[index] + offset)
            }
        }
    }

    /// Decodes a block, unless another series that shares it has just been read.
    private mutating func loadShared(_ block: Int) throws(DatabaseError) -> ColumnBlock {
        if loaded?.number != block {
            if let known = segment.sharedBlock(ofField: field), known.number == block {
                return known
            }
            segment.keep(try load(block), ofField: field)
        }
        return try load(block)
    }

    /// At the last block of a series: a million readers of a row each must not keep one each.
    private mutating func forgetBlocks() {
        loaded = nil
        chunk = -1
        chunkRows = []
        timeBlock = -1
        blockTimes = []
    }

    /// Decodes a block, unless it is the one decoded last.
    private mutating func load(_ block: Int) throws(DatabaseError) -> ColumnBlock {
        if let loaded, loaded.number == block { return loaded }
        loaded = nil
        let bits: [UInt64]
        var strings = StringTable.empty
        let table = directory.table
        let count = table.int(BlockColumn.count, block)
        let encoding = UInt8(truncatingIfNeeded: table.int(BlockColumn.encoding, block))
        if encoding == SegmentFormat.plainStrings, storedType == .string {
            strings = try segment.plainStrings(table, block: block)
            bits = (0..<count).map { UInt64($0) }
        } else {
            bits = try segment.words(
                table, block: block, type: storedType == .string ? .integer : storedType)
            if storedType == .string {
                strings = try loadDictionary()
                try check(bits, below: strings.count, block: block)
            }
        }
        let firstOrdinal = directory.ordinals[block]
        let rows = try positions(firstOrdinal..<(firstOrdinal + count), block: block)
        let decoded = ColumnBlock(number: block, rows: rows, bits: bits, strings: strings)
        loaded = decoded
        return decoded
    }

    /// The rows that have the values with these ordinals.
    private mutating func positions(
        _ ordinals: Range<Int>, block: Int
    ) throws(DatabaseError) -> [UInt32] {
        let vector = try loadPresence()
        var rows: [UInt32] = []
        rows.reserveCapacity(ordinals.count)
        var ordinal = ordinals.lowerBound
        while ordinal < ordinals.upperBound {
            let index = vector.chunk(ofOrdinal: ordinal)
            guard index >= 0 else { break }
            let first = ordinal - vector.chunk(index).firstOrdinal
            if let all = vector.allRows(ofChunk: index) {
                let taken = min(all.count - first, ordinals.upperBound - ordinal)
                guard taken > 0 else { break }
                let start = all.lowerBound + first
                rows.append(contentsOf: (start..<(start + taken)).lazy.map { UInt32($0) })
                ordinal += taken
                continue
            }
            if index != chunk {
                let group = segment.footer.groups[segment.footer.fields[field].group]
                chunkRows = try namingFile(segment.path, at: group.offset) {
                    () throws(FormatError) in
                    try vector.rows(ofChunk: index)
                }
                chunk = index
            }
            let taken = min(chunkRows.count - first, ordinals.upperBound - ordinal)
            guard taken > 0 else { break }
            rows.append(contentsOf: chunkRows[first..<(first + taken)])
            ordinal += taken
        }
        guard rows.count == ordinals.count else {
            throw DatabaseError(
                .damaged,
                "a block of \(ordinals.count) values, but its presence vector has \(rows.count)",
                file: segment.path, offset: directory.table.int(BlockColumn.offset, block))
        }
        return rows
    }

    /// The times of ascending rows.
    private mutating func times(_ rows: ArraySlice<UInt32>) throws(DatabaseError) -> [Int64] {
        let table = try loadTimeDirectory()
        var times: [Int64] = []
        times.reserveCapacity(rows.count)
        for row in rows {
            let row = Int(row)
            if timeBlock < 0 || row < timeBlockFirstRow
                || row >= timeBlockFirstRow + blockTimes.count
            {
                let lastRows = table.columns[BlockColumn.lastRow]
                let block = lastRows.partitioningIndex { Int($0) >= row }
                guard block < table.count, table.int(BlockColumn.firstRow, block) <= row else {
                    throw DatabaseError(
                        .damaged, "no block of times has row \(row)", file: segment.path,
                        offset: segment.footer.timeDirectory.offset)
                }
                blockTimes = try segment.times(block: block)
                timeBlock = block
                timeBlockFirstRow = table.int(BlockColumn.firstRow, block)
            }
            times.append(blockTimes[row - timeBlockFirstRow])
        }
        return times
    }

    private func check(
        _ codes: [UInt64], below count: Int, block: Int
    ) throws(DatabaseError) {
        guard codes.allSatisfy({ $0 < UInt64(count) }) else {
            throw DatabaseError(
                .damaged, "a string code beyond the dictionary of \(count)", file: segment.path,
                offset: directory.table.int(BlockColumn.offset, block))
        }
    }

    private mutating func loadPresence() throws(DatabaseError) -> PresenceVector {
        if let presence { return presence }
        let loaded = try segment.presence(ofField: field)
        presence = loaded
        return loaded
    }

    private mutating func loadDictionary() throws(DatabaseError) -> StringTable {
        if let dictionary { return dictionary }
        let loaded = try segment.dictionary(field)
        dictionary = loaded
        return loaded
    }

    private mutating func loadTimeDirectory() throws(DatabaseError) -> IntegerTable {
        if let timeDirectory { return timeDirectory }
        let loaded = try segment.timeDirectory()
        timeDirectory = loaded
        return loaded
    }
}

extension ColumnBlock {
    /// The places of the values that lie in these rows.
    fileprivate func places(_ wanted: Range<Int>) -> Range<Int> {
        let start = rows.partitioningIndex { Int($0) >= wanted.lowerBound }
        let end = rows.partitioningIndex { Int($0) >= wanted.upperBound }
        return start..<max(start, end)
    }
}
