// Blocks that repeat what stands elsewhere in their segment: another field at the same rows, or
// the times of the rows. docs/format/encodings.md, "same" and "rowTime".
//
//     same       column     varint   number of the other field's column
//                positions  blob     which values differ, as a presence vector
//                encoding   u8       of those
//                values     block    those that differ
//
//     rowTime    encoding   u8       of the differences
//                values     block of integers: word minus the time of the row in microseconds

/// What a block on its way to a segment may refer to.
struct BlockReferences {
    /// Another field, and for each value of the block whether it has the same at that row.
    struct Partner {
        var column: Int
        var isSame: [Bool]
    }

    var partners: [Partner] = []
    /// Times of the rows, where the block has texts of times; otherwise none.
    var rowTimes: [Int64] = []
}

/// Writes blocks that refer to others. Keeps its memory from block to block.
struct ReferenceEncoder {
    private var encoder = StandaloneEncoder()
    private var positions: [UInt16] = []
    private var values: [UInt64] = []
    private var vector = ByteWriter()
    private var presence = PresenceEncoder()
    private var part = ByteWriter()

    /// Replaces what `writer` has by a block that repeats another field.
    mutating func encode(
        _ words: Span<UInt64>, type: FieldType, sameAs partner: BlockReferences.Partner,
        into writer: inout ByteWriter
    ) {
        collect(words, partner.isSame.span)
        let (positions, values) = (positions, values)
        vector.removeAll()
        presence.encode(positions.span, rowCount: words.count, into: &vector)
        part.removeAll()
        let encoding = encoder.encode(values.span, type: type, into: &part)
        writer.removeAll()
        writer.appendVarint(partner.column)
        writer.appendBlob(vector.bytes)
        writer.append(encoding.rawValue)
        writer.append(part.bytes)
    }

    /// Replaces what `writer` has by a block of differences to the times of rows, if it takes
    /// fewer bytes than the limit; whether it does.
    mutating func encode(
        _ words: Span<UInt64>, rowTimes: Span<Int64>, sizeBytesLimit: Int,
        into writer: inout ByteWriter
    ) -> Bool {
        values.removeAll(keepingCapacity: true)
        values.append(addingCapacity: words.count) { output in
            for index in words.indices {
                output.append(words[index] &- microseconds(rowTimes[index]))
            }
        }
        let values = values
        part.removeAll()
        let encoding = encoder.encode(
            values.span, type: .integer, sizeBytesLimit: sizeBytesLimit - 1, into: &part)
        guard let encoding else { return false }
        writer.removeAll()
        writer.append(encoding.rawValue)
        writer.append(part.bytes)
        return true
    }

    /// Finds the values that differ.
    private mutating func collect(_ words: Span<UInt64>, _ isSame: Span<Bool>) {
        positions.removeAll(keepingCapacity: true)
        values.removeAll(keepingCapacity: true)
        positions.append(addingCapacity: words.count) { positions in
            values.append(addingCapacity: words.count) { values in
                for index in words.indices where !isSame[index] {
                    positions.append(UInt16(truncatingIfNeeded: index))
                    values.append(words[index])
                }
            }
        }
    }
}

// MARK: Reading

/// A block that repeats another field, read but for that field.
struct SameValues {
    var column = 0
    /// Values that differ, ascending, and what they are.
    var positions: [UInt32] = []
    var words: [UInt64] = []
}

/// The column that a block of the encoding `same` repeats.
func readSameColumn(_ bytes: Span<UInt8>) throws(FormatError) -> Int {
    var reader = ByteReader(bytes)
    return try reader.readCount(limit: Int(UInt32.max))
}

extension BlockDecoder {
    /// Reads a block of the encoding `same`.
    ///
    /// - Parameter count: values of the block, at most 65,536.
    mutating func decodeSame(
        _ bytes: Span<UInt8>, count: Int, type: FieldType
    ) throws(FormatError) -> SameValues {
        var same = SameValues()
        var reader = ByteReader(bytes)
        same.column = try reader.readCount(limit: Int(UInt32.max))
        try Presence.decode(
            reader.readBlob(limit: reader.remaining), rowCount: count, appendTo: &same.positions,
            base: 0)
        let encoding = try reader.readUInt8()
        try decode(
            reader.readBytes(reader.remaining), encoding: encoding, count: same.positions.count,
            type: type, appendTo: &same.words)
        return same
    }

    /// Reads a block of the encoding `rowTime`.
    ///
    /// - Parameter rowTimes: one for each value.
    mutating func decodeRowTimes(
        _ bytes: Span<UInt8>, rowTimes: Span<Int64>
    ) throws(FormatError) -> [UInt64] {
        var reader = ByteReader(bytes)
        let encoding = try reader.readUInt8()
        var words: [UInt64] = []
        try decode(
            reader.readBytes(reader.remaining), encoding: encoding, count: rowTimes.count,
            type: .integer, appendTo: &words)
        for index in rowTimes.indices { words[index] &+= microseconds(rowTimes[index]) }
        return words
    }
}

/// A time in the unit that words of times count in, rounded down.
private func microseconds(_ nanoseconds: Int64) -> UInt64 {
    let quotient = nanoseconds / 1000
    return UInt64(bitPattern: nanoseconds < quotient * 1000 ? quotient - 1 : quotient)
}
