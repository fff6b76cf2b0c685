// Documentation and real data that lie beside the package where it is developed, as the tests of
// the catalogue read them.

internal import Foundation

/// A row of a table of the documentation's pages "Data Overview".
struct DocumentedField {
    var place: String
    var name: String
    var type: String
    /// As `CozieField.LoggingRate` writes it, or the words of the page.
    var rate: String
    /// Empty where there is none; nil where the table does not say it.
    var interval: String?
    var namesInV2: [String]
}

enum CatalogueSources {
    /// The directory with documentation and data, or nil.
    static let directory: URL? = {
        var folder = URL(fileURLWithPath: #filePath)
        for _ in 0..<7 {
            folder.deleteLastPathComponent()
            let shared = folder.appendingPathComponent("shared")
            let sign = shared.appendingPathComponent("docs/domain.md").path
            if FileManager.default.fileExists(atPath: sign) { return shared }
        }
        return nil
    }()

    static func text(_ name: String) throws -> String {
        guard let directory else { return "" }
        let url = directory.appendingPathComponent(name)
        return String(decoding: try Data(contentsOf: url), as: UTF8.self)
    }

    static func files(_ folder: String, ending: String) throws -> [String] {
        guard let directory else { return [] }
        let url = directory.appendingPathComponent(folder)
        return try FileManager.default.contentsOfDirectory(atPath: url.path)
            .filter { $0.hasSuffix(ending) }.sorted().map { "\(folder)/\($0)" }
    }

    /// Names of the columns of a CSV file, without those without a name.
    static func columns(_ name: String) throws -> [String] {
        let line = try text(name).split(whereSeparator: \.isNewline).first ?? ""
        return line.split(separator: ",").map(String.init)
    }

    /// The fields of both pages.
    static func documentedFields() throws -> [DocumentedField] {
        try files("seeds", ending: ".txt").prefix(2).flatMap { file in
            documentedFields(of: try text(file), file)
        }
    }

    private static func documentedFields(of page: String, _ file: String) -> [DocumentedField] {
        var fields: [DocumentedField] = []
        var columns = 0
        for (index, line) in page.components(separatedBy: "\n").enumerated() {
            let cells = cells(line)
            if cells.first == "Field name" { columns = cells.count }
            guard cells.count >= 5, columns >= 5 else {
                // A table ends with the first line that is none of its rows.
                if !line.contains("--") { columns = 0 }
                continue
            }
            guard cells[0] != "Field name", !cells[0].hasPrefix("--") else { continue }
            let name = String(cells[0].prefix { $0 != "(" }).filter { $0 != " " && $0 != "`" }
            for part in name.split(separator: "/") {
                fields.append(
                    DocumentedField(
                        place: "\(file):\(index + 1)",
                        name: part == "q_..." ? "q_*" : String(part),
                        type: cells[1].filter { $0 != "?" }, rate: rate(cells[2]),
                        // The table of companions has no column for it.
                        interval: columns == 6 ? interval(cells[3]) : nil,
                        namesInV2: columns == 6 ? names(cells[cells.count - 1]) : []))
            }
        }
        return fields
    }

    private static func cells(_ line: String) -> [String] {
        var text = line.replacingOccurrences(of: "<br/>", with: "")
            .replacingOccurrences(of: "&nbsp;", with: " ")
        text = text.trimmingCharacters(in: .whitespaces)
        guard text.contains("|") else { return [] }
        if text.hasPrefix("|") { text.removeFirst() }
        if text.hasSuffix("|") { text.removeLast() }
        return text.components(separatedBy: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    private static func rate(_ cell: String) -> String {
        if cell.hasPrefix("[") { return String(cell.dropFirst().prefix { $0 == "*" }) }
        switch cell.lowercased() {
        case "logged with any other data point": return "row"
        case "logged when any sync button in the cozie iphone app": return "sync"
        case let words where words.hasPrefix("logged when the submit button"): return "**"
        case let words: return words
        }
    }

    private static func interval(_ cell: String) -> String {
        let text = cell.prefix { $0 != "(" }.filter { $0 != "?" && $0 != " " }
        return text == "-" ? "" : String(text)
    }

    /// Names of fields in the column of the older version; its other words are none.
    private static func names(_ cell: String) -> [String] {
        let names = cell.filter { $0 != "`" && $0 != " " }.split(separator: ",").map(String.init)
        let words = ["notavailable", "Description", "indevelopment", "willbeaddedwithCozie3.0.2"]
        return names.filter { name in
            !words.contains(name) && name.allSatisfy { $0.isLetter || $0 == "_" }
        }
    }
}
