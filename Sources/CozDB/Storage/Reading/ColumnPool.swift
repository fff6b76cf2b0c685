// The open segment columns of a thread. Reusing them from one series to the next finds presence,
// dictionary and the last decoded block only once.

/// The column readers of one thread. Not safe for several threads.
///
/// Unchecked for exclusive access: small queries look up columns more than they read.
final class ColumnPool {
    /// A reader in its own object, so that it is never copied.
    final class OpenColumn {
        @safe @exclusivity(unchecked) var reader: SegmentColumnReader
        /// The cached results of the last string predicate.
        var verdicts: CachedStringPredicate?

        init(_ reader: SegmentColumnReader) {
            self.reader = reader
        }
    }

    /// The view that the columns belong to; one at a time.
    @safe @exclusivity(unchecked) private var view: ExperimentView?
    @safe @exclusivity(unchecked) private var columns: [OpenColumn] = []
    /// The places of columns, -1 for none, by source, and by field index in its segment; empty
    /// until a column of it is open.
    @safe @exclusivity(unchecked) private var places: [[Int32]] = []

    /// The reader of a column in one source; nil if it is no segment or has no value of the column.
    func column(
        _ column: ColumnID, source: Int, of view: ExperimentView
    ) throws(DatabaseError) -> OpenColumn? {
        guard case .segment(let segment) = view.sources[source], let field = segment.field(column)
        else { return nil }
        if self.view !== view {
            self.view = view
            columns = []
            places = .filled(with: [], count: view.sources.count)
        }
        if places[source].isEmpty {
            places[source] = .filled(with: -1, count: segment.footer.fields.count)
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

extension StringSizes {
    /// Adds the strings of a column. Reads their lengths up to the limit.
    ///
    /// - Parameter chosen: rows of which a block must have any to be decoded; nil means all rows.
    mutating func add(_ column: ColumnPool.OpenColumn, among chosen: ChosenRows? = nil) {
        guard column.reader.storedType == .string else { return }
        let (directory, segment) = (column.reader.directory, column.reader.segment)
        var total = 0
        for block in directory.blocks(rows: rows) where !column.reader.isLoaded(block) {
            let blockRows = directory.rows(ofBlock: block)
            if let chosen, !chosen.hasAny(of: blockRows) { continue }
            // The rows end before an unreadable block: perhaps it is not needed.
            let known = try? segment.stringSizeBytes(directory, block: block)
            let size = known ?? sizeBytesMax + 1
            guard size > 0 else { continue }
            let row = max(rows.lowerBound, blockRows.lowerBound)
            let isOpen = blockRows.lowerBound < rows.lowerBound
            blocks.append(Block(place: Int64(row), sizeBytes: size, isOpen: isOpen))
            total += size
            if total > sizeBytesMax, row > rows.lowerBound {
                knownEnd = min(knownEnd, row)
                return
            }
        }
    }
}
