// Random calls of the interface for writing, beside a model. The fuzzer runs the same code.

internal import CozTestSupport
internal import Foundation
internal import Testing

struct BatchPropertyTests {
    /// `COZDB_SEED` runs one seed, `COZDB_BATCHES` more of them.
    private static let seeds: [UInt64] = {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["COZDB_SEED"].flatMap({ UInt64($0) }) { return [seed] }
        let count = environment["COZDB_BATCHES"].flatMap { Int($0) } ?? 200
        var random = SeededRandom(seed: TestSeed.seed())
        return (0..<count).map { _ in random.next() }
    }()

    @Test func `whatever is called, the database opens and holds what it was given`() {
        var valueCount = 0
        for seed in Self.seeds {
            var random = SeededRandom(seed: seed)
            let count = 40 + Int(random.next() % 1500)
            let bytes = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            #expect(throws: Never.self, "COZDB_SEED=\(seed)") {
                valueCount += try BatchFuzzing.valueCount(after: bytes, UInt8(seed & 1))
            }
        }
        // Else nearly all batches would have been refused.
        #expect(valueCount > Self.seeds.count / 2 || Self.seeds.count < 100)
    }
}
