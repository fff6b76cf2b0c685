// Text for terminals: escapes control characters, measures and pads text, formats numbers.

internal import CozDB

enum PlainText {
    /// Escapes characters that would move the cursor or start a control sequence.
    static func escaped(_ text: String) -> String { ControlText.escaped(text) }

    /// The terminal columns of a text: two for most East Asian characters and emoji.
    static func width(_ text: String) -> Int {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
        return text.reduce(0) { $0 + width($1) }
    }

    private static func width(_ character: Character) -> Int {
        guard let first = character.unicodeScalars.first else { return 0 }
        if character.unicodeScalars.contains("\u{FE0F}") { return 2 }
        switch first.value {
        case 0x300..<0x370, 0x200B...0x200D, 0xFE00...0xFE0F: return 0
        case 0x1100..<0x1160, 0x2E80..<0x303F, 0x3041..<0xA4D0, 0xAC00..<0xD7A4, 0xF900..<0xFB00,
            0xFE30..<0xFE70, 0xFF00..<0xFF61, 0xFFE0..<0xFFE7, 0x1F300..<0x1F650,
            0x1F680..<0x1F700, 0x1F900..<0x1FA00, 0x20000..<0x3FFFE:
            return 2
        default: return 1
        }
    }

    /// Cuts a text to a width, with an ellipsis for what is missing.
    static func cut(_ text: String, width limit: Int) -> String {
        if text.utf8.count <= limit || width(text) <= limit { return text }
        var result = ""
        var used = 1
        for character in text {
            used += width(character)
            if used > limit { break }
            result.append(character)
        }
        return result + "…"
    }

    static func padded(_ text: String, to width: Int, right: Bool = false) -> String {
        let blanks = String(repeating: " ", count: max(0, width - PlainText.width(text)))
        return right ? blanks + text : text + blanks
    }

    /// Groups digits: `1,234,567`.
    static func grouped(_ number: Int) -> String {
        let digits = String(number.magnitude)
        var result = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { result += "," }
            result.append(digit)
        }
        return (number < 0 ? "-" : "") + result
    }

    /// A count with its noun: `1 value`, `1,234 values`.
    ///
    /// - Parameter plural: The plural if it is not the noun plus s.
    static func counted(_ count: Int, _ noun: String, _ plural: String? = nil) -> String {
        "\(grouped(count)) \(count == 1 ? noun : plural ?? noun + "s")"
    }

    /// Formats a number with a fixed number of fraction digits.
    static func fixed(_ value: Double, digits: Int) -> String {
        guard value.isFinite, value.magnitude < 1e15 else { return value.description }
        var scale = 1
        for _ in 0..<digits { scale *= 10 }
        let scaled = Int((value.magnitude * Double(scale)).rounded())
        let sign = value < 0 && scaled > 0 ? "-" : ""
        if digits == 0 { return sign + String(scaled) }
        let fraction = String(scaled % scale)
        let zeros = String(repeating: "0", count: digits - fraction.count)
        return "\(sign)\(scaled / scale).\(zeros)\(fraction)"
    }

    /// Formats bytes in a readable unit, in powers of ten: `512 B`, `8.2 MB`.
    static func size(_ bytes: Int) -> String {
        if bytes < 1_000 { return "\(bytes) B" }
        var value = Double(bytes) / 1_000
        for unit in ["kB", "MB", "GB"] {
            if value < 999.95 { return "\(fixed(value, digits: 1)) \(unit)" }
            value /= 1_000
        }
        return "\(fixed(value, digits: 1)) TB"
    }
}
