// The output of a segment file: encodes and appends blocks and returns their handles.

/// Collects blocks into large writes and reuses the encoder's memory.
struct SegmentOutput {
    let databaseID: UInt64
    let number: UInt64
    private(set) var offset = 0

    /// nil for a staging output, whose blocks are copied into another one.
    private let file: (any File)?
    private var buffer: [UInt8] = []
    private let encoder: BlockEncoder
    private var block = ByteWriter()

    private static let bufferSizeBytes = 1 << 20

    init(
        _ file: any File, databaseID: UInt64, number: UInt64, effort: EncodingEffort = .thorough
    ) {
        self.file = file
        encoder = BlockEncoder(effort: effort)
        self.databaseID = databaseID
        self.number = number
    }

    /// Creates a staging output. Its handles count from 0 and have no checksums.
    init(encoder: BlockEncoder) {
        (databaseID, number, file) = (0, 0, nil)
        self.encoder = encoder
    }

    mutating func append(_ bytes: [UInt8]) throws(DatabaseError) {
        buffer.append(contentsOf: bytes)
        offset += bytes.count
        if buffer.count >= SegmentOutput.bufferSizeBytes { try write() }
    }

    /// Appends the blocks of a staging output.
    ///
    /// - Returns: a function from a staged handle to the final one.
    mutating func append(
        _ staged: SegmentOutput
    ) throws(DatabaseError) -> (BlockHandle) -> BlockHandle {
        let base = offset
        let bytes = staged.buffer
        let (databaseID, number) = (databaseID, number)
        try append(bytes)
        return { handle in
            if handle.sizeBytes == 0 { return BlockHandle() }
            let range = handle.offset..<(handle.offset + handle.sizeBytes)
            let offset = base + handle.offset
            let seed = SegmentFormat.seed(databaseID: databaseID, number: number, offset: offset)
            return BlockHandle(
                offset: offset, sizeBytes: handle.sizeBytes,
                checksum: checksum(bytes.span.extracting(range), seed: seed))
        }
    }

    /// Appends a block. An empty block has the handle 0, 0, 0.
    mutating func append(block: [UInt8]) throws(DatabaseError) -> BlockHandle {
        guard !block.isEmpty else { return BlockHandle() }
        var handle = BlockHandle(offset: offset, sizeBytes: block.count)
        if file != nil {
            let seed = SegmentFormat.seed(databaseID: databaseID, number: number, offset: offset)
            handle.checksum = checksum(block.span, seed: seed)
        }
        try append(block)
        return handle
    }

    /// Appends a block that the body encodes.
    mutating func append(
        _ body: (BlockEncoder, inout ByteWriter) -> Void
    ) throws(DatabaseError) -> BlockHandle {
        block.removeAll()
        body(encoder, &block)
        return try append(block: block.bytes)
    }

    /// Encodes values, which may refer to other blocks, as one block.
    mutating func append(
        words: [UInt64], type: FieldType, repeating sources: BlockReferences = BlockReferences()
    ) throws(DatabaseError) -> (handle: BlockHandle, encoding: UInt8) {
        block.removeAll()
        let encoding = encoder.encode(words.span, type: type, repeating: sources, into: &block)
        return (try append(block: block.bytes), encoding.rawValue)
    }

    /// Encodes words of times and codes, followed by the strings of the codes, as one block.
    mutating func append(
        words: [UInt64], heap: [UInt8], ends: [Int]
    ) throws(DatabaseError) -> BlockHandle {
        try append { encoder, block in
            MixedStringBlock.append(
                words: words, heap: heap, ends: ends, with: encoder, into: &block)
        }
    }

    /// Encodes a directory with its size, followed by strings, as one block.
    mutating func append(
        table: IntegerTable, heap: [UInt8], ends: [Int]
    ) throws(DatabaseError) -> BlockHandle {
        try append { encoder, block in
            var encoded = ByteWriter()
            table.encode(with: encoder, into: &encoded)
            block.appendBlob(encoded.bytes)
            encodeStrings(heap: heap.span, ends: ends, into: &block)
        }
    }

    /// Writes the buffered bytes and makes the file durable.
    mutating func finish() throws(DatabaseError) {
        try write()
        try calling("writing a segment") { () throws(FileError) in try file?.syncData() }
    }

    private mutating func write() throws(DatabaseError) {
        guard let file else { return }
        try calling("writing a segment") { () throws(FileError) in
            try file.writeAll(buffer.span, at: offset - buffer.count)
        }
        buffer.removeAll(keepingCapacity: true)
    }
}
