// Parses decimal text to Double and Int64: exact, and without allocation for numbers as programs
// print them.
//
// Source: D. Lemire, "Number parsing at a gigabyte per second", Software: Practice and Experience
// 51 (8), 2021 (Clinger's fast path, then Eisel-Lemire, then the standard library).

/// A number of line protocol: its kind, its value and where it ends.
package struct ScannedNumber {
    package enum Kind {
        case float
        case integer
        /// Not a number; `end` is where the scan stopped.
        case invalid
        /// Looks like a float, but is malformed or too large.
        case invalidFloat
        /// An integer of more than 64 bits.
        case overflow
        /// A number with the suffix `u`.
        case unsigned
    }

    package var kind: Kind
    /// A Double's bit pattern, or an integer in two's complement.
    package var bits: UInt64
    /// Index after the last byte of the number, suffix included.
    package var end: Int
}

package enum NumberParsing {
    static let minus = UInt8(ascii: "-")
    static let plus = UInt8(ascii: "+")
    static let point = UInt8(ascii: ".")

    /// Whether all eight bytes are ASCII digits.
    @inline(__always) package static func isEightDigits(_ word: UInt64) -> Bool {
        let high = word & 0xF0F0_F0F0_F0F0_F0F0
        let carry = (word &+ 0x0606_0606_0606_0606) & 0xF0F0_F0F0_F0F0_F0F0
        return high | carry &>> 4 == 0x3333_3333_3333_3333
    }

    /// Returns the value of eight ASCII digits; the first digit is the lowest byte.
    @inline(__always) package static func eightDigits(_ word: UInt64) -> UInt64 {
        let digits = word &- 0x3030_3030_3030_3030
        let pairs = digits &* 10 &+ digits &>> 8
        let mask: UInt64 = 0x0000_00FF_0000_00FF
        let low = (pairs & mask) &* 0x000F_4240_0000_0064
        let high = (pairs &>> 16 & mask) &* 0x0000_2710_0000_0001
        return (low &+ high) &>> 32
    }

    /// Appends decimal digits to `value` and returns the index after them. `value` is exact for up
    /// to 19 digits in total.
    @inline(__always) package static func digits(
        _ text: PaddedBytes, _ start: Int, into value: inout UInt64
    ) -> Int {
        var index = start
        while isEightDigits(text.word(index)) {
            value = value &* 100_000_000 &+ eightDigits(text.word(index))
            index += 8
        }
        var digit = text[index] &- 0x30
        while digit < 10 {
            value = value &* 10 &+ UInt64(digit)
            index += 1
            digit = text[index] &- 0x30
        }
        return index
    }

    /// Reads a float, or an integer with the suffix `i`, as in InfluxDB's line protocol. The caller
    /// checks what follows the number.
    @inline(__always) package static func scan(_ text: PaddedBytes, at start: Int) -> ScannedNumber
    {
        let isNegative = text[start] == minus
        let first = isNegative ? start + 1 : start
        var mantissa: UInt64 = 0
        var index = digits(text, first, into: &mantissa)
        var digitCount = index - first
        var exponent = 0
        if text[index] == point {
            let fraction = index + 1
            index = digits(text, fraction, into: &mantissa)
            exponent = fraction - index
            digitCount += index - fraction
        } else if text[index] == UInt8(ascii: "i") {
            if digitCount - 1 < 18 && digitCount > 0 {
                let value = Int64(truncatingIfNeeded: mantissa)
                let bits = UInt64(bitPattern: isNegative ? 0 &- value : value)
                return ScannedNumber(kind: .integer, bits: bits, end: index + 1)
            }
            return longInteger(text, first, index, isNegative: isNegative)
        }
        if digitCount == 0 { return ScannedNumber(kind: .invalid, bits: 0, end: index) }
        // The slow path: exponents, the suffix u, and more than 19 digits.
        if digitCount > 19 || text[index] | 0x20 == UInt8(ascii: "e")
            || text[index] == UInt8(ascii: "u")
        {
            return longFloat(
                text, start, index, mantissa: digitCount > 19 ? nil : mantissa, exponent: exponent)
        }
        if mantissa >> 53 == 0 && exponent >= -22 {
            // Clinger: both operands are exact, so the division rounds correctly.
            let value = Double(mantissa) / powersOfTen[-exponent]
            let bits = (isNegative ? -value : value).bitPattern
            return ScannedNumber(kind: .float, bits: bits, end: index)
        }
        return rounded(text, start..<index, isNegative, mantissa, exponent)
    }

    /// 10^0 to 10^22, the powers that a Double holds exactly.
    static let powersOfTen: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
        1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ]

    @inline(never) private static func longInteger(
        _ text: PaddedBytes, _ first: Int, _ end: Int, isNegative: Bool
    ) -> ScannedNumber {
        guard end > first else { return ScannedNumber(kind: .invalid, bits: 0, end: end) }
        guard let value = integer(text, first..<end, isNegative: isNegative) else {
            return ScannedNumber(kind: .overflow, bits: 0, end: end + 1)
        }
        return ScannedNumber(kind: .integer, bits: UInt64(bitPattern: value), end: end + 1)
    }

    /// Returns the value of ASCII digits, or nil if it does not fit in 64 bits.
    package static func integer(
        _ text: PaddedBytes, _ range: Range<Int>, isNegative: Bool
    ) -> Int64? {
        var value: Int64 = 0
        for index in range {
            let digit = Int64(text[index] &- 0x30)
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) =
                isNegative
                ? product.subtractingReportingOverflow(digit)
                : product.addingReportingOverflow(digit)
            if overflow || carry { return nil }
            value = sum
        }
        return value
    }

    /// Reads the rest of a number with an exponent, the suffix `u` or more than 19 digits.
    @inline(never) private static func longFloat(
        _ text: PaddedBytes, _ start: Int, _ end: Int, mantissa: UInt64?, exponent: Int
    ) -> ScannedNumber {
        let isNegative = text[start] == minus
        var end = end
        var exponent = exponent
        if text[end] == UInt8(ascii: "u") {
            return ScannedNumber(kind: .unsigned, bits: 0, end: end + 1)
        }
        if text[end] | 0x20 == UInt8(ascii: "e") {
            let sign = text[end + 1]
            let first = sign == minus || sign == plus ? end + 2 : end + 1
            var size: UInt64 = 0
            end = digits(text, first, into: &size)
            guard end > first else {
                return ScannedNumber(kind: .invalidFloat, bits: 0, end: end)
            }
            // Beyond this, every number is zero or infinite.
            let written = end - first > 6 ? 100_000 : Int(size)
            exponent += sign == minus ? -written : written
        }
        guard let mantissa else { return fallback(text, start..<end) }
        if mantissa >> 53 == 0 && exponent >= -22 && exponent <= 22 {
            let value =
                exponent < 0
                ? Double(mantissa) / powersOfTen[-exponent]
                : Double(mantissa) * powersOfTen[exponent]
            return ScannedNumber(
                kind: .float, bits: (isNegative ? -value : value).bitPattern, end: end)
        }
        return rounded(text, start..<end, isNegative, mantissa, exponent)
    }

    /// Returns the Double nearest to mantissa * 10^exponent. `range` is the text of the number.
    @inline(never) private static func rounded(
        _ text: PaddedBytes, _ range: Range<Int>, _ isNegative: Bool, _ mantissa: UInt64,
        _ exponent: Int
    ) -> ScannedNumber {
        guard mantissa != 0, PowersOfFive.range.contains(exponent) else {
            return fallback(text, range)
        }
        let sign: UInt64 = isNegative ? 1 << 63 : 0
        let bits = nearestBits(mantissa, exponent) | sign
        return ScannedNumber(kind: .float, bits: bits, end: range.upperBound)
    }

    /// Eisel-Lemire. The exponents of the table exclude subnormal and infinite results.
    private static func nearestBits(_ mantissa: UInt64, _ exponent: Int) -> UInt64 {
        let entry = 2 * (exponent - PowersOfFive.range.lowerBound)
        let shift = UInt64(truncatingIfNeeded: mantissa.leadingZeroBitCount)
        let normal = mantissa << shift
        var (high, low) = normal.multipliedFullWidth(by: PowersOfFive.words[entry])
        if high & 0x1FF == 0x1FF {
            let carry = normal.multipliedFullWidth(by: PowersOfFive.words[entry + 1]).high
            let (sum, overflow) = low.addingReportingOverflow(carry)
            low = sum
            if overflow { high &+= 1 }
        }
        let upper = high >> 63
        var fraction = high >> (upper + 9)
        var power = (217_706 * exponent) >> 16 + 63 + Int(upper) - Int(shift) + 1023
        if low <= 1 && exponent >= -4 && exponent <= 23 && fraction & 3 == 1
            && fraction << (upper + 9) == high
        {
            // Halfway between two doubles: round to even.
            fraction &= ~1
        }
        fraction = (fraction + fraction & 1) >> 1
        if fraction >= 1 << 53 {
            fraction = 1 << 52
            power += 1
        }
        return fraction & ~(1 << 52) | UInt64(power) << 52
    }

    /// Uses the standard library's parser, which is exact and independent of the locale.
    @inline(never) private static func fallback(
        _ text: PaddedBytes, _ range: Range<Int>
    ) -> ScannedNumber {
        let copy = String(decoding: text.copy(range), as: UTF8.self)
        guard let value = Double(copy), value.isFinite else {
            return ScannedNumber(kind: .invalidFloat, bits: 0, end: range.upperBound)
        }
        return ScannedNumber(kind: .float, bits: value.bitPattern, end: range.upperBound)
    }

    // MARK: Whole numbers

    /// Whether a number became a whole Double that is another number, so that an integer field must
    /// not store it. With a point or an exponent, a text as which programs print the Double counts
    /// as the same number.
    package static func isRounded(
        _ text: PaddedBytes, _ range: Range<Int>, to value: Double
    ) -> Bool {
        if value == 0 {
            let mantissa = range.prefix { text[$0] | 0x20 != UInt8(ascii: "e") }
            return mantissa.contains { text[$0] &- 0x31 < 9 }
        }
        // Two numbers of up to fifteen digits have different Doubles.
        guard range.count > 15, value == value.rounded(.towardZero) else { return false }
        let copy = text.copy(range)
        let written = SignificantDigits(copy)
        if let whole = Int64(exactly: value),
            written == SignificantDigits(Array(String(whole).utf8))
        {
            return false
        }
        let isFloat = copy.contains { $0 == point || $0 | 0x20 == UInt8(ascii: "e") }
        return !isFloat || written != SignificantDigits(Array(value.description.utf8))
    }

    /// The digits of a decimal number without zeros at either end, and its power of ten.
    private struct SignificantDigits: Equatable {
        private var digits: [UInt8] = []
        /// That of the first digit.
        private var power = 0

        /// - Parameter text: a number as programs write it.
        init(_ text: [UInt8]) {
            let isExponent = { (byte: UInt8) in byte | 0x20 == UInt8(ascii: "e") }
            let end = text.firstIndex(where: isExponent) ?? text.count
            let pointless = text[..<end].filter { $0 &- 0x30 < 10 || $0 == NumberParsing.point }
            let wholeCount = pointless.firstIndex(of: NumberParsing.point) ?? pointless.count
            digits = pointless.filter { $0 != NumberParsing.point }
            let zeros = digits.prefix { $0 == UInt8(ascii: "0") }.count
            digits.removeFirst(zeros)
            while digits.last == UInt8(ascii: "0") { digits.removeLast() }
            // A Double has no power that needs more digits, zeros before them aside.
            let exponent = Int(String(decoding: text[end...].dropFirst(), as: UTF8.self)) ?? 0
            power = digits.isEmpty ? 0 : wholeCount - zeros + exponent
        }
    }
}
