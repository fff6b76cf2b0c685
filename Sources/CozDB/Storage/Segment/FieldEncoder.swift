// Encodes the fields of a segment in parallel. Each field encodes its blocks of a chunk
// independently, on any thread. The blocks are then written in the order of the columns, so that
// the segment has the same bytes for any number of threads.

/// A field with values in the chunk.
struct ChunkField: Sendable {
    var column: ColumnID
    var strings: StringSource
    var valueCount: Int
}

/// One field of a segment, with its staged blocks.
///
/// Unchecked: one thread runs an encoder, and the caller reads it after all encoders have returned.
final class FieldEncoder: @unchecked Sendable {
    var writer: FieldWriter
    private var staged: SegmentOutput?
    /// The first block whose place counts from the start of `staged`.
    private var firstStagedBlock = 0

    init(_ column: Column) {
        writer = FieldWriter(column: column)
    }

    /// Encodes the field's values of a chunk.
    ///
    /// - Parameters:
    ///   - series: number of the series.
    ///   - referenced: the columns that the field may refer to.
    ///   - encoders: the pool from which the call takes an encoder.
    func append(
        _ chunk: RowChunk, series: Int, referenced: [ColumnID], strings: StringSource,
        with encoders: EncoderPool
    ) {
        firstStagedBlock = writer.blockCount
        let encoder = encoders.take()
        defer { encoders.give(encoder) }
        var staged = SegmentOutput(encoder: encoder)
        // Only a file can fail.
        try? writer.append(
            series: series, chunk, referenced: referenced, strings: strings, to: &staged)
        self.staged = staged
    }

    /// Writes the staged blocks to the file.
    func settle(in output: inout SegmentOutput) throws(DatabaseError) {
        guard let staged = staged.take() else { return }
        try writer.settle(from: firstStagedBlock, staged: staged, in: &output)
    }

    /// Runs the encoders of a chunk, on all cores if the chunk is large enough.
    ///
    /// - Parameters:
    ///   - countMin: the number of values from which other threads are worth waking.
    ///   - other: work that is independent of the encoders.
    ///   - body: runs the encoder of the field with this index.
    static func run(
        _ fields: [ChunkField], parallelFrom countMin: Int, beside other: @Sendable () -> Void,
        _ body: @Sendable (Int) -> Void
    ) {
        let valueCount = fields.reduce(0) { $0 + $1.valueCount }
        guard fields.count > 1, valueCount >= countMin else {
            for index in fields.indices { body(index) }
            return other()
        }
        // The largest first, so that the work that is left at the end is small and no core waits
        // long.
        let order = fields.indices.sorted {
            (-fields[$0].valueCount, $0) < (-fields[$1].valueCount, $1)
        }
        Cores.perform(iterations: order.count + 1) { place in
            if place == 0 { other() } else { body(order[place - 1]) }
        }
    }

    /// The number of values from which a second thread is worth waking.
    static let parallelCountMin = 16_384
}

/// The block encoders of one segment. One per thread, not one per field, because each keeps the
/// memory of all encodings that it tries.
final class EncoderPool: Sendable {
    let effort: EncodingEffort
    private let free = Monitor(Encoders())

    /// Unchecked: the mutex gives each encoder to one thread.
    private struct Encoders: @unchecked Sendable {
        var all: [BlockEncoder] = []
    }

    init(effort: EncodingEffort) {
        self.effort = effort
    }

    /// Takes an encoder for one thread.
    func take() -> BlockEncoder {
        free.withLock { $0.all.popLast() } ?? BlockEncoder(effort: effort)
    }

    /// Returns an encoder to the pool.
    func give(_ encoder: BlockEncoder) {
        free.withLock { $0.all.append(encoder) }
    }
}
