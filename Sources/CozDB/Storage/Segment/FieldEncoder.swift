// The fields of a segment side by side: each makes its blocks of a slab apart from the others, on
// whatever thread; then they are put into the file in the order of the columns, so that a segment
// has the same bytes whatever the number of threads.

internal import Synchronization

/// A field with values in the slab.
struct ChunkField: Sendable {
    var column: ColumnID
    var strings: StringSource
    var valueCount: Int
}

/// One field of a segment, and the blocks of it that stand in no file yet.
///
/// Unchecked: one thread runs a lane, and nobody looks at it until all lanes have returned.
final class FieldEncoder: @unchecked Sendable {
    var writer: FieldWriter
    private var staged: SegmentOutput?
    /// The first block whose place counts from the beginning of `staged`.
    private var firstStagedBlock = 0
    private var failure: FileError?

    init(_ column: Column) {
        writer = FieldWriter(column: column)
    }

    /// Takes in the field's values of a slab.
    ///
    /// - Parameters:
    ///   - series: number of the series.
    ///   - partners: columns that the field may repeat.
    ///   - encoders: whose memory is borrowed for the call.
    func append(
        _ slab: RowChunk, series: Int, partners: [ColumnID], strings: StringSource,
        with encoders: EncoderPool
    ) {
        firstStagedBlock = writer.blockCount
        let encoder = encoders.take()
        defer { encoders.give(encoder) }
        var staged = SegmentOutput(encoder: encoder)
        do throws(FileError) {
            try writer.append(
                series: series, slab, partners: partners, strings: strings, to: &staged)
            self.staged = staged
        } catch {
            failure = error
        }
    }

    /// Puts the blocks into the file.
    func settle(in output: inout SegmentOutput) throws(FileError) {
        if let failure { throw failure }
        guard let staged = staged.take() else { return }
        try writer.settle(from: firstStagedBlock, staged: staged, in: &output)
    }

    /// Runs the lanes of a slab, on all cores where that is worth waking them.
    ///
    /// - Parameters:
    ///   - countMin: values from which on it is worth it.
    ///   - other: work that needs none of them.
    ///   - body: runs the lane of the field with that index.
    static func run(
        _ slab: [ChunkField], parallelFrom countMin: Int, beside other: @Sendable () -> Void,
        _ body: @Sendable (Int) -> Void
    ) {
        let valueCount = slab.reduce(0) { $0 + $1.valueCount }
        guard slab.count > 1, valueCount >= countMin else {
            for index in slab.indices { body(index) }
            return other()
        }
        // The largest first: what is left at the end is small, and no core waits for long.
        let order = slab.indices.sorted {
            (-slab[$0].valueCount, $0) < (-slab[$1].valueCount, $1)
        }
        Cores.perform(iterations: order.count + 1) { place in
            if place == 0 { other() } else { body(order[place - 1]) }
        }
    }

    /// Values from which on a second thread is worth waking.
    static let parallelCountMin = 16_384
}

/// Encoders of one segment: as many as threads work on it, not one for each field, since an
/// encoder keeps the memory of all it tries.
final class EncoderPool: Sendable {
    let effort: EncodingEffort
    private let free = Mutex(Encoders())

    /// Unchecked: the lock hands each to one thread.
    private struct Encoders: @unchecked Sendable {
        var all: [BlockEncoder] = []
    }

    init(effort: EncodingEffort) {
        self.effort = effort
    }

    /// An encoder for one thread, until it is given back.
    func take() -> BlockEncoder {
        free.withLock { $0.all.popLast() } ?? BlockEncoder(effort: effort)
    }

    /// Takes an encoder back.
    func give(_ encoder: BlockEncoder) {
        free.withLock { $0.all.append(encoder) }
    }
}
