// Blocks of values to bytes, each in the encoding that takes the fewest; docs/format/encodings.md.

/// Encodes blocks of values, each in the encoding that takes the fewest bytes.
///
/// Every candidate's size is computed exactly from statistics, without writing it. Memory is kept
/// from block to block. Not to be shared by threads.
struct BlockEncoder {
    private var values = ValueEncoder()
    private var runs = RunLengthEncoder()
    private var compressed = ByteWriter()
    private var alternative = ByteWriter()
    private var plain = ByteWriter()

    /// Appends the bytes of a block.
    ///
    /// - Parameter words: float: bit pattern; integer: two's complement; boolean: 0 or 1; string:
    ///   code. At most 1,048,576 of them.
    /// - Returns: the encoding, which is stored beside the bytes.
    mutating func encode(
        _ words: Span<UInt64>, type: FieldType, into writer: inout ByteWriter
    ) -> BlockEncoding {
        plan(words, type: type)
        let start = writer.count
        var encoding = values.encoding
        if let size = runs.sizeBytes, size < values.sizeBytes { encoding = .runLength }
        write(words, as: encoding, into: &writer)
        let size = writer.count - start
        guard size >= BlockEncoder.compressedSizeBytesMin else { return encoding }
        // Packed values have few bytes in common; where they are wide, whole words may have more.
        var sizeMax = size - (size + 7) / 8
        var isCompressed = false
        if encoding != .words, size > 4 * words.count {
            plain.removeAll()
            packBits(words, width: 64, into: &plain)
            let bytes = plain.bytes
            isCompressed = compress(bytes.span, .words, sizeMax: sizeMax, into: &compressed)
            if isCompressed { sizeMax = compressed.count - 1 }
        }
        if compress(
            writer.bytes.span.extracting(start...), encoding, sizeMax: sizeMax, into: &alternative)
        {
            swap(&compressed, &alternative)
            isCompressed = true
        }
        guard isCompressed else { return encoding }
        writer.bytes.removeLast(size)
        writer.append(compressed.bytes)
        return .compressed
    }

    /// Appends the bytes of a block in a given encoding, for tests and tools.
    ///
    /// - Returns: the size that was expected of it; nil where the values cannot be encoded so, or
    ///   the encoding was not worth trying.
    mutating func encode(
        _ words: Span<UInt64>, type: FieldType, as encoding: BlockEncoding,
        into writer: inout ByteWriter
    ) -> Int? {
        plan(words, type: type)
        let size =
            encoding == .runLength
            ? runs.sizeBytes : values.candidateSizeBytes(encoding, words: words)
        if size != nil { write(words, as: encoding, into: &writer) }
        return size
    }

    /// LZ4 needs some bytes to find anything in.
    private static let compressedSizeBytesMin = 64

    private mutating func plan(_ words: Span<UInt64>, type: FieldType) {
        precondition(words.count <= blockValueCountMax, "too many values for one block")
        let range = IntegerRange(of: words)
        values.plan(words, range: range, type: type)
        runs.plan(words, range: range, type: type)
    }

    private mutating func write(
        _ words: Span<UInt64>, as encoding: BlockEncoding, into writer: inout ByteWriter
    ) {
        if encoding == .runLength {
            runs.write(into: &writer)
        } else {
            values.write(words, as: encoding, into: &writer)
        }
    }
}

/// Writes a compressed block: encoding and size of the bytes, then LZ4 over them.
///
/// - Returns: whether it takes at most `sizeMax`; if not, what is written means nothing.
private func compress(
    _ bytes: Span<UInt8>, _ encoding: BlockEncoding, sizeMax: Int, into writer: inout ByteWriter
) -> Bool {
    writer.removeAll()
    writer.append(encoding.rawValue)
    writer.appendVarint(bytes.count)
    return LZ4.compress(bytes, sizeMax: sizeMax - writer.count, into: &writer)
}
