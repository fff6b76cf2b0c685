// Blocks of values to bytes; docs/format/encodings.md. Here, and in the encoders below it, is the
// only place where an encoding is chosen.

/// Encodes blocks of values, each in the encoding that takes the fewest bytes of those that the
/// effort allows.
///
/// Sizes are exact, not estimated. Memory is kept from block to block, and used by one thread at a
/// time. A class, because it is lent: it holds a hundred buffers, and each copy would count them.
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
    /// - Parameter words: float: bit pattern; integer: two's complement; boolean: 0 or 1; string:
    ///   code. At most 1,048,576 of them.
    /// - Returns: the encoding, which is stored beside the bytes.
    func encode(
        _ words: Span<UInt64>, type: FieldType, into writer: inout ByteWriter
    ) -> BlockEncoding {
        standalone.encode(words, type: type, into: &writer)
    }

    /// The same for a block that may repeat what stands elsewhere.
    ///
    /// - Parameter type: of the field; strings are codes or words of times.
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

    /// References first: where one takes few bytes most other encodings need not be planned.
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

    /// A reference to numbers must be worth what it costs to read another block too: they are what
    /// queries read. It must save a third, and a byte a value.
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

    /// Whether a partner may take fewer bytes than there are: a value that differs takes hardly
    /// less than a byte and a half with its position.
    private func isPromising(
        _ partner: BlockReferences.Partner, _ count: Int, _ sizeBytes: Int
    ) -> Bool {
        let same = partner.isSame.span
        var differing = count
        for index in same.indices { differing &-= same[index] ? 1 : 0 }
        return differing < count && differing + 3 < sizeBytes
    }

    /// The same in a given encoding, for tests and tools.
    ///
    /// - Returns: the size that was expected of it; nil where the values cannot be encoded so, or
    ///   the encoding was not worth trying.
    func encode(
        _ words: Span<UInt64>, type: FieldType, as encoding: BlockEncoding,
        into writer: inout ByteWriter
    ) -> Int? {
        standalone.encode(words, type: type, as: encoding, into: &writer)
    }
}

extension FieldType {
    /// What blocks of the type have: strings are numbers.
    fileprivate var stored: FieldType { self == .string ? .integer : self }
}
