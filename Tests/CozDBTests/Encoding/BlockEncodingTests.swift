// Every encoding of blocks of values: round trips, choice by size, damaged bytes.

import CozTestSupport
import Testing

@testable import CozDB

struct BlockEncodingTests {
    static let seeds: [UInt64] = Array(1...60)

    @Test(arguments: seeds)
    func `random blocks of every type come back bit for bit`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let encoders = [BlockEncoder(), BlockEncoder(effort: .quick)]
        var decoder = BlockDecoder()
        for type in FieldType.allCases {
            for round in 0..<12 {
                let words = SampleBlocks.random(type, using: &random)
                var writer = ByteWriter()
                let encoding = encoders[round % 2].encode(words.span, type: type, into: &writer)
                var found: [UInt64] = [17]
                try decoder.decode(
                    writer.bytes.span, encoding: encoding.rawValue, count: words.count,
                    type: type, appendTo: &found)
                try #require(found.first == 17)
                #expect(Array(found.dropFirst()) == words, "seed \(seed), \(type), \(encoding)")
            }
        }
    }

    @Test(arguments: seeds)
    func `the chosen encoding is no larger than any other`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let encoder = BlockEncoder()
        var decoder = BlockDecoder()
        for type in FieldType.allCases {
            let words = SampleBlocks.random(type, using: &random)
            var chosen = ByteWriter()
            _ = encoder.encode(words.span, type: type, into: &chosen)
            for candidate in BlockEncoding.allCases {
                var writer = ByteWriter()
                let expected = encoder.encode(
                    words.span, type: type, as: candidate, into: &writer)
                guard let expected else { continue }
                #expect(writer.count == expected, "seed \(seed), \(type), \(candidate)")
                #expect(chosen.count <= writer.count, "seed \(seed), \(type), \(candidate)")
                var found: [UInt64] = []
                try decoder.decode(
                    writer.bytes.span, encoding: candidate.rawValue, count: words.count,
                    type: type, appendTo: &found)
                #expect(found == words, "seed \(seed), \(type), \(candidate)")
            }
        }
    }
}
