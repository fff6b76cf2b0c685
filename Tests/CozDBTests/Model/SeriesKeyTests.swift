// Series keys: equal exactly where the tags are, ordered by names and values byte by byte.

import CozTestSupport
import Testing

@testable import CozDB

struct SeriesKeyTests {
    static let words = [
        "", "\u{0}", "\u{0}\u{0}", "\u{1}", "\u{2}", "a", "a\u{0}", "a\u{0}\u{1}", "b", "é",
        "e\u{301}",
    ]

    @Test func `tags come back sorted by name, whatever their bytes`() {
        for name in Self.words {
            for value in Self.words {
                let key = SeriesKey(tags: [("z", "1"), (name, value)])
                let found = key.tags.map { [Array($0.name.utf8), Array($0.value.utf8)] }
                let isFirst = name.utf8.lexicographicallyPrecedes("z".utf8)
                let tag = [Array(name.utf8), Array(value.utf8)]
                let other = [Array("z".utf8), Array("1".utf8)]
                #expect(found == (isFirst ? [tag, other] : [other, tag]))
                #expect(String(validating: key.bytes.span) != nil)
            }
        }
        #expect(SeriesKey(tags: []).tags.isEmpty)
        #expect(
            SeriesKey(tags: [("b", "1"), ("a", "2")]) == SeriesKey(tags: [("a", "2"), ("b", "1")]))
    }

    @Test func `comparing bytes compares names, then values`() {
        func less(_ left: (String, String), _ right: (String, String)) -> Bool {
            let (a, b) = (Array(left.0.utf8), Array(right.0.utf8))
            if a != b { return a.lexicographicallyPrecedes(b) }
            return Array(left.1.utf8).lexicographicallyPrecedes(Array(right.1.utf8))
        }
        let tags = Self.words.flatMap { name in Self.words.map { (name, $0) } }
        for left in tags {
            for right in tags {
                let a = SeriesKey(tags: [(name: left.0, value: left.1)])
                let b = SeriesKey(tags: [(name: right.0, value: right.1)])
                #expect((a < b) == less(left, right), "\(left) \(right)")
            }
        }
    }

    @Test func `a value is found by the bytes of its name`() {
        let key = SeriesKey(tags: [
            ("e\u{301}", "decomposed"), ("\u{E9}", "composed"), ("zero\0", "\0a\0"), ("z", "last"),
        ])
        #expect(key.value(of: "\u{E9}") == "composed")
        #expect(key.value(of: "e\u{301}") == "decomposed")
        #expect(key.value(of: "zero\0") == "\0a\0")
        #expect(key.value(of: "z") == "last")
        #expect(key.value(of: "zero") == nil)
        #expect(key.value(of: "") == nil)
        #expect(SeriesKey(tags: []).value(of: "z") == nil)
        for tag in key.tags { #expect(key.value(of: tag.name) == tag.value) }
    }

    @Test func `keys with the same tag names have the same name bytes`() {
        let first = SeriesKey(tags: [("a", "1"), ("b\0", "2")])
        #expect(first.nameBytes == SeriesKey(tags: [("b\0", "\0"), ("a", "x")]).nameBytes)
        #expect(first.nameBytes != SeriesKey(tags: [("a", "1"), ("b", "\0")]).nameBytes)
        #expect(SeriesKey(tags: []).nameBytes.isEmpty)
    }
}
