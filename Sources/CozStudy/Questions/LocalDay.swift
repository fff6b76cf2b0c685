// Days as the participants' calendar has them, and where they begin on the time line.

public import CozDB

/// A date of the calendar, in whatever zone it was found.
public struct LocalDay: Hashable, Strideable, Sendable {
    /// Days since 1970-01-01; negative before.
    public var number: Int

    /// - Parameter number: days since 1970-01-01.
    public init(number: Int) {
        self.number = number
    }

    /// Reads `2024-03-01`; nil for everything else.
    public init?(_ text: String) {
        guard text.utf8.count == 10, let midnight = Timestamp(text) else { return nil }
        self.init(number: Int(midnight.nanoseconds.flooringQuotient(LocalDay.nanoseconds)))
    }

    static let nanoseconds: Int64 = 86_400_000_000_000

    /// Whether the left is earlier.
    public static func < (left: LocalDay, right: LocalDay) -> Bool { left.number < right.number }

    /// Days from this one to another; negative to an earlier one.
    public func distance(to other: LocalDay) -> Int { other.number - number }

    /// The day so many days later.
    public func advanced(by days: Int) -> LocalDay { LocalDay(number: number + days) }

    /// 1 for Monday to 7 for Sunday, as in ISO 8601.
    public var dayOfWeek: Int {
        // 1970-01-01 was a Thursday.
        let days = (number + 3) % 7
        return (days < 0 ? days + 7 : days) + 1
    }
}

extension LocalDay: CustomStringConvertible {
    /// `2024-03-01`.
    public var description: String {
        let (midnight, isOver) = Int64(number).multipliedReportingOverflow(by: LocalDay.nanoseconds)
        // Days at the ends of time may lie in part beyond them.
        let end = number < 0 ? Timestamp.min : Timestamp.max
        let time = isOver ? end : Timestamp(nanoseconds: midnight)
        return String(time.text().prefix(10))
    }
}

/// The local days of one zone.
public struct LocalCalendar: Sendable {
    /// The zone whose clocks decide.
    public let zone: TimeZoneRules

    /// - Parameter zone: whose clocks decide what day it is.
    public init(zone: TimeZoneRules) {
        self.zone = zone
    }

    /// The day on which a moment lies.
    public func day(of time: Timestamp) -> LocalDay {
        let (days, rest) = time.nanoseconds.flooringDivision(LocalDay.nanoseconds)
        let shift = Int64(zone.offsetSeconds(at: time)) * 1_000_000_000
        let carried = (rest + shift).flooringQuotient(LocalDay.nanoseconds)
        return LocalDay(number: Int(days + carried))
    }

    /// The first moment of a day: local midnight, or where clocks skip it the moment they do.
    public func start(of day: LocalDay) -> Timestamp {
        let (midnight, isOver) = Int64(day.number)
            .multipliedReportingOverflow(by: LocalDay.nanoseconds)
        guard !isOver else { return day.number < 0 ? .min : .max }
        // Offsets are less than a day, so those a day before and after are all that can hold.
        let offsets = [-LocalDay.nanoseconds, LocalDay.nanoseconds].map { away in
            zone.offsetSeconds(at: LocalCalendar.time(midnight, plus: away))
        }
        let starts = offsets.map { offset in
            LocalCalendar.time(midnight, plus: -Int64(offset) * 1_000_000_000)
        }
        return starts.filter { self.day(of: $0) >= day }.min() ?? starts[0]
    }

    private static func time(_ nanoseconds: Int64, plus more: Int64) -> Timestamp {
        let (sum, isOver) = nanoseconds.addingReportingOverflow(more)
        if isOver { return more < 0 ? .min : .max }
        return Swift.min(Swift.max(Timestamp(nanoseconds: sum), .min), .max)
    }

    /// RFC 3339 text with the offset that clocks show then.
    public func text(_ time: Timestamp, fractionDigits: FractionDigits = .needed) -> String {
        time.text(
            offsetSeconds: zone.offsetSeconds(at: time), fractionDigits: fractionDigits)
    }
}

extension Int64 {
    fileprivate func flooringDivision(_ divisor: Int64) -> (quotient: Int64, rest: Int64) {
        let (quotient, rest) = quotientAndRemainder(dividingBy: divisor)
        return rest < 0 ? (quotient - 1, rest + divisor) : (quotient, rest)
    }

    fileprivate func flooringQuotient(_ divisor: Int64) -> Int64 {
        flooringDivision(divisor).quotient
    }
}
