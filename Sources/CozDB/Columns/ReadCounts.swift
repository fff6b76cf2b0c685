// Read statistics, updated by cursors once per block, never per value.

/// Read statistics of the cursors of one query, or of one item of its FROM clause. A class, so that
/// cursors share it. Not thread-safe.
///
/// A block is a run of values of one column as stored in a segment. The values of a series' column
/// in a memtable count as one block.
final class ReadCounts {
    /// Rows, or values of single columns, returned.
    var rows = 0
    /// Uncompressed size of the returned data in bytes.
    var bytes = 0
    /// Blocks of the requested columns and series that overlap the time range.
    var blocksInRange = 0
    /// Blocks of them outside the time range.
    var blocksOutOfRange = 0
    /// Blocks in range that were skipped because no row in them can match.
    var blocksExcluded = 0
    /// Blocks in range that were answered from statistics.
    var blocksSummarized = 0
    /// Blocks that were decoded.
    var blocksDecoded = 0
    /// Stored size of the decoded blocks in bytes.
    var storedBytes = 0

    func add(_ other: ReadCounts) {
        rows += other.rows
        bytes += other.bytes
        blocksInRange += other.blocksInRange
        blocksOutOfRange += other.blocksOutOfRange
        blocksExcluded += other.blocksExcluded
        blocksSummarized += other.blocksSummarized
        blocksDecoded += other.blocksDecoded
        storedBytes += other.storedBytes
    }
}
