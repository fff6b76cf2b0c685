// Stores presence vectors as subsets of other vectors. The rows of the watch's copy of a sample are
// among those of the phone's, mostly in runs. docs/format/segment.md, "Presence vector".

/// Finds the vectors of a segment whose rows are a subset of another vector's rows.
struct PresenceSharing {
    private let vectors: [PresenceVector]
    private let rowCount: Int
    /// The chunks of each vector. Chunks that are subsets are encoded as such.
    private var chunks: [[[UInt8]]]

    /// One vector's rows in a chunk.
    private struct Member {
        var vector: Int
        var chunk: Int
        var rows: [UInt32]
    }

    /// Smaller vectors have nothing to gain.
    private static let sizeBytesMin = 8
    /// The number of rows that are compared before all rows are.
    private static let sampleCount = 8
    /// The most vectors that a vector is compared with; more than a study has.
    private static let wholeCountMax = 256

    /// Returns the vectors as they are written.
    static func related(
        _ vectors: [[UInt8]], rowCount: Int
    ) throws(FormatError) -> [[UInt8]] {
        var sharing = try PresenceSharing(vectors, rowCount: rowCount)
        let chunkCount = rowCount / SegmentFormat.presenceChunkRows + 1
        for number in 0..<chunkCount { try sharing.relate(number) }
        return sharing.bytes()
    }

    private init(_ bytes: [[UInt8]], rowCount: Int) throws(FormatError) {
        var vectors: [PresenceVector] = []
        for vector in bytes { vectors.append(try PresenceVector(vector, rowCount: rowCount)) }
        self.vectors = vectors
        self.rowCount = rowCount
        chunks = vectors.map { vector in vector.chunks.indices.map { vector.bytes(ofChunk: $0) } }
    }

    /// Processes the chunk with this number in all vectors, the fullest first.
    private mutating func relate(_ number: Int) throws(FormatError) {
        var members: [Member] = []
        for (index, vector) in vectors.enumerated() {
            guard let chunk = vector.chunk(number: number) else { continue }
            members.append(
                Member(vector: index, chunk: chunk, rows: try vector.rows(ofChunk: chunk)))
        }
        members.sort { ($1.rows.count, $0.vector) < ($0.rows.count, $1.vector) }
        let base = number * SegmentFormat.presenceChunkRows
        let chunkRowCount = min(SegmentFormat.presenceChunkRows, rowCount - base)
        // A vector that is itself a subset in this chunk cannot contain others.
        var wholes: [Member] = []
        for member in members where member.rows.count < chunkRowCount {
            let old = chunks[member.vector][member.chunk]
            // The smallest superset leaves out the fewest rows.
            let whole =
                old.count < Self.sizeBytesMin
                ? nil
                : wholes.suffix(Self.wholeCountMax)
                    .last { Self.contains($0.rows.span, member.rows.span) }
            guard let whole else {
                wholes.append(member)
                continue
            }
            let part = Self.encode(member.rows.span, in: whole.rows.span, whole.vector)
            if part.count < old.count {
                chunks[member.vector][member.chunk] = part
            } else {
                wholes.append(member)
            }
        }
    }

    private func bytes() -> [[UInt8]] {
        vectors.indices.map { index in
            var writer = ByteWriter()
            for (chunk, bytes) in chunks[index].enumerated() {
                let known = vectors[index].chunks[chunk]
                writer.appendVarint(known.number)
                writer.appendVarint(known.count)
                writer.appendBlob(bytes)
            }
            return writer.bytes
        }
    }

    /// Whether `whole` contains all rows of `part`. Both ascend.
    private static func contains(_ whole: Span<UInt32>, _ part: Span<UInt32>) -> Bool {
        guard part.count < whole.count else { return false }
        var place = 0
        for sample in 0..<min(sampleCount, part.count) {
            let row = part[sample * part.count / sampleCount]
            place = firstIndex(in: whole, notBefore: row, from: place)
            guard place < whole.count, whole[place] == row else { return false }
        }
        place = 0
        for index in part.indices {
            while place < whole.count, whole[place] < part[index] { place += 1 }
            guard place < whole.count, whole[place] == part[index] else { return false }
        }
        return true
    }

    private static func encode(
        _ part: Span<UInt32>, in whole: Span<UInt32>, _ vector: Int
    ) -> [UInt8] {
        var positions: [UInt16] = []
        var place = 0
        for index in part.indices {
            while whole[place] < part[index] { place += 1 }
            positions.append(UInt16(truncatingIfNeeded: place))
        }
        var writer = ByteWriter()
        writer.append(PresenceVector.partForm)
        writer.appendVarint(vector)
        Presence.encode(positions.span, rowCount: whole.count, into: &writer)
        return writer.bytes
    }
}
