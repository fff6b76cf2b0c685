// One column of a merge: reads it from every input and lays the newer values over the older ones.
// Columns know nothing of each other, so that all cores can work on a slab.

/// A column with its readers. Each of them keeps the block it decoded last, for the next slab.
///
/// Unchecked: one thread runs a lane, and nobody looks at it until all lanes have returned.
final class ColumnMerger: @unchecked Sendable {
    let column: Column
    /// By input; nil where that has no value of the column.
    private var readers: [SegmentColumnReader?]
    /// By input: the first row that is not merged yet and has a value; nil where none has.
    private(set) var nextRows: [Int?]
    private var merged: MergedColumn?
    private var failure: DatabaseError?
    /// Whether its readers keep what they decoded for the next slab.
    private let keepsBlocks: Bool

    /// Readers of a merge that keep a block each; those of more columns decode theirs again.
    private static let keptReaderCountMax = 8192

    /// - Parameter number: of the lane in its merge.
    init(
        _ column: Column, number: Int, of segments: [SegmentReader]
    ) throws(DatabaseError) {
        self.column = column
        keepsBlocks = number * segments.count < ColumnMerger.keptReaderCountMax
        readers = try segments.map { (segment) throws(DatabaseError) in
            guard let field = segment.field(column.id) else { return nil }
            return SegmentColumnReader(
                segment, field: field, directory: try segment.directory(field))
        }
        nextRows = readers.map { $0?.nextRow(from: 0, before: .max) }
    }

    /// Merges the values that the column has in the slab.
    func merge(_ inputs: [MergeInput], rowCount: Int, watchesRows: Bool) {
        var merged = MergedColumn(column, rowCount: rowCount, watchesRows: watchesRows)
        var newer = RowValues()
        do throws(DatabaseError) {
            for input in inputs where isDue(in: input) {
                guard var reader = readers[input.source].take() else { continue }
                newer.removeAll()
                try reader.append(
                    rows: input.slab, to: &newer,
                    findsWholeBlocks: !reader.segment.info.isQuicklyEncoded
                        && reader.storedType == column.type)
                newer.cast(from: reader.storedType, to: column.type)
                nextRows[input.source] = reader.nextRow(from: input.slab.upperBound, before: .max)
                if !keepsBlocks { reader.forgetLoaded() }
                readers[input.source] = reader
                if !input.places.isEmpty { newer.move(to: input.places.span) }
                merged.add(&newer)
            }
            merged.finish()
            self.merged = merged
        } catch {
            failure = error
        }
    }

    /// Whether the column has a value in the slab of an input.
    func isDue(in input: MergeInput) -> Bool {
        nextRows[input.source].map { $0 < input.slab.upperBound } ?? false
    }

    /// Values that the column has in the slab at most.
    func valueCountMax(_ inputs: [MergeInput]) -> Int {
        inputs.reduce(0) { count, input in
            guard isDue(in: input) else { return count }
            return count + (readers[input.source]?.valueCountMax(rows: input.slab) ?? 0)
        }
    }

    /// What the last call of `merge` gave.
    func take() throws(DatabaseError) -> MergedColumn {
        if let failure { throw failure }
        return merged.take() ?? MergedColumn(column, rowCount: 0, watchesRows: false)
    }

    /// Runs the lanes for one slab, on all cores where that is worth waking them.
    static func run(
        _ lanes: [ColumnMerger], rowCount: Int, _ body: @Sendable (ColumnMerger) -> Void
    ) {
        guard rowCount >= rowCountMin else {
            for lane in lanes { body(lane) }
            return
        }
        Cores.perform(iterations: lanes.count) { body(lanes[$0]) }
    }

    /// Rows from which on a second thread is worth waking.
    private static let rowCountMin = 4096
}

extension RowValues {
    /// Gives each row the number that stands at its place.
    fileprivate mutating func move(to places: Span<UInt32>) {
        var rows = self.rows.mutableSpan
        for index in rows.indices { rows[index] = places[Int(rows[index])] }
    }

    /// Values as the type that the schema has now.
    fileprivate mutating func cast(from stored: FieldType, to type: FieldType) {
        guard stored != type else { return }
        let slice = ColumnSlice(
            type: stored, times: rows.map { Int64($0) }, bits: bits, strings: strings
        ).cast(to: type)
        bits = slice.bits
        strings = slice.strings
    }
}
