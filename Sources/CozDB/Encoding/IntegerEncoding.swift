// 64-bit words as a constant, packed integers, packed differences or raw words.
// docs/format/encodings.md, "constant", "bitPacked", "delta" and "words".
//
//     constant     the word's bytes without trailing zeros, see `constantForm`
//     bitPacked    packed integers
//     delta        varint zigzag of the first word; packed integers: each word minus the one
//                  before. If the count is a multiple of 1024, an extra copy of the smallest
//                  difference comes first, so that the differences fill whole groups too.
//     words        eight bytes each

/// Transforms the word of a constant block so that its high bytes are mostly zero.
private func constantForm(_ word: UInt64, _ type: FieldType) -> UInt64 {
    switch type {
    case .float: word.byteSwapped
    case .integer: zigzag(word)
    case .string, .boolean: word
    }
}

/// Plans and writes blocks of integers, or of other words treated as integers.
struct IntegerEncoder {
    private(set) var encoding = BlockEncoding.constant
    private(set) var sizeBytes = 0

    private var type = FieldType.integer
    private var frame = PackedIntegerEncoder()
    private var deltas = PackedIntegerEncoder()
    private var differences: [UInt64] = []
    private var sample = IntegerSample()

    /// Chooses the smallest form. Does not try differences for booleans and float bit patterns,
    /// where they never pay.
    mutating func plan(
        _ words: Span<UInt64>, range: IntegerRange, type: FieldType, _ search: EncodingSearch
    ) {
        self.type = type
        encoding = .words
        sizeBytes = 8 * words.count
        guard range.runCount > 1 else {
            choose(.constant, words.isEmpty ? 0 : constantSizeBytes(words[0]))
            return
        }
        guard type == .integer || type == .string else {
            frame.plan(words, min: range.min, sizeBytesMax: search.sizeBytesMax)
            return choose(.bitPacked, frame.sizeBytes)
        }
        if search.effort == .quick, words.count >= IntegerEncoder.sampledCountMin {
            return planLikelier(words, range)
        }
        frame.plan(words, min: range.min, sizeBytesMax: search.sizeBytesMax)
        choose(.bitPacked, frame.sizeBytes)
        let min = appendNeighborDifferences(words, to: &differences)
        let differences = differences
        deltas.plan(
            differences.span, min: min, sizeBytesMax: search.limited(to: sizeBytes).sizeBytesMax)
        choose(.delta, deltaSizeBytes(words))
    }

    /// Plans only the form that a sample predicts to be smaller.
    private mutating func planLikelier(_ words: Span<UInt64>, _ range: IntegerRange) {
        let min = appendNeighborDifferences(words, to: &differences)
        let differences = differences
        sample.take(words, min: range.min)
        let frameSizeBytes = sample.sizeBytesEstimate
        sample.take(differences.span, min: min)
        if frameSizeBytes <= sample.sizeBytesEstimate {
            frame.plan(words, min: range.min)
            choose(.bitPacked, frame.sizeBytes)
        } else {
            deltas.plan(differences.span, min: min)
            choose(.delta, deltaSizeBytes(words))
        }
    }

    /// Below this count a sample is not reliable.
    private static let sampledCountMin = 256

    /// Returns the size of a form after `plan`; nil if it was not tried.
    func candidateSizeBytes(_ candidate: BlockEncoding, words: Span<UInt64>) -> Int? {
        switch candidate {
        case .words: 8 * words.count
        case .constant: encoding == .constant ? sizeBytes : nil
        case .bitPacked: encoding == .constant ? nil : frame.sizeBytes
        case .delta:
            encoding == .constant || type == .float || type == .boolean
                ? nil : deltaSizeBytes(words)
        default: nil
        }
    }

    /// Writes a form that `plan` tried, usually `encoding`.
    mutating func write(
        _ words: Span<UInt64>, as encoding: BlockEncoding, into writer: inout ByteWriter
    ) {
        switch encoding {
        case .constant:
            guard !words.isEmpty else { return }
            var rest = constantForm(words[0], type)
            for _ in 0..<constantSizeBytes(words[0]) {
                writer.append(UInt8(truncatingIfNeeded: rest))
                rest >>= 8
            }
        case .bitPacked:
            frame.write(into: &writer)
        case .delta:
            writer.appendVarint(zigzag(words[0]))
            deltas.write(into: &writer)
        case .words:
            packBits(words, width: 64, into: &writer)
        default:
            preconditionFailure("\(encoding) is not a form of integers")
        }
    }

    private mutating func choose(_ candidate: BlockEncoding, _ candidateSizeBytes: Int) {
        guard candidateSizeBytes < sizeBytes || candidate == .constant else { return }
        encoding = candidate
        sizeBytes = candidateSizeBytes
    }

    private func deltaSizeBytes(_ words: Span<UInt64>) -> Int {
        let size = deltas.sizeBytes
        return size == .max ? size : varintSizeBytes(zigzag(words[0])) + size
    }

    private func constantSizeBytes(_ word: UInt64) -> Int {
        (bitWidth(constantForm(word, type)) + 7) / 8
    }
}

// MARK: Reading

/// Appends the word of a constant block `count` times.
func readConstant(
    _ bytes: Span<UInt8>, count: Int, type: FieldType, appendTo words: inout [UInt64]
) throws(FormatError) {
    guard bytes.count <= (count == 0 ? 0 : 8) else {
        throw FormatError(.invalid, "\(bytes.count) bytes for a constant", at: 0)
    }
    var form: UInt64 = 0
    for index in bytes.indices { form |= UInt64(bytes[index]) << UInt64(8 * index) }
    let word =
        switch type {
        case .float: form.byteSwapped
        case .integer: (form >> 1) ^ (0 &- (form & 1))
        case .string, .boolean: form
        }
    appendRepeated(word, count: count, to: &words)
}

/// Appends `count` words, decoded from a first word and differences.
func readDelta(
    _ reader: inout ByteReader, count: Int, scratch: inout [UInt64],
    appendTo words: inout [UInt64]
) throws(FormatError) {
    guard count > 0 else {
        throw FormatError(.invalid, "differences without a value", at: reader.offset)
    }
    let start = words.count
    let first = UInt64(bitPattern: try reader.readSigned())
    let isPadded = isPaddedDelta(count: count)
    if !isPadded { words.append(first) }
    try readPackedIntegers(
        &reader, count: isPadded ? count : count - 1, scratch: &scratch, appendTo: &words)
    // Sound: indices run from `start` to the count of the array.
    unsafe words.withUnsafeMutableBufferPointer { buffer in
        guard let target = buffer.baseAddress else { return }
        var sum = first
        unsafe target[start] = first
        for index in (start + 1)..<(start + count) {
            unsafe sum &+= target[index]
            unsafe target[index] = sum
        }
    }
}

/// Appends `count` raw words.
func readWords(
    _ bytes: Span<UInt8>, count: Int, appendTo words: inout [UInt64]
) throws(FormatError) {
    guard bytes.count == 8 * count else {
        throw FormatError(
            .invalid, "\(bytes.count) bytes for \(count) words, expected \(8 * count)", at: 0)
    }
    unpackBits(bytes, count: count, width: 64, adding: 0, appendTo: &words)
}

// MARK: Kernels

/// Whether an extra difference comes first to fill a group.
private func isPaddedDelta(count: Int) -> Bool {
    count % packedGroupCount == 0
}

/// Replaces `differences` by the wrapping differences between neighbors.
///
/// - Returns: The smallest difference as a signed number.
private func appendNeighborDifferences(
    _ words: Span<UInt64>, to differences: inout [UInt64]
) -> UInt64 {
    differences.removeAll(keepingCapacity: true)
    let count = words.count - 1
    guard count > 0 else { return 0 }
    let padding = isPaddedDelta(count: words.count) ? 1 : 0
    var least = Int64.max
    // Sound: reads words 0...count, of which there are count + 1, and writes the padding and count
    // differences, for which there is room.
    unsafe words.withUnsafeBufferPointer { source in
        differences.append(addingCapacity: count + padding) { output in
            unsafe output.withUnsafeMutableBufferPointer { buffer, initializedCount in
                let source = source.baseAddress!
                let target = unsafe buffer.baseAddress! + padding
                for index in 0..<count {
                    let difference = unsafe source[index + 1] &- source[index]
                    unsafe target[index] = difference
                    let signed = Int64(bitPattern: difference)
                    least = signed < least ? signed : least
                }
                if padding == 1 { unsafe buffer[0] = UInt64(bitPattern: least) }
                initializedCount = count + padding
            }
        }
    }
    return UInt64(bitPattern: least)
}
