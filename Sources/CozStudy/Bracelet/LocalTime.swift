// A time with its local UTC offset. Summaries use it where the bracelet's app uses a Date.

public import CozDB

/// A point in time and the local UTC offset at that time.
///
/// The bracelet's app stores local days as midnight UTC, which hides their time zone. Here every
/// time carries its offset.
public struct LocalTime: Hashable, Sendable {
    /// The point in time.
    public var time: Timestamp
    /// The UTC offset in seconds east.
    public var offsetSeconds: Int

    /// Creates a local time.
    ///
    /// - Parameters:
    ///   - time: the point in time.
    ///   - offsetSeconds: the UTC offset in seconds east.
    public init(_ time: Timestamp, offsetSeconds: Int) {
        self.time = time
        self.offsetSeconds = offsetSeconds
    }

    /// Creates the local time in a time zone.
    ///
    /// - Parameters:
    ///   - nanoseconds: since 1970 UTC.
    ///   - zone: the rules that give the offset at that time.
    public init(_ nanoseconds: Int64, in zone: TimeZoneRules) {
        time = Timestamp(nanoseconds: nanoseconds)
        offsetSeconds = zone.offsetSeconds(at: time)
    }
}

extension LocalTime: CustomStringConvertible {
    /// The time in RFC 3339 with nine fraction digits and the local offset.
    public var description: String {
        time.text(offsetSeconds: offsetSeconds, fractionDigits: .nine)
    }
}

extension LocalTime: Encodable {
    /// Encodes the time as its description.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
