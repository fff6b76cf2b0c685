// Names that are looked for in refused lines.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB

@Suite struct NamedWordsTests {
    /// Whether a word occurs with no letter, digit or underscore of a text beside one of its own.
    private func naive(_ word: [UInt8], in text: [UInt8]) -> Bool {
        func isWord(_ byte: UInt8) -> Bool { byte.isWord || byte >= 0x80 }
        guard text.count >= word.count else { return false }
        return (0...(text.count - word.count)).contains { start in
            let end = start + word.count
            guard Array(text[start..<end]) == word else { return false }
            let continuesLeft = start > 0 && isWord(word[0]) && isWord(text[start - 1])
            let continuesRight =
                end < text.count && isWord(word[word.count - 1]) && isWord(text[end])
            return !continuesLeft && !continuesRight
        }
    }

    @Test func `words are found where a slow search finds them`() {
        let seed = TestSeed.seed()
        print("words seed \(seed)")
        var random = SeededRandom(seed: seed)
        func text(_ count: ClosedRange<Int>) -> [UInt8] {
            (0..<Int.random(in: count, using: &random)).map { _ in
                Array("ab- \"".utf8).randomElement(using: &random) ?? 0
            }
        }
        for _ in 0..<20_000 {
            let words = (0..<Int.random(in: 1...4, using: &random)).map { _ in text(1...6) }
            let line = text(0...24)
            #expect(
                NameAutomaton(words).findsWhole(in: line)
                    == words.contains { naive($0, in: line) },
                "seed \(seed): \(words) in \(line)")
        }
    }

    @Test func `a long name costs no comparison at each byte`() {
        let count = 30_000
        let name = Array(String(repeating: "a-", count: count).utf8) + [UInt8(ascii: "b")]
        let line = Array(String(repeating: "a-", count: 10 * count).utf8)
        // A comparison at each byte would be 9 billion steps.
        #expect(!NameAutomaton([name]).findsWhole(in: line))
    }

    @Test(arguments: [
        (#""2024-03-01T08:00:00Z,"Smith, John",1"#, "Smith, John"),
        (#"x"2024,"Smith, John","1"#, "Smith, John"), (#""2024,{alice},1"#, "{alice}"),
        (#""2024,(p),1"#, "(p)"), (#""2024,ali"cexx,1"#, #"ali"cexx"#),
        (#"m,x y,id_participant=Alice\ B a=1"#, "Alice B"),
        (#"m,x y,id_participant=Smith\,\ John a=1"#, "Smith, John"),
        (#"m,x y,id_participant=a\=b a=1"#, "a=b"), (#"m,x y,id_participant=(p) a=1"#, "(p)"),
    ])
    func `a name is one of the words of a broken line`(line: String, name: String) {
        var words: Set<Name> = []
        NamedWords.collect(Array(line.utf8), &words)
        #expect(words.contains(Name(name)))
    }

    @Test(arguments: [
        #"[{"name":"Anna Lena","x":5}"#, "2024|Anna Lena|5", "'Anna Lena' said", "<Anna Lena>",
        "a,Anna Lena;b", "name=Anna Lena", #"x "Anna Lena"#, "\"Anna \"\"x\"\" Lena\",Anna Lena",
    ])
    func `a name of several words between delimiters is one of the words`(line: String) {
        var words: Set<Name> = []
        NamedWords.collect(Array(line.utf8), &words)
        #expect(words.contains(Name("Anna Lena")))
    }
}
