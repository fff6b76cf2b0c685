// The rule in the footer of a TZif file, such as `CET-1CEST,M3.5.0,M10.5.0/3`. It has the format of
// the POSIX TZ variable with the extensions of RFC 8536: hours beyond a day, names in angle
// brackets.

/// The standard offset of a zone and its daylight saving time, if it has one.
struct PosixZoneRule: Equatable, Sendable {
    /// A day of the year, repeated every year, and a clock time on that day.
    struct SwitchDay: Equatable, Sendable {
        enum Day: Equatable, Sendable {
            /// A weekday (0 = Sunday) in a week (5 = last) of a month.
            case weekday(Int64, week: Int64, month: Int64)
            /// A day from 1 to 365 that does not count February 29.
            case withoutLeapDay(Int64)
            /// A day from 0 to 365 that counts February 29.
            case withLeapDay(Int64)
        }

        var day: Day
        /// Seconds after midnight; may be negative or exceed a day.
        var seconds: Int64

        /// Returns the local time of the switch in a year, in seconds since 1970.
        func localSecond(year: Int64) -> Int64 {
            let firstDay = CivilTime.day(year: year, month: 1, day: 1)
            let date: Int64
            switch day {
            case .withoutLeapDay(let number):
                date = firstDay + number - 1 + (CivilTime.isLeap(year) && number >= 60 ? 1 : 0)
            case .withLeapDay(let number): date = firstDay + number
            case .weekday(let weekday, let week, let month):
                let first = CivilTime.day(year: year, month: month, day: 1)
                // 1970-01-01 was a Thursday.
                let firstWeekday = ((first + 4) % 7 + 7) % 7
                var day = (weekday - firstWeekday + 7) % 7 + (week - 1) * 7
                while day >= CivilTime.days(inMonth: month, year: year) { day -= 7 }
                date = first + day
            }
            return date * 86_400 + seconds
        }
    }

    /// Seconds east of UTC.
    var standard: Int
    var dstOffset: Int?
    var dstStart: SwitchDay?
    var dstEnd: SwitchDay?

    init?(_ text: String) {
        var reader = RuleReader(text)
        guard reader.name(), let west = reader.clock() else { return nil }
        standard = -Int(west)
        guard !reader.isAtEnd else { return }
        guard reader.name() else { return nil }
        dstOffset = standard + 3600
        if let west = reader.clock() { dstOffset = -Int(west) }
        guard reader.take(","), let begins = reader.switchDay(), reader.take(","),
            let ends = reader.switchDay(), reader.isAtEnd
        else { return nil }
        (dstStart, dstEnd) = (begins, ends)
    }

    /// Returns the switches after a time, up to the end of the `Timestamp` range: the moment of
    /// each switch and the offset from then on.
    func switches(after last: Int64?) -> [(second: Int64, offset: Int)] {
        guard let dstOffset, let dstStart, let dstEnd else { return [] }
        let firstDay = last.map { CivilTime.floorDivide($0, 86_400) }
        let firstYear = firstDay.map { max(CivilTime.date(day: $0).year - 1, 1676) } ?? 1676
        var all: [(second: Int64, offset: Int)] = []
        for year in stride(from: firstYear, through: 2263, by: 1) {
            let begins = dstStart.localSecond(year: year) - Int64(standard)
            let ends = dstEnd.localSecond(year: year) - Int64(dstOffset)
            for (second, offset) in [(begins, dstOffset), (ends, standard)]
            where second > last ?? .min {
                all.append((second, offset))
            }
        }
        // If daylight saving time never ends, one year's end coincides with the next year's start.
        // The start must win, so it sorts last.
        func rank(_ offset: Int) -> Int { offset == dstOffset ? 1 : 0 }
        return all.sorted { ($0.second, rank($0.offset)) < ($1.second, rank($1.offset)) }
    }

    func offset(at second: Int64) -> Int {
        guard let dstOffset, let dstStart, let dstEnd else { return standard }
        let day = CivilTime.floorDivide(second + Int64(standard), 86_400)
        let year = CivilTime.date(day: day).year
        let begins = dstStart.localSecond(year: year) - Int64(standard)
        let ends = dstEnd.localSecond(year: year) - Int64(dstOffset)
        let isSummer =
            begins < ends
            ? second >= begins && second < ends : !(second >= ends && second < begins)
        return isSummer ? dstOffset : standard
    }
}

private struct RuleReader {
    private let bytes: [UInt8]
    private var index = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    var isAtEnd: Bool { index >= bytes.count }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard !isAtEnd, UInt32(bytes[index]) == character.value else { return false }
        index += 1
        return true
    }

    mutating func name() -> Bool {
        let start = index
        if take("<") {
            while !isAtEnd, bytes[index] != UInt8(ascii: ">") { index += 1 }
            return take(">")
        }
        while !isAtEnd, bytes[index].isWordStart { index += 1 }
        return index - start >= 3
    }

    mutating func number() -> Int64? {
        let start = index
        var value: Int64 = 0
        while !isAtEnd, bytes[index].isDigit, index - start < 6 {
            value = value * 10 + Int64(bytes[index] - UInt8(ascii: "0"))
            index += 1
        }
        return index > start ? value : nil
    }

    /// Parses `[+-]hh[:mm[:ss]]` and returns seconds.
    mutating func clock() -> Int64? {
        let isNegative = take("-")
        if !isNegative { _ = take("+") }
        guard let hours = number() else { return nil }
        var seconds = hours * 3600
        if take(":") { seconds += (number() ?? 0) * 60 }
        if take(":") { seconds += number() ?? 0 }
        return isNegative ? -seconds : seconds
    }

    mutating func switchDay() -> PosixZoneRule.SwitchDay? {
        let day: PosixZoneRule.SwitchDay.Day
        if take("M") {
            guard let month = number(), (1...12).contains(month), take("."),
                let week = number(), (1...5).contains(week), take("."),
                let weekday = number(), weekday <= 6
            else { return nil }
            day = .weekday(weekday, week: week, month: month)
        } else if take("J") {
            guard let number = number(), (1...365).contains(number) else { return nil }
            day = .withoutLeapDay(number)
        } else {
            guard let number = number(), number <= 365 else { return nil }
            day = .withLeapDay(number)
        }
        guard take("/") else { return .init(day: day, seconds: 7200) }
        guard let seconds = clock() else { return nil }
        return .init(day: day, seconds: seconds)
    }
}
