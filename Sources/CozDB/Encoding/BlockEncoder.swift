// Blocks of values to bytes; docs/format/encodings.md. Here, and in the encoders below it, is the
// only place where an encoding is chosen.

/// Encodes blocks of values, each in the encoding that takes the fewest bytes of those that the
/// effort allows.
///
/// Sizes are exact, not estimated. Memory is kept from block to block. Not to be shared by threads.
struct BlockEncoder {
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
    mutating func encode(
        _ words: Span<UInt64>, type: FieldType, into writer: inout ByteWriter
    ) -> BlockEncoding {
        standalone.encode(words, type: type, into: &writer)
    }

    /// The same for a block that may repeat what stands elsewhere.
    ///
    /// - Parameter type: of the field; strings are codes or words of times.
    mutating func encode(
        _ words: Span<UInt64>, type: FieldType, repeating sources: BlockReferences,
        into writer: inout ByteWriter
    ) -> BlockEncoding {
        let start = writer.count
        let stored = type == .string ? FieldType.integer : type
        var encoding = standalone.encode(words, type: stored, into: &writer)
        guard effort == .thorough else { return encoding }
        var size = writer.count - start
        var isReference = false
        func take(_ found: BlockEncoding) {
            swap(&best, &candidate)
            (encoding, size, isReference) = (found, best.count, true)
        }
        for partner in sources.partners {
            let differing = partner.isSame.count { !$0 }
            // A value that differs takes hardly less than a byte and a half with its position.
            guard differing < words.count, differing + 3 < size else { continue }
            references.encode(words, type: stored, sameAs: partner, into: &candidate)
            if BlockEncoder.isWorth(candidate.count, insteadOf: size, words.count, type) {
                take(.same)
            }
        }
        if !sources.rowTimes.isEmpty, size > 8 + words.count / 2 {
            references.encode(words, rowTimes: sources.rowTimes.span, into: &candidate)
            if BlockEncoder.isWorth(candidate.count, insteadOf: size, words.count, type) {
                take(.rowTime)
            }
        }
        guard isReference else { return encoding }
        writer.bytes.removeLast(writer.count - start)
        writer.append(best.bytes)
        return encoding
    }

    /// The same in a given encoding, for tests and tools.
    ///
    /// - Returns: the size that was expected of it; nil where the values cannot be encoded so, or
    ///   the encoding was not worth trying.
    mutating func encode(
        _ words: Span<UInt64>, type: FieldType, as encoding: BlockEncoding,
        into writer: inout ByteWriter
    ) -> Int? {
        standalone.encode(words, type: type, as: encoding, into: &writer)
    }

    /// Whether a reference is worth what it costs to read another block too. Numbers are what
    /// queries read: of them it must save a third, and a byte a value.
    private static func isWorth(
        _ size: Int, insteadOf other: Int, _ count: Int, _ type: FieldType
    ) -> Bool {
        if type == .string { return size < other }
        return size * 3 <= other * 2 && size + count <= other
    }
}
