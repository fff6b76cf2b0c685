// What must hold of a batch as a whole before anything of it is written.

extension CommitEncoder {
    /// What the numbered form of a batch takes unseen must not reach the log: no reader accepts it.
    func checkNames(_ batch: borrowing WriteBatch) throws(DatabaseError) {
        func check(
            _ word: Span<UInt8>, _ what: String, atLeast least: Int = 1
        ) throws(DatabaseError) {
            guard (least...DatabaseOptions.nameSizeBytesMax).contains(word.count) else {
                throw DatabaseError(
                    .usage,
                    "\(what) of \(word.count) bytes; expected \(least) to "
                        + "\(DatabaseOptions.nameSizeBytesMax) bytes of UTF-8")
            }
            // Repaired, two of them could become one.
            guard (try? UTF8Span(validating: word)) != nil else {
                throw DatabaseError(.usage, "\(what) that is not valid UTF-8")
            }
        }
        for index in 0..<batch.experiments.count {
            try check(batch.experiments.copy(index).span, "experiment name")
        }
        for index in 0..<batch.columns.count {
            try batch.forEachName(ofColumn: index) { name throws(DatabaseError) in
                try check(name, "field name")
            }
        }
        for index in 0..<batch.tagSets.count {
            try batch.forEachTag(of: index) { name, value throws(DatabaseError) in
                try check(name, "tag name")
                try check(value, "tag value", atLeast: 0)
            }
        }
    }

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
                throw DatabaseError(.usage, "a string value that is not valid UTF-8")
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

    /// Refuses all of a batch that asks for it, where a part of it was refused.
    func checkWhole(_ batch: borrowing WriteBatch) throws(DatabaseError) {
        let refused = report.refusedPoints + report.refusedValues
        guard batch.isAllOrNothing, refused > 0 else { return }
        let example = report.examples.first.map { refusal in
            (refusal.line > 0 ? "line \(refusal.line): " : "") + refusal.summary
        }
        throw DatabaseError(
            .usage,
            "nothing was stored, as asked for: \(report.refusedPoints) of \(report.points) points "
                + "and \(report.refusedValues) values cannot be stored, such as "
                + "\(example ?? "")",
            file: batch.source.isEmpty ? nil : batch.source)
    }
}
