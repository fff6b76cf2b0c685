// Appends frames to one write-ahead log file and makes them durable; docs/format/wal.md. It is not
// thread-safe: only the leader writes.

/// The log that commits are appended to.
final class LogWriter {
    let identity: LogIdentity
    /// Bytes that hold frames. Reserved space follows.
    private(set) var sizeBytes: Int
    private(set) var durableSizeBytes: Int
    /// The checksum over the durable frames; see `LogFormat.chained`.
    private(set) var durableChecksum: UInt32 = 0
    private var writtenChecksum: UInt32 = 0

    private let file: any File
    private let reserve: LogReserve
    private var buffer = ByteWriter()
    private var packed = ByteWriter()

    /// Creates the file and makes it and its name durable.
    ///
    /// - Parameter background: runs the writing of reserved space, at once, later or never.
    init(
        in directory: any Directory, identity: LogIdentity,
        background: @escaping LogReserve.Background
    ) throws(FileError) {
        self.identity = identity
        let name = FileName.log(identity.number).text
        file = try directory.create(name)
        var start = ByteWriter(capacity: LogReserve.firstSizeBytes)
        start.append(identity.header())
        sizeBytes = start.count
        durableSizeBytes = start.count
        start.appendZeros(LogReserve.firstSizeBytes - start.count)
        try file.writeAll(start.bytes.span, at: 0)
        try file.syncData()
        try directory.sync()
        reserve = LogReserve(file, background: background)
    }

    /// Writes one frame with these commits. It is durable only after `sync`.
    func append(_ records: [[UInt8]], firstSequence: UInt64) throws(FileError) {
        // Moved out of self to reuse its memory without a copy.
        var frame = ByteWriter()
        swap(&frame, &buffer)
        defer { swap(&frame, &buffer) }
        frame.removeAll()
        frame.appendZeros(LogFormat.frameHeaderSizeBytes)
        for record in records { frame.appendBlob(record) }
        let isCompressed = compress(&frame)
        let header = FrameHeader(
            payloadSizeBytes: frame.count - LogFormat.frameHeaderSizeBytes,
            payloadChecksum: checksum(
                frame.bytes.span.extracting(LogFormat.frameHeaderSizeBytes...),
                seed: LogFormat.seed(identity, offset: sizeBytes)),
            firstSequence: firstSequence, durableSizeBytes: durableSizeBytes,
            commitCount: records.count, isCompressed: isCompressed)
        var start = ByteWriter(capacity: LogFormat.frameHeaderSizeBytes)
        header.append(to: &start, log: identity, offset: sizeBytes)
        frame.bytes.replaceSubrange(0..<start.count, with: start.bytes)
        let size = LogFormat.frameSizeBytes(payload: header.payloadSizeBytes)
        frame.appendZeros(size - frame.count)
        reserve.take(sizeBytes..<(sizeBytes + size))
        try file.writeAll(frame.bytes.span, at: sizeBytes)
        sizeBytes += size
        writtenChecksum = LogFormat.chained(writtenChecksum, header.payloadChecksum)
    }

    /// Compresses the payload of a frame if that saves an eighth.
    ///
    /// - Returns: whether the frame was compressed.
    private func compress(_ frame: inout ByteWriter) -> Bool {
        let size = frame.count - LogFormat.frameHeaderSizeBytes
        guard size >= LogFormat.compressedSizeBytesMin else { return false }
        packed.removeAll()
        packed.appendZeros(LogFormat.frameHeaderSizeBytes)
        packed.appendVarint(size)
        let bytes = frame.bytes
        guard
            LZ4.compress(
                bytes.span.extracting(LogFormat.frameHeaderSizeBytes...),
                sizeMax: size - size / 8, into: &packed)
        else { return false }
        swap(&frame, &packed)
        return true
    }

    func sync() throws(FileError) {
        try file.syncData()
        durableSizeBytes = sizeBytes
        durableChecksum = writtenChecksum
    }
}
