// Predicts the packed size of many integers from a sample.

/// Every eighth integer, as differences to the smallest of all. A sample takes an eighth of the
/// time and rules out most forms.
struct IntegerSample {
    /// A lower bound of the size in any packed form; 0 if there are too few values for a sample.
    private(set) var sizeBytesLowerBound = 0
    /// The size of the best form if the sample is representative.
    private(set) var sizeBytesEstimate = 0

    private var differences: [UInt64] = []
    private var histogram: [Int] = []

    private static let step = 8
    private static let valueCountMin = 128

    /// Takes a sample. `min` is the smallest of all values, as a signed number.
    mutating func take(_ values: Span<UInt64>, min: UInt64) {
        (sizeBytesLowerBound, sizeBytesEstimate) = (0, 0)
        guard values.count >= Self.valueCountMin else { return }
        let count = values.count / Self.step
        differences.removeAll(keepingCapacity: true)
        differences.append(addingCapacity: count) { output in
            for index in 0..<count { output.append(values[index &* Self.step] &- min) }
        }
        // The divisor of all values divides that of the sample, so actual widths are not smaller.
        let divisor = commonDivisor(of: differences.span)
        let divisorWidth = divisor == 1 ? 0 : bitWidth(divisor)
        let largest = fill(divisorWidth: divisorWidth)
        let positionWidth = positionWidth(values.count)
        var above = 0
        (sizeBytesLowerBound, sizeBytesEstimate) = (.max, .max)
        for width in stride(from: largest, through: 0, by: -1) {
            let packed = values.count * width / 8
            let exceptionBits = above * (positionWidth + largest - width)
            sizeBytesLowerBound = Swift.min(sizeBytesLowerBound, packed + exceptionBits / 8)
            sizeBytesEstimate = Swift.min(sizeBytesEstimate, packed + exceptionBits * Self.step / 8)
            above += histogram[width]
        }
    }

    /// Counts the widths of the divided differences. Returns the largest width.
    private mutating func fill(divisorWidth: Int) -> Int {
        if histogram.isEmpty { histogram = [Int](repeating: 0, count: 65) }
        let known = differences
        let differences = known.span
        var table = histogram.mutableSpan
        for width in table.indices { table[width] = 0 }
        var largest = 0
        for index in differences.indices {
            let width = Swift.max(0, bitWidth(differences[index]) &- divisorWidth)
            table[width] &+= 1
            largest = Swift.max(largest, width)
        }
        return largest
    }
}
