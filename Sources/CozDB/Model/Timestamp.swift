// Points in time and spans of time, as the database stores and compares them.
// Text forms (RFC 3339) are in Timestamp+Text.swift, time zones in the query layer.

/// A point in time: nanoseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
///
/// The range is that of InfluxDB 1.x: `Timestamp.min` (1677-09-21T00:12:43.145224194Z) to
/// `Timestamp.max` (2262-04-11T23:47:16.854775806Z). The two values beyond each end are kept free,
/// so that a half-open `TimeRange` can cover everything.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// Nanoseconds since 1970-01-01T00:00:00Z; negative before.
    public var nanoseconds: Int64

    /// - Parameter nanoseconds: since 1970-01-01T00:00:00Z; a database takes `min` to `max`.
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// The earliest time that can be written.
    public static let min = Timestamp(nanoseconds: Int64.min + 2)
    /// The latest time that can be written.
    public static let max = Timestamp(nanoseconds: Int64.max - 1)

    /// Whether the left is earlier.
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}

/// A half-open span of time: `lower` belongs to it, `upper` does not.
public struct TimeRange: Hashable, Sendable {
    /// First nanosecond of the range.
    public var lower: Int64
    /// First nanosecond after the range; a range with `upper <= lower` is empty.
    public var upper: Int64

    /// The times from `lower` up to, not including, `upper`, both in nanoseconds since 1970 UTC.
    public init(lower: Int64, upper: Int64) {
        self.lower = lower
        self.upper = upper
    }

    /// Every time that can be written.
    public static let all = TimeRange(
        lower: Timestamp.min.nanoseconds, upper: Timestamp.max.nanoseconds + 1)

    /// Whether no time lies in it.
    public var isEmpty: Bool { upper <= lower }

    /// Whether a time, in nanoseconds since 1970 UTC, lies in it.
    public func contains(_ nanoseconds: Int64) -> Bool {
        nanoseconds >= lower && nanoseconds < upper
    }

    /// Whether every time from `first` to `last` (both included) lies in the range.
    public func covers(first: Int64, last: Int64) -> Bool {
        first >= lower && last < upper
    }

    /// Whether some time from `first` to `last` (both included) may lie in the range.
    public func overlaps(first: Int64, last: Int64) -> Bool {
        last >= lower && first < upper
    }

    /// From where the earlier of both begins to where the later ends.
    func union(_ other: TimeRange) -> TimeRange {
        TimeRange(lower: Swift.min(lower, other.lower), upper: Swift.max(upper, other.upper))
    }

    /// The times that lie in both.
    public func intersection(_ other: TimeRange) -> TimeRange {
        TimeRange(lower: Swift.max(lower, other.lower), upper: Swift.min(upper, other.upper))
    }
}
