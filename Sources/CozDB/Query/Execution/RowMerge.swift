// SELECT without aggregates: rows of one series are passed on; rows of several are merged by time.

extension Executor {
    /// Writes the rows of a group if they are one batch; otherwise returns the steps that write
    /// them, one batch each.
    func rawRows(
        _ plan: SelectPlan, _ group: InputGroup, _ output: any SeriesOutput
    ) throws(DatabaseError) -> GroupRows {
        var writer = RowWriter(plan, group.key, output)
        if let windows = WindowedRows(plan, group.inputs, writer.rowsWanted, context) {
            return .steps(Executor.steps(windows, writer))
        }
        var merge = RowMerge(
            plan, group.inputs, in: plan.range, rowsWanted: writer.rowsWanted, context: context)
        var batch = RowBatch()
        if try merge.next(into: &batch) {
            try writer.write(times: batch.times, batch.references)
        }
        guard merge.isAtEnd || writer.isFull else { return .steps(Executor.steps(merge, writer)) }
        try writer.finish()
        return .written
    }

    private static func steps(_ rows: WindowedRows, _ rowWriter: RowWriter) -> GroupSteps {
        var (windows, writer) = (rows, rowWriter)
        return { () throws(DatabaseError) in
            guard !writer.isFull, let (times, references) = try windows.next() else {
                try writer.finish()
                return false
            }
            try writer.write(times: times, references)
            return true
        }
    }

    private static func steps(_ rows: RowMerge, _ rowWriter: RowWriter) -> GroupSteps {
        var (merge, writer) = (rows, rowWriter)
        var batch = RowBatch()
        return { () throws(DatabaseError) in
            guard !writer.isFull, try merge.next(into: &batch) else {
                try writer.finish()
                return false
            }
            try writer.write(times: batch.times, batch.references)
            return true
        }
    }
}

/// A merge of the rows of several series by time; equal times are ordered by series.
struct RowMerge {
    /// A series with an open reader; released at its end.
    private final class OpenSeries {
        var reader: RowBatchReader
        let columnsSizeBytes: Int
        var batch = RowBatch()
        var row = 0

        init(_ reader: consuming RowBatchReader) {
            columnsSizeBytes = reader.columnsSizeBytes
            self.reader = reader
        }
    }

    private let plan: SelectPlan
    private let inputs: [InputSeries]
    private let range: TimeRange
    private let context: ExecutionContext
    /// The open reader of each series.
    private var open: [OpenSeries?]
    /// The series by the time of their next row; before a series is opened, by a bound that no row
    /// precedes. In descending order, times and indexes are inverted.
    private var heap = IndexHeap()
    /// The rows of a merged batch, and of the batch of an open series.
    private let batchRows: Int
    private let openRows: Int
    /// The memory of the batches of open series.
    private let share: MemoryReservation
    private var sizeBytes = 0
    /// What is reserved: more than needed, so that few series reserve once.
    private var reservedBytes = 0
    private let reservedMore: Int

    init(
        _ plan: SelectPlan, _ inputs: [InputSeries], in range: TimeRange, rowsWanted: Int,
        context: ExecutionContext
    ) {
        self.plan = plan
        self.inputs = inputs
        self.range = range
        self.context = context
        // Rows of several series are collected with all their columns.
        let columnCount = inputs.count == 1 ? 1 : max(plan.references.count, plan.columns.count)
        // Each open series has a batch: all together take a quarter of the memory at most.
        let cellCountMax = context.memory.sizeBytesMax / (4 * VectorBuilder.rowSizeBytes)
        let fitting = cellCountMax / max(1, columnCount * inputs.count)
        batchRows = min(
            RowBatchReader.rowCountMax(columnCount: columnCount), max(rowsWanted, 1))
        openRows = inputs.count == 1 ? batchRows : min(batchRows, max(1, fitting))
        share = MemoryReservation(context.memory)
        reservedMore = min(1 << 16, context.memory.sizeBytesMax / 16)
        open = .filled(with: nil, count: inputs.count)
        for (index, input) in inputs.enumerated() {
            push(index, input.nearestTime(range, ascending: plan.isAscending))
        }
    }

    private mutating func push(_ index: Int, _ time: Int64) {
        heap.push(plan.isAscending ? index : ~index, plan.isAscending ? time : ~time)
    }

    /// Whether no row is left; false also for series that turn out to have no more rows.
    var isAtEnd: Bool { heap.isEmpty }

    mutating func next(into batch: inout RowBatch) throws(DatabaseError) -> Bool {
        guard let first = try openFirst() else { return false }
        if heap.count == 1 {
            // Batches of the last remaining series pass through unchanged.
            let head = first.series
            batch = head.row == 0 ? head.batch : RowMerge.rest(head.batch, from: head.row)
            try refill(first.index, head)
            return true
        }
        var times: [Int64] = []
        var builders = plan.references.map { VectorBuilder(type: $0.type) }
        var textSizeBytes = 0
        while times.count < batchRows, textSizeBytes < StringSizes.batchSizeBytesMax,
            let (top, head) = try openFirst()
        {
            let columns = head.batch.references
            for (index, vector) in columns.present {
                let before = vector.type == .string ? builders[index].textSizeBytes : 0
                builders[index].appendNulls(upTo: times.count)
                builders[index].append(vector, row: head.row)
                guard vector.type == .string else { continue }
                textSizeBytes += builders[index].textSizeBytes - before
            }
            times.append(head.batch.times[head.row])
            head.row += 1
            if head.row == head.batch.count {
                try refill(top, head)
            } else {
                heap.removeFirst()
                push(top, head.batch.times[head.row])
            }
        }
        batch = RowBatch(times: times)
        for index in builders.indices where builders[index].sizeBytes > 0 {
            builders[index].appendNulls(upTo: times.count)
            batch.references[index] = builders[index].finished()
        }
        return true
    }

    /// Returns the series with the next row. Series are opened only here, so of a million series
    /// with one row each, only one is open at a time.
    private mutating func openFirst() throws(DatabaseError) -> (index: Int, series: OpenSeries)? {
        while let first = heap.first {
            let index = plan.isAscending ? first.index : ~first.index
            if let series = open[index] { return (index, series) }
            let series = OpenSeries(
                RowBatchReader(
                    plan, inputs[index], driving: plan.auxiliary, in: range,
                    descending: !plan.isAscending, batchRows: openRows, context: context))
            try refill(index, series)
        }
        return nil
    }

    /// Reads the next batch of the first series in the heap.
    private mutating func refill(_ index: Int, _ series: OpenSeries) throws(DatabaseError) {
        series.row = 0
        heap.removeFirst()
        if open[index] != nil { sizeBytes -= RowMerge.sizeBytes(series) }
        let hasRows = try series.reader.next(into: &series.batch)
        if hasRows { sizeBytes += RowMerge.sizeBytes(series) }
        if inputs.count > 1, sizeBytes > reservedBytes {
            reservedBytes = sizeBytes + reservedMore
            try share.resize(to: reservedBytes)
        }
        open[index] = hasRows ? series : nil
        if hasRows { push(index, series.batch.times[0]) }
    }

    private static func sizeBytes(_ series: OpenSeries) -> Int {
        let batch = series.batch
        let columnCount = batch.references.references.count
        return series.columnsSizeBytes
            + batch.count * (8 + VectorBuilder.rowSizeBytes * columnCount)
    }

    private static func rest(_ batch: RowBatch, from row: Int) -> RowBatch {
        batch.filtered(Array(row..<batch.count))
    }
}
