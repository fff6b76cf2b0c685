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

    @Test(arguments: UInt64(1)...40)
    func `damaged strings never trap`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let texts = (0..<Int.random(in: 0...60, using: &random)).map { _ in
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
