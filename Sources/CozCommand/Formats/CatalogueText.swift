// Catalogue fields as text for people: a table of several fields, or all details of one.

internal import CozDB
internal import CozStudy

enum CatalogueText {
    /// Minimum width of the column `meaning`.
    private static let meaningWidthMin = 24

    /// The columns before `meaning`. Narrow terminals show only the first of them.
    private static let columns: [(title: String, cell: @Sendable (CozieField) -> String)] = [
        ("name", { $0.name }),
        ("type", { $0.type?.name ?? "time" }),
        ("unit", { $0.unit }),
        ("sent", { $0.rate.rawValue }),
        ("measured", { $0.interval }),
        ("device", { $0.device.rawValue }),
        ("in Cozie 2", { $0.namesInV2.joined(separator: ", ") }),
    ]

    /// - Parameter widthMax: Width of the terminal; nil if there is none.
    static func table(_ fields: [CozieField], widthMax: Int?) -> String {
        var columns = columns.filter { column in fields.contains { !column.cell($0).isEmpty } }
        var meaningWidth = Int.max
        if let widthMax {
            let widths = columns.map { column in
                fields.reduce(PlainText.width(column.title)) { width, field in
                    max(width, PlainText.width(column.cell(field)))
                }
            }
            func rest() -> Int {
                widthMax - widths.prefix(columns.count).reduce(0) { $0 + $1 + 2 }
            }
            while columns.count > 2, rest() < meaningWidthMin { columns.removeLast() }
            meaningWidth = max(meaningWidthMin, rest())
        }
        var table = TextTable(
            columns.map { .init($0.title) } + [.init("meaning")], cellWidthMax: .max)
        for field in fields {
            let meaning = PlainText.cut(field.meaning, width: meaningWidth)
            table.append(columns.map { $0.cell(field) } + [meaning])
        }
        return table.takeText() + legend(fields)
    }

    /// Explains the values of the column `sent`.
    private static func legend(_ fields: [CozieField]) -> String {
        let rates = CozieField.LoggingRate.allCases.filter { rate in
            fields.contains { $0.rate == rate }
        }
        return "\n"
            + rates.map { "\(PlainText.padded($0.rawValue, to: 5)) \($0.meaning)\n" }
            .joined()
    }

    /// - Parameter name: The name that the user gave. If it is an old name, the text says so.
    static func details(_ field: CozieField, askedFor name: String?) -> String {
        var text = "\(PlainText.escaped(field.name))\n"
        if let name, (field.namesInV2 + field.formerNames).contains(name), name != field.name {
            let kind = field.namesInV2.contains(name) ? "the Cozie 2 name" : "an old name"
            text = "\(name) is \(kind) of \(text)"
        }
        text += "  \(field.meaning)\n\n"
        var lines = [
            ("type", field.type?.name ?? "the time of the row, not a field"),
            ("unit", field.unit),
            ("sent", field.rate.meaning),
            ("measured", field.interval.isEmpty ? "" : "every \(field.interval)"),
            ("device", field.device.meaning),
            ("in Cozie 2", field.namesInV2.joined(separator: ", ")),
            ("old names", field.formerNames.joined(separator: ", ")),
            ("documented", field.documentedAs.joined(separator: ", ")),
        ]
        lines += field.companions.enumerated().map { index, companion in
            let unit = companion.unit.isEmpty ? "" : ", \(companion.unit)"
            return (
                index == 0 ? "companions" : " ",
                "\(companion.name) (\(companion.type?.name ?? "")\(unit))"
            )
        }
        for (title, value) in lines where !value.isEmpty {
            text += "  \(PlainText.padded(title, to: 12))\(PlainText.escaped(value))\n"
        }
        return text
    }
}
