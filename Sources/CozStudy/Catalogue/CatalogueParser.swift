// Parses the table in CozieTable.swift. Its head comment describes the format.

internal import CozDB

/// The fields of a table, and its errors.
struct CatalogueParser {
    private(set) var fields: [CozieField] = []
    /// Errors with line numbers. Invalid lines are skipped.
    private(set) var problems: [String] = []
    private var lineNumber = 0

    private static let columns = ["name", "type", "unit", "rate", "every", "device", "beside"]

    init(_ table: String) {
        // Splits bytes: splitting characters would dominate the run time of a short command.
        let newline = UInt8(ascii: "\n")
        for line in Array(table.utf8).split(separator: newline, omittingEmptySubsequences: false) {
            lineNumber += 1
            read(line)
        }
        checkNames()
    }

    private mutating func report(_ problem: String) {
        problems.append("line \(lineNumber): \(problem)")
    }

    private mutating func read(_ line: ArraySlice<UInt8>) {
        let text = line.drop { $0 == CatalogueParser.blank }
        if line.first == UInt8(ascii: "#") || text.isEmpty { return }
        if text.startIndex - line.startIndex >= 4 { return readDetail(text) }
        let cells = CatalogueParser.cells(line)
        if cells == CatalogueParser.columns { return }
        guard let field = field(cells) else {
            return report(
                "found \(cells), expected a field's \(CatalogueParser.columns.count) columns")
        }
        fields.append(field)
    }

    private static let blank = UInt8(ascii: " ")

    /// Splits a line into cells separated by two or more blanks.
    private static func cells(_ line: ArraySlice<UInt8>) -> [String] {
        var cells: [String] = []
        var rest = line
        while !rest.isEmpty {
            var end = rest.startIndex
            while end < rest.endIndex,
                rest[end] != blank || (end + 1 < rest.endIndex && rest[end + 1] != blank)
            {
                end += 1
            }
            cells.append(String(decoding: rest[..<end], as: UTF8.self))
            rest = rest[end...].drop { $0 == blank }
        }
        return cells
    }

    private func field(_ cells: [String]) -> CozieField? {
        guard cells.count == CatalogueParser.columns.count,
            let rate = CozieField.LoggingRate(rawValue: cells[3]),
            let device = CozieField.Device(rawValue: cells[5])
        else { return nil }
        let type = CatalogueParser.type(cells[1])
        guard type != nil || cells[1] == "time" else { return nil }
        let words = cells[6] == "-" ? [] : cells[6].parts(separatedBy: ",")
        let arrivals = words.compactMap { CozieField.ArrivalForm(rawValue: $0) }
        guard arrivals.count == words.count else { return nil }
        return CozieField(
            name: cells[0], type: type, unit: cells[2] == "-" ? "" : cells[2], rate: rate,
            interval: cells[4] == "-" ? "" : cells[4], device: device, arrivals: arrivals)
    }

    private static func type(_ word: String) -> FieldType? {
        switch word {
        case "float": .float
        case "integer": .integer
        case "string": .string
        case "boolean": .boolean
        default: nil
        }
    }

    private mutating func readDetail(_ text: ArraySlice<UInt8>) {
        guard let last = fields.indices.last else { return report("text before the first field") }
        if let names = CatalogueParser.list(text, after: "v2:") {
            fields[last].namesInV2 = names
        } else if let names = CatalogueParser.list(text, after: "was:") {
            fields[last].formerNames = names
        } else if let words = CatalogueParser.list(text, after: "documented as:") {
            fields[last].documentedAs = words
        } else {
            if !fields[last].meaning.isEmpty { fields[last].meaning += " " }
            fields[last].meaning += String(decoding: text, as: UTF8.self)
        }
    }

    private static func list(_ text: ArraySlice<UInt8>, after word: String) -> [String]? {
        guard text.starts(with: word.utf8) else { return nil }
        return text.dropFirst(word.utf8.count).split(separator: UInt8(ascii: ",")).map { part in
            String(decoding: part.drop { $0 == blank }, as: UTF8.self)
        }
    }

    private mutating func checkNames() {
        var known: Set<String> = []
        for field in fields {
            if !known.insert(field.name).inserted {
                problems.append(
                    "duplicate field: \(field.name)")
            }
            if field.meaning.isEmpty {
                problems.append(
                    "field without a description: \(field.name)")
            }
            if field.name.utf8.count(where: { $0 == UInt8(ascii: "*") }) > 1 {
                problems.append("more than one * in \(field.name)")
            }
        }
    }
}
