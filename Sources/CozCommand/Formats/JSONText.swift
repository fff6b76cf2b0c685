// JSON as Go's encoding/json prints it, which is what InfluxDB answers with.

internal import CozStudy

enum JSONText {
    private static let hexDigits = Array("0123456789abcdef".utf8)

    /// The string in quotes. Like Go: `<`, `>` and `&` escaped, and U+2028, U+2029.
    static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\":
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(UInt8(truncatingIfNeeded: scalar.value))
            case "\n": bytes.append(contentsOf: "\\n".utf8)
            case "\r": bytes.append(contentsOf: "\\r".utf8)
            case "\t": bytes.append(contentsOf: "\\t".utf8)
            case "<", ">", "&", "\u{2028}", "\u{2029}", "\u{0}"..<"\u{20}":
                bytes.append(contentsOf: "\\u".utf8)
                for shift in [UInt32(12), 8, 4, 0] {
                    bytes.append(hexDigits[Int(scalar.value >> shift & 15)])
                }
            default: bytes.append(contentsOf: Unicode.UTF8.encode(scalar) ?? .init())
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    static func quoted(_ text: String) -> String {
        var bytes: [UInt8] = []
        append(text, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// JSON has no word for NaN and the infinities: null.
    static func number(_ value: Double) -> String {
        value.isFinite ? ShortestDecimal(value).json : "null"
    }
}
