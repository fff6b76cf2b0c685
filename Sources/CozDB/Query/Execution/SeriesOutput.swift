// The output of a plan: series after series, each in batches of rows.

/// A receiver of the series of a plan's result.
protocol SeriesOutput: AnyObject {
    func beginSeries(_ key: GroupKey) throws(DatabaseError)
    /// Receives rows of the current series; never empty.
    ///
    /// - Parameter columns: by their numbers in the plan; columns without values may be left out.
    func rows(times: [Int64], columns: RowColumns) throws(DatabaseError)
    func endSeries() throws(DatabaseError)
}

/// A writer that evaluates columns and emits the rows between OFFSET and LIMIT.
struct RowWriter {
    private let plan: SelectPlan
    private let key: GroupKey
    private let output: any SeriesOutput
    private var skip: Int
    private var left: Int
    private var isBegun = false

    init(_ plan: SelectPlan, _ key: GroupKey, _ output: any SeriesOutput) {
        self.plan = plan
        self.key = key
        self.output = output
        skip = plan.limits.offset ?? 0
        let limit = plan.limits.limit ?? 0
        left = limit == 0 ? .max : limit
    }

    var isFull: Bool { left == 0 }

    /// The number of rows still needed; readers can stop after them.
    var rowsWanted: Int { left > .max - skip ? .max : left + skip }

    /// The maximum number of rows, and about the number of cells with and without values, in one
    /// piece.
    private static let pieceRowCountMax = 1 << 15
    private static let pieceCellCountMax = 1 << 19
    /// The number of rows that a piece of mostly empty columns has however many these are, because
    /// passing a column on costs more than a few rows of it.
    private static let sparseRowCountMin = 256

    /// Writes rows in pieces, because a group may have millions of buckets.
    ///
    /// - Parameter inputs: the inputs of `SelectPlan.evaluatedColumns`.
    mutating func write(times: [Int64], _ inputs: RowColumns) throws(DatabaseError) {
        var start = 0
        while start < times.count, !isFull { try write(times: times, inputs, from: &start) }
    }

    /// The maximum number of rows in a piece.
    private func rowCountMax(_ inputs: RowColumns) -> Int {
        let fullCount = max(inputs.columnCount + plan.computedColumns.count, 1)
        let width = max(plan.columns.count + 2, fullCount)
        return max(
            1,
            min(
                RowWriter.pieceRowCountMax, RowWriter.pieceCellCountMax / fullCount,
                max(RowWriter.sparseRowCountMin, RowWriter.pieceCellCountMax / width)))
    }

    /// Writes the piece of the rows that begins with a row, and moves on to the next piece.
    private mutating func write(
        times: [Int64], _ inputs: RowColumns, from start: inout Int
    ) throws(DatabaseError) {
        let rows = start..<min(start + rowCountMax(inputs), times.count)
        start = rows.upperBound
        if rows.count == times.count { return try writePiece(times: times, inputs) }
        try CancellationCheck.check()
        try writePiece(times: Array(times[rows]), inputs.map(count: rows.count) { $0.part(rows) })
    }

    private mutating func writePiece(
        times: [Int64], _ inputs: RowColumns
    ) throws(DatabaseError) {
        guard left > 0, times.count > skip else {
            skip -= min(skip, times.count)
            return
        }
        let kept = skip..<min(times.count, left >= times.count - skip ? times.count : skip + left)
        let areAll = kept.count == times.count
        var columns = plan.evaluatedColumns(inputs, count: times.count)
        try CancellationCheck.check()
        if !areAll { columns = columns.map(count: kept.count) { $0.part(kept) } }
        if !isBegun {
            isBegun = true
            try output.beginSeries(key)
        }
        try output.rows(times: areAll ? times : Array(times[kept]), columns: columns)
        skip = 0
        if left != .max { left -= kept.count }
    }

    func finish() throws(DatabaseError) {
        if isBegun { try output.endSeries() }
    }

    /// Writes the rows of a group if they are one piece; otherwise returns the steps that do.
    ///
    /// - Parameter share: the memory of the rows; released with the steps.
    func rows(
        times: [Int64], _ inputs: RowColumns, _ share: MemoryReservation? = nil
    ) throws(DatabaseError) -> GroupRows {
        var writer = self
        if times.count <= rowCountMax(inputs) {
            try writer.writePiece(times: times, inputs)
            try writer.finish()
            return .written
        }
        return .steps(writer.steps(times: times, inputs, share))
    }

    private func steps(
        times: [Int64], _ inputs: RowColumns, _ share: MemoryReservation?
    ) -> GroupSteps {
        var writer = self
        var start = 0
        return { () throws(DatabaseError) in
            defer { withExtendedLifetime(share) {} }
            guard start < times.count, !writer.isFull else {
                try writer.finish()
                return false
            }
            try writer.write(times: times, inputs, from: &start)
            return true
        }
    }
}
