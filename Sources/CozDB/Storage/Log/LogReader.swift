// Reads a write-ahead log: whole frames up to a clean end, a torn tail or damage.
// docs/format/wal.md says how the three are told apart.

/// Reads the commits of one log file in order.
struct LogReader {
    private typealias Frame = (header: FrameHeader, payload: [UInt8])

    let identity: LogIdentity
    /// Size of the torn tail; 0 if only reserved zeros follow. It is a frame whose write was
    /// interrupted, and no commit in it was acknowledged with full durability.
    private(set) var tornBytes = 0
    /// Where the last whole frame ends.
    private(set) var validSizeBytes: Int
    /// The first frame padding that is not zero; nil if all are.
    private(set) var strayOffset: Int?

    private let file: any File
    private let sizeBytes: Int
    private let isSealed: Bool
    /// The acknowledged part of this log; nil if it is not known.
    private let acknowledged: AcknowledgedState?
    /// The checksum up to `validSizeBytes`, and the one up to the acknowledged size.
    private var readChecksum: UInt32 = 0
    private var acknowledgedChecksum: UInt32?
    private var nextSequence: UInt64
    private var window: [UInt8] = []
    private var windowOffset = 0

    private static let windowSizeBytes = 1 << 20
    private static let zeros = [UInt8](repeating: 0, count: 1024)

    /// - Parameters:
    ///   - sealedSizeBytes: the size of a complete log, from the manifest.
    ///   - acknowledged: the last acknowledged state; nil skips the comparison.
    /// - Throws: `damaged` if the header or the sealed size does not match.
    init(
        _ file: any File, expecting expected: LogIdentity, sealedSizeBytes: Int?,
        acknowledged: AcknowledgedState? = nil
    ) throws(DatabaseError) {
        self.acknowledged = acknowledged?.logNumber == expected.number ? acknowledged : nil
        self.file = file
        isSealed = sealedSizeBytes != nil
        let (size, header) = try calling("reading the write-ahead log") { () throws(FileError) in
            (try file.size(), try file.readAll(count: LogFormat.headerSizeBytes, at: 0))
        }
        sizeBytes = min(size, sealedSizeBytes ?? size)
        window = header
        identity = try namingFile(file.path) { () throws(FormatError) in
            try LogIdentity.read(header: header)
        }
        guard identity == expected else {
            throw DatabaseError(
                .damaged,
                "this log belongs to another database or was replaced by another file; "
                    + "expected number \(expected.number), sequence \(expected.firstSequence)",
                file: file.path, offset: 16)
        }
        nextSequence = identity.firstSequence
        validSizeBytes = LogFormat.headerSizeBytes
        if let sealedSizeBytes, sizeBytes < sealedSizeBytes {
            throw DatabaseError(
                .damaged,
                "the log has \(sizeBytes) bytes, expected \(sealedSizeBytes); the commits after "
                    + "this offset are lost", file: file.path, offset: sizeBytes)
        }
    }

    /// The commits of the next frame and the sequence of the first; nil at the end.
    mutating func next() throws(DatabaseError) -> (firstSequence: UInt64, commits: [[UInt8]])? {
        let offset = validSizeBytes
        guard offset < sizeBytes else { return nil }
        var (found, fault) = try content(at: offset)
        if found == nil, let later = try classifyEnd(at: offset, because: fault) {
            // A writer may have added both frames while this reader was between them. A sync
            // covered the first before the later one was written, so what is read now counts.
            window = []
            (found, fault) = try content(at: offset)
            if found == nil {
                let reason = fault.map { " (\($0.message))" } ?? ""
                let last = later.header.firstSequence &- 1
                throw DatabaseError(
                    .damaged,
                    "this frame is damaged\(reason), and intact ones follow at offset "
                        + "\(later.offset); commits \(nextSequence) to \(last) cannot be read",
                    file: file.path, offset: offset)
            }
        }
        guard let (frame, commits) = found else { return nil }
        validSizeBytes += LogFormat.frameSizeBytes(payload: frame.header.payloadSizeBytes)
        let payloadEnd = offset + LogFormat.frameHeaderSizeBytes + frame.payload.count
        if strayOffset == nil, payloadEnd < validSizeBytes {
            try load(payloadEnd, count: validSizeBytes - payloadEnd)
            let padding = bytes(at: payloadEnd, count: validSizeBytes - payloadEnd)
            if padding.contains(where: { $0 != 0 }) { strayOffset = payloadEnd }
        }
        nextSequence &+= UInt64(frame.header.commitCount)
        readChecksum = LogFormat.chained(readChecksum, frame.header.payloadChecksum)
        if let acknowledged, acknowledged.logSizeBytes == UInt64(validSizeBytes) {
            acknowledgedChecksum = readChecksum
        }
        return (frame.header.firstSequence, commits)
    }

    /// Checks that the log has everything that was acknowledged. Call it after the last frame.
    ///
    /// - Throws: `damaged` if the log is shorter or has other content.
    func checkReach() throws(DatabaseError) {
        guard let acknowledged else { return }
        if UInt64(validSizeBytes) < acknowledged.logSizeBytes {
            throw DatabaseError(
                .damaged,
                "the log ends here, but \(acknowledged.logSizeBytes) bytes of it were "
                    + "acknowledged; commits from sequence \(nextSequence) on are lost",
                file: file.path, offset: validSizeBytes)
        }
        guard acknowledged.logChecksum != 0, acknowledgedChecksum != acknowledged.logChecksum else {
            return
        }
        throw DatabaseError(
            .damaged,
            "the first \(acknowledged.logSizeBytes) bytes differ from the acknowledged ones: the "
                + "log or LOCK was replaced", file: file.path,
            offset: LogFormat.headerSizeBytes)
    }

    /// The next frame and its commits; nil, and what is wrong with a frame whose checksum is right,
    /// if there is no good one here.
    private mutating func content(
        at offset: Int
    ) throws(DatabaseError) -> (found: (frame: Frame, commits: [[UInt8]])?, fault: FormatError?) {
        guard let frame = try frame(at: offset), frame.header.firstSequence == nextSequence else {
            return (nil, nil)
        }
        do throws(FormatError) {
            let payload = try LogReader.expanded(frame.payload, frame.header)
            let commits = try LogReader.split(payload, count: frame.header.commitCount)
            return ((frame, commits), nil)
        } catch {
            return (nil, error)
        }
    }

    /// Decides whether an offset without a good frame is the end, a torn tail or damage.
    ///
    /// - Parameter fault: what is wrong with a frame whose checksum is right.
    /// - Returns: the later frame that was written when this offset was durable; nil for an end.
    /// - Throws: `damaged` if the log is sealed.
    private mutating func classifyEnd(
        at offset: Int, because fault: FormatError?
    ) throws(DatabaseError) -> (offset: Int, header: FrameHeader)? {
        if isSealed {
            let text = fault.map { "is damaged (\($0.message))" } ?? "does not match its checksum"
            throw DatabaseError(
                .damaged,
                "this frame \(text); commits from sequence \(nextSequence) on "
                    + "cannot be read", file: file.path, offset: offset)
        }
        var hasBytes = false
        var next = offset
        while next < sizeBytes {
            if try isZero(at: next) {
                next += LogReader.zeros.count
                continue
            }
            try load(next, count: LogFormat.frameHeaderSizeBytes)
            let header = bytes(at: next, count: LogFormat.frameHeaderSizeBytes)
            hasBytes = hasBytes || header.contains { $0 != 0 }
            if header.contains(where: { $0 != 0 }), let frame = try frame(at: next),
                frame.header.durableSizeBytes > offset
            {
                return (next, frame.header)
            }
            next += LogFormat.alignment
        }
        tornBytes = hasBytes ? sizeBytes - offset : 0
        return nil
    }

    /// Whether only zeros follow here. No frame begins in them, since a frame begins with a size
    /// that is not 0.
    private mutating func isZero(at offset: Int) throws(DatabaseError) -> Bool {
        let count = LogReader.zeros.count
        guard offset + count <= sizeBytes else { return false }
        try load(offset, count: count)
        let start = offset - windowOffset
        guard start + count <= window.count else { return false }
        let window = window
        return window.span.extracting(start..<(start + count)).equals(LogReader.zeros.span)
    }

    private mutating func frame(at offset: Int) throws(DatabaseError) -> Frame? {
        try load(offset, count: LogFormat.frameHeaderSizeBytes)
        let headerBytes = bytes(at: offset, count: LogFormat.frameHeaderSizeBytes)
        guard
            let header = FrameHeader.read(
                Array(headerBytes).span, log: identity, offset: offset),
            offset + LogFormat.frameHeaderSizeBytes + header.payloadSizeBytes <= sizeBytes
        else { return nil }
        let payloadOffset = offset + LogFormat.frameHeaderSizeBytes
        try load(payloadOffset, count: header.payloadSizeBytes)
        let payload = Array(bytes(at: payloadOffset, count: header.payloadSizeBytes))
        let sum = checksum(payload.span, seed: LogFormat.seed(identity, offset: offset))
        guard sum == header.payloadChecksum else { return nil }
        return (header, payload)
    }

    /// The payload before compression.
    static func expanded(
        _ payload: [UInt8], _ header: FrameHeader
    ) throws(FormatError) -> [UInt8] {
        guard header.isCompressed else { return payload }
        let limit = LogFormat.payloadSizeBytesMax
        var reader = ByteReader(payload.span)
        var bytes: [UInt8] = []
        let size = try reader.readCount(limit: limit)
        let block = try reader.readBytes(reader.remaining)
        try LZ4.decompress(block, size: size, limit: limit, appendTo: &bytes)
        return bytes
    }

    /// The commits of a payload. Their number must be that of the frame header.
    static func split(_ payload: [UInt8], count: Int) throws(FormatError) -> [[UInt8]] {
        guard count <= LogFormat.groupCountMax else {
            throw FormatError(
                .invalid,
                "found \(count) commits, expected at most \(LogFormat.groupCountMax)", at: 0)
        }
        var reader = ByteReader(payload.span)
        var commits: [[UInt8]] = []
        while !reader.isAtEnd, commits.count < count {
            commits.append([UInt8](copying: try reader.readBlob(limit: payload.count)))
        }
        guard reader.isAtEnd, commits.count == count else {
            let found = reader.isAtEnd ? "\(commits.count)" : "more"
            throw FormatError(
                .invalid, "found \(found) commits, expected \(count)", at: reader.offset)
        }
        return commits
    }

    /// Loads bytes into the window, as far as the file has them.
    private mutating func load(_ offset: Int, count: Int) throws(DatabaseError) {
        guard offset < windowOffset || offset + count > windowOffset + window.count else { return }
        let wanted = min(max(count, LogReader.windowSizeBytes), sizeBytes - offset)
        do throws(FileError) {
            window = try file.readAll(count: wanted, at: offset)
            windowOffset = offset
        } catch {
            // The unreadable bytes may lie beyond those that are needed.
            let least = min(count, sizeBytes - offset)
            if error.isReadFailure, least < wanted,
                let bytes = try? file.readAll(count: least, at: offset)
            {
                (window, windowOffset) = (bytes, offset)
                return
            }
            var failure = DatabaseError(error, while: "reading the write-ahead log")
            failure.offset = offset
            throw failure
        }
    }

    private func bytes(at offset: Int, count: Int) -> ArraySlice<UInt8> {
        let start = offset - windowOffset
        return window[start..<min(start + count, window.count)]
    }
}

extension DatabaseError {
    /// An error for invalid bytes in a named file.
    init(_ error: FormatError, file: String, at base: Int = 0) {
        self.init(
            error.kind == .unsupported ? .unsupportedFormat : .damaged, error.message,
            file: file, offset: base + error.offset)
    }
}
