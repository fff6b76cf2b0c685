// The rows of one memtable table at one moment, sorted by series and time on first use.

/// The content of a table when the view was taken. Safe from any thread.
final class MemtableView: Sendable {
    let rows: ChunkedArray<MemtableTable.Row>.View
    let cells: ChunkedArray<UInt64>.View
    let layouts: ByteArena.View
    let keys: ByteArena.View
    let attributeSets: ByteArena.View
    let strings: ByteArena.View

    /// Sorted by the first reader, since most views of a busy writer are never read.
    private let sorted = Monitor<MemtableOrder?>(nil)
    private let decoded = Monitor<MemtableLists.Pair?>(nil)
    private let indexed = Monitor<(layouts: MemtableColumns, attributes: MemtableColumns)?>(nil)
    /// Results of earlier views of the table, to start from.
    private let known: MemtableCache

    init(_ table: MemtableTable, strings: ByteArena) {
        rows = table.rows.view()
        cells = table.cells.view()
        layouts = table.layouts.view()
        keys = table.keys.view()
        attributeSets = table.attributeSets.view()
        self.strings = strings.view()
        known = table.known
    }

    /// The order of the rows. The first caller sorts the rows that no earlier view has sorted.
    func order() -> MemtableOrder {
        sorted.withLock { sorted in
            if let sorted { return sorted }
            let order = MemtableOrder(self, from: known.order)
            known.keep(order)
            sorted = order
            return order
        }
    }

    /// The time of the row at a place in the order.
    func time(at place: Int) -> Int64 { rows[Int(order().rows[place])].time }

    /// The decoded layouts and attribute sets. The first caller decodes them.
    func lists() -> MemtableLists.Pair {
        decoded.withLock { decoded in
            if let decoded { return decoded }
            var lists = known.lists
            lists.layouts.add(layouts, hasWords: false)
            lists.attributes.add(attributeSets, hasWords: true)
            known.keep(lists)
            decoded = lists
            return lists
        }
    }

    /// An index of the rows that have each column; nil if scanning all rows is cheap. The first
    /// caller builds it.
    func columns(_ kind: Column.Kind) -> MemtableColumns? {
        let lists = lists()
        guard
            max(lists.layouts.columnEnd, lists.attributes.columnEnd)
                >= MemtableColumns.columnCountMin
        else { return nil }
        let both = indexed.withLock { indexed in
            if let indexed { return indexed }
            let order = order()
            let made = (
                layouts: MemtableColumns(
                    lists.layouts.columns, listEnds: lists.layouts.ends,
                    order.rows.map { rows[Int($0)].layout }),
                attributes: MemtableColumns(
                    lists.attributes.columns, listEnds: lists.attributes.ends,
                    order.rows.map { rows[Int($0)].attributes })
            )
            indexed = made
            return made
        }
        return kind == .attribute ? both.attributes : both.layouts
    }
}

/// The order and lists that earlier readers computed. A later view starts from them, so a reader
/// next to a busy writer pays only for new rows. Safe from any thread.
final class MemtableCache: Sendable {
    private let state = Monitor<(order: MemtableOrder, lists: MemtableLists.Pair)>(
        (MemtableOrder(), (MemtableLists(), MemtableLists())))

    var order: MemtableOrder { state.withLock { $0.order } }
    var lists: MemtableLists.Pair { state.withLock { $0.lists } }

    /// Keeps the larger order. Readers of older views may finish later.
    func keep(_ order: MemtableOrder) {
        state.withLock { if $0.order.rows.count < order.rows.count { $0.order = order } }
    }

    func keep(_ lists: MemtableLists.Pair) {
        state.withLock { state in
            if state.lists.layouts.ends.count <= lists.layouts.ends.count,
                state.lists.attributes.ends.count <= lists.attributes.ends.count
            {
                state.lists = lists
            }
        }
    }
}

/// The layouts or the attribute sets of a table, decoded and concatenated.
struct MemtableLists: Sendable {
    typealias Pair = (layouts: MemtableLists, attributes: MemtableLists)

    var columns: [UInt32] = []
    /// For attribute sets, the word of each column's string; empty for layouts.
    var words: [UInt64] = []
    /// Where each list ends.
    var ends: [Int] = []
    /// One more than the largest column.
    private(set) var columnEnd: UInt32 = 0

    /// Adds the lists that are not decoded yet. Lists of a newer view may be there already; numbers
    /// mean the same in all views.
    fileprivate mutating func add(_ encoded: ByteArena.View, hasWords: Bool) {
        for number in ends.count..<max(ends.count, encoded.count) {
            encoded.withBytes(number) { bytes in
                var reader = ByteReader(bytes)
                // Does not read until it fails, because creating the error is the most expensive
                // part.
                while reader.remaining >= (hasWords ? 12 : 4),
                    let column = try? reader.readUInt32()
                {
                    columns.append(column)
                    columnEnd = max(columnEnd, column &+ 1)
                    if hasWords { words.append((try? reader.readUInt64()) ?? 0) }
                }
            }
            ends.append(columns.count)
        }
    }

    func range(_ number: UInt32) -> Range<Int> {
        (number == 0 ? 0 : ends[Int(number) - 1])..<ends[Int(number)]
    }

    /// The last position of a column in a list; nil if the list lacks it.
    func place(of column: ColumnID, in number: UInt32) -> Int? {
        let range = range(number)
        return range.last { Int(columns[$0]) == column }.map { $0 - range.lowerBound }
    }
}

/// Row numbers sorted by series key, time and commit order; series sorted by key.
struct MemtableOrder: Sendable {
    /// Row numbers.
    private(set) var rows: [UInt32] = []
    /// The number of each series in `keys`, in key order.
    private(set) var series: [UInt32] = []
    /// Where the rows of each series end in `rows`. They begin where those of the series before
    /// end.
    private(set) var ends: [Int] = []

    /// The order of no rows.
    init() {}

    /// - Parameter known: the order of an earlier view. It is ignored if it has more rows than this
    ///   view.
    init(_ view: MemtableView, from known: MemtableOrder) {
        let count = view.rows.count
        let isOlder = known.rows.count <= count && known.series.count <= view.keys.count
        let start = isOlder ? known.rows.count : 0
        let known = start > 0 ? known : MemtableOrder()
        series = MemtableOrder.series(view, known.series)
        let (added, addedEnds) = MemtableOrder.added(view, start..<count, series)
        if start == 0 {
            rows = added.map(\.row)
            ends = addedEnds
            return
        }
        rows.reserveCapacity(count)
        ends.reserveCapacity(series.count)
        var (oldPlace, next) = (0, 0)
        // Series without new rows are copied in runs.
        var copied = 0
        for place in series.indices {
            let isOld = oldPlace < known.series.count && known.series[oldPlace] == series[place]
            let oldEnd =
                isOld ? known.ends[oldPlace] : (oldPlace == 0 ? 0 : known.ends[oldPlace - 1])
            if next < addedEnds[place] {
                let oldStart = oldPlace == 0 ? 0 : known.ends[oldPlace - 1]
                rows += known.rows[copied..<oldStart]
                copied = oldEnd
                merge(known.rows[oldStart..<oldEnd], added[next..<addedEnds[place]], view)
                next = addedEnds[place]
            }
            if isOld { oldPlace += 1 }
            ends.append(rows.count + oldEnd - copied)
        }
        rows += known.rows[copied...]
    }

    /// The rows of a series, as a range of `rows`.
    func range(_ place: Int) -> Range<Int> {
        (place == 0 ? 0 : ends[place - 1])..<ends[place]
    }

    /// A row that the known order lacks.
    private struct Added {
        var time: Int64
        var row: UInt32
    }

    /// Appends the rows of one series, old and new merged by time.
    private mutating func merge(
        _ old: ArraySlice<UInt32>, _ added: ArraySlice<Added>, _ view: MemtableView
    ) {
        guard let first = added.first else { return }
        // Most new rows are later than all old ones. At the same time, the later commit comes last.
        let low = old.partitioningIndex { view.rows[Int($0)].time > first.time }
        rows += old[..<low]
        var rest = old[low...]
        for entry in added {
            while let row = rest.first, view.rows[Int(row)].time <= entry.time {
                rows.append(row)
                rest.removeFirst()
            }
            rows.append(entry.row)
        }
        rows += rest
    }

    /// All series in key order.
    private static func series(_ view: MemtableView, _ known: [UInt32]) -> [UInt32] {
        let count = view.keys.count
        if count == known.count { return known }
        let keys = (known.count..<count).map { (view.keys.copy($0), UInt32($0)) }
            .sorted { $0.0.lexicographicallyPrecedes($1.0) }
        var merged: [UInt32] = []
        merged.reserveCapacity(count)
        var rest = known[...]
        for (key, number) in keys {
            // The first known key that is not less than this one.
            let low = rest.partitioningIndex {
                !view.keys.copy(Int($0)).lexicographicallyPrecedes(key)
            }
            merged += rest[..<low]
            rest = rest[low...]
            merged.append(number)
        }
        return merged + rest
    }

    /// New rows by series, time and commit order, and where those of each series end.
    private static func added(
        _ view: MemtableView, _ range: Range<Int>, _ series: [UInt32]
    ) -> (rows: [Added], ends: [Int]) {
        var places = [Int](repeating: 0, count: series.count)
        for (place, number) in series.enumerated() { places[Int(number)] = place }
        // A counting sort by series, then a sort by time of each series that is not in order.
        var next = [Int](repeating: 0, count: series.count + 1)
        for row in range { next[places[Int(view.rows[row].series)] + 1] += 1 }
        for place in series.indices { next[place + 1] += next[place] }
        var entries = [Added](
            repeating: Added(time: 0, row: 0), count: range.count)
        let starts = next
        for row in range {
            let stored = view.rows[row]
            let place = places[Int(stored.series)]
            entries[next[place]] = Added(
                time: stored.time, row: UInt32(truncatingIfNeeded: row))
            next[place] += 1
        }
        for place in series.indices where starts[place + 1] - starts[place] > 1 {
            sort(&entries, starts[place]..<starts[place + 1])
        }
        return (entries, Array(starts.dropFirst()))
    }

    private static func sort(_ entries: inout [Added], _ range: Range<Int>) {
        if range.dropFirst().allSatisfy({ entries[$0 - 1].time <= entries[$0].time }) { return }
        entries[range].sort { $0.time != $1.time ? $0.time < $1.time : $0.row < $1.row }
    }
}
