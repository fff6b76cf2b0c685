// Parses the text of a cell as a value of its column's type.

internal import CozDB

/// The value of a cell.
enum CellValue: Equatable {
    /// No value.
    case null
    /// Bits as `WriteBatch.append` takes them; for strings the text itself is the value.
    case value(FieldType, bits: UInt64)
    /// The text is not a value of the requested type.
    case mismatch

    /// Returns the beginning of a text, in quotes, for a message.
    static func excerpt(_ text: PaddedBytes, _ range: Range<Int>) -> String {
        var kept = range.prefix(60)
        while let last = kept.last, kept.count < range.count, text[last + 1] & 0xC0 == 0x80 {
            kept = kept.dropLast()
        }
        let copy = String(decoding: text.copy(kept), as: UTF8.self)
        return "\"\(copy)\(kept.count < range.count ? "..." : "")\""
    }

    /// Parses a text that is neither empty nor a null.
    static func read(
        _ text: PaddedBytes, _ range: Range<Int>, as type: FieldType,
        _ notation: TableColumn.Notation
    ) -> CellValue {
        switch type {
        case .string: return .value(.string, bits: 0)
        case .float, .integer:
            if notation == .plain { return number(text, range, isInteger: type == .integer) }
            return number(text, range, notation, isInteger: type == .integer)
        case .boolean: return boolean(text, range, notation)
        }
    }

    /// Parses a number. In integer columns, a whole number is an integer, or a mismatch if it
    /// exceeds 64 bits or a float had to round it. All other numbers are floats; the database
    /// checks whether they fit.
    @inline(__always) static func number(
        _ text: PaddedBytes, _ range: Range<Int>, isInteger: Bool
    ) -> CellValue {
        var start = range.lowerBound
        if text[start] == NumberParsing.plus, text[start + 1] != NumberParsing.minus { start += 1 }
        if isInteger {
            let isNegative = text[start] == NumberParsing.minus
            let first = isNegative ? start + 1 : start
            if first < range.upperBound, CellValue.isDigits(text, first..<range.upperBound) {
                // A float would round it. Only its text is exact.
                guard
                    let value = NumberParsing.integer(
                        text, first..<range.upperBound, isNegative: isNegative)
                else { return .mismatch }
                return .value(.integer, bits: UInt64(bitPattern: value))
            }
        }
        let number = NumberParsing.scan(text, at: start)
        guard number.kind == .float, number.end == range.upperBound else {
            return isNaN(text, range) ? .null : .mismatch
        }
        let value = Double(bitPattern: number.bits)
        if isInteger, NumberParsing.isRounded(text, start..<range.upperBound, to: value) {
            return .mismatch
        }
        return .value(.float, bits: number.bits)
    }

    static func isDigits(_ text: PaddedBytes, _ range: Range<Int>) -> Bool {
        range.allSatisfy { text[$0] &- 0x30 < 10 }
    }

    /// Whether a text is `NaN`, in any case. pandas and R write it for missing numbers.
    static func isNaN(_ text: PaddedBytes, _ range: Range<Int>) -> Bool {
        range.count == 3 && text[range.lowerBound] | 0x20 == UInt8(ascii: "n")
            && text[range.lowerBound + 1] | 0x20 == UInt8(ascii: "a")
            && text[range.lowerBound + 2] | 0x20 == UInt8(ascii: "n")
    }

    static func equals(_ text: PaddedBytes, _ range: Range<Int>, _ other: [UInt8]) -> Bool {
        guard range.count == other.count else { return false }
        for offset in other.indices where text[range.lowerBound + offset] != other[offset] {
            return false
        }
        return true
    }

    /// Parses a number in a notation other than plain.
    private static func number(
        _ text: PaddedBytes, _ range: Range<Int>, _ notation: TableColumn.Notation,
        isInteger: Bool
    ) -> CellValue {
        switch notation {
        case .unsigned where text[range.lowerBound] == NumberParsing.minus: return .mismatch
        case .duration:
            guard let value = duration(text, range) else { return .mismatch }
            return .value(.integer, bits: UInt64(bitPattern: value))
        case .decimalComma:
            if isNaN(text, range) { return .null }
            guard let plain = plainNumber(text, range) else { return .mismatch }
            return number(plain.bytes, 0..<plain.count, isInteger: isInteger)
        case .number(let decimal, let ignored):
            var plain = PaddedBuffer(capacity: range.count)
            for index in range where !ignored.contains(text[index]) {
                plain.append(text[index] == decimal ? NumberParsing.point : text[index])
            }
            guard plain.count > 0 else { return .mismatch }
            return number(plain.bytes, 0..<plain.count, isInteger: isInteger)
        default: return number(text, range, isInteger: isInteger)
        }
    }

    /// Returns a number with a decimal comma as one with a decimal point; nil if it is none. Points
    /// must separate groups of three digits: `1.5` may be 1,5 in a file that mixes both, or a date.
    static func plainNumber(_ text: PaddedBytes, _ range: Range<Int>) -> PaddedBuffer? {
        let comma = UInt8(ascii: ",")
        var plain = PaddedBuffer(capacity: range.count)
        /// The digits since the last point; nil after the comma.
        var groupDigits: Int? = 0
        var hasGroups = false
        for index in range {
            let byte = text[index]
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                groupDigits = groupDigits.map { $0 + 1 }
                plain.append(byte)
            case NumberParsing.point:
                guard let digits = groupDigits, hasGroups ? digits == 3 : 1...3 ~= digits else {
                    return nil
                }
                (groupDigits, hasGroups) = (0, true)
            case comma:
                guard let digits = groupDigits, !hasGroups || digits == 3 else { return nil }
                groupDigits = nil
                plain.append(NumberParsing.point)
            case NumberParsing.minus, NumberParsing.plus, UInt8(ascii: "e"), UInt8(ascii: "E"):
                if hasGroups, groupDigits.map({ $0 != 3 }) ?? false { return nil }
                if plain.count > 0 { groupDigits = nil }
                plain.append(byte)
            default: return nil
            }
        }
        if hasGroups, groupDigits.map({ $0 != 3 }) ?? false { return nil }
        return plain
    }

    /// Parses a duration such as `1h30m`, `-2.5us` or `0` as nanoseconds; nil for anything else.
    static func duration(_ text: PaddedBytes, _ range: Range<Int>) -> Int64? {
        let units: [(name: StaticString, nanoseconds: Int64)] = [
            ("ns", 1), ("us", 1000), ("µs", 1000), ("μs", 1000), ("ms", 1_000_000),
            ("s", 1_000_000_000), ("m", 60_000_000_000), ("h", 3_600_000_000_000),
            ("d", 86_400_000_000_000), ("w", 604_800_000_000_000),
        ]
        var scan = CellScan(text, range)
        let isNegative = scan.take(NumberParsing.minus)
        if !isNegative { _ = scan.take(NumberParsing.plus) }
        var total: Int64 = 0
        repeat {
            let whole = scan.number(digitsMax: 18)
            let fraction = scan.take(NumberParsing.point) ? scan.digits() : 0..<0
            // Zero needs no unit.
            if whole == 0, fraction.isEmpty, total == 0, scan.isAtEnd { return 0 }
            guard whole != nil || !fraction.isEmpty,
                let unit = units.first(where: { scan.take($0.name) })
            else { return nil }
            let (product, isTooMany) = (whole ?? 0).multipliedReportingOverflow(
                by: unit.nanoseconds)
            let (part, isTooLong) = product.addingReportingOverflow(
                scan.part(fraction, of: unit.nanoseconds))
            let (sum, overflow) = total.addingReportingOverflow(part)
            if isTooMany || isTooLong || overflow { return nil }
            total = sum
        } while !scan.isAtEnd
        return isNegative ? -total : total
    }

    /// Parses true and false in any case, or as the notation defines them.
    private static let flags: [(word: String, flag: Bool)] = [
        ("true", true), ("false", false), ("t", true), ("f", false), ("yes", true), ("no", false),
        ("y", true), ("n", false), ("1", true), ("0", false),
    ]

    static func boolean(
        _ text: PaddedBytes, _ range: Range<Int>, _ notation: TableColumn.Notation
    ) -> CellValue {
        var flag: Bool?
        switch notation {
        case .boolean(let yes, let no):
            let isNo = no.contains { equals(text, range, $0) }
            let isYes = yes.contains { equals(text, range, $0) }
            flag = isNo ? false : isYes ? true : no.isEmpty ? false : yes.isEmpty ? true : nil
        default:
            let capitals = UInt8(ascii: "A")...UInt8(ascii: "Z")
            let lower = (range.count <= 5 ? text.copy(range) : []).map {
                capitals.contains($0) ? $0 | 0x20 : $0
            }
            let known = notation == .words ? CellValue.flags[...] : CellValue.flags[..<2]
            flag = known.first { lower.elementsEqual($0.word.utf8) }?.flag
        }
        guard let flag else { return .mismatch }
        return .value(.boolean, bits: flag ? 1 : 0)
    }
}
