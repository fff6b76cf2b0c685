// Which rows of a chunk of up to 65,536 have a value. docs/format/encodings.md, "Presence".
//
//     form         u8
//     0 all        nothing: every row
//     1 runs       varint count; packed integers: absent rows before each run;
//                  packed integers: length - 1 of each run
//     2 positions  varint count; packed integers: absent rows before each present one
//     3 bitmap     a bit per row, lowest first, rounded up to bytes
//
// The smallest form is taken, of equal ones the first. That depends on nothing but the rows, so
// that fields with the same rows have the same bytes and can share them.

/// Most rows of a chunk.
let presenceRowCountMax = 1 << 16

/// Rows of one chunk that have a value.
struct PresenceBuilder {
    private(set) var positions: [UInt16] = []

    var count: Int { positions.count }

    /// - Parameter position: row number in the chunk, larger than the one before.
    mutating func append(_ position: UInt16) {
        assert(positions.isEmpty || position > positions.last!, "rows come in ascending order")
        positions.append(position)
    }

    mutating func removeAll() {
        positions.removeAll(keepingCapacity: true)
    }

    /// Appends the smallest form.
    func encode(rowCount: Int, into writer: inout ByteWriter) {
        Presence.encode(positions.span, rowCount: rowCount, into: &writer)
    }
}

/// Encodes and decodes which rows are present.
enum Presence {
    private enum Form: UInt8 {
        case all = 0
        case runs = 1
        case positions = 2
        case bitmap = 3
    }

    /// Appends the smallest form.
    ///
    /// - Parameter positions: row numbers in the chunk, ascending, each less than `rowCount`.
    static func encode(_ positions: Span<UInt16>, rowCount: Int, into writer: inout ByteWriter) {
        precondition((0...presenceRowCountMax).contains(rowCount), "a chunk has 65,536 rows")
        precondition(positions.count <= rowCount, "more rows present than there are")
        guard positions.count < rowCount else { return writer.append(Form.all.rawValue) }
        var runs = ByteWriter()
        appendRuns(positions, into: &runs)
        var gaps = ByteWriter()
        appendPositions(positions, into: &gaps)
        let bitmapSizeBytes = (rowCount + 7) / 8
        if runs.count <= min(gaps.count, bitmapSizeBytes) {
            writer.append(Form.runs.rawValue)
            writer.append(runs.bytes)
        } else if gaps.count <= bitmapSizeBytes {
            writer.append(Form.positions.rawValue)
            writer.append(gaps.bytes)
        } else {
            writer.append(Form.bitmap.rawValue)
            var bitmap = [UInt8](repeating: 0, count: bitmapSizeBytes)
            for index in positions.indices {
                bitmap[Int(positions[index] >> 3)] |= 1 << UInt8(positions[index] & 7)
            }
            writer.append(bitmap)
        }
    }

    /// Appends `base` + position of every present row, ascending.
    ///
    /// - Parameter rowCount: rows of the chunk, at most 65,536.
    /// - Throws: nothing is appended then.
    static func decode(
        _ bytes: Span<UInt8>, rowCount: Int, appendTo positions: inout [UInt32], base: UInt32
    ) throws(FormatError) {
        guard (0...presenceRowCountMax).contains(rowCount),
            UInt64(base) + UInt64(rowCount) <= UInt64(UInt32.max) + 1
        else {
            throw FormatError(.invalid, "a chunk of \(rowCount) rows from row \(base)", at: 0)
        }
        let start = positions.count
        do throws(FormatError) {
            try decodeForm(bytes, rowCount: rowCount, appendTo: &positions, base: base)
        } catch {
            positions.removeLast(positions.count - start)
            throw error
        }
    }

    // MARK: Writing

    private static func appendRuns(_ positions: Span<UInt16>, into writer: inout ByteWriter) {
        var gaps: [UInt64] = []
        var lengths: [UInt64] = []
        var end = 0
        for index in positions.indices {
            let position = Int(positions[index])
            if position == end, !gaps.isEmpty {
                lengths[lengths.count - 1] += 1
            } else {
                gaps.append(UInt64(position - end))
                lengths.append(0)
            }
            end = position + 1
        }
        writer.appendVarint(gaps.count)
        appendPacked(gaps, into: &writer)
        appendPacked(lengths, into: &writer)
    }

    private static func appendPositions(_ positions: Span<UInt16>, into writer: inout ByteWriter) {
        var gaps: [UInt64] = []
        gaps.reserveCapacity(positions.count)
        var end = 0
        for index in positions.indices {
            gaps.append(UInt64(Int(positions[index]) - end))
            end = Int(positions[index]) + 1
        }
        writer.appendVarint(gaps.count)
        appendPacked(gaps, into: &writer)
    }

    private static func appendPacked(_ values: [UInt64], into writer: inout ByteWriter) {
        guard !values.isEmpty else { return }
        var encoder = PackedIntegerEncoder()
        encoder.plan(values.span, min: IntegerRange(of: values.span).min)
        encoder.write(into: &writer)
    }

    // MARK: Reading

    private static func decodeForm(
        _ bytes: Span<UInt8>, rowCount: Int, appendTo positions: inout [UInt32], base: UInt32
    ) throws(FormatError) {
        var reader = ByteReader(bytes)
        let form = try reader.readUInt8()
        switch Form(rawValue: form) {
        case .all:
            appendRange(0..<rowCount, base: base, to: &positions)
        case .runs:
            let count = try reader.readCount(limit: rowCount)
            let gaps = try readPacked(&reader, count: count)
            let lengths = try readPacked(&reader, count: count)
            var end = 0
            for run in 0..<count {
                let first = try advance(end, by: gaps[run], rowCount: rowCount)
                end = try advance(first, by: lengths[run], rowCount: rowCount) + 1
                appendRange(first..<end, base: base, to: &positions)
            }
        case .positions:
            let count = try reader.readCount(limit: rowCount)
            let gaps = try readPacked(&reader, count: count)
            var end = 0
            for gap in gaps {
                end = try advance(end, by: gap, rowCount: rowCount) + 1
                positions.append(base &+ UInt32(truncatingIfNeeded: end - 1))
            }
        case .bitmap:
            try appendBits(&reader, rowCount: rowCount, base: base, to: &positions)
        case nil:
            throw FormatError(.unsupported, "presence in form \(form)", at: 0)
        }
        guard reader.isAtEnd else {
            throw FormatError(.invalid, "bytes after the last row", at: reader.offset)
        }
    }

    private static func readPacked(
        _ reader: inout ByteReader, count: Int
    ) throws(FormatError) -> [UInt64] {
        var values: [UInt64] = []
        guard count > 0 else { return values }
        var scratch: [UInt64] = []
        try readPackedIntegers(&reader, count: count, scratch: &scratch, appendTo: &values)
        return values
    }

    /// The row `gap` rows further on, if there is one.
    private static func advance(
        _ row: Int, by gap: UInt64, rowCount: Int
    ) throws(FormatError) -> Int {
        guard row < rowCount, gap < UInt64(rowCount - row) else {
            throw FormatError(.invalid, "a row beyond the \(rowCount) of its chunk", at: 0)
        }
        return row + Int(gap)
    }

    private static func appendRange(
        _ range: Range<Int>, base: UInt32, to positions: inout [UInt32]
    ) {
        positions.append(addingCapacity: range.count) { output in
            for row in range { output.append(base &+ UInt32(truncatingIfNeeded: row)) }
        }
    }

    private static func appendBits(
        _ reader: inout ByteReader, rowCount: Int, base: UInt32, to positions: inout [UInt32]
    ) throws(FormatError) {
        let bitmap = try reader.readBytes((rowCount + 7) / 8)
        for index in bitmap.indices {
            var bits = UInt32(bitmap[index])
            while bits != 0 {
                let row = index * 8 + bits.trailingZeroBitCount
                guard row < rowCount else {
                    throw FormatError(.invalid, "a row beyond the \(rowCount) of its chunk", at: 0)
                }
                positions.append(base &+ UInt32(truncatingIfNeeded: row))
                bits &= bits &- 1
            }
        }
    }
}
