// Checks on a whole batch, made before any of it is written.

extension CommitEncoder {
    /// Checks that the columns of a row belong to the experiment of its tag set. One row per layout
    /// is enough.
    func check(
        _ row: BatchRow, _ cells: Span<BatchCell>, of batch: borrowing WriteBatch
    ) throws(DatabaseError) {
        let experiment = batch.experiment(ofTagSet: Int(row.tagSet))
        for index in cells.indices {
            let column = Int(cells[index].column)
            if batch.experiment(ofColumn: column) == experiment { continue }
            let received = batch.receivedColumn(column)
            throw DatabaseError(
                .usage,
                "found a value of \"\(received.name)\" in experiment "
                    + "\"\(batch.experiments.text(received.experiment))\" in a row of experiment "
                    + "\"\(batch.experiments.text(experiment))\"; get the handle of the column "
                    + "from the experiment of the row")
        }
    }

    /// Why values of a new field cannot be stored; nil if they can.
    func fault(ofField name: String, in schema: ExperimentSchema?) -> String? {
        if Name(name) == CommitEncoder.timeName {
            return
                "a field cannot be called \"time\", which is the name of the row time in queries; "
                + "rename it"
        }
        if (schema?.columnCount ?? 0) < options.columnCountMax { return nil }
        return "the experiment already has its maximum of \(options.columnCountMax) fields and "
            + "tags (columnCountMax)"
    }

    static var timeName: Name { Name("time") }

    func checkStrings(_ batch: borrowing WriteBatch) throws(DatabaseError) {
        let heap = batch.strings.heap
        for index in 0..<batch.strings.count {
            let range = batch.strings.range(index)
            guard range.count <= options.stringSizeBytesMax else {
                throw DatabaseError(
                    .limitExceeded,
                    "a string of \(range.count) bytes exceeds stringSizeBytesMax "
                        + "(\(options.stringSizeBytesMax))")
            }
            guard (try? UTF8Span(validating: heap.span.extracting(range))) != nil else {
                throw DatabaseError(.usage, "found a string value that is not valid UTF-8")
            }
        }
    }

    func check(_ preset: SchemaPreset) throws(DatabaseError) {
        let names = Set(preset.fields.map { Name($0.name) })
        guard names.count == preset.fields.count else {
            throw DatabaseError(.usage, "the preset \"\(preset.name)\" names a field twice")
        }
        for field in preset.fields { try check(field) }
        try checkText(preset.name, "name of a preset", isRequired: true)
        if Name(preset.name) == Name(SchemaPreset.none) {
            throw DatabaseError(
                .usage,
                "a preset is called \"\(SchemaPreset.none)\", which stands for no preset; rename "
                    + "it")
        }
    }

    func check(_ field: SchemaPreset.Field) throws(DatabaseError) {
        try checkText(field.name, "declared field name", isRequired: true)
        for text in [field.unit, field.note, field.question] + field.options {
            try checkText(text, "text declared of field \"\(field.name)\"", isRequired: false)
        }
    }

    private func checkText(
        _ text: String, _ what: String, isRequired: Bool
    ) throws(DatabaseError) {
        let range = (isRequired ? 1 : 0)...DatabaseOptions.nameSizeBytesMax
        guard range.contains(text.utf8.count) else {
            throw DatabaseError(
                .usage,
                "\(what) of \(text.utf8.count) bytes; expected \(range.lowerBound) to "
                    + "\(range.upperBound)")
        }
    }

    /// Refuses the whole batch if it must be stored whole and a part of it was refused.
    func checkWhole(_ batch: borrowing WriteBatch) throws(DatabaseError) {
        let refused = report.refusedPoints + report.refusedValues
        let isWhole = batch.isAllOrNothing || options.refusalPolicy == .throw
        guard isWhole, !journal.isReplay, refused > 0 else { return }
        let example = report.examples.first.map { refusal in
            (refusal.line > 0 ? "line \(refusal.line): " : "") + refusal.summary
        }
        throw DatabaseError(
            .usage,
            "nothing was stored, because all or nothing was requested: \(report.refusedPoints) of "
                + "\(report.points) points and \(report.refusedValues) values cannot be stored, "
                + "for example \(example ?? "")",
            file: batch.source.isEmpty ? nil : batch.source)
    }
}
