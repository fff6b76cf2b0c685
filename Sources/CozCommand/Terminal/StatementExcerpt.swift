// Where in a statement an error is: its line, with a mark below the place.

/// The place of an error in a statement, with a mark below it.
enum StatementExcerpt {
    private static let widthMax = 70

    static func text(_ statement: String, offset: Int) -> String {
        let bytes = Array(statement.utf8)
        let place = max(0, min(offset, bytes.count))
        let newline = UInt8(ascii: "\n")
        let lineStart = bytes[..<place].lastIndex(of: newline).map { $0 + 1 } ?? 0
        let lineEnd = bytes[place...].firstIndex(of: newline) ?? bytes.count
        let start = max(lineStart, place - widthMax / 2)
        let end = min(lineEnd, start + widthMax)
        let before = PlainText.escaped(String(decoding: bytes[start..<place], as: UTF8.self))
        let after = PlainText.escaped(String(decoding: bytes[place..<end], as: UTF8.self))
        let indent = String(repeating: " ", count: PlainText.width(before))
        return "  \(before)\(after)\n  \(indent)^\n"
    }
}
