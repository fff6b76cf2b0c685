// Chooses among the encodings that do not refer to other blocks.

/// Encodes each block in its smallest standalone encoding.
///
/// Computes the exact size of each candidate from statistics without writing it, except for
/// candidates that a sample rules out. Reuses its memory between blocks; allocates nothing before
/// the first. Not thread-safe.
struct StandaloneEncoder {
    private let effort: EncodingEffort
    private var simple = SimpleEncoder()
    private var patched = PatchedEncoder()
    private var distinct = DistinctEncoder()
    private var mixed = MixedEncoder()
    private var encoding = BlockEncoding.constant
    private var sizeBytes = 0
    private var compressed = ByteWriter()
    private var alternative = ByteWriter()
    private var plain = ByteWriter()

    init(effort: EncodingEffort = .thorough) {
        self.effort = effort
    }

    /// Appends the bytes of a block. See `BlockEncoder`.
    mutating func encode(
        _ words: Span<UInt64>, type: FieldType, into writer: inout ByteWriter
    ) -> BlockEncoding {
        plan(words, type: type, EncodingSearch(effort: effort, sizeBytesMax: 16 + 8 * words.count))
        return write(words, into: &writer)
    }

    /// Appends the bytes of a block if they take less than `sizeBytesLimit` before compression;
    /// otherwise returns nil.
    mutating func encode(
        _ words: Span<UInt64>, type: FieldType, sizeBytesLimit: Int, into writer: inout ByteWriter
    ) -> BlockEncoding? {
        plan(words, type: type, EncodingSearch(effort: effort, sizeBytesMax: sizeBytesLimit))
        return sizeBytes < sizeBytesLimit ? write(words, into: &writer) : nil
    }

    /// Writes the planned block, compressed if that pays.
    private mutating func write(
        _ words: Span<UInt64>, into writer: inout ByteWriter
    ) -> BlockEncoding {
        let start = writer.count
        write(words, as: encoding, into: &writer)
        let size = writer.count - start
        guard effort == .thorough, size >= StandaloneEncoder.compressedSizeBytesMin,
            encoding.rawValue < 7
        else { return encoding }
        // Packed values share few bytes. If they are wide, raw words may compress better.
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
    /// - Returns: The predicted size; nil if the values cannot be encoded this way, or if the
    ///   encoding was not tried.
    mutating func encode(
        _ words: Span<UInt64>, type: FieldType, as encoding: BlockEncoding,
        into writer: inout ByteWriter
    ) -> Int? {
        plan(words, type: type, EncodingSearch(effort: effort))
        let size: Int? =
            switch encoding {
            case .patched: patched.sizeBytes
            case .distinct: distinct.sizeBytes
            case .mixed: mixed.sizeBytes
            default: simple.candidateSizeBytes(encoding, words: words)
            }
        if size != nil { write(words, as: encoding, into: &writer) }
        return size
    }

    /// Smaller blocks do not compress.
    private static let compressedSizeBytesMin = 64

    private mutating func plan(
        _ words: Span<UInt64>, type: FieldType, _ search: EncodingSearch
    ) {
        precondition(words.count <= blockValueCountMax, "too many values for one block")
        simple.plan(words, type: type, search)
        (encoding, sizeBytes) = (simple.encoding, simple.sizeBytes)
        guard effort == .thorough else { return }
        let runCount = simple.range.runCount
        patched.plan(words, runCount: runCount, type: type, search.limited(to: sizeBytes))
        if let size = patched.sizeBytes, size < sizeBytes {
            (encoding, sizeBytes) = (.patched, size)
        }
        distinct.clear()
        mixed.clear()
        // Skip small integers, which bit packing handles well, and blocks that are already tiny.
        let spread = simple.range.max &- simple.range.min
        guard sizeBytes * 8 > words.count * 3, type == .float || spread > 4096 else { return }
        distinct.plan(words, runCount: runCount, type: type, search.limited(to: sizeBytes))
        if let size = distinct.sizeBytes, size < sizeBytes {
            (encoding, sizeBytes) = (.distinct, size)
        }
        guard type == .float, sizeBytes > 2 * words.count else { return }
        mixed.plan(words, than: sizeBytes, search.limited(to: sizeBytes))
        if let size = mixed.sizeBytes, size < sizeBytes {
            (encoding, sizeBytes) = (.mixed, size)
        }
    }

    private mutating func write(
        _ words: Span<UInt64>, as encoding: BlockEncoding, into writer: inout ByteWriter
    ) {
        switch encoding {
        case .patched: patched.write(into: &writer)
        case .distinct: distinct.write(into: &writer)
        case .mixed: mixed.write(into: &writer)
        default: simple.write(words, as: encoding, into: &writer)
        }
    }
}

/// Writes a compressed block: encoding and size of the original bytes, then LZ4.
///
/// - Returns: Whether it takes at most `sizeMax`. If not, the content of `writer` is undefined.
private func compress(
    _ bytes: Span<UInt8>, _ encoding: BlockEncoding, sizeMax: Int, into writer: inout ByteWriter
) -> Bool {
    writer.removeAll()
    writer.append(encoding.rawValue)
    writer.appendVarint(bytes.count)
    return LZ4.compress(bytes, sizeMax: sizeMax - writer.count, into: &writer)
}
