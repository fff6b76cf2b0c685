// Times as text: RFC 3339, or integers of a unit.

/// How times are written.
struct TimeText {
    enum Style {
        /// `2024-03-01T08:30:12.5Z`: as many fraction digits as needed, as InfluxDB.
        case shortest
        /// `2024-03-01T08:30:12.500000000Z`: always nine, so that every time has the same width.
        case full
        /// Whole units of this many nanoseconds since 1970.
        case epoch(nanosecondsPerUnit: Int64)
    }

    var style: Style

    var isNumber: Bool {
        if case .epoch = style { return true }
        return false
    }

    /// - Parameter offset: seconds east of UTC; 0 is written as Z.
    func append(_ nanoseconds: Int64, offset: Int = 0, to bytes: inout [UInt8]) {
        if case .epoch(let unit) = style {
            bytes.append(contentsOf: String(nanoseconds / unit).utf8)
            return
        }
        let (seconds, fraction) = TimeText.floored(nanoseconds, 1_000_000_000)
        let (day, second) = TimeText.floored(seconds + Int64(offset), 86_400)
        TimeText.appendDate(Int(day), to: &bytes)
        bytes.append(UInt8(ascii: "T"))
        TimeText.append(Int(second) / 3_600, 2, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        TimeText.append(Int(second) / 60 % 60, 2, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        TimeText.append(Int(second) % 60, 2, to: &bytes)
        appendFraction(Int(fraction), to: &bytes)
        TimeText.appendOffset(offset, to: &bytes)
    }

    private static func floored(_ value: Int64, _ size: Int64) -> (Int64, Int64) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: size)
        return remainder < 0 ? (quotient - 1, remainder + size) : (quotient, remainder)
    }

    private func appendFraction(_ fraction: Int, to bytes: inout [UInt8]) {
        if case .shortest = style, fraction == 0 { return }
        bytes.append(UInt8(ascii: "."))
        TimeText.append(fraction, 9, to: &bytes)
        if case .shortest = style {
            while bytes.last == UInt8(ascii: "0") { bytes.removeLast() }
        }
    }

    private static func appendOffset(_ offset: Int, to bytes: inout [UInt8]) {
        if offset == 0 {
            bytes.append(UInt8(ascii: "Z"))
            return
        }
        bytes.append(UInt8(ascii: offset < 0 ? "-" : "+"))
        append(abs(offset) / 3_600, 2, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        append(abs(offset) / 60 % 60, 2, to: &bytes)
    }

    /// - Parameter day: days since 1970-01-01.
    private static func appendDate(_ day: Int, to bytes: inout [UInt8]) {
        // Counted from 0000-03-01, so that the leap day is the last of its year.
        let shifted = day + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        append(era * 400 + yearOfEra + (month <= 2 ? 1 : 0), 4, to: &bytes)
        bytes.append(UInt8(ascii: "-"))
        append(month, 2, to: &bytes)
        bytes.append(UInt8(ascii: "-"))
        append(dayOfYear - (153 * marchMonth + 2) / 5 + 1, 2, to: &bytes)
    }

    private static func append(_ number: Int, _ width: Int, to bytes: inout [UInt8]) {
        var divisor = 1
        for _ in 1..<width { divisor *= 10 }
        while divisor > 0 {
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / divisor % 10))
            divisor /= 10
        }
    }

    func text(_ nanoseconds: Int64, offset: Int = 0) -> String {
        var bytes: [UInt8] = []
        append(nanoseconds, offset: offset, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
