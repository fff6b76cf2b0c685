// The arguments of `--from` and `--to`: times that may be local.

internal import ArgumentParser
internal import CozDB

/// RFC 3339 text, a date, or nanoseconds since 1970.
struct TimeArgument: ExpressibleByArgument {
    private enum Form {
        case time(Timestamp)
        /// Local time without an offset.
        case local(CivilTime)
    }

    private let form: Form

    init?(argument: String) {
        // This also rejects times that are out of range.
        guard let clock = ClockTime(argument: argument) else { return nil }
        if let civil = CivilTime(argument), civil.offsetSeconds == nil {
            form = .local(civil)
        } else {
            form = .time(clock.time)
        }
    }

    /// Returns the point in time; for a date, the start of the day.
    ///
    /// - Parameter zone: The zone of text without an offset; nil for UTC. Times that occur twice or
    ///   not at all in the zone are resolved by `TimeZoneRules.timestamp`.
    func time(in zone: TimeZoneRules?) -> Timestamp {
        switch form {
        case .time(let time): time
        case .local(let civil):
            if let zone, let time = zone.timestamp(of: civil) {
                time
            } else {
                civil.timestamp(offsetSeconds: 0) ?? (civil.day < 0 ? .min : .max)
            }
        }
    }
}
