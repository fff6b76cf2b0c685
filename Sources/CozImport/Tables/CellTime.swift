// Parses the text of a cell as the time of a row: RFC 3339 and similar forms, numbers, patterns.

internal import CozDB

struct CellTime {
    enum Reading {
        case time(Int64)
        /// Not a time; the text says what was expected.
        case unreadable(String)
        /// A number that is implausible in this precision; the text says what to do.
        case implausible(String)
    }

    var format: TableTimeFormat
    /// The unit of numbers, unless the format defines it.
    let precision: TimestampPrecision
    /// The time zone of times without an offset; nil: UTC.
    var zone: TimeZoneRules?

    /// Parses a non-empty cell.
    ///
    /// - Parameter clock: the cell with the time of day; nil if the cell has the whole time.
    func read(_ text: PaddedBytes, _ range: Range<Int>, clock: Range<Int>?) -> Reading {
        guard let clock else { return read(text, range) }
        if clock.isEmpty { return .unreadable("expected a time of day in its own column") }
        var whole = PaddedBuffer(capacity: range.count + clock.count + 1)
        for index in range { whole.append(text[index]) }
        whole.append(space)
        for index in clock { whole.append(text[index]) }
        return read(whole.bytes, 0..<whole.count)
    }

    /// Parses a non-empty cell.
    func read(_ text: PaddedBytes, _ range: Range<Int>) -> Reading {
        switch format {
        case .automatic:
            if let civil = CellTime.civil(text, range) { return time(civil) }
            guard let number = CellTime.epoch(text, range, precision) else {
                return .unreadable(
                    "expected RFC 3339 or a number; for other times, give a time format"
                        + CellTime.suggestion(text, range))
            }
            return plausible(number, text, range)
        case .rfc3339:
            guard let civil = CellTime.civil(text, range) else {
                return .unreadable("expected RFC 3339, such as 2025-10-15T02:25:21.57+0800")
            }
            return time(civil)
        case .epoch(let unit):
            guard let number = CellTime.epoch(text, range, unit) else {
                return .unreadable("expected a number of \(unit.rawValue) since 1970")
            }
            return .time(number)
        case .pattern(let pattern):
            guard let civil = pattern.read(text, range) else {
                return .unreadable("expected a time in the given format")
            }
            return time(civil)
        }
    }

    private func time(_ civil: CivilTime) -> Reading {
        let time: Timestamp?
        if let zone, civil.offsetSeconds == nil {
            time = zone.timestamp(of: civil)
        } else {
            time = civil.timestamp(offsetSeconds: civil.offsetSeconds ?? 0)
        }
        guard let time else {
            return .unreadable("expected a time from \(Timestamp.min) to \(Timestamp.max)")
        }
        if let zone, civil.offsetSeconds == nil, isSkipped(civil, time, zone) {
            return .unreadable(
                "it does not exist in the time zone, whose clocks were put forward; expected an "
                    + "existing time, or a time with an offset")
        }
        return .time(time.nanoseconds)
    }

    /// Whether a local time does not exist because clocks were put forward. If so, clocks show
    /// another local time at the time computed from it.
    private func isSkipped(_ civil: CivilTime, _ time: Timestamp, _ zone: TimeZoneRules) -> Bool {
        let whole = time.nanoseconds / 1_000_000_000
        let second = time.nanoseconds % 1_000_000_000 < 0 ? whole - 1 : whole
        let shown = second + Int64(zone.offsetSeconds(second: second))
        return shown != civil.day * 86_400 + civil.seconds
    }

    /// Rejects numbers that are implausible as nanoseconds. Current times in seconds, milliseconds
    /// or microseconds, taken as nanoseconds, fall into January 1970.
    private func plausible(_ time: Int64, _ text: PaddedBytes, _ range: Range<Int>) -> Reading {
        guard precision == .nanoseconds, time.magnitude >= 100_000_000,
            time.magnitude < 100_000_000_000_000_000
        else { return .time(time) }
        let unit: TimestampPrecision =
            time.magnitude < 100_000_000_000
            ? .seconds : time.magnitude < 100_000_000_000_000 ? .milliseconds : .microseconds
        guard let meant = CellTime.epoch(text, range, unit) else { return .time(time) }
        return .implausible(
            "the time \(String(decoding: text.copy(range), as: UTF8.self)) is implausible in "
                + "nanoseconds (\(Timestamp(nanoseconds: time))), expected a current time; set the "
                + "precision to \(unit.rawValue) for \(Timestamp(nanoseconds: meant)), or the time "
                + "format to ns to store it unchanged")
    }

    /// The common patterns that read a text, as the end of a sentence.
    private static func suggestion(_ text: PaddedBytes, _ range: Range<Int>) -> String {
        let fitting = commonPatterns.filter { $0.pattern.read(text, range) != nil }
        if fitting.isEmpty { return "" }
        return ", here " + fitting.map { "\"\($0.text)\"" }.joined(separator: " or ")
    }

    private static let commonPatterns: [(text: String, pattern: TimePattern)] =
        ["%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d"].flatMap { date in
            ["", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p"].compactMap { time in
                (try? TimePattern(strptime: date + time)).map { (date + time, $0) }
            }
        }

    // MARK: Texts

    /// Parses a date such as `2025-10-15`, optionally followed by `T`, `t` or a blank and a time of
    /// day. Seconds, their fraction, and a final offset or UTC are optional. nil for anything else.
    static func civil(_ text: PaddedBytes, _ range: Range<Int>) -> CivilTime? {
        guard range.count >= 10, text[range.lowerBound + 4] == UInt8(ascii: "-") else { return nil }
        var scan = CellScan(text, range)
        guard let year = scan.number(digitsMax: 4, exactly: true),
            scan.take(UInt8(ascii: "-")),
            let month = scan.number(digitsMax: 2, exactly: true), (1...12).contains(month),
            scan.take(UInt8(ascii: "-")),
            let day = scan.number(digitsMax: 2, exactly: true),
            day >= 1, day <= CivilTime.days(inMonth: month, year: year)
        else { return nil }
        var civil = CivilTime(
            day: CivilTime.day(year: year, month: month, day: day), seconds: 0, nanoseconds: 0)
        if scan.isAtEnd { return civil }
        guard scan.take(UInt8(ascii: "T")) || scan.take(space) || scan.take(UInt8(ascii: "t")),
            let hour = scan.number(digitsMax: 2, exactly: true), hour < 24,
            scan.take(UInt8(ascii: ":")),
            let minute = scan.number(digitsMax: 2, exactly: true), minute < 60
        else { return nil }
        civil.seconds = hour * 3600 + minute * 60
        if scan.take(UInt8(ascii: ":")) {
            guard let second = scan.number(digitsMax: 2, exactly: true), second < 60 else {
                return nil
            }
            civil.seconds += second
            if scan.take(UInt8(ascii: ".")) {
                guard let fraction = scan.fraction() else { return nil }
                civil.nanoseconds = fraction
            }
        }
        if scan.isAtEnd { return civil }
        _ = scan.take(space)
        civil.offsetSeconds = scan.name(of: ["utc", "gmt"]) != nil ? 0 : scan.offset()
        return civil.offsetSeconds != nil && scan.isAtEnd ? civil : nil
    }

    /// Parses a number of units since 1970 as nanoseconds; nil for anything else, and if it is not
    /// exact.
    static func epoch(
        _ text: PaddedBytes, _ range: Range<Int>, _ unit: TimestampPrecision
    ) -> Int64? {
        let isNegative = text[range.lowerBound] == NumberParsing.minus
        let first = isNegative ? range.lowerBound + 1 : range.lowerBound
        var end = first
        while end < range.upperBound, text[end] &- 0x30 < 10 { end += 1 }
        guard end > first,
            let whole = NumberParsing.integer(text, first..<end, isNegative: isNegative)
        else { return nil }
        var (time, overflow) = whole.multipliedReportingOverflow(by: unit.nanoseconds)
        if overflow { return nil }
        guard end < range.upperBound else { return time }
        guard text[end] == NumberParsing.point else { return nil }
        var share = unit.nanoseconds
        for index in (end + 1)..<range.upperBound {
            let digit = Int64(text[index] &- 0x30)
            guard digit < 10, digit == 0 || share % 10 == 0 else { return nil }
            share /= 10
            (time, overflow) = time.addingReportingOverflow((isNegative ? -digit : digit) * share)
            if overflow { return nil }
        }
        return time
    }
}
