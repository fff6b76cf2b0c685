// Loops over many words against the obvious way to say the same.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB

@Suite struct WordKernelsTests {
    @Test func `sums are those of the values, whatever their number`() {
        var random = SeededRandom(seed: 11)
        for count in Array(0..<70) + [1023, 1024, 1025] {
            // Whole numbers, whose sum is exact in any order.
            let numbers = (0..<count).map { _ in Int64.random(in: -1000...1000, using: &random) }
            let floats = numbers.map { Double($0).bitPattern }
            #expect(sumOfFloats(floats.span) == Double(numbers.reduce(0, +)), "\(count)")
            let words = numbers.map { UInt64(bitPattern: $0) }
            #expect(sumOfIntegers(words.span) == numbers.reduce(0, +), "\(count)")
        }
        let wide = [UInt64(bitPattern: .max), 1]
        #expect(sumOfIntegers(wide.span) == .min)
        let special = Array(repeating: Double.infinity.bitPattern, count: 30)
        #expect(sumOfFloats(special.span) == .infinity)
    }

    @Test func `the first time at or behind another is found from anywhere`() {
        var random = SeededRandom(seed: 12)
        for _ in 0..<300 {
            let times = (0..<Int.random(in: 0...40, using: &random))
                .map { _ in Int64.random(in: 0...30, using: &random) }.sorted()
            let start = Int.random(in: 0...times.count, using: &random)
            let end = Int.random(in: start...times.count, using: &random)
            let time = Int64.random(in: -1...31, using: &random)
            let expected = times[start..<end].firstIndex { $0 >= time } ?? end
            let found = firstIndex(in: times.span, notBefore: time, in: start..<end)
            #expect(found == expected, "\(times) from \(start) to \(end), \(time)")
        }
    }

    @Test func `words at places are appended, dense or not`() {
        let source = (0..<100).map { Int64($0 * 10) }
        for places in [[], [5], [5, 6, 7], [5, 9, 104], [104], Array(5...104)] as [[UInt32]] {
            var words: [Int64] = [-1]
            appendWords(of: source.span, at: places.span, from: 5, to: &words)
            #expect(words == [-1] + places.map { Int64($0 - 5) * 10 }, "\(places)")
        }
    }

    @Test func `of two lists by time the newer word stays`() {
        var random = SeededRandom(seed: 13)
        func list(_ count: Int) -> TimedWords {
            let times = Set((0..<count).map { _ in Int64.random(in: 0...60, using: &random) })
            let sorted = times.sorted()
            return TimedWords(times: sorted, words: sorted.map { _ in random.next() })
        }
        for round in 0..<300 {
            let older = list(round % 30)
            let newer = list(Int.random(in: 0...30, using: &random))
            var expected: [Int64: UInt64] = [:]
            for (time, word) in zip(older.times, older.words) { expected[time] = word }
            for (time, word) in zip(newer.times, newer.words) { expected[time] = word }
            let merged = mergedByTime(
                older.times.span, older.words.span, newer: newer.times.span, newer.words.span)
            #expect(merged.times == expected.keys.sorted(), "round \(round)")
            #expect(merged.words == merged.times.map { expected[$0] ?? 0 }, "round \(round)")
        }
    }
}
