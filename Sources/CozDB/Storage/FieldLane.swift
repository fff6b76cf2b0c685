// The fields of a segment side by side: each makes its blocks of a slab apart from the others, on
// whatever thread; then they are put into the file in the order of the columns, so that a segment
// has the same bytes whatever the number of threads.

internal import Dispatch

/// One column of a slab that has values.
struct SlabField: Sendable {
    var column: ColumnID
    /// Columns whose values it may repeat.
    var partners: [ColumnID]
    var strings: StringSource
}

/// One field of a segment, and the blocks of it that stand in no file yet.
///
/// Unchecked: one thread runs a lane, and nobody looks at it until all lanes have returned.
final class FieldLane: @unchecked Sendable {
    var writer: FieldWriter
    private var staged = SegmentOutput()
    /// The first block whose place counts from the beginning of `staged`.
    private var firstStagedBlock = 0
    private var failure: FileError?

    init(_ column: Column) {
        writer = FieldWriter(column: column)
    }

    /// Takes in the values of a slab.
    func append(_ slab: Slab, _ field: SlabField, series: Int) {
        firstStagedBlock = writer.blockCount
        do throws(FileError) {
            try writer.append(
                series: series, slab, partners: field.partners, strings: field.strings,
                to: &staged)
        } catch {
            failure = error
        }
    }

    /// Puts the blocks into the file.
    func settle(in output: inout SegmentOutput) throws(FileError) {
        if let failure { throw failure }
        try writer.settle(from: firstStagedBlock, staged: &staged, in: &output)
    }

    /// Runs the lanes of a slab, on all cores where that is worth waking them.
    static func run(
        _ lanes: [FieldLane], _ slab: Slab, _ body: @Sendable (FieldLane, Int) -> Void
    ) {
        let counts = lanes.map { slab.columns[$0.writer.column.id].rows.count }
        guard lanes.count > 1, counts.reduce(0, +) >= valueCountMin else {
            for index in lanes.indices { body(lanes[index], index) }
            return
        }
        // The largest first: what is left at the end is small, and no core waits for long.
        let order = lanes.indices.sorted { (-counts[$0], $0) < (-counts[$1], $1) }
        DispatchQueue.concurrentPerform(iterations: order.count) { place in
            body(lanes[order[place]], order[place])
        }
    }

    /// Values from which on a second thread is worth waking.
    private static let valueCountMin = 16_384
}
