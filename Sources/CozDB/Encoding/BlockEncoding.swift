// Blocks of values to bytes: the codes stored on disk and the choice among them. With
// BlockDecoder.swift the only entry point of this folder for blocks of values.
// docs/format/encodings.md

/// How the bytes of a block hold its values. Codes are stored on disk and never renumbered.
enum BlockEncoding: UInt8, CaseIterable {
    /// All values are equal; also blocks without values.
    case constant = 1
    /// Smallest value and packed differences to it, divided by what they have in common.
    case bitPacked = 2
    /// First value and packed differences of neighbours.
    case delta = 3
    /// Runs of equal values.
    case runLength = 4
    /// Doubles as integers and a power of ten.
    case decimal = 5
    /// 64-bit words as they are.
    case words = 6
    /// Another encoding, LZ4 over it.
    case compressed = 7
}

/// Most values that one block can have.
let blockValueCountMax = 1 << 20

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

/// The choice among the encodings that do not contain others of their kind.
struct ValueEncoder {
    private(set) var encoding = BlockEncoding.constant
    private(set) var sizeBytes = 0

    private var integers = IntegerEncoder()
    private var decimals = DecimalEncoder()

    mutating func plan(_ words: Span<UInt64>, range: IntegerRange, type: FieldType) {
        integers.plan(words, range: range, type: type)
        encoding = integers.encoding
        sizeBytes = integers.sizeBytes
        decimals.clear()
        guard type == .float, encoding != .constant else { return }
        decimals.plan(words, sizeBytesMax: sizeBytes)
        guard let size = decimals.sizeBytes, size < sizeBytes else { return }
        encoding = .decimal
        sizeBytes = size
    }

    func candidateSizeBytes(_ candidate: BlockEncoding, words: Span<UInt64>) -> Int? {
        candidate == .decimal
            ? decimals.sizeBytes : integers.candidateSizeBytes(candidate, words: words)
    }

    mutating func write(
        _ words: Span<UInt64>, as encoding: BlockEncoding, into writer: inout ByteWriter
    ) {
        if encoding == .decimal {
            decimals.write(into: &writer)
        } else {
            integers.write(words, as: encoding, into: &writer)
        }
    }
}
