// What reading came to, counted by the cursors once per block, never per value.

/// What the cursors of one query, or of one item of its FROM, have done. A class, so that every
/// cursor adds to the same; one thread at a time.
///
/// A block is a run of values of one column as a segment stores it. What a memtable has of a
/// column of a series counts as one block.
final class ReadCounts {
    /// Rows, or values of single columns, handed over.
    var rows = 0
    /// Bytes of them, uncompressed.
    var bytes = 0
    /// Blocks of the columns and series asked for that reach into the range of time.
    var blocksInRange = 0
    /// Blocks of them that lie outside of it.
    var blocksOutOfRange = 0
    /// Blocks in range left alone because no row in them can be wanted.
    var blocksExcluded = 0
    /// Blocks in range answered from their statistics.
    var blocksSummarized = 0
    /// Blocks decoded.
    var blocksDecoded = 0
    /// Bytes of those as they are stored.
    var storedBytes = 0

    /// Adds what another one counted.
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
