// Buckets of time of one length, whatever clocks show: what storage needs to know of GROUP BY time.

/// Buckets that begin at each multiple of an interval, shifted by an offset.
struct EvenBuckets: Hashable, Sendable {
    /// Length in nanoseconds, above 0.
    let interval: Int64
    let offset: Int64

    /// Times from which and up to which all bounds of buckets are plain 64-bit numbers.
    static let range = TimeRange(lower: -(1 << 62), upper: 1 << 62)

    /// Nil where bounds of such buckets may not be plain 64-bit numbers.
    init?(interval: Int64, offset: Int64) {
        guard interval < 1 << 60, abs(offset) < 1 << 60 else { return nil }
        self.interval = interval
        self.offset = offset
    }

    /// The first nanosecond of the bucket that a time of `range` lies in; of other times something
    /// that is no bucket.
    func start(_ time: Int64) -> Int64 {
        var remainder = (time &- offset) % interval
        if remainder < 0 { remainder += interval }
        return time &- remainder
    }
}
