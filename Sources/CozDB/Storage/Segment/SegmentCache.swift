// What was decoded of a segment. Directories stay while the segment is open. Decoded data is cached
// while there is room in a memory that all segments of the process share.

internal import Synchronization

/// The memory for decoded times and presence, shared by all segments of the process.
enum DecodedMemory {
    /// Enough for the times of four million rows.
    private static let sizeBytesMax = 32 << 20
    private static let used = Atomic<Int>(0)

    /// Reserves memory. Returns false if there is not enough.
    static func take(_ sizeBytes: Int) -> Bool {
        let before = used.add(sizeBytes, ordering: .relaxed).oldValue
        if before + sizeBytes <= sizeBytesMax { return true }
        give(sizeBytes)
        return false
    }

    static func give(_ sizeBytes: Int) {
        _ = used.subtract(sizeBytes, ordering: .relaxed)
    }
}

/// The cache of a segment reader. Safe from any thread.
final class SegmentCache: Sendable {
    /// What stays while the segment is open.
    struct Directories {
        var fields: [Int: BlockTable] = [:]
        var small: SmallDirectories?
        var times: BlockTable?
        var series: SeriesDirectory?
        var dictionaries: [Int: StringTable] = [:]
        var presence: [Int: PresenceVector] = [:]
        var seriesEntries: [SeriesEntry]?
    }

    /// What is evicted when the memory is full.
    struct DecodedData {
        var times: [Int: [Int64]] = [:]
        var presenceRows: [ChunkName: [UInt32]] = [:]
        /// The words of referenced blocks. A reader of several fields that refer to a block needs
        /// them for each.
        var repeatedWords: [BlockName: [UInt64]] = [:]
        /// The bucket boundaries of blocks.
        var bucketRuns: [BucketsName: BucketRuns] = [:]
        var sizeBytes = 0
    }

    private struct Contents {
        var directories = Directories()
        var data = DecodedData()
        /// For each field, the last decoded block among those with values of several series.
        var sharedBlocks: [Int: (block: Int, words: [UInt64])] = [:]

        mutating func evict() {
            DecodedMemory.give(data.sizeBytes)
            data = DecodedData()
        }
    }

    /// Key of the cached words of a block.
    struct BlockName: Hashable {
        var field: Int
        var block: Int
    }

    /// Key of the cached buckets of a block.
    struct BucketsName: Hashable {
        var field: Int
        var block: Int
        var buckets: FixedBuckets
    }

    /// Key of the cached rows of a chunk of a presence vector.
    struct ChunkName: Hashable {
        var group: Int
        var chunk: Int
    }

    private let contents = Monitor(Contents())

    init() {}

    /// A cache that starts with the block directories of another.
    convenience init(directoriesOf other: SegmentCache) {
        self.init()
        let known = other.contents.withLock { $0.directories }
        contents.withLock {
            $0.directories.fields = known.fields
            $0.directories.small = known.small
            $0.directories.times = known.times
            $0.directories.series = known.series
        }
    }

    deinit { DecodedMemory.give(contents.withLock { $0.data.sizeBytes }) }

    // MARK: Directories

    /// Calls the body with the directories, which it may read and change.
    func withDirectories<Result: Sendable>(_ body: (inout Directories) -> Result) -> Result {
        contents.withLock { body(&$0.directories) }
    }

    // MARK: Decoded data

    /// Calls the body with the decoded data. `keep` adds to it.
    func decoded<Result: Sendable>(_ body: (inout DecodedData) -> Result) -> Result {
        contents.withLock { body(&$0.data) }
    }

    /// The words of a block with values of several series, if it was decoded last: a reader of one
    /// series usually reads the next one soon.
    func sharedWords(ofField field: Int, block: Int) -> [UInt64]? {
        let known = contents.withLock { $0.sharedBlocks[field] }
        return known?.block == block ? known?.words : nil
    }

    func keepShared(_ words: [UInt64], ofField field: Int, block: Int) {
        contents.withLock { $0.sharedBlocks[field] = (block, words) }
    }

    /// Caches decoded data if there is room, if necessary after evicting all other decoded data of
    /// the segment.
    ///
    /// - Parameter change: inserts the data. Returns false if it was there: two threads may have
    ///   decoded the same.
    func keep(sizeBytes: Int, _ change: (inout DecodedData) -> Bool) {
        contents.withLock { contents in
            if !DecodedMemory.take(sizeBytes) {
                contents.evict()
                guard DecodedMemory.take(sizeBytes) else { return }
            }
            if change(&contents.data) {
                contents.data.sizeBytes += sizeBytes
            } else {
                DecodedMemory.give(sizeBytes)
            }
        }
    }

    /// Evicts all decoded data, for a single pass by ascending row.
    func evict() { contents.withLock { $0.evict() } }
}
