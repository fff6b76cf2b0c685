// A moment as clocks of a zone showed it: what a summary has where the bracelet's app had a Date.

public import CozDB

/// A point in time, and by how much local clocks were ahead of UTC then.
///
/// The bracelet's app stored local days as midnight UTC, so that a reader could not tell where in
/// the world they were. Here every time carries its offset.
public struct LocalTime: Hashable, Sendable {
    /// The moment.
    public var time: Timestamp
    /// Seconds east of UTC.
    public var offsetSeconds: Int

    /// - Parameter offsetSeconds: seconds east of UTC.
    public init(_ time: Timestamp, offsetSeconds: Int) {
        self.time = time
        self.offsetSeconds = offsetSeconds
    }

    /// As clocks of a zone showed it.
    public init(_ nanoseconds: Int64, in zone: TimeZoneRules) {
        time = Timestamp(nanoseconds: nanoseconds)
        offsetSeconds = zone.offsetSeconds(at: time)
    }
}

extension LocalTime: CustomStringConvertible {
    /// RFC 3339 with nine fraction digits and the local offset.
    public var description: String {
        time.text(offsetSeconds: offsetSeconds, fractionDigits: .nine)
    }
}

extension LocalTime: Encodable {
    /// As its text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
