// The choice among the encodings that stand alone; blocks and the values of runs share it.

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
