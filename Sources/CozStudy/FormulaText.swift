// Texts that a spreadsheet would compute in place of showing them.

/// Cells of CSV for spreadsheets.
///
/// Source: OWASP, "CSV Injection".
package enum FormulaText {
    /// Whether a text that begins with this byte may be taken for a formula: `=`, `+`, `-`, `@`, a
    /// tab, and the two line breaks.
    package static func begins(with byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "="), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "@"), 0x09, 0x0A,
            0x0D:
            true
        default: false
        }
    }

    /// The text with an apostrophe in front where it might be a formula: spreadsheets show it as
    /// text then.
    package static func marked(_ text: String) -> String {
        guard let first = text.utf8.first, begins(with: first) else { return text }
        return "'" + text
    }

    /// The bytes of the same; nil where they stay as they are.
    package static func marked(_ text: Span<UInt8>) -> [UInt8]? {
        guard !text.isEmpty, begins(with: text[0]) else { return nil }
        var bytes = [UInt8(ascii: "'")]
        for index in text.indices { bytes.append(text[index]) }
        return bytes
    }
}
