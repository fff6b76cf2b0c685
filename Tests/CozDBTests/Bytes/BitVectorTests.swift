// Bits of many rows, beside arrays of truth values that say the same.

import CozTestSupport
import Testing

@testable import CozDB

struct BitVectorTests {
    private static func bits(_ flags: [Bool]) -> BitVector {
        var bits = BitVector(count: flags.count)
        for index in flags.indices where flags[index] { bits[index] = true }
        return bits
    }

    private static func flags(_ bits: BitVector) -> [Bool] { (0..<bits.count).map { bits[$0] } }

    @Test(arguments: UInt64(1)...40)
    func `ranges, counts and lists are those of an array`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let count = Int.random(in: 1...300, using: &random)
        let rarity = UInt64.random(in: 1...90, using: &random)
        var flags = (0..<count).map { _ in random.next() % rarity == 0 }
        var bits = Self.bits(flags)
        let start = Int.random(in: 0...count, using: &random)
        let range = start..<Int.random(in: start...count, using: &random)
        #expect(bits.oneCount == flags.count { $0 }, "seed \(seed)")
        #expect(bits.oneCount(in: range) == flags[range].count { $0 }, "seed \(seed)")
        #expect(bits.hasOnes(in: range) == flags[range].contains(true), "seed \(seed)")
        #expect(bits.hasOnes == flags.contains(true), "seed \(seed)")
        let countMax = Int.random(in: 0...count, using: &random)
        var list: [UInt32] = []
        let end = bits.appendOnes(from: start, countMax: countMax, adding: 7, to: &list)
        let expected = flags.indices.filter { $0 >= start && flags[$0] }
        #expect(list == expected.prefix(countMax).map { UInt32($0) + 7 }, "seed \(seed)")
        var rest: [UInt32] = []
        _ = bits.appendOnes(from: end, countMax: .max, adding: 7, to: &rest)
        #expect(list + rest == expected.map { UInt32($0) + 7 }, "seed \(seed)")
        bits.formOnes(in: range)
        for index in range { flags[index] = true }
        #expect(Self.flags(bits) == flags, "seed \(seed)")
    }

    @Test(arguments: UInt64(1)...40)
    func `bits go to their rows, whether those follow each other or not`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let count = Int.random(in: 1...200, using: &random)
        let source = (0..<count).map { _ in Bool.random(using: &random) }
        let first = Int.random(in: 0...100, using: &random)
        var place = UInt32(first) + UInt32.random(in: 0...70, using: &random)
        let isDense = Bool.random(using: &random)
        let places = (0..<count).map { _ in
            defer { place += isDense ? 1 : UInt32.random(in: 1...5, using: &random) }
            return place
        }
        let start = Int.random(in: 0...count, using: &random)
        let range = start..<Int.random(in: start...count, using: &random)
        var target = (0...(Int(place) - first)).map { _ in random.next() % 9 == 0 }
        var bits = Self.bits(target)
        let taken = Array(places[range])
        bits.formOnes(Self.bits(source), in: range, at: taken.span, from: first)
        for index in range where source[index] { target[Int(places[index]) - first] = true }
        #expect(Self.flags(bits) == target, "seed \(seed)")
    }
}
