// The value of a given rank among many, without sorting them: percentile and median.

/// The rows of some values by rank.
///
/// Values are counted into bins of equal width; the rows of a bin are looked at when a rank lies
/// in it, and where they are many it is divided again. Measured on groups of 1,800 noisy floats,
/// two ranks of each: 5 ns a value, 17 by narrowing down around pivots.
final class Ranking {
    /// Values that are sorted rather than counted.
    private static let sortedCountMax = 24
    private static let binCountLogMax = 11

    /// The values as integers that are ordered as they are; 0 and -0 are one.
    private let keys: [Int64]
    private let least: Int64
    /// By how many bits the distance from the least is shifted to be the number of a bin.
    private let shift: UInt64
    /// How many values lie in the bins before each, and in all.
    private var countsBefore: [UInt32] = []
    /// The places of all values, bin by bin; in a bin in the order they came.
    private var placesByBin: [UInt32] = []
    /// The bin looked into last, and the ranking of its values.
    private var opened: (bin: Int, ranking: Ranking)?
    /// Places by rank, of few values.
    private var sorted: [UInt32] = []

    /// - Parameter rows: of numbers, none of them null; at least one.
    convenience init(_ vector: ResultVector, _ rows: Range<Int>) {
        self.init(Ranking.keys(vector, rows))
    }

    /// The values as integers that are ordered as they are.
    static func keys(_ vector: ResultVector, _ rows: Range<Int>) -> [Int64] {
        let isFloat = vector.type == .float
        let bits = vector.bits.span.extracting(rows)
        var keys: [Int64] = []
        keys.append(addingCapacity: rows.count) { output in
            for index in bits.indices {
                output.append(
                    isFloat ? Ranking.key(bits[index]) : Int64(bitPattern: bits[index]))
            }
        }
        return keys
    }

    private init(_ keys: [Int64]) {
        self.keys = keys
        let span = keys.span
        var (least, largest) = (Int64.max, Int64.min)
        for index in span.indices {
            least = min(least, span[index])
            largest = max(largest, span[index])
        }
        self.least = least
        let width = UInt64(bitPattern: largest &- least)
        let widthLog = UInt64.bitWidth - width.leadingZeroBitCount
        // About four values a bin.
        let countLog = Int.bitWidth - keys.count.leadingZeroBitCount
        let binCountLog = min(max(countLog - 2, 1), Ranking.binCountLogMax)
        shift = UInt64(max(widthLog - binCountLog, 0))
        // Whoever asks for a rank then throws.
        if width == 0 || StopSign.isRaised { return }
        if keys.count <= Ranking.sortedCountMax {
            sorted = keys.indices.map { UInt32(truncatingIfNeeded: $0) }
            sorted.sort { (keys[Int($0)], $0) < (keys[Int($1)], $1) }
        } else {
            count(binCount: Int(width >> shift) + 1)
        }
    }

    /// Of negative numbers the larger bits are the smaller number.
    private static func key(_ bits: UInt64) -> Int64 {
        let signed = Int64(bitPattern: bits)
        if signed == .min { return 0 }
        return signed ^ ((signed >> 63) & .max)
    }

    /// The place of a rank among the values; of equal ones the earlier come first.
    func place(ofRank rank: Int) -> Int {
        precondition(keys.indices.contains(rank), "a rank is less than the number of values")
        if !sorted.isEmpty { return Int(sorted[rank]) }
        // All are equal.
        if countsBefore.isEmpty { return rank }
        let bin = countsBefore.partitioningIndex { Int($0) > rank } - 1
        let first = Int(countsBefore[bin])
        return Int(placesByBin[first + ranking(ofBin: bin).place(ofRank: rank - first)])
    }

    private func count(binCount: Int) {
        var counts = [UInt32](repeating: 0, count: binCount + 1)
        var bins = counts.mutableSpan
        let keys = keys
        let span = keys.span
        for index in span.indices { bins[bin(span[index]) + 1] &+= 1 }
        for bin in 1...binCount { bins[bin] &+= bins[bin - 1] }
        countsBefore = counts
        var places = [UInt32](repeating: 0, count: keys.count)
        var output = places.mutableSpan
        var next = counts.mutableSpan
        for index in span.indices {
            let bin = bin(span[index])
            output[Int(next[bin])] = UInt32(truncatingIfNeeded: index)
            next[bin] &+= 1
        }
        placesByBin = places
    }

    private func bin(_ key: Int64) -> Int {
        Int(truncatingIfNeeded: UInt64(bitPattern: key &- least) >> shift)
    }

    private func ranking(ofBin bin: Int) -> Ranking {
        if let opened, opened.bin == bin { return opened.ranking }
        let places = placesByBin[Int(countsBefore[bin])..<Int(countsBefore[bin + 1])]
        let ranking = Ranking(places.map { keys[Int($0)] })
        opened = (bin, ranking)
        return ranking
    }
}

/// The ranking of the points of a call, for all calls of the same points.
final class RankingBox {
    private var known: (rows: Range<Int>, ranking: Ranking)?

    /// - Parameter vector: always the same.
    func ranking(_ vector: ResultVector, _ rows: Range<Int>) -> Ranking {
        if let known, known.rows == rows { return known.ranking }
        let ranking = Ranking(vector, rows)
        known = (rows, ranking)
        return ranking
    }
}
