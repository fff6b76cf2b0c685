// A cursor over the rows of a series that lies in one segment, in ascending order. Nothing overlaps
// there, so columns are joined by row number and times are looked up once. RowCursor reads all
// other series. Columns wait in a heap for the window of rows that their next block reaches.

struct SingleSegmentRowCursor {
    /// The least number of rows in a window: with fewer, finding the blocks would cost more than
    /// reading them.
    static let windowRowsMin = 1024
    /// The number of columns from which a window may have fewer rows. With a value per column,
    /// merging times would assemble whole batches for any number of requested rows.
    static let columnCountMin = 256

    private let view: ExperimentView
    private let segment: SegmentReader
    private let counts: ReadCounts?
    private let windowRows: Int
    private let cellCountMax: Int
    /// The rows in the range that are still to be read.
    private var rows: Range<Int>
    /// The columns with values in the range.
    private var columns: [OpenColumn] = []
    /// The columns that the window needs. All others wait for a row with a value.
    private var active: [Int] = []
    private var waiting = IndexHeap()

    private struct OpenColumn {
        /// The index among the requested columns.
        var place: Int
        var column: Column
        var open: ColumnPool.OpenColumn
    }

    /// nil if several sources have rows of the series.
    init?(
        _ view: ExperimentView, series: Series, columns: [ColumnID], range: TimeRange,
        windowRows: Int, cellCountMax: Int = .max, counts: ReadCounts?, pool: ColumnPool
    ) throws(DatabaseError) {
        guard series.parts.count == 1,
            case .segment(let segment) = view.sources[series.parts[0].source]
        else { return nil }
        let part = series.parts[0]
        self.view = view
        self.segment = segment
        self.counts = counts
        self.windowRows = windowRows
        self.cellCountMax = cellCountMax
        rows = try view.sources[part.source].rows(of: part, in: range)
        for (place, id) in columns.enumerated() {
            guard let open = try pool.column(id, source: part.source, of: view) else { continue }
            let directory = open.reader.directory
            let inRange = directory.blocks(rows: rows).count
            counts?.blocksInRange += inRange
            if rows != part.rows {
                counts?.blocksOutOfRange += directory.blocks(rows: part.rows).count - inRange
            }
            if inRange == 0 { continue }
            self.columns.append(
                OpenColumn(place: place, column: view.schema.column(id), open: open))
        }
        for index in self.columns.indices { wait(index, from: rows.lowerBound) }
    }

    /// Queues a column by its first possible row from `row` on. A column without one is done.
    private mutating func wait(_ index: Int, from row: Int) {
        guard row < rows.upperBound else { return }
        if let row = columns[index].open.reader.nextRow(from: row, before: rows.upperBound) {
            waiting.push(index, Int64(row))
        }
    }

    /// Chooses the columns with possible values in the next window, and the window's end. More
    /// columns and larger strings mean fewer rows.
    private mutating func nextWindow() -> Range<Int> {
        var end = min(rows.lowerBound + windowRows, rows.upperBound)
        while let next = waiting.first, next.key < end {
            waiting.removeFirst()
            active.append(next.index)
            let count = min(windowRows, max(1, cellCountMax / active.count))
            end = min(end, rows.lowerBound + count)
        }
        var sizes = StringSizes(
            rows: rows.lowerBound..<end, sizeBytesMax: StringSizes.batchSizeBytesMax)
        for index in active { sizes.add(columns[index].open) }
        return rows.lowerBound..<sizes.end()
    }

    /// Fills the empty batch with the next rows. Returns false at the end.
    mutating func next(into batch: inout ColumnBatch) throws(DatabaseError) -> Bool {
        while !rows.isEmpty {
            let window = nextWindow()
            rows = window.upperBound..<rows.upperBound
            var found: [(place: Int, type: FieldType, values: RowValues)] = []
            var isThere = [Bool].filled(with: false, count: window.count)
            for index in active {
                let values = try values(index, window)
                for row in values.rows { isThere[Int(row)] = true }
                if !values.rows.isEmpty {
                    found.append((columns[index].place, columns[index].column.type, values))
                }
            }
            for index in active { wait(index, from: window.upperBound) }
            active.removeAll(keepingCapacity: true)
            guard !found.isEmpty else { continue }
            let windowTimes = try segment.times(rows: window)
            var times: [Int64] = []
            times.reserveCapacity(window.count)
            var places: [UInt32] = []
            places.reserveCapacity(window.count)
            for (index, isThere) in isThere.enumerated() {
                places.append(UInt32(truncatingIfNeeded: times.count))
                if isThere { times.append(windowTimes[index]) }
            }
            batch.times = times
            for (place, type, values) in found {
                batch.fill(
                    place,
                    ColumnBatch.Column(values, type: type, count: times.count, places: places))
            }
            return true
        }
        return false
    }

    /// The values of a column in a window, with rows counted from the window's first row.
    private func values(_ index: Int, _ window: Range<Int>) throws(DatabaseError) -> RowValues {
        let open = columns[index].open
        var values = RowValues()
        if let counts {
            let directory = open.reader.directory
            for block in directory.blocks(rows: window) where !open.reader.isLoaded(block) {
                counts.blocksDecoded += 1
                counts.storedBytes += directory.sizeBytes(block)
            }
        }
        try open.reader.append(rows: window, to: &values, keepsShared: true)
        values.show(as: columns[index].column, from: open.reader.storedType)
        return values
    }
}
