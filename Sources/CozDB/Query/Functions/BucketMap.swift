// Maps buckets of equal length to places by their number, without searching or hashing.

/// A map from buckets to the places of their data.
struct BucketMap {
    /// The maximum number of buckets, which limits the map to 256 KiB.
    private static let countMax = 1 << 16

    private let interval: Int64
    /// The place of each bucket; -1 for a bucket without data.
    private var placeByNumber: [Int32]

    /// Creates an empty map; nil if bucket lengths differ or there are too many buckets.
    ///
    /// - Parameter extent: the range of all times whose buckets will be looked up.
    init?(_ buckets: TimeBuckets, extent: TimeRange) {
        guard buckets.zone == nil, !extent.isEmpty else { return nil }
        let bounds = buckets.bounds(extent.lower)
        let first = bounds.start
        interval = buckets.interval
        lastStart = first
        // The first bucket of the representable range is shorter.
        guard bounds.end &- bounds.start == interval else { return nil }
        let (span, isOver) = (extent.upper - 1).subtractingReportingOverflow(first)
        guard !isOver, span / interval < BucketMap.countMax else { return nil }
        placeByNumber = Array(repeating: -1, count: Int(span / interval) + 1)
    }

    var sizeBytes: Int { placeByNumber.count * 4 }

    /// The most recent bucket.
    private var lastNumber = 0
    private var lastStart: Int64

    /// Returns the place of the bucket that starts at a time, assigning `next` to a new bucket.
    /// Returns nil for a start outside the map.
    mutating func place(_ start: Int64, next: Int) -> Int? {
        let (distance, isOver) = start.subtractingReportingOverflow(lastStart)
        guard !isOver else { return nil }
        // It is usually the next bucket, which needs no division.
        let number = lastNumber + (distance == interval ? 1 : Int(distance / interval))
        guard placeByNumber.indices.contains(number) else { return nil }
        (lastNumber, lastStart) = (number, start)
        if placeByNumber[number] >= 0 { return Int(placeByNumber[number]) }
        placeByNumber[number] = Int32(truncatingIfNeeded: next)
        return next
    }

    /// The places of the buckets with data, in bucket order.
    var places: [Int] {
        placeByNumber.compactMap { $0 >= 0 ? Int($0) : nil }
    }
}
