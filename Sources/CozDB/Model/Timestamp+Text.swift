// Parses and prints timestamps as RFC 3339 text, with nanoseconds, in the proleptic Gregorian
// calendar. Independent of locale and time zone names.

/// How many fraction digits are printed.
public enum FractionDigits: Hashable, Sendable {
    /// As many as needed; none for a whole second.
    case needed
    /// Always nine, for fixed-width columns.
    case nine
}

extension Timestamp {
    /// Parses RFC 3339 text such as `2025-10-15T02:25:21.57+0800`. Also accepts a space or `t`
    /// instead of `T`. Seconds, fraction (1 to 9 digits) and time of day are optional. The offset
    /// may be `Z`, `+08`, `+0800` or `+08:00`; the default is UTC. nil for anything else and for
    /// times outside the range of `Timestamp`.
    public init?(_ text: String) {
        guard let civil = CivilTime(text),
            let time = civil.timestamp(offsetSeconds: civil.offsetSeconds ?? 0)
        else { return nil }
        self = time
    }

    /// Returns RFC 3339 text.
    ///
    /// - Parameters:
    ///   - offsetSeconds: UTC offset, positive to the east, clamped to less than a day. 0 prints
    ///     `Z`. RFC 3339 has no seconds in offsets: the text is in the offset without them, so that
    ///     it names the same moment.
    ///   - fractionDigits: How many fraction digits are printed.
    public func text(
        offsetSeconds: Int = 0, fractionDigits: FractionDigits = .needed
    ) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(35)
        appendText(to: &bytes, offsetSeconds: offsetSeconds, fractionDigits: fractionDigits)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends the bytes of `text(offsetSeconds:fractionDigits:)`, to save an allocation per call.
    public func appendText(
        to bytes: inout [UInt8], offsetSeconds: Int = 0, fractionDigits: FractionDigits = .needed
    ) {
        // Split off seconds first: nanoseconds plus an offset could overflow.
        var (seconds, fraction) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        if fraction < 0 {
            seconds -= 1
            fraction += 1_000_000_000
        }
        let offsetSeconds = Swift.min(Swift.max(offsetSeconds, -86_399), 86_399) / 60 * 60
        seconds += Int64(offsetSeconds)
        let day = CivilTime.floorDivide(seconds, 86_400)
        let clock = seconds - day * 86_400
        let date = CivilTime.date(day: day)
        bytes.append(addingCapacity: Timestamp.textSizeBytesMax) { output in
            output.append(pair: date.year / 100)
            output.append(pair: date.year % 100)
            output.append(UInt8(ascii: "-"))
            output.append(pair: date.month)
            output.append(UInt8(ascii: "-"))
            output.append(pair: date.day)
            output.append(UInt8(ascii: "T"))
            output.append(pair: clock / 3600)
            output.append(UInt8(ascii: ":"))
            output.append(pair: clock / 60 % 60)
            output.append(UInt8(ascii: ":"))
            output.append(pair: clock % 60)
            if fraction != 0 || fractionDigits == .nine {
                output.append(UInt8(ascii: "."))
                output.append(fraction: fraction, keepsZeros: fractionDigits == .nine)
            }
            output.append(offsetSeconds: offsetSeconds)
        }
    }

    /// `1970-01-01T00:00:00.000000000+00:00`
    private static let textSizeBytesMax = 35
}

extension OutputSpan<UInt8> {
    /// Appends a number from 0 to 99 as two digits.
    fileprivate mutating func append(pair: Int64) {
        append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: pair / 10))
        append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: pair % 10))
    }

    /// Appends the fraction digits of a second, given in nanoseconds.
    fileprivate mutating func append(fraction: Int64, keepsZeros: Bool) {
        var rest = fraction
        var unit: Int64 = 100_000_000
        while unit > 0, rest > 0 || keepsZeros {
            append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest / unit))
            rest %= unit
            unit /= 10
        }
    }

    fileprivate mutating func append(offsetSeconds: Int) {
        if offsetSeconds == 0 { return append(UInt8(ascii: "Z")) }
        let minutes = Int64(offsetSeconds.magnitude / 60)
        append(offsetSeconds < 0 ? UInt8(ascii: "-") : UInt8(ascii: "+"))
        append(pair: minutes / 60)
        append(UInt8(ascii: ":"))
        append(pair: minutes % 60)
    }
}

extension Timestamp: CustomStringConvertible {
    /// RFC 3339 text in UTC with as many fraction digits as needed.
    public var description: String { text() }
}

/// A date and time of day as written, before its time zone is applied.
package struct CivilTime: Equatable {
    /// Days since 1970-01-01.
    package var day: Int64
    /// Seconds since midnight.
    package var seconds: Int64
    package var nanoseconds: Int64
    /// UTC offset; nil if the text has none.
    package var offsetSeconds: Int?

    package init(day: Int64, seconds: Int64, nanoseconds: Int64, offsetSeconds: Int? = nil) {
        self.day = day
        self.seconds = seconds
        self.nanoseconds = nanoseconds
        self.offsetSeconds = offsetSeconds
    }

    package init?(_ text: String) {
        var reader = DigitReader(text)
        guard let year = reader.number(4), reader.take("-"),
            let month = reader.number(2), (1...12).contains(month), reader.take("-"),
            let dayOfMonth = reader.number(2), dayOfMonth >= 1,
            dayOfMonth <= CivilTime.days(inMonth: month, year: year)
        else { return nil }
        day = CivilTime.day(year: year, month: month, day: dayOfMonth)
        (seconds, nanoseconds, offsetSeconds) = (0, 0, nil)
        if reader.isAtEnd { return }
        guard reader.take("T") || reader.take("t") || reader.take(" "),
            let hour = reader.number(2), hour < 24, reader.take(":"),
            let minute = reader.number(2), minute < 60
        else { return nil }
        seconds = hour * 3600 + minute * 60
        if reader.take(":") {
            guard let second = reader.number(2), second < 60 else { return nil }
            seconds += second
            if reader.take(".") {
                guard let fraction = reader.fraction() else { return nil }
                nanoseconds = fraction
            }
        }
        if reader.isAtEnd { return }
        guard let offset = reader.offset(), reader.isAtEnd else { return nil }
        offsetSeconds = offset
    }

    /// Returns the point in time, given the UTC offset; nil if out of range.
    package func timestamp(offsetSeconds: Int) -> Timestamp? {
        var total = day * 86_400 + seconds - Int64(offsetSeconds)
        var nanoseconds = nanoseconds
        // Round toward zero, so that the earliest second does not overflow before its fraction is
        // added.
        if total < 0, nanoseconds > 0 {
            total += 1
            nanoseconds -= 1_000_000_000
        }
        let (product, over) = total.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, beyond) = product.addingReportingOverflow(nanoseconds)
        guard !over, !beyond else { return nil }
        let time = Timestamp(nanoseconds: sum)
        return time >= .min && time <= .max ? time : nil
    }

    static func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
        let quotient = value / divisor
        return value % divisor < 0 ? quotient - 1 : quotient
    }

    static func isLeap(_ year: Int64) -> Bool {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    }

    package static func days(inMonth month: Int64, year: Int64) -> Int64 {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Returns days since 1970-01-01, computed with years that start in March.
    package static func day(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = floorDivide(year, 400)
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    static func date(day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = day + 719_468
        let era = floorDivide(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth + (shiftedMonth < 10 ? 3 : -9)
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }
}

/// A parser of fixed-width decimal numbers.
private struct DigitReader {
    private let bytes: [UInt8]
    private var index = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    var isAtEnd: Bool { index == bytes.count }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard index < bytes.count, UInt32(bytes[index]) == character.value else { return false }
        index += 1
        return true
    }

    mutating func number(_ digits: Int) -> Int64? {
        guard index + digits <= bytes.count else { return nil }
        var value: Int64 = 0
        for byte in bytes[index..<(index + digits)] {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            value = value * 10 + Int64(byte - UInt8(ascii: "0"))
        }
        index += digits
        return value
    }

    mutating func fraction() -> Int64? {
        var value: Int64 = 0
        var digits = 0
        while digits < 9, let digit = number(1) {
            value = value * 10 + digit
            digits += 1
        }
        guard digits > 0 else { return nil }
        for _ in digits..<9 { value *= 10 }
        return value
    }

    mutating func offset() -> Int? {
        if take("Z") || take("z") { return 0 }
        let isNegative = take("-")
        guard isNegative || take("+"), let hours = number(2), hours < 24 else { return nil }
        _ = take(":")
        let minutes = isAtEnd ? 0 : number(2)
        guard let minutes, minutes < 60 else { return nil }
        let seconds = Int(hours * 3600 + minutes * 60)
        return isNegative ? -seconds : seconds
    }
}

extension Timestamp: Codable {
    /// Decodes RFC 3339 text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let time = Timestamp(text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "found \"\(text)\"; expected a time as RFC 3339")
        }
        self = time
    }

    /// Encodes RFC 3339 text, with as many fraction digits as needed.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text())
    }
}
