// Reads rows of many series or columns by time in bounded memory. A merge would need a batch of
// every column of every series at once. Instead, time is split into windows whose rows fit in
// memory. The rows of a window are read series by series and then sorted. Batches that extend into
// several windows are decoded for each.

struct WindowedRows {
    /// The number of columns over all series from which a merge takes more memory than a window.
    private static let columnCountMin = 2048
    /// The maximum number of values in a window: about 72 MB.
    private static let cellCountMax = 8_000_000
    private static let batchRows = 4096

    private let plan: SelectPlan
    private let inputs: [InputSeries]
    private let context: ExecutionContext
    private let rowCountMax: Int

    /// Creates a reader; nil if a merge is better or a series is not stored.
    init?(
        _ plan: SelectPlan, _ inputs: [InputSeries], _ rowsWanted: Int, _ context: ExecutionContext
    ) {
        guard inputs.count > 1,
            inputs.count * max(1, plan.references.count) >= WindowedRows.columnCountMin
        else { return nil }
        for input in inputs {
            guard case .stored = input.origin else { return nil }
        }
        self.plan = plan
        self.inputs = inputs
        self.context = context
        // Reserve memory for a window, its batch and derived columns.
        let cellCountMax = min(WindowedRows.cellCountMax, context.memory.sizeBytesMax / 36)
        let most = cellCountMax / (plan.references.count + 1)
        rowCountMax = max(1, min(most, max(WindowedRows.batchRows, rowsWanted)))
    }

    /// - Parameter body: receives rows; returns false to stop.
    func run(
        _ body: (_ times: [Int64], _ references: RowColumns) throws(DatabaseError) -> Bool
    ) throws(DatabaseError) {
        var rest = extent
        var width = Int64(clamping: UInt64(bitPattern: rest.upper &- rest.lower))
        while !rest.isEmpty {
            var window = self.window(rest, width)
            var count = try rowCount(window)
            while count > rowCountMax, width > 1 {
                let share = 0.8 * Double(rowCountMax) / Double(count)
                width = max(1, Int64(Double(width) * share))
                window = self.window(rest, width)
                count = try rowCount(window)
            }
            if count > 0, try !read(window, count, body) { return }
            if plan.isAscending { rest.lower = window.upper } else { rest.upper = window.lower }
            // The window may grow by as much as this one was below the limit.
            let growth = count == 0 ? 4 : min(4, 0.9 * Double(rowCountMax) / Double(count))
            let grown = Double(width) * max(1, growth)
            width = grown < 9e18 ? Int64(grown) : .max
        }
    }

    /// The time range from the first to the last row.
    private var extent: TimeRange {
        var first = Int64.max
        var last = Int64.min
        for input in inputs {
            guard case .stored(_, let series) = input.origin else { continue }
            first = min(first, series.firstTime)
            last = max(last, series.lastTime)
        }
        guard first <= last else { return TimeRange(lower: 0, upper: 0) }
        return plan.range.intersection(
            TimeRange(lower: first, upper: last.addingSaturating(1)))
    }

    private func window(_ rest: TimeRange, _ width: Int64) -> TimeRange {
        plan.isAscending
            ? TimeRange(
                lower: rest.lower, upper: min(rest.upper, rest.lower.addingSaturating(width)))
            : TimeRange(
                lower: max(rest.lower, rest.upper.addingSaturating(-width)), upper: rest.upper)
    }

    private func rowCount(_ window: TimeRange) throws(DatabaseError) -> Int {
        try context.checkCancelled()
        var count = 0
        for (number, input) in inputs.enumerated() {
            if number % 256 == 0 { try context.checkCancelled() }
            guard case .stored(let view, let series) = input.origin else { continue }
            count += try view.rowCount(of: series, in: window)
        }
        return count
    }

    private func read(
        _ window: TimeRange, _ rowCount: Int,
        _ body: (_ times: [Int64], _ references: RowColumns) throws(DatabaseError) -> Bool
    ) throws(DatabaseError) -> Bool {
        let share = MemoryReservation(context.memory)
        var times: [Int64] = []
        var builders = plan.references.map { VectorBuilder(type: $0.type) }
        // In descending order, the last series comes first among rows with equal times.
        for input in plan.isAscending ? inputs : inputs.reversed() {
            guard case .stored(let view, let series) = input.origin,
                try view.rowCount(of: series, in: window) > 0
            else { continue }
            var reader = RowBatchReader(
                plan, input, driving: plan.auxiliary, in: window, descending: !plan.isAscending,
                context: context)
            var batch = RowBatch()
            while try reader.next(into: &batch) {
                for (index, vector) in batch.references.present {
                    let before = builders[index].sizeBytes
                    if before == 0 { builders[index].reserve(rowCount) }
                    builders[index].appendNulls(upTo: times.count)
                    builders[index].append(vector)
                    try share.grow(builders[index].sizeBytes - before)
                }
                times.append(contentsOf: batch.times)
            }
        }
        var references = RowColumns(count: times.count)
        for index in builders.indices where builders[index].sizeBytes > 0 {
            let missing = times.count - builders[index].count
            try share.grow(missing * VectorBuilder.rowSizeBytes)
            builders[index].appendNulls(upTo: times.count)
            references[index] = builders[index].finished()
        }
        let order = try TimeOrder.rows(times, isAscending: plan.isAscending, context)
        for start in stride(from: 0, to: order.count, by: WindowedRows.batchRows) {
            let rows = Array(order[start..<min(start + WindowedRows.batchRows, order.count)])
            guard try body(rows.map { times[$0] }, references.filtered(rows)) else { return false }
        }
        return true
    }
}
