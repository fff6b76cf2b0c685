// One column of a merge: reads it from every input and replaces older values by newer ones. Columns
// are independent, so all cores can merge a chunk.

/// A column with its readers. Each reader keeps its last decoded block for the next chunk.
///
/// Unchecked: one thread runs a merger, and the caller reads it after all mergers have returned.
final class ColumnMerger: @unchecked Sendable {
    let column: Column
    /// By input; nil if the input has no value of the column.
    private let readers: [ColumnPool.OpenColumn?]
    /// By input: the first unmerged row with a value; nil if there is none.
    private(set) var nextRows: [Int?]
    private var result: Result<MergedColumn, DatabaseError>?
    /// Readers keep decoded blocks of this size for the next chunk. Others are decoded again.
    private let keptSizeBytesMax: Int

    init(
        _ column: Column, of segments: [SegmentReader], keptSizeBytesMax: Int
    ) throws(DatabaseError) {
        self.column = column
        self.keptSizeBytesMax = keptSizeBytesMax
        readers = try segments.map { (segment) throws(DatabaseError) in
            guard let field = segment.field(column.id) else { return nil }
            return ColumnPool.OpenColumn(try SegmentColumnReader(segment, field: field))
        }
        nextRows = readers.map { $0?.reader.nextRow(from: 0, before: .max) }
    }

    /// Merges the values of the column in the chunk.
    func merge(_ inputs: [MergeInput], rowCount: Int, watchesRows: Bool) {
        result = Result { () throws(DatabaseError) in
            var merged = MergedColumn(column, rowCount: rowCount, watchesRows: watchesRows)
            var newer = RowValues()
            for input in inputs where isDue(in: input) {
                guard let open = readers[input.source] else { continue }
                let (segment, type) = (open.reader.segment, open.reader.storedType)
                newer.removeAll()
                try open.reader.append(
                    rows: input.chunk, to: &newer,
                    findsWholeBlocks: !segment.info.isQuicklyEncoded && type == column.type)
                newer.cast(from: type, to: column.type)
                nextRows[input.source] = open.reader.nextRow(
                    from: input.chunk.upperBound, before: .max)
                if open.reader.loadedSizeBytes > keptSizeBytesMax {
                    open.reader = try SegmentColumnReader(segment, field: open.reader.field)
                }
                if !input.places.isEmpty { newer.move(to: input.places.span) }
                merged.add(&newer)
            }
            merged.finish()
            return merged
        }
    }

    /// Whether the column has a value in the chunk of an input.
    func isDue(in input: MergeInput) -> Bool {
        nextRows[input.source].map { $0 < input.chunk.upperBound } ?? false
    }

    /// An upper bound for the number of values in the chunk.
    func valueCountMax(_ inputs: [MergeInput]) -> Int {
        inputs.reduce(0) { count, input in
            guard isDue(in: input) else { return count }
            return count + (readers[input.source]?.reader.valueCountMax(rows: input.chunk) ?? 0)
        }
    }

    /// Adds the strings of the column in the rows of an input.
    func add(to sizes: inout StringSizes, of input: MergeInput) {
        if isDue(in: input), let open = readers[input.source] { sizes.add(open) }
    }

    /// Takes the result of the last call of `merge`.
    func take() throws(DatabaseError) -> MergedColumn {
        try result.take()?.get() ?? MergedColumn(column, rowCount: 0, watchesRows: false)
    }

    /// Runs the mergers of one chunk, on all cores if the chunk is large enough.
    static func run(
        _ mergers: [ColumnMerger], rowCount: Int, _ body: @Sendable (ColumnMerger) -> Void
    ) {
        guard rowCount >= rowCountMin else {
            for merger in mergers { body(merger) }
            return
        }
        Cores.perform(iterations: mergers.count) { body(mergers[$0]) }
    }

    /// The number of rows from which a second thread is worth waking.
    private static let rowCountMin = 4096
}

extension RowValues {
    /// Replaces each row by the number at its place.
    mutating func move(to places: Span<UInt32>) {
        var rows = self.rows.mutableSpan
        for index in rows.indices { rows[index] = places[Int(rows[index])] }
    }

    /// Casts values to the type of the current schema.
    fileprivate mutating func cast(from stored: FieldType, to type: FieldType) {
        guard stored != type else { return }
        let slice = ColumnSlice(
            type: stored, times: rows.map { Int64($0) }, bits: bits, strings: strings
        ).cast(to: type)
        bits = slice.bits
        strings = slice.strings
    }
}
