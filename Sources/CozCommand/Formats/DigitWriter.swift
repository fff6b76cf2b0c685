// Numbers and pieces of text written one behind the other into memory that has room for them: what
// an answer of many thousand cells spends its time with. Eight digits at a time, without a String.

/// Where the next byte goes.
///
/// Whoever makes one sees to the room: for each number `numberSizeBytesMax`, for each piece its
/// size, and `slackBytes` behind the last, since digits are stored eight at a time.
@safe struct DigitWriter {
    /// A sign, 20 digits and a point, or a zero and its point.
    static let numberSizeBytesMax = 24
    static let slackBytes = 8

    private(set) var next: UnsafeMutableRawPointer

    init(_ start: UnsafeMutableRawPointer) {
        unsafe next = unsafe start
    }

    /// - Parameter piece: bytes of `source`, which has that many.
    mutating func put(_ source: UnsafePointer<UInt8>, _ piece: Range<Int>) {
        // Sound: see the type; most pieces are a comma, for which a call would cost more.
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

    /// `digits` with the point in front of the last so many: 1250 with 3 is 1.250.
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
            // Zeros in front are the lowest bytes that are 0; of 0 the last byte stays.
            let zeros = min(digits.trailingZeroBitCount, 56) & ~7
            put(word: (digits &+ DigitWriter.asciiZeros) &>> UInt64(zeros), size: 8 - zeros / 8)
            return
        }
        let (high, low) = magnitude.quotientAndRemainder(dividingBy: 100_000_000)
        put(high)
        put(word: DigitWriter.eightDigits(low) &+ DigitWriter.asciiZeros, size: 8)
    }

    /// The last so many digits, 1 to 8, with their zeros in front.
    private mutating func putLast(_ count: Int, of magnitude: UInt64) {
        let digits = DigitWriter.eightDigits(magnitude) &+ DigitWriter.asciiZeros
        put(word: digits &>> UInt64(64 - 8 * count), size: count)
    }

    private mutating func put(word: UInt64, size: Int) {
        unsafe next.storeBytes(of: word.littleEndian, as: UInt64.self)
        unsafe next += size
    }

    private static let asciiZeros: UInt64 = 0x3030_3030_3030_3030

    /// A number below 10^8 as eight digits, a byte each, the highest digit in the lowest byte:
    /// halves of four, then of two digits, then digits, each step for all halves at once.
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
