// Walks one column of one series through all sources of a view, newest value first in rights.
//
// A source contributes extents: blocks of a segment, or all values of a memtable. Extents that no
// other source overlaps in time are handed out as they are, or as their summary; those that do
// overlap are decoded and merged. Which of the two is decided from the directories alone.

struct ColumnCursor {
    /// A run of values of one source that is read as a whole.
    private struct Extent {
        var part: Int
        /// Block of a segment's field; 0 for a memtable.
        var block: Int
        /// Bounds of the times; not exact where the block is shared with other series.
        var first: Int64
        var last: Int64
        /// Whether the block holds values of this series only.
        var isOwn: Bool
    }

    private let view: RowSources
    private let column: Column
    private let series: Series
    private let range: TimeRange
    private let descending: Bool
    /// In the order in which they are visited.
    private var extents: [Extent] = []
    private var nextExtent = 0
    private var readers: [SegmentColumnReader?]
    /// For each part of the series its rows in the range.
    private var rows: [Range<Int>]

    init(
        _ view: RowSources, column: ColumnID, series: Series, range: TimeRange,
        descending: Bool = false
    ) throws(DatabaseError) {
        self.view = view
        self.column = view.schema.columns[column]
        self.series = series
        self.range = range
        self.descending = descending
        readers = Array(repeating: nil, count: series.parts.count)
        rows = series.parts.map(\.rows)
        for part in series.parts.indices { try addExtents(part) }
        if series.parts.count > 1 || descending { sortExtents() }
    }

    /// Whether there is certainly nothing to read.
    var isEmpty: Bool { nextExtent >= extents.count }

    /// The next piece; nil at the end.
    mutating func next(
        summarize: (_ first: Int64, _ last: Int64) -> Bool
    ) throws(DatabaseError) -> ColumnPiece? {
        while !isEmpty {
            let cluster = nextCluster()
            nextExtent = cluster.upperBound
            if cluster.count == 1, let piece = try summary(cluster.lowerBound, summarize) {
                return piece
            }
            let slice = try values(cluster)
            if slice.count > 0 { return .values(slice) }
        }
        return nil
    }

    /// The next values, by ascending time inside the slice also when walking backwards.
    mutating func nextValues() throws(DatabaseError) -> ColumnSlice? {
        while !isEmpty {
            let cluster = nextCluster()
            nextExtent = cluster.upperBound
            let slice = try values(cluster)
            if slice.count > 0 { return slice }
        }
        return nil
    }

    // MARK: Extents

    private mutating func addExtents(_ index: Int) throws(DatabaseError) {
        let part = series.parts[index]
        guard range.overlaps(first: part.firstTime, last: part.lastTime) else { return }
        guard case .segment(let segment) = view.sources[part.source] else {
            extents.append(
                Extent(
                    part: index, block: 0, first: part.firstTime, last: part.lastTime,
                    isOwn: false))
            return
        }
        guard let field = segment.field(column.id) else { return }
        let directory = try segment.directory(field)
        let table = directory.table
        guard !directory.blocks(rows: part.rows).isEmpty else { return }
        if !range.covers(first: part.firstTime, last: part.lastTime) {
            rows[index] = try segment.rows(in: range, of: part.rows)
        }
        let blocks = directory.blocks(rows: rows[index])
        guard !blocks.isEmpty else { return }
        readers[index] = SegmentColumnReader(segment, field: field, directory: directory)
        for block in blocks {
            // A block that begins (ends) in this series begins (ends) with one of its times.
            let begins = table.int(BlockColumn.firstRow, block) >= part.rows.lowerBound
            let ends = table.int(BlockColumn.lastRow, block) < part.rows.upperBound
            let first = Int64(bitPattern: table.columns[BlockColumn.firstTime][block])
            let last = Int64(bitPattern: table.columns[BlockColumn.lastTime][block])
            let extent = Extent(
                part: index, block: block, first: begins ? first : part.firstTime,
                last: ends ? last : part.lastTime, isOwn: begins && ends)
            if range.overlaps(first: extent.first, last: extent.last) { extents.append(extent) }
        }
    }

    private mutating func sortExtents() {
        // Stable by part: older sources first among equals, blocks of one source in their order.
        if descending {
            extents.sort { ($0.last, $0.part, $0.block) > ($1.last, $1.part, $1.block) }
        } else {
            extents.sort { ($0.first, $0.part, $0.block) < ($1.first, $1.part, $1.block) }
        }
    }

    /// The next extents that overlap in time, from one to all.
    private func nextCluster() -> Range<Int> {
        var end = nextExtent + 1
        var first = extents[nextExtent].first
        var last = extents[nextExtent].last
        while end < extents.count {
            let extent = extents[end]
            guard extent.first <= last, extent.last >= first else { break }
            first = min(first, extent.first)
            last = max(last, extent.last)
            end += 1
        }
        return nextExtent..<end
    }

    // MARK: Pieces

    private func summary(
        _ index: Int, _ summarize: (Int64, Int64) -> Bool
    ) throws(DatabaseError) -> ColumnPiece? {
        let extent = extents[index]
        guard extent.isOwn, range.covers(first: extent.first, last: extent.last),
            let reader = readers[extent.part],
            reader.storedType == column.type, summarize(extent.first, extent.last)
        else { return nil }
        return .summary(reader.directory.summary(extent.block, type: column.type))
    }

    /// The values of overlapping extents, newest source last to win.
    private mutating func values(_ cluster: Range<Int>) throws(DatabaseError) -> ColumnSlice {
        if cluster.count == 1 { return try values(of: extents[cluster.lowerBound]) }
        var merged = ColumnSlice(type: column.type)
        var ordered = Array(extents[cluster])
        ordered.sort { ($0.part, $0.block) < ($1.part, $1.block) }
        var run = ColumnSlice(type: column.type)
        var runPart = ordered[0].part
        for extent in ordered {
            if extent.part != runPart {
                merged = merged.merged(withNewer: run)
                run = ColumnSlice(type: column.type)
                runPart = extent.part
            }
            // Blocks of one source follow each other in time.
            run.append(try values(of: extent))
        }
        return merged.merged(withNewer: run)
    }

    private mutating func values(of extent: Extent) throws(DatabaseError) -> ColumnSlice {
        let part = series.parts[extent.part]
        var slice: ColumnSlice
        if case .memtable(let memtable) = view.sources[part.source] {
            slice = memtable.values(of: column, rows: part.rows)
        } else if readers[extent.part] != nil {
            slice = try readers[extent.part]!.values(
                block: extent.block, rows: rows[extent.part])
            slice = slice.cast(to: column.type)
        } else {
            slice = ColumnSlice(type: column.type)
        }
        if !range.covers(first: extent.first, last: extent.last) { slice.trim(to: range) }
        return slice
    }
}

extension MemtableView {
    /// The places of one series whose rows lie in a range.
    func rows(in range: TimeRange, of places: Range<Int>) -> Range<Int> {
        let order = order()
        let ordered = order.rows[places]
        let start = ordered.partitioningIndex { rows[Int($0)].time >= range.lower }
        let end = ordered.partitioningIndex { rows[Int($0)].time >= range.upper }
        return start..<max(start, end)
    }

    /// All values of a column in the rows of one series, the later of two at one time only.
    func values(of column: Column, rows places: Range<Int>) -> ColumnSlice {
        var slice = ColumnSlice(type: column.type)
        let order = order()
        var heap: [UInt8] = []
        var ends: [Int] = []
        func append(_ time: Int64, _ bits: UInt64) {
            var stored = bits
            if column.type == .string {
                strings.withBytes(Int(bits)) { heap.append(copying: $0) }
                ends.append(heap.count)
                stored = UInt64(ends.count - 1)
            }
            if slice.times.last == time {
                slice.bits[slice.count - 1] = stored
            } else {
                slice.times.append(time)
                slice.bits.append(stored)
            }
        }
        for place in places {
            let row = rows[Int(order.rows[place])]
            if column.kind == .attribute {
                forEachAttribute(row.attributes) { id, string in
                    if Int(id) == column.id { append(row.time, UInt64(string)) }
                }
                continue
            }
            for index in Int(row.cellStart)..<Int(row.cellEnd) {
                guard Int(cellColumns[index]) == column.id else { continue }
                append(row.time, cellBits[index])
            }
        }
        slice.strings = StringTable(heap: heap, ends: ends)
        return slice
    }
}
