// Floats that are short decimals, stored as integers: 74.0 as 74, 36.6 as 366 / 10^1.
// docs/format/encodings.md, "decimal".
//
//     exponent     u8       0...22 powers of ten; +128: exceptions follow
//     exceptions   varint   number of values that are not such decimals
//     positions    of the exceptions, bit-packed
//     words        of the exceptions, eight bytes each
//     encoding     u8       of the digits: constant, bitPacked, delta or words
//     digits       integers in that encoding
//
// Source: Afroozeh, Kuffo, Boncz, "ALP: Adaptive Lossless floating-Point Compression" (SIGMOD
// 2024). Unlike ALP, digits are divided by a power of ten, not multiplied by its inverse. The
// quotient of two exact numbers is the double nearest to the decimal, so every decimal of up to 15
// digits fits and no second factor is needed. Trailing zeros of the digits are removed by the
// divisor of the packed integers.

/// The largest power of ten that a double represents exactly.
let decimalExponentMax = 22
private let powersOfTen: [Double] = [
    1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
]
/// 1.5 * 2^52. Adding it to a smaller double rounds the double to an integer in the low bits of the
/// sum. This is faster than a conversion, for which SSE2 has no vector instruction.
private let rounder = 0x1.8p52
/// Digits are between this and its negative, both exclusive.
private let digitsLimit = 0x1p51

/// Returns the integer whose quotient by the power is exactly this double; nil if there is none.
@inline(__always)
private func digits(_ word: UInt64, power: Double) -> UInt64? {
    let scaled = Double(bitPattern: word) * power
    let rounded = scaled + rounder
    // NaN fails the first comparison; -0 and values that are not decimals fail the second.
    guard abs(scaled) < digitsLimit, ((rounded - rounder) / power).bitPattern == word else {
        return nil
    }
    return rounded.bitPattern &- rounder.bitPattern
}

/// Whether the double is a decimal with this exponent.
@inline(__always)
func isDecimal(_ word: UInt64, exponent: Int) -> Bool {
    digits(word, power: powersOfTen[exponent]) != nil
}

/// Returns the smallest exponent with which the double is a decimal; nil if there is none.
func decimalExponent(_ word: UInt64) -> Int? {
    let magnitude = abs(Double(bitPattern: word))
    guard magnitude < digitsLimit else { return nil }
    // A decimal stays one with every larger exponent, as long as its digits fit.
    var largest = decimalExponentMax
    while magnitude * powersOfTen[largest] >= digitsLimit { largest -= 1 }
    guard digits(word, power: powersOfTen[largest]) != nil else { return nil }
    return (0...largest).first { digits(word, power: powersOfTen[$0]) != nil }
}

/// Plans and writes blocks of decimals. Reuses its memory between blocks.
struct DecimalEncoder {
    /// Exact size of what `write` appends; nil if too few values are decimals.
    private(set) var sizeBytes: Int?

    private var exponent = 0
    private var digits: [UInt64] = []
    private var positions: [UInt64] = []
    private var words: [UInt64] = []
    private var integers = IntegerEncoder()
    /// For each exponent, the number of sampled values that need it. The last entry counts values
    /// that are not decimals.
    private var needs: [Int] = []

    mutating func clear() {
        sizeBytes = nil
    }

    mutating func plan(_ values: Span<UInt64>, _ search: EncodingSearch) {
        sizeBytes = nil
        guard let first = sampledExponent(values, sizeBytesMax: search.sizeBytesMax) else { return }
        plan(values, exponent: first, search)
        guard !positions.isEmpty, let size = sizeBytes else { return }
        // The sample may have missed longer decimals.
        let second = exponentWithExceptions(valueCount: values.count)
        guard second > first else { return }
        plan(values, exponent: second, search)
        if sizeBytes! > size { plan(values, exponent: first, search) }
    }

    mutating func write(into writer: inout ByteWriter) {
        writer.append(UInt8(exponent) | (positions.isEmpty ? 0 : 0x80))
        if !positions.isEmpty {
            writer.appendVarint(positions.count)
            packBits(positions.span, width: positionWidth(digits.count), into: &writer)
            packBits(words.span, width: 64, into: &writer)
        }
        writer.append(integers.encoding.rawValue)
        let digits = digits
        integers.write(digits.span, as: integers.encoding, into: &writer)
    }

    private mutating func plan(
        _ values: Span<UInt64>, exponent: Int, _ search: EncodingSearch
    ) {
        self.exponent = exponent
        findDigits(values)
        var overhead = 2
        if !positions.isEmpty {
            overhead += varintSizeBytes(UInt64(positions.count)) + 8 * positions.count
            overhead += packedSizeBytes(
                count: positions.count, width: positionWidth(digits.count))
        }
        let digits = digits
        integers.plan(
            digits.span, range: IntegerRange(of: digits.span), type: .integer,
            search.beside(overhead))
        sizeBytes = overhead + integers.sizeBytes
    }

    private mutating func findDigits(_ values: Span<UInt64>) {
        let power = powersOfTen[exponent]
        digits.removeAll(keepingCapacity: true)
        positions.removeAll(keepingCapacity: true)
        words.removeAll(keepingCapacity: true)
        var previous: UInt64 = 0
        digits.append(addingCapacity: values.count) { output in
            for index in values.indices {
                if let found = CozDB.digits(values[index], power: power) {
                    previous = found
                } else {
                    positions.append(UInt64(index))
                    words.append(values[index])
                }
                // An exception repeats its neighbor's digits, which costs least.
                output.append(previous)
            }
        }
        // Leading exceptions have only a later neighbor.
        guard positions.first == 0, positions.count < digits.count else { return }
        let leading = positions.indices.first { positions[$0] != UInt64($0) } ?? positions.count
        for index in 0..<leading { digits[index] = digits[leading] }
    }

    private static let sampleCountMax = 32

    /// Returns the likely best exponent by a sample; nil if too few sampled values are decimals.
    private mutating func sampledExponent(
        _ values: Span<UInt64>, sizeBytesMax: Int
    ) -> Int? {
        let sampleCount = min(values.count, DecimalEncoder.sampleCountMax)
        clearNeeds()
        for sample in 0..<sampleCount { count(values[sample * values.count / sampleCount]) }
        // Each exception takes eight bytes.
        let exceptionCount = needs[decimalExponentMax + 1] * values.count / sampleCount
        guard exceptionCount < values.count, exceptionCount * 8 < sizeBytesMax else {
            return nil
        }
        return bestExponent(from: 0, valueCount: sampleCount, weight: 1)
    }

    /// Returns the likely best exponent by the exceptions of a first plan, which all need a larger
    /// one.
    private mutating func exponentWithExceptions(valueCount: Int) -> Int {
        let sampleCount = min(words.count, DecimalEncoder.sampleCountMax)
        clearNeeds()
        for sample in 0..<sampleCount { count(words[sample * words.count / sampleCount]) }
        return bestExponent(
            from: exponent, valueCount: valueCount, weight: words.count / sampleCount)
    }

    private mutating func clearNeeds() {
        if needs.isEmpty { needs = [Int](repeating: 0, count: decimalExponentMax + 2) }
        for index in needs.indices { needs[index] = 0 }
    }

    private mutating func count(_ word: UInt64) {
        needs[decimalExponent(word) ?? decimalExponentMax + 1] += 1
    }

    /// Returns the exponent of minimal cost. Each power of ten costs 10/3 bits per value; each
    /// exception costs about 74 bits.
    ///
    /// - Parameter weight: How many exceptions a sampled one represents.
    private func bestExponent(from lowest: Int, valueCount: Int, weight: Int) -> Int {
        var best = lowest
        var bestCost = Int.max
        var above = needs[(lowest + 1)...decimalExponentMax + 1].reduce(0, +)
        for candidate in lowest...decimalExponentMax {
            if candidate > lowest { above -= needs[candidate] }
            let cost = valueCount * (candidate - lowest) * 10 / 3 + above * weight * 74
            if cost < bestCost {
                bestCost = cost
                best = candidate
            }
        }
        return best
    }
}

// MARK: Reading

/// The part of a block before the digits.
struct DecimalHeader {
    var exponent: Int
    /// Encoding of the digits.
    var encoding: UInt8
    var exceptionCount: Int
}

/// Reads the part before the digits. Stores positions, then words of the exceptions in
/// `exceptions`.
func readDecimalHeader(
    _ reader: inout ByteReader, count: Int, exceptions: inout [UInt64]
) throws(FormatError) -> DecimalHeader {
    let head = try reader.readUInt8()
    var header = DecimalHeader(exponent: Int(head & 0x7F), encoding: 0, exceptionCount: 0)
    guard header.exponent <= decimalExponentMax else {
        throw FormatError(
            .invalid, "decimals with exponent \(header.exponent), expected at most 22", at: 0)
    }
    exceptions.removeAll(keepingCapacity: true)
    if head & 0x80 != 0 {
        header.exceptionCount = try reader.readCount(limit: count)
        let width = positionWidth(count)
        let positions = try reader.readBytes(
            packedSizeBytes(count: header.exceptionCount, width: width))
        let words = try reader.readBytes(8 * header.exceptionCount)
        unpackBits(
            positions, count: header.exceptionCount, width: width, adding: 0,
            appendTo: &exceptions)
        unpackBits(
            words, count: header.exceptionCount, width: 64, adding: 0, appendTo: &exceptions)
    }
    header.encoding = try reader.readUInt8()
    return header
}

/// Converts the digits from `start` on to floats and inserts the exceptions.
func restoreDecimals(
    _ words: inout [UInt64], from start: Int, header: DecimalHeader, exceptions: Span<UInt64>
) throws(FormatError) {
    guard divideDigits(&words, from: start, exponent: header.exponent) else {
        throw FormatError(.invalid, "digits of 2^51 or more", at: 0)
    }
    let count = UInt64(words.count - start)
    for exception in 0..<header.exceptionCount {
        let position = exceptions[exception]
        guard position < count else {
            throw FormatError(.invalid, "an exception at \(position) of \(count) values", at: 0)
        }
        words[start + Int(position)] = exceptions[header.exceptionCount + exception]
    }
}

/// Returns the smallest digits whose float satisfies a monotonic predicate; the largest digits plus
/// one if none do.
func leastDigits(exponent: Int, where holds: (Double) -> Bool) -> Int64 {
    let power = powersOfTen[exponent]
    let limit = Int64(digitsLimit)
    var (low, high) = (1 - limit, limit)
    while low < high {
        let middle = (low + high) >> 1
        // As in `divideDigits`, so that both agree in the last bit.
        let rounded = Double(bitPattern: UInt64(bitPattern: middle) &+ rounder.bitPattern)
        if holds((rounded - rounder) / power) { high = middle } else { low = middle + 1 }
    }
    return low
}

/// Whether all words are valid digits. Only then do bounds on digits equal bounds on floats.
func areDigits(_ words: Span<UInt64>) -> Bool {
    var excess: UInt64 = 0
    for index in words.indices { excess |= words[index] &+ UInt64(digitsLimit) }
    return excess < 2 * UInt64(digitsLimit)
}

/// Converts digits to floats. Returns false if any was outside the open range -2^51 to 2^51.
private func divideDigits(_ words: inout [UInt64], from start: Int, exponent: Int) -> Bool {
    let power = powersOfTen[exponent]
    let count = words.count - start
    // Accumulates out-of-range bits.
    var excess: UInt64 = 0
    // Sound: `start` is at most the count of the array; vectors are used only while eight words are
    // left.
    unsafe words.withUnsafeMutableBufferPointer { buffer in
        guard let first = buffer.baseAddress else { return }
        let scalars = unsafe first + start
        let target = UnsafeMutableRawPointer(scalars)
        let rounders = SIMD8<Double>(repeating: rounder)
        let powers = SIMD8<Double>(repeating: power)
        let offset = SIMD8<UInt64>(repeating: rounder.bitPattern)
        let vectorCount = count / 8
        let lowest = SIMD8<UInt64>(repeating: UInt64(digitsLimit))
        var excesses = SIMD8<UInt64>(repeating: 0)
        for vector in 0..<vectorCount {
            let digits = unsafe target.loadUnaligned(
                fromByteOffset: vector * 64, as: SIMD8<UInt64>.self)
            excesses |= digits &+ lowest
            var values = unsafe unsafeBitCast(digits &+ offset, to: SIMD8<Double>.self) - rounders
            if exponent > 0 { values /= powers }
            unsafe target.storeBytes(of: values, toByteOffset: vector * 64, as: SIMD8<Double>.self)
        }
        for index in 0..<8 { excess |= excesses[index] }
        for index in (vectorCount * 8)..<count {
            unsafe excess |= scalars[index] &+ UInt64(digitsLimit)
            let rounded = unsafe Double(bitPattern: scalars[index] &+ rounder.bitPattern)
            unsafe scalars[index] = ((rounded - rounder) / power).bitPattern
        }
    }
    return excess < 2 * UInt64(digitsLimit)
}
