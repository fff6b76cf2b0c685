// Values of dimensions that are computed per row, mostly parts of the local date and time.

extension DimensionFunction {
    /// Returns the dimension value of each row.
    ///
    /// - Parameter references: the columns of the same rows.
    func values(
        times: [Int64], references: RowColumns, zone: TimeZoneRules?
    ) -> ResultVector {
        switch self {
        case .calendar(let part): CalendarValues(part, zone).values(times)
        case .bin(let reference, let width): width.edges(references[reference])
        }
    }
}

/// A cursor over local calendar fields.
private struct CalendarValues {
    private static let quarterSeconds: Int64 = 900
    private let part: CalendarPart
    private let zone: TimeZoneRules?
    /// The last quarter hour and its UTC offset; nil if the offset changes within it.
    private var quarter = Int64.min
    private var offset: Int64?

    init(_ part: CalendarPart, _ zone: TimeZoneRules?) {
        self.part = part
        self.zone = zone
    }

    func values(_ times: [Int64]) -> ResultVector {
        var reader = self
        var texts = VectorBuilder(type: .string)
        var last: (key: Int64, code: UInt64)?
        for time in times {
            let seconds = reader.localSeconds(time)
            let key = reader.key(seconds)
            if let last, last.key == key {
                texts.append(.string, last.code)
                continue
            }
            let code = texts.code(reader.text(key))
            texts.append(.string, code)
            last = (key, code)
        }
        return texts.finished()
    }

    private mutating func localSeconds(_ time: Int64) -> Int64 {
        let second = CivilTime.floorDivide(time, 1_000_000_000)
        guard let zone else { return second }
        let own = CivilTime.floorDivide(second, CalendarValues.quarterSeconds)
        if own != quarter {
            quarter = own
            let first = zone.offsetSeconds(second: own * CalendarValues.quarterSeconds)
            let end = (own + 1) * CalendarValues.quarterSeconds - 1
            offset = zone.offsetSeconds(second: end) == first ? Int64(first) : nil
        }
        return second + (offset ?? Int64(zone.offsetSeconds(second: second)))
    }

    /// Returns a number that determines the text, so consecutive rows with equal keys share it.
    private func key(_ seconds: Int64) -> Int64 {
        let day = CivilTime.floorDivide(seconds, 86_400)
        return part == .hourOfDay ? CivilTime.floorDivide(seconds - day * 86_400, 3600) : day
    }

    private func text(_ key: Int64) -> String {
        switch part {
        case .hourOfDay: return CalendarValues.padded(key, 2)
        case .dayOfWeek:
            // 1970-01-01 was a Thursday.
            let day = (key + 3) % 7
            return String((day < 0 ? day + 7 : day) + 1)
        case .date, .month:
            let date = CivilTime.date(day: key)
            let month =
                CalendarValues.padded(date.year, 4) + "-" + CalendarValues.padded(date.month, 2)
            return part == .month ? month : month + "-" + CalendarValues.padded(date.day, 2)
        }
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
