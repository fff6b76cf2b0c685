// Merges segments of one experiment into one. Rows are matched once, by their times. Values then
// move by row number, so that no time is read or compared per value.
//
// Memory: one chunk of rows of one series, and the decoded blocks that readers keep, for any size
// of input and any length of strings. The inputs are not changed.

/// One merge of adjacent segments, oldest first.
struct SegmentMerge {
    private let view: ExperimentView
    private let segments: [SegmentReader]
    private var pending: PendingColumns
    private let hasAttributes: Bool
    /// By input: the row before which decoded data is evicted.
    private var evictedRows: [Int]
    /// The rows in which points with different attributes met, to be reported.
    private(set) var merges = TagSetMerges()
    /// The corrections to the counters of the flushes.
    private(set) var counters = WriteCounters()
    /// Column chunks merged so far; for tests of their growth.
    private(set) var stepCount = 0

    /// The approximate number of rows of a chunk, over all inputs.
    private static let chunkRowCount = 65_536
    private static let chunkRowCountMin = 4096
    /// The approximate number of cells of a chunk of very wide rows.
    private static let chunkCellCountMax = 2 * SegmentFormat.chunkCellCountMax
    /// The approximate size of the strings of a chunk, over all inputs.
    static let stringSizeBytesMax = 64 << 20
    /// The size of all decoded blocks that readers keep for the next chunk: usually 12 KB each.
    private static let keptSizeBytesMax = 96 << 20

    init(_ segments: [SegmentReader], schema: ExperimentSchema) throws(DatabaseError) {
        self.segments = segments
        view = ExperimentView(schema: schema, sources: segments.map { .segment($0) })
        let columns = schema.columns.filter { column in
            segments.contains { $0.field(column.id) != nil }
        }
        let readerCount = max(1, columns.count * segments.count)
        let mergers = try columns.map { (column) throws(DatabaseError) in
            try ColumnMerger(
                column, of: segments, keptSizeBytesMax: SegmentMerge.keptSizeBytesMax / readerCount)
        }
        pending = PendingColumns(mergers, inputCount: segments.count)
        hasAttributes = schema.columns.contains { $0.kind == .attribute }
        evictedRows = segments.map { _ in 0 }
    }

    /// Writes every row. The newest value of each cell wins.
    mutating func write(to writer: SegmentWriter) throws(DatabaseError) {
        var cursor = try SeriesCursor(view.sources, range: .all, where: nil)
        while let series = try cursor.next() {
            try writer.beginSeries(series.key.bytes)
            var inputs = series.parts.map { MergeInput(source: $0.source, rows: $0.rows) }
            while let mergers = try takeChunk(&inputs) {
                try writeChunk(&inputs, mergers, of: series.key, to: writer)
                pending.giveBack()
                evict(inputs)
            }
        }
    }

    /// Evicts decoded data of merged rows, a few thousand rows at a time.
    private mutating func evict(_ inputs: [MergeInput]) {
        for input in inputs {
            let row = input.rows.lowerBound
            let done = row - evictedRows[input.source]
            guard done >= SegmentMerge.chunkRowCountMin else { continue }
            evictedRows[input.source] = row
            segments[input.source].cache.evict()
        }
    }

    /// Takes the next rows of every input, up to a time that all of them have reached.
    ///
    /// - Returns: the mergers with values in these rows; nil if there are no rows left.
    private mutating func takeChunk(
        _ inputs: inout [MergeInput]
    ) throws(DatabaseError) -> [ColumnMerger]? {
        var limit = Int64.max
        let mergers = chooseRows(&inputs)
        var strings: [StringSizes.Block] = []
        for index in inputs.indices {
            var sizes = StringSizes(
                rows: inputs[index].chunk, sizeBytesMax: SegmentMerge.stringSizeBytesMax)
            for merger in mergers { merger.add(to: &sizes, of: inputs[index]) }
            let (rows, chunk) = (inputs[index].rows, sizes.rows.lowerBound..<sizes.end())
            let times = try segments[inputs[index].source].ascendingTimes(rows: chunk)
            (inputs[index].chunk, inputs[index].times) = (chunk, times)
            if chunk.upperBound < rows.upperBound { limit = min(limit, times.last ?? limit) }
            for var block in sizes.blocks where block.place < chunk.upperBound {
                block.place = times[Int(block.place) - chunk.lowerBound]
                strings.append(block)
            }
        }
        let first = inputs.compactMap(\.times.first).min() ?? .max
        if let cut = StringSizes.cut(strings, after: first, SegmentMerge.stringSizeBytesMax) {
            limit = min(limit, cut - 1)
        }
        for index in inputs.indices {
            let count = inputs[index].times.partitioningIndex { $0 > limit }
            inputs[index].times.removeLast(inputs[index].times.count - count)
            let start = inputs[index].chunk.lowerBound
            inputs[index].chunk = start..<(start + count)
            inputs[index].rows = (start + count)..<inputs[index].rows.upperBound
        }
        if inputs.allSatisfy({ $0.times.isEmpty }) { return nil }
        return mergers.filter { merger in inputs.contains { merger.isDue(in: $0) } }
    }

    /// Chooses the rows of a chunk: fewer if they have very many values.
    ///
    /// - Returns: the mergers that may have values in these rows.
    private mutating func chooseRows(_ inputs: inout [MergeInput]) -> [ColumnMerger] {
        var countMax = max(
            SegmentMerge.chunkRowCountMin, SegmentMerge.chunkRowCount / max(1, segments.count))
        SegmentMerge.choose(countMax, of: &inputs)
        let mergers = pending.take(inputs)
        while true {
            let rowCount = inputs.reduce(0) { $0 + $1.chunk.count }
            let cellCountMax = SegmentMerge.chunkCellCountMax
            guard countMax > 1, rowCount * mergers.count > cellCountMax else { return mergers }
            let cellCount = mergers.reduce(0) { $0 + $1.valueCountMax(inputs) }
            if cellCount <= cellCountMax { return mergers }
            countMax = max(1, min(countMax, rowCount) / 2)
            SegmentMerge.choose(countMax, of: &inputs)
        }
    }

    /// Selects the next rows of each input, at most `countMax`.
    private static func choose(_ countMax: Int, of inputs: inout [MergeInput]) {
        for index in inputs.indices {
            let rows = inputs[index].rows
            let end = min(rows.upperBound, rows.lowerBound + countMax)
            inputs[index].chunk = rows.lowerBound..<end
        }
    }

    private mutating func writeChunk(
        _ inputs: inout [MergeInput], _ mergers: [ColumnMerger], of key: SeriesKey,
        to writer: SegmentWriter
    ) throws(DatabaseError) {
        let times = SegmentMerge.unite(&inputs)
        let rowCount = inputs.reduce(0) { $0 + $1.times.count }
        // Attributes may differ in rows that two inputs have.
        let watchesRows = hasAttributes && rowCount > times.count
        var statistics = MergeStatistics(rowCount: watchesRows ? times.count : 0)
        try writer.addRows(times)
        stepCount += mergers.count
        let chunkInputs = inputs
        ColumnMerger.run(mergers, rowCount: rowCount) { merger in
            merger.merge(chunkInputs, rowCount: times.count, watchesRows: watchesRows)
        }
        for merger in mergers {
            let merged = try merger.take()
            statistics.add(merger.column, merged.statistics)
            let values = merged.values
            try writer.addValues(
                merger.column, rows: values.rows, bits: values.bits,
                strings: .table(values.strings), wholeBlocks: values.wholeBlocks)
        }
        merges.add(statistics.found(times, key, experiment: view.schema.name))
        counters.add(statistics.counters)
    }

    /// Merges the times of all inputs, each time once, and sets each input's places. Empty places
    /// mean that rows stay in place.
    private static func unite(_ inputs: inout [MergeInput]) -> [Int64] {
        let filled = inputs.indices.filter { !inputs[$0].times.isEmpty }
        if filled.count == 1 {
            inputs[filled[0]].places = []
            return inputs[filled[0]].times
        }
        for index in filled { inputs[index].places.removeAll(keepingCapacity: true) }
        var next = [Int](repeating: 0, count: inputs.count)
        var heads = inputs.map { $0.times.first ?? .max }
        var left = inputs.reduce(0) { $0 + $1.times.count }
        var times: [Int64] = []
        times.reserveCapacity(left)
        while left > 0 {
            let least = heads.min() ?? .max
            // Usually one input has a run of rows, which ends where another input continues.
            var limit = Int64.max
            var isShared = false
            var owner = -1
            for index in filled where next[index] < inputs[index].times.count {
                if heads[index] > least {
                    limit = min(limit, heads[index])
                } else {
                    isShared = owner >= 0
                    owner = index
                    if isShared { break }
                }
            }
            let before = times.count
            for index in filled where isShared || index == owner {
                guard next[index] < inputs[index].times.count, heads[index] == least else {
                    continue
                }
                let end = isShared ? next[index] + 1 : inputs[index].runEnd(next[index], limit)
                left -= end - next[index]
                inputs[index].place(next[index]..<end, at: before, in: &times)
                next[index] = end
                heads[index] = end < inputs[index].times.count ? inputs[index].times[end] : .max
            }
        }
        return times
    }
}
