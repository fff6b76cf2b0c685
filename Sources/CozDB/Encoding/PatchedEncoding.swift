// Blocks of runs with a few patched values. docs/format/encodings.md, "patched".
//
//     positions    blob      which values are patches, as a presence vector
//     encoding     u8        of the patches
//     patches      blob      block
//     encoding     u8        of the rest
//     rest         block     all values; a patch repeats the value before it

/// Plans and writes blocks of runs interrupted by single values. An interruption costs its own bits
/// instead of two more runs. Reuses its memory between blocks.
struct PatchedEncoder {
    /// Exact size of what `write` appends; nil if the encoding does not apply.
    private(set) var sizeBytes: Int?

    private var positions: [UInt16] = []
    private var apart: [UInt64] = []
    private var rest: [UInt64] = []
    private var vector = ByteWriter()
    private var presence = PresenceEncoder()
    private var apartEncoder = SimpleEncoder()
    private var restEncoder = SimpleEncoder()

    /// Maximum number of values that interrupt a run without ending it.
    private static let interruptionCountMax = 3

    mutating func plan(
        _ words: Span<UInt64>, runCount: Int, type: FieldType, _ search: EncodingSearch
    ) {
        sizeBytes = nil
        // With fewer interruptions per run, patching saves too little.
        guard type != .boolean, runCount > 2, words.count <= presenceRowCountMax,
            interruptionCount(words) * 8 > runCount
        else { return }
        setApart(words)
        vector.removeAll()
        let (positions, apart, rest) = (positions, apart, rest)
        presence.encode(positions.span, rowCount: words.count, into: &vector)
        var overhead = varintSizeBytes(UInt64(vector.count)) + vector.count
        guard overhead <= search.sizeBytesMax else { return }
        apartEncoder.plan(apart.span, type: type, search.beside(overhead))
        overhead += apartEncoder.partSizeBytes(isLast: false)
        guard overhead <= search.sizeBytesMax else { return }
        restEncoder.plan(rest.span, type: type, search.beside(overhead))
        sizeBytes = overhead + restEncoder.partSizeBytes(isLast: true)
    }

    mutating func write(into writer: inout ByteWriter) {
        writer.appendBlob(vector.bytes)
        let (apart, rest) = (apart, rest)
        apartEncoder.writePart(apart.span, isLast: false, into: &writer)
        restEncoder.writePart(rest.span, isLast: true, into: &writer)
    }

    /// Separates up to three values that stand between equal ones.
    private mutating func setApart(_ words: Span<UInt64>) {
        positions.removeAll(keepingCapacity: true)
        apart.removeAll(keepingCapacity: true)
        rest.removeAll(keepingCapacity: true)
        rest.append(addingCapacity: words.count) { rest in
            positions.append(addingCapacity: words.count) { positions in
                apart.append(addingCapacity: words.count) { apart in
                    Self.split(words, &rest, &apart, &positions)
                }
            }
        }
    }

    private static func split(
        _ words: Span<UInt64>, _ rest: inout OutputSpan<UInt64>,
        _ apart: inout OutputSpan<UInt64>, _ positions: inout OutputSpan<UInt16>
    ) {
        var current = words[0]
        var index = 0
        while index < words.count {
            let word = words[index]
            if word == current {
                rest.append(word)
                index += 1
                continue
            }
            let limit = min(words.count, index + interruptionCountMax + 1)
            var end = index + 1
            while end < limit, words[end] != current { end += 1 }
            guard end < limit else {
                current = word
                continue
            }
            for interruption in index..<end {
                positions.append(UInt16(truncatingIfNeeded: interruption))
                apart.append(words[interruption])
                rest.append(current)
            }
            index = end
        }
    }
}

/// Returns the number of single values between two equal ones.
private func interruptionCount(_ words: Span<UInt64>) -> Int {
    var count = 0
    guard words.count > 2 else { return 0 }
    for index in 1..<(words.count - 1) {
        let before = words[index &- 1]
        let isInterrupted = before == words[index &+ 1] && before != words[index]
        count &+= isInterrupted ? 1 : 0
    }
    return count
}
