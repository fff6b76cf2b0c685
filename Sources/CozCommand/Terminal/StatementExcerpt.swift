// Where in a statement an error is: its line, with a mark below the place.

struct StatementExcerpt {
    /// Line of the place, from 1.
    let line: Int
    private let lineCount: Int
    private let before: String
    private let after: String

    /// - Parameter offset: of a byte of the text; one behind its end is its end.
    init(_ text: String, offset: Int) {
        let bytes = Array(text.utf8)
        let newline = UInt8(ascii: "\n")
        var place = max(0, min(offset, bytes.count))
        // What is missing at the end is shown behind the last word, not on an empty line.
        if place == bytes.count {
            while place > 0, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[place - 1]) { place -= 1 }
        }
        // A place inside a character is that of the character.
        while place > 0, place < bytes.count, bytes[place] & 0xC0 == 0x80 { place -= 1 }
        let start = bytes[..<place].lastIndex(of: newline).map { $0 + 1 } ?? 0
        let end = bytes[place...].firstIndex(of: newline) ?? bytes.count
        line = 1 + bytes[..<start].count { $0 == newline }
        lineCount = StatementExcerpt.lines(bytes)
        before = StatementExcerpt.shown(bytes[start..<place])
        after = StatementExcerpt.shown(bytes[place..<end])
    }

    /// Lines with anything in them, the empty ones between them included.
    private static func lines(_ bytes: [UInt8]) -> Int {
        let last = bytes.lastIndex { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } ?? 0
        return 1 + bytes[..<last].count { $0 == UInt8(ascii: "\n") }
    }

    /// Characters that take the columns they seem to take: a tab is a blank.
    private static func shown(_ bytes: ArraySlice<UInt8>) -> String {
        let text = bytes.map { $0 == UInt8(ascii: "\t") ? UInt8(ascii: " ") : $0 }
        var shown = PlainText.escaped(String(decoding: text, as: UTF8.self))
        if shown.hasSuffix("\\r") { shown.removeLast(2) }
        return shown
    }

    /// The line and a mark below it, each with its end.
    ///
    /// - Parameters:
    ///   - isNumbered: whether the line has its number in front; nil where the text has several
    ///     lines.
    ///   - columns: of the terminal; of a longer line those around the place are shown.
    func text(isNumbered: Bool? = nil, columns: Int = 80) -> String {
        var left = before
        var right = after
        let number = isNumbered ?? (lineCount > 1) ? "\(line) | " : ""
        let room = max(20, min(columns, 100) - 3 - number.utf8.count)
        if PlainText.width(left) + PlainText.width(right) > room {
            // Two thirds before the place, unless the line ends soon after it.
            let leftRoom = max(room * 2 / 3, room - PlainText.width(right))
            left = StatementExcerpt.end(of: left, width: leftRoom)
            right = PlainText.cut(right, width: room - PlainText.width(left))
        }
        let blanks = String(repeating: " ", count: PlainText.width(left))
        let margin = number.isEmpty ? "" : PlainText.padded("", to: number.utf8.count - 2) + "| "
        return "  \(number)\(left)\(right)\n  \(margin)\(blanks)^\n"
    }

    /// The end of a text, with an ellipsis where something is missing.
    private static func end(of text: String, width limit: Int) -> String {
        guard PlainText.width(text) > limit else { return text }
        var kept: [Character] = []
        var used = 1
        for character in text.reversed() {
            used += PlainText.width(String(character))
            if used > limit { break }
            kept.append(character)
        }
        return "…" + String(kept.reversed())
    }
}
