// Chooses segments to merge, as a pure function of their sizes. Merges only neighbors in age, so
// that the newest value wins by the order of the segments.

enum Compaction {
    /// The most that a segment may be larger than the others to be merged with them.
    static let sizeRatio = 4
    /// The same when no more data comes. With 2, thousands of sessions of one size leave at most
    /// ten segments and rewrite each value nine times; with 4, seven segments and thirteen times.
    static let restSizeRatio = 2
    /// With more segments than this, they are merged as if no more data came.
    static let segmentCountMax = 64

    /// While data comes: the newest segments of similar size, once there are enough. Each value is
    /// rewritten once per `countMin`-fold growth of the database, and fewer than `countMin`
    /// segments of each size remain.
    ///
    /// - Parameters:
    ///   - sizes: bytes of each segment of one experiment, oldest first.
    ///   - countMin: the fewest segments to merge.
    static func chooseTier(_ sizes: [Int], countMin: Int) -> Range<Int>? {
        if sizes.count > segmentCountMax { return chooseAtRest(sizes) }
        guard var total = sizes.last else { return nil }
        var start = sizes.count - 1
        while start > 0, sizes[start - 1] <= sizeRatio * (total / (sizes.count - start)) {
            start -= 1
            total += sizes[start]
        }
        return sizes.count - start >= max(2, countMin) ? start..<sizes.count : nil
    }

    /// When no more data comes: all segments except those that are much larger than everything
    /// newer. Each value is rewritten about once per tripling of the database. Small segments at
    /// the end do not keep older ones from being merged.
    ///
    /// - Parameter firstQuick: the oldest segment with quick encodings.
    ///   It and all newer segments are rewritten, whatever their sizes.
    static func chooseAtRest(_ sizes: [Int], firstQuick: Int? = nil) -> Range<Int>? {
        for end in sizes.indices.reversed() {
            var start = end
            var total = sizes[end]
            while start > 0, sizes[start - 1] <= restSizeRatio * total {
                start -= 1
                total += sizes[start]
            }
            if let firstQuick { return min(start, firstQuick)..<sizes.count }
            if start < end { return start..<sizes.count }
        }
        return nil
    }
}
