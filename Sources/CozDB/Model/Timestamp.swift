// Timestamps and time ranges. Their text form (RFC 3339) is in Timestamp+Text.swift; time zones are
// in the query layer.

internal import CozPlatform

/// A point in time: nanoseconds since 1970-01-01T00:00:00Z, without leap seconds.
///
/// The range is that of InfluxDB 1.x: from `Timestamp.min` (1677-09-21T00:12:43.145224194Z) to
/// `Timestamp.max` (2262-04-11T23:47:16.854775806Z). The remaining `Int64` values at both ends are
/// reserved, so that a half-open `TimeRange` can cover all times.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// Nanoseconds since 1970-01-01T00:00:00Z; negative before.
    public var nanoseconds: Int64

    /// Creates a timestamp.
    ///
    /// - Parameter nanoseconds: Nanoseconds since 1970-01-01T00:00:00Z. A database accepts `min` to
    ///   `max`.
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// Creates a timestamp from seconds, rounded to the microsecond; nil for NaN and for times
    /// outside of the range.
    ///
    /// A `Double` of today's seconds is exact to a quarter of a microsecond. Rounding makes the
    /// time of a Foundation `Date` equal to the same time read from text.
    ///
    /// - Parameter secondsSince1970: Seconds since 1970-01-01T00:00:00Z, such as the
    ///   `timeIntervalSince1970` of a `Date`.
    public init?(secondsSince1970: Double) {
        let microseconds = (secondsSince1970 * 1_000_000).rounded()
        guard let whole = Int64(exactly: microseconds) else { return nil }
        let (nanoseconds, isTooLarge) = whole.multipliedReportingOverflow(by: 1_000)
        let time = Timestamp(nanoseconds: nanoseconds)
        guard !isTooLarge, time >= .min, time <= .max else { return nil }
        self = time
    }

    /// Seconds since 1970-01-01T00:00:00Z, negative for earlier times. Rounded: a `Double` is exact
    /// to a quarter of a microsecond today.
    public var secondsSince1970: Double {
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return Double(seconds) + Double(rest) / 1_000_000_000
    }

    /// The earliest time that can be written.
    public static let min = Timestamp(nanoseconds: Int64.min + 2)
    /// The latest time that can be written.
    public static let max = Timestamp(nanoseconds: Int64.max - 1)

    /// The current time of the system clock; `min` or `max` if the clock is outside of the range.
    public static var now: Timestamp {
        var time = timespec()
        // Sound: fills in a local value.
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(clamping: time)
    }

    /// The time of a clock; `min` or `max` if it is outside of the range.
    init(clamping time: timespec) {
        let (start, isTooLarge) = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isOver) = start.addingReportingOverflow(Int64(time.tv_nsec))
        self = Swift.min(Swift.max(Timestamp(nanoseconds: sum), .min), .max)
        if isTooLarge || isOver { self = time.tv_sec < 0 ? .min : .max }
    }

    /// Whether the left time is earlier.
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}

extension Timestamp {
    /// Returns the time that is a duration later; `min` or `max` if it is outside of the range.
    /// Fractions of a nanosecond are cut off.
    public static func + (left: Timestamp, right: Duration) -> Timestamp {
        left.adding(right.wholeNanoseconds)
    }

    /// Returns the time that is a duration earlier, with the limits of `+`.
    public static func - (left: Timestamp, right: Duration) -> Timestamp {
        left.adding(-right.wholeNanoseconds)
    }

    /// Returns how much later the left time is; negative if it is earlier.
    public static func - (left: Timestamp, right: Timestamp) -> Duration {
        let difference = Int128(left.nanoseconds) - Int128(right.nanoseconds)
        let (seconds, rest) = difference.quotientAndRemainder(dividingBy: 1_000_000_000)
        return .seconds(Int64(seconds)) + .nanoseconds(Int64(rest))
    }

    private func adding(_ nanoseconds: Int128) -> Timestamp {
        let sum = Int128(self.nanoseconds) + nanoseconds
        let limits = Int128(Timestamp.min.nanoseconds)...Int128(Timestamp.max.nanoseconds)
        return Timestamp(
            nanoseconds: Int64(Swift.min(Swift.max(sum, limits.lowerBound), limits.upperBound)))
    }
}

extension Duration {
    /// Fractions of a nanosecond are cut off.
    var wholeNanoseconds: Int128 { attoseconds / 1_000_000_000 }
}

/// A half-open time range: includes `lower`, excludes `upper`.
public struct TimeRange: Hashable, Sendable {
    /// The first nanosecond of the range.
    public var lower: Int64
    /// The first nanosecond after the range. A range with `upper <= lower` is empty.
    public var upper: Int64

    /// Creates the range from `lower` up to but not including `upper`, in nanoseconds since 1970
    /// UTC.
    public init(lower: Int64, upper: Int64) {
        self.lower = lower
        self.upper = upper
    }

    /// All times that can be written.
    public static let all = TimeRange(
        lower: Timestamp.min.nanoseconds, upper: Timestamp.max.nanoseconds + 1)

    /// Whether the range contains no time.
    public var isEmpty: Bool { upper <= lower }

    /// Whether the range contains a time, given in nanoseconds since 1970 UTC.
    public func contains(_ nanoseconds: Int64) -> Bool {
        nanoseconds >= lower && nanoseconds < upper
    }

    /// Whether the range contains all times from `first` through `last`.
    public func covers(first: Int64, last: Int64) -> Bool {
        first >= lower && last < upper
    }

    /// Whether the range contains any time from `first` through `last`.
    public func overlaps(first: Int64, last: Int64) -> Bool {
        last >= lower && first < upper
    }

    /// Returns the smallest range that contains both.
    func union(_ other: TimeRange) -> TimeRange {
        TimeRange(lower: Swift.min(lower, other.lower), upper: Swift.max(upper, other.upper))
    }

    /// Returns the times that are in both ranges.
    public func intersection(_ other: TimeRange) -> TimeRange {
        TimeRange(lower: Swift.max(lower, other.lower), upper: Swift.min(upper, other.upper))
    }
}

extension [Int64] {
    /// Returns the indices of the times in a range. The times ascend.
    func indices(in range: TimeRange) -> Range<Int> {
        let start = partitioningIndex { $0 >= range.lower }
        let end = partitioningIndex { $0 >= range.upper }
        return start..<Swift.max(start, end)
    }
}
