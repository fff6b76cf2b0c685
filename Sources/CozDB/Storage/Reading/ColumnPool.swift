// The open segment columns of a thread. Reusing them from one series to the next finds presence,
// dictionary and the last decoded block only once.

/// The column readers of one thread. Not safe for several threads.
final class ColumnPool {
    /// A reader in its own object, so that it is never copied.
    final class OpenColumn {
        var reader: SegmentColumnReader
        /// The cached results of the last string predicate.
        var verdicts: CachedStringPredicate?

        init(_ reader: SegmentColumnReader) {
            self.reader = reader
        }
    }

    /// The view that the columns belong to; one at a time.
    private var view: ExperimentView?
    private var sources: [OpenColumns] = []

    init() {}

    /// The reader of a column in one source; nil if it is no segment or has no value of the column.
    func column(
        _ column: ColumnID, source: Int, of view: ExperimentView
    ) throws(DatabaseError) -> OpenColumn? {
        guard case .segment(let segment) = view.sources[source], let field = segment.field(column)
        else { return nil }
        if self.view !== view {
            self.view = view
            sources = Array(repeating: OpenColumns(), count: view.sources.count)
        }
        if let known = sources[source].column(field) { return known }
        try CancellationCheck.check()
        let opened = OpenColumn(try SegmentColumnReader(segment, field: field))
        sources[source].add(opened, field, of: segment.footer.fields.count)
        return opened
    }
}

/// The open columns of one segment.
private struct OpenColumns {
    /// The most columns for a linear search. A statement may read one of very many columns.
    private static let searchedCountMax = 16

    private var few: [(field: Int, column: ColumnPool.OpenColumn)] = []
    /// Used for more columns: by field index in the segment.
    private var all: [ColumnPool.OpenColumn?] = []

    func column(_ field: Int) -> ColumnPool.OpenColumn? {
        if !all.isEmpty { return all[field] }
        for entry in few where entry.field == field { return entry.column }
        return nil
    }

    mutating func add(_ column: ColumnPool.OpenColumn, _ field: Int, of fieldCount: Int) {
        if all.isEmpty {
            few.append((field, column))
            guard few.count > OpenColumns.searchedCountMax else { return }
            all = Array(repeating: nil, count: fieldCount)
            for entry in few { all[entry.field] = entry.column }
            few = []
        } else {
            all[field] = column
        }
    }
}
