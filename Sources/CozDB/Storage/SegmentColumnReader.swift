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
    /// The block decoded last: its rows in the segment, values and strings.
    private var loadedBlock = -1
    private var loadedRows: [UInt32] = []
    private var loadedBits: [UInt64] = []
    private var loadedStrings = StringTable.empty
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
        try load(block)
        let start = loadedRows.partitioningIndex { Int($0) >= rows.lowerBound }
        let end = max(start, loadedRows.partitioningIndex { Int($0) >= rows.upperBound })
        var slice = ColumnSlice(type: storedType)
        slice.strings = loadedStrings
        slice.bits = end - start < loadedBits.count ? Array(loadedBits[start..<end]) : loadedBits
        slice.times = try times(loadedRows[start..<end])
        return slice
    }

    /// Appends all values in these rows, each with its row counted from the first of them.
    /// Asking for ascending rows reads each block once.
    mutating func append(rows: Range<Int>, to target: inout RowValues) throws(DatabaseError) {
        for block in directory.blocks(rows: rows) {
            try load(block)
            let start = loadedRows.partitioningIndex { Int($0) >= rows.lowerBound }
            let end = max(start, loadedRows.partitioningIndex { Int($0) >= rows.upperBound })
            guard start < end else { continue }
            var offset: UInt64 = 0
            if target.bits.isEmpty {
                target.strings = loadedStrings
            } else if target.strings !== loadedStrings {
                offset = UInt64(target.strings.count)
                target.strings = StringTable(target.strings, loadedStrings)
            }
            for index in start..<end {
                target.rows.append(loadedRows[index] - UInt32(rows.lowerBound))
                target.bits.append(loadedBits[index] + offset)
            }
        }
    }

    /// Decodes a block, unless it is the one decoded last.
    private mutating func load(_ block: Int) throws(DatabaseError) {
        guard block != loadedBlock else { return }
        loadedBlock = -1
        let table = directory.table
        let count = table.int(BlockColumn.count, block)
        let encoding = UInt8(truncatingIfNeeded: table.int(BlockColumn.encoding, block))
        if encoding == SegmentFormat.plainStrings, storedType == .string {
            loadedStrings = try segment.plainStrings(table, block: block)
            loadedBits = (0..<count).map { UInt64($0) }
        } else {
            loadedBits = try segment.words(
                table, block: block, type: storedType == .string ? .integer : storedType)
            if storedType == .string {
                loadedStrings = try loadDictionary()
                try check(loadedBits, below: loadedStrings.count, block: block)
            }
        }
        let firstOrdinal = directory.ordinals[block]
        loadedRows = try positions(firstOrdinal..<(firstOrdinal + count), block: block)
        loadedBlock = block
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
            if index != chunk {
                let group = segment.footer.groups[segment.footer.fields[field].group]
                chunkRows = try namingFile(segment.path, at: group.offset) {
                    () throws(FormatError) in
                    try vector.rows(ofChunk: index)
                }
                chunk = index
            }
            let first = ordinal - vector.chunk(index).firstOrdinal
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
