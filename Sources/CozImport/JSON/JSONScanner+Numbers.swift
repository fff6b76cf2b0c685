// Scans JSON numbers: integers exactly, all others as the nearest Double.

extension JSONScanner {
    /// Reads a number and checks its syntax. The parser of line protocol is less strict.
    mutating func number(_ start: Int) -> JSONToken {
        let isNegative = text[start] == NumberParsing.minus
        let first = isNegative ? start + 1 : start
        var mantissa: UInt64 = 0
        var end = NumberParsing.digits(text, first, into: &mantissa)
        let wholeSize = end - first
        if wholeSize == 0 { return fail(end, "a digit after the minus sign") }
        if wholeSize > 1 && text[first] == UInt8(ascii: "0") {
            return fail(first, "a number without leading zeros")
        }
        var digitCount = wholeSize
        var exponent = 0
        let hasPoint = text[end] == NumberParsing.point
        if hasPoint {
            let fraction = end + 1
            end = NumberParsing.digits(text, fraction, into: &mantissa)
            exponent = fraction - end
            digitCount += end - fraction
            if end == fraction { return fail(end, "a digit after the decimal point") }
        }
        let hasExponent = text[end] | 0x20 == UInt8(ascii: "e")
        if hasExponent {
            let sign = text[end + 1]
            let digits =
                sign == NumberParsing.minus || sign == NumberParsing.plus ? end + 2 : end + 1
            var size: UInt64 = 0
            end = NumberParsing.digits(text, digits, into: &size)
            if end == digits { return fail(end, "a digit in the exponent") }
        }
        // More digits may follow.
        if end >= text.count && !isLast { return .incomplete }
        contents = start..<end
        if !hasPoint && !hasExponent && digitCount < 19 && (mantissa != 0 || !isNegative) {
            let value = Int64(truncatingIfNeeded: mantissa)
            bits = UInt64(bitPattern: isNegative ? 0 &- value : value)
            return finish(.integer, end)
        }
        if !hasExponent && digitCount <= 19 && mantissa >> 53 == 0 && exponent >= -22 {
            // Clinger: both operands are exact, so the division rounds correctly.
            let value = Double(mantissa) / NumberParsing.powersOfTen[-exponent]
            bits = (isNegative ? -value : value).bitPattern
            return finish(.float, end)
        }
        return longNumber(start..<end, isWhole: !hasPoint && !hasExponent)
    }

    /// Reads a number with an exponent or with more digits than usual.
    @inline(never) private mutating func longNumber(
        _ range: Range<Int>, isWhole: Bool
    ) -> JSONToken {
        let isNegative = text[range.lowerBound] == NumberParsing.minus
        let first = isNegative ? range.lowerBound + 1 : range.lowerBound
        // -0 is a float, because integers have no negative zero.
        if isWhole && text[first] != UInt8(ascii: "0"),
            let value = NumberParsing.integer(
                text, first..<range.upperBound, isNegative: isNegative)
        {
            bits = UInt64(bitPattern: value)
            return finish(.integer, range.upperBound)
        }
        let number = NumberParsing.scan(text, at: range.lowerBound)
        guard number.kind == .float && number.end == range.upperBound else {
            // The scan took a suffix of line protocol, which JSON does not have.
            return copiedNumber(range)
        }
        bits = number.bits
        return finish(.float, range.upperBound)
    }

    /// Parses only the bytes of the number.
    private mutating func copiedNumber(_ range: Range<Int>) -> JSONToken {
        let digits = String(decoding: text.copy(range), as: UTF8.self)
        guard let value = Double(digits), value.isFinite else {
            return finish(.hugeNumber, range.upperBound)
        }
        bits = value.bitPattern
        return finish(.float, range.upperBound)
    }
}
