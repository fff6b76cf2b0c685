// Shows where in a statement an error is: the line, with a mark below the position.

struct StatementExcerpt {
    /// The line of the position, from 1.
    let line: Int
    private let lineCount: Int
    private let before: String
    private let after: String

    /// - Parameter offset: Byte offset in the text; larger offsets mean its end.
    init(_ text: String, offset: Int) {
        let bytes = Array(text.utf8)
        let newline = UInt8(ascii: "\n")
        var place = max(0, min(offset, bytes.count))
        // An error at the end is marked after the last word, not on an empty line.
        if place == bytes.count {
            while place > 0, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[place - 1]) { place -= 1 }
        }
        // Move to the start of a character.
        while place > 0, place < bytes.count, bytes[place] & 0xC0 == 0x80 { place -= 1 }
        let start = bytes[..<place].lastIndex(of: newline).map { $0 + 1 } ?? 0
        let end = bytes[place...].firstIndex(of: newline) ?? bytes.count
        line = 1 + bytes[..<start].count { $0 == newline }
        lineCount = StatementExcerpt.lines(bytes)
        before = StatementExcerpt.shown(bytes[start..<place])
        after = StatementExcerpt.shown(bytes[place..<end])
    }

    /// The number of lines up to the last one with text.
    private static func lines(_ bytes: [UInt8]) -> Int {
        let last = bytes.lastIndex { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } ?? 0
        return 1 + bytes[..<last].count { $0 == UInt8(ascii: "\n") }
    }

    /// Text as it is shown, with tabs as single spaces so that columns match.
    private static func shown(_ bytes: ArraySlice<UInt8>) -> String {
        let isReturned = bytes.last == UInt8(ascii: "\r")
        let line = isReturned ? bytes.dropLast() : bytes
        let text = line.map { $0 == UInt8(ascii: "\t") ? UInt8(ascii: " ") : $0 }
        return PlainText.escaped(String(decoding: text, as: UTF8.self))
    }

    /// The line and the mark below it, both with newlines.
    ///
    /// - Parameters:
    ///   - isNumbered: Whether to print the line number; nil means if the text has several lines.
    ///   - columns: Width of the terminal. Longer lines are cut around the position.
    func text(isNumbered: Bool? = nil, columns: Int = 80) -> String {
        var left = before
        var right = after
        let number = isNumbered ?? (lineCount > 1) ? "\(line) | " : ""
        let room = max(20, min(columns, 100) - 3 - number.utf8.count)
        if PlainText.width(left) + PlainText.width(right) > room {
            // Two thirds before the position, unless the line ends soon after it.
            let leftRoom = max(room * 2 / 3, room - PlainText.width(right))
            left = StatementExcerpt.end(of: left, width: leftRoom)
            right = PlainText.cut(right, width: room - PlainText.width(left))
        }
        let blanks = String(repeating: " ", count: PlainText.width(left))
        let margin = number.isEmpty ? "" : PlainText.padded("", to: number.utf8.count - 2) + "| "
        return "  \(number)\(left)\(right)\n  \(margin)\(blanks)^\n"
    }

    /// Cuts a text at its start, with an ellipsis for what is missing.
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
