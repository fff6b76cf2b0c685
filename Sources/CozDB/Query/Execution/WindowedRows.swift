// Reads rows of many series or columns by time in bounded memory. A merge would need a batch of
// every column of every series at once. Instead, time is split into windows whose values fit in
// memory. The rows of a window are read series by series and then sorted. Batches that extend into
// several windows are decoded for each.

struct WindowedRows {
    /// The number of columns over all series from which a merge takes more memory than a window.
    private static let columnCountMin = 2048
    /// What a column of strings counts for, because strings can be long.
    private static let stringWeight = 128
    /// The maximum memory of a window.
    private static let sizeBytesMax = 72 << 20
    /// The number of rows of the first window, unless more are wanted at once.
    private static let rowCountMin = 4096

    private let plan: SelectPlan
    private let inputs: [InputSeries]
    private let context: ExecutionContext
    private let sizeBytesMax: Int
    /// The maximum number of rows of any window.
    private let rowCountMax: Int
    /// The memory of the window.
    private let share: MemoryReservation
    /// The rows of the window that are not yet returned.
    private var window: SortedCells?
    /// The time range after the window.
    private var rest = TimeRange(lower: 0, upper: 0)
    /// The width of the next window, and the most rows that it may have.
    private var width: Int64 = 0
    private var most: Int

    /// Creates a reader; nil if a merge is better or rows of a series are not stored.
    init?(
        _ plan: SelectPlan, _ inputs: [InputSeries], _ rowsWanted: Int, _ context: ExecutionContext
    ) {
        let strings = plan.references.count { $0.type == .string }
        let inner = inputs.reduce(0) { max($0, $1.subqueryColumnCount) }
        let weight = plan.references.count + (WindowedRows.stringWeight - 1) * strings + inner
        guard inputs.count > 1, inputs.count * max(1, weight) >= WindowedRows.columnCountMin,
            inputs.allSatisfy({ $0.storedSeries != nil })
        else { return nil }
        self.plan = plan
        self.inputs = inputs
        self.context = context
        // The rest of the memory is for batches and derived columns.
        sizeBytesMax = min(WindowedRows.sizeBytesMax, context.memory.sizeBytesMax / 4)
        rowCountMax = max(1, sizeBytesMax / (2 * WindowCells.rowSizeBytes))
        most = min(rowCountMax, max(WindowedRows.rowCountMin, rowsWanted))
        share = MemoryReservation(context.memory)
        rest = extent
        width = Int64(clamping: UInt64(bitPattern: rest.upper &- rest.lower))
    }

    /// Returns the next rows; nil after the last.
    mutating func next() throws(DatabaseError) -> (times: [Int64], references: RowColumns)? {
        while true {
            try context.checkCancelled()
            if let piece = window?.next() { return piece }
            window = nil
            share.release()
            guard !rest.isEmpty else { return nil }
            try readWindow()
        }
    }

    /// Reads the next window, or finds that its rows need a smaller one.
    private mutating func readWindow() throws(DatabaseError) {
        var next = self.window(rest, width)
        var count = try rowCount(next)
        while count > most, width > 1 {
            let fitting = 0.8 * Double(most) / Double(count)
            width = max(1, Int64(Double(width) * fitting))
            next = self.window(rest, width)
            count = try rowCount(next)
        }
        if count > 0 {
            // A window of one row or one time cannot be smaller.
            let sizeMax = count == 1 || width == 1 ? Int.max : sizeBytesMax
            let cells = try read(next, sizeMax)
            if cells.sizeBytes > sizeMax {
                // The rows read so far show how many would fit.
                let fitting = Double(sizeMax) / Double(cells.sizeBytes)
                most = max(1, Int(0.8 * fitting * Double(min(cells.rowCount, count - 1))))
                return
            }
            window = try cells.sorted(context)
            if cells.sizeBytes < sizeBytesMax / 2 { most = min(2 * most, rowCountMax) }
        }
        if plan.isAscending { rest.lower = next.upper } else { rest.upper = next.lower }
        // The window may grow by as much as this one was below the limit.
        let growth = count == 0 ? 4 : min(4, 0.9 * Double(most) / Double(count))
        let grown = Double(width) * max(1, growth)
        width = grown < 9e18 ? Int64(grown) : .max
    }

    /// The time range from the first to the last row.
    private var extent: TimeRange {
        var first = Int64.max
        var last = Int64.min
        for input in inputs {
            guard let series = input.storedSeries?.series else { continue }
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
            guard let (view, series) = input.storedSeries else { continue }
            count += try view.rowCount(of: series, in: window)
        }
        return count
    }

    /// Reads the rows of a window, until they take more memory than a limit.
    private func read(
        _ window: TimeRange, _ sizeBytesMax: Int
    ) throws(DatabaseError) -> WindowCells {
        var cells = WindowCells(plan)
        // In descending order, the last series comes first among rows with equal times.
        for input in plan.isAscending ? inputs : inputs.reversed() {
            guard let (view, series) = input.storedSeries,
                try view.rowCount(of: series, in: window) > 0
            else { continue }
            var reader = RowBatchReader(
                plan, input, driving: plan.auxiliary, in: window, descending: !plan.isAscending,
                context: context)
            var batch = RowBatch()
            while try reader.next(into: &batch) {
                cells.add(batch)
                if cells.sizeBytes > sizeBytesMax { return cells }
                try share.resize(to: cells.sizeBytes)
            }
        }
        return cells
    }
}

extension InputSeries {
    /// The series of an experiment whose rows these are, at the same times; nil if rows are
    /// computed or materialized.
    fileprivate var storedSeries: (view: ExperimentView, series: Series)? {
        switch origin {
        case .stored(let view, let series): (view, series)
        case .derived(let series): series.input.storedSeries
        case .materialized, .computed: nil
        }
    }

    /// The number of columns that subqueries may read for the series.
    fileprivate var subqueryColumnCount: Int {
        guard case .derived(let series) = origin else { return 0 }
        let own = series.input.present?.count ?? series.plan.references.count
        return own + series.input.subqueryColumnCount
    }
}
