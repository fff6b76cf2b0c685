// The values of a block grouped into time buckets. The bucket boundaries in a block depend only on
// its times, so they are computed once and cached for later queries with the same buckets.

/// The bucket boundaries in a block.
final class BucketRuns: Sendable {
    /// The start time of each run's bucket. Adjacent runs have different buckets.
    let starts: [Int64]
    /// The end index of each run in the block.
    let ends: [Int32]

    init(starts: [Int64], ends: [Int32]) {
        self.starts = starts
        self.ends = ends
    }

    /// Computes the boundaries from the times of a block, which ascend within a series.
    convenience init(times: Span<Int64>, _ buckets: FixedBuckets) {
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

    /// Approximate memory use in bytes, including the cache entry.
    var sizeBytes: Int { 200 + starts.count * 12 }
}

/// Some values of one block with their buckets.
struct BucketedSlice {
    var type = FieldType.float
    /// As in `ColumnSlice`; empty if values were not requested.
    var bits: [UInt64] = []
    /// The range of the values in the block.
    var places = 0..<0
    var runs: BucketRuns

    var count: Int { places.count }

    /// Calls the body for each bucket with its start time and the range of its values in `bits`.
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
    /// The slice without NaN values.
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
