// Limits the rows that are decoded together by the size of their strings, so that memory does not
// grow with the length of strings. Only blocks that store their strings themselves count: a
// dictionary is small (docs/format/segment.md).

/// The sizes of the strings in a range of rows of one segment.
struct StringSizes {
    /// The approximate size of the strings of a batch of rows.
    static let batchSizeBytesMax = 8 << 20

    /// A block that holds its strings.
    struct Block {
        /// Its first row in the range; a merge replaces it by the time of the row.
        var place: Int64
        let sizeBytes: Int
        /// Whether it begins before the range.
        let isOpen: Bool
    }

    let rows: Range<Int>
    let sizeBytesMax: Int
    var blocks: [Block] = []
    /// The end of the rows whose blocks are known.
    var knownEnd = Int.max

    /// The end of the first rows whose strings do not exceed the limit. At least one row.
    func end() -> Int {
        let cut = StringSizes.cut(blocks, after: Int64(rows.lowerBound), sizeBytesMax)
        return min(cut.map { Int($0) } ?? rows.upperBound, knownEnd, rows.upperBound)
    }

    /// The first place where the strings exceed a limit; nil if they do not. Open blocks are
    /// decoded again for each batch, so a batch does not end before others have as many bytes.
    static func cut(_ blocks: [Block], after first: Int64, _ sizeBytesMax: Int) -> Int64? {
        var (total, open) = (0, 0)
        for block in blocks.sorted(by: { $0.place < $1.place }) {
            total += block.sizeBytes
            if block.isOpen { open += block.sizeBytes }
            if total > max(sizeBytesMax, 2 * open), block.place > first { return block.place }
        }
        return nil
    }
}
