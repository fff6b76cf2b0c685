// Calendar days. For when a day starts in a time zone, see Query/Time/LocalDays.swift.

/// A day of the proleptic Gregorian calendar, years 0000 to 9999, without a time zone.
public struct LocalDate: Hashable, Strideable, Sendable {
    private static let dayNumbers = -719_528...2_932_896

    /// Days since 1970-01-01; negative before.
    public let dayNumber: Int

    /// Creates a day.
    ///
    /// - Parameter dayNumber: Days since 1970-01-01. Values outside the years 0000 to 9999 are
    ///   clamped.
    public init(dayNumber: Int) {
        let range = LocalDate.dayNumbers
        self.dayNumber = Swift.min(Swift.max(dayNumber, range.lowerBound), range.upperBound)
    }

    /// Parses exactly the format `2025-10-15`; nil for anything else and for dates that do not
    /// exist.
    public init?(_ text: String) {
        guard text.utf8.count == 10, let civil = CivilTime(text) else { return nil }
        dayNumber = Int(civil.day)
    }

    /// Returns the day this many days later (earlier if negative), clamped to the calendar's range.
    public func advanced(by days: Int) -> LocalDate {
        let (sum, isOver) = dayNumber.addingReportingOverflow(days)
        return LocalDate(dayNumber: isOver ? (days < 0 ? .min : .max) : sum)
    }

    /// Returns the number of days to another day; negative if it is earlier.
    public func distance(to other: LocalDate) -> Int { other.dayNumber - dayNumber }

    /// Whether the left day is earlier.
    public static func < (left: LocalDate, right: LocalDate) -> Bool {
        left.dayNumber < right.dayNumber
    }
}

extension LocalDate: CustomStringConvertible {
    /// `2025-10-15`.
    public var description: String {
        let date = CivilTime.date(day: Int64(dayNumber))
        func padded(_ number: Int64, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: Swift.max(0, width - digits.utf8.count)) + digits
        }
        return "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))"
    }
}

extension LocalDate: Encodable {
    /// Encodes the day as text, `2025-10-15`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension CivilTime {
    /// Midnight of a day, given as days since 1970-01-01.
    init(midnightOf day: Int64) {
        self.day = day
        (seconds, nanoseconds, offsetSeconds) = (0, 0, nil)
    }
}
