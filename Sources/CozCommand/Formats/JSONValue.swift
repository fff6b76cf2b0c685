// A small JSON document in memory, for parameters and reports.

internal import CozDB
internal import CozImport

indirect enum JSONValue: Equatable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    /// Members in the order in which they were written.
    case object([JSONMember])

    struct JSONMember: Equatable {
        var key: String
        var value: JSONValue
    }

    static func object(_ members: KeyValuePairs<String, JSONValue>) -> JSONValue {
        .object(members.map { JSONMember(key: $0.key, value: $0.value) })
    }

    /// The time as RFC 3339, or null.
    static func time(_ time: Timestamp?) -> JSONValue {
        guard let time else { return .null }
        return .string(TimeText(style: .full).text(time.nanoseconds))
    }

    static func count(_ number: Int) -> JSONValue { .integer(Int64(number)) }

    /// The document on one line.
    var line: String { text(indent: nil) }

    /// - Parameter indent: The indentation of objects and arrays that do not fit on a line; it
    ///   grows by two spaces per level. Nil prints everything on one line.
    func text(indent: Int? = 0) -> String {
        let inner = indent.map { $0 + 2 }
        switch self {
        case .null: return "null"
        case .boolean(let flag): return flag ? "true" : "false"
        case .integer(let number): return String(number)
        case .number(let number): return number.isFinite ? NumberText.text(number) : "null"
        case .string(let text): return JSONText.quoted(text)
        case .array(let items):
            return JSONValue.list("[", items.map { $0.text(indent: inner) }, "]", indent)
        case .object(let members):
            let lines = members.map {
                JSONText.quoted($0.key) + ": " + $0.value.text(indent: inner)
            }
            return JSONValue.list("{", lines, "}", indent)
        }
    }

    private static func list(
        _ open: String, _ items: [String], _ close: String, _ indent: Int?
    ) -> String {
        let size = items.reduce(0) { $0 + $1.utf8.count + 2 }
        guard let indent, size >= 76 - indent || items.contains(where: { $0.contains("\n") })
        else { return open + items.joined(separator: ", ") + close }
        let blanks = String(repeating: " ", count: indent)
        return "\(open)\n\(blanks)  " + items.joined(separator: ",\n\(blanks)  ")
            + "\n\(blanks)\(close)"
    }
}

extension JSONValue {
    /// Parses a JSON document.
    ///
    /// - Throws: `usage` with the line and column of the error.
    static func read(_ text: String) throws(DatabaseError) -> JSONValue {
        JSONValue(try JSONNode.parse(text))
    }

    private init(_ node: JSONNode) {
        switch node.value {
        case .null: self = .null
        case .boolean(let flag): self = .boolean(flag)
        case .integer(let number): self = .integer(number)
        case .float(let number): self = .number(number)
        case .string(let text): self = .string(text)
        case .array(let items): self = .array(items.map { JSONValue($0) })
        case .object(let members):
            self = .object(
                members.map { JSONValue.JSONMember(key: $0.key, value: JSONValue($0.value)) })
        }
    }
}
