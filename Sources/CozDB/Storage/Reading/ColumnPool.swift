// Columns of segments that a thread has open, from one series to the next: presence, dictionary
// and the blocks decoded last are found once, not for each of many series.

/// The readers of one thread; it may be used by one thread at a time.
final class ColumnPool {
    /// A reader in a place of its own, so that it is never copied.
    final class OpenColumn {
        var reader: SegmentColumnReader
        /// What the test of texts said that was made last.
        var verdicts: TextVerdicts?

        init(_ reader: SegmentColumnReader) {
            self.reader = reader
        }
    }

    /// Whose columns these are: one view at a time.
    private var view: RowSources?
    /// For each source, by the number of the field in its segment; empty until one is open.
    private var columns: [[OpenColumn?]] = []

    init() {}

    /// The reader of a column in one source; nil where that is no segment with values of it.
    func column(
        _ column: ColumnID, source: Int, of view: RowSources
    ) throws(DatabaseError) -> OpenColumn? {
        guard case .segment(let segment) = view.sources[source], let field = segment.field(column)
        else { return nil }
        if self.view !== view {
            self.view = view
            columns = Array(repeating: [], count: view.sources.count)
        }
        if columns[source].isEmpty {
            columns[source] = Array(repeating: nil, count: segment.footer.fields.count)
        } else if let known = columns[source][field] {
            return known
        }
        try StopSign.check()
        let opened = OpenColumn(
            SegmentColumnReader(segment, field: field, directory: try segment.directory(field)))
        columns[source][field] = opened
        return opened
    }
}
