// A small JSON document in memory: parameters that come in, reports that go out.

internal import CozDB

indirect enum JSONValue: Equatable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    /// Keys in the order in which they were written.
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

    /// - Parameter indent: blanks before objects and arrays that do not fit on a line, two more
    ///   with each level; nil keeps everything on one line.
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

/// Reads one JSON document.
struct JSONReader {
    private static let depthMax = 64

    private let text: [UInt8]
    private var index = 0

    private init(_ text: String) {
        self.text = Array(text.utf8)
    }

    /// - Throws: `usage` with the byte offset of what is wrong.
    static func read(_ text: String) throws(DatabaseError) -> JSONValue {
        var reader = JSONReader(text)
        let value = try reader.value(depth: 0)
        reader.skipBlanks()
        guard reader.index == reader.text.count else { throw reader.wrong("end of the text") }
        return value
    }

    private func wrong(_ expected: String) -> DatabaseError {
        let found =
            index < text.count
            ? "\"\(String(decoding: text[index..<min(index + 20, text.count)], as: UTF8.self))\""
            : "the end"
        return DatabaseError(
            .usage, "JSON: found \(found) at byte \(index + 1), expected \(expected)",
            offset: index)
    }

    private var byte: UInt8? { index < text.count ? text[index] : nil }

    private mutating func skipBlanks() {
        while let byte, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { index += 1 }
    }

    private mutating func take(_ word: String) -> Bool {
        let matches = text[index...].starts(with: word.utf8)
        if matches { index += word.utf8.count }
        return matches
    }

    private mutating func value(depth: Int) throws(DatabaseError) -> JSONValue {
        guard depth < JSONReader.depthMax else { throw wrong("less nesting") }
        skipBlanks()
        switch byte {
        case UInt8(ascii: "{"): return try object(depth)
        case UInt8(ascii: "["): return try array(depth)
        case UInt8(ascii: "\""): return .string(try string())
        default: break
        }
        if take("true") { return .boolean(true) }
        if take("false") { return .boolean(false) }
        if take("null") { return .null }
        return try number()
    }

    private mutating func object(_ depth: Int) throws(DatabaseError) -> JSONValue {
        index += 1
        var members: [JSONValue.JSONMember] = []
        skipBlanks()
        if take("}") { return .object(members) }
        repeat {
            skipBlanks()
            guard byte == UInt8(ascii: "\"") else { throw wrong("a name in quotes") }
            let key = try string()
            skipBlanks()
            guard take(":") else { throw wrong("a colon") }
            members.append(JSONValue.JSONMember(key: key, value: try value(depth: depth + 1)))
            skipBlanks()
        } while take(",")
        guard take("}") else { throw wrong("a comma or }") }
        return .object(members)
    }

    private mutating func array(_ depth: Int) throws(DatabaseError) -> JSONValue {
        index += 1
        var items: [JSONValue] = []
        skipBlanks()
        if take("]") { return .array(items) }
        repeat {
            items.append(try value(depth: depth + 1))
            skipBlanks()
        } while take(",")
        guard take("]") else { throw wrong("a comma or ]") }
        return .array(items)
    }

    private mutating func number() throws(DatabaseError) -> JSONValue {
        let start = index
        while let byte, "+-.0123456789eE".utf8.contains(byte) { index += 1 }
        let word = String(decoding: text[start..<index], as: UTF8.self)
        if let number = Int64(word) { return .integer(number) }
        if let number = Double(word), number.isFinite { return .number(number) }
        index = start
        throw wrong("a value")
    }

    private mutating func string() throws(DatabaseError) -> String {
        index += 1
        var bytes: [UInt8] = []
        while let byte, byte != UInt8(ascii: "\"") {
            guard byte >= 0x20 else { throw wrong("no control character in a string") }
            index += 1
            if byte == UInt8(ascii: "\\") { try escape(&bytes) } else { bytes.append(byte) }
        }
        guard take("\"") else { throw wrong("a quote") }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw wrong("UTF-8 in the string before")
        }
        return text
    }

    private mutating func escape(_ bytes: inout [UInt8]) throws(DatabaseError) {
        guard let byte else { throw wrong("an escape") }
        index += 1
        switch byte {
        case UInt8(ascii: "n"): bytes.append(0x0A)
        case UInt8(ascii: "t"): bytes.append(0x09)
        case UInt8(ascii: "r"): bytes.append(0x0D)
        case UInt8(ascii: "b"): bytes.append(0x08)
        case UInt8(ascii: "f"): bytes.append(0x0C)
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): bytes.append(byte)
        case UInt8(ascii: "u"): try unicodeEscape(&bytes)
        default: throw wrong("one of n t r b f u after the backslash")
        }
    }

    private mutating func unicodeEscape(_ bytes: inout [UInt8]) throws(DatabaseError) {
        var units = [try codeUnit()]
        if UTF16.isLeadSurrogate(units[0]), take("\\u") { units.append(try codeUnit()) }
        guard let text = String(validating: units, as: UTF16.self) else {
            throw wrong("a pair of surrogates before")
        }
        bytes.append(contentsOf: text.utf8)
    }

    private mutating func codeUnit() throws(DatabaseError) -> UInt16 {
        let digits = String(decoding: text[index..<min(index + 4, text.count)], as: UTF8.self)
        guard digits.utf8.count == 4, let unit = UInt16(digits, radix: 16) else {
            throw wrong("four hexadecimal digits")
        }
        index += 4
        return unit
    }
}
