// Times as integers: every spelling comes back byte for byte, everything else is refused.

import CozTestSupport
import Testing

@testable import CozDB

struct ISOTimeTests {
    static let seeds: [UInt64] = Array(1...40)

    private func printed(_ text: String) -> String? {
        time(text).map { time in
            var bytes: [UInt8] = []
            time.append(to: &bytes)
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    private func time(_ text: String) -> ISOTime? {
        let bytes = Array(text.utf8)
        return ISOTime(bytes.span)
    }

    @Test(arguments: [
        "2023-03-01T07:42:24.471123Z", "2023-03-01T07:42:24Z", "2023-03-01T07:42:24",
        "2023-03-01T07:42:24.1", "2023-03-01T15:42:24.471+0800", "2023-03-01T15:42:24+08:00",
        "2023-03-01T15:42:24.123456789-03:30", "0000-01-01T00:00:00Z",
        "9999-12-31T23:59:59.999999Z",
        "2024-02-29T00:00:00.000-1545", "1969-12-31T23:59:59.9Z", "2023-03-01T00:00:00+0000",
        "1970-01-01T00:00:00.000000+15:45", "2112-09-17T23:53:47.370495Z",
    ])
    func `a time prints as it was`(text: String) {
        #expect(printed(text) == text)
        if let word = time(text)?.word { #expect(ISOTime(word: word) == time(text)) }
    }

    @Test(arguments: [
        "", "2023-03-01", "2023-03-01 07:42:24Z", "2023-03-01t07:42:24Z", "2023-03-01T07:42:24z",
        "2023-02-29T00:00:00Z", "2023-13-01T00:00:00Z", "2023-00-01T00:00:00Z",
        "2023-01-00T00:00:00Z", "2023-01-01T24:00:00Z", "2023-01-01T23:60:00Z",
        "2023-01-01T23:59:60Z", "2023-01-01T23:59:59.Z", "2023-01-01T23:59:59.1234567890Z",
        "2023-01-01T23:59:59,1Z", "2023-01-01T23:59:59+08", "2023-01-01T23:59:59+08:10",
        "2023-01-01T23:59:59-00:00", "2023-01-01T23:59:59-0000", "2023-01-01T23:59:59+0860",
        "2023-01-01T23:59:59+1600", "2023-01-01T23:59:59Z ", " 2023-01-01T23:59:59Z",
        "2023-01-01T23:59:59 0800", "2023-01-0:T23:59:59Z", "9999-12-31T23:59:59.123456789Z",
        "2023-01-01T23:59:59+0?00", "２023-01-01T23:59:59Z",
    ])
    func `what would print otherwise is no time`(text: String) {
        #expect(time(text) == nil)
    }

    @Test(arguments: seeds)
    func `every spelling comes back`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<500 {
            let digits = Int.random(in: 0...9, using: &random)
            let quarter = UInt16.random(in: 0...127, using: &random)
            let style = ISOTime.Style(
                bits: UInt16(digits) | quarter << 4 | UInt16.random(in: 0...1, using: &random) << 11
            )
            let seconds = Int64.random(in: -2_000_000_000...4_503_000_000, using: &random)
            let perSecond = (0..<digits).reduce(Int64(1)) { power, _ in power * 10 }
            let units = seconds * perSecond + Int64.random(in: 0..<perSecond, using: &random)
            let time = ISOTime(style: style, units: units)
            var bytes: [UInt8] = []
            time.append(to: &bytes)
            let text = String(decoding: bytes, as: UTF8.self)
            // 0 quarters is what no text has: 15:45 is the largest offset.
            guard quarter > 0 else { continue }
            #expect(self.time(text) == time, "\(text), seed \(seed)")
            #expect((time.word == nil) == (digits > 6 || units < 0), "\(text), seed \(seed)")
            if let word = time.word { #expect(ISOTime(word: word) == time, "\(text)") }
        }
    }

    @Test(arguments: seeds)
    func `any word and any units print something`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<500 {
            var bytes: [UInt8] = []
            ISOTime(word: random.next() | ISOTime.packedTimeTag).append(to: &bytes)
            ISOTime(
                style: ISOTime.Style(bits: UInt16(truncatingIfNeeded: random.next())),
                units: Int64(bitPattern: random.next())
            ).append(to: &bytes)
            #expect(String(validating: bytes, as: UTF8.self) != nil, "seed \(seed)")
        }
    }
}
