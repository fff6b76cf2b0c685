// As much of JSON as the conformance cases need.

/// One JSON value; numbers keep their text, so that 64-bit integers stay exact.
enum JSONValue: Sendable {
    case null
    case boolean(Bool)
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    subscript(_ key: String) -> JSONValue? {
        if case .object(let members) = self { members[key] } else { nil }
    }

    var text: String? {
        if case .string(let text) = self { text } else { nil }
    }

    var number: String? {
        if case .number(let text) = self { text } else { nil }
    }

    var members: [String: JSONValue] {
        if case .object(let members) = self { members } else { [:] }
    }

    /// Nil where the text is not JSON.
    init?(_ text: some StringProtocol) {
        var reader = Reader(rest: Array(text.unicodeScalars)[...])
        guard let value = reader.value() else { return nil }
        self = value
    }

    private struct Reader {
        var rest: ArraySlice<Unicode.Scalar>

        mutating func skipBlanks() {
            rest = rest.drop { " \t\r\n".unicodeScalars.contains($0) }
        }

        mutating func take(_ scalar: Unicode.Scalar) -> Bool {
            skipBlanks()
            guard rest.first == scalar else { return false }
            rest.removeFirst()
            return true
        }

        mutating func value() -> JSONValue? {
            skipBlanks()
            if take("{") { return object() }
            if take("[") { return array() }
            if take("\"") { return string().map { .string($0) } }
            let word = String(
                String.UnicodeScalarView(rest.prefix { !",]} \n".unicodeScalars.contains($0) }))
            rest = rest.dropFirst(word.unicodeScalars.count)
            switch word {
            case "": return nil
            case "null": return .null
            case "true": return .boolean(true)
            case "false": return .boolean(false)
            default: return .number(word)
            }
        }

        mutating func object() -> JSONValue? {
            var members: [String: JSONValue] = [:]
            if take("}") { return .object(members) }
            repeat {
                guard take("\""), let key = string(), take(":"), let value = value() else {
                    return nil
                }
                members[key] = value
            } while take(",")
            return take("}") ? .object(members) : nil
        }

        mutating func array() -> JSONValue? {
            var items: [JSONValue] = []
            if take("]") { return .array(items) }
            repeat {
                guard let value = value() else { return nil }
                items.append(value)
            } while take(",")
            return take("]") ? .array(items) : nil
        }

        mutating func string() -> String? {
            var units: [UInt16] = []
            while let scalar = rest.popFirst() {
                if scalar == "\"" { return String(decoding: units, as: UTF16.self) }
                guard scalar == "\\" else {
                    units.append(contentsOf: String(scalar).utf16)
                    continue
                }
                guard let escape = rest.popFirst() else { return nil }
                if escape == "u" {
                    let digits = String(String.UnicodeScalarView(rest.prefix(4)))
                    guard let unit = UInt16(digits, radix: 16) else { return nil }
                    units.append(unit)
                    rest = rest.dropFirst(4)
                } else {
                    let plain: [Unicode.Scalar: Unicode.Scalar] = [
                        "n": "\n", "t": "\t", "r": "\r", "b": "\u{8}", "f": "\u{C}",
                    ]
                    units.append(contentsOf: String(plain[escape] ?? escape).utf16)
                }
            }
            return nil
        }
    }
}
