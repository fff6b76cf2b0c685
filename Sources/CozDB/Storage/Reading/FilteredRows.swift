// Rows of a series in one segment that pass tests of columns. Each test makes a bit for each row,
// from statistics and encoded values; what is left of all of them is read, and nothing else.

struct FilteredRows {
    /// Rows whose bits are found together: of those who want few rows a block's to begin with, of
    /// all others as many as a chunk of presence has.
    private static let windowRowsMin = 1024
    private static let windowRowsMax = presenceRowCountMax

    private let view: RowSources
    private let segment: SegmentReader
    private let part: Series.Part
    private let test: RowPredicate
    private var tally: BlockTally
    private var windowRows: Int
    private let pool: ColumnPool
    /// Rows in the range whose bits are still to be found.
    private var pending: Range<Int>
    private var chosen = ChosenRows()
    /// The bits of the rows that the last call of `next` went on to; those behind are to come.
    private var current = 0..<0
    private var rowTimes: RowTimes
    /// Those rows, where they had to be listed.
    private var rows: [UInt32] = []

    /// Nil where rows of the series lie in several sources, or a column that is tested is stored
    /// in another type than it has.
    ///
    /// - Parameters:
    ///   - columns: whose values will be asked for, beside those that are tested.
    ///   - wantsFew: whether it is likely that most of the rows will not be asked for.
    init?(
        _ view: RowSources, series: Series, test: RowPredicate, columns: [ColumnID],
        range: TimeRange,
        wantsFew: Bool = false, counts: ReadCounts?, pool: ColumnPool
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
        pending = part.rows.lowerBound..<part.rows.lowerBound
        if range.covers(first: part.firstTime, last: part.lastTime) {
            pending = part.rows
        } else if range.overlaps(first: part.firstTime, last: part.lastTime) {
            pending = try segment.rows(in: range, of: part.rows)
        }
        tally = BlockTally(counts)
        for column in Set(test.columns).union(columns) {
            guard let open = try pool.column(column, source: part.source, of: view) else {
                continue
            }
            let directory = open.reader.directory
            tally.add(
                column, inRange: directory.blocks(rows: pending),
                outOfRange: directory.blocks(rows: part.rows).count)
        }
    }

    /// The one segment that rows of a series are found in by bits; nil where they must be put
    /// together to be tested.
    static func segment(_ view: RowSources, _ series: Series, _ test: RowPredicate)
        -> SegmentReader?
    {
        guard series.parts.count == 1,
            case .segment(let segment) = view.sources[series.parts[0].source]
        else { return nil }
        for column in test.columns {
            guard let field = segment.field(column) else { continue }
            let stored = segment.footer.fields[field].column.type
            guard view.schema.columns[column].isStored(as: stored) else { return nil }
        }
        return segment
    }

    /// Goes on to the next rows that pass; false when there are none left.
    ///
    /// - Parameter countMax: of rows.
    mutating func next(countMax: Int = .max) throws(DatabaseError) -> Bool {
        rows.removeAll(keepingCapacity: true)
        while true {
            let left = current.upperBound..<chosen.bits.count
            if chosen.bits.hasOnes(in: left) {
                current = left
                if countMax < left.count {
                    current = left.lowerBound..<list(from: left.lowerBound, countMax: countMax)
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
            let allowed = try allowed(chosen)
            if let allowed, !allowed.bits.hasOnes { continue }
            var passing = chosen
            try choose(test, among: allowed, into: &passing)
            chosen = passing
        }
    }

    /// The rows of a window that the statistics of all blocks allow; nil where those say nothing.
    ///
    /// - Parameter none: no row of it.
    private func allowed(_ none: ChosenRows) throws(DatabaseError) -> ChosenRows? {
        var allowed: ChosenRows?
        for demand in test.demands where demand.usesStatistics {
            var own = none
            if let open = try pool.column(demand.column, source: part.source, of: view) {
                let directory = open.reader.directory
                let type = view.schema.columns[demand.column].type
                for block in directory.blocks(rows: none.range)
                where demand.allows(directory.summary(block, type: type)) {
                    own.choose(directory.rows(ofBlock: block))
                }
            }
            if let allowed { own.bits.formIntersection(allowed.bits) }
            allowed = own
        }
        return allowed
    }

    /// Lists rows from a bit on; the bit behind the last that was looked at.
    private mutating func list(from bit: Int, countMax: Int) -> Int {
        chosen.bits.appendOnes(
            from: bit, countMax: countMax, adding: UInt32(truncatingIfNeeded: chosen.firstRow),
            to: &rows)
    }

    private mutating func listRows() {
        guard rows.isEmpty else { return }
        _ = list(from: current.lowerBound, countMax: .max)
    }

    // MARK: Bits

    /// Chooses the rows of a window that pass a test.
    ///
    /// - Parameters:
    ///   - earlier: rows that passed what was asked before; others need not be looked at.
    ///   - chosen: of no rows yet.
    private mutating func choose(
        _ test: RowPredicate, among earlier: ChosenRows?, into chosen: inout ChosenRows
    ) throws(DatabaseError) {
        switch test {
        case .column(let demand): try choose(demand, among: earlier, into: &chosen)
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

    /// The same tests, those first that look at the fewest values.
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
        case .column(let demand):
            guard let open = try pool.column(demand.column, source: part.source, of: view) else {
                return 0
            }
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
        _ demand: ColumnPredicate, among earlier: ChosenRows?, into chosen: inout ChosenRows
    ) throws(DatabaseError) {
        guard let open = try pool.column(demand.column, source: part.source, of: view) else {
            return
        }
        let directory = open.reader.directory
        let type = view.schema.columns[demand.column].type
        for block in directory.blocks(rows: chosen.range) {
            if let earlier, !earlier.hasAny(of: directory.rows(ofBlock: block)) { continue }
            let verdict =
                demand.usesStatistics
                ? demand.test.verdict(on: directory.summary(block, type: type)) : nil
            if verdict == false { continue }
            if verdict == nil, !open.reader.isLoaded(block) {
                tally.decode(demand.column, block, directory)
            }
            try open.reader.choose(
                block: block, verdict == true ? .isPresent : demand.test,
                isOwn: isOwn(block, directory), verdicts: &open.verdicts, from: &chosen)
        }
    }

    /// Whether a block has values of rows of this series only.
    private func isOwn(_ block: Int, _ directory: FieldDirectory) -> Bool {
        let rows = directory.rows(ofBlock: block)
        return rows.lowerBound >= part.rows.lowerBound && rows.upperBound <= part.rows.upperBound
    }

    // MARK: Values of the rows that pass

    /// Their times.
    mutating func times() throws(DatabaseError) -> [Int64] {
        listRows()
        var times: [Int64] = []
        let rows = rows
        try rowTimes.append(rows.span, to: &times)
        return times
    }

    /// How many of them have a value of a column.
    mutating func count(_ column: ColumnID) throws(DatabaseError) -> Int {
        // A row without a value does not pass.
        if test.demands.contains(where: { $0.column == column }) {
            return chosen.bits.oneCount(in: current)
        }
        listRows()
        guard let open = try pool.column(column, source: part.source, of: view) else { return 0 }
        var count = 0
        for block in open.reader.directory.blocks(rows: span) {
            tally.summarize(column, block)
            count += try open.reader.count(block: block, at: rows.span)
        }
        return count
    }

    /// Their values of a column.
    mutating func values(_ column: ColumnID) throws(DatabaseError) -> ChosenValues {
        listRows()
        var found = ChosenValues()
        guard let open = try pool.column(column, source: part.source, of: view) else {
            return found
        }
        let directory = open.reader.directory
        for block in directory.blocks(rows: span) {
            let before = found.places.count
            let wasLoaded = open.reader.isLoaded(block)
            try open.reader.append(
                block: block, at: rows.span, isShared: !isOwn(block, directory), to: &found)
            guard found.places.count > before, !wasLoaded else { continue }
            tally.decode(column, block, directory)
        }
        return found.shown(from: open.reader.storedType, as: view.schema.columns[column])
    }

    /// The rows from the first to the last of them.
    private var span: Range<Int> {
        guard let first = rows.first, let last = rows.last else { return 0..<0 }
        return Int(first)..<(Int(last) + 1)
    }
}

extension ChosenValues {
    fileprivate func shown(from stored: FieldType, as column: Column) -> ChosenValues {
        guard !column.isStored(as: stored) else { return self }
        var slice = ColumnSlice(type: stored, strings: strings)
        slice.bits = bits
        slice = slice.shown(as: column)
        // A type that nothing is cast to leaves nothing.
        guard slice.count == places.count else { return ChosenValues() }
        return ChosenValues(places: places, bits: slice.bits, strings: slice.strings)
    }
}

extension ChosenRows {
    mutating func choose(_ rows: Range<Int>) {
        let common = rows.clamped(to: range)
        bits.formOnes(in: (common.lowerBound - firstRow)..<(common.upperBound - firstRow))
    }

    /// No row of the same range.
    fileprivate var emptied: ChosenRows {
        ChosenRows(firstRow: firstRow, bits: BitVector(count: bits.count))
    }
}

/// What became of the blocks of some columns, each counted once.
private struct BlockTally {
    private struct Column {
        var first: Int
        var isCounted: BitVector
    }

    private let counts: ReadCounts?
    private var columns: [ColumnID: Column] = [:]
    private var isEnded = false

    init(_ counts: ReadCounts?) {
        self.counts = counts
    }

    mutating func add(_ column: ColumnID, inRange: Range<Int>, outOfRange all: Int) {
        guard let counts else { return }
        counts.blocksInRange += inRange.count
        counts.blocksOutOfRange += all - inRange.count
        columns[column] = Column(
            first: inRange.lowerBound, isCounted: BitVector(count: inRange.count))
    }

    mutating func decode(_ column: ColumnID, _ block: Int, _ directory: FieldDirectory) {
        guard let counts, isFirst(column, block) else { return }
        counts.blocksDecoded += 1
        counts.storedBytes += directory.sizeBytes(block)
    }

    mutating func summarize(_ column: ColumnID, _ block: Int) {
        guard let counts, isFirst(column, block) else { return }
        counts.blocksSummarized += 1
    }

    /// Blocks that were neither decoded nor summarized were of no use.
    mutating func end() {
        guard let counts, !isEnded else { return }
        isEnded = true
        for column in columns.values {
            counts.blocksExcluded += column.isCounted.count - column.isCounted.oneCount
        }
    }

    private mutating func isFirst(_ column: ColumnID, _ block: Int) -> Bool {
        func claim(_ known: inout Column?) -> Bool {
            guard let place = known.map({ block - $0.first }), place >= 0,
                known?.isCounted.count ?? 0 > place, known?.isCounted[place] == false
            else { return false }
            known?.isCounted[place] = true
            return true
        }
        return claim(&columns[column])
    }
}
