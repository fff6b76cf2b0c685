// Packs strings that are ISO 8601 times into integers, reversibly byte for byte. Nearly every
// string of a Cozie row is a time and nearly all are distinct: as text they would be most of a
// database.

/// A string such as `2023-03-01T07:42:24.471123Z` or `2023-03-01T15:42:24.471+0800`: a point in
/// time and its format.
///
/// Format: a date of the years 0000 to 9999, `T`, hours to seconds, an optional fraction of 1 to 9
/// digits, then `Z`, nothing, `+hhmm` or `+hh:mm` in multiples of 15 minutes. Any other text is not
/// an `ISOTime`, nor are dates or times of day that do not exist. Two values are equal only if
/// their texts are.
struct ISOTime: Equatable {
    /// The format of a time: number of fraction digits, and zone.
    struct Style: Hashable {
        /// Bits 0 to 3: number of fraction digits, 0 to 9. Bits 4 to 10: UTC offset in quarters of
        /// an hour plus 63, or 127 for no offset. Bit 11: the offset has a colon; with 127, there
        /// is no `Z` either.
        var bits: UInt16

        init(bits: UInt16) { self.bits = bits }

        var digits: Int { Int(bits & 15) }
        var hasColon: Bool { bits & 1 << 11 != 0 }
        /// UTC offset. nil means `Z`, or no zone if `hasColon`.
        var offsetSeconds: Int64? {
            let quarter = Int64(bits >> 4 & 127)
            return quarter == 127 ? nil : (quarter - 63) * 900
        }
    }

    let style: Style
    /// Time since 1970 in units of the last fraction digit, so that each number has one text. In
    /// UTC, or in local time if there is no zone.
    let units: Int64

    init(style: Style, units: Int64) {
        (self.style, self.units) = (style, units)
    }

    private static let powers: [10 of Int64] = [
        1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000,
    ]
}

// MARK: Text

extension ISOTime {
    /// `2023-03-01T07:42:24`.
    static let sizeBytesMin = 19
    /// `2023-03-01T07:42:24.123456789+08:00`.
    static let sizeBytesMax = 35

    /// Parses a text; nil if it is not a time or would not print back to the same bytes.
    init?(_ text: Span<UInt8>) {
        guard text.count >= ISOTime.sizeBytesMin, text.count <= ISOTime.sizeBytesMax,
            text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"),
            text[10] == UInt8(ascii: "T"), text[13] == UInt8(ascii: ":"),
            text[16] == UInt8(ascii: ":")
        else { return nil }
        var isNumber = true
        func pair(_ index: Int) -> Int64 {
            let tens = text[index] &- UInt8(ascii: "0")
            let ones = text[index + 1] &- UInt8(ascii: "0")
            isNumber = isNumber && tens <= 9 && ones <= 9
            return Int64(tens) * 10 + Int64(ones)
        }
        let year = pair(0) * 100 + pair(2)
        let (month, day) = (pair(5), pair(8))
        let (hour, minute, second) = (pair(11), pair(14), pair(17))
        guard isNumber, month >= 1, month <= 12, day >= 1,
            day <= CivilTime.days(inMonth: month, year: year), hour < 24, minute < 60, second < 60
        else { return nil }
        var seconds = CivilTime.day(year: year, month: month, day: day) * 86_400
        seconds += hour * 3600 + minute * 60 + second
        guard let (fraction, digits) = ISOTime.fraction(text),
            let zone = ISOTime.zone(text, at: digits == 0 ? 19 : 20 + digits)
        else { return nil }
        style = Style(bits: zone | UInt16(digits))
        seconds -= style.offsetSeconds ?? 0
        let (product, over) = seconds.multipliedReportingOverflow(by: ISOTime.powers[digits])
        let (sum, beyond) = product.addingReportingOverflow(fraction)
        guard !over, !beyond else { return nil }
        units = sum
    }

    /// Parses the fraction: its digits as a number, and how many. 0 digits if there is no point;
    /// nil if malformed.
    private static func fraction(_ text: Span<UInt8>) -> (number: Int64, digits: Int)? {
        guard text.count > 19, text[19] == UInt8(ascii: ".") else { return (0, 0) }
        var number: Int64 = 0
        var digits = 0
        while 20 + digits < text.count {
            let digit = text[20 + digits] &- UInt8(ascii: "0")
            if digit > 9 { break }
            if digits == 9 { return nil }
            number = number * 10 + Int64(digit)
            digits += 1
        }
        return digits == 0 ? nil : (number, digits)
    }

    /// Parses the zone, as the bits of a style without its digit count; nil if malformed.
    private static func zone(_ text: Span<UInt8>, at start: Int) -> UInt16? {
        let count = text.count - start
        if count == 0 { return (127 | 1 << 7) << 4 }
        if count == 1 { return text[start] == UInt8(ascii: "Z") ? 127 << 4 : nil }
        guard count == 5 || count == 6 && text[start + 3] == UInt8(ascii: ":") else { return nil }
        let isWest = text[start] == UInt8(ascii: "-")
        guard isWest || text[start] == UInt8(ascii: "+") else { return nil }
        var number = 0
        for place in 0..<4 {
            let index = place < 2 ? start + 1 + place : text.count - 4 + place
            let digit = text[index] &- UInt8(ascii: "0")
            if digit > 9 { return nil }
            number = number * 10 + Int(digit)
        }
        let quarters = number / 100 * 4 + number % 100 / 15
        // `-00:00` would print as `+00:00`.
        guard number % 100 < 60, number % 100 % 15 == 0, quarters <= 63, !isWest || quarters > 0
        else { return nil }
        let index = UInt16(isWest ? 63 - quarters : 63 + quarters)
        return (index | (count == 6 ? 1 << 7 : 0)) << 4
    }

    /// Whether the digit count and the year are in range. Corrupt files can hold any value.
    var hasText: Bool {
        guard style.digits <= 9 else { return false }
        let seconds = CivilTime.floorDivide(units, ISOTime.powers[style.digits])
        return
            (CivilTime.day(year: 0, month: 1, day: 2) * 86_400..<CivilTime.day(
                year: 9999, month: 12, day: 31) * 86_400).contains(seconds)
    }

    /// Appends the text, byte for byte. Out-of-range values, which only corrupt files have, print
    /// arbitrary text.
    func append(to bytes: inout [UInt8]) {
        let perSecond = ISOTime.powers[min(style.digits, 9)]
        var seconds = CivilTime.floorDivide(units, perSecond)
        let fraction = units &- seconds &* perSecond
        seconds &+= style.offsetSeconds ?? 0
        let dayNumber = CivilTime.floorDivide(seconds, 86_400)
        let clock = seconds &- dayNumber &* 86_400
        let date = CivilTime.date(day: dayNumber)
        func append(_ number: Int64) {
            bytes.append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: number / 10 % 10))
            bytes.append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: number % 10))
        }
        append(date.year / 100)
        append(date.year % 100)
        bytes.append(UInt8(ascii: "-"))
        append(date.month)
        bytes.append(UInt8(ascii: "-"))
        append(date.day)
        bytes.append(UInt8(ascii: "T"))
        append(clock / 3600)
        bytes.append(UInt8(ascii: ":"))
        append(clock / 60 % 60)
        bytes.append(UInt8(ascii: ":"))
        append(clock % 60)
        if style.digits > 0 {
            bytes.append(UInt8(ascii: "."))
            var power = perSecond
            while power > 1 {
                power /= 10
                bytes.append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: fraction / power % 10))
            }
        }
        guard let offset = style.offsetSeconds else {
            if !style.hasColon { bytes.append(UInt8(ascii: "Z")) }
            return
        }
        bytes.append(offset < 0 ? UInt8(ascii: "-") : UInt8(ascii: "+"))
        append(abs(offset) / 3600)
        if style.hasColon { bytes.append(UInt8(ascii: ":")) }
        append(abs(offset) / 60 % 60)
    }
}

// MARK: Words

extension ISOTime {
    /// Set in every packed time and never in a string number.
    static let packedTimeTag: UInt64 = 1 << 63

    private static let microsecondBits: UInt64 = 52

    /// Packs a text; nil if it is not a time that can be packed. All code that stores strings calls
    /// this, so equal texts always have equal words.
    static func word(of text: Span<UInt8>) -> UInt64? {
        guard text.count >= sizeBytesMin, text.count <= sizeBytesMax else { return nil }
        return ISOTime(text)?.word
    }

    /// Packs a `String`.
    static func word(of text: String) -> UInt64? {
        guard text.utf8.count >= sizeBytesMin, text.utf8.count <= sizeBytesMax else { return nil }
        return word(of: Array(text.utf8).span)
    }

    /// Whether a word of a string column is a packed time, not a string number.
    static func isWord(_ word: UInt64) -> Bool { word & packedTimeTag != 0 }

    /// Adjusts a word of a string column after its table was appended to another one of `offset`
    /// strings.
    static func moved(_ word: UInt64, by offset: UInt64) -> UInt64 {
        isWord(word) ? word : word + offset
    }

    /// Returns the packed form of another time in the same format. The result is arbitrary if that
    /// time cannot be packed.
    ///
    /// - Parameter nanoseconds: Time since 1970.
    static func word(_ word: UInt64, movedTo nanoseconds: Int64) -> UInt64 {
        let mask: UInt64 = 1 << microsecondBits - 1
        return word & ~mask | UInt64(bitPattern: nanoseconds / 1000) & mask
    }

    /// Calls the body with the text of a packed time; the span is valid only during the call.
    static func withBytes<Result>(
        _ word: UInt64, _ body: (Span<UInt8>) -> Result
    ) -> Result {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(sizeBytesMax)
        ISOTime(word: word).append(to: &bytes)
        return body(bytes.span)
    }

    /// The time packed into one word, stored in place of a string number. Each text has exactly one
    /// word, so equal words mean equal texts.
    ///
    /// nil if the fraction has more than 6 digits or the time is not from 1970 to 2112.
    var word: UInt64? {
        let digits = style.digits
        guard digits <= 6, units >= 0 else { return nil }
        let (microseconds, over) = units.multipliedReportingOverflow(by: ISOTime.powers[6 - digits])
        guard !over, microseconds >> ISOTime.microsecondBits == 0 else { return nil }
        let zone = UInt64(style.bits >> 4)
        return ISOTime.packedTimeTag | (UInt64(digits) << 8 | zone) << ISOTime.microsecondBits
            | UInt64(microseconds)
    }

    /// Unpacks a time.
    init(word: UInt64) {
        let head = word >> ISOTime.microsecondBits & 0x7FF
        let digits = Int(min(head >> 8, 6))
        style = Style(bits: UInt16(head & 0xFF) << 4 | UInt16(digits))
        let microseconds = Int64(word & (1 << ISOTime.microsecondBits - 1))
        units = microseconds / ISOTime.powers[6 - digits]
    }
}
