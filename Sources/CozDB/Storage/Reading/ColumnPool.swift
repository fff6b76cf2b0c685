// Columns of segments that a thread has open, from one series to the next: presence, dictionary
// and the blocks decoded last are found once, not for each of many series.

/// The readers of one thread; it may be used by one thread at a time.
final class ColumnPool {
    /// A reader in a place of its own, so that it is never copied.
    final class OpenColumn {
        var reader: SegmentColumnReader
        /// What the test of texts said that was made last.
        var verdicts: CachedStringPredicate?

        init(_ reader: SegmentColumnReader) {
            self.reader = reader
        }
    }

    /// Whose columns these are: one view at a time.
    private var view: RowSources?
    private var sources: [OpenColumns] = []

    init() {}

    /// The reader of a column in one source; nil where that is no segment with values of it.
    func column(
        _ column: ColumnID, source: Int, of view: RowSources
    ) throws(DatabaseError) -> OpenColumn? {
        guard case .segment(let segment) = view.sources[source], let field = segment.field(column)
        else { return nil }
        if self.view !== view {
            self.view = view
            sources = Array(repeating: OpenColumns(), count: view.sources.count)
        }
        if let known = sources[source].column(field) { return known }
        try CancellationCheck.check()
        let opened = OpenColumn(
            SegmentColumnReader(segment, field: field, directory: try segment.directory(field)))
        sources[source].add(opened, field, of: segment.footer.fields.count)
        return opened
    }
}

/// Those of one segment.
private struct OpenColumns {
    /// So many are looked through: a statement can read one of very many columns.
    private static let searchedCountMax = 16

    private var few: [(field: Int, column: ColumnPool.OpenColumn)] = []
    /// Once there are more: by the number of the field in the segment.
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
