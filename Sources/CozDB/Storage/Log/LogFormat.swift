// Layout of the write-ahead log; docs/format/wal.md.
//
//     file    header (40 bytes), then frames, then zeros (space written ahead)
//
//     header   0  magic "COZWAL\r\n"
//              8  version, 4 bytes
//             12  checksum of the other fields, 4 bytes
//             16  database id, 8 bytes
//             24  file number, 8 bytes
//             32  sequence of the first commit that can follow, 8 bytes
//
//     frame    0  size of the payload, 4 bytes, not 0
//              4  checksum of the payload, 4 bytes
//              8  sequence of the first commit in it, 8 bytes
//             16  bytes of this file that were durable when the frame was written, 8 bytes
//             24  checksum of bytes 0 to 23, 4 bytes, seeded with database, file number, offset
//                 of the frame and the field at 28
//             28  commits in it, 4 bytes; the highest bit is set if the payload is compressed
//             32  payload: each commit as a varint size and a commit record; then zeros to 8 bytes
//
// A frame is a group of commits, made durable by one write and one sync. The durable size tells
// damage from a torn tail. A bad frame below the durable size of a later good frame was synced, so
// it is damage. Any other bad frame was never acknowledged with full durability.

enum LogFormat {
    static let magic: [UInt8] = Array("COZWAL\r\n".utf8)
    static let version: UInt32 = 1
    static let headerSizeBytes = 40
    static let frameHeaderSizeBytes = 32
    /// Largest payload that a reader accepts; `batchSizeBytesMax` stays below it.
    static let payloadSizeBytesMax = 1 << 30
    /// Largest commit. With its size in front it fits into a payload.
    static let commitSizeBytesMax = payloadSizeBytesMax - 16
    /// Commits share a frame up to this size.
    static let groupSizeBytesMax = 64 << 20
    /// Most commits in a frame; more than the number of threads that can wait.
    static let groupCountMax = 1 << 16
    /// Most journal entries in one commit.
    static let journalCountMax = 1 << 22
    static let alignment = 8
    /// Smallest payload that is compressed, if that saves an eighth. Smaller ones often fit into
    /// one page of the file either way.
    static let compressedSizeBytesMin = 16 << 10
    /// The flag of a compressed payload in the word with the number of commits.
    static let compressedFlag: UInt32 = 1 << 31

    /// Size of a frame on disk, including the padding.
    static func frameSizeBytes(payload: Int) -> Int {
        (frameHeaderSizeBytes + payload + alignment - 1) / alignment * alignment
    }

    static func seed(_ log: LogIdentity, offset: Int) -> UInt32 {
        positionSeed(file: log.databaseID ^ log.number, offset: UInt64(offset))
    }

    /// The running checksum over the frames of a log, continued with the payload checksum of the
    /// next frame. It starts at 0. Logs with the same checksum have the same commits.
    static func chained(_ checksum: UInt32, _ payloadChecksum: UInt32) -> UInt32 {
        var bytes = ByteWriter(capacity: 4)
        bytes.append(payloadChecksum)
        return CozDB.checksum(bytes.bytes.span, seed: checksum)
    }
}

/// The identity of one log file, which its frames depend on.
struct LogIdentity: Equatable, Sendable {
    var databaseID: UInt64
    var number: UInt64
    /// Sequence of the first commit that the file can hold.
    var firstSequence: UInt64

    func header() -> [UInt8] {
        var fields = ByteWriter()
        fields.append(databaseID)
        fields.append(number)
        fields.append(firstSequence)
        var writer = ByteWriter(capacity: LogFormat.headerSizeBytes)
        writer.append(LogFormat.magic)
        writer.append(LogFormat.version)
        writer.append(checksum(fields.bytes.span, seed: LogFormat.version))
        writer.append(fields.bytes)
        return writer.bytes
    }

    static func read(header: [UInt8]) throws(FormatError) -> LogIdentity {
        var reader = ByteReader(header.span)
        guard try [UInt8](copying: reader.readBytes(8)) == LogFormat.magic else {
            throw FormatError(.invalid, "not the beginning of a write-ahead log", at: 0)
        }
        let version = try reader.readUInt32()
        guard version == LogFormat.version else {
            throw FormatError(
                .unsupported, "log version \(version), expected \(LogFormat.version)", at: 8)
        }
        let stored = try reader.readUInt32()
        guard checksum(header.span.extracting(16...), seed: version) == stored else {
            throw FormatError(.checksum, "the log's header does not match its checksum", at: 12)
        }
        return try LogIdentity(
            databaseID: reader.readUInt64(), number: reader.readUInt64(),
            firstSequence: reader.readUInt64())
    }
}

/// The header of one frame.
struct FrameHeader: Equatable {
    var payloadSizeBytes: Int
    var payloadChecksum: UInt32
    var firstSequence: UInt64
    var durableSizeBytes: Int
    var commitCount: Int
    /// Whether the payload is an LZ4 block with its uncompressed size (varint) in front.
    var isCompressed = false

    func append(to writer: inout ByteWriter, log: LogIdentity, offset: Int) {
        var fields = ByteWriter(capacity: 24)
        fields.append(UInt32(payloadSizeBytes))
        fields.append(payloadChecksum)
        fields.append(firstSequence)
        fields.append(UInt64(durableSizeBytes))
        let count = UInt32(commitCount) | (isCompressed ? LogFormat.compressedFlag : 0)
        let seed = LogFormat.seed(log, offset: offset) &+ count
        writer.append(fields.bytes)
        writer.append(checksum(fields.bytes.span, seed: seed))
        writer.append(count)
    }

    /// Reads a frame header; nil if the bytes are not one for this offset of this file.
    static func read(_ bytes: Span<UInt8>, log: LogIdentity, offset: Int) -> FrameHeader? {
        guard bytes.count >= LogFormat.frameHeaderSizeBytes else { return nil }
        var reader = ByteReader(bytes)
        guard let size = try? reader.readUInt32(), size > 0,
            size <= LogFormat.payloadSizeBytesMax,
            let payloadChecksum = try? reader.readUInt32(),
            let firstSequence = try? reader.readUInt64(),
            let durable = try? reader.readUInt64(), durable <= UInt64(offset),
            let stored = try? reader.readUInt32(), let count = try? reader.readUInt32(),
            checksum(bytes.extracting(..<24), seed: LogFormat.seed(log, offset: offset) &+ count)
                == stored
        else { return nil }
        return FrameHeader(
            payloadSizeBytes: Int(size), payloadChecksum: payloadChecksum,
            firstSequence: firstSequence, durableSizeBytes: Int(durable),
            commitCount: Int(count & ~LogFormat.compressedFlag),
            isCompressed: count & LogFormat.compressedFlag != 0)
    }
}
