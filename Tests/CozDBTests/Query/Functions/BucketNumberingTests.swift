// Numbered buckets are the same as those that are looked for.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB

@Suite struct BucketNumberingTests {
    @Test func `every bucket of an extent has one place, found in any order`() throws {
        var random = SeededRandom(seed: 21)
        for interval in [1, 7, 3_600, 86_400] as [Int64] {
            let buckets = TimeBuckets(interval: interval, offset: 3)
            let extent = TimeRange(lower: -1000, upper: -1000 + 50 * interval)
            var numbering = try #require(BucketMap(buckets, extent: extent))
            var places: [Int64: Int] = [:]
            for _ in 0..<200 {
                let time = Int64.random(in: extent.lower..<extent.upper, using: &random)
                let start = buckets.bounds(time).start
                let place = numbering.place(start, next: places.count)
                #expect(place == places[start] ?? places.count, "\(interval): \(time)")
                places[start] = place
            }
            #expect(numbering.places == places.keys.sorted().map { places[$0] })
            #expect(numbering.place(extent.upper + 2 * interval, next: 0) == nil)
            #expect(numbering.place(buckets.bounds(extent.lower).start - interval, next: 0) == nil)
        }
    }

    @Test func `too many buckets, and those of a zone, have no numbers`() throws {
        let extent = TimeRange(lower: 0, upper: 1_000_000)
        #expect(BucketMap(TimeBuckets(interval: 1), extent: extent) == nil)
        let zone = try TimeZoneRules(named: "Europe/Helsinki")
        #expect(BucketMap(TimeBuckets(interval: 1000, zone: zone), extent: extent) == nil)
        #expect(BucketMap(TimeBuckets(interval: 1000), extent: .all) == nil)
    }

    @Test func `the bucket after a known one is the one that is computed`() {
        var random = SeededRandom(seed: 22)
        for _ in 0..<2000 {
            let interval = Int64.random(in: 1...1_000_000, using: &random)
            let offset = Int64.random(in: -interval...interval, using: &random)
            let buckets = TimeBuckets(interval: interval, offset: offset)
            let first = Int64(bitPattern: random.next()) >> Int64.random(in: 1...60, using: &random)
            let later = first.addingSaturating(Int64.random(in: 0...(3 * interval), using: &random))
            guard later <= Timestamp.max.nanoseconds, first >= Timestamp.min.nanoseconds else {
                continue
            }
            let known = buckets.bounds(first)
            let found = later < known.end ? known : buckets.bounds(later, after: known)
            let computed = buckets.bounds(later)
            #expect(found.start == computed.start, "\(interval) \(offset) \(first) \(later)")
            #expect(found.end == computed.end, "\(interval) \(offset) \(first) \(later)")
        }
    }
}
