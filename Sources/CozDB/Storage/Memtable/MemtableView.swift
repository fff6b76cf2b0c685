// The rows of one memtable table at one moment, sorted by series and time.

internal import Synchronization

/// What a table held when the view was taken; safe from any thread.
final class MemtableView: Sendable {
    let rows: ChunkedArray<MemtableTable.Row>.View
    let cells: ChunkedArray<UInt64>.View
    let layouts: ByteArena.View
    let keys: ByteArena.View
    let attributeSets: ByteArena.View
    let strings: ByteArena.View

    /// Sorting waits for the first reader: most views of a busy writer are never read.
    private let sorted = Mutex<MemtableOrder?>(nil)
    private let decoded = Mutex<(layouts: MemtableLists, attributes: MemtableLists)?>(nil)

    init(_ table: MemtableTable, strings: ByteArena) {
        rows = table.rows.view()
        cells = table.cells.view()
        layouts = table.layouts.view()
        keys = table.keys.view()
        attributeSets = table.attributeSets.view()
        self.strings = strings.view()
    }

    /// The order of the rows; the first caller sorts.
    func order() -> MemtableOrder {
        sorted.withLock { sorted in
            if let sorted { return sorted }
            let order = MemtableOrder(self)
            sorted = order
            return order
        }
    }

    /// The columns that rows have, by layout, and those of attributes with the words of their
    /// strings, by attribute set; the first caller decodes.
    func lists() -> (layouts: MemtableLists, attributes: MemtableLists) {
        decoded.withLock { decoded in
            if let decoded { return decoded }
            let lists = (
                layouts: MemtableLists(layouts, hasWords: false),
                attributes: MemtableLists(attributeSets, hasWords: true)
            )
            decoded = lists
            return lists
        }
    }
}

/// The layouts or attribute sets of a table, decoded: list after list.
struct MemtableLists {
    var columns: [UInt32] = []
    /// Of attribute sets the word of each column's string; of layouts none.
    var words: [UInt64] = []
    /// Where each list ends.
    var ends: [Int] = []

    fileprivate init(_ encoded: ByteArena.View, hasWords: Bool) {
        for number in 0..<encoded.count {
            encoded.withBytes(number) { bytes in
                var reader = ByteReader(bytes)
                // Not until reading fails: making the error costs more than the rest.
                while reader.remaining >= (hasWords ? 12 : 4),
                    let column = try? reader.readUInt32()
                {
                    columns.append(column)
                    if hasWords { words.append((try? reader.readUInt64()) ?? 0) }
                }
            }
            ends.append(columns.count)
        }
    }

    func range(_ number: UInt32) -> Range<Int> {
        (number == 0 ? 0 : ends[Int(number) - 1])..<ends[Int(number)]
    }

    /// The last place in a list of a column; nil where the list lacks it.
    func place(of column: ColumnID, in number: UInt32) -> Int? {
        let range = range(number)
        return range.last { Int(columns[$0]) == column }.map { $0 - range.lowerBound }
    }
}

/// Rows sorted by series key, time and commit order; series sorted by key.
struct MemtableOrder: Sendable {
    /// Row numbers.
    let rows: [UInt32]
    /// Number of each series in `keys`, in key order.
    let series: [UInt32]
    /// Where each series' rows end in `rows`; they begin where those of the one before end.
    let ends: [Int]

    init(_ view: MemtableView) {
        let keys = (0..<view.keys.count).map { view.keys.copy($0) }
        let series = keys.indices.sorted { keys[$0].lexicographicallyPrecedes(keys[$1]) }
        var rank = [Int](repeating: 0, count: keys.count)
        for (place, number) in series.enumerated() { rank[number] = place }

        // A counting sort by series, then each series by time if it is not in order already.
        var starts = [Int](repeating: 0, count: series.count + 1)
        for row in 0..<view.rows.count { starts[rank[Int(view.rows[row].series)] + 1] += 1 }
        for place in 0..<series.count { starts[place + 1] += starts[place] }
        var next = starts
        var entries = [(time: Int64, row: UInt32)](
            repeating: (0, 0), count: view.rows.count)
        for row in 0..<view.rows.count {
            let stored = view.rows[row]
            let place = rank[Int(stored.series)]
            entries[next[place]] = (stored.time, UInt32(truncatingIfNeeded: row))
            next[place] += 1
        }
        for place in 0..<series.count {
            MemtableOrder.sort(&entries, starts[place]..<starts[place + 1])
        }
        rows = entries.map(\.row)
        self.series = series.map { UInt32(truncatingIfNeeded: $0) }
        ends = Array(starts.dropFirst())
    }

    /// The rows of a series, as a range of `rows`.
    func range(_ place: Int) -> Range<Int> {
        (place == 0 ? 0 : ends[place - 1])..<ends[place]
    }

    private static func sort(
        _ entries: inout [(time: Int64, row: UInt32)], _ range: Range<Int>
    ) {
        var isSorted = true
        for index in range.dropFirst() where entries[index - 1].time > entries[index].time {
            isSorted = false
            break
        }
        guard !isSorted else { return }
        entries[range].sort { $0.time != $1.time ? $0.time < $1.time : $0.row < $1.row }
    }
}
