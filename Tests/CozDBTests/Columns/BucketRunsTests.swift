// Values that come by buckets are those that come with times.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB

@Suite struct BucketRunsTests {
    @Test func `runs are the buckets of the times, also where a second series begins`() throws {
        let seed = TestSeed.seed()
        print("bucket runs seed \(seed)")
        var random = SeededRandom(seed: seed)
        for _ in 0..<300 {
            let interval = Int64.random(in: 1...1_000, using: &random)
            let offset = Int64.random(in: -interval...interval, using: &random)
            var times: [Int64] = []
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                var time = Int64.random(in: -10_000...10_000, using: &random)
                for _ in 0..<Int.random(in: 1...40, using: &random) {
                    times.append(time)
                    time += Int64.random(in: 1...500, using: &random)
                }
            }
            let buckets = TimeBuckets(interval: interval, offset: offset)
            let even = try #require(buckets.even)
            let runs = BucketRuns(times: times.span, even)
            let first = Int.random(in: 0..<times.count, using: &random)
            let last = Int.random(in: first...times.count, using: &random)
            let slice = BucketedSlice(places: first..<last, runs: runs)
            var starts: [Int64] = []
            slice.forEachRun { start, values in
                #expect(values.lowerBound == starts.count, "seed \(seed)")
                for _ in values { starts.append(start) }
            }
            #expect(starts == times[first..<last].map { buckets.bounds($0).start }, "seed \(seed)")
        }
    }

    @Test func `buckets without plain bounds are not even`() throws {
        #expect(FixedBuckets(interval: .max, offset: 0) == nil)
        let zone = try TimeZoneRules(named: "Europe/Helsinki")
        #expect(TimeBuckets(interval: 10, zone: zone).even == nil)
        // Times at the ends of all that can be written lie in no bucket, but do not trap.
        let even = try #require(FixedBuckets(interval: 1 << 59, offset: -(1 << 59)))
        let ends: [Int64] = [.min, -1, 0, .max]
        #expect(BucketRuns(times: ends.span, even).ends.last == 4)
    }

    /// `a` in each row of all participants, or of most, `b` in some of the same rows, NaN among
    /// both.
    private func fill(
        _ database: Database, hasGaps: Bool, _ random: inout SeededRandom
    ) throws -> [(time: Int64, value: Double)] {
        var expected: [(time: Int64, value: Double)] = []
        var batch = WriteBatch()
        for participant in 0..<5 {
            for second in 0..<700 {
                let isPart = participant != 3 || !hasGaps
                var fields: [String: FieldValue] = [:]
                if isPart || second % 2 == 0 {
                    let isNaN = Int.random(in: 0..<50, using: &random) == 0
                    fields["a"] = .float(isNaN ? .nan : Double(second % 60))
                }
                if Int.random(in: 0..<3, using: &random) == 0 {
                    let isNaN = Int.random(in: 0..<20, using: &random) == 0
                    fields["b"] = .float(isNaN ? .nan : 1000)
                }
                guard !fields.isEmpty else { continue }
                let time = Int64(second) * 1_000_000_000 + Int64(participant)
                try batch.add(
                    experiment: "m", tags: ["id_participant": "p\(participant)"],
                    time: Timestamp(nanoseconds: time), fields: fields)
                if case .float(let value)? = fields["a"] ?? fields["b"], !value.isNaN {
                    expected.append((time, value))
                }
            }
        }
        _ = try database.write(batch)
        return expected
    }

    @Test(arguments: [true, false])
    func `coalesce by time is the first value of each row`(hasGaps: Bool) throws {
        let seed = TestSeed.seed()
        print("coalesce seed \(seed)")
        var random = SeededRandom(seed: seed)
        let directory = TemporaryDirectory()
        let database = try Database.open(directory.path)
        defer { try? database.close() }
        let values = try fill(database, hasGaps: hasGaps, &random)
        for _ in 0..<2 {
            for (lower, upper) in [(0, 700), (13, 655), (100, 101)] as [(Int64, Int64)] {
                let bounds = "time >= \(lower)s AND time < \(upper)s"
                let answer = try database.query(
                    "SELECT count(v), sum(v) FROM (SELECT coalesce(a, b) AS v FROM m WHERE "
                        + "\(bounds)) WHERE \(bounds) GROUP BY time(7s) fill(none)")
                var expected: [Int64: (count: Int64, sum: Double)] = [:]
                for (time, value) in values
                where time >= lower * 1_000_000_000 && time < upper * 1_000_000_000 {
                    let start = time / 7_000_000_000 * 7_000_000_000
                    expected[start, default: (0, 0)].count += 1
                    expected[start, default: (0, 0)].sum += value
                }
                let series = try #require(answer.series.first)
                #expect(series.columns[0].integers == expected.keys.sorted(), "seed \(seed)")
                for row in 0..<series.columns[0].count {
                    let found = try #require(series.columns[0].integers[row])
                    #expect(series.columns[1].integers[row] == expected[found]?.count)
                    #expect(series.columns[2].doubles[row] == expected[found]?.sum)
                }
            }
            try database.compact()
        }
    }

    /// Two fields with values in the same rows, the first with NaN in every fifth.
    @Test(arguments: ["count(v)", "sum(v)", "count(v), mean(v)"])
    func `a NaN that a subquery passes on is no value in a bucket`(fields: String) throws {
        let directory = TemporaryDirectory()
        let database = try Database.open(directory.path)
        defer { try? database.close() }
        var batch = WriteBatch()
        for second in 0..<3_000 as Range<Int64> {
            let value = second % 5 == 0 ? Double.nan : 2
            try batch.add(
                experiment: "m", tags: ["id_participant": "p"],
                time: Timestamp(nanoseconds: second * 1_000_000_000),
                fields: second % 2 == 0
                    ? ["a": .float(value), "b": .float(1000)] : ["other": .integer(1)])
        }
        _ = try database.write(batch)
        let statement =
            "SELECT \(fields) FROM (SELECT coalesce(a, b) AS v FROM m) "
            + "WHERE time >= 0 AND time < 3000s GROUP BY time(10s)"
        for _ in 0..<2 {
            let found = try database.query(statement)
            let columns = try #require(found.series.first).columns
            // Of ten seconds five have values, one of them NaN.
            if fields.hasPrefix("count") {
                #expect(columns[1].integers == Array(repeating: 4, count: 300))
            } else {
                #expect(columns[1].doubles == Array(repeating: 8, count: 300))
            }
            try database.compact()
        }
    }
}
