// Layout of a segment file, shared by SegmentWriter and SegmentReader; docs/format/segment.md.
//
//     header    32 bytes: magic, version, checksum of the rest, database id, file number
//     blocks    in any order; each is named by its handle: offset, size, checksum
//     footer    what the segment holds and the handles of its directories
//     trailer   32 bytes: offset, size and checksum of the footer, size of the file, magic
//
// Rows are sorted by series key and time and numbered from 0. A series that starts with many values
// starts a block of times or values. Small series share blocks, also with the end of the large
// series before them.
//
// Directories are tables of integers, stored by column with the encodings of blocks.

enum SegmentFormat {
    static let magic: [UInt8] = Array("COZSEG\r\n".utf8)
    static let version: UInt32 = 1
    static let headerSizeBytes = 32
    static let trailerSizeBytes = 32
    /// The most rows or values of a block.
    static let blockCountMax = 1024
    /// A series with at least this many values gets its own blocks.
    static let ownBlockCountMin = 128
    /// The number of rows that one chunk of a presence vector covers.
    static let presenceChunkRows = 65_536
    /// The most series in one block of the series table.
    static let seriesBlockCount = 1024
    /// A block of the series table with more bytes of keys takes no more series.
    static let seriesBlockSizeBytesMax = 16 << 20
    /// A field's dictionary grows up to these; later blocks store their strings themselves.
    static let dictionaryCountMax = 8192
    static let dictionarySizeBytesMax = 128 << 10
    /// The approximate number of cells that are written together. Bounds the memory for wide rows;
    /// usual rows reach the row limit of a chunk first.
    static let chunkCellCountMax = 4 << 20
    /// Fields with more blocks have their own directory, which is read independently.
    static let smallBlockCountMax = 16
    /// In place of a block encoding: the block stores strings, not codes.
    static let plainStrings: UInt8 = 255
    /// Likewise: the block stores words of times, and codes with their strings.
    static let mixedStrings: UInt8 = 254
    /// The longest chain of blocks that a value may be looked up in.
    static let referenceDepthMax = 3
    /// Entries in one page of a directory.
    static let pageCount = 65_536
    /// The largest block, directory or footer that a reader accepts.
    static let blockSizeBytesMax = 1 << 30
    /// The most rows per byte of a file. A block of times takes at least one byte, or the series
    /// do.
    static let rowsPerByteMax = 1024
    /// The most directory entries per byte of the file. The smallest blocks are those that lost
    /// rows to a deletion, and each has its own checksum.
    static let entriesPerByteMax = 4
    /// Column numbers are below this, so that arrays can be indexed by them.
    static let columnCountMax = 1_000_000

    /// Whether a block of strings stores them itself.
    static func holdsStrings(_ encoding: UInt8) -> Bool {
        encoding == plainStrings || encoding == mixedStrings
    }

    /// Whether a series that starts with `new` values needs a new block after `pending` values of
    /// other series.
    static func needsNewBlock(_ pending: Int, _ new: Int) -> Bool {
        new >= ownBlockCountMin || pending + new > blockCountMax
    }

    static func seed(databaseID: UInt64, number: UInt64, offset: Int) -> UInt32 {
        positionSeed(file: databaseID ^ number, offset: UInt64(offset))
    }
}

/// Where a block is, and the checksum of its bytes (seeded with file and offset).
struct BlockHandle: Equatable, Sendable {
    var offset = 0
    var sizeBytes = 0
    var checksum: UInt32 = 0
}

/// A field or attribute of a segment.
struct SegmentField: Sendable {
    var column: Column
    /// Index of its presence vector.
    var group = 0
    var valueCount: Int
    /// No bytes if `smallBlockCount` is not 0.
    var directory = BlockHandle()
    /// The number of its entries in `SmallDirectories`; 0 if the field has its own directory.
    var smallBlockCount = 0
    /// The strings of the codes in its blocks; no bytes for other types.
    var dictionary = BlockHandle()
    var dictionaryCount = 0
}

/// What a segment holds. Resident while the segment is open.
struct SegmentFooter: Sendable {
    var experiment: Int
    var experimentName: String
    var rowCount = 0
    var seriesCount = 0
    var firstTime = Int64.max
    var lastTime = Int64.min
    var timeDirectory = BlockHandle()
    var seriesDirectory = BlockHandle()
    var smallDirectories = BlockHandle()
    /// The presence vectors.
    var groups: [BlockHandle] = []
    var fields: [SegmentField] = []

    var valueCount: Int {
        fields.reduce(0) { $0 + ($1.column.kind == .field ? $1.valueCount : 0) }
    }
}

extension ByteWriter {
    mutating func append(_ handle: BlockHandle) {
        appendVarint(handle.offset)
        appendVarint(handle.sizeBytes)
        append(handle.checksum)
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
    /// Reads a handle that lies between the header and `end`.
    @_lifetime(self: copy self)
    mutating func readHandle(end: Int) throws(FormatError) -> BlockHandle {
        let start = offset
        let handle = try BlockHandle(
            offset: readCount(limit: end), sizeBytes: readCount(limit: end), checksum: readUInt32())
        guard handle.sizeBytes == 0 || handle.offset >= SegmentFormat.headerSizeBytes,
            handle.offset + handle.sizeBytes <= end
        else { throw FormatError(.invalid, "a block outside the file", at: start) }
        return handle
    }

    @_lifetime(self: copy self)
    mutating func readFooter(end: Int) throws(FormatError) -> SegmentFooter {
        var footer = SegmentFooter(
            experiment: try readCount(limit: Int(UInt32.max)),
            experimentName: try readText(limit: DatabaseOptions.nameSizeBytesMax))
        footer.rowCount = try readCount(limit: Int(UInt32.max))
        footer.seriesCount = try readCount(limit: footer.rowCount)
        guard footer.seriesCount > 0 || footer.rowCount == 0 else {
            throw FormatError(.invalid, "\(footer.rowCount) rows, but no series", at: offset)
        }
        footer.firstTime = try readSigned()
        footer.lastTime = try readSigned()
        footer.timeDirectory = try readHandle(end: end)
        footer.seriesDirectory = try readHandle(end: end)
        footer.smallDirectories = try readHandle(end: end)
        for _ in 0..<(try readCount(limit: remaining)) {
            footer.groups.append(try readHandle(end: end))
        }
        for _ in 0..<(try readCount(limit: remaining)) {
            let start = offset
            guard case .column(_, let column) = try readSchemaChange(),
                column.id < SegmentFormat.columnCountMax
            else {
                throw FormatError(
                    .invalid, "an entry of the field table that is not a field", at: start)
            }
            // Each column once: repeated ones take few bytes, but much memory.
            if let last = footer.fields.last, column.id <= last.column.id {
                throw FormatError(.invalid, "fields out of order", at: start)
            }
            var field = SegmentField(
                column: column, group: try readCount(limit: footer.groups.count - 1),
                valueCount: try readCount(limit: footer.rowCount))
            field.smallBlockCount = try readCount(limit: SegmentFormat.smallBlockCountMax)
            if field.smallBlockCount == 0 { field.directory = try readHandle(end: end) }
            field.dictionary = try readHandle(end: end)
            field.dictionaryCount = try readCount(limit: SegmentFormat.dictionaryCountMax)
            footer.fields.append(field)
        }
        guard isAtEnd else { throw FormatError(.invalid, "bytes after the footer", at: offset) }
        return footer
    }
}

/// A table of integers stored by column, for directories of blocks and of series.
struct IntegerTable: Sendable {
    var columns: [[UInt64]]

    init(columnCount: Int) {
        columns = Array(repeating: [], count: columnCount)
    }

    var count: Int { columns.first?.count ?? 0 }

    mutating func append(_ entry: some Sequence<UInt64>) {
        for (index, value) in entry.enumerated() { columns[index].append(value) }
    }

    func int(_ column: Int, _ row: Int) -> Int { Int(truncatingIfNeeded: columns[column][row]) }

    /// - Parameter firstFloat: the first column with bit patterns of floats.
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

    /// - Parameter countMax: the most entries; checked before memory is allocated.
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

/// Columns of the directory of the series table.
enum SeriesColumn {
    static let offset = 0
    static let sizeBytes = 1
    static let checksum = 2
    static let firstRow = 3
    static let count = 4

    static func handle(_ directory: IntegerTable, _ block: Int) -> BlockHandle {
        BlockHandle(
            offset: directory.int(offset, block), sizeBytes: directory.int(sizeBytes, block),
            checksum: UInt32(truncatingIfNeeded: directory.int(checksum, block)))
    }
}
