// Reads the booleans of line protocol.

/// The spellings of booleans as little-endian numbers of their bytes.
enum BooleanWord {
    /// Returns the boolean that a range is; nil if it is none.
    static func value(_ text: PaddedBytes, _ range: Range<Int>) -> Bool? {
        let count = range.count
        guard 1...5 ~= count else { return nil }
        switch text.word(range.lowerBound) & (1 << UInt64(8 * count) - 1) {
        case t, upperT, lowerTrue, mixedTrue, upperTrue: return true
        case f, upperF, lowerFalse, mixedFalse, upperFalse: return false
        default: return nil
        }
    }

    private static let t = number("t")
    private static let upperT = number("T")
    private static let lowerTrue = number("true")
    private static let mixedTrue = number("True")
    private static let upperTrue = number("TRUE")
    private static let f = number("f")
    private static let upperF = number("F")
    private static let lowerFalse = number("false")
    private static let mixedFalse = number("False")
    private static let upperFalse = number("FALSE")

    private static func number(_ text: String) -> UInt64 {
        text.utf8.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
