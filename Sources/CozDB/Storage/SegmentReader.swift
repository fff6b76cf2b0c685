// Reads one immutable segment: its footer at once, everything else when somebody asks.
// Every block is checked against its checksum each time it is read.

internal import Synchronization

/// An open segment; shared by all snapshots that contain it, safe from any thread.
final class SegmentReader: Sendable {
    let info: Manifest.Segment
    let footer: SegmentFooter
    let footerSizeBytes: Int
    let path: String

    private let mapping: FileMapping
    private let databaseID: UInt64
    /// Index in `footer.fields` by column number; -1 where the segment lacks the column.
    private let fieldByColumn: [Int]
    private let cache = Mutex(Cache())

    /// Decoded directories stay; decoded times are kept as long as there are few.
    private struct Cache {
        var fields: [Int: FieldDirectory] = [:]
        var dictionaries: [Int: StringTable] = [:]
        var presence: [Int: PresenceVector] = [:]
        var timeDirectory: IntegerTable?
        var times: [Int: [Int64]] = [:]
        /// By field: the block decoded last of those that several series share.
        var shared: [Int: ColumnBlock] = [:]
    }

    /// Blocks of decoded times kept per segment: two mebibytes.
    private static let timeBlockCountMax = 256

    /// - Throws: `notFound` where the file is gone, `damaged` where it is not what the manifest
    ///   names.
    init(
        in directory: any Directory, _ info: Manifest.Segment, databaseID: UInt64
    ) throws(DatabaseError) {
        self.info = info
        self.databaseID = databaseID
        let name = FileName.segment(info.number).text
        path = directory.path + "/" + name
        mapping = try calling("opening a segment") { () throws(FileError) in
            let file = try directory.open(name, writable: false)
            let size = try file.size()
            return try file.map(size: min(size, info.sizeBytes))
        }
        (footer, footerSizeBytes) = try SegmentReader.readFooter(
            mapping, info: info, databaseID: databaseID, path: path)
        var fieldByColumn: [Int] = []
        for (index, field) in footer.fields.enumerated() {
            while fieldByColumn.count <= field.column.id { fieldByColumn.append(-1) }
            fieldByColumn[field.column.id] = index
        }
        self.fieldByColumn = fieldByColumn
    }

    /// Index of a column's field in the footer; nil where the segment has no value of it.
    func field(_ column: ColumnID) -> Int? {
        guard column < fieldByColumn.count, fieldByColumn[column] >= 0 else { return nil }
        return fieldByColumn[column]
    }

    // MARK: Directories

    func directory(_ field: Int) throws(DatabaseError) -> FieldDirectory {
        if let known = cache.withLock({ $0.fields[field] }) { return known }
        let place = footer.fields[field].directory
        let valueCount = footer.fields[field].valueCount
        let rowCount = footer.rowCount
        let table = try read(place) { bytes throws(FormatError) in
            let table = try IntegerTable(
                decoding: bytes, columnCount: BlockColumn.fieldColumnCount, countMax: valueCount)
            try table.checkBlocks(rowCount: rowCount, valueCount: valueCount)
            return table
        }
        let directory = FieldDirectory(table)
        cache.withLock { $0.fields[field] = directory }
        return directory
    }

    func dictionary(_ field: Int) throws(DatabaseError) -> StringTable {
        if let known = cache.withLock({ $0.dictionaries[field] }) { return known }
        let description = footer.fields[field]
        guard description.dictionaryCount > 0 else { return .empty }
        let table = try read(description.dictionary) { bytes throws(FormatError) in
            try SegmentReader.strings(bytes, count: description.dictionaryCount)
        }
        cache.withLock { $0.dictionaries[field] = table }
        return table
    }

    func presence(ofField field: Int) throws(DatabaseError) -> PresenceVector {
        let group = footer.fields[field].group
        if let known = cache.withLock({ $0.presence[group] }) { return known }
        let rowCount = footer.rowCount
        let vector = try read(footer.groups[group]) { bytes throws(FormatError) in
            try PresenceVector([UInt8](copying: bytes), rowCount: rowCount)
        }
        cache.withLock { $0.presence[group] = vector }
        return vector
    }

    /// The directory of the blocks of times.
    func timeDirectory() throws(DatabaseError) -> IntegerTable {
        if let known = cache.withLock({ $0.timeDirectory }) { return known }
        let rowCount = footer.rowCount
        let table = try read(footer.timeDirectory) { bytes throws(FormatError) in
            let table = try IntegerTable(
                decoding: bytes, columnCount: BlockColumn.timeColumnCount, countMax: rowCount)
            try table.checkBlocks(rowCount: rowCount, valueCount: rowCount)
            return table
        }
        cache.withLock { $0.timeDirectory = table }
        return table
    }

    /// The times of one block of rows.
    func times(block: Int) throws(DatabaseError) -> [Int64] {
        if let known = cache.withLock({ $0.times[block] }) { return known }
        let directory = try timeDirectory()
        let words = try words(directory, block: block, type: .integer)
        let times = words.map { Int64(bitPattern: $0) }
        cache.withLock { cache in
            if cache.times.count >= SegmentReader.timeBlockCountMax {
                cache.times.removeAll(keepingCapacity: true)
            }
            cache.times[block] = times
        }
        return times
    }

    // MARK: Blocks

    /// The block of a field that was kept last. A series of a few rows shares its blocks with many
    /// others, which are mostly read right after it.
    func sharedBlock(ofField field: Int) -> ColumnBlock? {
        cache.withLock { $0.shared[field] }
    }

    func keep(_ block: ColumnBlock, ofField field: Int) {
        cache.withLock { $0.shared[field] = block }
    }

    /// The decoded words of a block that a directory lists.
    func words(
        _ directory: IntegerTable, block: Int, type: FieldType
    ) throws(DatabaseError) -> [UInt64] {
        let count = directory.int(BlockColumn.count, block)
        let encoding = UInt8(truncatingIfNeeded: directory.int(BlockColumn.encoding, block))
        return try read(SegmentReader.place(directory, block)) { bytes throws(FormatError) in
            var words: [UInt64] = []
            var decoder = BlockDecoder()
            guard count <= SegmentFormat.blockCountMax else {
                throw FormatError(.invalid, "a block of \(count) values", at: 0)
            }
            words.reserveCapacity(count)
            try decoder.decode(
                bytes, encoding: encoding, count: count, type: type, appendTo: &words)
            return words
        }
    }

    /// The strings of a block that holds them itself.
    func plainStrings(
        _ directory: IntegerTable, block: Int
    ) throws(DatabaseError) -> StringTable {
        let count = directory.int(BlockColumn.count, block)
        return try read(SegmentReader.place(directory, block)) { bytes throws(FormatError) in
            try SegmentReader.strings(bytes, count: count)
        }
    }

    static func place(_ directory: IntegerTable, _ block: Int) -> BlockPlace {
        BlockPlace(
            offset: directory.int(BlockColumn.offset, block),
            sizeBytes: directory.int(BlockColumn.sizeBytes, block),
            checksum: UInt32(truncatingIfNeeded: directory.int(BlockColumn.checksum, block)))
    }

    /// Checks a block and reads it.
    func read<Result>(
        _ place: BlockPlace, _ body: (Span<UInt8>) throws(FormatError) -> Result
    ) throws(DatabaseError) -> Result {
        try SegmentReader.read(
            mapping, place, databaseID: databaseID, number: info.number, path: path, body)
    }

    private static func strings(
        _ bytes: Span<UInt8>, count: Int
    ) throws(FormatError) -> StringTable {
        var heap: [UInt8] = []
        var ends: [Int] = []
        try decodeStrings(
            bytes, count: count, sizeBytesMax: SegmentFormat.blockSizeBytesMax, heap: &heap,
            ends: &ends)
        return StringTable(heap: heap, ends: ends)
    }

    private static func read<Result>(
        _ mapping: FileMapping, _ place: BlockPlace, databaseID: UInt64, number: UInt64,
        path: String, _ body: (Span<UInt8>) throws(FormatError) -> Result
    ) throws(DatabaseError) -> Result {
        try namingFile(path, at: place.offset) { () throws(FormatError) in
            guard place.offset >= 0, place.sizeBytes >= 0,
                place.offset <= mapping.count - place.sizeBytes
            else { throw FormatError(.invalid, "a block outside of the file", at: 0) }
            return try mapping.withBytes(place.offset, count: place.sizeBytes) {
                bytes throws(FormatError) in
                let seed = SegmentFormat.seed(
                    databaseID: databaseID, number: number, offset: place.offset)
                guard place.sizeBytes == 0 || checksum(bytes, seed: seed) == place.checksum else {
                    throw FormatError(.checksum, "this block does not match its checksum", at: 0)
                }
                return try body(bytes)
            }
        }
    }

    private static func readFooter(
        _ mapping: FileMapping, info: Manifest.Segment, databaseID: UInt64, path: String
    ) throws(DatabaseError) -> (footer: SegmentFooter, sizeBytes: Int) {
        let minimum = SegmentFormat.headerSizeBytes + SegmentFormat.trailerSizeBytes
        guard mapping.count == info.sizeBytes, info.sizeBytes >= minimum else {
            throw DatabaseError(
                .damaged, "the file has \(mapping.count) bytes, expected \(info.sizeBytes)",
                file: path, offset: mapping.count)
        }
        try namingFile(path) { () throws(FormatError) in
            try mapping.withBytes(0, count: SegmentFormat.headerSizeBytes) {
                bytes throws(FormatError) in
                try checkHeader(bytes, info: info, databaseID: databaseID)
            }
        }
        let trailerOffset = info.sizeBytes - SegmentFormat.trailerSizeBytes
        let place = try namingFile(path, at: trailerOffset) { () throws(FormatError) in
            try mapping.withBytes(trailerOffset, count: SegmentFormat.trailerSizeBytes) {
                bytes throws(FormatError) in
                try readTrailer(bytes, info: info)
            }
        }
        let footer = try read(
            mapping, place, databaseID: databaseID, number: info.number, path: path
        ) { bytes throws(FormatError) in
            var reader = ByteReader(bytes)
            let footer = try reader.readFooter(end: place.offset)
            guard footer.experiment == info.experiment, footer.rowCount == info.rowCount else {
                throw FormatError(.invalid, "the footer is not the one the manifest names", at: 0)
            }
            return footer
        }
        return (footer, place.sizeBytes)
    }

    private static func checkHeader(
        _ bytes: Span<UInt8>, info: Manifest.Segment, databaseID: UInt64
    ) throws(FormatError) {
        var reader = ByteReader(bytes)
        guard try [UInt8](copying: reader.readBytes(8)) == SegmentFormat.magic else {
            throw FormatError(.invalid, "not the beginning of a segment", at: 0)
        }
        let version = try reader.readUInt32()
        guard version == SegmentFormat.version else {
            throw FormatError(
                .unsupported, "segment version \(version), expected \(SegmentFormat.version)", at: 8
            )
        }
        let stored = try reader.readUInt32()
        guard checksum(bytes.extracting(16...), seed: version) == stored else {
            throw FormatError(.checksum, "the header does not match its checksum", at: 12)
        }
        guard try reader.readUInt64() == databaseID, try reader.readUInt64() == info.number else {
            throw FormatError(.invalid, "a segment of another database or number", at: 16)
        }
    }

    private static func readTrailer(
        _ bytes: Span<UInt8>, info: Manifest.Segment
    ) throws(FormatError) -> BlockPlace {
        var reader = ByteReader(bytes)
        let offset = try reader.readUInt64()
        let size = try reader.readUInt32()
        let sum = try reader.readUInt32()
        let fileSize = try reader.readUInt64()
        let end = info.sizeBytes - SegmentFormat.trailerSizeBytes
        guard fileSize == UInt64(info.sizeBytes), offset <= UInt64(end),
            Int(offset) + Int(size) == end,
            try [UInt8](copying: reader.readBytes(8)) == SegmentFormat.magic
        else { throw FormatError(.invalid, "not the end of this segment", at: 0) }
        guard sum == info.footerChecksum else {
            throw FormatError(
                .checksum, "the footer is not the one the manifest names", at: 12)
        }
        return BlockPlace(offset: Int(offset), sizeBytes: Int(size), checksum: sum)
    }
}

/// The blocks of one field.
final class FieldDirectory: Sendable {
    let table: IntegerTable
    /// Number of values in the blocks before each block.
    let ordinals: [Int]

    init(_ table: IntegerTable) {
        self.table = table
        var ordinals: [Int] = []
        var total = 0
        for block in 0..<table.count {
            ordinals.append(total)
            total += table.int(BlockColumn.count, block)
        }
        self.ordinals = ordinals
    }

    /// The blocks that may hold values of these rows.
    func blocks(rows: Range<Int>) -> Range<Int> {
        guard !rows.isEmpty else { return 0..<0 }
        let lastRows = table.columns[BlockColumn.lastRow]
        let firstRows = table.columns[BlockColumn.firstRow]
        let start = lastRows.partitioningIndex { Int($0) >= rows.lowerBound }
        let end = firstRows.partitioningIndex { Int($0) >= rows.upperBound }
        return start..<max(start, end)
    }

    func summary(_ block: Int, type: FieldType) -> ColumnSummary {
        func word(_ column: Int) -> UInt64 { table.columns[column][block] }
        return ColumnSummary(
            type: type, count: table.int(BlockColumn.count, block),
            firstTime: Int64(bitPattern: word(BlockColumn.firstTime)),
            lastTime: Int64(bitPattern: word(BlockColumn.lastTime)),
            min: word(BlockColumn.min), max: word(BlockColumn.max), sum: word(BlockColumn.sum),
            first: word(BlockColumn.first), last: word(BlockColumn.last))
    }
}

/// Which rows of a segment have a field.
final class PresenceVector: Sendable {
    struct Chunk {
        var number: Int
        /// Ordinal of its first value.
        var firstOrdinal: Int
        var count: Int
        var bytes: Range<Int>
    }

    private let bytes: [UInt8]
    private let chunks: [Chunk]
    private let rowCount: Int

    init(_ bytes: [UInt8], rowCount: Int) throws(FormatError) {
        var reader = ByteReader(bytes.span)
        var chunks: [Chunk] = []
        var ordinal = 0
        while !reader.isAtEnd {
            let number = try reader.readCount(limit: rowCount / SegmentFormat.presenceChunkRows)
            let count = try reader.readCount(limit: SegmentFormat.presenceChunkRows)
            let size = try reader.readCount(limit: reader.remaining)
            let start = reader.offset
            _ = try reader.readBytes(size)
            guard number > (chunks.last?.number ?? -1) else {
                throw FormatError(.invalid, "presence chunks out of order", at: start)
            }
            chunks.append(
                Chunk(
                    number: number, firstOrdinal: ordinal, count: count,
                    bytes: start..<(start + size)))
            ordinal += count
        }
        self.bytes = bytes
        self.chunks = chunks
        self.rowCount = rowCount
    }

    var chunkCount: Int { chunks.count }

    /// The chunk that holds a value.
    func chunk(ofOrdinal ordinal: Int) -> Int {
        chunks.partitioningIndex { $0.firstOrdinal > ordinal } - 1
    }

    func chunk(_ index: Int) -> Chunk { chunks[index] }

    /// The rows of a chunk all of whose rows have the field; nil for any other chunk.
    func allRows(ofChunk index: Int) -> Range<Int>? {
        let base = chunks[index].number * SegmentFormat.presenceChunkRows
        let count = min(SegmentFormat.presenceChunkRows, rowCount - base)
        return chunks[index].count == count ? base..<(base + count) : nil
    }

    /// The rows of one chunk.
    func rows(ofChunk index: Int) throws(FormatError) -> [UInt32] {
        let chunk = chunks[index]
        let base = chunk.number * SegmentFormat.presenceChunkRows
        var rows: [UInt32] = []
        let bytes = bytes
        try Presence.decode(
            bytes.span.extracting(chunk.bytes),
            rowCount: min(SegmentFormat.presenceChunkRows, rowCount - base), appendTo: &rows,
            base: UInt32(truncatingIfNeeded: base))
        guard rows.count == chunk.count else {
            throw FormatError(
                .invalid, "found \(rows.count) rows, expected \(chunk.count)",
                at: chunk.bytes.lowerBound)
        }
        return rows
    }
}

extension Array {
    /// The first index whose element satisfies a predicate that all later ones satisfy too.
    func partitioningIndex(_ isAtOrBehind: (Element) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if isAtOrBehind(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
