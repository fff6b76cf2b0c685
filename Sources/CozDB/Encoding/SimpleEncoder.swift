// The choice among runs and the encodings of single values; parts of other encodings share it.

/// The choice among the encodings that other encodings may hold.
struct SimpleEncoder {
    private(set) var encoding = BlockEncoding.constant
    /// Exact size of what `write` will append.
    private(set) var sizeBytes = 0
    /// Statistics of the words planned last.
    private(set) var range = IntegerRange()

    private var values = ValueEncoder()
    private var runs = RunLengthEncoder()

    mutating func plan(
        _ words: Span<UInt64>, type: FieldType, _ search: EncodingSearch = EncodingSearch()
    ) {
        range = IntegerRange(of: words)
        // Runs first: where there are some they are quickly planned, and rule most others out.
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

    /// Size of an encoding after `plan`; nil where it was not tried.
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

    /// Writes encoding, size and bytes of words planned before, or no size where they go to the
    /// end of a block.
    mutating func writePart(
        _ words: Span<UInt64>, isLast: Bool, into writer: inout ByteWriter
    ) {
        writer.append(encoding.rawValue)
        if !isLast { writer.appendVarint(sizeBytes) }
        write(words, as: encoding, into: &writer)
    }

    /// Exact size of what `writePart` will append.
    func partSizeBytes(isLast: Bool) -> Int {
        1 + (isLast ? 0 : varintSizeBytes(UInt64(sizeBytes))) + sizeBytes
    }
}
