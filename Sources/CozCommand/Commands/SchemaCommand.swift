// `cozdb schema`: the fields of experiments, with what is stored in them.

internal import ArgumentParser
internal import CozDB
internal import Glibc

struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Show fields and attributes: type, unit, count, times, bytes, encodings.",
        discussion: """
            Examples:
              cozdb schema --db study.cozdb
              cozdb schema --db study.cozdb dev --format json
            """)

    @OptionGroup var database: DatabaseOption

    @Option(help: "A table for people or JSON for programs.")
    var format = ReportFormat.table

    @Argument(help: "The experiment; without it, all of them.")
    var experiment: String?

    private struct Part {
        var name: String
        var columns: [ColumnInfo]
    }

    func run() throws {
        let parts = try Database.withReader(database.path) { database throws(DatabaseError) in
            var names = [String]()
            if let experiment {
                names = [experiment]
            } else {
                names = try database.schemas().map(\.name)
            }
            var parts: [Part] = []
            for name in names {
                parts.append(Part(name: name, columns: try database.columns(of: name)))
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
                output.append(ReportTables.columns(part.columns, elsewhere: "--format json"))
            }
        }
        try output.flush()
    }

    private func json(_ part: Part) -> JSONValue {
        .object([
            "experiment": .string(part.name),
            "columns": .array(
                part.columns.map { info in
                    .object([
                        "name": .string(info.column.name),
                        "kind": .string(info.column.kind.text),
                        "type": .string(info.column.type.name),
                        "unit": .string(info.column.unit),
                        "note": .string(info.column.note),
                        "count": .count(info.count),
                        "first_time": .time(info.firstTime),
                        "last_time": .time(info.lastTime),
                        "bytes": .count(info.bytes),
                        "encodings": .object(
                            info.encodings.map {
                                JSONValue.JSONMember(key: $0.name, value: .count($0.blocks))
                            }),
                    ])
                }),
        ])
    }
}

extension Column.Kind {
    var text: String { self == .field ? "field" : "attribute" }
}
