// Values that pass a test while they are encoded are those that pass it decoded.

import CozTestSupport
import Testing

@testable import CozDB

struct BlockFilterTests {
    /// Numbers that a test of such words could be about: some of them, and what lies around.
    private static func test(
        _ type: FieldType, _ words: [UInt64], using random: inout SeededRandom
    ) -> NumberPredicate {
        let inside = random.next() % 4 != 0
        let word = words.randomElement(using: &random) ?? random.next()
        let other = words.randomElement(using: &random) ?? random.next()
        if type == .float {
            let edges = [0, -0.0, .infinity, -.infinity, .leastNonzeroMagnitude, 1e300, 0x1p52]
            func bound(_ word: UInt64) -> Double {
                let value = Double(bitPattern: word)
                switch random.next() % 5 {
                case 0: return edges.randomElement(using: &random)!
                case _ where value.isNaN: return 0
                case 1: return value.nextUp
                case 2: return value.nextDown
                default: return value
                }
            }
            let (a, b) = (bound(word), bound(other))
            return .floats(min(a, b)...max(a, b), inside: inside)
        }
        let (a, b) = (Int64(bitPattern: word), Int64(bitPattern: other))
        guard random.next() % 4 == 0 else {
            return .integers(min(a, b)...max(a, b), inside: inside)
        }
        return .integersAsFloats(Double(min(a, b))...Double(max(a, b)), inside: inside)
    }

    private static func passes(_ test: NumberPredicate, _ word: UInt64) -> Bool {
        switch test {
        case .integers(let bounds, let inside):
            return bounds.contains(Int64(bitPattern: word)) == inside
        case .floats(let bounds, let inside):
            return bounds.contains(Double(bitPattern: word)) == inside
        case .integersAsFloats(let bounds, let inside):
            return bounds.contains(Double(Int64(bitPattern: word))) == inside
        }
    }

    @Test(arguments: BlockEncodingTests.seeds)
    func `encoded values pass the tests that decoded ones pass`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let encoder = BlockEncoder()
        var filter = BlockFilter()
        for type in FieldType.allCases {
            let words = SampleBlocks.random(type, using: &random)
            guard !words.isEmpty else { continue }
            for block in SampleBlocks.encoded(words, type, by: encoder) {
                for _ in 0..<8 {
                    var test = Self.test(type, words, using: &random)
                    var bits = BitVector()
                    try filter.select(
                        block.bytes.span, encoding: block.code, count: words.count, type: type,
                        test: &test, into: &bits)
                    let wrong = words.indices.first { bits[$0] != Self.passes(test, words[$0]) }
                    #expect(bits.count == words.count)
                    #expect(
                        wrong == nil,
                        "seed \(seed), \(type), \(block.encoding), \(test), value \(wrong ?? 0)")
                }
            }
        }
    }

    @Test(arguments: BlockEncodingTests.seeds)
    func `statistics say no more than the values`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for type in [FieldType.float, .integer] {
            let words = SampleBlocks.random(type, using: &random)
            guard !words.isEmpty else { continue }
            let times = words.indices.map { Int64($0) }
            let summary = summarize(times: times.span, words: words.span, type: type)
            for _ in 0..<30 {
                let test = Self.test(type, words, using: &random)
                guard let verdict = test.verdict(on: summary) else { continue }
                let other = words.first { Self.passes(test, $0) != verdict }
                #expect(other == nil, "seed \(seed), \(test) is not always \(verdict)")
            }
        }
    }

    @Test(arguments: BlockEncodingTests.seeds)
    func `damaged blocks never trap and say what their values say`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let encoder = BlockEncoder()
        var filter = BlockFilter()
        var decoder = BlockDecoder()
        for type in FieldType.allCases {
            let words = SampleBlocks.random(type, using: &random)
            for block in SampleBlocks.encoded(words, type, by: encoder) {
                for _ in 0..<12 {
                    let damaged = Damage.random(block.bytes, using: &random)
                    let count = Damage.count(words.count, using: &random)
                    var test = Self.test(type, words, using: &random)
                    var bits = BitVector()
                    var found: [UInt64] = []
                    try? decoder.decode(
                        damaged.span, encoding: block.code, count: count, type: type,
                        appendTo: &found)
                    do {
                        try filter.select(
                            damaged.span, encoding: block.code, count: count, type: type,
                            test: &test, into: &bits)
                    } catch {
                        #expect(found.isEmpty, "seed \(seed), \(block.encoding): \(error)")
                        continue
                    }
                    #expect(bits.count == count, "seed \(seed), \(block.encoding)")
                    // Floats ascend with their digits only as far as an encoder makes digits.
                    guard type != .float, found.count == count else { continue }
                    let wrong = found.indices.first { bits[$0] != Self.passes(test, found[$0]) }
                    #expect(wrong == nil, "seed \(seed), \(block.encoding)")
                }
            }
        }
    }

    @Test func `digits pass where their floats do, at every exponent`() {
        for exponent in 0...22 {
            let bounds: [Double] = [
                0, 36.6, -36.6, 1e-22, 1e15, -1e22, .leastNonzeroMagnitude, .infinity, -.infinity,
            ]
            for bound in bounds {
                let least = leastDigits(exponent: exponent) { $0 >= bound }
                guard
                    let digits = NumberPredicate.floats(bound ... .infinity, inside: true)
                        .onDigits(exponent: exponent)
                else {
                    Issue.record("no digits at \(exponent)")
                    continue
                }
                let words = [least - 1, least, least + 1].map { UInt64(bitPattern: $0) }
                var bits = BitVector(count: 3)
                digits.select(words.span, into: &bits)
                guard abs(least) < 1 << 51 - 2 else { continue }
                #expect(
                    [bits[0], bits[1], bits[2]] == [false, true, true], "\(bound), \(exponent)")
            }
        }
    }
}
