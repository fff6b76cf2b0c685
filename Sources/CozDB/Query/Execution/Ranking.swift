// The value of a given rank among many, without sorting them: percentile and median.

struct Ranking {
    private let rows: Range<Int>
    private let isFloat: Bool
    /// The values as integers that are ordered as they are; 0 and -0 are one.
    private let keys: [Int64]

    /// - Parameter rows: of numbers, none of them null; at least one.
    init(_ vector: ResultVector, _ rows: Range<Int>) {
        self.rows = rows
        isFloat = vector.type == .float
        let bits = vector.bits.span.extracting(rows)
        let isFloat = isFloat
        var keys: [Int64] = []
        keys.append(addingCapacity: rows.count) { output in
            for index in bits.indices {
                output.append(
                    isFloat ? Ranking.key(bits[index]) : Int64(bitPattern: bits[index]))
            }
        }
        self.keys = keys
    }

    /// Of negative numbers the larger bits are the smaller number.
    private static func key(_ bits: UInt64) -> Int64 {
        let signed = Int64(bitPattern: bits)
        if signed == .min { return 0 }
        return signed ^ ((signed >> 63) & .max)
    }

    /// The values of a rank and of the one before it; both the same for rank 0.
    func bits(aroundRank rank: Int) -> (before: UInt64, at: UInt64) {
        let found = key(ofRank: rank)
        let at = value(found.key)
        guard rank > 0, found.smallerCount == rank else { return (at, at) }
        var largest = Int64.min
        let span = keys.span
        for index in span.indices {
            let key = span[index]
            largest = key < found.key && key > largest ? key : largest
        }
        return (value(largest), at)
    }

    private func value(_ key: Int64) -> UInt64 {
        UInt64(bitPattern: isFloat ? key ^ ((key >> 63) & .max) : key)
    }

    /// The row of a rank; of equal values the earlier rows come first.
    func row(ofRank rank: Int) -> Int {
        let found = key(ofRank: rank)
        var left = rank - found.smallerCount
        for index in keys.indices where keys[index] == found.key {
            if left == 0 { return rows.lowerBound + index }
            left -= 1
        }
        preconditionFailure("a rank is less than the number of rows")
    }

    /// Narrows the values down around pivots. Without branches that depend on values, a pass
    /// takes little more than a nanosecond per value.
    private func key(ofRank rank: Int) -> (key: Int64, smallerCount: Int) {
        precondition(keys.indices.contains(rank), "a rank is less than the number of rows")
        var candidates = keys
        var smaller = [Int64](repeating: 0, count: keys.count + 1)
        var larger = smaller
        var count = keys.count
        var target = rank
        while true {
            let pivot = Ranking.pivot(candidates.span.extracting(0..<count), target: target)
            let found = Ranking.split(
                candidates.span.extracting(0..<count), around: pivot, smaller: &smaller,
                larger: &larger)
            if target < found.smaller {
                swap(&candidates, &smaller)
                count = found.smaller
            } else if target >= count - found.larger {
                target -= count - found.larger
                swap(&candidates, &larger)
                count = found.larger
            } else {
                return (pivot, rank - target + found.smaller)
            }
        }
    }

    /// A value near the rank sought, on the side of it where there are more values.
    private static func pivot(_ values: Span<Int64>, target: Int) -> Int64 {
        let step = max(1, values.count / 32)
        var sample: [Int64] = []
        for index in stride(from: step / 2, to: values.count, by: step) {
            sample.append(values[index])
        }
        sample.sort()
        let place = target * sample.count / values.count
        let inner = 2 * target > values.count ? place - 2 : place + 2
        return sample[sample.count < 16 ? place : min(max(inner, 0), sample.count - 1)]
    }

    /// Both outputs have room for one more than all values: there they write those they do not
    /// keep, until the next overwrites it.
    private static func split(
        _ values: Span<Int64>, around pivot: Int64, smaller: inout [Int64], larger: inout [Int64]
    ) -> (smaller: Int, larger: Int) {
        var low = smaller.mutableSpan
        var high = larger.mutableSpan
        var lowCount = 0
        var highCount = 0
        for index in values.indices {
            let value = values[index]
            low[lowCount] = value
            high[highCount] = value
            lowCount &+= value < pivot ? 1 : 0
            highCount &+= value > pivot ? 1 : 0
        }
        return (lowCount, highCount)
    }
}
