// The same rows in every format make the same database.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB
@testable internal import CozImport

@Suite struct FormatEquivalenceTests {
    private let files = TemporaryFiles()

    /// Rows of one experiment: a value for each tag and field, empty if there is none.
    private struct Table {
        var experiment: String
        var tags: [String]
        var fields: [(name: String, type: FieldType)]
        var rows: [(time: Int64, tags: [String], fields: [FieldValue?])] = []

        init(_ random: inout SeededRandom) {
            // Names that some format gives a meaning, or that need quotes or escapes.
            let pool = [
                "measurement", "_measurement", "experiment", "id_experiment", "name", "tags",
                "fields", "result", "table", "_start", "_value", "_field", "timestamp", "index",
                "Time", "#", "a,b", "a b", "a=b", "a\"b", "é", "e\u{301}", "participant", "values",
                "columns", "series", "x|y", "1", "null", "true", "{a", "[a",
            ].shuffled(using: &random)
            experiment = ["m", "two words", "a\"b", "é,b=c"].randomElement(using: &random) ?? "m"
            tags = ["id_participant"] + pool.prefix(Int.random(in: 0...3, using: &random))
            let types: [FieldType] = [.float, .integer, .boolean, .string]
            fields = pool.suffix(Int.random(in: 1...4, using: &random)).map {
                ($0, types.randomElement(using: &random) ?? .float)
            }
            for number in 0..<Int64(random.next() % 8 + 1) {
                let names = tags.map { tag -> String in
                    let isEmpty = tag != "id_participant" && random.next() % 3 == 0
                    return isEmpty
                        ? ""
                        : ["p1", "p 2", "a,b", "NaN", "\"q\"", "7"]
                            .randomElement(using: &random) ?? ""
                }
                var values = fields.map { field -> FieldValue? in
                    random.next() % 3 == 0 ? nil : Table.value(field.type, &random)
                }
                if values.allSatisfy({ $0 == nil }) {
                    values[0] = Table.value(fields[0].type, &random)
                }
                rows.append((1_700_000_000_000_000_000 + number * 1_000_000_007, names, values))
            }
        }

        private static func value(_ type: FieldType, _ random: inout SeededRandom) -> FieldValue {
            switch type {
            case .float: .float(Double.random(in: -1e6...1e6, using: &random))
            case .integer: .integer(Int64(bitPattern: random.next()))
            case .boolean: .boolean(random.next() % 2 == 0)
            case .string:
                .string(
                    ["x", "", "a,b", "l\n2", "\"", "\\", "7", "true", " s "]
                        .randomElement(using: &random) ?? "")
            }
        }
    }

    /// A file and the options that say what it leaves open.
    private struct Form {
        var name: String
        var format: InputFormat
        var text: String
        var change: (inout ImportOptions) -> Void = { _ in }
    }

    // MARK: Texts

    private func json(_ text: String) -> String { ItemText.quoted(text) }

    private func json(_ value: FieldValue?) -> String {
        switch value {
        case nil: "null"
        case .string(let text)?: json(text)
        case .float(let number)?: "\(number)"
        case .integer(let number)?: "\(number)"
        case .boolean(let flag)?: "\(flag)"
        }
    }

    private func cell(_ text: String) -> String {
        "\"" + text.replacing("\"", with: "\"\"") + "\""
    }

    private func cell(_ value: FieldValue?) -> String {
        switch value {
        case nil: ""
        case .string(let text)?: cell(text)
        case let value?: json(value)
        }
    }

    // MARK: Forms

    private func lines(_ table: Table) -> Form {
        func escaped(_ text: String, _ special: String) -> String {
            String(
                text.unicodeScalars.flatMap {
                    special.unicodeScalars.contains($0) ? "\\\($0)" : "\($0)"
                })
        }
        var text = ""
        for row in table.rows {
            text += escaped(table.experiment, ", ")
            for (tag, value) in zip(table.tags, row.tags) where !value.isEmpty {
                text += ",\(escaped(tag, ",= "))=\(escaped(value, ",= "))"
            }
            let fields = zip(table.fields, row.fields).compactMap { field, value in
                value.map { "\(escaped(field.name, ",= "))=\($0)" }
            }
            text += " \(fields.joined(separator: ",")) \(row.time)\n"
        }
        return Form(name: "lp", format: .lineProtocol, text: text)
    }

    private func rows(
        _ table: Table, _ first: (_ row: Int) -> [String]
    ) -> String {
        table.rows.indices.map { number in
            let row = table.rows[number]
            let cells =
                first(number) + row.tags.map { $0.isEmpty ? "" : cell($0) }
                + row.fields.map(cell)
            return cells.joined(separator: ",") + "\n"
        }.joined()
    }

    private func header(_ table: Table) -> String {
        (table.tags + table.fields.map(\.name)).map(cell).joined(separator: ",") + "\n"
    }

    private func tables(_ table: Table) -> [Form] {
        let names = table.fields.map { field in
            switch field.type {
            case .float: "double"
            case .integer: "long"
            case .boolean: "boolean"
            case .string: "string"
            }
        }
        let datatypes = table.tags.map { _ in "tag" } + names
        let annotated =
            "#datatype measurement,dateTime:number,\(datatypes.joined(separator: ","))\n"
            + "m,time," + header(table)
            + rows(table) { [self.cell(table.experiment), "\(table.rows[$0].time)"] }
        let shell =
            "name,time," + header(table)
            + rows(table) { [self.cell(table.experiment), "\(table.rows[$0].time)"] }
        let plain = "time," + header(table) + rows(table) { ["\(table.rows[$0].time)"] }
        return [
            Form(name: "annotated csv", format: .annotatedCSV, text: annotated),
            Form(name: "influx csv", format: .influxCSV, text: shell) { options in
                options.table.tagColumns = table.tags
                options.table.columnTypes = table.fields
                options.table.timeColumn = "time"
            },
            Form(name: "csv", format: .csv, text: plain) { options in
                options.experiment = table.experiment
                options.table.tagColumns = table.tags
                options.table.columnTypes = table.fields
                options.table.timeColumn = "time"
            },
        ]
    }

    private func objects(_ table: Table) -> [Form] {
        func object(_ members: [(String, String)]) -> String {
            "{" + members.map { self.json($0.0) + ":" + $0.1 }.joined(separator: ",") + "}"
        }
        var nested = ""
        var flat = ""
        var series = ""
        for row in table.rows {
            let tags = zip(table.tags, row.tags).filter { !$0.1.isEmpty }
                .map { ($0.0, json($0.1)) }
            let values = zip(table.fields, row.fields)
            let fields = values.filter { $0.0.type != .integer }.map { ($0.0.name, json($0.1)) }
            let integers = values.filter { $0.0.type == .integer }.map { ($0.0.name, json($0.1)) }
            nested +=
                object([
                    ("time", "\(row.time)"), ("tags", object(tags)), ("fields", object(fields)),
                    ("fields_int", object(integers)), ("measurement", json(table.experiment)),
                ]) + "\n"
            flat +=
                object(
                    tags + values.map { ($0.0.name, json($0.1)) } + [("time", "\(row.time)")])
                + "\n"
            series +=
                object([
                    ("name", json(table.experiment)), ("tags", object(tags)),
                    (
                        "columns",
                        "[\"time\"," + table.fields.map { json($0.name) }.joined(separator: ",")
                            + "]"
                    ),
                    (
                        "values",
                        "[[\(row.time)," + row.fields.map(json).joined(separator: ",") + "]]"
                    ),
                ]) + ","
        }
        let answer = "{\"results\":[{\"series\":[\(series.dropLast())]}]}\n"
        return [
            Form(name: "ndjson", format: .ndjson, text: nested),
            Form(name: "flat ndjson", format: .ndjson, text: flat) { options in
                options.experiment = table.experiment
                options.table.tagColumns = table.tags
                options.table.columnTypes = table.fields
                options.table.timeColumn = "time"
            },
            Form(name: "influx json", format: .influxJSON, text: answer) { options in
                options.table.columnTypes = table.fields
                options.table.timeColumn = "time"
            },
        ]
    }

    // MARK: Tests

    /// Every value of every row, as text.
    private func contents(_ form: Form) throws -> [String] {
        let directory = TemporaryDirectory()
        let database = try Database.open(directory.path)
        var options = ImportOptions()
        options.format = form.format
        options.table.timeFormat = .epoch(.nanoseconds)
        form.change(&options)
        var lines: [String] = []
        let report = try importFiles(
            [files.write("input", form.text)], into: database, options: options)
        if report.hasRefusals { lines.append("refused: \(report.examples)") }
        lines += try storedLines(database)
        try database.close()
        let memory = try Database.inMemory()
        let other = try importBytes(
            Array(form.text.utf8), name: "bytes", into: memory, options: options)
        #expect(other.points == report.points)
        let fromBytes = try storedLines(memory)
        #expect(lines.suffix(fromBytes.count) == fromBytes[...])
        return lines
    }

    @Test func `the same rows in every format make the same database`() throws {
        let seed = TestSeed.seed()
        print("formats seed \(seed)")
        var random = SeededRandom(seed: seed)
        for number in 0..<40 {
            let table = Table(&random)
            let lines = lines(table)
            let expected = try contents(lines)
            #expect(expected.count == table.rows.count, "\(number): \(lines.text)")
            for form in tables(table) + objects(table) {
                // There, the first column is called so, and options could not tell them apart.
                if form.format.name == "influx-csv", table.tags.contains("name") { continue }
                let found = try contents(form)
                #expect(
                    found == expected, "seed \(seed), \(number), \(form.name):\n\(form.text)")
                if found != expected { return }
            }
        }
    }
}
