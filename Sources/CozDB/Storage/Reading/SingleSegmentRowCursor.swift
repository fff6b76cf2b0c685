// Rows of a series that lies in one segment, in ascending order: nothing overlaps there, so that
// columns meet by the numbers of rows, and times are looked up once for all of them. What RowCursor
// does for every other series. Columns wait for the window that their next block reaches into.

struct SingleSegmentRowCursor {
    /// Rows of the segment that are looked at together, at least: fewer would look up blocks more
    /// often than it takes to read them.
    static let windowRowsMin = 1024
    /// From on so many columns a window may have fewer rows: united times of columns with a value
    /// each would be a block of all rows, however few are asked for.
    static let columnCountMin = 256

    private let view: RowSources
    private let segment: SegmentReader
    private let counts: ReadCounts?
    private let windowRows: Int
    private let cellCountMax: Int
    /// Rows in the range that are still to come.
    private var rows: Range<Int>
    /// Readers of columns that have values in them, with their places among those asked for.
    private var columns: [OpenColumn] = []
    /// Indices of those that the window needs; all others wait for a row that they have.
    private var active: [Int] = []
    private var waiting = IndexHeap()

    private struct OpenColumn {
        /// Among the columns asked for.
        var place: Int
        var column: Column
        var open: ColumnPool.OpenColumn
    }

    /// Nil where rows of the series lie in several sources.
    init?(
        _ view: RowSources, series: Series, columns: [ColumnID], range: TimeRange,
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
        rows = part.rows.lowerBound..<part.rows.lowerBound
        if range.covers(first: part.firstTime, last: part.lastTime) {
            rows = part.rows
        } else if range.overlaps(first: part.firstTime, last: part.lastTime) {
            rows = try segment.rows(in: range, of: part.rows)
        }
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
                OpenColumn(place: place, column: view.schema.columns[id], open: open))
        }
        for index in self.columns.indices { wait(index, from: rows.lowerBound) }
    }

    /// Lets a column wait for the first row it may have from one on; it is done where it has none.
    private mutating func wait(_ index: Int, from row: Int) {
        guard row < rows.upperBound else { return }
        if let row = columns[index].open.reader.nextRow(from: row, before: rows.upperBound) {
            waiting.push(index, Int64(row))
        }
    }

    /// Finds the columns that may have values in the next window, and how far that reaches: the
    /// more columns there are, the fewer rows.
    private mutating func nextWindow() -> Range<Int> {
        var end = min(rows.lowerBound + windowRows, rows.upperBound)
        while let next = waiting.first, next.key < end {
            waiting.removeFirst()
            active.append(next.index)
            let count = min(windowRows, max(1, cellCountMax / active.count))
            end = min(end, rows.lowerBound + count)
        }
        return rows.lowerBound..<end
    }

    /// Fills the block, whose columns are empty, with the next rows; false when none are left.
    mutating func next(into block: inout RowBlock) throws(DatabaseError) -> Bool {
        while !rows.isEmpty {
            let window = nextWindow()
            rows = window.upperBound..<rows.upperBound
            var found: [(place: Int, type: FieldType, values: RowValues)] = []
            var isThere = [Bool](repeating: false, count: window.count)
            for index in active {
                let column = columns[index]
                let values = try values(column.column, column.open, window)
                for row in values.rows { isThere[Int(row)] = true }
                if !values.rows.isEmpty {
                    found.append((column.place, column.column.type, values))
                }
            }
            for index in active { wait(index, from: window.upperBound) }
            active.removeAll(keepingCapacity: true)
            guard !found.isEmpty else { continue }
            let places = RowPositions(isThere)
            block.times = try times(window, isThere, count: places.count)
            for (place, type, values) in found {
                block.fill(place, places.column(type, values))
            }
            return true
        }
        return false
    }

    /// The values of a column in a window, with their rows counted from its first.
    private func values(
        _ column: Column, _ open: ColumnPool.OpenColumn, _ window: Range<Int>
    ) throws(DatabaseError) -> RowValues {
        var values = RowValues()
        if let counts {
            let directory = open.reader.directory
            for block in directory.blocks(rows: window) where !open.reader.isLoaded(block) {
                counts.blocksDecoded += 1
                counts.storedBytes += directory.sizeBytes(block)
            }
        }
        try open.reader.append(rows: window, to: &values, keepsShared: true)
        guard !column.isStored(as: open.reader.storedType) else { return values }
        var slice = ColumnSlice(type: open.reader.storedType, strings: values.strings)
        slice.bits = values.bits
        slice = slice.shown(as: column)
        // A type that nothing is cast to leaves nothing.
        guard slice.count == values.rows.count else { return RowValues() }
        return RowValues(rows: values.rows, bits: slice.bits, strings: slice.strings)
    }

    /// The times of those rows of a window that are there.
    private func times(
        _ window: Range<Int>, _ isThere: [Bool], count: Int
    ) throws(DatabaseError) -> [Int64] {
        var times: [Int64] = []
        times.reserveCapacity(count)
        let directory = try segment.timeBlocks()
        var row = window.lowerBound
        while row < window.upperBound {
            let (block, rows) = directory.timeBlock(row: row)
            let known = try segment.times(block: block)
            let end = min(rows.upperBound, window.upperBound)
            for row in row..<end where isThere[row - window.lowerBound] {
                times.append(known[row - rows.lowerBound])
            }
            row = end
        }
        return times
    }
}

/// Where the rows of a window that are there stand in a block of rows.
private struct RowPositions {
    let count: Int
    private let isDense: Bool
    private var places: [UInt32] = []

    init(_ isThere: [Bool]) {
        var next: UInt32 = 0
        places.reserveCapacity(isThere.count)
        for flag in isThere {
            places.append(next)
            next &+= flag ? 1 : 0
        }
        count = Int(next)
        isDense = count == isThere.count
    }

    func column(_ type: FieldType, _ values: RowValues) -> RowBlock.Column {
        var column = RowBlock.Column(type: type)
        column.isEmpty = false
        column.strings = values.strings
        if values.rows.count == count {
            column.bits = values.bits
            column.isPresent = [Bool](repeating: true, count: count)
            return column
        }
        column.bits = [UInt64](repeating: 0, count: count)
        column.isPresent = [Bool](repeating: false, count: count)
        for (index, row) in values.rows.enumerated() {
            let place = Int(places[Int(row)])
            column.bits[place] = values.bits[index]
            column.isPresent[place] = true
        }
        return column
    }
}
