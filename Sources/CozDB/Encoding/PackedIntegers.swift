// Integers as base + divisor * small number. The small numbers are bit-packed; the few larger ones
// are exceptions. docs/format/encodings.md, "Packed integers".
//
//     width        u8      bits of each packed number, 0...64; +128: the next three follow
//     divisor      varint  common divisor of all differences to the base
//     exceptions   varint  how many numbers have more bits than the width
//     high width   u8      only if there are exceptions: bits above the width
//     base         varint, zigzag
//     numbers      the low bits of each, bit-packed
//     positions    of the exceptions, bit-packed by the width of the largest position
//     high parts   of the exceptions, bit-packed
//
// All arithmetic wraps, so any 64-bit words can be stored.

/// Returns the size of a varint in bytes.
func varintSizeBytes(_ value: UInt64) -> Int {
    (max(1, bitWidth(value)) + 6) / 7
}

/// Maps signed to unsigned numbers, small magnitudes first: 0, -1, 1, -2.
func zigzag(_ value: UInt64) -> UInt64 {
    (value &<< 1) ^ UInt64(bitPattern: Int64(bitPattern: value) &>> 63)
}

/// Range and run count of a set of numbers, computed in one pass.
struct IntegerRange {
    /// Smallest and largest value as signed numbers.
    var min: UInt64 = 0
    var max: UInt64 = 0
    /// Number of runs of equal neighbors.
    var runCount = 0

    init() {}

    init(of words: Span<UInt64>) {
        var least = Int64.max
        var most = Int64.min
        var changeCount = 0
        var previous = words.isEmpty ? 0 : words[0]
        for index in words.indices {
            let word = words[index]
            let value = Int64(bitPattern: word)
            least = value < least ? value : least
            most = value > most ? value : most
            changeCount &+= word == previous ? 0 : 1
            previous = word
        }
        min = UInt64(bitPattern: least)
        max = UInt64(bitPattern: most)
        runCount = words.isEmpty ? 0 : changeCount + 1
    }
}

/// Plans and writes one section of packed integers. Reuses its memory between blocks.
struct PackedIntegerEncoder {
    /// Exact size of what `write` appends; `max` if the plan was abandoned.
    private(set) var sizeBytes = 0

    private var base: UInt64 = 0
    private var divisor: UInt64 = 1
    private var width = 0
    private var highWidth = 0
    private var exceptionCount = 0
    /// (value - base) / divisor.
    private var numbers: [UInt64] = []
    /// Count of numbers by width. Two tables, so that equal neighbors do not stall on the same
    /// counter. Allocated by the first plan.
    private var histogram: [Int] = []
    private var sample = IntegerSample()
    private var positions: [UInt64] = []
    private var highParts: [UInt64] = []

    private var isExtended: Bool { divisor > 1 || exceptionCount > 0 }

    /// Finds the smallest form of the values.
    ///
    /// - Parameters:
    ///   - min: The smallest value as a signed number, so that differences are small.
    ///   - zeroCount: Adds this many zeros, to compute the size only: such a plan cannot be
    ///     written. `min` must be 0 then.
    ///   - sizeBytesMax: The plan is abandoned if a sample shows that it exceeds this size.
    mutating func plan(
        _ values: Span<UInt64>, min: UInt64, zeroCount: Int = 0, sizeBytesMax: Int = .max
    ) {
        sizeBytes = .max
        if sizeBytesMax < .max {
            sample.take(values, min: min)
            if sample.sizeBytesLowerBound > sizeBytesMax { return }
        }
        base = min
        divisor = 1
        numbers.removeAll(keepingCapacity: true)
        appendDifferences(values, from: min, to: &numbers)
        divide(zeroCount)
        count()
        histogram[0] += zeroCount
        chooseWidth(count: numbers.count + zeroCount)
    }

    mutating func write(into writer: inout ByteWriter) {
        writer.append(UInt8(width) | (isExtended ? 0x80 : 0))
        if isExtended {
            writer.appendVarint(divisor)
            writer.appendVarint(exceptionCount)
            if exceptionCount > 0 { writer.append(UInt8(highWidth)) }
        }
        writer.appendVarint(zigzag(base))
        packBits(numbers.span, width: width, into: &writer)
        guard exceptionCount > 0 else { return }
        positions.removeAll(keepingCapacity: true)
        highParts.removeAll(keepingCapacity: true)
        for index in numbers.indices where numbers[index] >> UInt64(width) != 0 {
            positions.append(UInt64(index))
            highParts.append(numbers[index] >> UInt64(width))
        }
        packBits(positions.span, width: positionWidth(numbers.count), into: &writer)
        packBits(highParts.span, width: highWidth, into: &writer)
    }

    /// Divides the numbers by their common divisor, if that saves more than it costs.
    private mutating func divide(_ zeroCount: Int) {
        let found = commonDivisor(of: numbers.span)
        let savedBits = (numbers.count + zeroCount) * (bitWidth(found) - 1)
        guard found > 1, savedBits > 8 * (varintSizeBytes(found) + 1) else { return }
        divisor = found
        let shift = UInt64(found.trailingZeroBitCount)
        let inverse = inverse(found >> shift)
        var span = numbers.mutableSpan
        for index in 0..<span.count { span[index] = (span[index] &>> shift) &* inverse }
    }

    private mutating func count() {
        if histogram.isEmpty { histogram = [Int](repeating: 0, count: 130) }
        let array = numbers
        let numbers = array.span
        var table = histogram.mutableSpan
        for index in table.indices { table[index] = 0 }
        let pairCount = numbers.count / 2
        for pair in 0..<pairCount {
            table[bitWidth(numbers[2 &* pair])] &+= 1
            table[65 &+ bitWidth(numbers[2 &* pair &+ 1])] &+= 1
        }
        if numbers.count % 2 == 1 { table[bitWidth(numbers[numbers.count - 1])] &+= 1 }
        for width in 0...64 { table[width] &+= table[65 &+ width] }
    }

    /// Chooses the width. The histogram gives the exact size of each.
    private mutating func chooseWidth(count: Int) {
        let array = histogram
        let widths = array.span
        var largest = 64
        while largest > 0, widths[largest] == 0 { largest -= 1 }
        let baseSize = varintSizeBytes(zigzag(base))
        let divisorSize = varintSizeBytes(divisor)
        let positionWidth = positionWidth(count)
        var above = 0
        for candidate in stride(from: largest, through: 0, by: -1) {
            var size = 1 + baseSize + packedSizeBytes(count: count, width: candidate)
            if above > 0 || divisor > 1 { size += divisorSize + varintSizeBytes(UInt64(above)) }
            if above > 0 {
                size += 1 + packedSizeBytes(count: above, width: positionWidth)
                size += packedSizeBytes(count: above, width: largest - candidate)
            }
            if size < sizeBytes {
                sizeBytes = size
                width = candidate
                highWidth = largest - candidate
                exceptionCount = above
            }
            above += widths[candidate]
        }
    }
}

/// Reads `count` integers and appends them.
func readPackedIntegers(
    _ reader: inout ByteReader, count: Int, scratch: inout [UInt64],
    appendTo words: inout [UInt64]
) throws(FormatError) {
    let head = try reader.readUInt8()
    let width = Int(head & 0x7F)
    var divisor: UInt64 = 1
    var exceptionCount = 0
    var highWidth = 0
    if head & 0x80 != 0 {
        divisor = try reader.readVarint()
        exceptionCount = try reader.readCount(limit: count)
        if exceptionCount > 0 { highWidth = Int(try reader.readUInt8()) }
    }
    guard width + highWidth <= 64, divisor > 0 else {
        throw FormatError(
            .invalid, "integers of \(width) + \(highWidth) bits by \(divisor)", at: reader.offset)
    }
    let base = UInt64(bitPattern: try reader.readSigned())
    let packed = try reader.readBytes(packedSizeBytes(count: count, width: width))
    let start = words.count
    unpackBits(
        packed, count: count, width: width, adding: divisor == 1 ? base : 0, appendTo: &words)
    if divisor != 1 { multiplyAdd(&words, from: start, by: divisor, adding: base) }
    guard exceptionCount > 0 else { return }
    let positionWidth = positionWidth(count)
    let positions = try reader.readBytes(
        packedSizeBytes(count: exceptionCount, width: positionWidth))
    let highParts = try reader.readBytes(packedSizeBytes(count: exceptionCount, width: highWidth))
    scratch.removeAll(keepingCapacity: true)
    unpackBits(
        positions, count: exceptionCount, width: positionWidth, adding: 0, appendTo: &scratch)
    unpackBits(
        highParts, count: exceptionCount, width: highWidth, adding: 0, appendTo: &scratch)
    for exception in 0..<exceptionCount {
        let position = scratch[exception]
        guard position < UInt64(count) else {
            throw FormatError(
                .invalid, "an exception at \(position) of \(count) values", at: reader.offset)
        }
        let high = scratch[exceptionCount + exception] << UInt64(width)
        words[start + Int(position)] &+= high &* divisor
    }
}

/// Returns the width of a position among `count` values.
func positionWidth(_ count: Int) -> Int {
    count == 0 ? 0 : bitWidth(UInt64(count - 1))
}

// MARK: Kernels

private func appendDifferences(
    _ values: Span<UInt64>, from base: UInt64, to numbers: inout [UInt64]
) {
    let count = values.count
    guard count > 0 else { return }
    // Sound: the output has room for `count` words, and the input has that many.
    unsafe values.withUnsafeBufferPointer { source in
        numbers.append(addingCapacity: count) { output in
            unsafe output.withUnsafeMutableBufferPointer { buffer, initializedCount in
                let source = source.baseAddress!
                let target = buffer.baseAddress!
                for index in 0..<count { unsafe target[index] = source[index] &- base }
                initializedCount = count
            }
        }
    }
}

private func multiplyAdd(
    _ words: inout [UInt64], from start: Int, by factor: UInt64, adding base: UInt64
) {
    let count = words.count - start
    // Sound: `start` is at most the count of the array.
    unsafe words.withUnsafeMutableBufferPointer { buffer in
        guard let target = buffer.baseAddress else { return }
        for index in start..<(start + count) {
            unsafe target[index] = target[index] &* factor &+ base
        }
    }
}

/// Returns the greatest common divisor of the numbers; 1 if all are 0.
func commonDivisor(of numbers: Span<UInt64>) -> UInt64 {
    var bits: UInt64 = 0
    for index in numbers.indices { bits |= numbers[index] }
    guard bits != 0 else { return 1 }
    let shift = UInt64(bits.trailingZeroBitCount)
    // The odd part. A number is a multiple of an odd divisor if its product with the divisor's
    // inverse is at most max / divisor. This needs no division.
    var divisor: UInt64 = 0
    var factor: UInt64 = 0
    var limit: UInt64 = 0
    for index in numbers.indices {
        let number = numbers[index]
        if number &* factor <= limit, divisor != 0 || number == 0 { continue }
        divisor = greatestCommonOddDivisor(divisor, number)
        if divisor == 1 { break }
        factor = inverse(divisor)
        limit = UInt64.max / divisor
    }
    return divisor << shift
}

/// Returns the greatest common odd divisor by the binary algorithm. `left` is odd or 0; `right` is
/// not 0.
private func greatestCommonOddDivisor(_ left: UInt64, _ right: UInt64) -> UInt64 {
    var small = left
    var large = right >> UInt64(right.trailingZeroBitCount)
    while small != 0 {
        if small > large { swap(&small, &large) }
        // Both are odd, so the difference is even or 0.
        let difference = large - small
        if difference == 0 { return small }
        large = difference >> UInt64(difference.trailingZeroBitCount)
    }
    return large
}

/// Returns the inverse of an odd number modulo 2^64.
private func inverse(_ odd: UInt64) -> UInt64 {
    // Correct to 3 bits; each step of Newton's method doubles that.
    var inverse = odd
    for _ in 0..<5 { inverse = inverse &* (2 &- odd &* inverse) }
    return inverse
}
