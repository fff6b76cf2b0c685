// The values of `--from` and `--to`: points in time, in local time where they name no offset.

internal import ArgumentParser
internal import CozDB

/// RFC 3339 text, a date, or nanoseconds since 1970.
struct TimeArgument: ExpressibleByArgument {
    private enum Form {
        case time(Timestamp)
        /// As clocks showed it, in whatever zone.
        case local(CivilTime)
    }

    private let form: Form

    init?(argument: String) {
        // Also where the text names an offset: what cannot be stored is no argument.
        guard let clock = ClockTime(argument: argument) else { return nil }
        if let civil = CivilTime(argument), civil.offsetSeconds == nil {
            form = .local(civil)
        } else {
            form = .time(clock.time)
        }
    }

    /// The point in time; of a day its begin.
    ///
    /// - Parameter zone: of a text without an offset; nil is UTC. Times that clocks show twice, or
    ///   not at all, are read as `TimeZoneRules.timestamp` reads them.
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
