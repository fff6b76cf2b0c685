// Writes numbers and text into preallocated memory, eight digits at a time and without Strings.
// Answers of many thousand cells spend most of their time here.

/// A write cursor into preallocated memory.
///
/// The caller reserves the memory: `numberSizeBytesMax` for each number, the size of each piece of
/// text, and `slackBytes` at the end, because digits are stored eight at a time.
@safe struct DigitWriter {
    /// A sign, 20 digits and a point; or a sign, a zero, a point and 18 digits.
    static let numberSizeBytesMax = 24
    static let slackBytes = 8

    private(set) var next: UnsafeMutableRawPointer

    init(_ start: UnsafeMutableRawPointer) {
        unsafe next = unsafe start
    }

    /// - Parameter piece: The range of bytes in `source` to copy.
    mutating func put(_ source: UnsafePointer<UInt8>, _ piece: Range<Int>) {
        // Sound: see the type. Most pieces are a single comma; a call would cost more than the
        // store.
        if piece.count == 1 {
            unsafe next.storeBytes(of: source[piece.lowerBound], as: UInt8.self)
        } else {
            unsafe next.copyMemory(from: source + piece.lowerBound, byteCount: piece.count)
        }
        unsafe next += piece.count
    }

    mutating func put(_ value: Int64) {
        if value < 0 { put(byte: UInt8(ascii: "-")) }
        put(value.magnitude)
    }

    /// Writes `digits` with a decimal point before the last `places` digits: 1250 with 3 is 1.250.
    ///
    /// - Parameter places: 0 to 18.
    mutating func put(_ digits: Int64, places: Int) {
        guard places > 0 else { return put(digits) }
        if digits < 0 { put(byte: UInt8(ascii: "-")) }
        let (whole, fraction) = digits.magnitude.quotientAndRemainder(
            dividingBy: DecimalText.powers[places])
        put(whole)
        put(byte: UInt8(ascii: "."))
        if places <= 8 { return putLast(places, of: fraction) }
        let (rest, low) = fraction.quotientAndRemainder(dividingBy: 100_000_000)
        if places <= 16 {
            putLast(places - 8, of: rest)
        } else {
            let (high, middle) = rest.quotientAndRemainder(dividingBy: 100_000_000)
            putLast(places - 16, of: high)
            putLast(8, of: middle)
        }
        putLast(8, of: low)
    }

    private mutating func put(byte: UInt8) {
        unsafe next.storeBytes(of: byte, as: UInt8.self)
        unsafe next += 1
    }

    private mutating func put(_ magnitude: UInt64) {
        guard magnitude >= 100_000_000 else {
            let digits = DigitWriter.eightDigits(magnitude)
            // Leading zeros are the lowest zero bytes. Keep the last byte, so that 0 prints a
            // digit.
            let zeros = min(digits.trailingZeroBitCount, 56) & ~7
            put(word: (digits &+ DigitWriter.asciiZeros) &>> UInt64(zeros), size: 8 - zeros / 8)
            return
        }
        let (high, low) = magnitude.quotientAndRemainder(dividingBy: 100_000_000)
        put(high)
        put(word: DigitWriter.eightDigits(low) &+ DigitWriter.asciiZeros, size: 8)
    }

    /// Writes the last 1 to 8 digits, with leading zeros.
    private mutating func putLast(_ count: Int, of magnitude: UInt64) {
        let digits = DigitWriter.eightDigits(magnitude) &+ DigitWriter.asciiZeros
        put(word: digits &>> UInt64(64 - 8 * count), size: count)
    }

    private mutating func put(word: UInt64, size: Int) {
        unsafe next.storeBytes(of: word.littleEndian, as: UInt64.self)
        unsafe next += size
    }

    private static let asciiZeros: UInt64 = 0x3030_3030_3030_3030

    /// Spreads a number below 10^8 over eight bytes, one digit each, the highest digit in the
    /// lowest byte. It splits into halves of four, two and one digits; each step handles all parts
    /// at once.
    private static func eightDigits(_ value: UInt64) -> UInt64 {
        let (high, low) = value.quotientAndRemainder(dividingBy: 10_000)
        let fours = high | low << 32
        // Hundreds: x / 100 for x below 10,000.
        let upper = (fours &* 10_486) >> 20 & 0x0000_007F_0000_007F
        let twos = (fours &- 100 &* upper) << 16 | upper
        // Tens: x / 10 for x below 100.
        let tens = (twos &* 103) >> 10 & 0x000F_000F_000F_000F
        return (twos &- 10 &* tens) << 8 | tens
    }
}
