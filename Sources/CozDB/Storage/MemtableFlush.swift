// Writes the rows of one memtable table to a segment: rows of one time become one row, values are
// scattered to their columns by counting, the later of two for one cell wins.

/// Reused buffers and counters of one flush.
struct MemtableFlush {
    private(set) var counters = WriteCounters()
    /// What is to be said of rows that points with different attributes met in.
    private(set) var merges = TagSetMerges()

    private let view: MemtableView
    private let schema: ExperimentSchema
    /// Times of the rows of a slab, each once.
    private var times: [Int64] = []
    /// For each stored row of the slab: its place in `times`.
    private var places: [UInt32] = []
    /// Rows of the slab, ascending, that points with different attributes met in.
    private var mergedPlaces: [UInt32] = []
    /// Pairs of attribute sets that were compared already.
    private var knownPairs: Set<UInt64> = []
    /// Per column: where its cells begin in the scattered arrays, and where the next one goes.
    private var starts: [Int] = []
    private var next: [Int] = []
    private var cellRows: [UInt32] = []
    private var cellBits: [UInt64] = []

    /// Stored rows that are taken together; more only where they have one time.
    private static let slabRowCount = 65_536

    init(_ view: MemtableView, schema: ExperimentSchema) {
        self.view = view
        self.schema = schema
    }

    mutating func write(to writer: SegmentWriter) throws(FileError) {
        let order = view.order()
        for place in order.series.indices {
            let rows = order.range(place)
            guard !rows.isEmpty else { continue }
            try writer.beginSeries(view.keys.copy(Int(order.series[place])))
            var start = rows.lowerBound
            while start < rows.upperBound {
                var end = min(start + MemtableFlush.slabRowCount, rows.upperBound)
                while end < rows.upperBound, time(order, end) == time(order, end - 1) { end += 1 }
                try writeSlab(order, start..<end, to: writer)
                start = end
            }
        }
    }

    private func time(_ order: MemtableOrder, _ place: Int) -> Int64 {
        view.rows[Int(order.rows[place])].time
    }

    private mutating func writeSlab(
        _ order: MemtableOrder, _ slab: Range<Int>, to writer: SegmentWriter
    ) throws(FileError) {
        count(order, slab)
        scatter(order, slab)
        try writer.addRows(times)
        for column in schema.columns where next[column.id] > starts[column.id] {
            let range = starts[column.id]..<next[column.id]
            try writer.addValues(
                column, rows: cellRows.span.extracting(range),
                bits: cellBits.span.extracting(range), strings: .arena(view.strings))
        }
    }

    /// Numbers the rows by time and counts the cells of each column.
    private mutating func count(_ order: MemtableOrder, _ slab: Range<Int>) {
        times.removeAll(keepingCapacity: true)
        places.removeAll(keepingCapacity: true)
        mergedPlaces.removeAll(keepingCapacity: true)
        var counts = [Int](repeating: 0, count: schema.columns.count + 1)
        var lastAttributes: UInt32 = 0
        for place in slab {
            let row = view.rows[Int(order.rows[place])]
            if times.last != row.time {
                times.append(row.time)
            } else if row.attributes != lastAttributes {
                noteMerge(lastAttributes, row)
            }
            lastAttributes = row.attributes
            places.append(UInt32(truncatingIfNeeded: times.count - 1))
            for index in Int(row.cellStart)..<Int(row.cellEnd) {
                counts[Int(view.cellColumns[index])] += 1
            }
            view.forEachAttribute(row.attributes) { column, _ in counts[Int(column)] += 1 }
        }
        starts.removeAll(keepingCapacity: true)
        var total = 0
        for count in counts {
            starts.append(total)
            total += count
        }
        next = starts
        if cellRows.count < total {
            cellRows = [UInt32](repeating: 0, count: total)
            cellBits = [UInt64](repeating: 0, count: total)
        }
    }

    /// Counts a row once, however many points with different attributes meet in it.
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
        var values: [UInt32: (earlier: UInt32?, later: UInt32?)] = [:]
        view.forEachAttribute(earlier) { values[$0, default: (nil, nil)].earlier = $1 }
        view.forEachAttribute(later) { values[$0, default: (nil, nil)].later = $1 }
        func text(_ string: UInt32?) -> String? {
            string.map { String(decoding: view.strings.copy(Int($0)), as: UTF8.self) }
        }
        return values.filter { $0.value.earlier != $0.value.later }
            .map {
                TagSetMerges.TagDifference(
                    name: schema.columns[Int($0.key)].name, earlier: text($0.value.earlier),
                    later: text($0.value.later))
            }
            .sorted { Name($0.name) < Name($1.name) }
    }

    /// Puts each column's cells one after the other, by ascending row.
    private mutating func scatter(_ order: MemtableOrder, _ slab: Range<Int>) {
        var merged = 0
        for (offset, place) in slab.enumerated() {
            let row = view.rows[Int(order.rows[place])]
            let target = places[offset]
            while merged < mergedPlaces.count, mergedPlaces[merged] < target { merged += 1 }
            let isMerged = merged < mergedPlaces.count && mergedPlaces[merged] == target
            let replacedBefore = counters.replacedValues
            for index in Int(row.cellStart)..<Int(row.cellEnd) {
                let column = Int(view.cellColumns[index])
                put(view.cellBits[index], column: column, row: target, counts: true)
            }
            view.forEachAttribute(row.attributes) { column, string in
                put(UInt64(string), column: Int(column), row: target, counts: false)
            }
            if isMerged { merges.replacedValues += counters.replacedValues - replacedBefore }
        }
    }

    private mutating func put(_ bits: UInt64, column: Int, row: UInt32, counts: Bool) {
        let index = next[column]
        if index > starts[column], cellRows[index - 1] == row {
            if counts {
                if cellBits[index - 1] == bits {
                    counters.identicalValues += 1
                } else {
                    counters.replacedValues += 1
                }
            }
            cellBits[index - 1] = bits
            return
        }
        cellRows[index] = row
        cellBits[index] = bits
        next[column] = index + 1
        if counts { counters.insertedValues += 1 }
    }
}
