// Summaries of blocks against the plain definition.

import CozTestSupport
import Testing

@testable import CozDB

struct BlockStatisticsTests {
    @Test(arguments: BlockEncodingTests.seeds)
    func `minimum, maximum, first and last are those of the values`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let floats =
            [1] + SampleBlocks.floats(SampleBlocks.randomCount(using: &random), using: &random)
        let summary = summarized(floats, .float)
        let numbers = floats.map { Double(bitPattern: $0) }.filter { !$0.isNaN }
        if numbers.isEmpty {
            #expect(Double(bitPattern: summary.min).isNaN && Double(bitPattern: summary.max).isNaN)
        } else {
            // `min(by:)` gives the first of equal ones; of 0 and -0 that decides the bits.
            #expect(summary.min == numbers.min { $0 < $1 }!.bitPattern, "seed \(seed)")
            let most = numbers.reduce(numbers[0]) { $1 > $0 ? $1 : $0 }
            #expect(summary.max == most.bitPattern, "seed \(seed)")
        }
        #expect(summary.first == floats.first && summary.last == floats.last)
        #expect(summary.count == floats.count)
        #expect(summary.firstTime == 100 && summary.lastTime == 99 + Int64(floats.count))
    }

    @Test(arguments: BlockEncodingTests.seeds)
    func `integers are added up wrapping`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let words = [5] + SampleBlocks.integers(1030, using: &random)
        let summary = summarized(words, .integer)
        let values = words.map { Int64(bitPattern: $0) }
        #expect(summary.sum == UInt64(bitPattern: values.reduce(0, &+)))
        #expect(summary.min == UInt64(bitPattern: values.min()!))
        #expect(summary.max == UInt64(bitPattern: values.max()!))
    }

    @Test
    func `the sum of decimals is the double next to the exact one`() {
        // 0.1 added ten thousand times is 1000.0000000001588 without compensation.
        let summary = summarized([UInt64](repeating: (0.1).bitPattern, count: 10_000), .float)
        #expect(Double(bitPattern: summary.sum) == 1000)
        let mixed = summarized([1e16, 1, -1e16].map { $0.bitPattern }, .float)
        #expect(Double(bitPattern: mixed.sum) == 1)
    }

    @Test
    func `NaN and infinity make the sum what IEEE 754 says`() {
        let infinite = summarized([1, Double.infinity, 2].map { $0.bitPattern }, .float)
        #expect(Double(bitPattern: infinite.sum) == .infinity)
        #expect(Double(bitPattern: infinite.max) == .infinity)
        let opposite = summarized([.infinity, -Double.infinity].map { $0.bitPattern }, .float)
        #expect(Double(bitPattern: opposite.sum).isNaN)
        let nan = summarized([1, Double.nan].map { $0.bitPattern }, .float)
        #expect(Double(bitPattern: nan.sum).isNaN)
        #expect(Double(bitPattern: nan.min) == 1 && Double(bitPattern: nan.max) == 1)
    }

    @Test
    func `booleans count what is true and strings have neither sum nor bounds`() {
        let booleans = summarized([0, 1, 1, 0, 1], .boolean)
        #expect(booleans.sum == 3 && booleans.min == 0 && booleans.max == 1)
        let strings = summarized([7, 8, 9], .string)
        #expect(strings.sum == 0 && strings.min == 0 && strings.max == 0)
        #expect(strings.first == 0 && strings.last == 0 && strings.count == 3)
    }

    private func summarized(_ words: [UInt64], _ type: FieldType) -> ColumnSummary {
        let times = words.indices.map { Int64(100 + $0) }
        return summarize(times: times.span, words: words.span, type: type)
    }
}
