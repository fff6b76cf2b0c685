// Layout of a segment file, shared by SegmentWriter and SegmentReader; docs/format/segment.md.
//
//     header    32 bytes: magic, version, checksum of the rest, database id, file number
//     blocks    in any order; whoever names a block gives its place: offset, size, checksum
//     footer    what the segment holds and where its directories are
//     trailer   32 bytes: offset, size and checksum of the footer, size of the file, magic
//
// Rows are sorted by series key and time and numbered from 0. A series that begins with many
// values begins a block of times or values; small series share blocks, also with the end of the
// large one before them.
//
// Directories are tables of integers, stored column by column with the encodings of blocks.

enum SegmentFormat {
    static let magic: [UInt8] = Array("COZSEG\r\n".utf8)
    static let version: UInt32 = 1
    static let headerSizeBytes = 32
    static let trailerSizeBytes = 32
    /// Most rows or values of a block.
    static let blockCountMax = 1024
    /// A series with at least this many values gets blocks of its own.
    static let ownBlockCountMin = 128
    /// Rows that one piece of a presence vector describes.
    static let presenceChunkRows = 65_536
    /// Series in one block of the series table.
    static let seriesBlockCount = 1024
    /// A block of series with more bytes of keys takes no more of them.
    static let seriesBlockSizeBytesMax = 16 << 20
    /// A field's dictionary grows up to these; later blocks hold their strings themselves.
    static let dictionaryCountMax = 8192
    static let dictionarySizeBytesMax = 128 << 10
    /// Cells that are written together, roughly: what bounds the memory of wide rows. Rows of a
    /// study end a slab by their number before.
    static let chunkCellCountMax = 4 << 20
    /// In place of a block encoding: the block holds strings, not codes.
    static let plainStrings: UInt8 = 255
    /// The same: words of times, and numbers of strings that the block holds.
    static let mixedStrings: UInt8 = 254
    /// Blocks that a value may have to be looked for in, one repeating the next one.
    static let referenceDepthMax = 3
    /// Entries in one page of a directory.
    static let pageCount = 65_536
    /// Largest block, directory or footer that a reader accepts.
    static let blockSizeBytesMax = 1 << 30
    /// Rows for each byte of a file, at most: a block of their times takes one, or their series do.
    static let rowsPerByteMax = 1024
    /// Entries of a directory for each byte of the file, at most. Blocks that rows were taken out
    /// of are the smallest, and they are checksummed one by one.
    static let entriesPerByteMax = 4
    /// Columns have numbers below this, so that they can be looked up in an array.
    static let columnCountMax = 1_000_000

    /// Whether a block of strings holds them itself.
    static func holdsStrings(_ encoding: Int) -> Bool {
        encoding == Int(plainStrings) || encoding == Int(mixedStrings)
    }

    /// Whether a series that begins with this many values starts a block of its own behind a
    /// block with `pending` values of others.
    static func needsNewBlock(_ pending: Int, _ new: Int) -> Bool {
        new >= ownBlockCountMin || pending + new > blockCountMax
    }

    static func seed(databaseID: UInt64, number: UInt64, offset: Int) -> UInt32 {
        positionSeed(file: databaseID ^ number, offset: UInt64(offset))
    }
}

/// Where a block lies, with the checksum of its bytes (seeded with file and offset).
struct BlockPlace: Equatable, Sendable {
    var offset = 0
    var sizeBytes = 0
    var checksum: UInt32 = 0
}

/// A field or attribute of a segment.
struct SegmentField: Sendable {
    var column: Column
    /// Index of its presence vector.
    var group: Int
    var valueCount: Int
    /// No bytes where `smallBlockCount` is not 0.
    var directory: BlockPlace
    /// How many blocks it has in `SmallDirectories`; 0 where the directory is its own.
    var smallBlockCount = 0
    /// Strings of the codes in its blocks; no bytes for other types.
    var dictionary: BlockPlace
    var dictionaryCount: Int
}

/// What a segment holds; the fixed part of its memory.
struct SegmentFooter: Sendable {
    var experiment: Int
    var experimentName: String
    var rowCount = 0
    var seriesCount = 0
    var firstTime = Int64.max
    var lastTime = Int64.min
    var timeDirectory = BlockPlace()
    var seriesDirectory = BlockPlace()
    var smallDirectories = BlockPlace()
    /// Presence vectors.
    var groups: [BlockPlace] = []
    var fields: [SegmentField] = []

    var valueCount: Int {
        fields.reduce(0) { $0 + ($1.column.kind == .field ? $1.valueCount : 0) }
    }
}

extension ByteWriter {
    mutating func append(_ place: BlockPlace) {
        appendVarint(place.offset)
        appendVarint(place.sizeBytes)
        append(place.checksum)
    }

    mutating func append(_ footer: SegmentFooter) {
        appendVarint(footer.experiment)
        appendText(footer.experimentName)
        appendVarint(footer.rowCount)
        appendVarint(footer.seriesCount)
        appendSigned(footer.firstTime)
        appendSigned(footer.lastTime)
        append(footer.timeDirectory)
        append(footer.seriesDirectory)
        append(footer.smallDirectories)
        appendVarint(footer.groups.count)
        for group in footer.groups { append(group) }
        appendVarint(footer.fields.count)
        for field in footer.fields {
            append(SchemaChange.column(experiment: footer.experiment, field.column))
            appendVarint(field.group)
            appendVarint(field.valueCount)
            appendVarint(field.smallBlockCount)
            if field.smallBlockCount == 0 { append(field.directory) }
            append(field.dictionary)
            appendVarint(field.dictionaryCount)
        }
    }
}

extension ByteReader {
    /// A place that lies wholly between the header and `end`.
    @_lifetime(self: copy self)
    mutating func readPlace(end: Int) throws(FormatError) -> BlockPlace {
        let start = offset
        let place = try BlockPlace(
            offset: readCount(limit: end), sizeBytes: readCount(limit: end), checksum: readUInt32())
        guard place.sizeBytes == 0 || place.offset >= SegmentFormat.headerSizeBytes,
            place.offset + place.sizeBytes <= end
        else { throw FormatError(.invalid, "a block outside of the file", at: start) }
        return place
    }

    @_lifetime(self: copy self)
    mutating func readFooter(end: Int) throws(FormatError) -> SegmentFooter {
        var footer = SegmentFooter(
            experiment: try readCount(limit: Int(UInt32.max)),
            experimentName: try readText(limit: DatabaseOptions.nameSizeBytesMax))
        footer.rowCount = try readCount(limit: Int(UInt32.max))
        footer.seriesCount = try readCount(limit: footer.rowCount)
        guard footer.seriesCount > 0 || footer.rowCount == 0 else {
            throw FormatError(.invalid, "\(footer.rowCount) rows of no series", at: offset)
        }
        footer.firstTime = try readSigned()
        footer.lastTime = try readSigned()
        footer.timeDirectory = try readPlace(end: end)
        footer.seriesDirectory = try readPlace(end: end)
        footer.smallDirectories = try readPlace(end: end)
        for _ in 0..<(try readCount(limit: remaining)) {
            footer.groups.append(try readPlace(end: end))
        }
        for _ in 0..<(try readCount(limit: remaining)) {
            let start = offset
            guard case .column(_, let column) = try readSchemaChange(),
                column.id < SegmentFormat.columnCountMax
            else {
                throw FormatError(.invalid, "a field table without a field", at: start)
            }
            // Each column once: alike ones are next to no bytes, and much memory.
            if let last = footer.fields.last, column.id <= last.column.id {
                throw FormatError(.invalid, "fields out of order", at: start)
            }
            var field = SegmentField(
                column: column, group: try readCount(limit: footer.groups.count - 1),
                valueCount: try readCount(limit: footer.rowCount), directory: BlockPlace(),
                dictionary: BlockPlace(), dictionaryCount: 0)
            field.smallBlockCount = try readCount(limit: SmallDirectories.blockCountMax)
            if field.smallBlockCount == 0 { field.directory = try readPlace(end: end) }
            field.dictionary = try readPlace(end: end)
            field.dictionaryCount = try readCount(limit: SegmentFormat.dictionaryCountMax)
            footer.fields.append(field)
        }
        guard isAtEnd else { throw FormatError(.invalid, "bytes after the footer", at: offset) }
        return footer
    }
}

/// A table of integers stored column by column: directories of blocks and of series.
struct IntegerTable: Sendable {
    var columns: [[UInt64]]

    init(columnCount: Int) {
        columns = Array(repeating: [], count: columnCount)
    }

    var count: Int { columns.first?.count ?? 0 }

    mutating func append(_ entry: [UInt64]) {
        for (index, value) in entry.enumerated() { columns[index].append(value) }
    }

    func int(_ column: Int, _ row: Int) -> Int { Int(truncatingIfNeeded: columns[column][row]) }

    /// - Parameter firstFloat: columns from this one on have bit patterns of floats.
    func encode(
        with encoder: BlockEncoder, firstFloat: Int = .max, into writer: inout ByteWriter
    ) {
        writer.appendVarint(count)
        var block = ByteWriter()
        for (index, column) in columns.enumerated() {
            let type = index < firstFloat ? FieldType.integer : .float
            for start in stride(from: 0, to: column.count, by: SegmentFormat.pageCount) {
                let end = min(start + SegmentFormat.pageCount, column.count)
                block.removeAll()
                let encoding = encoder.encode(
                    column.span.extracting(start..<end), type: type, into: &block)
                writer.append(encoding.rawValue)
                writer.appendBlob(block.bytes)
            }
        }
    }

    /// - Parameter countMax: more entries than this are refused before memory is taken.
    init(
        decoding bytes: Span<UInt8>, columnCount: Int, firstFloat: Int = .max, countMax: Int
    ) throws(FormatError) {
        self.init(columnCount: columnCount)
        var reader = ByteReader(bytes)
        var decoder = BlockDecoder()
        let count = try reader.readCount(limit: countMax)
        for column in 0..<columnCount {
            let type = column < firstFloat ? FieldType.integer : .float
            for start in stride(from: 0, to: count, by: SegmentFormat.pageCount) {
                let encoding = try reader.readUInt8()
                let block = try reader.readBlob(limit: reader.remaining)
                try decoder.decode(
                    block, encoding: encoding, count: min(SegmentFormat.pageCount, count - start),
                    type: type, appendTo: &columns[column])
            }
        }
        guard reader.isAtEnd else {
            throw FormatError(.invalid, "bytes after the directory", at: reader.offset)
        }
    }
}

extension IntegerTable {
    /// Checks a directory of blocks: rows ascend, each block has no more values than rows, and is
    /// no larger than its file.
    ///
    /// - Parameter valueCount: what the blocks have together.
    func checkBlocks(rowCount: Int, valueCount: Int, fileSizeBytes: Int) throws(FormatError) {
        var nextRow = 0
        var total = 0
        for block in 0..<count {
            let first = int(BlockColumn.firstRow, block)
            let last = int(BlockColumn.lastRow, block)
            let count = int(BlockColumn.count, block)
            guard first >= nextRow, first <= last, last < rowCount, count > 0,
                count <= SegmentFormat.blockCountMax, count <= last - first + 1
            else { throw FormatError(.invalid, "a block of impossible rows", at: 0) }
            guard (0...fileSizeBytes).contains(int(BlockColumn.sizeBytes, block)) else {
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

/// Columns of the directory of a field's blocks and of the blocks of times.
enum BlockColumn {
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
    /// Times need no more than this.
    static let timeColumnCount = 9
    static let fieldColumnCount = 14
}

/// Columns of the directory of the series table.
enum SeriesColumn {
    static let offset = 0
    static let sizeBytes = 1
    static let checksum = 2
    static let firstRow = 3
    static let count = 4

    static func place(_ directory: IntegerTable, _ block: Int) -> BlockPlace {
        BlockPlace(
            offset: directory.int(offset, block), sizeBytes: directory.int(sizeBytes, block),
            checksum: UInt32(truncatingIfNeeded: directory.int(checksum, block)))
    }
}
