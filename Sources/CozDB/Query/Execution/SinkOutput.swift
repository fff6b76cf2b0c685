// The last step of a statement: passes series and rows to the caller's sink and counts them.

/// An output that passes the series of a plan to the caller's sink.
///
/// Unchecked for exclusive access, which would cost more than passing a row of a small answer.
final class SinkOutput<Sink: QueryResultSink>: SeriesOutput {
    @safe @exclusivity(unchecked) var sink: Sink
    private let context: ExecutionContext
    private let options: QueryOptions
    @safe @exclusivity(unchecked) private var columns: [ResultColumn] = []
    @safe @exclusivity(unchecked) private var dimensions: [PlannedDimension] = []
    @safe @exclusivity(unchecked) private var zone: TimeZoneRules?
    @safe @exclusivity(unchecked) private var rowCount = 0
    /// Whether the sink has the columns of the statement.
    @safe @exclusivity(unchecked) private var hasColumns = false

    init(_ sink: Sink, _ context: ExecutionContext, _ options: QueryOptions) {
        self.sink = sink
        self.context = context
        self.options = options
    }

    func begin(_ plan: SelectPlan) throws(DatabaseError) {
        rowCount = 0
        zone = plan.zone
        dimensions = plan.dimensions
        columns = [ResultColumn(name: plan.timeName, type: .integer, isTime: true)]
        columns += plan.columns.map { column in
            var result = ResultColumn(name: column.name, type: column.type)
            if case .column(let index) = column.evaluation {
                result.tag = plan.tagShown(by: index)
            }
            return result
        }
        try announce(columns)
    }

    func beginStatement(_ index: Int) throws(DatabaseError) {
        hasColumns = false
        try sink.beginStatement(index)
    }

    /// Passes the columns of the statement to the sink, once.
    func announce(_ columns: [ResultColumn]) throws(DatabaseError) {
        if hasColumns { return }
        hasColumns = true
        try sink.columns(columns)
    }

    func beginSeries(_ key: GroupKey) throws(DatabaseError) {
        let tags = key.tags(dimensions)
        try sink.beginSeries(
            ResultSeries(name: key.name.text, tags: tags, columns: columns, zone: zone))
    }

    func rows(times: [Int64], columns: RowColumns) throws(DatabaseError) {
        rowCount += times.count
        context.counters.rowsReturned += times.count
        guard rowCount <= options.rowCountMax else {
            throw DatabaseError(
                .limitExceeded,
                "the result has more than \(options.rowCountMax) rows (rowCountMax); narrow the "
                    + "time range, add LIMIT, or raise the limit")
        }
        var vectors: [ResultVector] = []
        vectors.reserveCapacity(self.columns.count)
        vectors.append(.times(times))
        columns.append(to: &vectors, below: self.columns.count - 1)
        try sink.rows(ResultBatch(columns: vectors, count: times.count))
    }

    func endSeries() throws(DatabaseError) {
        try sink.endSeries()
    }
}
