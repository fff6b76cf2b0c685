// Buckets of GROUP BY time: whatever the zone, they partition time.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB

@Suite struct TimeBucketsTests {
    private static let day: Int64 = 86_400_000_000_000

    @Test func `buckets are aligned to 1970 and weeks begin on Thursday`() {
        let buckets = TimeBuckets(interval: 7 * Self.day)
        let time = Timestamp("2025-03-31T12:00:00Z")?.nanoseconds ?? 0
        #expect(buckets.bounds(time).start == Timestamp("2025-03-27")?.nanoseconds)
        #expect(buckets.bounds(-1).start == -7 * Self.day)
        #expect(buckets.bounds(-1).end == 0)
    }

    @Test func `the ends of time have buckets`() throws {
        let buckets = TimeBuckets(interval: 7 * Self.day, offset: Self.day)
        for time in [Timestamp.min.nanoseconds, Timestamp.max.nanoseconds] {
            let bounds = buckets.bounds(time)
            #expect(bounds.start <= time && time < bounds.end)
        }
    }

    @Test(arguments: ["Pacific/Kwajalein", "Pacific/Apia", "Europe/Helsinki"])
    func `times in buckets nearly as long as time can be moved`(_ name: String) throws {
        let zone = try TimeZoneRules(named: name)
        let seed = TestSeed.seed()
        var random = SeededRandom(seed: seed)
        let ends = [Timestamp.min.nanoseconds, -1, 0, 1, Timestamp.max.nanoseconds]
        for _ in 0..<500 {
            let interval = Int64.max - Int64.random(in: 0...(2 * Self.day), using: &random)
            let offset = Int64.random(in: 0..<interval, using: &random)
            let buckets = TimeBuckets(interval: interval, offset: offset, zone: zone)
            let times = ends + [Int64.random(in: ends[0]...ends[4], using: &random)]
            for time in times {
                #expect(buckets.earlier(time, by: 2) <= time, "seed \(seed)")
                #expect(buckets.later(time, by: 2) >= time, "seed \(seed)")
            }
        }
    }

    @Test(arguments: [
        "Europe/Helsinki", "Asia/Singapore", "America/New_York", "Australia/Lord_Howe",
        "America/Santiago", "Africa/Cairo", "Asia/Kolkata", "America/Sao_Paulo", "Pacific/Apia",
    ])
    func `buckets partition every year and begin where their times say`(_ name: String) throws {
        let zone = try TimeZoneRules(named: name)
        let hour: Int64 = 3_600_000_000_000
        for interval in [hour / 4, hour, 3 * hour, 12 * hour, Self.day, 7 * Self.day] {
            let buckets = TimeBuckets(interval: interval, zone: zone)
            let first = try #require(Timestamp("2015-01-01")).nanoseconds
            let span = interval < Self.day ? 400 * Self.day : 12 * 366 * Self.day
            let starts = try buckets.starts(first: first, last: first + span, countMax: 1_000_000)
            for (start, next) in zip(starts, starts.dropFirst()) {
                if start >= next { Issue.record("\(name) \(interval): \(start) then \(next)") }
                for time in [start, start + (next - start) / 2, next - 1] where start > first {
                    if buckets.bounds(time).start != start {
                        let shown = Timestamp(nanoseconds: time)
                        let got = Timestamp(nanoseconds: buckets.bounds(time).start)
                        let wanted = Timestamp(nanoseconds: start)
                        Issue.record("\(name) \(interval): \(shown) in \(got), not \(wanted)")
                        return
                    }
                }
            }
        }
    }

    @Test func `too many buckets are refused`() {
        let buckets = TimeBuckets(interval: 1)
        #expect(throws: DatabaseError.self) {
            try buckets.starts(first: 0, last: 1_000_000_000, countMax: 1_000_000)
        }
    }
}
