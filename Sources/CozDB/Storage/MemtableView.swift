// The rows of one memtable table at one moment, sorted by series and time.

internal import Synchronization

/// What a table held when the view was taken; safe from any thread.
final class MemtableView: Sendable {
    let rows: ChunkedArray<MemtableTable.Row>.View
    let cellColumns: ChunkedArray<UInt32>.View
    let cellBits: ChunkedArray<UInt64>.View
    let keys: ByteArena.View
    let attributeSets: ByteArena.View
    let strings: ByteArena.View

    /// Sorting waits for the first reader: most views of a busy writer are never read.
    private let sorted = Mutex<MemtableOrder?>(nil)

    init(_ table: MemtableTable, strings: ByteArena) {
        rows = table.rows.view()
        cellColumns = table.cellColumns.view()
        cellBits = table.cellBits.view()
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

    /// The attributes of a row as (column, string number).
    func forEachAttribute(_ set: UInt32, _ body: (_ column: UInt32, _ string: UInt32) -> Void) {
        attributeSets.withBytes(Int(set)) { bytes in
            var reader = ByteReader(bytes)
            // Not until reading fails: making the error costs more than the rest of a row.
            while reader.remaining >= 8, let column = try? reader.readUInt32(),
                let string = try? reader.readUInt32()
            {
                body(column, string)
            }
        }
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
