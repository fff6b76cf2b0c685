// Runs of equal words. docs/format/encodings.md, "runLength".
//
//     runs         varint    number of runs
//     lengths      packed integers: length - 1 of each run
//     encoding     u8        of the values: constant, bitPacked, delta, decimal or words
//     values       one per run, in that encoding

/// Plans and writes blocks of runs. Reuses its memory between blocks.
struct RunLengthEncoder {
    /// Exact size of what `write` appends; nil if runs are too short.
    private(set) var sizeBytes: Int?

    private var runs: [UInt64] = []
    private var lengths: [UInt64] = []
    private var packedLengths = PackedIntegerEncoder()
    private var values = ValueEncoder()

    mutating func plan(
        _ words: Span<UInt64>, range: IntegerRange, type: FieldType, _ search: EncodingSearch
    ) {
        sizeBytes = nil
        // If few neighbors are equal, the lengths cost more than the runs save.
        guard range.runCount > 1, range.runCount <= words.count / 4 * 3 else { return }
        collect(words, runCount: range.runCount)
        let (runs, lengths) = (runs, lengths)
        packedLengths.plan(lengths.span, min: IntegerRange(of: lengths.span).min)
        let overhead = varintSizeBytes(UInt64(runs.count)) + packedLengths.sizeBytes + 1
        guard overhead <= search.sizeBytesMax else { return }
        values.plan(runs.span, range: range, type: type, search.beside(overhead))
        sizeBytes = overhead + values.sizeBytes
    }

    mutating func write(into writer: inout ByteWriter) {
        writer.appendVarint(runs.count)
        packedLengths.write(into: &writer)
        writer.append(values.encoding.rawValue)
        let runs = runs
        values.write(runs.span, as: values.encoding, into: &writer)
    }

    private mutating func collect(_ words: Span<UInt64>, runCount: Int) {
        runs.removeAll(keepingCapacity: true)
        lengths.removeAll(keepingCapacity: true)
        runs.append(addingCapacity: runCount) { runs in
            lengths.append(addingCapacity: runCount) { lengths in
                var word = words[0]
                var start = 0
                for index in 1..<words.count where words[index] != word {
                    runs.append(word)
                    lengths.append(UInt64(truncatingIfNeeded: index &- start &- 1))
                    (word, start) = (words[index], index)
                }
                runs.append(word)
                lengths.append(UInt64(truncatingIfNeeded: words.count &- start &- 1))
            }
        }
    }
}

/// Appends the values of runs. Their lengths must add up to `count`.
///
/// - Parameter lengths: Length minus one of each run.
func appendRuns(
    _ values: Span<UInt64>, lengths: Span<UInt64>, count: Int, to words: inout [UInt64]
) throws(FormatError) {
    // A length above `count` is caught before it is added, so the sum cannot overflow.
    var total = 0
    for run in lengths.indices where total <= count {
        total += lengths[run] >= UInt64(count) ? count + 1 : Int(lengths[run]) + 1
    }
    guard total == count else {
        throw FormatError(.invalid, "run lengths do not add up to \(count)", at: 0)
    }
    precondition(values.count == lengths.count, "a run is a value and a length")
    // Sound: the lengths add up to `count`, for which the output has room.
    words.append(addingCapacity: count) { output in
        unsafe output.withUnsafeMutableBufferPointer { buffer, initializedCount in
            var position = 0
            for run in values.indices {
                let end = position + Int(lengths[run]) + 1
                let value = values[run]
                while position < end {
                    unsafe buffer[position] = value
                    position += 1
                }
            }
            initializedCount = count
        }
    }
}
