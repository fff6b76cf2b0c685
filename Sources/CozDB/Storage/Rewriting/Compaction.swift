// Chooses segments to merge: a pure function of their sizes. Only neighbours in age are merged, so
// that "later wins" stays a matter of order.

enum Compaction {
    /// How much larger than the others a segment may be and still be merged with them.
    static let sizeRatio = 4
    /// The same when no more data comes. With 2, thousands of sessions of one size leave at most
    /// ten segments and rewrite each value nine times; with 4, seven segments and thirteen times.
    static let restSizeRatio = 2
    /// With more segments than this, they are merged whatever a merge of so many costs.
    static let segmentCountMax = 64

    /// While data comes: the newest segments of one size, once there are enough of them. Each value
    /// is rewritten once per `countMin`-fold growth of the database, and of each size there are
    /// fewer segments than that.
    ///
    /// - Parameters:
    ///   - sizes: bytes of each segment of one experiment, oldest first.
    ///   - countMin: fewer segments than this are left alone.
    static func chooseTier(_ sizes: [Int], countMin: Int) -> Range<Int>? {
        if sizes.count > segmentCountMax { return chooseAll(sizes) }
        guard var total = sizes.last else { return nil }
        var start = sizes.count - 1
        while start > 0, sizes[start - 1] <= sizeRatio * (total / (sizes.count - start)) {
            start -= 1
            total += sizes[start]
        }
        return sizes.count - start >= max(2, countMin) ? start..<sizes.count : nil
    }

    /// When no more data comes: all segments but those that are much larger than everything newer;
    /// each value is then rewritten about once per tripling of the database. The smallest ones
    /// at the end keep nothing older from being merged.
    ///
    /// - Parameter firstHasty: the oldest segment with the encodings of a flush amid writing. It
    ///   and all newer ones are written again, whatever their sizes.
    static func chooseAll(_ sizes: [Int], firstHasty: Int? = nil) -> Range<Int>? {
        for end in sizes.indices.reversed() {
            var start = end
            var total = sizes[end]
            while start > 0, sizes[start - 1] <= restSizeRatio * total {
                start -= 1
                total += sizes[start]
            }
            if let firstHasty { return min(start, firstHasty)..<sizes.count }
            if start < end { return start..<sizes.count }
        }
        return nil
    }
}
