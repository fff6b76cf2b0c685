// Merges segments of one experiment into one. Rows are matched once, by their times; values then
// move by row number, so that no time is read or compared per value.
//
// Memory: one slab of rows of one series and one decoded block per column and input, whatever the
// sizes. The inputs stay untouched; the manifest names the output afterwards.

/// One merge of adjacent segments, oldest first.
struct SegmentMerge {
    private let view: ExperimentView
    private let segments: [SegmentReader]
    /// One reader per input and column; a reader keeps the block it decoded last.
    private var readers: [[SegmentColumnReader?]]
    /// What is to be said of rows that points with different attributes met in.
    private(set) var merges = TagSetMerges()
    /// What the counters of the flushes have to be corrected by.
    private(set) var counters = WriteCounters()

    /// Rows that one input gives to a slab.
    private static let slabRowCount = 65_536

    /// One input's share of a series.
    private struct Input {
        var source: Int
        /// Rows that are not written yet.
        var rows: Range<Int>
        /// Rows of the slab, their times, and where they went in the merged slab.
        var slab: Range<Int> = 0..<0
        var times: [Int64] = []
        var places: [UInt32] = []
    }

    init(_ segments: [SegmentReader], schema: ExperimentSchema) throws(DatabaseError) {
        self.segments = segments
        view = ExperimentView(schema: schema, sources: segments.map { .segment($0) })
        readers = []
        for segment in segments {
            var columns = [SegmentColumnReader?](repeating: nil, count: schema.columns.count)
            for column in schema.columns {
                guard let field = segment.field(column.id) else { continue }
                columns[column.id] = SegmentColumnReader(
                    segment, field: field, directory: try segment.directory(field))
            }
            readers.append(columns)
        }
    }

    /// Writes every row, each cell with its newest value.
    mutating func write(
        to writer: SegmentWriter, isCancelled: () -> Bool
    ) throws(DatabaseError) {
        var cursor = try SeriesCursor(view.sources, range: .all, where: nil)
        while let series = try cursor.next() {
            if isCancelled() { throw DatabaseError(.cancelled, "the merge was cancelled") }
            try calling("writing a segment") { () throws(FileError) in
                try writer.beginSeries(series.key.bytes)
            }
            var inputs = series.parts.map { Input(source: $0.source, rows: $0.rows) }
            while try takeSlab(&inputs) { try writeSlab(&inputs, of: series.key, to: writer) }
        }
    }

    /// Takes the next rows of every input, up to a time that all of them have reached.
    private func takeSlab(_ inputs: inout [Input]) throws(DatabaseError) -> Bool {
        var limit = Int64.max
        for index in inputs.indices {
            let rows = inputs[index].rows
            let end = min(rows.upperBound, rows.lowerBound + SegmentMerge.slabRowCount)
            inputs[index].slab = rows.lowerBound..<end
            inputs[index].times = try segments[inputs[index].source].times(
                rows: inputs[index].slab)
            if end < rows.upperBound, let last = inputs[index].times.last {
                limit = min(limit, last)
            }
        }
        var isEmpty = true
        for index in inputs.indices {
            let count = inputs[index].times.partitioningIndex { $0 > limit }
            inputs[index].times.removeLast(inputs[index].times.count - count)
            let start = inputs[index].slab.lowerBound
            inputs[index].slab = start..<(start + count)
            inputs[index].rows = (start + count)..<inputs[index].rows.upperBound
            if count > 0 { isEmpty = false }
        }
        return !isEmpty
    }

    private mutating func writeSlab(
        _ inputs: inout [Input], of key: SeriesKey, to writer: SegmentWriter
    ) throws(DatabaseError) {
        let times = SegmentMerge.unite(&inputs)
        let rowCount = inputs.reduce(0) { $0 + $1.times.count }
        var meetings = RowMeetings(isNeeded: rowCount > times.count, view.schema, times.count)
        try calling("writing a segment") { () throws(FileError) in try writer.addRows(times) }
        var merged = RowValues()
        var newer = RowValues()
        for column in view.schema.columns {
            merged.removeAll()
            for input in inputs where !input.slab.isEmpty {
                guard readers[input.source][column.id] != nil else { continue }
                newer.removeAll()
                try readers[input.source][column.id]!.append(rows: input.slab, to: &newer)
                guard !newer.rows.isEmpty else { continue }
                newer.cast(from: readers[input.source][column.id]!.storedType, to: column.type)
                if !input.places.isEmpty {
                    for index in newer.rows.indices {
                        newer.rows[index] = input.places[Int(newer.rows[index])]
                    }
                }
                if merged.rows.isEmpty {
                    swap(&merged, &newer)
                } else {
                    meetings.compare(column, merged, newer)
                    merged.merge(newer)
                }
            }
            guard !merged.rows.isEmpty else { continue }
            let strings: StringSource = column.type == .string ? .table(merged.strings) : .none
            try calling("writing a segment") { () throws(FileError) in
                try writer.addValues(
                    column, rows: merged.rows.span, bits: merged.bits.span, strings: strings)
            }
        }
        merges.add(meetings.found(times, key))
        counters.add(meetings.counters)
    }

    /// The times of all inputs, each once; each input learns where its rows went. No places mean
    /// that rows stay where they are.
    private static func unite(_ inputs: inout [Input]) -> [Int64] {
        let filled = inputs.indices.filter { !inputs[$0].times.isEmpty }
        if filled.count == 1 {
            inputs[filled[0]].places = []
            return inputs[filled[0]].times
        }
        var next = [Int](repeating: 0, count: inputs.count)
        for index in filled { inputs[index].places.removeAll(keepingCapacity: true) }
        var times: [Int64] = []
        while true {
            var least = Int64.max
            var isAtEnd = true
            for index in filled where next[index] < inputs[index].times.count {
                least = min(least, inputs[index].times[next[index]])
                isAtEnd = false
            }
            if isAtEnd { return times }
            for index in filled
            where next[index] < inputs[index].times.count
                && inputs[index].times[next[index]] == least
            {
                inputs[index].places.append(UInt32(truncatingIfNeeded: times.count))
                next[index] += 1
            }
            times.append(least)
        }
    }
}

extension RowValues {
    /// Adds newer values, which win where both have one.
    fileprivate mutating func merge(_ newer: RowValues) {
        var offset: UInt64 = 0
        if newer.strings !== strings, newer.strings.count > 0 {
            offset = UInt64(strings.count)
            strings = StringTable(strings, newer.strings)
        }
        var left = 0
        var right = 0
        var mergedRows: [UInt32] = []
        var mergedBits: [UInt64] = []
        mergedRows.reserveCapacity(rows.count + newer.rows.count)
        mergedBits.reserveCapacity(rows.count + newer.rows.count)
        while left < rows.count || right < newer.rows.count {
            if right == newer.rows.count || left < rows.count && rows[left] < newer.rows[right] {
                mergedRows.append(rows[left])
                mergedBits.append(bits[left])
                left += 1
            } else {
                if left < rows.count, rows[left] == newer.rows[right] { left += 1 }
                mergedRows.append(newer.rows[right])
                mergedBits.append(
                    offset == 0 ? newer.bits[right] : ISOTime.moved(newer.bits[right], by: offset))
                right += 1
            }
        }
        rows = mergedRows
        bits = mergedBits
    }

    /// Values as the type that the schema has now.
    fileprivate mutating func cast(from stored: FieldType, to type: FieldType) {
        guard stored != type else { return }
        let slice = ColumnSlice(
            type: stored, times: rows.map { Int64($0) }, bits: bits, strings: strings
        ).cast(to: type)
        bits = slice.bits
        strings = slice.strings
    }
}
