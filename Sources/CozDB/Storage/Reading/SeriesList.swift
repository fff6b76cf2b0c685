// A cursor over the series of a view, in key order.

/// A cursor over the series of some sources, in key order.
///
/// Memory: one block of each segment's series table, even for a million series.
struct SeriesCursor {
    fileprivate struct Head {
        let source: RowSource
        /// Index of the source in the view.
        let index: Int
        /// The next item and the end of the wanted items: blocks of a segment's series table,
        /// places in a memtable's order, or cached series.
        var next = 0
        var end = 0
        /// All series of a segment that has few.
        var kept: [SeriesEntry]?
        var order: MemtableOrder?
        /// Series that were read but not returned yet, the next one last.
        var pending: [Series] = []
    }

    private let range: TimeRange
    private let accepts: ((SeriesKey) -> Bool)?
    private var heads: [Head] = []

    /// - Parameters:
    ///   - range: leaves out a series of a source that has no row in it.
    ///   - prefix: the wanted keys start with these bytes. Others are not read.
    ///   - accepts: the wanted keys; nil accepts all.
    init(
        _ sources: [RowSource], range: TimeRange, prefix: [UInt8] = [],
        where accepts: ((SeriesKey) -> Bool)?
    ) throws(DatabaseError) {
        self.range = range
        self.accepts = accepts
        for (index, source) in sources.enumerated() {
            var head = Head(source: source, index: index)
            switch source {
            case .segment(let segment):
                let footer = segment.footer
                guard footer.seriesCount > 0,
                    range.overlaps(first: footer.firstTime, last: footer.lastTime)
                else { continue }
                if let kept = try segment.keptSeries() {
                    head.kept = kept
                    head.limit(to: prefix, of: kept.count) { kept[$0].key.bytes }
                    break
                }
                let directory = try segment.seriesBlocks()
                head.limit(to: prefix, of: directory.table.count) { directory.firstKeys[$0] }
                // The block before may end with keys of the prefix.
                if !prefix.isEmpty { head.next = max(0, head.next - 1) }
            case .memtable(let view):
                let order = view.order()
                head.order = order
                head.limit(to: prefix, of: order.series.count) {
                    view.keys.copy(Int(order.series[$0]))
                }
            }
            heads.append(head)
        }
    }

    /// The next series with its rows in all sources, oldest source first.
    mutating func next() throws(DatabaseError) -> Series? {
        var least: SeriesKey?
        for index in heads.indices {
            if heads[index].pending.isEmpty { try refill(index) }
            guard let key = heads[index].pending.last?.key else { continue }
            if least.map({ key < $0 }) ?? true { least = key }
        }
        guard let least else { return nil }
        var found: Series?
        for index in heads.indices where heads[index].pending.last?.key == least {
            guard let series = heads[index].pending.popLast() else { continue }
            found = found.map { Series(key: least, parts: $0.parts + series.parts) } ?? series
        }
        heads.removeAll { $0.pending.isEmpty && $0.isAtEnd }
        return found
    }

    private mutating func refill(_ index: Int) throws(DatabaseError) {
        var pending: [Series] = []
        let source = heads[index].index
        func add(_ entry: SeriesEntry) {
            guard range.overlaps(first: entry.firstTime, last: entry.lastTime),
                accepts?(entry.key) ?? true
            else { return }
            let part = Series.Part(
                source: source, rows: entry.rows, firstTime: entry.firstTime,
                lastTime: entry.lastTime)
            pending.append(Series(key: entry.key, parts: [part]))
        }
        while pending.isEmpty, !heads[index].isAtEnd {
            let next = heads[index].next
            switch heads[index].source {
            case .segment(let segment):
                try CancellationCheck.check()
                if let kept = heads[index].kept {
                    for place in next..<heads[index].end {
                        if place % 256 == 0 { try CancellationCheck.check() }
                        let (first, last) = (kept[place].firstTime, kept[place].lastTime)
                        // Entries out of the range are not copied.
                        if range.overlaps(first: first, last: last) { add(kept[place]) }
                    }
                    heads[index].next = heads[index].end
                    continue
                }
                for entry in try segment.series(block: next) { add(entry) }
            case .memtable(let view):
                guard let order = heads[index].order else { return }
                if next % 256 == 0 { try CancellationCheck.check() }
                let rows = order.range(next)
                if !rows.isEmpty {
                    let first = view.rows[Int(order.rows[rows.lowerBound])].time
                    let last = view.rows[Int(order.rows[rows.upperBound - 1])].time
                    let key = SeriesKey(canonical: view.keys.copy(Int(order.series[next])))
                    add(SeriesEntry(key: key, rows: rows, firstTime: first, lastTime: last))
                }
            }
            heads[index].next += 1
        }
        pending.reverse()
        heads[index].pending = pending
    }
}

extension SeriesCursor.Head {
    fileprivate var isAtEnd: Bool { next >= end }

    /// Limits the items to keys that start with a prefix.
    ///
    /// - Parameter key: the key of an item; `count` items are in key order.
    fileprivate mutating func limit(
        to prefix: [UInt8], of count: Int, _ key: (Int) -> [UInt8]
    ) {
        (next, end) = (0, count)
        if prefix.isEmpty { return }
        next = (0..<count).partitioningIndex { !key($0).lexicographicallyPrecedes(prefix) }
        end = (next..<count).partitioningIndex { !key($0).starts(with: prefix) }
    }
}

extension SegmentReader {
    /// Calls the body for each series in key order.
    func forEachSeries(_ body: (SeriesEntry) -> Void) throws(DatabaseError) {
        guard footer.seriesCount > 0 else { return }
        for block in 0..<(try seriesDirectory().count) {
            for entry in try series(block: block) { body(entry) }
        }
    }

    /// The directory of the blocks of the series table.
    func seriesDirectory() throws(DatabaseError) -> IntegerTable { try seriesBlocks().table }

    /// The series of a block of the series table, in key order.
    func series(block: Int) throws(DatabaseError) -> [SeriesEntry] {
        let directory = try seriesDirectory()
        let handle = SeriesColumn.handle(directory, block)
        let count = directory.int(SeriesColumn.count, block)
        let rowCount = footer.rowCount
        return try read(handle) { bytes throws(FormatError) in
            var reader = ByteReader(bytes)
            let entries = try IntegerTable(
                decoding: reader.readBlob(limit: reader.remaining), columnCount: 3,
                countMax: SegmentFormat.seriesBlockCount)
            var heap: [UInt8] = []
            var ends: [Int] = []
            try decodeStrings(
                reader.readBytes(reader.remaining), count: count,
                sizeBytesMax: SegmentFormat.blockSizeBytesMax, heap: &heap, ends: &ends)
            guard entries.count == count else {
                throw FormatError(
                    .invalid, "found \(entries.count) series, expected \(count)", at: 0)
            }
            var series: [SeriesEntry] = []
            series.reserveCapacity(count)
            var row = directory.int(SeriesColumn.firstRow, block)
            var (start, lastStart) = (0, 0)
            for index in 0..<count {
                let size = entries.int(0, index)
                guard size >= 0, row >= 0, size <= rowCount - row else {
                    throw FormatError(.invalid, "a series with more rows than the segment", at: 0)
                }
                guard
                    index == 0
                        || heap[lastStart..<start].lexicographicallyPrecedes(
                            heap[start..<ends[index]])
                else { throw FormatError(.invalid, "series out of order", at: 0) }
                series.append(
                    SeriesEntry(
                        key: SeriesKey(canonical: Array(heap[start..<ends[index]])),
                        rows: row..<(row + size),
                        firstTime: Int64(bitPattern: entries.columns[1][index]),
                        lastTime: Int64(bitPattern: entries.columns[2][index])))
                row += size
                (lastStart, start) = (start, ends[index])
            }
            let next = block + 1
            let end =
                next < directory.count ? directory.int(SeriesColumn.firstRow, next) : rowCount
            guard row == end else {
                throw FormatError(.invalid, "series end at row \(row), expected \(end)", at: 0)
            }
            return series
        }
    }
}
