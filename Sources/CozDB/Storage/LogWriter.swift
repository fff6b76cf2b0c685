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
    private static let reserve = [UInt8](repeating: 0, count: 256 << 10)

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
        let header = FrameHeader(
            payloadSizeBytes: payload.count,
            payloadChecksum: checksum(
                payload.span, seed: LogFormat.seed(identity, offset: sizeBytes)),
            firstSequence: firstSequence, durableSizeBytes: durableSizeBytes,
            commitCount: commitCount)
        // Taken out of self, so that its memory is used again and never copied.
        var frame = ByteWriter()
        swap(&frame, &buffer)
        defer { swap(&frame, &buffer) }
        frame.removeAll()
        header.append(to: &frame, log: identity, offset: sizeBytes)
        frame.append(payload)
        let frameSize = LogFormat.frameSizeBytes(payload: payload.count)
        frame.appendZeros(frameSize - frame.count)
        if sizeBytes + frameSize > reservedSizeBytes {
            frame.append(LogWriter.reserve)
            try file.allocate(size: sizeBytes + frame.count)
            reservedSizeBytes = sizeBytes + frame.count
        }
        try file.writeAll(frame.bytes.span, at: sizeBytes)
        sizeBytes += frameSize
    }

    func sync() throws(FileError) {
        try file.syncData()
        durableSizeBytes = sizeBytes
    }
}
