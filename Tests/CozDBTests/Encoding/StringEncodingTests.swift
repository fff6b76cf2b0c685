// Blocks of strings: round trips, limits, UTF-8, damaged bytes.

import CozTestSupport
import Testing

@testable import CozDB

struct StringEncodingTests {
    @Test(arguments: [
        [], [""], ["", "", ""], ["a"], ["schön", "warm", "", "kühl 😀", "e\u{301}", "\u{E9}"],
        [String](repeating: "notification received", count: 1000),
    ])
    func `strings come back byte for byte`(texts: [String]) throws {
        let block = encoded(texts)
        var heap: [UInt8] = Array("before".utf8)
        var ends = [6]
        try decodeStrings(
            block.span, count: texts.count, sizeBytesMax: 1 << 20, heap: &heap, ends: &ends)
        try #require(ends.count == 1 + texts.count)
        for (index, text) in texts.enumerated() {
            #expect(Array(heap[ends[index]..<ends[index + 1]]) == Array(text.utf8))
        }
    }

    @Test
    func `repeated text is compressed`() {
        let texts = [String](repeating: "notification received", count: 1000)
        #expect(encoded(texts).count < 200)
    }

    @Test
    func `strings of more bytes than allowed are refused before memory is taken`() {
        let block = encoded([String](repeating: "x", count: 1000))
        #expect(failure(of: block, count: 1000, sizeBytesMax: 999)?.kind == .invalid)
        #expect(failure(of: block, count: 1000, sizeBytesMax: 1000) == nil)
    }

    @Test
    func `every string must be UTF-8 of its own`() {
        // The whole is "é", but neither byte is a character.
        var writer = ByteWriter()
        encodeStrings(heap: [0xC3, 0xA9].span, ends: [1, 2], into: &writer)
        #expect(failure(of: writer.bytes, count: 2)?.kind == .invalid)
        writer.removeAll()
        encodeStrings(heap: [0x61, 0xFF].span, ends: [2], into: &writer)
        #expect(failure(of: writer.bytes, count: 1)?.kind == .invalid)
        writer.removeAll()
        encodeStrings(heap: [0x61, 0xC3, 0xA9].span, ends: [0, 1, 3, 3], into: &writer)
        #expect(failure(of: writer.bytes, count: 4) == nil)
    }

    /// Texts of times of all spellings and years, and now and then something else.
    private func times(using random: inout SeededRandom) -> [String] {
        let digits = Int.random(in: 0...9, using: &random)
        let isMixed = random.next() % 4 == 0
        let zones = ["Z", "", "+0800", "+08:00", "-15:45", "+00:00"]
        let zone = zones.randomElement(using: &random)!
        let years = [0...9999, 1677...2262, 1960...1969, 2113...2200].randomElement(using: &random)!
        func two(_ range: ClosedRange<Int>) -> String {
            let text = String(Int.random(in: range, using: &random))
            return text.utf8.count < 2 ? "0" + text : text
        }
        return (0..<Int.random(in: 1...200, using: &random)).map { _ in
            if random.next() % 50 == 0 { return ["", "nil", "ä"].randomElement(using: &random)! }
            let year = String(10_000 + Int.random(in: years, using: &random)).dropFirst()
            let count = isMixed ? Int.random(in: 0...9, using: &random) : digits
            let fraction = (0..<count).map { _ in String(random.next() % 10) }.joined()
            let end = isMixed ? zones.randomElement(using: &random)! : zone
            return "\(year)-\(two(1...12))-\(two(1...28))T\(two(0...23)):\(two(0...59)):"
                + two(0...59) + (count > 0 ? "." + fraction : "") + end
        }
    }

    @Test(arguments: UInt64(1)...60)
    func `times of any year and fraction come back byte for byte`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let texts = times(using: &random)
        let block = encoded(texts)
        var (heap, ends): ([UInt8], [Int]) = ([], [])
        try decodeStrings(
            block.span, count: texts.count, sizeBytesMax: 1 << 20, heap: &heap, ends: &ends)
        #expect(heap == texts.flatMap { Array($0.utf8) }, "seed \(seed)")
        #expect(ends.last == heap.count, "seed \(seed)")
    }

    @Test
    func `times with nine digits take the bytes of integers`() {
        // A millisecond apart but for noise of 256 ns: a byte each, and not 30.
        var random = SeededRandom(seed: 3)
        let texts = (0..<1000).map { index in
            let fraction = String(1_000_000_000 + index * 1_000_000 + Int(random.next() >> 56))
            return "2023-03-01T07:42:24.\(fraction.dropFirst())Z"
        }
        #expect(encoded(texts).count < 1500)
    }

    @Test(arguments: UInt64(1)...40)
    func `damaged strings never trap`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let texts =
            seed % 2 == 0
            ? times(using: &random)
            : (0..<Int.random(in: 0...60, using: &random)).map { _ in
                String(repeating: "ä", count: Int.random(in: 0...9, using: &random))
            }
        let block = encoded(texts)
        for _ in 0..<60 {
            let damaged = Damage.random(block, using: &random)
            let count = Damage.count(texts.count, using: &random)
            var heap: [UInt8] = [1, 2]
            var ends = [2]
            do {
                try decodeStrings(
                    damaged.span, count: count, sizeBytesMax: 4096, heap: &heap, ends: &ends)
                #expect(ends.count == 1 + count, "seed \(seed)")
                #expect(ends.last == heap.count, "seed \(seed)")
            } catch {
                #expect(heap == [1, 2] && ends == [2], "seed \(seed)")
            }
        }
    }

    private func encoded(_ texts: [String]) -> [UInt8] {
        var heap: [UInt8] = []
        var ends: [Int] = []
        for text in texts {
            heap.append(contentsOf: text.utf8)
            ends.append(heap.count)
        }
        var writer = ByteWriter()
        encodeStrings(heap: heap.span, ends: ends, into: &writer)
        return writer.bytes
    }

    private func failure(
        of bytes: [UInt8], count: Int, sizeBytesMax: Int = 1 << 20
    ) -> FormatError? {
        var heap: [UInt8] = []
        var ends: [Int] = []
        do {
            try decodeStrings(
                bytes.span, count: count, sizeBytesMax: sizeBytesMax, heap: &heap, ends: &ends)
            return nil
        } catch {
            return error
        }
    }
}
