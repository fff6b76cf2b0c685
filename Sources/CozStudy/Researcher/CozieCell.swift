// Classifies the cells of the researcher API's CSV: numbers as pandas prints them, True or False,
// or text.

internal import CozDB
internal import CozImport

enum CozieCell {
    /// The bits of a Double.
    case number(UInt64)
    case boolean(Bool)
    /// `NaN`: no value in a numeric column, text in others.
    case notANumber
    case text

    /// - Parameter range: of a cell that is not empty.
    init(_ bytes: PaddedBytes, _ range: Range<Int>) {
        let first = bytes[range.lowerBound]
        if first &- 0x30 < 10 || first == UInt8(ascii: "-") {
            self = CozieCell.number(bytes, range)
            return
        }
        switch first {
        case UInt8(ascii: "T") where CozieCell.isWord("True", bytes, range): self = .boolean(true)
        case UInt8(ascii: "F") where CozieCell.isWord("False", bytes, range):
            self = .boolean(false)
        case UInt8(ascii: "N") where CozieCell.isWord("NaN", bytes, range): self = .notANumber
        case UInt8(ascii: "i") where CozieCell.isWord("inf", bytes, range):
            self = .number(Double.infinity.bitPattern)
        default: self = .text
        }
    }

    private static func isWord(
        _ word: StaticString, _ bytes: PaddedBytes, _ range: Range<Int>
    ) -> Bool {
        range.count == word.utf8CodeUnitCount
            && bytes.starts(with: word, at: range.lowerBound, end: range.upperBound)
    }

    /// Parses Python's number formats, such as `-0.5`, `74` and `1e-05`. Leading zeros make it
    /// text, because they would be lost. So does a point without digits on both sides.
    private static func number(_ bytes: PaddedBytes, _ range: Range<Int>) -> CozieCell {
        let isNegative = bytes[range.lowerBound] == UInt8(ascii: "-")
        let start = isNegative ? range.lowerBound + 1 : range.lowerBound
        if isNegative, isWord("inf", bytes, start..<range.upperBound) {
            return .number((-Double.infinity).bitPattern)
        }
        var index = start
        func passDigits() -> Bool {
            let first = index
            while index < range.upperBound, bytes[index] &- 0x30 < 10 { index += 1 }
            return index > first
        }
        guard passDigits() else { return .text }
        let wholeEnd = index
        if wholeEnd > start + 1, bytes[start] == UInt8(ascii: "0") { return .text }
        if index < range.upperBound, bytes[index] == UInt8(ascii: ".") {
            index += 1
            guard passDigits() else { return .text }
        }
        if index < range.upperBound, bytes[index] | 0x20 == UInt8(ascii: "e") {
            index += 1
            if index < range.upperBound,
                bytes[index] == UInt8(ascii: "+") || bytes[index] == UInt8(ascii: "-")
            {
                index += 1
            }
            guard passDigits() else { return .text }
        }
        let scanned = NumberParsing.scan(bytes, at: range.lowerBound)
        guard index == range.upperBound, scanned.kind == .float, scanned.end == index else {
            return .text
        }
        if wholeEnd == index, wholeEnd - start > 15, !isExact(bytes, range, scanned.bits) {
            return .text
        }
        return .number(scanned.bits)
    }

    /// Whether a long integer, such as an identifier, is unchanged as a float.
    @inline(never) private static func isExact(
        _ bytes: PaddedBytes, _ range: Range<Int>, _ bits: UInt64
    ) -> Bool {
        let text = String(decoding: bytes.copy(range), as: UTF8.self)
        let value = Double(bitPattern: bits)
        if let integer = Int64(text) { return Int64(exactly: value) == integer || isSpelled() }
        return isSpelled()
        func isSpelled() -> Bool { ShortestDecimal(value).json == text }
    }
}
