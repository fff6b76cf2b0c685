// Chooses segments to merge: a pure function of their sizes.

enum Compaction {
    /// How much larger than everything newer a segment may be and still be merged with it: each
    /// value is then rewritten about once per quadrupling of the database.
    static let sizeRatio = 4

    /// The newest segments of similar size, when there are enough of them.
    ///
    /// - Parameters:
    ///   - sizes: bytes of each segment of one experiment, oldest first.
    ///   - countMin: fewer segments than this are left alone.
    static func choose(_ sizes: [Int], countMin: Int) -> Range<Int>? {
        guard var total = sizes.last else { return nil }
        var start = sizes.count - 1
        while start > 0, sizes[start - 1] <= sizeRatio * total {
            start -= 1
            total += sizes[start]
        }
        return sizes.count - start >= max(2, countMin) ? start..<sizes.count : nil
    }
}
