// Writes JSON text. Numbers and escapes can follow Go's encoding/json, which InfluxDB uses.

internal import CozDB
internal import CozStudy

enum JSONText {
    private static let hexDigits = Array("0123456789abcdef".utf8)

    /// Appends the string in quotes.
    ///
    /// - Parameter goCompatible: Whether to also escape `<`, `>`, `&`, U+2028 and U+2029, as Go
    ///   does.
    static func append(_ text: String, goCompatible: Bool = false, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        let utf8 = text.utf8
        if isPlain(utf8.span) {
            bytes.append(contentsOf: utf8)
            bytes.append(UInt8(ascii: "\""))
            return
        }
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case UInt8(ascii: "\n"): bytes.append(contentsOf: "\\n".utf8)
            case UInt8(ascii: "\r"): bytes.append(contentsOf: "\\r".utf8)
            case UInt8(ascii: "\t"): bytes.append(contentsOf: "\\t".utf8)
            case 0..<0x20: appendEscape(UInt16(byte), to: &bytes)
            case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "&"):
                if goCompatible {
                    appendEscape(UInt16(byte), to: &bytes)
                } else {
                    bytes.append(byte)
                }
            case 0xA8, 0xA9:
                // The last byte of U+2028 and U+2029, which are line terminators in JavaScript.
                bytes.append(byte)
                guard goCompatible, bytes.suffix(3).starts(with: [0xE2, 0x80]) else { continue }
                bytes.removeLast(3)
                appendEscape(0x2028 + UInt16(byte - 0xA8), to: &bytes)
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Whether the text is ASCII without bytes that need an escape, with or without Go's rules.
    static func isPlain(_ text: Span<UInt8>) -> Bool {
        var isPlain = true
        for index in text.indices { isPlain = isPlain && JSONText.isPlain(text[index]) }
        return isPlain
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "<"), UInt8(ascii: ">"),
            UInt8(ascii: "&"):
            false
        default: byte >= 0x20 && byte < 0x80
        }
    }

    private static func appendEscape(_ unit: UInt16, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: "\\u".utf8)
        for shift in [UInt16(12), 8, 4, 0] { bytes.append(hexDigits[Int(unit >> shift & 15)]) }
    }

    static func quoted(_ text: String) -> String {
        var bytes: [UInt8] = []
        append(text, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    static func append(
        _ cell: ResultCell, _ time: TimeText, offset: ((Int64) -> Int)?, goCompatible: Bool = false,
        to bytes: inout [UInt8]
    ) {
        switch cell {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .time(let nanoseconds):
            if !time.isNumber { bytes.append(UInt8(ascii: "\"")) }
            time.append(nanoseconds, offset: offset?(nanoseconds) ?? 0, to: &bytes)
            if !time.isNumber { bytes.append(UInt8(ascii: "\"")) }
        case .value(.string(let text)): append(text, goCompatible: goCompatible, to: &bytes)
        case .value(.integer(let number)): bytes.append(contentsOf: String(number).utf8)
        case .value(.boolean(let flag)): bytes.append(contentsOf: (flag ? "true" : "false").utf8)
        case .value(.float(let number)):
            // JSON cannot represent NaN and infinities.
            guard number.isFinite else { return bytes.append(contentsOf: "null".utf8) }
            if goCompatible {
                NumberText.append(number, to: &bytes)
            } else {
                NumberText.append(float: number, to: &bytes)
            }
        }
    }
}

extension NumberText {
    /// Appends the text of a number, as `text` returns it.
    static func append(_ value: Double, to bytes: inout [UInt8]) {
        if let decimal = DecimalText.decimal(value) ?? DecimalText.shortest(value) {
            return append(decimal.digits, places: decimal.places, to: &bytes)
        }
        let magnitude = value.magnitude
        guard magnitude >= 1e-4, magnitude < 1e15 else {
            bytes.append(contentsOf: text(value).utf8)
            return
        }
        // In this range Swift prints no exponent, and the text is the same as Go's.
        bytes.append(contentsOf: value.description.utf8)
    }

    /// Appends the text of a finite number, with ".0" if it is a whole number that would change if
    /// it were read as an integer. So a JSON file can be imported again.
    static func append(float value: Double, to bytes: inout [UInt8]) {
        let start = bytes.count
        append(value, to: &bytes)
        let isSafe = value.magnitude <= 0x1p53 && (value != 0 || value.sign == .plus)
        let marks = [UInt8(ascii: "."), UInt8(ascii: "e")]
        if isSafe || bytes[start...].contains(where: marks.contains) { return }
        bytes.append(contentsOf: ".0".utf8)
    }

    static func append(_ value: Int64, to bytes: inout [UInt8]) {
        append(value, places: 0, to: &bytes)
    }

    private static func append(_ digits: Int64, places: Int, to bytes: inout [UInt8]) {
        let size = DigitWriter.numberSizeBytesMax + DigitWriter.slackBytes
        bytes.append(addingCapacity: size) { output in
            // Sound: there is room for a number and the slack.
            unsafe output.withUnsafeMutableBufferPointer { buffer, count in
                let start = UnsafeMutableRawPointer(buffer.baseAddress!)
                var writer = unsafe DigitWriter(start)
                writer.put(digits, places: places)
                count = unsafe writer.next - start
            }
        }
    }
}

/// Numbers as InfluxDB prints them: the fewest digits that read back as the same number.
enum NumberText {
    static func text(_ value: Double) -> String {
        guard value.isFinite else { return value.isNaN ? "NaN" : value < 0 ? "-Inf" : "+Inf" }
        if value.magnitude < 1e15, value == value.rounded(.towardZero), value != 0 {
            return String(Int64(value))
        }
        return ShortestDecimal(value).json
    }
}
