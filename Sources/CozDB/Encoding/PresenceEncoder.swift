// Encodes presence vectors; the forms are described in Presence.swift.

/// Encodes presence vectors. Reuses its memory between chunks. Not thread-safe.
struct PresenceEncoder {
    /// For each run of present rows: the number of absent rows before it, and its length minus one.
    private var gaps: [UInt64] = []
    private var lengths: [UInt64] = []
    /// Number of absent rows before each present one.
    private var positionGaps: [UInt64] = []
    private var packedGaps = PackedIntegerEncoder()
    private var packedLengths = PackedIntegerEncoder()
    private var packedPositionGaps = PackedIntegerEncoder()

    /// Appends the smallest form.
    ///
    /// - Parameter positions: Row numbers in the chunk, ascending, each less than `rowCount`.
    mutating func encode(
        _ positions: Span<UInt16>, rowCount: Int, into writer: inout ByteWriter
    ) {
        precondition((0...presenceRowCountMax).contains(rowCount), "a chunk has 65,536 rows")
        precondition(positions.count <= rowCount, "more rows present than there are")
        guard positions.count < rowCount else {
            return writer.append(Presence.Form.all.rawValue)
        }
        collectRuns(positions)
        let runsSizeBytes = planRuns()
        let positionsSizeBytes = positionsSizeBytes(positions)
        let bitmapSizeBytes = (rowCount + 7) / 8
        if runsSizeBytes <= min(positionsSizeBytes, bitmapSizeBytes) {
            writeRuns(into: &writer)
        } else if positionsSizeBytes <= bitmapSizeBytes {
            writePositions(positions, into: &writer)
        } else {
            writeBitmap(positions, sizeBytes: bitmapSizeBytes, into: &writer)
        }
    }

    // MARK: Runs

    private mutating func collectRuns(_ positions: Span<UInt16>) {
        gaps.removeAll(keepingCapacity: true)
        lengths.removeAll(keepingCapacity: true)
        let runCount = runCount(positions)
        guard runCount > 0 else { return }
        gaps.append(addingCapacity: runCount) { gaps in
            lengths.append(addingCapacity: runCount) { lengths in
                var first = 0
                var end = Int(positions[0])
                gaps.append(UInt64(truncatingIfNeeded: end))
                for index in positions.indices {
                    let position = Int(positions[index])
                    if position != end {
                        gaps.append(UInt64(truncatingIfNeeded: position &- end))
                        lengths.append(UInt64(truncatingIfNeeded: index &- first &- 1))
                        first = index
                    }
                    end = position &+ 1
                }
                lengths.append(UInt64(truncatingIfNeeded: positions.count &- first &- 1))
            }
        }
    }

    /// Plans runs. The first gap is stored separately because it is unrelated to the others.
    private mutating func planRuns() -> Int {
        var sizeBytes = varintSizeBytes(UInt64(gaps.count))
        guard !gaps.isEmpty else { return sizeBytes }
        let lengths = lengths
        packedLengths.plan(lengths.span, min: IntegerRange(of: lengths.span).min)
        sizeBytes += varintSizeBytes(gaps[0]) + packedLengths.sizeBytes
        guard gaps.count > 1 else { return sizeBytes }
        let gaps = gaps
        let later = gaps.span.extracting(1...)
        packedGaps.plan(later, min: IntegerRange(of: later).min)
        return sizeBytes + packedGaps.sizeBytes
    }

    private mutating func writeRuns(into writer: inout ByteWriter) {
        writer.append(Presence.Form.runs.rawValue)
        writer.appendVarint(gaps.count)
        guard let first = gaps.first else { return }
        writer.appendVarint(first)
        if gaps.count > 1 { packedGaps.write(into: &writer) }
        packedLengths.write(into: &writer)
    }

    // MARK: Positions

    /// Returns the size of the positions form. It follows from the runs: gaps inside a run are 0.
    private mutating func positionsSizeBytes(_ positions: Span<UInt16>) -> Int {
        var sizeBytes = varintSizeBytes(UInt64(positions.count))
        guard !gaps.isEmpty else { return sizeBytes }
        sizeBytes += varintSizeBytes(gaps[0])
        guard positions.count > 1 else { return sizeBytes }
        let gaps = gaps
        let later = gaps.span.extracting(1...)
        let zeroCount = positions.count - gaps.count
        let least = zeroCount > 0 ? 0 : IntegerRange(of: later).min
        packedPositionGaps.plan(later, min: least, zeroCount: zeroCount)
        return sizeBytes + packedPositionGaps.sizeBytes
    }

    private mutating func writePositions(
        _ positions: Span<UInt16>, into writer: inout ByteWriter
    ) {
        positionGaps.removeAll(keepingCapacity: true)
        positionGaps.append(addingCapacity: positions.count) { output in
            var end = 0
            for index in positions.indices {
                output.append(UInt64(truncatingIfNeeded: Int(positions[index]) &- end))
                end = Int(positions[index]) &+ 1
            }
        }
        writer.append(Presence.Form.positions.rawValue)
        writer.appendVarint(positions.count)
        guard let first = positionGaps.first else { return }
        writer.appendVarint(first)
        guard positionGaps.count > 1 else { return }
        let positionGaps = positionGaps
        let later = positionGaps.span.extracting(1...)
        packedPositionGaps.plan(later, min: IntegerRange(of: later).min)
        packedPositionGaps.write(into: &writer)
    }

    private func writeBitmap(
        _ positions: Span<UInt16>, sizeBytes: Int, into writer: inout ByteWriter
    ) {
        writer.append(Presence.Form.bitmap.rawValue)
        let start = writer.count
        writer.appendZeros(sizeBytes)
        var bitmap = writer.bytes.mutableSpan
        for index in positions.indices {
            bitmap[start + Int(positions[index] >> 3)] |= 1 << UInt8(positions[index] & 7)
        }
    }
}

extension Presence {
    /// Appends the smallest form, with a temporary encoder.
    static func encode(_ positions: Span<UInt16>, rowCount: Int, into writer: inout ByteWriter) {
        var encoder = PresenceEncoder()
        encoder.encode(positions, rowCount: rowCount, into: &writer)
    }
}

/// Returns the number of runs of adjacent rows.
private func runCount(_ positions: Span<UInt16>) -> Int {
    guard !positions.isEmpty else { return 0 }
    var count = 1
    for index in 1..<positions.count {
        count &+= positions[index] == positions[index &- 1] &+ 1 ? 0 : 1
    }
    return count
}
