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
    private var columns: [OpenColumn] = []
    /// The places of columns, -1 for none, by source, and by field index in its segment; empty
    /// until a column of it is open.
    private var places: [[Int32]] = []

    /// The reader of a column in one source; nil if it is no segment or has no value of the column.
    func column(
        _ column: ColumnID, source: Int, of view: ExperimentView
    ) throws(DatabaseError) -> OpenColumn? {
        guard case .segment(let segment) = view.sources[source], let field = segment.field(column)
        else { return nil }
        if self.view !== view {
            self.view = view
            columns = []
            places = Array(repeating: [], count: view.sources.count)
        }
        if places[source].isEmpty {
            places[source] = Array(repeating: -1, count: segment.footer.fields.count)
        }
        let place = Int(places[source][field])
        if place >= 0 { return columns[place] }
        try CancellationCheck.check()
        let directory = try segment.directory(field)
        let opened = OpenColumn(
            SegmentColumnReader(
                segment, field: field, directory: directory,
                depth: SegmentFormat.referenceDepthMax))
        places[source][field] = Int32(columns.count)
        columns.append(opened)
        return opened
    }
}
