// Reads the table of CozieTable.swift, whose head describes the form.

internal import CozDB

/// Fields from the lines of a table, and what is wrong with the table.
struct CatalogueParser {
    private(set) var fields: [CozieField] = []
    /// Lines that make no sense, with their numbers. Such lines are left out.
    private(set) var problems: [String] = []
    private var lineNumber = 0

    private static let columns = ["name", "type", "unit", "rate", "every", "device", "beside"]

    init(_ table: String) {
        for line in table.split(separator: "\n", omittingEmptySubsequences: false) {
            lineNumber += 1
            read(line)
        }
        checkNames()
    }

    private mutating func report(_ problem: String) {
        problems.append("line \(lineNumber): \(problem)")
    }

    private mutating func read(_ line: Substring) {
        if line.first == "#" || line.allSatisfy({ $0 == " " }) { return }
        if line.hasPrefix("    ") { return readDetail(line.drop { $0 == " " }) }
        let cells = CatalogueParser.cells(line)
        if cells == CatalogueParser.columns { return }
        guard let field = field(cells) else {
            return report(
                "found \(cells), expected a field's \(CatalogueParser.columns.count) columns")
        }
        fields.append(field)
    }

    /// Cells stand two or more blanks apart.
    private static func cells(_ line: Substring) -> [String] {
        var cells: [String] = []
        var blanks = 2
        for character in line {
            if character == " " {
                blanks += 1
                continue
            }
            if blanks >= 2 {
                cells.append("")
            } else if blanks == 1 {
                cells[cells.count - 1] += " "
            }
            blanks = 0
            cells[cells.count - 1].append(character)
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
        let words = cells[6] == "-" ? [] : cells[6].split(separator: ",")
        let arrivals = words.compactMap { CozieField.ArrivalForm(rawValue: String($0)) }
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

    private mutating func readDetail(_ text: Substring) {
        guard let last = fields.indices.last else { return report("text before the first field") }
        if let names = CatalogueParser.list(text, after: "v2:") {
            fields[last].namesInV2 = names
        } else if let names = CatalogueParser.list(text, after: "was:") {
            fields[last].formerNames = names
        } else if let words = CatalogueParser.list(text, after: "documented as:") {
            fields[last].documentedAs = words
        } else {
            if !fields[last].meaning.isEmpty { fields[last].meaning += " " }
            fields[last].meaning += text
        }
    }

    private static func list(_ text: Substring, after word: String) -> [String]? {
        guard text.hasPrefix(word) else { return nil }
        return text.dropFirst(word.count).split(separator: ",").map { part in
            String(part.drop { $0 == " " })
        }
    }

    private mutating func checkNames() {
        var known: Set<String> = []
        for field in fields {
            if !known.insert(field.name).inserted { problems.append("twice: \(field.name)") }
            if field.meaning.isEmpty { problems.append("without a text: \(field.name)") }
            if field.name.utf8.count(where: { $0 == UInt8(ascii: "*") }) > 1 {
                problems.append("more than one * in \(field.name)")
            }
        }
    }
}
