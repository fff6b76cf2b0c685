// CSV cells that a spreadsheet would evaluate as formulas.

/// Escapes CSV cells for spreadsheets.
///
/// Source: OWASP, "CSV Injection".
package enum SpreadsheetFormula {
    /// Whether a spreadsheet may treat a text with this first byte as a formula. True for `=`, `+`,
    /// `-`, `@`, tab, carriage return and line feed.
    package static func begins(with byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "="), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "@"), 0x09, 0x0A,
            0x0D:
            true
        default: false
        }
    }

    /// Returns the text, prefixed with an apostrophe if it might be a formula. Spreadsheets then
    /// show it as text.
    package static func marked(_ text: String) -> String {
        guard let first = text.utf8.first, begins(with: first) else { return text }
        return "'" + text
    }

    /// Returns the escaped bytes, or nil if the text needs no escape.
    package static func marked(_ text: Span<UInt8>) -> [UInt8]? {
        guard !text.isEmpty, begins(with: text[0]) else { return nil }
        var bytes = [UInt8(ascii: "'")]
        for index in text.indices { bytes.append(text[index]) }
        return bytes
    }
}
