// Presence vectors: which rows of a chunk of up to 65,536 have a value.
// docs/format/encodings.md, "Presence".
//
//     form         u8
//     0 all        nothing: every row
//     1 runs       varint count; gaps: absent rows before each run;
//                  packed integers: length - 1 of each run
//     2 positions  varint count; gaps: absent rows before each present one
//     3 bitmap     a bit per row, lowest first, rounded up to bytes
//
// Gaps: a varint of the first, which is unrelated to the others; packed integers of the others.
// Empty lists of packed integers are omitted.
//
// The smallest form is used; among equal sizes, the first. The choice depends only on the rows, so
// fields with the same rows have equal bytes and share one vector.

/// Maximum number of rows in a chunk.
let presenceRowCountMax = 1 << 16

/// Decodes presence vectors, the inverse of `PresenceEncoder`.
enum Presence {
    enum Form: UInt8 {
        case all = 0
        case runs = 1
        case positions = 2
        case bitmap = 3
    }

    /// Appends `base` + position of every present row, in ascending order.
    ///
    /// - Parameter rowCount: Number of rows in the chunk, at most 65,536.
    /// - Throws: If the bytes are corrupt. Nothing is appended then.
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
            let gaps = try readGaps(&reader, count: count)
            let lengths = try readPacked(&reader, count: count)
            var end = 0
            for run in 0..<count {
                let first = try advance(end, by: gaps[run], rowCount: rowCount)
                end = try advance(first, by: lengths[run], rowCount: rowCount) + 1
                appendRange(first..<end, base: base, to: &positions)
            }
        case .positions:
            let count = try reader.readCount(limit: rowCount)
            let gaps = try readGaps(&reader, count: count)
            try appendGaps(gaps.span, rowCount: rowCount, base: base, to: &positions)
        case .bitmap:
            try appendBits(&reader, rowCount: rowCount, base: base, to: &positions)
        case nil:
            throw FormatError(
                .unsupported,
                "found presence vector form \(form), expected 0 to 3; "
                    + "a newer version may be able to read it", at: 0)
        }
        guard reader.isAtEnd else {
            throw FormatError(.invalid, "bytes after the last row", at: reader.offset)
        }
    }

    private static func readGaps(
        _ reader: inout ByteReader, count: Int
    ) throws(FormatError) -> [UInt64] {
        guard count > 0 else { return [] }
        let first = try reader.readVarint()
        return [first] + (try readPacked(&reader, count: count - 1))
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

    /// Returns the row `gap` rows further on. Throws if it is outside the chunk.
    private static func advance(
        _ row: Int, by gap: UInt64, rowCount: Int
    ) throws(FormatError) -> Int {
        guard row < rowCount, gap < UInt64(rowCount - row) else {
            throw FormatError(.invalid, "found a row outside its chunk of \(rowCount) rows", at: 0)
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

    private static func appendGaps(
        _ gaps: Span<UInt64>, rowCount: Int, base: UInt32, to positions: inout [UInt32]
    ) throws(FormatError) {
        // Each gap is checked first, so the sum cannot overflow and checking the last row suffices.
        var largest: UInt64 = 0
        for index in gaps.indices { largest = max(largest, gaps[index]) }
        guard largest <= UInt64(rowCount) else {
            throw FormatError(.invalid, "a gap of \(largest) in \(rowCount) rows", at: 0)
        }
        var end = 0
        positions.append(addingCapacity: gaps.count) { output in
            for index in gaps.indices {
                end &+= Int(truncatingIfNeeded: gaps[index]) &+ 1
                output.append(base &+ UInt32(truncatingIfNeeded: end &- 1))
            }
        }
        guard end <= rowCount else {
            throw FormatError(.invalid, "row \(end - 1) in a chunk of \(rowCount)", at: 0)
        }
    }

    private static func appendBits(
        _ reader: inout ByteReader, rowCount: Int, base: UInt32, to positions: inout [UInt32]
    ) throws(FormatError) {
        var count = 0
        var last: UInt8 = 0
        let bitmap = try reader.readBytes((rowCount + 7) / 8)
        for index in bitmap.indices {
            last = bitmap[index]
            count += last.nonzeroBitCount
        }
        guard rowCount % 8 == 0 || Int(last) >> (rowCount % 8) == 0 else {
            throw FormatError(.invalid, "found a row outside its chunk of \(rowCount) rows", at: 0)
        }
        positions.append(addingCapacity: count) { output in
            for index in bitmap.indices {
                var bits = UInt32(bitmap[index])
                let first = base &+ UInt32(truncatingIfNeeded: index * 8)
                while bits != 0 {
                    output.append(first &+ UInt32(truncatingIfNeeded: bits.trailingZeroBitCount))
                    bits &= bits &- 1
                }
            }
        }
    }
}
