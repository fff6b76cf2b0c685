// Block statistics, from which queries can be answered without decoding.

/// Statistics of a run of values of one column of one series.
struct ColumnSummary: Equatable, Sendable {
    var type: FieldType
    var count: Int
    var firstTime: Int64
    var lastTime: Int64
    /// Bits of the smallest and largest value; 0 for strings. NaN values are ignored; if all values
    /// are NaN, both are NaN.
    var min: UInt64 = 0
    var max: UInt64 = 0
    /// Sum of the values: Double bits for floats, wrapping Int64 for integers, number of true
    /// values for booleans; 0 for strings.
    var sum: UInt64 = 0
    /// Bits of the earliest and latest value; 0 for strings.
    var first: UInt64 = 0
    var last: UInt64 = 0
}

/// Computes the statistics of values by ascending time.
///
/// If values compare equal but differ in bits (0 and -0), the earliest one is the minimum or
/// maximum. The sum of floats is compensated: it is exact up to about one rounding, however the
/// values are split into blocks. With NaN or infinity it is the IEEE 754 sum.
///
/// - Parameter times: One per word; at least one.
func summarize(times: Span<Int64>, words: Span<UInt64>, type: FieldType) -> ColumnSummary {
    precondition(times.count == words.count, "every value has a time")
    precondition(!words.isEmpty, "a summary needs a value")
    let last = words.count - 1
    var summary = ColumnSummary(
        type: type, count: words.count, firstTime: times[0], lastTime: times[last])
    summarize(words, into: &summary)
    return summary
}

/// Computes the statistics of values. The caller has set type, count and times.
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
    // Compensation turns infinity into NaN. Recompute the plain IEEE 754 sum.
    if !sum.isFinite {
        sum = 0
        for index in words.indices { sum += Double(bitPattern: words[index]) }
    }
    summary.sum = sum.bitPattern
    guard found.least <= found.most else {
        // All values are NaN.
        summary.min = Double.nan.bitPattern
        summary.max = Double.nan.bitPattern
        return
    }
    summary.min = earliest(found.least, in: words)
    summary.max = earliest(found.most, in: words)
}

/// Returns the bits of the first value equal to the given one, because 0 and -0 are equal.
private func earliest(_ value: Double, in words: Span<UInt64>) -> UInt64 {
    guard value == 0 else { return value.bitPattern }
    for index in words.indices where words[index] << 1 == 0 { return words[index] }
    return value.bitPattern
}

/// Returns minimum, maximum and compensated sum, computed in eight lanes. least > most if all
/// values are NaN.
private func scanFloats(_ words: Span<UInt64>) -> (least: Double, most: Double, sum: Double) {
    var least = Lanes(repeating: .infinity)
    var most = Lanes(repeating: -.infinity)
    var sum = Lanes.zero
    var error = Lanes.zero
    let vectorCount = words.count / 8
    // Sound: a vector is loaded only while eight words are left.
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

/// Knuth's TwoSum: adds values and accumulates the rounding error.
@inline(__always)
private func addCompensated(_ values: Lanes, to sum: inout Lanes, _ error: inout Lanes) {
    let next = sum + values
    let added = next - sum
    error += (sum - (next - added)) + (values - added)
    sum = next
}
