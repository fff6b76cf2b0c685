// Values of a block with their buckets, which are computed once and cached with the segment.

extension SegmentColumnReader {
    /// Returns the values of a block in these rows, by bucket.
    mutating func bucketed(
        block: Int, rows: Range<Int>, _ buckets: FixedBuckets, withValues: Bool
    ) throws(DatabaseError) -> BucketedSlice {
        let runs = try self.runs(block: block, rows: rows, buckets)
        let count = directory.valueCount(block)
        let begins = directory.firstRow(block) >= rows.lowerBound
        let ends = directory.lastRow(block) < rows.upperBound
        var slice = BucketedSlice(type: storedType, places: 0..<count, runs: runs)
        let isShared = !begins || !ends
        if withValues {
            try load(block, rows: rows, isShared: isShared)
        } else if isShared {
            try loadRows(ofBlock: block)
        }
        if isShared { slice.places = bitRange(places(of: rows)) }
        guard withValues else { return slice }
        slice.bits = slice.count < loadedBits.count ? Array(loadedBits[slice.places]) : loadedBits
        return slice
    }

    private mutating func runs(
        block: Int, rows: Range<Int>, _ buckets: FixedBuckets
    ) throws(DatabaseError) -> BucketRuns {
        let name = SegmentCache.BucketsName(field: field, block: block, buckets: buckets)
        if let known = segment.cache.decoded({ $0.bucketRuns[name] }) { return known }
        try loadRows(ofBlock: block)
        let (times, missing) = try readableTimes(loadedRange)
        let runs = BucketRuns(times: times.span, buckets)
        if let missing {
            guard !missing.isMissing[bitRange(places(of: rows))].contains(true) else {
                throw missing.error
            }
            return runs
        }
        segment.cache.keep(sizeBytes: runs.sizeBytes) {
            $0.bucketRuns.updateValue(runs, forKey: name) == nil
        }
        return runs
    }
}
