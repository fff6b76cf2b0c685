// Values with a few apart that would spoil runs. docs/format/encodings.md, "patched".
//
//     positions    blob      which values are apart, as a presence vector
//     encoding     u8        of the values apart
//     apart        blob      block
//     encoding     u8        of the rest
//     rest         block     all values; those apart have the value before them

/// Plans and writes blocks of runs that single values interrupt: one that differs costs its own
/// bits, not two more runs. Keeps its memory from block to block.
struct PatchedEncoder {
    /// Exact size of what `write` will append; nil where there is nothing to set apart.
    private(set) var sizeBytes: Int?

    private var positions: [UInt16] = []
    private var apart: [UInt64] = []
    private var rest: [UInt64] = []
    private var vector = ByteWriter()
    private var apartEncoder = SimpleEncoder()
    private var restEncoder = SimpleEncoder()

    /// Most values in a row that interrupt a run and do not end it.
    private static let interruptionCountMax = 3

    mutating func plan(
        _ words: Span<UInt64>, runCount: Int, type: FieldType
    ) {
        sizeBytes = nil
        // Where fewer values than this interrupt runs there are so many runs that it does not matter.
        guard type != .boolean, runCount > 2, words.count <= presenceRowCountMax,
            interruptionCount(words) * 8 > runCount
        else { return }
        setApart(words)
        vector.removeAll()
        let positions = positions
        Presence.encode(positions.span, rowCount: words.count, into: &vector)
        let (apart, rest) = (apart, rest)
        apartEncoder.plan(apart.span, type: type)
        restEncoder.plan(rest.span, type: type)
        sizeBytes =
            varintSizeBytes(UInt64(vector.count)) + vector.count
            + apartEncoder.partSizeBytes(isLast: false) + restEncoder.partSizeBytes(isLast: true)
    }

    mutating func write(into writer: inout ByteWriter) {
        writer.appendBlob(vector.bytes)
        let (apart, rest) = (apart, rest)
        apartEncoder.writePart(apart.span, isLast: false, into: &writer)
        restEncoder.writePart(rest.span, isLast: true, into: &writer)
    }

    /// Finds up to three values that stand between equal ones.
    private mutating func setApart(_ words: Span<UInt64>) {
        positions.removeAll(keepingCapacity: true)
        apart.removeAll(keepingCapacity: true)
        rest.removeAll(keepingCapacity: true)
        rest.append(addingCapacity: words.count) { output in
            var current = words[0]
            var index = 0
            while index < words.count {
                let word = words[index]
                if word == current {
                    output.append(word)
                    index += 1
                    continue
                }
                let limit = min(words.count, index + Self.interruptionCountMax + 1)
                var end = index + 1
                while end < limit, words[end] != current { end += 1 }
                guard end < limit else {
                    current = word
                    continue
                }
                for interruption in index..<end {
                    positions.append(UInt16(truncatingIfNeeded: interruption))
                    apart.append(words[interruption])
                    output.append(current)
                }
                index = end
            }
        }
    }
}

/// How many single values stand between two that are equal.
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
