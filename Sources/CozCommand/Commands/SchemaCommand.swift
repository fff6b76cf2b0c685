// `cozdb schema`: shows the fields and attributes of experiments and their statistics.

internal import ArgumentParser
internal import CozDB
internal import CozPlatform

struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Show fields and attributes: type, unit, meaning, count, times, bytes.",
        discussion: """
            Units and descriptions come from the declarations of the experiment (its preset and \
            registered surveys), otherwise from the catalogue of Cozie fields. Questions and \
            answer options are shown for registered surveys (see cozdb survey).

            Examples:
              cozdb schema --db study.cozdb
              cozdb schema --db study.cozdb dev --format json
            """)

    @OptionGroup var database: DatabaseOption

    @Option(help: "Output format: table for people, json for programs.")
    var format = ReportFormat.table

    @Argument(help: "The experiment (default: all).")
    var experiment: String?

    private struct Part {
        var name: String
        var schema: ExperimentSchema?
        var columns: [ColumnInfo]
    }

    func run() throws {
        let parts = try Database.withReader(database.path) { database throws(DatabaseError) in
            let schemas = try database.schemas()
            let names = experiment.map { [$0] } ?? schemas.map(\.name)
            var parts: [Part] = []
            for name in names {
                let schema = schemas.first { $0.name.utf8.elementsEqual(name.utf8) }
                let columns = try database.columns(of: name)
                parts.append(Part(name: name, schema: schema, columns: columns))
            }
            return parts
        }
        let output = OutputWriter()
        if format == .json {
            output.append(JSONValue.array(parts.map(json)).text() + "\n")
        } else {
            for (index, part) in parts.enumerated() {
                if index > 0 { output.append("\n") }
                output.append("experiment: \(PlainText.escaped(part.name))\n")
                output.append(
                    ReportTables.columns(
                        part.columns, of: part.schema, elsewhere: "--format json"))
            }
        }
        try output.flush()
    }

    private func json(_ part: Part) -> JSONValue {
        .object([
            "experiment": .string(part.name),
            "columns": .array(part.columns.map { json($0, in: part.schema) }),
        ])
    }

    private func json(_ info: ColumnInfo, in schema: ExperimentSchema?) -> JSONValue {
        let text = ColumnText(info.column, in: schema)
        return .object([
            "name": .string(info.column.name),
            "kind": .string(info.column.kind.text),
            "type": .string(info.column.type.name),
            "unit": .string(text.unit),
            "note": .string(info.column.note),
            "description": .string(text.description),
            "question": .string(text.question),
            "options": .array(text.options.map { .string($0) }),
            "count": .count(info.count),
            "first_time": .time(info.firstTime),
            "last_time": .time(info.lastTime),
            "bytes": .count(info.bytes),
            "encodings": .object(
                info.encodings.map {
                    JSONValue.JSONMember(key: $0.name, value: .count($0.blocks))
                }),
        ])
    }
}

extension Column.Kind {
    var text: String { self == .field ? "field" : "attribute" }
}
