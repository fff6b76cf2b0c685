// The results of DELETE and DROP: counts of what was deleted, or a preview.

extension SinkOutput {
    /// Emits one row for each experiment of the statement.
    func emit(_ report: DeletionReport) throws(DatabaseError) {
        var table = ResultTable([
            ("experiment", .string), ("series", .integer), ("rows", .integer),
            ("values", .integer), ("refusals", .integer),
        ])
        for experiment in report.experiments {
            table.append([
                .string(experiment.name), .integer(Int64(experiment.series)),
                .integer(Int64(experiment.rows)), .integer(Int64(experiment.values)),
                .integer(Int64(experiment.refusals)),
            ])
        }
        try flush(&table)
        if table.isBegun { try sink.endSeries() }
    }

    /// Emits a preview: for each series a line for its rows, then one for each field that loses
    /// values.
    func preview(_ deletion: Deletion) throws(DatabaseError) {
        var table = ResultTable([
            ("experiment", .string), ("series", .string), ("field", .string), ("rows", .integer),
            ("values", .integer), ("first", nil), ("last", nil),
        ])
        for experiment in deletion.experiments {
            let schema = experiment.view.schema
            try experiment.forEachSeries { series, _, loss throws(DatabaseError) in
                try deletion.checkCancelled()
                guard loss.firstTime <= loss.lastTime else { return }
                let names: [FieldValue?] = [.string(schema.name), .string(series.key.tagText)]
                table.append(
                    names + [
                        nil, .integer(Int64(loss.rows)), .integer(Int64(loss.values)),
                        .integer(loss.firstTime), .integer(loss.lastTime),
                    ])
                let fields = loss.fields.map { (schema.columns[$0.column].name, $0) }
                    .sorted { Name($0.0) < Name($1.0) }
                for (name, field) in fields {
                    table.append(
                        names + [
                            .string(name), nil, .integer(Int64(field.count)),
                            .integer(field.firstTime), .integer(field.lastTime),
                        ])
                }
                if table.count >= 4096 { try flush(&table) }
            }
        }
        try flush(&table)
        if table.isBegun { try sink.endSeries() }
    }

    private func flush(_ table: inout ResultTable) throws(DatabaseError) {
        guard table.count > 0 else { return }
        if !table.isBegun { try sink.beginSeries(ResultSeries(name: "", columns: table.headers)) }
        table.isBegun = true
        try sink.rows(table.take())
    }
}

/// A buffer of result rows for a sink.
private struct ResultTable {
    let headers: [ResultColumn]
    var isBegun = false
    private(set) var count = 0
    private var builders: [VectorBuilder]

    /// - Parameter columns: names and types; a nil type means a time.
    init(_ columns: [(String, FieldType?)]) {
        headers = columns.map {
            ResultColumn(name: $0.0, type: $0.1 ?? .integer, isTime: $0.1 == nil)
        }
        builders = headers.map { VectorBuilder(type: $0.type) }
    }

    mutating func append(_ row: [FieldValue?]) {
        for index in builders.indices { builders[index].append(row[index]) }
        count += 1
    }

    mutating func take() -> ResultBatch {
        defer {
            builders = headers.map { VectorBuilder(type: $0.type) }
            count = 0
        }
        return ResultBatch(columns: builders.map { $0.finished() }, count: count)
    }
}

extension SeriesKey {
    /// The tags in line protocol syntax.
    fileprivate var tagText: String {
        tags.map { LineText.escaped($0.name, ",= ") + "=" + LineText.escaped($0.value, ",= ") }
            .joined(separator: ",")
    }
}
