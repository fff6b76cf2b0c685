// Parses the times of the researcher API's CSV.

internal import CozDB
internal import CozImport

enum CozieTime {
    /// Parses a time such as `2025-10-15 02:25:21.570000+0000` to nanoseconds since 1970. Also
    /// accepts all formats of `Timestamp`, with UTC as the default offset, and offsets with seconds
    /// such as `+065525`, which historical local times have.
    static func read(_ bytes: PaddedBytes, _ range: Range<Int>) -> Int64? {
        if range.count == 31,
            bytes.starts(with: "+0000", at: range.lowerBound + 26, end: range.upperBound),
            let time = utc(bytes, range.lowerBound)
        {
            return time
        }
        guard range.count <= 64 else { return nil }
        let text = String(decoding: bytes.copy(range), as: UTF8.self)
        if let time = Timestamp(text) { return time.nanoseconds }
        return withSeconds(text)
    }

    /// Parses the usual format of the API. This is the fast path.
    private static func utc(_ bytes: PaddedBytes, _ start: Int) -> Int64? {
        let shape: StaticString = "dddd-dd-dd dd:dd:dd.dddddd"
        for offset in 0..<shape.utf8CodeUnitCount {
            // Sound: the offset is below the size of the text.
            let expected = unsafe shape.utf8Start[offset]
            let byte = bytes[start + offset]
            guard expected == UInt8(ascii: "d") ? byte &- 0x30 < 10 : byte == expected else {
                return nil
            }
        }
        func number(_ offset: Int, _ digits: Int) -> Int64 {
            var value: Int64 = 0
            for index in 0..<digits {
                value = value * 10 + Int64(bytes[start + offset + index] - 0x30)
            }
            return value
        }
        let (year, month, day) = (number(0, 4), number(5, 2), number(8, 2))
        let (hour, minute, second) = (number(11, 2), number(14, 2), number(17, 2))
        // Leave times near the ends of the range, and days 29 to 31, to the slow path.
        guard (1700..<2200).contains(year), (1...12).contains(month), (1...28).contains(day),
            hour < 24, minute < 60, second < 60
        else { return nil }
        let seconds = days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second
        return seconds * 1_000_000_000 + number(20, 6) * 1000
    }

    /// Returns the days since 1970-01-01. Counts years from March, so that the leap day comes last.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let years = month > 2 ? year : year - 1
        let months = month > 2 ? month - 3 : month + 9
        return years * 365 + years / 4 - years / 100 + years / 400
            + (153 * months + 2) / 5 + day - 1 - 719_468
    }

    /// Parses a time whose offset has six digits.
    private static func withSeconds(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count > 7, bytes.suffix(6).allSatisfy({ $0 &- 0x30 < 10 }),
            let seconds = Int64(text.suffix(2)), seconds < 60,
            let time = Timestamp(String(text.dropLast(2)))
        else { return nil }
        let sign = bytes[bytes.count - 7]
        guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else { return nil }
        let shift = (sign == UInt8(ascii: "+") ? -seconds : seconds) * 1_000_000_000
        let (sum, isBeyond) = time.nanoseconds.addingReportingOverflow(shift)
        return isBeyond ? nil : sum
    }
}
