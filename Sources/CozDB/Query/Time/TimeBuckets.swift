// Buckets of GROUP BY time: where one begins and ends. They are aligned to 1970 (weeks begin on
// Thursday), with tz() to what clocks of the zone show, and always partition time: none overlap,
// none missing, none empty.

/// The buckets of one statement.
///
/// With a zone a bucket begins when clocks come to a multiple of the interval for the first time.
/// Where clocks are moved by less than the interval the bucket goes on, and is that much shorter
/// or longer: local days have 23 or 25 hours. Where they are moved by as much or more a bucket
/// ends and the next begins: the hour that comes twice has two buckets, the one that was skipped
/// has none.
struct TimeBuckets: Sendable {
    /// Length in nanoseconds, above 0.
    var interval: Int64
    /// By how much the alignment is shifted.
    var offset: Int64 = 0
    var zone: TimeZoneRules?

    private static let minimum = Timestamp.min.nanoseconds
    private static let maximum = Timestamp.max.nanoseconds
    /// Clocks of one zone never differ by more than this between two moments.
    private static let shiftMax: Int64 = 52 * 3_600_000_000_000

    // What clocks show at the ends of time, and where the first and the last bucket begin and end,
    // no Int64 can say: hence the wider numbers inside.

    /// The same for storage; nil where lengths differ or bounds may be no plain numbers.
    var even: EvenBuckets? {
        zone == nil ? EvenBuckets(interval: interval, offset: offset) : nil
    }

    /// The bucket in which a time lies: its first nanosecond, and that of the next bucket.
    func bounds(_ time: Int64) -> (start: Int64, end: Int64) {
        guard let zone else { return fixedBounds(time) }
        let era = zone.era(at: time)
        let shift = Int128(zone.shift(ofEra: era))
        // What the clock shows at the bucket's begin.
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

    /// The bucket in which a time lies, where that of an earlier time is known: as a rule it is the
    /// one that follows, which takes no division.
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

    /// Buckets of one length. Nearly always 64 bits hold all of it, and a division of 128 is a
    /// call.
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

    /// The multiple of the interval at or below.
    private func aligned(_ time: Int128) -> Int128 {
        var remainder = (time - Int128(offset)) % Int128(interval)
        if remainder < 0 { remainder += Int128(interval) }
        return time - remainder
    }

    /// Up to where clocks had come when an era began, if its first bucket can be that of before;
    /// nil where a new bucket begins with it.
    private func reached(before era: Int, _ zone: TimeZoneRules) -> Int128? {
        guard era > 0 else { return nil }
        let before = zone.shift(ofEra: era - 1)
        guard abs(zone.shift(ofEra: era) - before) < interval else { return nil }
        let start = Int128(zone.start(ofEra: era))
        let own = start + Int128(before)
        // Only after a short era clocks can have been further on earlier.
        guard start < Int128(zone.start(ofEra: era - 1)) + Int128(TimeBuckets.shiftMax),
            let earlier = reached(before: era - 1, zone)
        else { return own }
        return max(own, earlier)
    }

    /// The start of a bucket that an era ends in.
    private func start(of label: Int128, inEra last: Int, _ zone: TimeZoneRules) -> Int128 {
        var era = last
        while let reached = reached(before: era, zone), label < reached { era -= 1 }
        return max(label - Int128(zone.shift(ofEra: era)), Int128(zone.start(ofEra: era)))
    }

    /// When clocks come to a local time or beyond, or are moved so far that a bucket ends.
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

    /// Starts of all buckets from the one that `first` lies in to the one that `last` lies in.
    func starts(
        first: Int64, last: Int64, countMax: Int,
        checkCancelled: () throws(DatabaseError) -> Void = { () throws(DatabaseError) in }
    ) throws(DatabaseError) -> [Int64] {
        guard first <= last else { return [] }
        let about = Double(last) - Double(first)
        guard about / Double(interval) <= Double(countMax) else {
            throw DatabaseError(
                .limitExceeded,
                "GROUP BY time(\(DurationText.text(interval))) makes more than \(countMax) buckets "
                    + "(bucketCountMax); narrow the time range, take a longer interval, or raise "
                    + "the limit")
        }
        var starts: [Int64] = []
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
