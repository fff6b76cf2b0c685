// Reference blocks, which repeat another field at the same rows, or the times of the rows.
// docs/format/encodings.md, "same" and "rowTime".
//
//     same       column     varint   column number of the referenced field
//                positions  blob     which values differ, as a presence vector
//                encoding   u8       of the differing values
//                values     block    the differing values
//
//     rowTime    encoding   u8       of the differences
//                values     block of integers: word minus the time of the row in microseconds

/// What a block can refer to.
struct BlockReferences {
    /// A referenced field, and for each value of the block whether it equals that field's value at
    /// the same row.
    struct ReferencedField {
        var column: Int
        var isSame: [Bool]
    }

    var partners: [ReferencedField] = []
    /// Times of the rows, if the block has packed times; otherwise empty.
    var rowTimes: [Int64] = []
}

/// Writes reference blocks. Reuses its memory between blocks.
struct ReferenceEncoder {
    private var encoder = StandaloneEncoder()
    private var positions: [UInt16] = []
    private var values: [UInt64] = []
    private var vector = ByteWriter()
    private var presence = PresenceEncoder()
    private var part = ByteWriter()

    /// Replaces the content of `writer` by a block that references another field.
    mutating func encode(
        _ words: Span<UInt64>, type: FieldType, sameAs partner: BlockReferences.ReferencedField,
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

    /// Replaces the content of `writer` by a block of differences to row times, if it is smaller
    /// than the limit. Returns whether it is.
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

    /// Collects the differing values.
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

/// A decoded `same` block, without the values of the referenced field.
struct SameValues {
    var column = 0
    /// Positions of the differing values, ascending, and these values.
    var positions: [UInt32] = []
    var words: [UInt64] = []
}

/// Returns the column that a `same` block references.
func readSameColumn(_ bytes: Span<UInt8>) throws(FormatError) -> Int {
    var reader = ByteReader(bytes)
    return try reader.readCount(limit: Int(UInt32.max))
}

extension BlockDecoder {
    /// Decodes a block with the encoding `same`.
    ///
    /// - Parameter count: Number of values in the block, at most 65,536.
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

    /// Decodes a block with the encoding `rowTime`.
    ///
    /// - Parameter rowTimes: One per value.
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

/// Returns the time in the unit of packed times, rounded down.
private func microseconds(_ nanoseconds: Int64) -> UInt64 {
    let quotient = nanoseconds / 1000
    return UInt64(bitPattern: nanoseconds < quotient * 1000 ? quotient - 1 : quotient)
}
