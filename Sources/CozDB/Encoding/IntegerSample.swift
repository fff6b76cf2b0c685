// A few of many integers: what they say about the size of all as packed integers.

/// Every eighth of some integers, as differences to the smallest of all. Planning those takes an
/// eighth of the time, and shows of most forms that they cannot be the smallest one.
struct IntegerSample {
    /// No form of packed integers takes fewer bytes for all of them; 0 where there are too few to
    /// be worth a sample.
    private(set) var sizeBytesLeast = 0
    /// What the best form takes if the others are like these.
    private(set) var sizeBytesLikely = 0

    private var differences: [UInt64] = []
    private var histogram: [Int] = []

    private static let step = 8
    private static let valueCountMin = 128

    /// - Parameter min: the smallest of all values, as a signed number.
    mutating func take(_ values: Span<UInt64>, min: UInt64) {
        (sizeBytesLeast, sizeBytesLikely) = (0, 0)
        guard values.count >= Self.valueCountMin else { return }
        let count = values.count / Self.step
        differences.removeAll(keepingCapacity: true)
        differences.append(addingCapacity: count) { output in
            for index in 0..<count { output.append(values[index &* Self.step] &- min) }
        }
        // Any divisor of all divides that of the sample, so that no width is less than this.
        let divisor = commonDivisor(of: differences.span)
        let divisorWidth = divisor == 1 ? 0 : bitWidth(divisor)
        let largest = fill(divisorWidth: divisorWidth)
        let positionWidth = positionWidth(values.count)
        var above = 0
        (sizeBytesLeast, sizeBytesLikely) = (.max, .max)
        for width in stride(from: largest, through: 0, by: -1) {
            let packed = values.count * width / 8
            let exceptionBits = above * (positionWidth + largest - width)
            sizeBytesLeast = Swift.min(sizeBytesLeast, packed + exceptionBits / 8)
            sizeBytesLikely = Swift.min(sizeBytesLikely, packed + exceptionBits * Self.step / 8)
            above += histogram[width]
        }
    }

    /// Counts the widths of the differences, divided; the largest of them.
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
