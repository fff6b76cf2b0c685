// Series keys: canonical bytes, and tags found in them.

internal import Testing

@testable import CozDB

struct SeriesKeyTests {
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
