// The growing end of a segment file: appends blocks and gives their places.

/// Collects blocks into large writes.
struct SegmentOutput {
    let databaseID: UInt64
    let number: UInt64
    private(set) var offset = 0

    private let file: any File
    private var buffer: [UInt8] = []

    private static let bufferSizeBytes = 1 << 20

    init(_ file: any File, databaseID: UInt64, number: UInt64) {
        self.file = file
        self.databaseID = databaseID
        self.number = number
    }

    mutating func append(_ bytes: [UInt8]) throws(FileError) {
        buffer.append(contentsOf: bytes)
        offset += bytes.count
        if buffer.count >= SegmentOutput.bufferSizeBytes { try write() }
    }

    /// Appends a block; an empty one takes no place.
    mutating func append(block: [UInt8]) throws(FileError) -> BlockPlace {
        guard !block.isEmpty else { return BlockPlace() }
        let seed = SegmentFormat.seed(databaseID: databaseID, number: number, offset: offset)
        let place = BlockPlace(
            offset: offset, sizeBytes: block.count, checksum: checksum(block.span, seed: seed))
        try append(block)
        return place
    }

    /// Writes what is left and makes the file durable.
    mutating func finish() throws(FileError) {
        try write()
        try file.syncData()
    }

    private mutating func write() throws(FileError) {
        try file.writeAll(buffer.span, at: offset - buffer.count)
        buffer.removeAll(keepingCapacity: true)
    }
}
