// The mark below an error's place in a statement.

internal import Testing

@testable internal import CozCommand

struct ExcerptTests {
    private func text(_ statement: String, _ offset: Int) -> String {
        StatementExcerpt(statement, offset: offset).text()
    }

    @Test func `the mark stands below the place`() {
        #expect(
            text("SELECT x FRM y", 9) == """
                  SELECT x FRM y
                           ^

                """)
        #expect(text("", 7) == "  \n  ^\n")
    }

    @Test func `of several lines the one is shown, with its number`() {
        #expect(text("a\nbc d", 5) == "  2 | bc d\n    |    ^\n")
        #expect(text("SELECT x\n", 0) == "  SELECT x\n  ^\n")
        let excerpt = StatementExcerpt("a\n\nb", offset: 3)
        #expect(excerpt.line == 3)
        #expect(excerpt.text(isNumbered: false) == "  b\n  ^\n")
    }

    @Test func `what is missing at the end is marked behind the last word`() {
        #expect(text("SELECT x \n\n", 11) == "  SELECT x \n          ^\n")
        #expect(text("SELECT x", 8) == "  SELECT x\n          ^\n")
    }

    @Test func `tabs, wide characters and control characters keep the mark in place`() {
        #expect(text("\ta\tb", 3) == "   a b\n     ^\n")
        #expect(text("'漢字é' x", 11) == "  '漢字é' x\n          ^\n")
        #expect(text("'\u{1B}' x", 4) == "  '\\u{1b}' x\n           ^\n")
        // In the middle of a character.
        #expect(text("é x", 1) == "  é x\n  ^\n")
        #expect(text("a x\r\nb", 2) == "  1 | a x\n    |   ^\n")
    }

    @Test func `a long line is shown around the place`() {
        let long = String(repeating: "漢字 ", count: 100)
        let lines = text(long + "HERE " + long, long.utf8.count).split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.allSatisfy { PlainText.width(String($0)) <= 80 })
        let mark = PlainText.width(String(lines[1])) - 1
        let before = lines[0].prefix { $0 != "H" }
        #expect(PlainText.width(String(before)) == mark)
        #expect(lines[0].hasPrefix("  …") && lines[0].hasSuffix("…"))
        let narrow = StatementExcerpt(long, offset: 300).text(columns: 40).split(separator: "\n")
        #expect(narrow.allSatisfy { PlainText.width(String($0)) < 40 })
        // A short rest leaves its room to what stands before.
        let end = text(String(repeating: "x ", count: 100) + "y", 200).split(separator: "\n")
        #expect(end[0].hasSuffix(" x y") && PlainText.width(String(end[0])) >= 70)
    }
}
