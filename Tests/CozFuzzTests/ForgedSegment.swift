// The larger segment of the sample, to be changed in parts. Checksums stay right, so that readers
// meet contents that no writer makes.

@testable internal import CozDB

/// A segment whose blocks can be replaced. The new ones stand behind all others; whoever names one
/// gets its handle.
struct ForgedSegment {
    var footer: SegmentFooter
    /// Bytes behind the footer.
    var footerTail: [UInt8] = []
    var compressesFooter = false
    private var info: Manifest.Segment
    /// Header and blocks.
    private var bytes: [UInt8]
    /// As it was written.
    private let sound: SegmentReader

    init() throws {
        let segments = Sample.manifest.segments
        info = segments.max { $0.rowCount < $1.rowCount } ?? segments[0]
        let directory = MemoryDirectory(MemoryFiles(Sample.files), "db")
        sound = try SegmentReader(in: directory, info, databaseID: Sample.databaseID)
        footer = sound.footer
        let name = FileName.segment(info.number).text
        bytes = Array(Sample.files["db/" + name, default: []][..<sound.footerRange.lowerBound])
    }

    // MARK: Parts

    var path: String { sound.path }
    /// Header and blocks.
    var sizeBytes: Int { bytes.count }

    /// Index of a field in the footer.
    func field(_ name: String) -> Int {
        footer.fields.firstIndex { $0.column.name == name } ?? footer.fields.count
    }

    /// The rows that have a field, as they were written.
    func rows(of name: String) throws -> [UInt32] {
        let vector = try sound.presence(ofField: field(name))
        return try sound.presenceRows(vector, ofField: field(name), chunk: 0)
    }

    func block(_ handle: BlockHandle) -> [UInt8] {
        Array(bytes[handle.offset..<(handle.offset + handle.sizeBytes)])
    }

    /// The first block of a field, as it was written.
    func block(of name: String) throws -> [UInt8] {
        block(try sound.directory(field(name)).handle(0))
    }

    mutating func append(_ block: [UInt8]) -> BlockHandle {
        let handle = BlockHandle(
            offset: bytes.count, sizeBytes: block.count, checksum: sum(block, at: bytes.count))
        bytes += block
        return handle
    }

    private func sum(_ block: [UInt8], at offset: Int) -> UInt32 {
        let seed = SegmentFormat.seed(
            databaseID: Sample.databaseID, number: info.number, offset: offset)
        return checksum(block.span, seed: seed)
    }

    // MARK: Changes

    /// Directory of the blocks of times.
    mutating func changeTimes(_ change: (inout IntegerTable) -> Void) throws {
        var table = try sound.timeBlocks().integers
        change(&table)
        footer.timeDirectory = append(ForgedSegment.bytes(table))
    }

    /// Directory of the blocks of series.
    mutating func changeSeriesDirectory(
        _ change: (inout IntegerTable, inout [String]) -> Void
    ) throws {
        let blocks = try sound.seriesBlocks()
        var table = blocks.table
        var keys = blocks.firstKeys.map { String(decoding: $0, as: UTF8.self) }
        change(&table, &keys)
        var writer = ByteWriter()
        writer.appendBlob(ForgedSegment.bytes(table))
        writer.append(ForgedSegment.bytes(keys))
        footer.seriesDirectory = append(writer.bytes)
    }

    /// Rows, first and last times of the series, and their keys.
    mutating func changeSeries(_ change: (inout IntegerTable, inout [String]) -> Void) throws {
        var table = IntegerTable(columnCount: 3)
        var keys: [String] = []
        try sound.forEachSeries {
            table.append([
                UInt64($0.rows.count), UInt64(bitPattern: $0.firstTime),
                UInt64(bitPattern: $0.lastTime),
            ])
            keys.append(String(decoding: $0.key.bytes, as: UTF8.self))
        }
        change(&table, &keys)
        var writer = ByteWriter()
        writer.appendBlob(ForgedSegment.bytes(table))
        writer.append(ForgedSegment.bytes(keys))
        let handle = append(writer.bytes)
        try changeSeriesDirectory { directory, _ in
            directory.columns[SeriesColumn.offset][0] = UInt64(handle.offset)
            directory.columns[SeriesColumn.sizeBytes][0] = UInt64(handle.sizeBytes)
            directory.columns[SeriesColumn.checksum][0] = UInt64(handle.checksum)
            directory.columns[SeriesColumn.count][0] = UInt64(keys.count)
        }
    }

    /// Directory of the blocks of a field.
    mutating func changeDirectory(
        of name: String, _ change: (inout IntegerTable) -> Void
    ) throws {
        // Whatever changes, the fields in one block must fit together: each gets its own.
        for index in footer.fields.indices where footer.fields[index].smallBlockCount > 0 {
            let table = try sound.directory(index).integers
            footer.fields[index].smallBlockCount = 0
            footer.fields[index].directory = append(ForgedSegment.bytes(table))
        }
        footer.smallDirectories = BlockHandle()
        var table = try sound.directory(field(name)).integers
        change(&table)
        footer.fields[field(name)].directory = append(ForgedSegment.bytes(table))
    }

    /// The first block of a field.
    mutating func setBlock(of name: String, encoding: UInt8, _ block: [UInt8]) throws {
        let handle = append(block)
        try changeDirectory(of: name) { table in
            table.columns[BlockTable.Column.offset][0] = UInt64(handle.offset)
            table.columns[BlockTable.Column.sizeBytes][0] = UInt64(handle.sizeBytes)
            table.columns[BlockTable.Column.checksum][0] = UInt64(handle.checksum)
            table.columns[BlockTable.Column.encoding][0] = UInt64(encoding)
        }
    }

    /// Codes of strings as the first block of a field: the same for all values.
    mutating func setCodes(of name: String, _ code: UInt64) throws {
        let count = footer.fields[field(name)].valueCount
        let block = ForgedSegment.bytes([UInt64](repeating: code, count: count))
        try setBlock(of: name, encoding: block[0], Array(block.dropFirst()))
    }

    /// A first block of a field that says to be as another column is at all its rows.
    mutating func setRepetition(of name: String, column: Int) throws {
        var block = ByteWriter()
        block.appendVarint(column)
        var none = ByteWriter()
        var encoder = PresenceEncoder()
        let positions: [UInt16] = []
        encoder.encode(positions.span, rowCount: footer.fields[field(name)].valueCount, into: &none)
        block.appendBlob(none.bytes)
        block.append(ForgedSegment.bytes([UInt64]()))
        try setBlock(of: name, encoding: BlockEncoding.same.rawValue, block.bytes)
    }

    /// A presence vector for a field alone, of chunks.
    mutating func setPresence(
        of name: String, _ chunks: [(number: Int, count: Int, bytes: [UInt8])]
    ) {
        var writer = ByteWriter()
        for chunk in chunks {
            writer.appendVarint(chunk.number)
            writer.appendVarint(chunk.count)
            writer.appendBlob(chunk.bytes)
        }
        footer.fields[field(name)].group = footer.groups.count
        footer.groups.append(append(writer.bytes))
    }

    /// A presence vector of one chunk, for a field alone.
    mutating func setRows(of name: String, _ rows: [UInt32]) {
        let handles = rows.map { UInt16($0) }
        var chunk = ByteWriter()
        var encoder = PresenceEncoder()
        encoder.encode(handles.span, rowCount: footer.rowCount, into: &chunk)
        setPresence(of: name, [(0, rows.count, chunk.bytes)])
    }

    // MARK: Bytes

    static func bytes(_ table: IntegerTable, firstFloat: Int = .max) -> [UInt8] {
        var writer = ByteWriter()
        table.encode(with: BlockEncoder(), firstFloat: firstFloat, into: &writer)
        return writer.bytes
    }

    static func bytes(_ texts: [String]) -> [UInt8] {
        let heap = texts.flatMap { Array($0.utf8) }
        var ends: [Int] = []
        for text in texts { ends.append((ends.last ?? 0) + text.utf8.count) }
        var writer = ByteWriter()
        encodeStrings(heap: heap.span, ends: ends, into: &writer)
        return writer.bytes
    }

    /// The words of a block of integers, behind the code of their encoding.
    static func bytes(_ words: [UInt64]) -> [UInt8] {
        var block = ByteWriter()
        let encoding = BlockEncoder().encode(words.span, type: .integer, into: &block)
        return [encoding.rawValue] + block.bytes
    }

    // MARK: Files

    /// The footer as it goes into the file.
    private var footerBytes: [UInt8] {
        var plain = ByteWriter()
        plain.append(footer)
        plain.append(footerTail)
        guard compressesFooter else { return [0] + plain.bytes }
        var packed = ByteWriter()
        packed.append(compressing: plain.bytes)
        return packed.bytes
    }

    /// The file, and what the manifest says of it.
    func written() -> (bytes: [UInt8], info: Manifest.Segment) {
        let footerBytes = footerBytes
        var info = info
        info.rowCount = footer.rowCount
        info.footerChecksum = sum(footerBytes, at: bytes.count)
        info.sizeBytes = bytes.count + footerBytes.count + SegmentFormat.trailerSizeBytes
        var trailer = ByteWriter()
        trailer.append(UInt64(bytes.count))
        trailer.append(UInt32(footerBytes.count))
        trailer.append(info.footerChecksum)
        trailer.append(UInt64(info.sizeBytes))
        trailer.append(SegmentFormat.magic)
        return (bytes + footerBytes + trailer.bytes, info)
    }

    /// The sample with this segment in place of its own.
    func files() -> MemoryFiles {
        let (bytes, info) = written()
        var manifest = Sample.manifest
        for index in manifest.segments.indices
        where manifest.segments[index].number == info.number {
            manifest.segments[index] = info
        }
        var contents = Sample.files
        contents["db/MANIFEST"] = manifest.encoded()
        contents["db/" + FileName.segment(info.number).text] = bytes
        return MemoryFiles(contents)
    }

    /// - Returns: the reader and its file.
    func open(
        access: SegmentFile.Access = .mapped
    ) throws -> (reader: SegmentReader, file: any File) {
        let info = written().info
        let directory = MemoryDirectory(files(), "db")
        let reader = try SegmentReader(
            in: directory, info, databaseID: Sample.databaseID, access: access)
        let name = FileName.segment(info.number).text
        return (reader, try directory.open(name, writable: true))
    }
}

extension IntegerTable {
    func entry(_ row: Int) -> [UInt64] { columns.map { $0[row] } }
}
