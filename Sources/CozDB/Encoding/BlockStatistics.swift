// What a block stores about its values so that queries need not decode it.

/// What is known of a run of values of one column of one series without reading them.
struct ColumnSummary: Equatable, Sendable {
    var type: FieldType
    var count: Int
    var firstTime: Int64
    var lastTime: Int64
    /// Bits of the smallest and largest value; 0 for strings. Floats: NaN values are left out, and
    /// when there is nothing else both are NaN.
    var min: UInt64
    var max: UInt64
    /// Sum of the values: Double bits for floats, wrapping Int64 for integers, count of true for
    /// booleans; 0 for strings.
    var sum: UInt64
    /// Bits of the earliest and latest value; 0 for strings.
    var first: UInt64
    var last: UInt64
}

/// The summary of values by ascending time.
///
/// Of values that compare equal but differ in bits (0 and -0) the earliest is the minimum and the
/// maximum. The sum of floats is compensated: it is the exact sum but for about one rounding, in
/// whatever order blocks are cut. NaN and infinity make it what IEEE 754 says.
///
/// - Parameter times: one per word; at least one.
func summarize(times: Span<Int64>, words: Span<UInt64>, type: FieldType) -> ColumnSummary {
    precondition(times.count == words.count, "every value has a time")
    precondition(!words.isEmpty, "a summary needs a value")
    let last = words.count - 1
    var summary = ColumnSummary(
        type: type, count: words.count, firstTime: times[0], lastTime: times[last],
        min: 0, max: 0, sum: 0, first: 0, last: 0)
    summarize(words, into: &summary)
    return summary
}

/// Fills in what a summary says of values; type, count and times are there.
func summarize(_ words: Span<UInt64>, into summary: inout ColumnSummary) {
    guard summary.type != .string, !words.isEmpty else {
        (summary.first, summary.last) = (0, 0)
        return
    }
    (summary.first, summary.last) = (words[0], words[words.count - 1])
    if summary.type == .float {
        summarizeFloats(words, &summary)
    } else {
        summarizeIntegers(words, &summary)
    }
}

private func summarizeIntegers(_ words: Span<UInt64>, _ summary: inout ColumnSummary) {
    var least = Int64.max
    var most = Int64.min
    var sum: Int64 = 0
    for index in words.indices {
        let value = Int64(bitPattern: words[index])
        least = value < least ? value : least
        most = value > most ? value : most
        sum &+= value
    }
    summary.min = UInt64(bitPattern: least)
    summary.max = UInt64(bitPattern: most)
    summary.sum = UInt64(bitPattern: sum)
}

private typealias Lanes = SIMD8<Double>

private func summarizeFloats(_ words: Span<UInt64>, _ summary: inout ColumnSummary) {
    let found = scanFloats(words)
    var sum = found.sum
    // Compensation turns infinity into NaN; without it the sum is what IEEE 754 says.
    if !sum.isFinite {
        sum = 0
        for index in words.indices { sum += Double(bitPattern: words[index]) }
    }
    summary.sum = sum.bitPattern
    guard found.least <= found.most else {
        // There is nothing but NaN.
        summary.min = Double.nan.bitPattern
        summary.max = Double.nan.bitPattern
        return
    }
    summary.min = earliest(found.least, in: words)
    summary.max = earliest(found.most, in: words)
}

/// The bits of the first value that equals the one given: 0 and -0 are equal.
private func earliest(_ value: Double, in words: Span<UInt64>) -> UInt64 {
    guard value == 0 else { return value.bitPattern }
    for index in words.indices where words[index] << 1 == 0 { return words[index] }
    return value.bitPattern
}

/// Smallest, largest and compensated sum, in eight lanes; least > most where all are NaN.
private func scanFloats(_ words: Span<UInt64>) -> (least: Double, most: Double, sum: Double) {
    var least = Lanes(repeating: .infinity)
    var most = Lanes(repeating: -.infinity)
    var sum = Lanes.zero
    var error = Lanes.zero
    let vectorCount = words.count / 8
    // Sound: a vector is loaded while eight words are left.
    unsafe words.withUnsafeBytes { buffer in
        for vector in 0..<vectorCount {
            let values = unsafe buffer.loadUnaligned(fromByteOffset: vector * 64, as: Lanes.self)
            least.replace(with: values, where: values .< least)
            most.replace(with: values, where: values .> most)
            addCompensated(values, to: &sum, &error)
        }
    }
    var rest = Lanes.zero
    for index in (vectorCount * 8)..<words.count {
        let value = Double(bitPattern: words[index])
        rest[index % 8] = value
        if value < least[0] { least[0] = value }
        if value > most[0] { most[0] = value }
    }
    addCompensated(rest, to: &sum, &error)
    var total = 0.0
    var totalError = error.sum()
    for lane in 0..<8 {
        let next = total + sum[lane]
        let added = next - total
        totalError += (total - (next - added)) + (sum[lane] - added)
        total = next
    }
    return (least.min(), most.max(), total + totalError)
}

/// Knuth's sum of two numbers and what rounding lost.
@inline(__always)
private func addCompensated(_ values: Lanes, to sum: inout Lanes, _ error: inout Lanes) {
    let next = sum + values
    let added = next - sum
    error += (sum - (next - added)) + (values - added)
    sum = next
}
