// Materializes a subquery whose complete result is needed before the outer statement can start.

final class MaterializedOutput: SeriesOutput {
    private let plan: SelectPlan
    private let rowCountMax: Int
    private let context: ExecutionContext
    private let share: MemoryReservation
    /// The size of the completed series.
    private var sizeBytes = 0
    private var rowCount = 0
    private var series: [MaterializedSeries] = []
    private var name = ""
    private var tags: [(name: String, value: String)] = []
    private var rows = SparseRows()

    init(_ plan: SelectPlan, _ options: QueryOptions, _ context: ExecutionContext) {
        self.plan = plan
        self.context = context
        rowCountMax = options.rowCountMax
        share = MemoryReservation(context.memory)
    }

    func beginSeries(_ key: GroupKey) {
        name = key.name.text
        tags = key.presentTags(plan)
        rows = SparseRows()
    }

    func rows(times: [Int64], columns: RowColumns) throws(DatabaseError) {
        rowCount += times.count
        guard rowCount <= rowCountMax else {
            throw DatabaseError(
                .limitExceeded,
                "a subquery has more than \(rowCountMax) rows (rowCountMax); "
                    + "narrow its time range, or raise the limit")
        }
        rows.add(times, columns) { plan.columns[$0].type }
        try share.resize(to: sizeBytes + heldBytes)
        try context.checkCancelled()
    }

    /// The size of the current series.
    private var heldBytes: Int {
        rows.sizeBytes + 200
    }

    func endSeries() throws(DatabaseError) {
        sizeBytes += heldBytes
        var times = rows.times
        var columns = rows.takeColumns()
        if !plan.isAscending {
            times.reverse()
            columns = columns.map(count: columns.count, \.reversed)
        }
        series.append(MaterializedSeries(name: name, tags: tags, times: times, columns: columns))
    }

    func finished() -> [MaterializedSeries] { series }
}
