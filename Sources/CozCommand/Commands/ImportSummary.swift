// The summary that `cozdb import` prints at its end.

internal import CozDB
internal import CozImport

struct ImportSummary {
    var report = ImportReport()
    /// Whether to report that nothing was renamed.
    var reportsRenames = false
    private let path: String
    private var before = Counts()
    private var after = Counts()
    private var schemas: [ExperimentSchema] = []

    /// The contents of a database, and the counters of its writes so far.
    private struct Counts {
        var rows = 0
        var values = 0
        var counters = WriteCounters()
    }

    init(path: String) {
        self.path = path
    }

    // Errors of counting do not fail an import.

    mutating func begin(_ database: Database) {
        before = ImportSummary.count(database) ?? before
    }

    /// - Parameter database: The closed database; the counts come from a new reader.
    mutating func end(_ database: Database, schemas: [ExperimentSchema]) {
        let counted = try? Database.withReader(path) { ImportSummary.count($0) }
        after = counted.flatMap(\.self) ?? after
        self.schemas = schemas
        report.mergedTagSets = MergedTagSets(
            database.tagSetMerges, since: TagSetMerges(), schemas: schemas)
    }

    private static func count(_ database: Database) -> Counts? {
        guard let rows = try? database.rowCount(), let values = try? database.valueCount(),
            let counters = try? database.counters()
        else { return nil }
        return Counts(rows: rows, values: values, counters: counters)
    }

    var text: String {
        let speed = Double(report.decodedBytes) / max(report.seconds, 0.001) / 1e6
        var text = """
            points   \(PlainText.grouped(report.points))
            rows     \(PlainText.grouped(after.rows - before.rows)) new, \
            \(PlainText.grouped(after.rows)) in the database
            values   \(PlainText.grouped(report.values))

            """
        text += upserts
        if report.convertedValues > 0 {
            text += "         \(PlainText.grouped(report.convertedValues)) of them converted\n"
        }
        text += merges
        if report.skippedOtherDatabases > 0 {
            let count = PlainText.counted(report.skippedOtherDatabases, "point")
            text += "skipped  \(count) in other databases or retention policies\n"
        }
        if report.droppedTimeFields > 0 {
            let count = PlainText.counted(report.droppedTimeFields, "field")
            text += "dropped  \(count) named time, as InfluxDB does\n"
        }
        if reportsRenames { text += RenameOptions.text(report.renames) }
        text += passedOver
        text += refusals
        text += "time     \(PlainText.fixed(report.seconds, digits: 2)) s, "
        text += "\(PlainText.fixed(speed, digits: 1)) MB/s\n"
        return text + remedies
    }

    /// What became of the values. Values for a cell that already had one are classified only if a
    /// flush or a merge has compared them. Merges also compare older values, from earlier imports.
    private var upserts: String {
        let inserted = after.values - before.values
        let met = max(0, report.values - inserted)
        let (old, new) = (before.counters, after.counters)
        let identical = min(met, max(0, new.identicalValues - old.identicalValues))
        let replaced = min(met - identical, max(0, new.replacedValues - old.replacedValues))
        let open = met - identical - replaced
        var text = "         \(PlainText.grouped(inserted)) inserted, "
        text += "\(PlainText.grouped(replaced)) replaced a different value, "
        text += "\(PlainText.grouped(identical)) unchanged\n"
        if open > 0 {
            text += "         \(PlainText.grouped(open)) for cells that already had a value, "
            text += "not compared yet (cozdb compact compares them)\n"
        }
        return text
    }

    /// Points that InfluxDB would have kept as separate rows.
    private var merges: String {
        guard let merged = report.mergedTagSets else { return "" }
        let identity = ShellText.quoted(merged.identity.text)
        return """
            merged   \(PlainText.counted(merged.rows, "row")) from points with different tags; \
            \(PlainText.counted(merged.replacedValues, "value")) replaced a different value
                     for example \(PlainText.escaped(merged.example))
                     a new database with --identity \(identity) would keep them apart

            """
    }

    /// Files in folders that the format does not use.
    private var passedOver: String {
        if report.passedOver == 0 { return "" }
        var text = "skipped  \(PlainText.counted(report.passedOver, "file")) of other kinds\n"
        for path in report.passedOverExamples { text += "         \(PlainText.escaped(path))\n" }
        return text
    }

    private var refusals: String {
        guard report.hasRefusals else { return "refused  nothing\n" }
        var text = "refused  \(PlainText.counted(report.refusedLines, "line")), "
        text += "\(PlainText.counted(report.refusedPoints, "point")), "
        text += "\(PlainText.counted(report.refusedValues, "value")); kept in the rejects journal\n"
        if report.unkeptRefusals > 0 {
            text += "         except \(PlainText.grouped(report.unkeptRefusals)): the journal is "
            text += "full. Export it with cozdb rejects export, empty it with cozdb rejects clear, "
            text += "and import again\n"
        }
        let forgotten = report.forgottenPoints + report.forgottenValues
        if forgotten > 0 {
            text += "         except \(PlainText.grouped(forgotten)) of forgotten participants, "
            text += "which are not kept\n"
        }
        for example in report.examples {
            var place = example.source.isEmpty ? "" : "\(example.source):"
            if example.line > 0 { place += "\(example.line):" }
            if example.column > 0 { place += "\(example.column):" }
            text += "         \(PlainText.escaped("\(place) \(example.summary)"))\n"
        }
        for line in Set(report.examples.compactMap { $0.remedy?.text }).sorted() {
            text += "         \(line)\n"
        }
        let refused = report.refusedLines + report.refusedPoints + report.refusedValues
        let more = refused - forgotten - report.unkeptRefusals - report.examples.count
        if more > 0, !report.examples.isEmpty {
            text += "         and \(PlainText.grouped(more)) more; to list all of them: "
            text += "cozdb rejects --db \(ShellText.quoted(path)) list\n"
        }
        return text
    }

    /// The commands that would store the refused values.
    private var remedies: String {
        guard !report.conflicts.isEmpty else { return "" }
        let folder = ShellText.quoted(path)
        if report.conflicts.allSatisfy(isForeign) {
            return
                "\nValues that do not fit the declared type of their field were not stored. "
                + "To list them:\n"
                + "  cozdb rejects --db \(folder) list\n"
        }
        let (floats, strings) = statements
        func commands(_ statements: [String]) -> String {
            statements.map { "  cozdb query --db \(folder) \(ShellText.quoted($0))\n" }.joined()
                + "  cozdb rejects --db \(folder) replay\n"
        }
        var text = ""
        if !floats.isEmpty {
            text += "\nTo store the values that were refused because of their type:\n"
            text += commands(floats)
        }
        if !strings.isEmpty {
            text += """

                Values of another type were refused. If they are mistakes, correct the files and \
                import them again.
                To store them as they are, make the fields strings. A string has no sum and no \
                mean, and this
                cannot be undone:

                """
            text += commands(strings)
        }
        return text
    }

    /// Whether a value does not belong in its field: the field is declared as a number or boolean,
    /// and only a change to string could store the value. The field would then be useless as a
    /// measurement.
    private func isForeign(_ conflict: TypeConflict) -> Bool {
        if conflict.locked == .string { return false }
        if conflict.locked == .integer, conflict.received == .float { return false }
        let schema = schemas.first { $0.name.utf8.elementsEqual(conflict.experiment.utf8) }
        return (schema?.declaration(of: conflict.field)?.type ?? .string) != .string
    }

    /// One type change per field: to float if that fits all its values, else to string. String
    /// fields need no change.
    private var statements: (toFloat: [String], toString: [String]) {
        var fields: [(place: String, isFloat: Bool)] = []
        // By bytes: for Swift, names that differ only in Unicode normalization are equal.
        var known: [[UInt8]: Int] = [:]
        for conflict in report.conflicts
        where conflict.locked != .string && ImportSummary.isShort(conflict) && !isForeign(conflict)
        {
            let place =
                "ALTER EXPERIMENT \(ImportSummary.identifier(conflict.experiment)) "
                + "FIELD \(ImportSummary.identifier(conflict.field)) TYPE "
            let isFloat = conflict.locked == .integer && conflict.received == .float
            let index = known[Array(place.utf8), default: fields.count]
            if index < fields.count {
                fields[index].isFloat = fields[index].isFloat && isFloat
            } else {
                known[Array(place.utf8)] = index
                fields.append((place, isFloat))
            }
        }
        return (
            fields.filter(\.isFloat).map { $0.place + "float" },
            fields.filter { !$0.isFloat }.map { $0.place + "string" }
        )
    }

    /// Whether the names suit a command. Many statements with an endless name would be more text
    /// than the input.
    private static func isShort(_ conflict: TypeConflict) -> Bool {
        max(conflict.experiment.utf8.count, conflict.field.utf8.count) <= 255
    }

    /// Quotes a name for a statement, so that it is never read as a keyword.
    private static func identifier(_ name: String) -> String {
        var text = "\""
        for scalar in name.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { text += "\\" }
            if scalar == "\n" { text += "\\n" } else { text.unicodeScalars.append(scalar) }
        }
        return text + "\""
    }
}
