// Parses the times of payloads, such as `2022-09-01T07:02:51.578+0800`, to the nanosecond.

internal import CozDB

/// Parses times. Caches the last date, because times arrive grouped by day.
struct PayloadTime {
    struct Reading: Equatable {
        var nanoseconds: Int64
        /// Minutes east of UTC. Nil if the text has no offset; it is then UTC.
        var offsetMinutes: Int?
    }

    private var lastDate: [UInt8] = []
    private var lastDay: Int64 = 0

    /// Parses a time such as `2022-09-01T07:02:51.578+0800`. Returns nil for anything else.
    ///
    /// - The separator is `T`, `t` or a blank.
    /// - Clock, seconds and fraction (1 to 9 digits) are optional.
    /// - The offset is `Z`, `+08`, `+0800` or `+08:00`, optionally after a blank. The default is
    ///   UTC.
    mutating func read(_ text: Span<UInt8>) -> Reading? {
        guard text.count >= 10, let day = day(text.extracting(0..<10)),
            let clock = ClockText(text, from: 10)
        else { return nil }
        let offset = Int64(clock.offsetMinutes ?? 0) * 60_000_000_000
        let (time, overflow) = day.addingReportingOverflow(clock.nanoseconds - offset)
        let range = Timestamp.min.nanoseconds...Timestamp.max.nanoseconds
        guard !overflow, range.contains(time) else { return nil }
        return Reading(nanoseconds: time, offsetMinutes: clock.offsetMinutes)
    }

    private mutating func day(_ date: Span<UInt8>) -> Int64? {
        if lastDate.count == date.count, date.indices.allSatisfy({ lastDate[$0] == date[$0] }) {
            return lastDay
        }
        let bytes = date.indices.map { date[$0] }
        let text = String(decoding: bytes, as: UTF8.self)
        guard let day = Timestamp(text), let year = Int(text.prefix(4)),
            PayloadTime.years.contains(year)
        else { return nil }
        lastDate = bytes
        lastDay = day.nanoseconds
        return lastDay
    }

    static func reason(_ text: String) -> String {
        let expected = "expected one such as 2022-09-01T07:02:51.578+0800"
        let found = "time is \"\(excerpt(text))\""
        if !text.utf8.allSatisfy({ $0 < 0x80 }) {
            return "\(found) with non-ASCII characters; \(expected)"
        }
        let digits = text.utf8.prefix { $0 &- 0x30 < 10 }
        if digits.count == 4, text.utf8.dropFirst(4).first == UInt8(ascii: "-"),
            let year = Int(text.prefix(4)), !years.contains(year)
        {
            return "\(found) with the year \(year), expected \(years.lowerBound) to "
                + "\(years.upperBound); set the calendar of the phone to Gregorian"
        }
        return "\(found), \(expected)"
    }

    /// The years that a phone can plausibly send. Other years come from phones with another
    /// calendar; such times are refused instead of converted.
    static let years = 1970...2261

    static func excerpt(_ text: String) -> String {
        text.unicodeScalars.count > 60 ? "\(String(text.unicodeScalars.prefix(60)))…" : text
    }
}

/// The part of a time after the date.
private struct ClockText {
    /// Nanoseconds since midnight.
    var nanoseconds: Int64 = 0
    var offsetMinutes: Int?

    /// - Parameter start: the index after the date.
    init?(_ text: Span<UInt8>, from start: Int) {
        var index = start
        if index < text.count, ClockText.isSeparator(text[index]), index + 1 < text.count,
            ClockText.isDigit(text[index + 1])
        {
            index += 1
            guard let clock = ClockText.clock(text, &index) else { return nil }
            nanoseconds = clock
        }
        if index < text.count, text[index] == UInt8(ascii: " ") { index += 1 }
        if index == text.count, index == start || text[index - 1] != UInt8(ascii: " ") { return }
        guard let offset = ClockText.offset(text, &index), index == text.count else { return nil }
        offsetMinutes = offset
    }

    private static func isSeparator(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "T") || byte == UInt8(ascii: "t") || byte == UInt8(ascii: " ")
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    private static func take(_ byte: Unicode.Scalar, _ text: Span<UInt8>, _ index: inout Int)
        -> Bool
    {
        guard index < text.count, UInt32(text[index]) == byte.value else { return false }
        index += 1
        return true
    }

    /// Parses a two-digit number below a limit.
    private static func pair(_ text: Span<UInt8>, _ index: inout Int, below limit: Int64)
        -> Int64?
    {
        guard index + 2 <= text.count, isDigit(text[index]), isDigit(text[index + 1]) else {
            return nil
        }
        let value = Int64(text[index] &- 0x30) * 10 + Int64(text[index + 1] &- 0x30)
        index += 2
        return value < limit ? value : nil
    }

    private static func clock(_ text: Span<UInt8>, _ index: inout Int) -> Int64? {
        guard let hour = pair(text, &index, below: 24), take(":", text, &index),
            let minute = pair(text, &index, below: 60)
        else { return nil }
        var clock = (hour * 60 + minute) * 60_000_000_000
        guard take(":", text, &index) else { return clock }
        guard let second = pair(text, &index, below: 60) else { return nil }
        clock += second * 1_000_000_000
        guard take(".", text, &index) else { return clock }
        let first = index
        var unit: Int64 = 100_000_000
        while index < text.count, isDigit(text[index]) {
            guard unit > 0 else { return nil }
            clock += Int64(text[index] &- 0x30) * unit
            unit /= 10
            index += 1
        }
        return index > first ? clock : nil
    }

    /// Parses `Z`, `+08`, `+0800` or `+08:00` to minutes.
    private static func offset(_ text: Span<UInt8>, _ index: inout Int) -> Int? {
        if take("Z", text, &index) || take("z", text, &index) { return 0 }
        let isWest = take("-", text, &index)
        guard isWest || take("+", text, &index), let hours = pair(text, &index, below: 24) else {
            return nil
        }
        var minutes: Int64 = 0
        if index < text.count {
            _ = take(":", text, &index)
            guard let rest = pair(text, &index, below: 60) else { return nil }
            minutes = rest
        }
        let total = Int(hours * 60 + minutes)
        return isWest ? -total : total
    }
}
