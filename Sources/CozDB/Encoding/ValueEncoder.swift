// Chooses among the encodings of single values, for blocks and for the values of runs.

/// Chooses among the encodings that contain no other encoding of this kind.
struct ValueEncoder {
    private(set) var encoding = BlockEncoding.constant
    private(set) var sizeBytes = 0

    private var integers = IntegerEncoder()
    private var decimals = DecimalEncoder()

    mutating func plan(
        _ words: Span<UInt64>, range: IntegerRange, type: FieldType, _ search: EncodingSearch
    ) {
        decimals.clear()
        guard type == .float, range.runCount > 1 else {
            integers.plan(words, range: range, type: type, search)
            (encoding, sizeBytes) = (integers.encoding, integers.sizeBytes)
            return
        }
        decimals.plan(words, search)
        let size = decimals.sizeBytes ?? .max
        if search.effort == .quick, size < 4 * words.count {
            (encoding, sizeBytes) = (.decimal, size)
            return
        }
        integers.plan(words, range: range, type: type, search.limited(to: size))
        (encoding, sizeBytes) = (integers.encoding, integers.sizeBytes)
        if size < sizeBytes { (encoding, sizeBytes) = (.decimal, size) }
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
