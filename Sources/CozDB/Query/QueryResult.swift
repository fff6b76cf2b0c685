// A whole answer in memory, for programs that want it so; built on the stream of QueryResultSink.

/// The answers of all statements of a query.
public struct QueryResult: Sendable {
    /// One statement's answer.
    public struct StatementResult: Sendable {
        /// In the order of the answer.
        public var series: [Series] = []
        /// Why the statement failed, if it did.
        public var error: DatabaseError?
    }

    /// One series: its rows as columns.
    public struct Series: Sendable {
        /// Name, tags and columns.
        public var header: ResultSeries
        /// As many as `header.columns`.
        public var columns: [ResultVector]
        /// As many values as each column has.
        public var rowCount = 0

        /// The experiment; empty for answers that belong to none, such as SHOW SERIES.
        public var name: String { header.name }

        /// The value of a tag of GROUP BY.
        public func tag(_ name: String) -> String? {
            header.tags.first { Name($0.name) == Name(name) }?.value
        }

        /// The column with this name.
        public func column(_ name: String) -> ResultVector? {
            header.columns.firstIndex { Name($0.name) == Name(name) }.map { columns[$0] }
        }

        /// Times of the rows; empty where the answer has none (SHOW).
        public var times: [Timestamp] {
            guard let index = header.columns.firstIndex(where: \.isTime) else { return [] }
            return columns[index].integers.map { Timestamp(nanoseconds: $0 ?? 0) }
        }
    }

    /// One per statement that was begun, in the order of the text.
    public var statements: [StatementResult] = []
    /// What the run did.
    public var counters = QueryCounters()

    /// No answers.
    public init() {}

    /// The series of the first statement.
    public var series: [Series] { statements.first?.series ?? [] }
}

/// Collects an answer.
public struct QueryResultCollector: QueryResultSink {
    /// What has come so far; whole after the last `endStatement`.
    public private(set) var result = QueryResult()
    private var builders: [VectorBuilder] = []
    /// Bytes from which on a collected answer is refused.
    var sizeBytesMax = Int.max
    private var sizeBytes = 0

    /// Collects from now on.
    public init() {}

    /// The answer of a run, as large as its options allow.
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

    /// Begins the answer of a statement.
    public mutating func beginStatement(_ index: Int) throws(DatabaseError) {
        result.statements.append(QueryResult.StatementResult())
    }

    /// Begins a series of it.
    public mutating func beginSeries(_ series: ResultSeries) throws(DatabaseError) {
        builders = series.columns.map { VectorBuilder(type: $0.type) }
        let empty = QueryResult.Series(header: series, columns: [])
        result.statements[result.statements.count - 1].series.append(empty)
    }

    /// Adds rows to the series begun last.
    public mutating func rows(_ batch: ResultBatch) throws(DatabaseError) {
        let before = heldBytes
        for index in builders.indices { builders[index].append(batch.columns[index]) }
        sizeBytes += heldBytes - before
        guard sizeBytes <= sizeBytesMax else {
            throw QueryMemory.exceeded(sizeBytes, of: sizeBytesMax)
        }
    }

    private var heldBytes: Int { builders.reduce(0) { $0 + $1.sizeBytes } }

    /// Finishes the series begun last.
    public mutating func endSeries() throws(DatabaseError) { finishSeries() }

    /// Finishes the statement, with its error where it failed.
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
    /// A table for each series, columns padded, null as `-`.
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
