// A cursor over one column of one series in all sources of a view; the newest value wins.
//
// Each source contributes extents: blocks of a segment, or all values of a memtable. An extent that
// overlaps no other in time is returned as it is, or as its summary. Overlapping extents are
// decoded and merged, one extent per source at a time. The directories alone decide which of the
// two applies.

struct ColumnCursor {
    /// A run of values of one source that is read as a whole.
    private struct Extent {
        var part: Int
        /// The block of a segment's field; 0 for a memtable.
        var block: Int
        /// The first and the last time; wider than the values if other series share the block.
        var first: Int64
        var last: Int64
        /// Whether all values of the block belong to this series.
        var isOwn: Bool
    }

    /// One source's part of overlapping extents.
    private struct MergeInput {
        /// The extents that are not decoded yet, the next one last.
        var extents: [Extent]
        /// The last decoded extent, and its unused values.
        var slice = ColumnSlice()
        var rest = 0..<0
    }

    private let view: ExperimentView
    private let column: Column
    private let series: Series
    private let range: TimeRange
    private let descending: Bool
    /// In reading order.
    private var extents: [Extent] = []
    private var nextExtent = 0
    /// The overlapping extents that are being merged, oldest source first.
    private var inputs: [MergeInput] = []
    private var readers: [ColumnPool.OpenColumn?]
    private let pool: ColumnPool
    /// For each part of the series, its rows in the range.
    private var rows: [Range<Int>]
    private let counts: ReadCounts?

    init(
        _ view: ExperimentView, column: ColumnID, series: Series, range: TimeRange,
        descending: Bool = false, counts: ReadCounts? = nil, pool: ColumnPool? = nil
    ) throws(DatabaseError) {
        self.view = view
        self.counts = counts
        self.pool = pool ?? ColumnPool()
        self.column = view.schema.column(column)
        self.series = series
        self.range = range
        self.descending = descending
        readers = .filled(with: nil, count: series.parts.count)
        rows = series.parts.map(\.rows)
        for part in series.parts.indices { try addExtents(part) }
        counts?.blocksInRange += extents.count
        if series.parts.count > 1 || descending { sortExtents() }
    }

    /// Whether nothing is left to read. False is not certain.
    var isEmpty: Bool { inputs.isEmpty && nextExtent >= extents.count }

    /// The next piece; nil at the end.
    mutating func next(
        summarize: (_ first: Int64, _ last: Int64) -> Bool
    ) throws(DatabaseError) -> ColumnPiece? {
        while !isEmpty {
            if inputs.isEmpty {
                let (cluster, _, _) = cluster(from: nextExtent)
                nextExtent = cluster.upperBound
                if cluster.count > 1 {
                    beginMerge(cluster)
                } else if let piece = try summary(cluster.lowerBound, summarize) {
                    return piece
                } else {
                    let slice = try orderedValues(of: extents[cluster.lowerBound])
                    if slice.count > 0 { return .values(slice) }
                    continue
                }
            }
            let slice = try nextMerged()
            if slice.count > 0 { return .values(slice) }
        }
        return nil
    }

    /// The next values, by ascending time inside the slice even if the cursor descends.
    mutating func nextValues() throws(DatabaseError) -> ColumnSlice? {
        guard case .values(let slice)? = try next(summarize: { _, _ in false }) else { return nil }
        return slice
    }

    /// The first value in reading order: the latest if descending, else the earliest. Reads little
    /// more than one block per source.
    ///
    /// Decodes extents in order until no other extent can reach as far. Overlapping extents need no
    /// merge: at equal times the newest source wins.
    mutating func end() throws(DatabaseError) -> (time: Int64, value: FieldValue)? {
        var best: (time: Int64, part: Int, value: FieldValue)?
        while !isEmpty {
            let extent = extents[nextExtent]
            if let best, descending ? extent.last < best.time : extent.first > best.time { break }
            nextExtent += 1
            let slice = try endValues(of: extent)
            guard slice.count > 0 else { continue }
            let place = descending ? slice.count - 1 : 0
            let time = slice.times[place]
            if let best {
                let isFurther = descending ? time > best.time : time < best.time
                guard isFurther || (time == best.time && extent.part > best.part) else { continue }
            }
            best = (time, extent.part, slice.value(place))
        }
        return best.map { ($0.time, $0.value) }
    }

    /// Values of an extent, at least the first one in reading order if there is any. A memtable is
    /// read from its end in growing runs: a reader next to a busy writer asks for it often.
    private mutating func endValues(of extent: Extent) throws(DatabaseError) -> ColumnSlice {
        let part = series.parts[extent.part]
        guard case .memtable(let memtable) = view.sources[part.source] else {
            return try values(of: extent)
        }
        counts?.blocksDecoded += 1
        var rest = memtable.rows(in: range, of: part.rows)
        var size = 64
        while !rest.isEmpty {
            let run =
                descending
                ? max(rest.lowerBound, rest.upperBound - size)..<rest.upperBound
                : rest.lowerBound..<min(rest.upperBound, rest.lowerBound + size)
            let slice = memtable.values(of: column, rows: run)
            size *= 4
            // The newest value at a time is in its last row, which may come after the run.
            let isWhole =
                descending || run == rest
                || slice.times.first != memtable.time(at: run.upperBound - 1)
            if slice.count > 0, isWhole { return slice }
            if slice.count == 0 {
                rest =
                    descending
                    ? rest.lowerBound..<run.lowerBound : run.upperBound..<rest.upperBound
            }
        }
        return ColumnSlice(type: column.type)
    }

    // MARK: Wanted times

    /// The times of values that may satisfy a predicate, according to statistics.
    ///
    /// Overlapping extents count as one. An older value counts where newer sources have none, and a
    /// newer value that fails the predicate hides an older one that passes.
    func wantedTimes(_ predicate: ColumnPredicate) -> TimeSpans {
        var spans: [ClosedRange<Int64>] = []
        var next = nextExtent
        while next < extents.count {
            let (cluster, first, last) = cluster(from: next)
            next = cluster.upperBound
            guard extents[cluster].contains(where: { allows(predicate, $0) }) else { continue }
            if first <= last { spans.append(first...last) }
        }
        if descending { spans.reverse() }
        return TimeSpans(spans: spans)
    }

    private func allows(_ predicate: ColumnPredicate, _ extent: Extent) -> Bool {
        guard predicate.usesStatistics else { return true }
        // Values of a memtable, and those stored before the type was widened, have no statistics.
        guard let open = readers[extent.part], column.isStored(as: open.reader.storedType) else {
            return true
        }
        return predicate.allows(open.reader.directory.summary(extent.block, type: column.type))
    }

    /// Removes extents outside of the wanted times. Values at wanted times do not change, because a
    /// removed extent has none there.
    mutating func keep(_ wanted: TimeSpans) {
        let count = extents.count
        extents.removeAll { !wanted.overlaps(first: $0.first, last: $0.last) }
        counts?.blocksExcluded += count - extents.count
    }

    // MARK: Extents

    private mutating func addExtents(_ index: Int) throws(DatabaseError) {
        let part = series.parts[index]
        guard range.overlaps(first: part.firstTime, last: part.lastTime) else {
            if let counts, case .segment(let segment) = view.sources[part.source],
                let field = segment.field(column.id)
            {
                counts.blocksOutOfRange +=
                    try segment.directory(field).blocks(rows: part.rows).count
            }
            return
        }
        guard case .segment = view.sources[part.source] else {
            extents.append(
                Extent(
                    part: index, block: 0, first: part.firstTime, last: part.lastTime,
                    isOwn: false))
            return
        }
        guard let open = try pool.column(column.id, source: part.source, of: view) else { return }
        let directory = open.reader.directory
        let all = directory.blocks(rows: part.rows)
        guard !all.isEmpty else { return }
        let before = extents.count
        defer { counts?.blocksOutOfRange += all.count - (extents.count - before) }
        rows[index] = try view.sources[part.source].rows(of: part, in: range)
        let blocks = rows[index] == part.rows ? all : directory.blocks(rows: rows[index])
        guard !blocks.isEmpty else { return }
        readers[index] = open
        extents.reserveCapacity(before + blocks.count)
        for block in blocks {
            let (first, last, isOwn) = directory.bounds(ofBlock: block, in: part)
            let extent = Extent(
                part: index, block: block, first: first, last: last, isOwn: isOwn)
            if range.overlaps(first: extent.first, last: extent.last) { extents.append(extent) }
        }
    }

    private mutating func sortExtents() {
        // Among equals older sources come first, and blocks of one source keep their order.
        if descending {
            extents.sort { ($0.last, $0.part, $0.block) > ($1.last, $1.part, $1.block) }
        } else {
            extents.sort { ($0.first, $0.part, $0.block) < ($1.first, $1.part, $1.block) }
        }
    }

    /// The group of overlapping extents that starts with this one, and its first and last time.
    private func cluster(from start: Int) -> (extents: Range<Int>, first: Int64, last: Int64) {
        var end = start + 1
        var first = extents[start].first
        var last = extents[start].last
        while end < extents.count {
            let extent = extents[end]
            guard extent.first <= last, extent.last >= first else { break }
            first = min(first, extent.first)
            last = max(last, extent.last)
            end += 1
        }
        return (start..<end, first, last)
    }

    // MARK: Pieces

    private func summary(
        _ index: Int, _ summarize: (Int64, Int64) -> Bool
    ) throws(DatabaseError) -> ColumnPiece? {
        let extent = extents[index]
        guard extent.isOwn, range.covers(first: extent.first, last: extent.last),
            let open = readers[extent.part],
            column.isStored(as: open.reader.storedType), summarize(extent.first, extent.last)
        else { return nil }
        counts?.blocksSummarized += 1
        return .summary(open.reader.directory.summary(extent.block, type: column.type))
    }

    private mutating func beginMerge(_ cluster: Range<Int>) {
        // Stable: the extents of a source stay in reading order.
        let ordered = cluster.sorted { (extents[$0].part, $0) < (extents[$1].part, $1) }
        var lastPart = -1
        for index in ordered.reversed() {
            let extent = extents[index]
            if extent.part != lastPart { inputs.append(MergeInput(extents: [])) }
            lastPart = extent.part
            inputs[inputs.count - 1].extents.append(extent)
        }
        inputs.reverse()
    }

    /// The next values of the overlapping extents, as far as the decoded ones reach.
    private mutating func nextMerged() throws(DatabaseError) -> ColumnSlice {
        for index in inputs.indices { try refill(index) }
        inputs.removeAll { $0.rest.isEmpty }
        var limit = descending ? Int64.min : .max
        for input in inputs where !input.extents.isEmpty {
            let times = input.slice.times
            limit = descending ? max(limit, times[0]) : min(limit, times[times.count - 1])
        }
        var slices = inputs.indices.map { take($0, to: limit) }
        inputs.removeAll { $0.rest.isEmpty && $0.extents.isEmpty }
        // Merges neighbors in age pair by pair, so that each value is moved only log2(sources)
        // times. The newer value wins.
        while slices.count > 1 {
            slices = stride(from: 0, to: slices.count, by: 2).map { index in
                guard index + 1 < slices.count else { return slices[index] }
                return slices[index].merged(withNewer: slices[index + 1])
            }
        }
        return slices.first ?? ColumnSlice(type: column.type)
    }

    /// Decodes the next extent of a source if its values are used up.
    private mutating func refill(_ index: Int) throws(DatabaseError) {
        while inputs[index].rest.isEmpty, let extent = inputs[index].extents.popLast() {
            let slice = try orderedValues(of: extent)
            guard let first = slice.times.first, let last = slice.times.last else { continue }
            let before = inputs[index].slice.times
            if let start = before.first, let end = before.last {
                guard descending ? last < start : first > end else {
                    throw view.timesOutOfOrder(in: series)
                }
            }
            inputs[index].slice = slice
            inputs[index].rest = 0..<slice.count
        }
    }

    /// Takes a source's unused values up to a time, inclusive.
    private mutating func take(_ index: Int, to limit: Int64) -> ColumnSlice {
        let (slice, rest) = (inputs[index].slice, inputs[index].rest)
        let times = slice.times[rest]
        var taken = rest
        if descending {
            taken = times.partitioningIndex { $0 >= limit }..<rest.upperBound
            inputs[index].rest = rest.lowerBound..<taken.lowerBound
        } else {
            taken = rest.lowerBound..<times.partitioningIndex { $0 > limit }
            inputs[index].rest = taken.upperBound..<rest.upperBound
        }
        if taken.count == slice.count { return slice }
        return ColumnSlice(
            type: slice.type, times: Array(slice.times[taken]), bits: Array(slice.bits[taken]),
            strings: slice.strings)
    }

    /// The values of an extent. Readers rely on the order of their times.
    private mutating func orderedValues(of extent: Extent) throws(DatabaseError) -> ColumnSlice {
        let slice = try values(of: extent)
        guard slice.times.span.ascends else { throw view.timesOutOfOrder(in: series) }
        return slice
    }

    private mutating func values(of extent: Extent) throws(DatabaseError) -> ColumnSlice {
        let part = series.parts[extent.part]
        counts?.blocksDecoded += 1
        var slice: ColumnSlice
        if case .memtable(let memtable) = view.sources[part.source] {
            slice = memtable.values(of: column, rows: part.rows)
        } else if let open = readers[extent.part] {
            slice = try open.reader.values(block: extent.block, rows: rows[extent.part])
            counts?.storedBytes += open.reader.directory.sizeBytes(extent.block)
            slice = slice.shown(as: column)
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

    /// All values of a column in the rows of one series. At equal times the last one wins.
    func values(of column: Column, rows places: Range<Int>) -> ColumnSlice {
        var slice = ColumnSlice(type: column.type)
        let order = order()
        var heap: [UInt8] = []
        var ends: [Int] = []
        func append(_ time: Int64, _ bits: UInt64) {
            var stored = bits
            if column.type == .string, !column.isRedacted, !ISOTime.isWord(bits) {
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
        let isAttribute = column.kind == .attribute
        let lists = isAttribute ? self.lists().attributes : self.lists().layouts
        func append(_ row: MemtableTable.Row, _ found: Int) {
            append(
                row.time,
                isAttribute
                    ? lists.words[lists.range(row.attributes).lowerBound + found]
                    : cells[Int(row.cellStart) + found])
        }
        if let index = columns(column.kind) {
            index.forEachPlace(of: column.id, in: places) { place, found in
                append(rows[Int(order.rows[place])], found)
            }
        } else {
            // Rows of one layout are mostly consecutive.
            var lastList = UInt32.max
            var found: Int?
            for place in places {
                let row = rows[Int(order.rows[place])]
                let list = isAttribute ? row.attributes : row.layout
                if list != lastList {
                    found = lists.place(of: column.id, in: list)
                    lastList = list
                }
                if let found { append(row, found) }
            }
        }
        if column.isRedacted { return .masked(times: slice.times, count: slice.count) }
        slice.strings = StringTable(heap: heap, ends: ends)
        return slice
    }
}

extension BlockTable {
    /// Bounds on the times that a block has in a part of a series, and whether all of its values
    /// belong to the part.
    func bounds(
        ofBlock block: Int, in part: Series.Part
    ) -> (first: Int64, last: Int64, isOwn: Bool) {
        // A block that starts (ends) in the part starts (ends) with one of its times.
        let begins = firstRow(block) >= part.rows.lowerBound
        let ends = lastRow(block) < part.rows.upperBound
        return (
            begins ? firstTime(block) : part.firstTime, ends ? lastTime(block) : part.lastTime,
            begins && ends
        )
    }
}
