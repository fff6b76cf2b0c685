// Time buckets of constant length, for GROUP BY time without time zone changes.

/// Buckets that start at each multiple of an interval, shifted by an offset.
struct FixedBuckets: Hashable, Sendable {
    /// Length in nanoseconds, above 0.
    let interval: Int64
    let offset: Int64

    /// The times for which bucket bounds cannot overflow.
    static let range = TimeRange(lower: -(1 << 62), upper: 1 << 62)

    /// Creates buckets; nil if their bounds could overflow.
    init?(interval: Int64, offset: Int64) {
        guard interval < 1 << 60, abs(offset) < 1 << 60 else { return nil }
        self.interval = interval
        self.offset = offset
    }

    /// Returns the start of the bucket of a time. The result is meaningless for times outside
    /// `range`.
    func start(_ time: Int64) -> Int64 {
        var remainder = (time &- offset) % interval
        if remainder < 0 { remainder += interval }
        return time &- remainder
    }
}
