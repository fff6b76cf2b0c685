// Encodes blocks of values; docs/format/encodings.md. Only this encoder and those it uses choose
// encodings.

/// Encodes each block in the smallest encoding that the effort allows.
///
/// Sizes are exact, not estimated. Reuses its memory between blocks. Not thread-safe. A class,
/// because copying its hundred buffers would cost a reference count each.
final class BlockEncoder {
    private let effort: EncodingEffort
    private var standalone: StandaloneEncoder
    private var references = ReferenceEncoder()
    private var candidate = ByteWriter()
    private var best = ByteWriter()

    init(effort: EncodingEffort = .thorough) {
        self.effort = effort
        standalone = StandaloneEncoder(effort: effort)
    }

    /// Appends the bytes of a block.
    ///
    /// - Parameter words: At most 1,048,576. Float: bit pattern. Integer: two's complement.
    ///   Boolean: 0 or 1. String: code.
    /// - Returns: The encoding, which is stored in the block directory.
    func encode(
        _ words: Span<UInt64>, type: FieldType, into writer: inout ByteWriter
    ) -> BlockEncoding {
        standalone.encode(words, type: type, into: &writer)
    }

    /// Appends the bytes of a block that may be encoded as a reference.
    ///
    /// - Parameter type: The type of the field. Strings are codes or packed times.
    func encode(
        _ words: Span<UInt64>, type: FieldType, repeating sources: BlockReferences,
        into writer: inout ByteWriter
    ) -> BlockEncoding {
        guard effort == .thorough else {
            return standalone.encode(words, type: type.stored, into: &writer)
        }
        return type == .string
            ? encodeTexts(words, sources, into: &writer)
            : encodeNumbers(words, type, sources, into: &writer)
    }

    /// Tries references first: if one is small, most other encodings need not be planned.
    private func encodeTexts(
        _ words: Span<UInt64>, _ sources: BlockReferences, into writer: inout ByteWriter
    ) -> BlockEncoding {
        let start = writer.count
        var size = Int.max
        for partner in sources.partners where isPromising(partner, words.count, size) {
            references.encode(words, type: .integer, sameAs: partner, into: &candidate)
            guard candidate.count < size else { continue }
            swap(&best, &candidate)
            size = best.count
        }
        var encoding = BlockEncoding.same
        let found =
            size == .max
            ? standalone.encode(words, type: .integer, into: &writer)
            : standalone.encode(
                words, type: .integer, sizeBytesLimit: size + 1, into: &writer)
        if let found { (encoding, size) = (found, writer.count - start) }
        if !sources.rowTimes.isEmpty, size > 8 + words.count / 2,
            references.encode(
                words, rowTimes: sources.rowTimes.span, sizeBytesLimit: size, into: &candidate)
        {
            swap(&best, &candidate)
            encoding = .rowTime
        }
        guard encoding.isReference else { return encoding }
        writer.bytes.removeLast(writer.count - start)
        writer.append(best.bytes)
        return encoding
    }

    /// Reading a referenced number requires decoding another block too, and queries read numbers.
    /// So a reference must save at least a third, and a byte per value.
    private func encodeNumbers(
        _ words: Span<UInt64>, _ type: FieldType, _ sources: BlockReferences,
        into writer: inout ByteWriter
    ) -> BlockEncoding {
        let start = writer.count
        var encoding = standalone.encode(words, type: type, into: &writer)
        var size = writer.count - start
        for partner in sources.partners where isPromising(partner, words.count, size) {
            references.encode(words, type: type, sameAs: partner, into: &candidate)
            guard candidate.count * 3 <= size * 2, candidate.count + words.count <= size else {
                continue
            }
            swap(&best, &candidate)
            (encoding, size) = (.same, best.count)
        }
        guard encoding == .same else { return encoding }
        writer.bytes.removeLast(writer.count - start)
        writer.append(best.bytes)
        return encoding
    }

    /// Whether a reference to this field may be smaller. A differing value takes about one and a
    /// half bytes with its position.
    private func isPromising(
        _ partner: BlockReferences.ReferencedField, _ count: Int, _ sizeBytes: Int
    ) -> Bool {
        let same = partner.isSame.span
        var differing = count
        for index in same.indices { differing &-= same[index] ? 1 : 0 }
        return differing < count && differing + 3 < sizeBytes
    }

    /// Appends the bytes of a block in a given encoding, for tests and tools.
    ///
    /// - Returns: The predicted size; nil if the values cannot be encoded this way, or if the
    ///   encoding was not tried.
    func encode(
        _ words: Span<UInt64>, type: FieldType, as encoding: BlockEncoding,
        into writer: inout ByteWriter
    ) -> Int? {
        standalone.encode(words, type: type, as: encoding, into: &writer)
    }
}

extension FieldType {
    /// The type of stored words: strings are stored as integers.
    fileprivate var stored: FieldType { self == .string ? .integer : self }
}
