// Broken statements: mutations of the conformance cases, parsed, planned and run. Whatever comes
// out, nothing crashes and errors are of the documented kinds.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB
@testable internal import CozImport

@Suite struct QueryFuzzTests {
    private static let words = [
        "SELECT", "FROM", "WHERE", "GROUP BY", "time(10s)", "fill(linear)", "(", ")", ",", ";", "*",
        "mean(v)", "top(v, host, 2)", "count(distinct v)", "derivative(mean(v))", "/a.*/", "=~",
        "'2000-01-01'", "now()", "-1h", "9223372036854775807", "-9223372036854775808", "1e400",
        "::tag", "::float", "IS NULL", "NOT IN ('a')", "tz('Asia/Singapore')", "ORDER BY time DESC",
        "LIMIT 1", "OFFSET 2", "SLIMIT 1", "\"", "'", "\\", "$p", "host", "v", "s", "cpu",
        "coalesce(v, s)",
        "(SELECT v FROM cpu GROUP BY host)", "AND", "OR", "%", "^", "/", "0", "2.5", "true",
        "\u{E9}",
        "time", "sample(v, 2)", "percentile(v, 1e300)", "integral(v)", "moving_average(v, 3)",
    ]

    private func database(_ directory: TemporaryDirectory) throws -> Database {
        let database = try Database.open(directory.path)
        var batch = WriteBatch()
        batch.settings = ExperimentSettings(identity: .allTags)
        for (index, host) in ["a", "b", ""].enumerated() {
            for row in 0..<20 {
                try batch.add(
                    experiment: row % 3 == 0 ? "cpu" : "mem",
                    tags: ["host": host, "region": "r\(row % 2)"],
                    time: Timestamp(nanoseconds: Int64(row * 1_000_000_000 + index)),
                    fields: [
                        "v": .float(Double(row)), "i": .integer(Int64(row)),
                        "s": .string("x\(row)"),
                    ])
            }
        }
        _ = try database.write(batch)
        return database
    }

    private func mutated(_ text: String, _ random: inout SeededRandom) -> String {
        var bytes = Array(text.utf8)
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let place = Int.random(in: 0...bytes.count, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0 where place < bytes.count:
                let end = min(bytes.count, place + Int.random(in: 1...8, using: &random))
                bytes.removeSubrange(place..<end)
            case 1 where place < bytes.count:
                bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 2:
                let end = min(bytes.count, place + Int.random(in: 1...20, using: &random))
                bytes.insert(contentsOf: Array(bytes[place..<end]), at: place)
            default:
                let word = Self.words.randomElement(using: &random) ?? ""
                bytes.insert(contentsOf: Array(" \(word) ".utf8), at: place)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(.enabled(if: !QueryConformanceTests.cases.isEmpty))
    func `mutated statements end in an answer or an error`() throws {
        let seed = TestSeed.seed()
        print("fuzz seed \(seed)")
        var random = SeededRandom(seed: seed)
        let directory = TemporaryDirectory()
        let database = try database(directory)
        defer { try? database.close() }
        var options = QueryOptions(now: Timestamp(nanoseconds: 30_000_000_000))
        options.influxCompatible = true
        options.bucketCountMax = 10_000
        options.rowCountMax = 100_000
        var answers = 0
        for _ in 0..<2000 {
            let test = QueryConformanceTests.cases.randomElement(using: &random)
            let text = mutated(test?["query"]?.text ?? "", &random)
            do {
                _ = try database.execute(text, options: options)
                answers += 1
            } catch {
                let kinds: [DatabaseError.Kind] = [.usage, .notFound, .limitExceeded]
                #expect(kinds.contains(error.kind), "seed \(seed): \(text): \(error)")
            }
        }
        #expect(answers > 20, "seed \(seed)")
    }
}
