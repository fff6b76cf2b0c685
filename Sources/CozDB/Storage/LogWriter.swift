// Appends frames to one write-ahead log file and makes them durable; docs/format/wal.md.
// Not thread-safe: the engine lets one thread at a time write.

/// The open end of the write-ahead log.
final class LogWriter {
    let identity: LogIdentity
    /// Bytes of the file that hold frames; what follows is reserved space.
    private(set) var sizeBytes: Int
    private(set) var durableSizeBytes: Int

    private let file: any File
    private var reservedSizeBytes: Int
    private var buffer = ByteWriter()

    /// Blocks that were written before are overwritten faster than fresh ones, so zeros go ahead.
    private static let reserveSizeBytes = 256 << 10

    /// Makes the file and its name durable.
    init(in directory: any Directory, identity: LogIdentity) throws(FileError) {
        self.identity = identity
        file = try directory.create(FileName.log(identity.number).text)
        let header = identity.header()
        try file.writeAll(header.span, at: 0)
        try file.syncData()
        try directory.sync()
        sizeBytes = header.count
        durableSizeBytes = header.count
        reservedSizeBytes = header.count
    }

    /// Writes one frame that holds these commits; durable only after `sync`.
    ///
    /// - Parameter payload: commit records, each after its size as a varint.
    func append(
        payload: [UInt8], commitCount: Int, firstSequence: UInt64
    ) throws(FileError) {
        buffer.removeAll()
        let header = FrameHeader(
            payloadSizeBytes: payload.count,
            payloadChecksum: checksum(
                payload.span, seed: LogFormat.seed(identity, offset: sizeBytes)),
            firstSequence: firstSequence, durableSizeBytes: durableSizeBytes,
            commitCount: commitCount)
        header.append(to: &buffer, log: identity, offset: sizeBytes)
        buffer.append(payload)
        let frameSize = LogFormat.frameSizeBytes(payload: payload.count)
        buffer.bytes.append(contentsOf: repeatElement(0, count: frameSize - buffer.count))
        if sizeBytes + frameSize > reservedSizeBytes {
            buffer.bytes.append(contentsOf: repeatElement(0, count: LogWriter.reserveSizeBytes))
            reservedSizeBytes = sizeBytes + buffer.count
            try file.allocate(size: reservedSizeBytes)
        }
        let bytes = buffer.bytes
        try file.writeAll(bytes.span, at: sizeBytes)
        sizeBytes += frameSize
    }

    func sync() throws(FileError) {
        try file.syncData()
        durableSizeBytes = sizeBytes
    }
}
