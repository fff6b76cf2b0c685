// Answers that are small tables of their own: of DELETE and DROP, SHOW and EXPLAIN.

/// A buffer of rows of one series for a sink.
struct ResultTable {
    fileprivate let name: String
    fileprivate let headers: [ResultColumn]
    fileprivate var isBegun = false
    private(set) var count = 0
    private var builders: [VectorBuilder]

    /// - Parameters:
    ///   - name: the name of the series.
    ///   - columns: names and types; a nil type means a time.
    init(_ columns: [(String, FieldType?)], name: String = "") {
        self.name = name
        headers = columns.map {
            ResultColumn(name: $0.0, type: $0.1 ?? .integer, isTime: $0.1 == nil)
        }
        builders = headers.map { VectorBuilder(type: $0.type) }
    }

    mutating func append(_ row: [FieldValue?]) {
        for index in builders.indices { builders[index].append(row[index]) }
        count += 1
    }

    fileprivate mutating func take() -> ResultBatch {
        defer {
            builders = headers.map { VectorBuilder(type: $0.type) }
            count = 0
        }
        return ResultBatch(columns: builders.map { $0.finished() }, count: count)
    }
}

extension SinkOutput {
    /// Emits the rows so far.
    func flush(_ table: inout ResultTable) throws(DatabaseError) {
        guard table.count > 0 else { return }
        if !table.isBegun {
            try announce(table.headers)
            try sink.beginSeries(ResultSeries(name: table.name, columns: table.headers))
        }
        table.isBegun = true
        try sink.rows(table.take())
    }

    /// Emits the remaining rows and ends the series. A table without rows emits nothing.
    func end(_ table: inout ResultTable) throws(DatabaseError) {
        try flush(&table)
        if table.isBegun { try sink.endSeries() }
    }
}
