// What answers and exports have in common when they write line protocol: escapes, and what it has
// no way to say (docs/line-protocol.md).

internal import CozDB

/// Names and values as line protocol writes them.
enum LineProtocolText {
    // MARK: Names

    /// An experiment: comma and blank are escaped.
    static func append(experiment: String, to bytes: inout [UInt8]) {
        append(experiment, escaping: [UInt8(ascii: ","), UInt8(ascii: " ")], to: &bytes)
    }

    /// A tag name, tag value or field name: `=` as well.
    static func append(key: String, to bytes: inout [UInt8]) {
        append(
            key, escaping: [UInt8(ascii: ","), UInt8(ascii: " "), UInt8(ascii: "=")], to: &bytes)
    }

    private static func append(_ text: String, escaping: [UInt8], to bytes: inout [UInt8]) {
        for byte in text.utf8 {
            if escaping.contains(byte) { bytes.append(UInt8(ascii: "\\")) }
            bytes.append(byte)
        }
    }

    // MARK: What it cannot say

    /// A line must not begin as a comment does, or with what is passed over there.
    static func canSay(experiment name: String) -> Bool {
        canSay(value: name) && name.utf8.first != UInt8(ascii: "#") && !LineText.isPassedOver(name)
            && !name.utf8.starts(with: "\u{FEFF}".utf8)
    }

    /// The name of a tag or field: `time` is that of the times.
    static func canSay(key name: String) -> Bool {
        canSay(value: name) && !name.utf8.elementsEqual("time".utf8)
    }

    /// A line break ends the line, and a backslash at the end would take the meaning from the
    /// byte behind it.
    static func canSay(value text: String) -> Bool {
        var last: UInt8 = 0
        for byte in text.utf8 {
            if byte == UInt8(ascii: "\n") { return false }
            last = byte
        }
        return last != UInt8(ascii: "\\")
    }

    static func loss(experiment name: String) -> String {
        "the experiment name \(name.debugDescription)"
    }

    static func loss(field name: String) -> String {
        "the field name \(name.debugDescription)"
    }

    static func loss(tag name: String, _ value: String) -> String {
        "the tag \(name.debugDescription) with value \(value.debugDescription)"
    }

    static func loss(number: FieldValue) -> String {
        "\(number.description), which line protocol has no number for"
    }

    // MARK: Values

    /// False where line protocol cannot say the value (NaN and the infinities).
    static func append(_ value: FieldValue, to bytes: inout [UInt8]) -> Bool {
        switch value {
        case .float(let number):
            guard number.isFinite else { return false }
            bytes.append(contentsOf: NumberText.text(number).utf8)
        case .integer(let number): bytes.append(contentsOf: "\(number)i".utf8)
        case .boolean(let flag): bytes.append(contentsOf: (flag ? "true" : "false").utf8)
        case .string(let text):
            bytes.append(UInt8(ascii: "\""))
            for byte in text.utf8 {
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                    bytes.append(UInt8(ascii: "\\"))
                }
                bytes.append(byte)
            }
            bytes.append(UInt8(ascii: "\""))
        }
        return true
    }
}
