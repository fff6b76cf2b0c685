// Rows of a series that lies in one segment, in ascending order: nothing overlaps there, so that
// columns meet by the numbers of rows, and times are looked up once for all of them. What RowCursor
// does for every other series.

struct SegmentRowWalk {
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
    /// Rows in the range that are still to come.
    private var rows: Range<Int>
    /// Readers of columns that have values in them, with their places among those asked for.
    private var columns: [(place: Int, column: Column, open: ColumnPool.OpenColumn)] = []

    /// Nil where rows of the series lie in several sources.
    init?(
        _ view: RowSources, series: Series, columns: [ColumnID], range: TimeRange,
        windowRows: Int, counts: ReadCounts?, pool: ColumnPool
    ) throws(DatabaseError) {
        guard series.parts.count == 1,
            case .segment(let segment) = view.sources[series.parts[0].source]
        else { return nil }
        let part = series.parts[0]
        self.view = view
        self.segment = segment
        self.counts = counts
        self.windowRows = windowRows
        rows = part.rows.lowerBound..<part.rows.lowerBound
        if range.covers(first: part.firstTime, last: part.lastTime) {
            rows = part.rows
        } else if range.overlaps(first: part.firstTime, last: part.lastTime) {
            rows = try segment.rows(in: range, of: part.rows)
        }
        for (place, id) in columns.enumerated() {
            guard let open = try pool.column(id, source: part.source, of: view) else { continue }
            let inRange = open.reader.directory.blocks(rows: rows).count
            counts?.blocksInRange += inRange
            counts?.blocksOutOfRange +=
                open.reader.directory.blocks(rows: part.rows).count - inRange
            if inRange > 0 { self.columns.append((place, view.schema.columns[id], open)) }
        }
    }

    /// Fills the block, whose columns are empty, with the next rows; false when none are left.
    mutating func next(into block: inout RowBlock) throws(DatabaseError) -> Bool {
        while !rows.isEmpty {
            let window = rows.lowerBound..<min(rows.lowerBound + windowRows, rows.upperBound)
            rows = window.upperBound..<rows.upperBound
            var found: [(place: Int, type: FieldType, values: RowValues)] = []
            var isThere = [Bool](repeating: false, count: window.count)
            for (place, column, open) in columns {
                let values = try values(column, open, window)
                for row in values.rows { isThere[Int(row)] = true }
                if !values.rows.isEmpty { found.append((place, column.type, values)) }
            }
            guard !found.isEmpty else { continue }
            let places = RowPlaces(isThere)
            block.times = try times(window, isThere, count: places.count)
            for (place, type, values) in found {
                block.columns[place] = places.column(type, values)
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
private struct RowPlaces {
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
