// Buckets of one length between two times, numbered: a bucket is found by its number, without
// looking for it and without hashing.

/// Where what is known of each bucket lies.
struct BucketNumbering {
    /// Buckets from which on numbers would take more than they save: a quarter of a mebibyte.
    private static let countMax = 1 << 16

    private let first: Int64
    private let interval: Int64
    /// -1 for a bucket that nothing is known of.
    private var placeByNumber: [Int32]

    /// Nil where buckets differ in length, or are too many.
    ///
    /// - Parameter extent: all times whose buckets will be asked for.
    init?(_ buckets: TimeBuckets, extent: TimeRange) {
        guard buckets.zone == nil, !extent.isEmpty else { return nil }
        let bounds = buckets.bounds(extent.lower)
        (first, interval) = (bounds.start, buckets.interval)
        // The very first bucket of all times is cut off.
        guard bounds.end &- bounds.start == interval else { return nil }
        let (span, isOver) = (extent.upper - 1).subtractingReportingOverflow(first)
        guard !isOver, span / interval < BucketNumbering.countMax else { return nil }
        placeByNumber = Array(repeating: -1, count: Int(span / interval) + 1)
    }

    var sizeBytes: Int { placeByNumber.count * 4 }

    /// The place of the bucket that begins at a time: `next` where it is new. Nil where it is none
    /// of the buckets.
    mutating func place(_ start: Int64, next: Int) -> Int? {
        let (distance, isOver) = start.subtractingReportingOverflow(first)
        guard !isOver, distance >= 0 else { return nil }
        let number = Int(distance / interval)
        guard number < placeByNumber.count else { return nil }
        if placeByNumber[number] >= 0 { return Int(placeByNumber[number]) }
        placeByNumber[number] = Int32(truncatingIfNeeded: next)
        return next
    }

    /// The places of the buckets that something is known of, in their order.
    var places: [Int] {
        placeByNumber.compactMap { $0 >= 0 ? Int($0) : nil }
    }
}
