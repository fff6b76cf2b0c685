// Parses a text by a time pattern.

internal import CozDB

extension TimePattern {
    private struct Found {
        var year: Int64 = 1970
        var month: Int64 = 1
        var day: Int64 = 1
        var dayOfYear: Int64?
        var hour: Int64 = 0
        var is12HourClock = false
        /// Nil: neither AM nor PM.
        var isPM: Bool?
        var minute: Int64 = 0
        var second: Int64 = 0
        var nanoseconds: Int64 = 0
        var offset: Int?
        var isUTC = false
        var epochSeconds: Int64?
    }

    /// Returns date and time as written; nil if the pattern does not match the whole text.
    func read(_ text: PaddedBytes, _ range: Range<Int>) -> CivilTime? {
        var scan = CellScan(text, range)
        var found = Found()
        for piece in pieces where !TimePattern.read(piece, &scan, &found) { return nil }
        guard scan.isAtEnd, let hour = hour(found) else { return nil }
        if isGoLayout, found.isUTC { found.offset = 0 }
        return TimePattern.civil(found, hour: hour)
    }

    private static func read(_ piece: Piece, _ scan: inout CellScan, _ found: inout Found) -> Bool {
        /// Reads a number; nil if it is outside `limits`.
        func number(_ digits: Int, _ limits: ClosedRange<Int64>, exactly: Bool = false) -> Int64? {
            guard let value = scan.number(digitsMax: digits, exactly: exactly) else { return nil }
            return limits.contains(value) ? value : nil
        }
        func take(_ value: Int64?, _ place: WritableKeyPath<Found, Int64>) -> Bool {
            guard let value else { return false }
            found[keyPath: place] = value
            return true
        }
        switch piece {
        case .literal(let byte): return scan.take(byte)
        case .blanks:
            while scan.take(space) || scan.take(tab) {}
            return true
        case .year: return take(number(4, 0...9999, exactly: true), \.year)
        case .shortYear:
            let value = number(2, 0...99, exactly: true)
            return take(value.map { $0 < 69 ? 2000 + $0 : 1900 + $0 }, \.year)
        case .month: return take(number(2, 1...12), \.month)
        case .day:
            _ = scan.take(space)
            return take(number(2, 1...31), \.day)
        case .dayOfYear:
            found.dayOfYear = number(3, 1...366)
            return found.dayOfYear != nil
        case .hour: return take(number(2, 0...23), \.hour)
        case .hour12:
            found.is12HourClock = true
            return take(number(2, 0...12), \.hour)
        case .minute: return take(number(2, 0...59), \.minute)
        case .second: return take(number(2, 0...59), \.second)
        case .fraction: return take(scan.fraction(), \.nanoseconds)
        case .optionalFraction:
            guard scan.take(UInt8(ascii: ".")) || scan.take(UInt8(ascii: ",")) else { return true }
            return take(scan.fraction(), \.nanoseconds)
        case .monthName: return take(scan.name(of: months).map { Int64($0 + 1) }, \.month)
        case .weekdayName: return scan.name(of: weekdays) != nil
        case .amPM:
            guard let half = scan.name(of: ["am", "pm"]) else { return false }
            found.isPM = half == 1
            return true
        case .offset:
            found.offset = scan.offset()
            return found.offset != nil
        case .zoneName:
            guard let name = scan.name(of: ["utc", "gmt"]) else { return false }
            found.isUTC = name == 0
            // An offset next to the name counts, except in a layout of Go.
            if found.offset == nil { found.offset = 0 }
            return true
        case .epochSeconds:
            found.epochSeconds = number(12, 0...(1 << 40))
            return found.epochSeconds != nil
        }
    }

    /// Returns the hour of the day. Go's rules are at the end of `parse` in its time/format.go.
    private func hour(_ found: Found) -> Int64? {
        if isGoLayout {
            if found.isPM == true, found.hour < 12 { return found.hour + 12 }
            return found.isPM == false && found.hour == 12 ? 0 : found.hour
        }
        guard found.is12HourClock else { return found.hour }
        guard found.hour > 0 else { return nil }
        return found.hour % 12 + (found.isPM == true ? 12 : 0)
    }

    private static func civil(_ found: Found, hour: Int64) -> CivilTime? {
        if let seconds = found.epochSeconds {
            return CivilTime(
                day: seconds / 86_400, seconds: seconds % 86_400, nanoseconds: found.nanoseconds,
                offsetSeconds: 0)
        }
        var day: Int64
        if let dayOfYear = found.dayOfYear {
            day = CivilTime.day(year: found.year, month: 1, day: 1) + dayOfYear - 1
            guard day < CivilTime.day(year: found.year + 1, month: 1, day: 1) else { return nil }
        } else {
            guard found.day <= CivilTime.days(inMonth: found.month, year: found.year) else {
                return nil
            }
            day = CivilTime.day(year: found.year, month: found.month, day: found.day)
        }
        return CivilTime(
            day: day, seconds: hour * 3600 + found.minute * 60 + found.second,
            nanoseconds: found.nanoseconds, offsetSeconds: found.offset)
    }

    private static let months = [
        "january", "february", "march", "april", "may", "june", "july", "august", "september",
        "october", "november", "december",
    ]
    private static let weekdays = [
        "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
    ]
}

/// A cursor over the text of a cell.
struct CellScan {
    private let text: PaddedBytes
    private(set) var index: Int
    private let end: Int

    init(_ text: PaddedBytes, _ range: Range<Int>) {
        self.text = text
        index = range.lowerBound
        end = range.upperBound
    }

    var isAtEnd: Bool { index == end }

    mutating func take(_ byte: UInt8) -> Bool {
        guard index < end, text[index] == byte else { return false }
        index += 1
        return true
    }

    mutating func take(_ word: StaticString) -> Bool {
        guard text.starts(with: word, at: index, end: end) else { return false }
        index += word.utf8CodeUnitCount
        return true
    }

    /// Reads one to `digitsMax` digits; exactly `digitsMax` if `exactly` is set.
    mutating func number(digitsMax: Int, exactly: Bool = false) -> Int64? {
        var value: Int64 = 0
        let start = index
        while index < end, index - start < digitsMax, text[index] &- 0x30 < 10 {
            value = value * 10 + Int64(text[index] - 0x30)
            index += 1
        }
        let count = index - start
        return count == 0 || exactly && count != digitsMax ? nil : value
    }

    /// Reads one to nine digits of a fraction of a second, as nanoseconds.
    mutating func fraction() -> Int64? {
        let start = index
        guard var value = number(digitsMax: 9) else { return nil }
        for _ in (index - start)..<9 { value *= 10 }
        return value
    }

    /// Reads any number of digits and returns their range.
    mutating func digits() -> Range<Int> {
        let start = index
        while index < end, text[index] &- 0x30 < 10 { index += 1 }
        return start..<index
    }

    /// Returns the part of an amount that the digits after a decimal point say, rounded down. The
    /// amount is at most `Int64.max / 10`.
    func part(_ digits: Range<Int>, of amount: Int64) -> Int64 {
        // From the last digit on: rounding down at each step does not change the result.
        digits.reversed().reduce(0) { (Int64(text[$1] - 0x30) * amount + $0) / 10 }
    }

    /// Reads `Z`, `+08`, `+0800` or `+08:00`, as seconds east of UTC.
    mutating func offset() -> Int? {
        if take(UInt8(ascii: "Z")) || take(UInt8(ascii: "z")) { return 0 }
        let isNegative = take(UInt8(ascii: "-"))
        guard isNegative || take(UInt8(ascii: "+")),
            let hours = number(digitsMax: 2, exactly: true), hours < 24
        else { return nil }
        let hasColon = take(UInt8(ascii: ":"))
        let hasMinutes = hasColon || index < end && text[index] &- 0x30 < 10
        let minutes = hasMinutes ? number(digitsMax: 2, exactly: true) : 0
        guard let minutes, minutes < 60 else { return nil }
        let seconds = Int(hours * 3600 + minutes * 60)
        return isNegative ? -seconds : seconds
    }

    /// Reads a name, whole or its first three letters, and returns its index. Ignores case.
    mutating func name(of names: [String]) -> Int? {
        for isWhole in [true, false] {
            for (number, name) in names.enumerated() {
                let letters = isWhole ? name.utf8.prefix(.max) : name.utf8.prefix(3)
                guard end - index >= letters.count,
                    zip(index..., letters).allSatisfy({ text[$0] | 0x20 == $1 })
                else { continue }
                index += letters.count
                return number
            }
        }
        return nil
    }
}
