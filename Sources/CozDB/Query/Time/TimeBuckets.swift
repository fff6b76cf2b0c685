// The buckets of GROUP BY time. They are aligned to 1970, so weeks start on Thursday; with tz()
// they are aligned to local time. Buckets partition time and are never empty.

/// The bucket boundaries of one statement.
///
/// With a zone, a bucket starts when local time first reaches a multiple of the interval. If clocks
/// move by less than the interval, the bucket continues and is shorter or longer by that amount:
/// local days may have 23 or 25 hours. If clocks move by the interval or more, the bucket ends and
/// the next one starts: an hour that occurs twice has two buckets, a skipped hour has none.
struct TimeBuckets: Sendable {
    /// The bucket length in nanoseconds; positive.
    var interval: Int64
    /// The shift of the alignment in nanoseconds.
    var offset: Int64 = 0
    var zone: TimeZoneRules?

    private static let minimum = Timestamp.min.nanoseconds
    private static let maximum = Timestamp.max.nanoseconds
    /// The largest difference between two offsets of one zone.
    private static let shiftMax: Int64 = 52 * 3_600_000_000_000

    // Local times and boundaries near the ends of the time range overflow Int64: use Int128.

    /// The buckets as storage knows them; nil if lengths differ or boundaries may overflow.
    var even: FixedBuckets? {
        zone == nil ? FixedBuckets(interval: interval, offset: offset) : nil
    }

    /// Returns the bucket that contains a time: its first nanosecond and that of the next bucket.
    func bounds(_ time: Int64) -> (start: Int64, end: Int64) {
        guard let zone else { return fixedBounds(time) }
        let era = zone.era(at: time)
        let shift = Int128(zone.shift(ofEra: era))
        // The local time at which the bucket starts.
        var label = aligned(Int128(time) + shift)
        let start: Int128
        if let reached = reached(before: era, zone), label < reached {
            label = aligned(reached - 1)
            start = self.start(of: label, inEra: era - 1, zone)
        } else {
            start = max(label - shift, Int128(zone.start(ofEra: era)))
        }
        let next = label + Int128(interval)
        return TimeBuckets.inRange(start, firstTime(showing: next, fromEra: era, zone))
    }

    /// Returns the bucket that contains a time, given the bucket of an earlier time. The result is
    /// usually the next bucket, which needs no division.
    func bounds(_ time: Int64, after earlier: (start: Int64, end: Int64)) -> (
        start: Int64, end: Int64
    ) {
        guard zone == nil, earlier.start < earlier.end, time >= earlier.end else {
            return bounds(time)
        }
        let (end, isOver) = earlier.end.addingReportingOverflow(interval)
        guard !isOver, time < end, end <= TimeBuckets.maximum else { return bounds(time) }
        return (earlier.end, end)
    }

    /// Returns a bucket of fixed length. 64 bits usually suffice; a 128-bit division is a call.
    private func fixedBounds(_ time: Int64) -> (start: Int64, end: Int64) {
        let (shifted, isOver) = time.subtractingReportingOverflow(offset)
        var remainder = shifted % interval
        if remainder < 0 { remainder += interval }
        let (start, isBelow) = time.subtractingReportingOverflow(remainder)
        let (end, isAbove) = start.addingReportingOverflow(interval)
        if !isOver, !isBelow, !isAbove, start >= TimeBuckets.minimum, end <= TimeBuckets.maximum {
            return (start, end)
        }
        let wide = aligned(Int128(time))
        return TimeBuckets.inRange(wide, wide + Int128(interval))
    }

    private static func inRange(_ start: Int128, _ end: Int128) -> (start: Int64, end: Int64) {
        (
            Int64(truncatingIfNeeded: max(start, Int128(minimum))),
            Int64(truncatingIfNeeded: min(end, Int128(maximum) + 1))
        )
    }

    /// Returns the largest multiple of the interval that is not above the time.
    private func aligned(_ time: Int128) -> Int128 {
        var remainder = (time - Int128(offset)) % Int128(interval)
        if remainder < 0 { remainder += Int128(interval) }
        return time - remainder
    }

    /// Returns the latest local time that clocks reached before an era, if the bucket of the
    /// previous era may continue in it. Returns nil if the era starts a new bucket.
    private func reached(before era: Int, _ zone: TimeZoneRules) -> Int128? {
        var latest: Int128?
        var era = era
        while era > 0 {
            let before = zone.shift(ofEra: era - 1)
            guard abs(zone.shift(ofEra: era) - before) < interval else { break }
            let start = Int128(zone.start(ofEra: era))
            latest = max(latest ?? .min, start + Int128(before))
            era -= 1
            // After a short era, an even earlier era may have reached a later local time.
            let isShort = start < Int128(zone.start(ofEra: era)) + Int128(TimeBuckets.shiftMax)
            guard isShort else { break }
        }
        return latest
    }

    /// Returns the start of the bucket that ends in an era.
    private func start(of label: Int128, inEra last: Int, _ zone: TimeZoneRules) -> Int128 {
        var era = last
        while let reached = reached(before: era, zone), label < reached { era -= 1 }
        return max(label - Int128(zone.shift(ofEra: era)), Int128(zone.start(ofEra: era)))
    }

    /// Returns when clocks reach a local time, or when they move so far that the bucket ends.
    private func firstTime(
        showing local: Int128, fromEra first: Int, _ zone: TimeZoneRules
    ) -> Int128 {
        var era = first
        while true {
            let shift = zone.shift(ofEra: era)
            let time = local - Int128(shift)
            let isLast = era + 1 == zone.eraCount
            if isLast || time < Int128(zone.start(ofEra: era + 1)) {
                return max(time, Int128(zone.start(ofEra: era)))
            }
            if abs(zone.shift(ofEra: era + 1) - shift) >= interval {
                return Int128(zone.start(ofEra: era + 1))
            }
            era += 1
        }
    }

    /// Returns the time that is as far into the bucket `count` buckets earlier.
    func earlier(_ time: Int64, by count: Int64) -> Int64 {
        guard zone != nil else {
            return Int64(clamping: Int128(time) - Int128(interval) * Int128(count))
        }
        let own = bounds(time)
        var other = own
        for _ in 0..<count where other.start > TimeBuckets.minimum {
            other = bounds(other.start - 1)
        }
        // The other bucket may be shorter.
        let moved = Int128(other.start) + Int128(time) - Int128(own.start)
        return min(Int64(clamping: moved), other.end - 1)
    }

    /// Returns the time that is as far from the end of the bucket `count` buckets later.
    func later(_ time: Int64, by count: Int64) -> Int64 {
        guard zone != nil else {
            return Int64(clamping: Int128(time) + Int128(interval) * Int128(count))
        }
        let own = bounds(time)
        var other = own
        for _ in 0..<count where other.end <= TimeBuckets.maximum { other = bounds(other.end) }
        let moved = Int128(other.end) + Int128(time) - Int128(own.end)
        return max(Int64(clamping: moved), other.start)
    }

    /// Returns about the number of buckets from that of the time `first` to that of `last`.
    func count(first: Int64, last: Int64) -> Double {
        max(0, (Double(last) - Double(first)) / Double(interval))
    }

    /// Returns the starts of the buckets from that of the time `first` to that of `last`.
    func starts(
        first: Int64, last: Int64, countMax: Int,
        checkCancelled: () throws(DatabaseError) -> Void = { () throws(DatabaseError) in }
    ) throws(DatabaseError) -> [Int64] {
        guard first <= last else { return [] }
        let count = self.count(first: first, last: last)
        guard count <= Double(countMax) else {
            throw DatabaseError(
                .limitExceeded,
                "GROUP BY time(\(DurationText.text(interval))) yields more than \(countMax) "
                    + "buckets (bucketCountMax); narrow the time range, use a longer interval, or "
                    + "raise the limit")
        }
        var starts: [Int64] = []
        starts.reserveCapacity(Int(min(count, 16_777_216)) + 1)
        var (start, end) = bounds(first)
        while start <= last {
            starts.append(start)
            if starts.count % 4096 == 0 { try checkCancelled() }
            guard end > start, end <= last else { break }
            (start, end) = bounds(end)
        }
        return starts
    }
}

extension TimeZoneRules {
    /// Returns the bucket of `GROUP BY time(...) tz(...)` that contains a time: its first
    /// nanosecond and that of the next bucket.
    ///
    /// - Parameter interval: The length of a bucket in nanoseconds, positive.
    package func bucket(at time: Int64, interval: Int64) -> (start: Int64, end: Int64) {
        TimeBuckets(interval: interval, zone: self).bounds(time)
    }
}
