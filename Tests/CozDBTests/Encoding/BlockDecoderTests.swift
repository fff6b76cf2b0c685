// Bytes that no encoder wrote: an error or other values, never a trap or too many values.

import CozTestSupport
import Testing

@testable import CozDB

struct BlockDecoderTests {
    @Test(arguments: BlockEncodingTests.seeds)
    func `damaged blocks never trap and never give more values`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let encoder = BlockEncoder()
        var decoder = BlockDecoder()
        for type in FieldType.allCases {
            let words = SampleBlocks.random(type, using: &random)
            for block in SampleBlocks.encoded(words, type, by: encoder) {
                for _ in 0..<12 {
                    let damaged = Damage.random(block.bytes, using: &random)
                    let count = Damage.count(words.count, using: &random)
                    var found: [UInt64] = [3]
                    do {
                        try decoder.decode(
                            damaged.span, encoding: block.code, count: count, type: type,
                            appendTo: &found)
                        #expect(found.count == 1 + count, "seed \(seed), \(block.encoding)")
                    } catch {
                        #expect(found == [3], "seed \(seed), \(block.encoding)")
                    }
                }
            }
        }
    }

    @Test(arguments: UInt64(1)...20)
    func `noise under every code never traps`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var decoder = BlockDecoder()
        for code in UInt8(0)...14 {
            for type in FieldType.allCases {
                let size = Int.random(in: 0...40, using: &random)
                let bytes = (0..<size).map { _ in
                    UInt8(truncatingIfNeeded: random.next() >> random.next() % 8)
                }
                var found: [UInt64] = []
                let count = Int.random(in: 0...30, using: &random)
                try? decoder.decode(
                    bytes.span, encoding: code, count: count, type: type, appendTo: &found)
                #expect(found.isEmpty || found.count == count, "seed \(seed)")
            }
        }
    }

    @Test
    func `every byte of a short block can be anything`() {
        let encoder = BlockEncoder()
        var decoder = BlockDecoder()
        let words: [UInt64] = [10, 20, 20, 20, 20, 1 << 40, 30, 7, 7, 7]
        for candidate in BlockEncoding.allCases {
            var writer = ByteWriter()
            let size = encoder.encode(words.span, type: .integer, as: candidate, into: &writer)
            guard size != nil else { continue }
            for index in writer.bytes.indices {
                for value in UInt8.min...UInt8.max {
                    var bytes = writer.bytes
                    bytes[index] = value
                    var found: [UInt64] = []
                    try? decoder.decode(
                        bytes.span, encoding: candidate.rawValue, count: words.count,
                        type: .integer, appendTo: &found)
                    #expect(found.isEmpty || found.count == words.count)
                }
            }
        }
    }

    @Test
    func `an unknown encoding is of a newer version`() {
        for code in [UInt8(0), 13, 255] {
            let error = failure(of: [1], encoding: code, count: 1)
            #expect(error?.kind == .unsupported)
        }
    }

    @Test
    func `more values than a block can have are refused`() {
        #expect(failure(of: [1], encoding: 1, count: -1)?.kind == .invalid)
        #expect(failure(of: [1], encoding: 1, count: blockValueCountMax + 1)?.kind == .invalid)
        #expect(failure(of: [1], encoding: 1, count: blockValueCountMax) == nil)
    }

    @Test
    func `runs must be as long as the block`() {
        let encoder = BlockEncoder()
        var writer = ByteWriter()
        let words = [UInt64](repeating: 1, count: 50) + [UInt64](repeating: 2, count: 50)
        _ = encoder.encode(words.span, type: .integer, as: .runLength, into: &writer)
        #expect(failure(of: writer.bytes, encoding: 4, count: 100) == nil)
        #expect(failure(of: writer.bytes, encoding: 4, count: 99)?.kind == .invalid)
        #expect(failure(of: writer.bytes, encoding: 4, count: 101)?.kind == .invalid)
    }

    @Test
    func `bytes after the last value are refused`() {
        let words: [UInt64] = [1, 5, 3, 9]
        for candidate in [BlockEncoding.bitPacked, .delta, .words] {
            let encoder = BlockEncoder()
            var writer = ByteWriter()
            _ = encoder.encode(words.span, type: .integer, as: candidate, into: &writer)
            writer.append(UInt8(0))
            let error = failure(of: writer.bytes, encoding: candidate.rawValue, count: 4)
            #expect(error?.kind == .invalid, "\(candidate)")
        }
    }

    @Test
    func `a compressed block cannot ask for more memory than its values take`() {
        var writer = ByteWriter()
        writer.append(BlockEncoding.words.rawValue)
        writer.appendVarint(1 << 40)
        writer.append([0, 0, 0, 0])
        #expect(failure(of: writer.bytes, encoding: 7, count: 1000)?.kind == .invalid)
    }

    @Test
    func `a boolean is 0 or 1`() {
        #expect(failure(of: [2], encoding: 1, count: 3, type: .boolean)?.kind == .invalid)
    }

    private func failure(
        of bytes: [UInt8], encoding: UInt8, count: Int, type: FieldType = .integer
    ) -> FormatError? {
        var decoder = BlockDecoder()
        var words: [UInt64] = []
        do {
            try decoder.decode(
                bytes.span, encoding: encoding, count: count, type: type, appendTo: &words)
            return nil
        } catch {
            return error
        }
    }
}

/// What can happen to bytes.
enum Damage {
    static func random(_ bytes: [UInt8], using random: inout SeededRandom) -> [UInt8] {
        var result = bytes
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            result.removeLast(Int.random(in: 0...result.count, using: &random))
        case 1:
            result.append(UInt8(truncatingIfNeeded: random.next()))
        default:
            for _ in 0..<Int.random(in: 1...3, using: &random) where !result.isEmpty {
                // The beginning says what the rest means.
                let isHeader = Bool.random(using: &random)
                let end = isHeader ? min(12, result.count) : result.count
                let index = Int.random(in: 0..<end, using: &random)
                result[index] = UInt8(truncatingIfNeeded: random.next())
            }
        }
        return result
    }

    /// The right count, or one next to it, or any.
    static func count(_ count: Int, using random: inout SeededRandom) -> Int {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: Int.random(in: 0...3000, using: &random)
        case 1: max(0, count + Int.random(in: -1...1, using: &random))
        default: count
        }
    }
}
