// Writes the rows of one memtable table to a segment. Rows of one time become one row, a counting
// sort groups the values by column, and the later of two values for one cell wins.

/// The flush of one memtable table: its counters and its buffers, which chunks reuse.
struct MemtableFlush {
    private(set) var counters = WriteCounters()
    /// Rows that unite points with different attributes.
    private(set) var merges = TagSetMerges()
    /// Column chunks written so far; for tests of their growth.
    private(set) var stepCount = 0

    private let view: MemtableView
    private let schema: ExperimentSchema
    /// The distinct times of the current chunk.
    private var times: [Int64] = []
    /// For each stored row of the chunk: its index in `times`.
    private var places: [UInt32] = []
    /// Rows of the chunk that unite points with different attributes, ascending.
    private var mergedPlaces: [UInt32] = []
    /// Pairs of attribute sets that were already compared.
    private var knownPairs: Set<UInt64> = []
    /// The columns of each layout and of each attribute set.
    private let layouts: MemtableLists
    private let attributes: MemtableLists
    private var cells = ScatteredCells()
    /// Counts of rows per layout and per attribute set, and of cells per column. All are 0 between
    /// two chunks, so a chunk pays only for what it uses.
    private var layoutCounts: [Int]
    private var attributeCounts: [Int]
    private var columnCounts: [Int]

    /// Most stored rows in a chunk, unless more of them have the same time.
    private static let chunkRowCount = 65_536

    init(_ view: MemtableView, schema: ExperimentSchema) {
        self.view = view
        self.schema = schema
        (layouts, attributes) = view.lists()
        layoutCounts = [Int](repeating: 0, count: layouts.ends.count)
        attributeCounts = [Int](repeating: 0, count: attributes.ends.count)
        columnCounts = [Int](repeating: 0, count: schema.columnCount)
    }

    mutating func write(to writer: SegmentWriter) throws(DatabaseError) {
        let order = view.order()
        for place in order.series.indices {
            let rows = order.range(place)
            guard !rows.isEmpty else { continue }
            try writer.beginSeries(view.keys.copy(Int(order.series[place])))
            var start = rows.lowerBound
            while start < rows.upperBound {
                let end = chunkEnd(order, start..<rows.upperBound)
                try writeChunk(order, start..<end, to: writer)
                start = end
            }
        }
    }

    /// Where the chunk ends that begins with the first of these rows.
    private func chunkEnd(_ order: MemtableOrder, _ rows: Range<Int>) -> Int {
        let most = min(rows.lowerBound + MemtableFlush.chunkRowCount, rows.upperBound)
        var end = rows.lowerBound
        var left = SegmentFormat.chunkCellCountMax
        while end < most, end == rows.lowerBound || left > 0 {
            let row = view.rows[Int(order.rows[end])]
            left -= layouts.range(row.layout).count + attributes.range(row.attributes).count
            end += 1
        }
        while end < rows.upperBound, view.time(at: end) == view.time(at: end - 1) { end += 1 }
        return end
    }

    private mutating func writeChunk(
        _ order: MemtableOrder, _ chunk: Range<Int>, to writer: SegmentWriter
    ) throws(DatabaseError) {
        number(order, chunk)
        scatter(order, chunk)
        try writer.addRows(times)
        stepCount += cells.columns.count
        for id in cells.columns {
            let range = cells.range(id)
            try writer.addValues(
                schema.column(id), rows: Array(cells.rows[range]), bits: Array(cells.bits[range]),
                strings: .arena(view.strings))
        }
    }

    /// Numbers the rows by time and counts the cells of each column.
    private mutating func number(_ order: MemtableOrder, _ chunk: Range<Int>) {
        times.removeAll(keepingCapacity: true)
        places.removeAll(keepingCapacity: true)
        mergedPlaces.removeAll(keepingCapacity: true)
        var usedLayouts: [UInt32] = []
        var usedAttributes: [UInt32] = []
        var lastAttributes: UInt32 = 0
        for place in chunk {
            let row = view.rows[Int(order.rows[place])]
            if times.last != row.time {
                times.append(row.time)
            } else if row.attributes != lastAttributes {
                noteMerge(lastAttributes, row)
            }
            lastAttributes = row.attributes
            places.append(UInt32(truncatingIfNeeded: times.count - 1))
            if layoutCounts[Int(row.layout)] == 0 { usedLayouts.append(row.layout) }
            layoutCounts[Int(row.layout)] += 1
            if attributeCounts[Int(row.attributes)] == 0 { usedAttributes.append(row.attributes) }
            attributeCounts[Int(row.attributes)] += 1
        }
        var columns: [ColumnID] = []
        layouts.move(&layoutCounts, of: usedLayouts, to: &columnCounts, &columns)
        attributes.move(&attributeCounts, of: usedAttributes, to: &columnCounts, &columns)
        columns.sort()
        cells.begin(&columnCounts, columns, rowCount: times.count)
    }

    /// Counts a row once, however many points with different attributes it unites.
    private mutating func noteMerge(_ earlier: UInt32, _ later: MemtableTable.Row) {
        let place = UInt32(truncatingIfNeeded: times.count - 1)
        if mergedPlaces.last != place {
            mergedPlaces.append(place)
            counters.mergedRows += 1
            merges.rows += 1
        }
        let pair = UInt64(earlier) << 32 | UInt64(later.attributes)
        guard knownPairs.insert(pair).inserted else { return }
        let differences = differences(earlier, later.attributes)
        merges.note(differences)
        if merges.example == nil {
            merges.example = TagSetMerges.Example(
                experiment: schema.name,
                key: SeriesKey(canonical: view.keys.copy(Int(later.series))),
                time: Timestamp(nanoseconds: later.time), tags: differences)
        }
    }

    private func differences(
        _ earlier: UInt32, _ later: UInt32
    ) -> [TagSetMerges.TagDifference] {
        var values: [UInt32: (earlier: UInt64?, later: UInt64?)] = [:]
        for index in attributes.range(earlier) {
            values[attributes.columns[index], default: (nil, nil)].earlier = attributes.words[index]
        }
        for index in attributes.range(later) {
            values[attributes.columns[index], default: (nil, nil)].later = attributes.words[index]
        }
        let strings = StringSource.arena(view.strings)
        func text(_ word: UInt64?) -> String? {
            word.map { strings.withBytes($0) { String(validating: $0) ?? "" } }
        }
        return values.filter { $0.value.earlier != $0.value.later }
            .map {
                TagSetMerges.TagDifference(
                    name: schema.column(Int($0.key)).name, earlier: text($0.value.earlier),
                    later: text($0.value.later))
            }
            .sorted { Name($0.name) < Name($1.name) }
    }

    /// Groups the cells by column, in the order of rows.
    private mutating func scatter(_ order: MemtableOrder, _ chunk: Range<Int>) {
        var merged = 0
        let replaced = cells.scatter(
            view.cells, chunk, places, layouts, attributes, row: { view.rows[Int(order.rows[$0])] }
        ) { target, replacedValues in
            while merged < mergedPlaces.count, mergedPlaces[merged] < target { merged += 1 }
            if merged < mergedPlaces.count, mergedPlaces[merged] == target {
                merges.replacedValues += replacedValues
            }
        }
        counters.add(replaced)
    }
}

extension MemtableLists {
    /// Adds the counts of lists to the columns of these lists, and sets the list counts to 0.
    ///
    /// - Parameter used: the columns with counts; new ones are appended.
    fileprivate func move(
        _ listCounts: inout [Int], of lists: [UInt32], to counts: inout [Int],
        _ used: inout [ColumnID]
    ) {
        for list in lists {
            let count = listCounts[Int(list)]
            listCounts[Int(list)] = 0
            for index in range(list) {
                let column = Int(columns[index])
                if counts[column] == 0 { used.append(column) }
                counts[column] += count
            }
        }
    }
}

/// The cells of a chunk by column: a counting sort in which the later of two values of a row wins.
private struct ScatteredCells {
    private(set) var rows: [UInt32] = []
    private(set) var bits: [UInt64] = []
    /// The columns with cells, ascending.
    private(set) var columns: [ColumnID] = []
    /// For each column: where its cells begin, and where the next one goes.
    private var starts: [Int] = []
    private var next: [Int] = []

    /// Starts a new chunk with room for the cells of some columns.
    ///
    /// - Parameters:
    ///   - counts: the cells of each column; those of the given columns are set to 0.
    ///   - rowCount: the number of rows, which limits the cells of a column.
    mutating func begin(_ counts: inout [Int], _ columns: [ColumnID], rowCount: Int) {
        self.columns = columns
        while starts.count < counts.count {
            starts.append(0)
            next.append(0)
        }
        var total = 0
        for column in columns {
            starts[column] = total
            next[column] = total
            total += min(counts[column], rowCount)
            counts[column] = 0
        }
        if rows.count < total {
            rows = [UInt32](repeating: 0, count: total)
            bits = [UInt64](repeating: 0, count: total)
        }
    }

    func range(_ column: ColumnID) -> Range<Int> { starts[column]..<next[column] }

    /// Copies the values and attributes of stored rows to their columns, in the given order.
    ///
    /// - Parameters:
    ///   - places: for each stored row, its row in the chunk, ascending.
    ///   - replacedIn: called with a row and the number of its replaced values.
    mutating func scatter(
        _ values: ChunkedArray<UInt64>.View, _ chunk: Range<Int>, _ places: [UInt32],
        _ layouts: MemtableLists, _ attributes: MemtableLists,
        row rowAt: (Int) -> MemtableTable.Row, replacedIn: (UInt32, Int) -> Void
    ) -> WriteCounters {
        // Moved out of self and written through spans, because the uniqueness check of an array
        // costs more than the write.
        var (rows, bits, next) = ([UInt32](), [UInt64](), [Int]())
        swap(&rows, &self.rows)
        swap(&bits, &self.bits)
        swap(&next, &self.next)
        var target = ScatterTarget(
            rows: rows.mutableSpan, bits: bits.mutableSpan, next: next.mutableSpan)
        for offset in places.indices {
            let row = rowAt(chunk.lowerBound + offset)
            let before = target.replacedCount
            let list = layouts.range(row.layout)
            for index in list {
                target.put(
                    values[Int(row.cellStart) + index - list.lowerBound],
                    Int(layouts.columns[index]), places[offset], starts, counts: true)
            }
            for index in attributes.range(row.attributes) {
                target.put(
                    attributes.words[index], Int(attributes.columns[index]), places[offset],
                    starts, counts: false)
            }
            if target.replacedCount > before {
                replacedIn(places[offset], target.replacedCount - before)
            }
        }
        var counters = WriteCounters()
        counters.insertedValues = target.insertedCount
        counters.replacedValues = target.replacedCount
        counters.identicalValues = target.identicalCount
        swap(&rows, &self.rows)
        swap(&bits, &self.bits)
        swap(&next, &self.next)
        return counters
    }
}

/// The buffers that a scatter writes to, and its counts.
private struct ScatterTarget: ~Copyable, ~Escapable {
    var rows: MutableSpan<UInt32>
    var bits: MutableSpan<UInt64>
    var next: MutableSpan<Int>
    var insertedCount = 0
    var replacedCount = 0
    var identicalCount = 0

    @_lifetime(copy rows, copy bits, copy next)
    init(
        rows: consuming MutableSpan<UInt32>, bits: consuming MutableSpan<UInt64>,
        next: consuming MutableSpan<Int>
    ) {
        self.rows = rows
        self.bits = bits
        self.next = next
    }

    /// - Parameter counts: whether the value is counted; false for attributes.
    @_lifetime(self: copy self)
    @inline(__always)
    mutating func put(
        _ word: UInt64, _ column: Int, _ row: UInt32, _ starts: [Int], counts: Bool
    ) {
        let index = next[column]
        if index > starts[column], rows[index &- 1] == row {
            if counts {
                if bits[index &- 1] == word { identicalCount += 1 } else { replacedCount += 1 }
            }
            bits[index &- 1] = word
            return
        }
        rows[index] = row
        bits[index] = word
        next[column] = index &+ 1
        if counts { insertedCount += 1 }
    }
}
