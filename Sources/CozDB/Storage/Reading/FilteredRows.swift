// The rows of a series in one segment that pass predicates on columns. Each predicate yields a
// bitmap, from statistics and encoded values. Only values of the remaining rows are decoded.

struct FilteredRows {
    /// The size of a window of rows whose bits are computed together. It starts small for callers
    /// that want few rows; otherwise it is a chunk of presence.
    private static let windowRowsMin = 1024
    private static let windowRowsMax = presenceRowCountMax

    private let view: ExperimentView
    private let segment: SegmentReader
    private let part: Series.Part
    private let test: RowPredicate
    private var tally: BlockTally
    private var windowRows: Int
    private let pool: ColumnPool
    /// The rows in the range whose bits are not computed yet.
    private var pending: Range<Int>
    private var chosen = ChosenRows()
    /// The bits of the current batch of rows; the bits behind are still to be returned.
    private var current = 0..<0
    /// The bit at which a batch ends because the strings before it are large.
    private var stringEnd = 0
    private var rowTimes: RowTimes
    /// The rows of the batch, once they are listed.
    private var rows: [UInt32] = []
    private let columns: [ColumnID]
    /// The requested and the tested columns, in any order.
    private let readColumns: [ColumnID]
    /// The end of the rows in the range.
    private let end: Int
    /// The requested columns, by the next row that may have a value.
    private var waiting = IndexHeap()

    /// nil if several sources have rows of the series, or if a tested column is stored in another
    /// type than its current one.
    ///
    /// - Parameters:
    ///   - columns: the columns that will be read, in addition to the tested ones.
    ///   - wantsFew: whether the caller probably reads only a few of the rows.
    init?(
        _ view: ExperimentView, series: Series, test: RowPredicate, columns: [ColumnID],
        range: TimeRange, wantsFew: Bool = false, counts: ReadCounts?, pool: ColumnPool
    ) throws(DatabaseError) {
        guard let segment = FilteredRows.segment(view, series, test) else { return nil }
        let part = series.parts[0]
        self.view = view
        self.segment = segment
        self.part = part
        self.test = test
        self.pool = pool
        windowRows = wantsFew ? FilteredRows.windowRowsMin : FilteredRows.windowRowsMax
        rowTimes = RowTimes(segment)
        pending = try view.sources[part.source].rows(of: part, in: range)
        tally = BlockTally(counts: counts)
        self.columns = columns
        end = pending.upperBound
        readColumns = Array(Set(test.columns).union(columns))
        for column in readColumns {
            guard let open = try open(column) else { continue }
            let directory = open.reader.directory
            tally.add(
                column, inRange: directory.blocks(rows: pending),
                outOfRange: directory.blocks(rows: part.rows).count)
        }
        for index in columns.indices { try wait(index, from: pending.lowerBound) }
    }

    private func open(_ column: ColumnID) throws(DatabaseError) -> ColumnPool.OpenColumn? {
        try pool.column(column, source: part.source, of: view)
    }

    /// Queues a column by its first possible row from `row` on. A column without one is done.
    private mutating func wait(_ index: Int, from row: Int) throws(DatabaseError) {
        guard let open = try open(columns[index]) else { return }
        if let row = open.reader.nextRow(from: row, before: end) {
            waiting.push(index, Int64(row))
        }
    }

    /// The only segment of a series whose rows can be filtered by bitmap; nil if rows must be
    /// assembled first.
    static func segment(_ view: ExperimentView, _ series: Series, _ test: RowPredicate)
        -> SegmentReader?
    {
        guard series.parts.count == 1,
            case .segment(let segment) = view.sources[series.parts[0].source]
        else { return nil }
        for column in test.columns {
            guard let field = segment.field(column) else { continue }
            let stored = segment.footer.fields[field].column.type
            guard view.schema.column(column).isStored(as: stored) else { return nil }
        }
        return segment
    }

    /// Advances to the next rows that pass. Returns false at the end.
    ///
    /// - Parameter countMax: the most rows.
    mutating func next(countMax: Int = .max) throws(DatabaseError) -> Bool {
        rows.removeAll(keepingCapacity: true)
        while true {
            var left = current.upperBound..<chosen.bits.count
            if chosen.bits.hasOnes(in: left) {
                if left.lowerBound >= stringEnd { try limitStrings(left) }
                left = left.lowerBound..<stringEnd
                current = left
                let isRest = stringEnd == chosen.bits.count
                guard isRest || chosen.bits.hasOnes(in: left) else { continue }
                if countMax < left.count {
                    let end = list(
                        from: left.lowerBound,
                        countMax: min(countMax, chosen.bits.oneCount(in: left)))
                    current = left.lowerBound..<min(end, left.upperBound)
                }
                return true
            }
            guard !pending.isEmpty else {
                tally.end()
                return false
            }
            let end = min(pending.lowerBound + windowRows, pending.upperBound)
            windowRows = min(4 * windowRows, FilteredRows.windowRowsMax)
            let window = pending.lowerBound..<end
            pending = end..<pending.upperBound
            chosen = ChosenRows(firstRow: window.lowerBound, bits: BitVector(count: window.count))
            current = 0..<0
            stringEnd = 0
            let allowed = try allowed(chosen)
            if let allowed, !allowed.bits.hasOnes { continue }
            var passing = chosen
            try choose(test, among: allowed, into: &passing)
            chosen = passing
        }
    }

    /// Ends a batch of these rows where the strings of its columns become large.
    private mutating func limitStrings(_ bits: Range<Int>) throws(DatabaseError) {
        let first = chosen.firstRow
        var sizes = StringSizes(
            rows: (first + bits.lowerBound)..<(first + bits.upperBound),
            sizeBytesMax: StringSizes.batchSizeBytesMax)
        for column in readColumns {
            if let open = try open(column) { sizes.add(open, among: chosen) }
        }
        stringEnd = sizes.end() - first
    }

    /// The rows of a window that the statistics of all columns allow; nil if no statistics apply.
    ///
    /// - Parameter none: an empty bitmap of the window.
    private func allowed(_ none: ChosenRows) throws(DatabaseError) -> ChosenRows? {
        var allowed: ChosenRows?
        for predicate in test.requiredPredicates where predicate.usesStatistics {
            var own = none
            if let open = try open(predicate.column) {
                let directory = open.reader.directory
                let type = view.schema.column(predicate.column).type
                for block in directory.blocks(rows: none.range)
                where predicate.allows(directory.summary(block, type: type)) {
                    own.choose(directory.rows(ofBlock: block))
                }
            }
            if let allowed { own.bits.formIntersection(allowed.bits) }
            allowed = own
        }
        return allowed
    }

    /// Lists rows from a bit on. Returns the bit after the last visited one.
    private mutating func list(from bit: Int, countMax: Int) -> Int {
        chosen.bits.appendOnes(
            from: bit, countMax: countMax, adding: UInt32(truncatingIfNeeded: chosen.firstRow),
            to: &rows)
    }

    private mutating func listRows() {
        guard rows.isEmpty else { return }
        _ = list(from: current.lowerBound, countMax: chosen.bits.oneCount(in: current))
    }

    // MARK: Bitmaps

    /// Selects the rows of a window that pass a predicate.
    ///
    /// - Parameters:
    ///   - earlier: rows that passed earlier predicates. Others need no test.
    ///   - chosen: an empty bitmap of the window.
    private mutating func choose(
        _ test: RowPredicate, among earlier: ChosenRows?, into chosen: inout ChosenRows
    ) throws(DatabaseError) {
        switch test {
        case .column(let predicate): try choose(predicate, among: earlier, into: &chosen)
        case .any(let parts):
            for part in parts {
                var own = chosen.emptied
                try choose(part, among: earlier, into: &own)
                chosen.bits.formUnion(own.bits)
            }
        case .all(let parts):
            var left = earlier
            for part in try ordered(parts, chosen.range) {
                var own = chosen.emptied
                try choose(part, among: left, into: &own)
                if let left { own.bits.formIntersection(left.bits) }
                left = own
                guard own.bits.hasOnes else { return }
            }
            if let left { chosen.bits = left.bits }
        }
    }

    /// The same predicates, the cheapest first (those that read the fewest blocks).
    private func ordered(
        _ tests: [RowPredicate], _ window: Range<Int>
    ) throws(DatabaseError) -> [RowPredicate] {
        var weighted: [(test: RowPredicate, blockCount: Int)] = []
        for test in tests {
            weighted.append((test, try blockCount(test, window)))
        }
        weighted.sort { $0.blockCount < $1.blockCount }
        return weighted.map(\.test)
    }

    private func blockCount(
        _ test: RowPredicate, _ window: Range<Int>
    ) throws(DatabaseError) -> Int {
        switch test {
        case .column(let predicate):
            guard let open = try open(predicate.column) else { return 0 }
            return open.reader.directory.blocks(rows: window).count
        case .all(let parts):
            var least = Int.max
            for part in parts { least = min(least, try blockCount(part, window)) }
            return least
        case .any(let parts):
            var sum = 0
            for part in parts { sum += try blockCount(part, window) }
            return sum
        }
    }

    private mutating func choose(
        _ predicate: ColumnPredicate, among earlier: ChosenRows?, into chosen: inout ChosenRows
    ) throws(DatabaseError) {
        guard let open = try open(predicate.column) else { return }
        let directory = open.reader.directory
        let type = view.schema.column(predicate.column).type
        for block in directory.blocks(rows: chosen.range) {
            if let earlier, !earlier.hasAny(of: directory.rows(ofBlock: block)) { continue }
            let verdict =
                predicate.usesStatistics
                ? predicate.test.verdict(on: directory.summary(block, type: type)) : nil
            if verdict == false { continue }
            if verdict == nil, !open.reader.isLoaded(block) {
                tally.decode(predicate.column, block, directory)
            }
            try open.reader.choose(
                block: block, verdict == true ? .isPresent : predicate.test,
                isOwn: isOwn(block, directory), verdicts: &open.verdicts, from: &chosen)
        }
    }

    /// Whether all values of a block belong to this series.
    private func isOwn(_ block: Int, _ directory: BlockTable) -> Bool {
        let rows = directory.rows(ofBlock: block)
        return rows.lowerBound >= part.rows.lowerBound && rows.upperBound <= part.rows.upperBound
    }

    // MARK: Values of passing rows

    /// The times of the current rows.
    mutating func times() throws(DatabaseError) -> [Int64] {
        listRows()
        var times: [Int64] = []
        let rows = rows
        try rowTimes.append(rows.span, to: &times)
        return times
    }

    /// The number of current rows that have a value of a column.
    mutating func count(_ column: ColumnID) throws(DatabaseError) -> Int {
        // The predicate fails for rows without a value, so all current rows have one.
        if test.requiredPredicates.contains(where: { $0.column == column }) {
            return chosen.bits.oneCount(in: current)
        }
        listRows()
        guard let open = try open(column) else { return 0 }
        var count = 0
        for block in open.reader.directory.blocks(rows: span) {
            tally.summarize(column, block)
            count += try open.reader.count(block: block, at: rows.span)
        }
        return count
    }

    /// Calls the body with each requested column that has values in the current rows, in the order
    /// of the request. Visits no other columns.
    ///
    /// - Parameters:
    ///   - active: the result of `takeColumns` for the current rows.
    mutating func forEachColumn(
        _ active: [Int], _ body: (Int, RowValues) -> Void
    ) throws(DatabaseError) {
        guard let last = rows.last else { return }
        for (number, index) in active.enumerated() {
            if number % 1024 == 1023 { try CancellationCheck.check() }
            let found = try values(columns[index])
            if !found.rows.isEmpty { body(index, found) }
            try wait(index, from: Int(last) + 1)
        }
    }

    /// The requested columns that may have values in the current rows, ascending. Puts back the
    /// last of these rows if there are more cells than `cellCountMax`.
    mutating func takeColumns(cellCountMax: Int) -> [Int] {
        listRows()
        var active: [Int] = []
        while let next = waiting.first, let last = rows.last, next.key <= Int64(last) {
            waiting.removeFirst()
            active.append(next.index)
            let count = max(1, cellCountMax / active.count)
            guard count < rows.count else { continue }
            rows.removeLast(rows.count - count)
            current = current.lowerBound..<(Int(rows[count - 1]) - chosen.firstRow + 1)
        }
        return active.sorted()
    }

    /// The values of a column in the current rows. Their rows are indices of current rows.
    mutating func values(_ column: ColumnID) throws(DatabaseError) -> RowValues {
        listRows()
        var found = RowValues()
        guard let open = try open(column) else { return found }
        let directory = open.reader.directory
        for block in directory.blocks(rows: span) {
            let before = found.rows.count
            let wasLoaded = open.reader.isLoaded(block)
            try open.reader.append(
                block: block, at: rows.span, isShared: !isOwn(block, directory), to: &found)
            guard found.rows.count > before, !wasLoaded else { continue }
            tally.decode(column, block, directory)
        }
        found.show(as: view.schema.column(column), from: open.reader.storedType)
        return found
    }

    /// From the first to the last current row.
    private var span: Range<Int> {
        guard let first = rows.first, let last = rows.last else { return 0..<0 }
        return Int(first)..<(Int(last) + 1)
    }
}

extension RowValues {
    /// Casts the values to the type in the schema. Drops them if the cast is not defined.
    mutating func show(as column: Column, from stored: FieldType) {
        guard !column.isStored(as: stored) else { return }
        var slice = ColumnSlice(type: stored, strings: strings)
        slice.bits = bits
        slice = slice.shown(as: column)
        guard slice.count == rows.count else { return self = RowValues() }
        self = RowValues(rows: rows, bits: slice.bits, strings: slice.strings)
    }
}

/// Counts how the blocks of some columns were used, each block once.
private struct BlockTally {
    let counts: ReadCounts?
    /// The blocks of each column in the range, and which of them were counted.
    var columns: [ColumnID: (blocks: Range<Int>, counted: Set<Int>)] = [:]
    var isEnded = false

    mutating func add(_ column: ColumnID, inRange: Range<Int>, outOfRange all: Int) {
        guard let counts else { return }
        counts.blocksInRange += inRange.count
        counts.blocksOutOfRange += all - inRange.count
        columns[column] = (inRange, [])
    }

    mutating func decode(_ column: ColumnID, _ block: Int, _ directory: BlockTable) {
        guard let counts, isFirst(column, block) else { return }
        counts.blocksDecoded += 1
        counts.storedBytes += directory.sizeBytes(block)
    }

    mutating func summarize(_ column: ColumnID, _ block: Int) {
        guard let counts, isFirst(column, block) else { return }
        counts.blocksSummarized += 1
    }

    /// Counts blocks that were neither decoded nor summarized as excluded.
    mutating func end() {
        guard let counts, !isEnded else { return }
        isEnded = true
        for column in columns.values {
            counts.blocksExcluded += column.blocks.count - column.counted.count
        }
    }

    private mutating func isFirst(_ column: ColumnID, _ block: Int) -> Bool {
        guard columns[column]?.blocks.contains(block) == true else { return false }
        return columns[column]?.counted.insert(block).inserted ?? false
    }
}
