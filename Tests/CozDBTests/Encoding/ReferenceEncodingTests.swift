// Blocks that repeat another field or the times of rows: round trips, choice, damaged bytes.

import CozTestSupport
import Testing

@testable import CozDB

struct ReferenceEncodingTests {
    private struct Block {
        var words: [UInt64]
        var partner: [UInt64]
        var rowTimes: [Int64]

        var references: BlockReferences {
            BlockReferences(
                partners: [
                    BlockReferences.ReferencedField(
                        column: 3, isSame: words.indices.map { words[$0] == partner[$0] })
                ], rowTimes: rowTimes)
        }
    }

    /// Times as texts, some of them those of the partner, some next to the rows' times.
    private func block(_ random: inout SeededRandom) -> Block {
        let count = Int.random(in: 1...1024, using: &random)
        let rate = Int.random(in: 0...20, using: &random)
        let isNearRow = Bool.random(using: &random)
        var block = Block(words: [], partner: [], rowTimes: [])
        var time: Int64 = Int64.random(in: -1_000_000_000...1_700_000_000_000_000, using: &random)
        for _ in 0..<count {
            time += Int64.random(in: 0...3_600_000_000, using: &random)
            let word = ISOTime.packedTimeTag | random.next() >> 14
            block.rowTimes.append(time * 1000 + Int64.random(in: 0...999, using: &random))
            block.partner.append(word)
            if isNearRow, time >= 0 {
                block.words.append(ISOTime.packedTimeTag | UInt64(time + 1000))
            } else {
                block.words.append(
                    Int.random(in: 0..<20, using: &random) < rate ? random.next() >> 1 : word)
            }
        }
        return block
    }

    private func decode(_ bytes: [UInt8], _ encoding: BlockEncoding, _ block: Block)
        throws(FormatError) -> [UInt64]
    {
        var decoder = BlockDecoder()
        switch encoding {
        case .same:
            let same = try decoder.decodeSame(
                bytes.span, count: block.words.count, type: .integer)
            var words = block.partner
            for (index, position) in same.positions.enumerated() {
                words[Int(position)] = same.words[index]
            }
            return words
        case .rowTime:
            return try decoder.decodeRowTimes(bytes.span, rowTimes: block.rowTimes.span)
        default:
            var words: [UInt64] = []
            try decoder.decode(
                bytes.span, encoding: encoding.rawValue, count: block.words.count,
                type: .integer, appendTo: &words)
            return words
        }
    }

    @Test(arguments: UInt64(1)...40)
    func `blocks that refer to others come back, and are never larger`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let encoder = BlockEncoder()
        for _ in 0..<6 {
            let block = block(&random)
            var writer = ByteWriter()
            writer.append(UInt8(9))
            let encoding = encoder.encode(
                block.words.span, type: .string, repeating: block.references, into: &writer)
            let bytes = Array(writer.bytes.dropFirst())
            #expect(try decode(bytes, encoding, block) == block.words, "seed \(seed)")
            var alone = ByteWriter()
            _ = encoder.encode(block.words.span, type: .integer, into: &alone)
            #expect(bytes.count <= alone.count, "seed \(seed), \(encoding)")
        }
    }

    @Test(arguments: UInt64(1)...40)
    func `damaged references never trap`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let encoder = BlockEncoder()
        let block = block(&random)
        var writer = ByteWriter()
        let encoding = encoder.encode(
            block.words.span, type: .string, repeating: block.references, into: &writer)
        for _ in 0..<40 {
            let damaged = Damage.random(writer.bytes, using: &random)
            if let found = try? decode(damaged, encoding, block) {
                #expect(found.count == block.words.count, "seed \(seed)")
            }
        }
    }

    @Test func `what equals a partner takes a few bytes`() {
        let encoder = BlockEncoder()
        var writer = ByteWriter()
        let words = (0..<1000).map { ISOTime.packedTimeTag | UInt64($0 * $0 * 7919 % 1_000_003) }
        var isSame = [Bool](repeating: true, count: 1000)
        isSame[17] = false
        let references = BlockReferences(partners: [.init(column: 4, isSame: isSame)])
        let encoding = encoder.encode(
            words.span, type: .string, repeating: references, into: &writer)
        #expect(encoding == .same)
        #expect(writer.count < 20)
    }

    @Test func `numbers refer to others only where that saves much`() {
        let encoder = BlockEncoder()
        let isSame = (0..<1000).map { $0 % 40 > 0 }
        let references = BlockReferences(partners: [.init(column: 4, isSame: isSame)])
        let narrow = (0..<1000).map { UInt64($0) &* 0x9E37_79B9_7F4A_7C15 >> 58 }
        let wide = (0..<1000).map { UInt64($0 * $0) &* 0x9E37_79B9_7F4A_7C15 }
        for (words, isReference) in [(narrow, false), (wide, true)] {
            var writer = ByteWriter()
            let encoding = encoder.encode(
                words.span, type: .integer, repeating: references, into: &writer)
            #expect((encoding == .same) == isReference)
        }
    }
}
