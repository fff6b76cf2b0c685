// The fields of a segment side by side: each makes its blocks of a slab apart from the others, on
// whatever thread; then they are put into the file in the order of the columns, so that a segment
// has the same bytes whatever the number of threads.

internal import Dispatch

/// A field with values in the slab.
struct SlabField: Sendable {
    var column: ColumnID
    var strings: StringSource
    var valueCount: Int
}

/// One field of a segment, and the blocks of it that stand in no file yet.
///
/// Unchecked: one thread runs a lane, and nobody looks at it until all lanes have returned.
final class FieldLane: @unchecked Sendable {
    var writer: FieldWriter
    private var staged: SegmentOutput
    /// The first block whose place counts from the beginning of `staged`.
    private var firstStagedBlock = 0
    private var failure: FileError?

    init(_ column: Column, effort: EncodingEffort) {
        staged = SegmentOutput(effort: effort)
        writer = FieldWriter(column: column)
    }

    /// Takes in the field's values of a slab.
    ///
    /// - Parameters:
    ///   - series: number of the series.
    ///   - partners: columns that the field may repeat.
    func append(_ slab: Slab, series: Int, partners: [ColumnID], strings: StringSource) {
        firstStagedBlock = writer.blockCount
        do throws(FileError) {
            try writer.append(
                series: series, slab, partners: partners, strings: strings, to: &staged)
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
    static func run(_ lanes: [FieldLane], _ slab: [SlabField], _ body: @Sendable (Int) -> Void) {
        let valueCount = slab.reduce(0) { $0 + $1.valueCount }
        guard lanes.count > 1, valueCount >= valueCountMin else {
            for index in lanes.indices { body(index) }
            return
        }
        // The largest first: what is left at the end is small, and no core waits for long.
        let order = slab.indices.sorted {
            (-slab[$0].valueCount, $0) < (-slab[$1].valueCount, $1)
        }
        DispatchQueue.concurrentPerform(iterations: order.count) { body(order[$0]) }
    }

    /// Values from which on a second thread is worth waking.
    private static let valueCountMin = 16_384
}
