// A query result held completely in memory, collected from the `QueryResultSink` stream.

/// The results of all statements of a query.
public struct QueryResult: Sendable {
    /// The result of one statement.
    public struct StatementResult: Sendable {
        /// The columns that all series have. An empty result has columns, too; only that of SHOW,
        /// DELETE or DROP has none.
        public var columns: [ResultColumn] = []
        /// The series in result order.
        public var series: [Series] = []
        /// The cause if the statement failed; otherwise nil.
        public var error: DatabaseError?
    }

    /// One series with its rows stored by column.
    public struct Series: Sendable {
        /// The name, tags and columns.
        public var header: ResultSeries
        /// The values, one vector per column of `header.columns`.
        public var columns: [ResultVector]
        /// The number of rows, which is the number of values in each column.
        public var rowCount = 0

        /// The experiment; empty for results that belong to none, such as SHOW SERIES.
        public var name: String { header.name }

        /// Returns the value of a GROUP BY tag; nil if there is no such tag.
        public func tag(_ name: String) -> String? {
            header.tags.first { Name($0.name) == Name(name) }?.value
        }

        /// Returns the column with a name; nil if there is none.
        public func column(_ name: String) -> ResultVector? {
            header.columns.firstIndex { Name($0.name) == Name(name) }.map { columns[$0] }
        }

        /// The times of the rows; empty if the result has no time column (SHOW).
        public var times: [Timestamp] {
            guard let index = header.columns.firstIndex(where: \.isTime) else { return [] }
            return columns[index].integers.map { Timestamp(nanoseconds: $0 ?? 0) }
        }
    }

    /// One result per started statement, in the order of the text.
    public var statements: [StatementResult] = []
    /// The counters of the run.
    public var counters = QueryCounters()

    /// Creates an empty result.
    public init() {}

    /// The series of the first statement.
    public var series: [Series] { statements.first?.series ?? [] }
    /// The columns of the first statement.
    public var columns: [ResultColumn] { statements.first?.columns ?? [] }
}

/// A sink that collects a result in memory.
public struct QueryResultCollector: QueryResultSink {
    /// The result so far; complete after the last `endStatement`.
    public private(set) var result = QueryResult()
    private var builders: [VectorBuilder] = []
    /// The maximum size of the result in bytes; a larger one is refused.
    var sizeBytesMax = Int.max
    private var sizeBytes = 0

    /// Creates an empty collector.
    public init() {}

    /// Collects the result of a run, up to the memory limit of its options.
    static func collect(
        _ options: QueryOptions,
        _ run: (inout QueryResultCollector) throws(DatabaseError) -> QueryCounters
    ) throws(DatabaseError) -> QueryResult {
        var collector = QueryResultCollector()
        collector.sizeBytesMax = options.effectiveLimits.memorySizeBytesMax
        let counters = try run(&collector)
        var result = collector.result
        result.counters = counters
        return result
    }

    /// Starts the result of a statement.
    public mutating func beginStatement(_ index: Int) throws(DatabaseError) {
        result.statements.append(QueryResult.StatementResult())
    }

    /// Sets the columns of the current statement.
    public mutating func columns(_ columns: [ResultColumn]) throws(DatabaseError) {
        result.statements[result.statements.count - 1].columns = columns
    }

    /// Starts a series of the current statement.
    public mutating func beginSeries(_ series: ResultSeries) throws(DatabaseError) {
        builders = series.columns.map { VectorBuilder(type: $0.type) }
        let empty = QueryResult.Series(header: series, columns: [])
        result.statements[result.statements.count - 1].series.append(empty)
    }

    /// Appends rows to the current series.
    ///
    /// - Throws: `limitExceeded` if the result exceeds the memory limit.
    public mutating func rows(_ batch: ResultBatch) throws(DatabaseError) {
        let before = heldBytes
        for index in builders.indices { builders[index].append(batch.columns[index]) }
        sizeBytes += heldBytes - before
        guard sizeBytes <= sizeBytesMax else {
            throw QueryMemory.exceeded(sizeBytes, of: sizeBytesMax)
        }
    }

    private var heldBytes: Int { builders.reduce(0) { $0 + $1.sizeBytes } }

    /// Finishes the current series.
    public mutating func endSeries() throws(DatabaseError) { finishSeries() }

    /// Finishes the current statement, with its error if it failed.
    public mutating func endStatement(_ error: DatabaseError?) throws(DatabaseError) {
        if !builders.isEmpty { finishSeries() }
        result.statements[result.statements.count - 1].error = error
    }

    private mutating func finishSeries() {
        let statement = result.statements.count - 1
        let series = result.statements[statement].series.count - 1
        let columns = builders.map { $0.finished() }
        result.statements[statement].series[series].columns = columns
        result.statements[statement].series[series].rowCount = columns.first?.count ?? 0
        builders = []
    }
}

extension QueryResult: CustomStringConvertible {
    /// One table per series with padded columns; null is `-`.
    public var description: String {
        var lines: [String] = []
        for statement in statements {
            for series in statement.series { lines += series.lines }
            if let error = statement.error { lines.append("error: \(error.message)") }
        }
        return lines.joined(separator: "\n")
    }
}

extension QueryResult.Series {
    fileprivate var lines: [String] {
        let tags = header.tags.map { "\($0.name)=\($0.value)" }.joined(separator: ",")
        let title = [header.name, tags].filter { !$0.isEmpty }.joined(separator: " ")
        var cells = [header.columns.map(\.name)]
        for row in 0..<rowCount {
            cells.append(columns.indices.map { text(row: row, column: $0) })
        }
        let widths = header.columns.indices.map { column in
            cells.map { $0[column].count }.max() ?? 0
        }
        let table = cells.map { row in
            var line = ""
            for (cell, width) in zip(row, widths) {
                if !line.isEmpty { line += "  " }
                line += cell + String(repeating: " ", count: width - cell.count)
            }
            while line.last == " " { line.removeLast() }
            return line
        }
        return (title.isEmpty ? [] : [title]) + table
    }

    private func text(row: Int, column: Int) -> String {
        guard let value = columns[column].value(row) else { return "-" }
        switch value {
        case .integer(let number) where header.columns[column].isTime:
            let time = Timestamp(nanoseconds: number)
            return time.text(offsetSeconds: header.zone?.offsetSeconds(at: time) ?? 0)
        case .float(let number): return number.description
        case .integer(let number): return String(number)
        case .string(let text): return text
        case .boolean(let flag): return flag ? "true" : "false"
        }
    }
}
