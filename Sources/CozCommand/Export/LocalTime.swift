// The values of `--from` and `--to`: points in time, in local time where they name no offset.

internal import ArgumentParser
internal import CozDB

/// RFC 3339 text, a date, or nanoseconds since 1970.
struct LocalTime: ExpressibleByArgument {
    private let time: Timestamp
    private let isLocal: Bool

    init?(argument: String) {
        guard let clock = ClockTime(argument: argument) else { return nil }
        time = clock.time
        // An offset stands behind the clock; a date alone has none.
        let clockText = argument.utf8.dropFirst(10)
        let marks = "Zz+-".utf8
        isLocal = Int64(argument) == nil && !clockText.contains { marks.contains($0) }
    }

    /// The point in time.
    ///
    /// - Parameter zone: of a text without an offset; nil is UTC. Of a time that clocks show twice
    ///   it is the earlier one.
    func time(in zone: TimeZoneRules?) -> Timestamp {
        guard isLocal, let zone else { return time }
        func shifted(_ offsetSeconds: Int) -> Timestamp {
            let (difference, isBeyond) = time.nanoseconds.subtractingReportingOverflow(
                Int64(offsetSeconds) * 1_000_000_000)
            return isBeyond ? time : Timestamp(nanoseconds: difference)
        }
        // Clocks are not moved twice in two days: one of the two offsets around is the right one.
        let day = 86_400
        let before = zone.offsetSeconds(at: shifted(day))
        let after = zone.offsetSeconds(at: shifted(-day))
        let early = shifted(before)
        return zone.offsetSeconds(at: early) == before ? early : shifted(after)
    }
}
