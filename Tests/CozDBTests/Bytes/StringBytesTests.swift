// Searching text by its bytes, where Swift would compare characters.

internal import Testing

@testable internal import CozDB

struct StringBytesTests {
    @Test func `separators before combining characters are found`() {
        #expect("a,\u{301}b,,".parts(separatedBy: ",") == ["a", "\u{301}b", "", ""])
        #expect("a,\u{301}b,,".parts(separatedBy: ",", keepsEmpty: false) == ["a", "\u{301}b"])
        #expect("a=\u{301}b=c".parts(separatedBy: "=", maxSplits: 1) == ["a", "\u{301}b=c"])
        #expect("a\r\nb".parts(separatedBy: "\n") == ["a\r", "b"])
        #expect("".parts(separatedBy: ",") == [""])
        #expect("".parts(separatedBy: ",", keepsEmpty: false) == [])
    }

    @Test func `the ends of text are its bytes`() {
        #expect("{\u{200D}".hasBytePrefix("{") && "\u{600}.csv".hasByteSuffix(".csv"))
        #expect("abc".hasBytePrefix("") && "abc".hasByteSuffix("abc"))
        #expect(!"e\u{301}".hasBytePrefix("\u{E9}") && !"\u{E9}".hasByteSuffix("\u{301}"))
        #expect(!"a".hasBytePrefix("ab") && !"a".hasByteSuffix("ba"))
    }
}
