// `cozdb catalogue`: the known fields of Cozie data.

internal import ArgumentParser
internal import CozDB
internal import CozStudy
internal import CozPlatform

struct CatalogueCommand: ParsableCommand {
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case table, csv, json
    }

    static let configuration = CommandConfiguration(
        commandName: "catalogue",
        abstract: "Show the fields of Cozie data: type, unit, logging rate, meaning, old names.",
        discussion: """
            A pattern is a name, a Cozie 2 name, part of a name, or a name with * and ?. If one \
            field matches, all its details are shown. The preset cozie-v3 and --rename cozie-v2 of \
            cozdb import use this catalogue. See docs/catalogue.md.

            Groups: api, app, id, pss, q, si, ts, ws, wss, notification, action, and row for \
            fields without one of these prefixes.

            Examples:
              cozdb catalogue
              cozdb catalogue ts_heart_rate
              cozdb catalogue 'ws_sleep_*'
              cozdb catalogue --group wss --format csv > settings.csv
            """)

    @Option(help: "Output format: table for people, csv or json for programs.")
    var format = Format.table

    @Option(
        help: ArgumentHelp("Show only fields of this group, such as ts or q.", valueName: "prefix"))
    var group: String?

    @Argument(help: "A name, part of a name, or a name with * and ?. The default is all fields.")
    var pattern: String?

    func run() throws {
        let fields = try found()
        let output = OutputWriter()
        switch format {
        case .json:
            output.append(JSONValue.array(fields.map(CatalogueCommand.json)).text() + "\n")
        case .csv: output.append(CatalogueCommand.csv(fields))
        case .table:
            if pattern != nil, fields.count == 1 {
                output.append(CatalogueText.details(fields[0], askedFor: pattern))
            } else {
                let width = Terminal.columns(STDOUT_FILENO)
                output.append(CatalogueText.table(fields, widthMax: width))
            }
        }
        try output.flush()
    }

    private func found() throws(DatabaseError) -> [CozieField] {
        let catalogue = CozieCatalogue.v3
        let prefix = group.map {
            String($0.utf8.last == UInt8(ascii: "_") ? $0.dropLast() : $0[...])
        }
        let fields = catalogue.fields.filter { prefix == nil || $0.group == prefix }
        if let group, fields.isEmpty {
            throw DatabaseError(
                .notFound,
                "--group: found \"\(group)\", expected one of "
                    + CozieField.allGroups.joined(separator: ", "))
        }
        guard let pattern else { return fields }
        let matching = catalogue.fields(matching: pattern, group: prefix)
        if matching.isEmpty { throw notFound(pattern, in: fields) }
        return matching
    }

    private func notFound(_ pattern: String, in fields: [CozieField]) -> DatabaseError {
        let names = fields.flatMap { [$0.name] + $0.namesInV2 + $0.formerNames }
        let near = NameSuggestion.nearest(pattern, among: names, count: 3)
        let hint =
            near.isEmpty
            ? "cozdb catalogue lists all fields" : "similar names: \(near.joined(separator: ", "))"
        let place = group.map { " of group \($0)" } ?? ""
        return DatabaseError(
            .notFound,
            "found no field\(place) matching \"\(pattern)\", expected a name, part of a name, or a "
                + "pattern with * and ?; \(hint)")
    }

    private static func json(_ field: CozieField) -> JSONValue {
        func list(_ words: [String]) -> JSONValue { .array(words.map { .string($0) }) }
        return .object([
            "name": .string(field.name),
            "group": .string(field.group),
            "type": field.type.map { .string($0.name) } ?? .null,
            "unit": .string(field.unit),
            "rate": .string(field.rate.rawValue),
            "interval": .string(field.interval),
            "device": .string(field.device.rawValue),
            "description": .string(field.meaning),
            "v2_names": list(field.namesInV2),
            "former_names": list(field.formerNames),
            "documented_as": list(field.documentedAs),
            "companions": list(field.companions.map(\.name)),
        ])
    }

    private static func csv(_ fields: [CozieField]) -> String {
        let titles = [
            "name", "group", "type", "unit", "rate", "interval", "device", "description",
            "v2_names", "former_names", "documented_as", "companions",
        ]
        var bytes: [UInt8] = Array(titles.joined(separator: ",").utf8)
        for field in fields {
            bytes.append(UInt8(ascii: "\n"))
            let cells = [
                field.name, field.group, field.type?.name ?? "", field.unit, field.rate.rawValue,
                field.interval, field.device.rawValue, field.meaning,
                field.namesInV2.joined(separator: " "), field.formerNames.joined(separator: " "),
                field.documentedAs.joined(separator: "; "),
                field.companions.map(\.name).joined(separator: " "),
            ]
            for (index, cell) in cells.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                // An empty cell stands for a missing value, as null does in an answer.
                if !cell.isEmpty { CSVFormat.append(cell, to: &bytes) }
            }
        }
        return String(decoding: bytes, as: UTF8.self) + "\n"
    }
}
