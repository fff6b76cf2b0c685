// The growing end of a segment file: encodes and appends blocks and gives their places.

/// Collects blocks into large writes; the memory that encoding takes is used again.
struct SegmentOutput {
    let databaseID: UInt64
    let number: UInt64
    private(set) var offset = 0

    private let file: any File
    private var buffer: [UInt8] = []
    private var encoder = BlockEncoder()
    private var block = ByteWriter()

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

    /// Encodes values as one block.
    mutating func append(
        words: [UInt64], type: FieldType
    ) throws(FileError) -> (place: BlockPlace, encoding: UInt8) {
        block.removeAll()
        let encoding = encoder.encode(words.span, type: type, into: &block)
        return (try append(block: block.bytes), encoding.rawValue)
    }

    /// Encodes values that may repeat what stands elsewhere as one block.
    mutating func append(
        words: [UInt64], type: FieldType, repeating sources: BlockReferences
    ) throws(FileError) -> (place: BlockPlace, encoding: UInt8) {
        block.removeAll()
        let encoding = encoder.encode(words.span, type: type, repeating: sources, into: &block)
        return (try append(block: block.bytes), encoding.rawValue)
    }

    /// Encodes words of times, and numbers of strings with those strings, as one block.
    mutating func append(
        words: [UInt64], heap: [UInt8], ends: [Int]
    ) throws(FileError) -> BlockPlace {
        var encoded = ByteWriter()
        let encoding = encoder.encode(words.span, type: .integer, into: &encoded)
        block.removeAll()
        block.append(encoding.rawValue)
        block.appendBlob(encoded.bytes)
        block.appendVarint(ends.count)
        encodeStrings(heap: heap.span, ends: ends, into: &block)
        return try append(block: block.bytes)
    }

    /// Encodes strings as one block.
    mutating func append(heap: [UInt8], ends: [Int]) throws(FileError) -> BlockPlace {
        block.removeAll()
        encodeStrings(heap: heap.span, ends: ends, into: &block)
        return try append(block: block.bytes)
    }

    /// Encodes a directory as one block.
    mutating func append(table: IntegerTable) throws(FileError) -> BlockPlace {
        block.removeAll()
        table.encode(with: &encoder, into: &block)
        return try append(block: block.bytes)
    }

    /// Encodes a directory with its size, and strings behind it, as one block.
    mutating func append(
        table: IntegerTable, heap: [UInt8], ends: [Int]
    ) throws(FileError) -> BlockPlace {
        var encoded = ByteWriter()
        table.encode(with: &encoder, into: &encoded)
        block.removeAll()
        block.appendBlob(encoded.bytes)
        encodeStrings(heap: heap.span, ends: ends, into: &block)
        return try append(block: block.bytes)
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
