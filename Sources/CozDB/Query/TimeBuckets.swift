// Buckets of GROUP BY time: where one begins and ends. They are aligned to 1970 (weeks begin on
// Thursday), with tz() to local midnight, and always partition time: none overlap, none missing.

/// The buckets of one statement.
struct TimeBuckets: Sendable {
    /// Length in nanoseconds, above 0.
    var interval: Int64
    /// By how much the alignment is shifted.
    var offset: Int64 = 0
    var zone: TimeZoneRules?

    private static let minimum = Timestamp.min.nanoseconds
    private static let maximum = Timestamp.max.nanoseconds

    /// The bucket in which a time lies: its first nanosecond, and that of the next bucket.
    func bounds(_ time: Int64) -> (start: Int64, end: Int64) {
        guard let zone else {
            let start = aligned(time, shift: 0)
            let end = start.addingSaturating(interval)
            return (max(start, TimeBuckets.minimum), min(end, TimeBuckets.maximum + 1))
        }
        // Buckets longer than a switch of the clocks follow the local day; shorter ones go on in
        // steps of their length, so that the hour that comes twice has two buckets.
        let shift = zoneOffset(zone, time)
        var start = aligned(time, shift: shift)
        let startShift = shift - zoneOffset(zone, start)
        if startShift != 0, abs(startShift) < interval {
            start = start.addingSaturating(startShift)
        }
        start = earliest(start, zone)
        var end = aligned(time, shift: shift).addingSaturating(interval)
        let endOffset = zoneOffset(zone, end)
        let endShift = shift - endOffset
        if endShift != 0, abs(endShift) < interval {
            let moved = end.addingSaturating(endShift)
            if endShift > 0 || zoneOffset(zone, moved) == endOffset { end = moved }
        }
        return (max(start, TimeBuckets.minimum), min(end, TimeBuckets.maximum + 1))
    }

    /// Where clocks put back show a bucket's first moment twice, the bucket begins at the first.
    private func earliest(_ start: Int64, _ zone: TimeZoneRules) -> Int64 {
        let threeHours: Int64 = 10_800_000_000_000
        let before = zoneOffset(zone, start.addingSaturating(-threeHours))
        let gained = before - zoneOffset(zone, start)
        guard gained > 0, gained < interval else { return start }
        let candidate = start.addingSaturating(-gained)
        return zoneOffset(zone, candidate) == before ? candidate : start
    }

    private func aligned(_ time: Int64, shift: Int64) -> Int64 {
        let local = time.addingSaturating(shift).addingSaturating(-offset)
        var remainder = local % interval
        if remainder < 0 { remainder += interval }
        return time.addingSaturating(-remainder)
    }

    private func zoneOffset(_ zone: TimeZoneRules, _ time: Int64) -> Int64 {
        Int64(zone.offsetSeconds(at: Timestamp(nanoseconds: time))) * 1_000_000_000
    }

    /// Starts of all buckets from the one that `first` lies in to the one that `last` lies in.
    func starts(
        first: Int64, last: Int64, countMax: Int
    ) throws(DatabaseError) -> [Int64] {
        guard first <= last else { return [] }
        let about = Double(last) - Double(first)
        guard about / Double(interval) <= Double(countMax) else {
            throw DatabaseError(
                .limitExceeded,
                "GROUP BY time(\(DurationText.text(interval))) makes more than \(countMax) buckets "
                    + "(bucketCountMax); narrow the time range or take a longer interval")
        }
        var starts: [Int64] = []
        var (start, end) = bounds(first)
        while start <= last {
            starts.append(start)
            guard end > start, end <= last else { break }
            // A switch of the clocks can make a bucket's end another than the next one's start.
            let next = bounds(end)
            (start, end) = (max(next.start, end), next.end)
        }
        return starts
    }
}
