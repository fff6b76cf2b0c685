// The values of a block bucket by bucket. Where buckets end among the values of a block depends on
// nothing but their times: it is found once, and whoever groups by the same buckets again looks at
// no time.

/// Where the values of a block pass from one bucket to the next.
final class BucketRuns: Sendable {
    /// The first nanosecond of the bucket of each run; neighbours differ.
    let starts: [Int64]
    /// Behind the last value of each run, counted from the first of the block.
    let ends: [Int32]

    init(starts: [Int64], ends: [Int32]) {
        self.starts = starts
        self.ends = ends
    }

    /// - Parameter times: of the values of a block. They ascend within a series.
    convenience init(times: Span<Int64>, _ buckets: EvenBuckets) {
        var starts: [Int64] = []
        var ends: [Int32] = []
        var row = 0
        while row < times.count {
            let start = buckets.start(times[row])
            let end = start &+ buckets.interval
            row += 1
            while row < times.count, times[row] >= start, times[row] < end { row += 1 }
            starts.append(start)
            ends.append(Int32(truncatingIfNeeded: row))
        }
        self.init(starts: starts, ends: ends)
    }

    /// About what it takes, with its place in a table of them.
    var sizeBytes: Int { 200 + starts.count * 12 }
}

/// Some values of one block, with the buckets they lie in.
struct BucketedSlice {
    var type = FieldType.float
    /// As in `ColumnSlice`; none where nobody asked for them.
    var bits: [UInt64] = []
    /// The places of the values in the block.
    var places = 0..<0
    var runs: BucketRuns

    var count: Int { places.count }

    /// Calls the body for each bucket with its first nanosecond, the number of its values, and
    /// where they lie in `bits`.
    @inline(__always)
    func forEachRun(_ body: (_ start: Int64, _ values: Range<Int>) -> Void) {
        let (starts, ends) = (runs.starts, runs.ends)
        let (runStarts, runEnds) = (starts.span, ends.span)
        var run =
            places.lowerBound == 0
            ? 0 : ends.partitioningIndex { Int($0) > places.lowerBound }
        var place = places.lowerBound
        while place < places.upperBound {
            let end = min(Int(runEnds[run]), places.upperBound)
            body(runStarts[run], (place - places.lowerBound)..<(end - places.lowerBound))
            place = end
            run += 1
        }
    }
}

extension BucketedSlice {
    /// The same without NaN.
    var withoutNaN: BucketedSlice {
        guard type == .float, bits.contains(where: { Double(bitPattern: $0).isNaN }) else {
            return self
        }
        var kept = BucketedSlice(type: type, runs: runs)
        var (starts, ends) = ([Int64](), [Int32]())
        forEachRun { start, values in
            for index in values where !Double(bitPattern: bits[index]).isNaN {
                kept.bits.append(bits[index])
            }
            guard kept.bits.count > Int(ends.last ?? 0) else { return }
            starts.append(start)
            ends.append(Int32(truncatingIfNeeded: kept.bits.count))
        }
        kept.places = 0..<kept.bits.count
        kept.runs = BucketRuns(starts: starts, ends: ends)
        return kept
    }
}
