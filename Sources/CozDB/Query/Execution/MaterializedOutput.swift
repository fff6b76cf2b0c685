// Materializes a subquery whose complete result is needed before the outer statement can start.

final class MaterializedOutput: SeriesOutput {
    private let plan: SelectPlan
    private let rowCountMax: Int
    private let counters: ExecutionContext
    private let share: MemoryReservation
    /// The size of the completed series.
    private var sizeBytes = 0
    private var rowCount = 0
    private var series: [MaterializedSeries] = []
    private var name = ""
    private var tags: [(name: String, value: String)] = []
    private var times: [Int64] = []
    /// The first rows of a series, usually all of them. Further rows move them to the builders.
    /// Unused if there are strings, which would keep the string table of a whole block alive.
    private var columns: [ResultVector] = []
    private var nothing = ResultVector.constant(nil, count: 0)
    private let hasStrings: Bool
    private var builders: [VectorBuilder] = []

    init(_ plan: SelectPlan, _ options: QueryOptions, _ counters: ExecutionContext) {
        self.plan = plan
        self.counters = counters
        hasStrings = plan.columns.contains { $0.type == .string }
        rowCountMax = options.rowCountMax
        share = MemoryReservation(counters.memory)
    }

    func beginSeries(_ key: GroupKey) {
        name = key.name.text
        tags = key.presentTags(plan)
        times = []
        columns = []
        builders = []
    }

    func rows(times newTimes: [Int64], columns: [ResultVector]) throws(DatabaseError) {
        rowCount += newTimes.count
        guard rowCount <= rowCountMax else {
            throw DatabaseError(
                .limitExceeded,
                "a subquery has more than \(rowCountMax) rows (rowCountMax); "
                    + "narrow its time range, or raise the limit")
        }
        if times.isEmpty, !hasStrings {
            (times, self.columns) = (newTimes, columns.map(shared))
        } else {
            times += newTimes
            append(columns)
        }
        try share.resize(to: sizeBytes + heldBytes)
        try counters.checkCancelled()
    }

    private func append(_ columns: [ResultVector]) {
        if builders.isEmpty {
            builders = plan.columns.map { VectorBuilder(type: $0.type) }
            for (index, column) in self.columns.enumerated() { builders[index].append(column) }
            self.columns = []
        }
        for index in builders.indices { builders[index].append(columns[index]) }
    }

    /// Returns the column, or one that all columns without a value share: of very many series and
    /// columns most have none.
    private func shared(_ column: ResultVector) -> ResultVector {
        if column.isPresent.contains(true) { return column }
        if nothing.count != column.count || nothing.type != column.type {
            nothing = .constant(nil, count: column.count)
            nothing.type = column.type
        }
        return nothing
    }

    /// The size of the current series, without strings that belong to the source of the rows.
    private var heldBytes: Int {
        let own = columns.reduce(0) { sum, column in
            sum + MemoryLayout<ResultVector>.stride
                + (column.isPresent.contains(true) ? 100 + 9 * column.count : 0)
        }
        return builders.reduce(times.count * 8 + 200 + own) {
            $0 + MemoryLayout<ResultVector>.stride + $1.sizeBytes
        }
    }

    func endSeries() throws(DatabaseError) {
        sizeBytes += heldBytes
        let columns = builders.isEmpty ? columns : builders.map { shared($0.finished()) }
        series.append(
            MaterializedSeries(
                name: name, tags: tags, times: plan.isAscending ? times : times.reversed(),
                columns: plan.isAscending ? columns : columns.map(\.reversed)))
    }

    func finished() -> [MaterializedSeries] { series }
}
