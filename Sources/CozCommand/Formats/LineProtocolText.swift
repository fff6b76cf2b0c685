// Line protocol text for answers and exports: escapes, and what the format cannot represent
// (docs/line-protocol.md).

internal import CozDB

enum LineProtocolText {
    // MARK: Names

    /// Appends the name of an experiment, with commas and spaces escaped.
    static func append(experiment: String, to bytes: inout [UInt8]) {
        append(experiment, escaping: [UInt8(ascii: ","), UInt8(ascii: " ")], to: &bytes)
    }

    /// Appends a tag name, tag value or field name, with commas, spaces and `=` escaped.
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

    // MARK: What line protocol cannot represent

    /// Whether a tag or field can have the name. `time` is reserved for the times.
    static func canRepresent(key name: String) -> Bool {
        LineText.canRepresent(name) && !name.utf8.elementsEqual("time".utf8)
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
        "\(number.description), which line protocol cannot represent as a number"
    }

    // MARK: Values

    /// Appends a value. Returns false for NaN and infinities, which line protocol cannot represent.
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
