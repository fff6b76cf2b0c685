// Regular expressions: Go's syntax, linear time.

internal import Testing

@testable internal import CozDB

@Suite struct RegexTests {
    private func matches(_ pattern: String, _ text: String) throws -> Bool {
        try Regex(pattern).matches(text)
    }

    @Test(arguments: [
        ("^server01$", "server01", true), ("^server01$", "xserver01", false),
        ("(?i)^SeRvEr01$", "sErVeR01", true), (".*", "", true), (".+", "", false),
        ("[cg]pu", "a gpu b", true), ("cpu[13]", "cpu2", false), ("^(a|b)*c$", "ababc", true),
        ("^a{2,3}$", "aaaa", false), ("^a{2,3}$", "aaa", true), ("^a{2}$", "aa", true),
        ("^a{2,}$", "a", false), (#"^\d+\.\d*$"#, "12.", true), (#"^[^\d\s]+$"#, "ab c", false),
        ("^[[:alpha:]_]+$", "a_b", true), ("^[]a]+$", "]a", true), (#"\bcat\b"#, "a cat.", true),
        (#"\bcat\b"#, "concat", false), ("a{,2}", "a{,2}", true), (#"\Qa.b\E+"#, "a.bb", true),
        (#"^\x{1F600}$"#, "\u{1F600}", true), (#"^\p{Lu}\pL+$"#, "Äbc", true),
        ("(?s)a.b", "a\nb", true),
        ("a.b", "a\nb", false), ("(?m)^b$", "a\nb", true), ("^b$", "a\nb", false),
        ("(?P<name>x)y", "xy", true), ("(?i:ä)", "Ä", true), ("x*?y+?", "y", true),
        ("", "", true), (#"^\p{Greek}+$"#, "αβγ", true), (#"^\p{Greek}+$"#, "abc", false),
        (#"^\P{Latin}+$"#, "αβγ", true), (#"^[\p{Han}_]+$"#, "温_度", true),
        (#"^[\P{Han}]$"#, "温", false), (#"^\p{^Cyrillic}$"#, "я", false),
        (#"^\p{Old_Italic}$"#, "\u{10300}", true), ("(?i)s", "\u{17F}", true),
        ("(?i)ς", "σ", true), ("(?i)ς", "Σ", true), ("(?i)µ", "Μ", true), ("(?i)ẞ", "ß", true),
        ("(?i)\u{212A}", "k", true), ("(?i)\u{212B}", "Å", true), ("(?i)ǅ", "Ǆ", true),
        ("(?i)[ς]", "Σ", true), ("(?i)^[^ς]$", "Σ", false), ("(?i)ſ", "S", true),
        ("(?i)i", "\u{131}", false), ("(?i)ı", "I", false), ("(?i)i", "\u{130}", false),
        ("(?i)в", "\u{1C80}", true), ("(?i)ᾀ", "ᾈ", true), ("(?i)ÿ", "Ÿ", true),
        ("(?i)k", "\u{212A}", true), (#"^\101\011$"#, "A\t", true), ("(?)a", "a", true),
        ("(?i-s:A.)b", "axb", true),
    ])
    func `matches as Go does`(_ pattern: String, _ text: String, _ expected: Bool) throws {
        #expect(try matches(pattern, text) == expected)
    }

    @Test(arguments: [
        "(", ")", "[", "a**", "*a", "a{1001}", "(?<", "\\", "[b-a]", "(?=x)", "\\8", "\\1",
        "(a)\\1", "(?-)a", "(?i-)a", "(?i--s)a", #"\p{Klingon}"#,
        #"\p{greek}"#, #"\p{Greek"#,
    ])
    func `refuses what Go refuses`(_ pattern: String) {
        #expect(throws: DatabaseError.self) { try Regex(pattern) }
    }

    /// What a match in vain costs.
    private func work(
        _ pattern: String, _ text: String
    ) throws -> (program: RegexProgram, visits: Int, tests: Int) {
        var parser = RegexParser(pattern)
        let program = try RegexProgram(try parser.parse(), of: pattern)
        var matcher = RegexMatcher(program)
        let isFound = matcher.matches(text.unicodeScalars)
        #expect(!isFound)
        return (program, matcher.visitCount, matcher.testCount)
    }

    @Test(arguments: [
        ("(a*)*(a|aa)*b", "a", 4000), (#"(?i)(\p{Han}|\pL){900}"#, "ä", 899),
        (#"(?i)(\p{Han}|\pL){900}"#, "漢", 899), (#"^(?i)([a-z]|\PL|\d)*\d{9}$"#, "x", 4000),
    ])
    func `a character visits each state once and tests each set once`(
        _ pattern: String, _ character: String, _ count: Int
    ) throws {
        let work = try work(pattern, String(repeating: character, count: count))
        #expect((count...count * work.program.instructions.count).contains(work.visits))
        #expect((count...count * work.program.sets.count).contains(work.tests))
    }

    @Test(arguments: ["^b", "^(b|c)+$", "^b|^c", "(^b)+", "(?i)^b", "^(a|b)c"])
    func `a match in vain of an expression for the beginning ends there`(
        _ pattern: String
    ) throws {
        let work = try work(pattern, String(repeating: "a", count: 4000))
        #expect(work.visits <= 2 * work.program.instructions.count)
    }

    @Test func `other expressions with an anchor match later`() throws {
        #expect(try Regex("^b|c").matches("ac"))
        #expect(try Regex("(^|a)b").matches("xab"))
        #expect(try Regex("(^b)*c").matches("xc"))
        #expect(try Regex("(?m)^b").matches("a\nb"))
        #expect(try Regex("x*^b").matches("b"))
        #expect(try !Regex("x*^b").matches("xb"))
        #expect(try Regex("^a*b").matches("aaab"))
    }

    @Test func `an expression that multiplies itself is refused`() throws {
        #expect(throws: DatabaseError.self) { try Regex("((a{1000}){1000}){1000}") }
        // Nothing, ever so often, is nothing.
        #expect(try Regex("^(((){1000}){1000}){1000}$").matches(""))
    }

    @Test func `an anchored literal is known as such`() throws {
        #expect(try Regex("^abc$").exactText == "abc")
        #expect(try Regex("^ab.$").exactText == nil)
    }

    @Test func `sets that an expression repeats are one`() throws {
        var parser = RegexParser("(?i)(\\p{Han}|\\pL){900}[a-c]|[a-c]x")
        let program = try RegexProgram(try parser.parse(), of: "")
        #expect(program.sets.count == 4)
    }
}
