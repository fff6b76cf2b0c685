// Assembles the rows of one series from its columns, batch by batch. Memory: one batch.
// Each column has its own cursor. A batch ends where the first column runs out of loaded
// values, or at the requested number of rows. Inside it, the times of the columns are merged.
// Columns wait in a heap by their next time, so a batch visits only columns with values in it.

struct RowCursor {
    /// One column and the unused rest of its current slice.
    private struct Walk {
        var cursor: ColumnCursor
        /// The index among the requested columns.
        var index: Int
        var slice: ColumnSlice
        /// The unused values.
        var remaining: Range<Int>
    }

    private let view: ExperimentView
    private let series: Series
    private let columns: [ColumnID]
    private let range: TimeRange
    private let descending: Bool
    private let batchRows: Int
    private let cellCountMax: Int
    private let test: RowPredicate?
    private let counts: ReadCounts?
    private let pool: ColumnPool
    private var walks: [Walk] = []
    /// Walks with unused values, by the time of the next one; descending by its complement.
    private var heads = IndexHeap()
    /// Replaces the walks if the series lies in one segment.
    private var plain: SingleSegmentRowCursor?
    private var filtered: FilteredRows?
    private var isStarted = false
    private var order: OrderCheck

    /// - Parameter test: rows that do not pass may be left out.
    init(
        view: ExperimentView, series: Series, columns: [ColumnID], range: TimeRange,
        descending: Bool, batchRows: Int, cellCountMax: Int = .max, test: RowPredicate? = nil,
        counts: ReadCounts? = nil, pool: ColumnPool? = nil
    ) {
        self.test = test
        self.counts = counts
        self.pool = pool ?? ColumnPool()
        self.view = view
        self.series = series
        self.columns = columns
        self.range = range
        self.descending = descending
        self.batchRows = max(1, batchRows)
        self.cellCountMax = cellCountMax
        order = OrderCheck(descending: descending)
    }

    /// Fills the batch with the next rows. Returns false at the end.
    ///
    /// - Throws: `damaged` also if their times are out of order, because callers rely on it.
    mutating func next(into batch: inout ColumnBatch) throws(DatabaseError) -> Bool {
        guard try read(into: &batch) else { return false }
        guard order.accepts(batch.times.span) else {
            throw view.timesOutOfOrder(in: series)
        }
        return true
    }

    private mutating func read(into batch: inout ColumnBatch) throws(DatabaseError) -> Bool {
        try start()
        empty(&batch)
        if plain != nil { return try plain?.next(into: &batch) ?? false }
        if filtered != nil { return try nextFiltered(into: &batch) }
        guard heads.first != nil else { return false }
        let (taken, limit) = takeHeads()
        let times = try unitedTimes(taken, limit)
        batch.times = times
        for (number, index) in taken.enumerated() {
            if number % 1024 == 1023 { try CancellationCheck.check() }
            take(index, times, into: &batch)
            try refill(index)
        }
        if descending { batch.reverse() }
        return true
    }

    private func empty(_ batch: inout ColumnBatch) {
        batch.removeAll()
        if batch.columns.count != columns.count {
            batch.columns = columns.map { ColumnBatch.Column(type: view.schema.column($0).type) }
        }
    }

    private mutating func start() throws(DatabaseError) {
        guard !isStarted else { return }
        isStarted = true
        if !descending, let test {
            filtered = try FilteredRows(
                view, series: series, test: test, columns: columns, range: range,
                wantsFew: batchRows < SingleSegmentRowCursor.windowRowsMin, counts: counts,
                pool: pool)
            if filtered != nil { return }
        }
        let isWalk =
            batchRows >= SingleSegmentRowCursor.windowRowsMin
            || columns.count >= SingleSegmentRowCursor.columnCountMin
        if !descending, test == nil, isWalk {
            plain = try SingleSegmentRowCursor(
                view, series: series, columns: columns, range: range, windowRows: batchRows,
                cellCountMax: cellCountMax, counts: counts, pool: pool)
            if plain != nil { return }
        }
        var wanted: TimeSpans?
        var cursors: [ColumnCursor] = []
        for column in columns {
            cursors.append(
                try ColumnCursor(
                    view, column: column, series: series, range: range, descending: descending,
                    counts: counts, pool: pool))
        }
        for predicate in test?.requiredPredicates ?? [] {
            guard let index = columns.lastIndex(of: predicate.column) else { continue }
            let times = cursors[index].wantedTimes(predicate)
            wanted = wanted?.intersection(times) ?? times
        }
        for (index, var cursor) in cursors.enumerated() {
            if let wanted { cursor.keep(wanted) }
            if cursor.isEmpty { continue }
            walks.append(
                Walk(
                    cursor: cursor, index: index, slice: ColumnSlice(), remaining: 0..<0))
        }
        for index in walks.indices { try refill(index) }
    }

    /// Reads rows that pass the predicate and have a value in at least one column.
    private mutating func nextFiltered(into batch: inout ColumnBatch) throws(DatabaseError) -> Bool
    {
        while try filtered?.next(countMax: batchRows) == true {
            let active = filtered?.takeColumns(cellCountMax: cellCountMax) ?? []
            batch.times = try filtered?.times() ?? []
            let count = batch.times.count
            try filtered?.forEachColumn(active) { place, found in
                let type = view.schema.column(columns[place]).type
                batch.fill(place, ColumnBatch.Column(found, type: type, count: count))
            }
            if !batch.filled.isEmpty { return true }
        }
        return false
    }

    /// Loads values if a walk has none, and queues the walk by its next time.
    private mutating func refill(_ index: Int) throws(DatabaseError) {
        if walks[index].remaining.isEmpty {
            guard let slice = try walks[index].cursor.nextValues() else {
                walks[index].slice = ColumnSlice()
                return
            }
            walks[index].slice = slice
            walks[index].remaining = 0..<slice.count
        }
        let (times, remaining) = (walks[index].slice.times, walks[index].remaining)
        heads.push(
            index,
            descending ? ~times[remaining.upperBound - 1] : times[remaining.lowerBound])
    }

    /// Takes the walks of the next batch from the heap. Returns them with the last time of the
    /// batch: the end of the first slice with more values to load, and before the next value of all
    /// walks that stay in the heap.
    private mutating func takeHeads() -> (walks: [Int], limit: Int64) {
        var taken: [Int] = []
        var limit = descending ? Int64.min : .max
        var rowCount = 0
        var last: Int64?
        while let first = heads.first {
            let head = descending ? ~first.key : first.key
            if descending ? head < limit : head > limit { break }
            if head != last {
                let cellCount = (rowCount + 1) * taken.count
                if rowCount == batchRows || rowCount > 0 && cellCount > cellCountMax {
                    limit = descending ? head + 1 : head - 1
                    break
                }
                rowCount += 1
                last = head
            }
            heads.removeFirst()
            taken.append(first.index)
            let index = first.index
            let remaining = walks[index].remaining
            let end = descending ? remaining.lowerBound : remaining.upperBound - 1
            if !walks[index].cursor.isEmpty {
                limit = nearer(limit, walks[index].slice.times[end])
            }
            // The slice has more values than a batch, so the batch ends inside it.
            if remaining.count > batchRows {
                let place =
                    descending
                    ? remaining.upperBound - batchRows : remaining.lowerBound + batchRows - 1
                limit = nearer(limit, walks[index].slice.times[place])
            }
        }
        return (taken, limit)
    }

    private func nearer(_ a: Int64, _ b: Int64) -> Int64 { descending ? max(a, b) : min(a, b) }

    /// The times of the next rows, ascending: all times of the walks up to a limit, but at most a
    /// batch.
    private func unitedTimes(
        _ taken: [Int], _ limit: Int64
    ) throws(DatabaseError) -> [Int64] {
        var united: [Int64] = []
        for (number, index) in taken.enumerated() {
            if number % 1024 == 1023 { try CancellationCheck.check() }
            // A batch can use at most this many values of a walk.
            var range = walks[index].remaining
            if range.count > batchRows {
                range =
                    descending
                    ? (range.upperBound - batchRows)..<range.upperBound
                    : range.lowerBound..<(range.lowerBound + batchRows)
            }
            let times = walks[index].slice.times[range]
            let batchRows = rowCountMax(taken)
            let edge = times.partitioningIndex { descending ? $0 >= limit : $0 > limit }
            united = RowCursor.unite(united, descending ? times[edge...] : times[..<edge])
            if united.count > 2 * batchRows { cut(&united, batchRows) }
        }
        cut(&united, rowCountMax(taken))
        return united
    }

    /// The row limit of a batch with values of these walks.
    private func rowCountMax(_ taken: [Int]) -> Int {
        max(1, min(batchRows, cellCountMax / max(1, taken.count)))
    }

    private func cut(_ times: inout [Int64], _ batchRows: Int) {
        guard times.count > batchRows else { return }
        if descending {
            times.removeFirst(times.count - batchRows)
        } else {
            times.removeLast(times.count - batchRows)
        }
    }

    /// Merges two ascending lists. Each time appears once.
    static func unite(_ left: [Int64], _ right: ArraySlice<Int64>) -> [Int64] {
        if left.isEmpty { return Array(right) }
        // Companion columns have equal times.
        if left.count == right.count, left[...] == right { return left }
        var united: [Int64] = []
        united.reserveCapacity(left.count + right.count)
        var index = 0
        var other = right.startIndex
        while index < left.count, other < right.endIndex {
            let a = left[index]
            let b = right[other]
            united.append(min(a, b))
            if a <= b { index += 1 }
            if b <= a { other += 1 }
        }
        united.append(contentsOf: left[index...])
        united.append(contentsOf: right[other...])
        return united
    }

    /// Moves a walk's values at these times into the batch.
    private mutating func take(_ number: Int, _ times: [Int64], into batch: inout ColumnBatch) {
        guard let first = times.first, let last = times.last else { return }
        let remaining = walks[number].remaining
        let slice = walks[number].slice
        let available = slice.times[remaining]
        let start = available.partitioningIndex { $0 >= first }
        let end = available.partitioningIndex { $0 > last }
        if descending {
            walks[number].remaining = remaining.lowerBound..<start
        } else {
            walks[number].remaining = end..<remaining.upperBound
        }
        guard start < end else { return }
        var column = ColumnBatch.Column(type: slice.type)
        column.isEmpty = false
        column.strings = slice.strings
        if end - start == times.count {
            column.bits = Array(slice.bits[start..<end])
            column.isPresent = [Bool].filled(with: true, count: times.count)
        } else {
            column.bits = [UInt64].filled(with: 0, count: times.count)
            column.isPresent = [Bool].filled(with: false, count: times.count)
            var row = 0
            for index in start..<end {
                while times[row] < slice.times[index] { row += 1 }
                column.bits[row] = slice.bits[index]
                column.isPresent[row] = true
            }
        }
        batch.fill(walks[number].index, column)
    }
}

extension ColumnBatch.Column {
    /// - Parameters:
    ///   - found: the values by row of the batch, or by index in `places`.
    ///   - count: the number of rows of the batch.
    ///   - places: rows of the batch; empty if the values have them.
    init(_ found: RowValues, type: FieldType, count: Int, places: [UInt32] = []) {
        self.init(type: type, strings: found.strings, isEmpty: false)
        if found.rows.count == count {
            bits = found.bits
            isPresent = [Bool].filled(with: true, count: count)
            return
        }
        bits = [UInt64].filled(with: 0, count: count)
        isPresent = [Bool].filled(with: false, count: count)
        for (index, row) in found.rows.enumerated() {
            let place = Int(places.isEmpty ? row : places[Int(row)])
            bits[place] = found.bits[index]
            isPresent[place] = true
        }
    }
}

extension ColumnBatch {
    fileprivate mutating func reverse() {
        times.reverse()
        for index in filled {
            columns[index].bits.reverse()
            columns[index].isPresent.reverse()
        }
    }
}
