// Puts columns of one series together to rows, block by block; memory is one block.
//
// Each column is walked by its own cursor. A block of rows reaches as far as every column that has
// more to come is known; within it the times of the columns are united.

struct RowCursor {
    /// One column and what of its current slice is not used yet.
    private struct Walk {
        var cursor: ColumnCursor
        /// Index among the columns asked for.
        var index: Int
        var slice: ColumnSlice
        /// First unused value ascending; one past the last unused one descending.
        var position: Int

        var remaining: Range<Int>
    }

    private let view: RowSources
    private let series: Series
    private let columns: [ColumnID]
    private let range: TimeRange
    private let descending: Bool
    private let blockRows: Int
    private let test: RowTest?
    private let counts: ReadCounts?
    private let pool: ColumnPool
    private var walks: [Walk] = []
    /// What does all of it where the series lies in one segment.
    private var plain: SegmentRowWalk?
    private var filtered: FilteredRows?
    private var isStarted = false

    /// - Parameter test: rows that do not pass are of no use, and need not come.
    init(
        view: RowSources, series: Series, columns: [ColumnID], range: TimeRange,
        descending: Bool, blockRows: Int, test: RowTest? = nil,
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
        self.blockRows = max(1, blockRows)
    }

    /// Fills the block with the next rows; false when there are none left.
    mutating func next(into block: inout RowBlock) throws(DatabaseError) -> Bool {
        try start()
        empty(&block)
        if plain != nil { return try plain?.next(into: &block) ?? false }
        if filtered != nil { return try nextFiltered(into: &block) }
        try refill()
        guard !walks.isEmpty else { return false }
        let times = unitedTimes()
        block.times = times
        for index in walks.indices { take(index, times, into: &block) }
        if descending { block.reverse() }
        return true
    }

    private func empty(_ block: inout RowBlock) {
        if block.columns.count != columns.count {
            block.columns = columns.map { RowBlock.Column(type: view.schema.columns[$0].type) }
        }
        for index in block.columns.indices where !block.columns[index].isEmpty {
            block.columns[index] = RowBlock.Column(type: block.columns[index].type)
        }
    }

    private mutating func start() throws(DatabaseError) {
        guard !isStarted else { return }
        isStarted = true
        if !descending, let test {
            filtered = try FilteredRows(
                view, series: series, test: test, columns: columns, range: range,
                wantsFew: blockRows < SegmentRowWalk.windowRowsMin, counts: counts, pool: pool)
            if filtered != nil { return }
        }
        let isWalk =
            blockRows >= SegmentRowWalk.windowRowsMin
            || columns.count >= SegmentRowWalk.columnCountMin
        if !descending, test == nil, isWalk {
            plain = try SegmentRowWalk(
                view, series: series, columns: columns, range: range, windowRows: blockRows,
                counts: counts, pool: pool)
            if plain != nil { return }
        }
        var wanted: WantedTimes?
        var cursors: [ColumnCursor] = []
        for column in columns {
            cursors.append(
                try ColumnCursor(
                    view, column: column, series: series, range: range, descending: descending,
                    counts: counts, pool: pool))
        }
        for demand in test?.demands ?? [] {
            guard let index = columns.firstIndex(of: demand.column) else { continue }
            let times = cursors[index].wantedTimes(demand)
            wanted = wanted?.intersection(times) ?? times
        }
        for (index, var cursor) in cursors.enumerated() {
            if let wanted { cursor.keep(wanted) }
            if cursor.isEmpty { continue }
            walks.append(
                Walk(
                    cursor: cursor, index: index, slice: ColumnSlice(), position: 0,
                    remaining: 0..<0))
        }
    }

    /// Rows with a value in at least one of the columns, of those that passed the test.
    private mutating func nextFiltered(into block: inout RowBlock) throws(DatabaseError) -> Bool {
        while try filtered?.next(countMax: blockRows) == true {
            guard let times = try filtered?.times() else { return false }
            block.times = times
            for (place, id) in columns.enumerated() {
                guard let found = try filtered?.values(id), !found.places.isEmpty else { continue }
                block.columns[place] = RowBlock.Column(
                    found, type: view.schema.columns[id].type, count: times.count)
            }
            if block.columns.contains(where: { !$0.isEmpty }) { return true }
        }
        return false
    }

    /// Gives every walk values; drops those that have none left.
    private mutating func refill() throws(DatabaseError) {
        var kept: [Walk] = []
        kept.reserveCapacity(walks.count)
        while var walk = walks.popLast() {
            if walk.remaining.isEmpty {
                guard let slice = try walk.cursor.nextValues() else { continue }
                walk.slice = slice
                walk.remaining = 0..<slice.count
            }
            kept.append(walk)
        }
        kept.reverse()
        walks = kept
    }

    /// The times of the next rows, ascending: all that any walk has up to where the first slice
    /// with more behind it ends, but no more than a block.
    private func unitedTimes() -> [Int64] {
        descending ? unitedTimesFromEnd() : unitedTimesFromStart()
    }

    private func unitedTimesFromStart() -> [Int64] {
        var limit = Int64.max
        for walk in walks {
            let last = walk.slice.times[walk.remaining.upperBound - 1]
            if !walk.cursor.isEmpty { limit = min(limit, last) }
            // A slice of more values than a block: the block ends inside of it.
            if walk.remaining.count > blockRows {
                limit = min(limit, walk.slice.times[walk.remaining.lowerBound + blockRows - 1])
            }
        }
        var united: [Int64] = []
        for walk in walks {
            let times = walk.slice.times[walk.remaining]
            let end = times.partitioningIndex { $0 > limit }
            united = RowCursor.unite(united, times[times.startIndex..<end])
        }
        return united
    }

    private func unitedTimesFromEnd() -> [Int64] {
        var limit = Int64.min
        for walk in walks {
            let first = walk.slice.times[walk.remaining.lowerBound]
            if !walk.cursor.isEmpty { limit = max(limit, first) }
            if walk.remaining.count > blockRows {
                limit = max(limit, walk.slice.times[walk.remaining.upperBound - blockRows])
            }
        }
        var united: [Int64] = []
        for walk in walks {
            let times = walk.slice.times[walk.remaining]
            let start = times.partitioningIndex { $0 >= limit }
            united = RowCursor.unite(united, times[start...])
        }
        return united
    }

    /// Two ascending lists as one, each time once.
    static func unite(_ left: [Int64], _ right: ArraySlice<Int64>) -> [Int64] {
        if left.isEmpty { return Array(right) }
        // Companion columns have the very same times.
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

    /// Moves a walk's values for these times into the block.
    private mutating func take(_ number: Int, _ times: [Int64], into block: inout RowBlock) {
        guard let first = times.first, let last = times.last else { return }
        let walk = walks[number]
        let slice = walk.slice
        let available = slice.times[walk.remaining]
        let start = available.partitioningIndex { $0 >= first }
        let end = available.partitioningIndex { $0 > last }
        if descending {
            walks[number].remaining = walk.remaining.lowerBound..<start
        } else {
            walks[number].remaining = end..<walk.remaining.upperBound
        }
        guard start < end else { return }
        var column = RowBlock.Column(type: slice.type)
        column.isEmpty = false
        column.strings = slice.strings
        if end - start == times.count {
            column.bits = Array(slice.bits[start..<end])
            column.isPresent = [Bool](repeating: true, count: times.count)
        } else {
            column.bits = [UInt64](repeating: 0, count: times.count)
            column.isPresent = [Bool](repeating: false, count: times.count)
            var row = 0
            for index in start..<end {
                while times[row] < slice.times[index] { row += 1 }
                column.bits[row] = slice.bits[index]
                column.isPresent[row] = true
            }
        }
        block.columns[walk.index] = column
    }
}

extension RowBlock.Column {
    /// - Parameter count: rows of the block.
    fileprivate init(_ found: ChosenValues, type: FieldType, count: Int) {
        self.init(type: type, strings: found.strings, isEmpty: false)
        if found.places.count == count {
            bits = found.bits
            isPresent = [Bool](repeating: true, count: count)
            return
        }
        bits = [UInt64](repeating: 0, count: count)
        isPresent = [Bool](repeating: false, count: count)
        for (index, place) in found.places.enumerated() {
            bits[Int(place)] = found.bits[index]
            isPresent[Int(place)] = true
        }
    }
}

extension RowBlock {
    fileprivate mutating func reverse() {
        times.reverse()
        for index in columns.indices where !columns[index].isEmpty {
            columns[index].bits.reverse()
            columns[index].isPresent.reverse()
        }
    }
}

extension ArraySlice {
    /// The first index whose element satisfies a predicate that all later ones satisfy too.
    func partitioningIndex(_ isAtOrBehind: (Element) -> Bool) -> Int {
        var low = startIndex
        var high = endIndex
        while low < high {
            let middle = (low + high) / 2
            if isAtOrBehind(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
