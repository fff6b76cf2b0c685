// The decoded index of a segment: the directory of its series, and its presence vectors.

/// One series of a segment.
struct SeriesEntry: Sendable {
    var key: SeriesKey
    var rows: Range<Int>
    var firstTime: Int64
    var lastTime: Int64
}

/// The blocks of the series table of a segment, with the first key of each.
final class SeriesDirectory: Sendable {
    let table: IntegerTable
    let firstKeys: [[UInt8]]

    /// - Parameters:
    ///   - seriesCount: the number of series in all blocks.
    ///   - countMax: the most blocks that are accepted.
    init(_ bytes: Span<UInt8>, seriesCount: Int, countMax: Int) throws(FormatError) {
        var reader = ByteReader(bytes)
        let table = try IntegerTable(
            decoding: reader.readBlob(limit: reader.remaining), columnCount: 5,
            countMax: countMax)
        var heap: [UInt8] = []
        var ends: [Int] = []
        try decodeStrings(
            reader.readBytes(reader.remaining), count: table.count,
            sizeBytesMax: SegmentFormat.blockSizeBytesMax, heap: &heap, ends: &ends)
        var start = 0
        firstKeys = ends.map { end in
            defer { start = end }
            return Array(heap[start..<end])
        }
        // Rows are consecutive from 0 on. The end of each block is verified when the block is read.
        guard table.columns[SeriesColumn.firstRow].first ?? 0 == 0,
            zip(firstKeys, firstKeys.dropFirst()).allSatisfy({ $0.lexicographicallyPrecedes($1) })
        else { throw FormatError(.invalid, "series out of order", at: reader.offset) }
        let total = table.columns[SeriesColumn.count].reduce(0, &+)
        guard total == UInt64(seriesCount) else {
            throw FormatError(
                .invalid, "\(total) series in blocks, expected \(seriesCount)", at: reader.offset)
        }
        self.table = table
    }
}

/// The rows of a segment that have a field.
final class PresenceVector: Sendable {
    struct Chunk {
        var number: Int
        /// Ordinal of the first value.
        var firstOrdinal: Int
        var count: Int
        var bytes: Range<Int>
        /// The vector whose rows contain these; nil if they are stored independently.
        var whole: Int?

        var rows: Range<Int> {
            let first = number * SegmentFormat.presenceChunkRows
            return first..<(first + SegmentFormat.presenceChunkRows)
        }
    }

    let chunks: [Chunk]
    private let bytes: [UInt8]
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
            var form = ByteReader(try reader.readBytes(size))
            // A malformed form fails when its rows are decoded.
            let isPart = (try? form.readUInt8()) == PresenceVector.partForm
            let whole = isPart ? try? form.readCount(limit: Int(UInt32.max)) : nil
            guard number > (chunks.last?.number ?? -1) else {
                throw FormatError(.invalid, "presence chunks out of order", at: start)
            }
            chunks.append(
                Chunk(
                    number: number, firstOrdinal: ordinal, count: count,
                    bytes: start..<(start + size), whole: whole))
            ordinal += count
        }
        self.bytes = bytes
        self.chunks = chunks
        self.rowCount = rowCount
    }

    /// The chunk with the value of this ordinal.
    func chunk(ofOrdinal ordinal: Int) -> Int {
        chunks.partitioningIndex { $0.firstOrdinal > ordinal } - 1
    }

    /// The last chunk that starts at or before a row; nil if there is none.
    func chunk(ofRow row: Int) -> Int? {
        let number = row / SegmentFormat.presenceChunkRows
        let next = chunks.partitioningIndex { $0.number > number }
        return next == 0 ? nil : next - 1
    }

    /// The chunk with this number; nil if there is none.
    func chunk(number: Int) -> Int? {
        let index = chunks.partitioningIndex { $0.number >= number }
        return index < chunks.count && chunks[index].number == number ? index : nil
    }

    func bytes(ofChunk index: Int) -> [UInt8] { Array(bytes[chunks[index].bytes]) }

    /// In place of a form of `Presence`: the rows are a subset of another vector's rows.
    static let partForm: UInt8 = 4

    /// The rows of a chunk that is stored as a subset of another vector's rows.
    func rows(ofChunk index: Int, of whole: [UInt32]) throws(FormatError) -> [UInt32] {
        let chunk = chunks[index]
        let bytes = bytes
        var reader = ByteReader(bytes.span.extracting(chunk.bytes))
        _ = try reader.readUInt8()
        _ = try reader.readVarint()
        var rows: [UInt32] = []
        try Presence.decode(
            reader.readBytes(reader.remaining), rowCount: whole.count, appendTo: &rows, base: 0)
        try checkCount(rows.count, of: chunk)
        for place in rows.indices { rows[place] = whole[Int(rows[place])] }
        return rows
    }

    private func checkCount(_ count: Int, of chunk: Chunk) throws(FormatError) {
        guard count == chunk.count else {
            throw FormatError(
                .invalid, "found \(count) rows, expected \(chunk.count)",
                at: chunk.bytes.lowerBound)
        }
    }

    /// The rows of a chunk that is stored independently.
    func rows(ofChunk index: Int) throws(FormatError) -> [UInt32] {
        let chunk = chunks[index]
        let base = chunk.number * SegmentFormat.presenceChunkRows
        var rows: [UInt32] = []
        let bytes = bytes
        try Presence.decode(
            bytes.span.extracting(chunk.bytes),
            rowCount: min(SegmentFormat.presenceChunkRows, rowCount - base), appendTo: &rows,
            base: UInt32(truncatingIfNeeded: base))
        try checkCount(rows.count, of: chunk)
        return rows
    }
}
