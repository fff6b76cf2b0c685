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
    /// By source, and by field index in its segment; empty until a column of it is open.
    private var sources: [[OpenColumn?]] = []

    /// The reader of a column in one source; nil if it is no segment or has no value of the column.
    func column(
        _ column: ColumnID, source: Int, of view: ExperimentView
    ) throws(DatabaseError) -> OpenColumn? {
        guard case .segment(let segment) = view.sources[source], let field = segment.field(column)
        else { return nil }
        if self.view !== view {
            self.view = view
            sources = Array(repeating: [], count: view.sources.count)
        }
        if sources[source].isEmpty {
            sources[source] = Array(repeating: nil, count: segment.footer.fields.count)
        }
        if let known = sources[source][field] { return known }
        try CancellationCheck.check()
        let opened = OpenColumn(try SegmentColumnReader(segment, field: field))
        sources[source][field] = opened
        return opened
    }
}
