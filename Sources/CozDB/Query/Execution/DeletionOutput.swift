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
        try end(&table)
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
                let fields = loss.fields.map { (schema.column($0.column).name, $0) }
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
        try end(&table)
    }
}
