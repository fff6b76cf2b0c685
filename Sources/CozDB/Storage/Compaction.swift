// Chooses segments to merge (a pure function) and merges them. Memory: a block of rows and one
// block per column, whatever the sizes; inputs stay untouched until the manifest names the output.

enum Compaction {
    /// How much larger than everything newer a segment may be and still be merged with it: each
    /// value is then rewritten about once per quadrupling of the database.
    static let sizeRatio = 4

    /// The newest segments of similar size, when there are enough of them.
    ///
    /// - Parameters:
    ///   - sizes: bytes of each segment of one experiment, oldest first.
    ///   - countMin: fewer segments than this are left alone.
    static func choose(_ sizes: [Int], countMin: Int) -> Range<Int>? {
        guard var total = sizes.last else { return nil }
        var start = sizes.count - 1
        while start > 0, sizes[start - 1] <= sizeRatio * total {
            start -= 1
            total += sizes[start]
        }
        return sizes.count - start >= max(2, countMin) ? start..<sizes.count : nil
    }

    /// Writes all rows of a view to one segment, each cell with its newest value.
    static func merge(
        _ view: ExperimentView, to writer: SegmentWriter, isCancelled: () -> Bool
    ) throws(DatabaseError) {
        let columns = view.schema.columns
        var block = RowBlock()
        var rows: [UInt32] = []
        var bits: [UInt64] = []
        for series in try view.series() {
            if isCancelled() { throw DatabaseError(.cancelled, "the merge was cancelled") }
            var cursor = view.rows(of: series, columns: columns.map(\.id), in: .all)
            var isBegun = false
            while try cursor.next(into: &block) {
                try calling("writing a segment") { () throws(FileError) in
                    if !isBegun { try writer.beginSeries(series.key.bytes) }
                    isBegun = true
                    try writer.addRows(block.times)
                    for (index, values) in block.columns.enumerated() where !values.isEmpty {
                        gather(values, rows: &rows, bits: &bits)
                        try writer.addValues(
                            columns[index], rows: rows.span, bits: bits.span,
                            strings: values.type == .string ? .table(values.strings) : .none)
                    }
                }
            }
        }
    }

    private static func gather(
        _ values: RowBlock.Column, rows: inout [UInt32], bits: inout [UInt64]
    ) {
        rows.removeAll(keepingCapacity: true)
        bits.removeAll(keepingCapacity: true)
        for row in values.bits.indices where values.isPresent[row] {
            rows.append(UInt32(truncatingIfNeeded: row))
            bits.append(values.bits[row])
        }
    }
}
