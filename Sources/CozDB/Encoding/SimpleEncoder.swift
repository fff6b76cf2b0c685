// Chooses between run-length encoding and the encodings of single values. Also encodes the parts of
// composite encodings.

/// Chooses among the encodings that composite encodings can contain.
struct SimpleEncoder {
    private(set) var encoding = BlockEncoding.constant
    /// Exact size of what `write` appends.
    private(set) var sizeBytes = 0
    /// Statistics of the words planned last.
    private(set) var range = IntegerRange()

    private var values = ValueEncoder()
    private var runs = RunLengthEncoder()

    mutating func plan(
        _ words: Span<UInt64>, type: FieldType, _ search: EncodingSearch = EncodingSearch()
    ) {
        range = IntegerRange(of: words)
        // Runs first: they are quick to plan, and often rule out the others.
        runs.plan(words, range: range, type: type, search)
        let runSizeBytes = runs.sizeBytes ?? .max
        if search.effort == .quick, runSizeBytes < .max, range.runCount <= words.count / 2 {
            (encoding, sizeBytes) = (.runLength, runSizeBytes)
            return
        }
        values.plan(words, range: range, type: type, search.limited(to: runSizeBytes))
        (encoding, sizeBytes) = (values.encoding, values.sizeBytes)
        if runSizeBytes < sizeBytes { (encoding, sizeBytes) = (.runLength, runSizeBytes) }
    }

    /// Returns the size of an encoding after `plan`; nil if it was not tried.
    func candidateSizeBytes(_ candidate: BlockEncoding, words: Span<UInt64>) -> Int? {
        candidate == .runLength
            ? runs.sizeBytes : values.candidateSizeBytes(candidate, words: words)
    }

    /// Writes an encoding that `plan` tried, usually `encoding`.
    mutating func write(
        _ words: Span<UInt64>, as encoding: BlockEncoding, into writer: inout ByteWriter
    ) {
        if encoding == .runLength {
            runs.write(into: &writer)
        } else {
            values.write(words, as: encoding, into: &writer)
        }
    }

    /// Writes encoding, size and bytes of the planned words. The last part of a block has no size.
    mutating func writePart(
        _ words: Span<UInt64>, isLast: Bool, into writer: inout ByteWriter
    ) {
        writer.append(encoding.rawValue)
        if !isLast { writer.appendVarint(sizeBytes) }
        write(words, as: encoding, into: &writer)
    }

    /// Returns the exact size of what `writePart` appends.
    func partSizeBytes(isLast: Bool) -> Int {
        1 + (isLast ? 0 : varintSizeBytes(UInt64(sizeBytes))) + sizeBytes
    }
}
