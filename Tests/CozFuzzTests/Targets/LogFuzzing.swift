// A write-ahead log, with checksums that fit.

@testable internal import CozDB

/// First byte: checksums as they are found (bit 0), sequences and counts of commits too (1); what
/// is done: reading (0 in bits 2 and 3), recovery (1), repair (2); complete, as the manifest says
/// (bit 4).
enum LogFuzzing {
    static func run(_ bytes: [UInt8], _ choice: UInt8) throws(FuzzFailure) {
        let log = LogIdentity(databaseID: Sample.databaseID, number: 901, firstSequence: 1)
        var bytes = bytes
        if choice & 1 == 0 { mend(&bytes, log, mendsCounts: choice & 2 == 0) }
        var manifest = Manifest(databaseID: log.databaseID)
        manifest.nextFileNumber = 1000
        manifest.logs = [
            Manifest.Log(
                number: log.number, firstSequence: log.firstSequence,
                sealedSizeBytes: choice & 16 == 0 ? nil : bytes.count)
        ]
        let files = MemoryFiles([
            "db/MANIFEST": manifest.encoded(), "db/" + FileName.log(log.number).text: bytes,
        ])
        switch choice >> 2 & 3 {
        case 0: try Sample.read(files)
        case 1: try Sample.change(files)
        default: try Sample.mend(files)
        }
    }

    /// Makes the header that of the log, and each frame, as long as they follow each other, one
    /// that was written there.
    private static func mend(_ bytes: inout [UInt8], _ log: LogIdentity, mendsCounts: Bool) {
        let header = log.header()
        guard bytes.count >= header.count else { return }
        bytes.replaceSubrange(0..<header.count, with: header)
        var offset = header.count
        var sequence = log.firstSequence
        while offset + LogFormat.frameHeaderSizeBytes <= bytes.count {
            let start = offset + LogFormat.frameHeaderSizeBytes
            let size = Int(bytes.word32(at: offset))
            guard size > 0, size <= bytes.count - start else { return }
            var payload = Array(bytes[start..<(start + size)])
            let isCompressed = bytes.word32(at: offset + 28) & LogFormat.compressedFlag != 0
            if !isCompressed { mendVersions(&payload) }
            bytes.replaceSubrange(start..<(start + size), with: payload)
            let seed = LogFormat.seed(log, offset: offset)
            bytes.put(checksum(payload.span, seed: seed), at: offset + 4)
            if mendsCounts {
                let flag = bytes.word32(at: offset + 28) & LogFormat.compressedFlag
                let count = commitCount(payload, isCompressed: flag != 0)
                bytes.put(sequence, at: offset + 8)
                bytes.put(UInt64(offset), at: offset + 16)
                bytes.put(flag | UInt32(count), at: offset + 28)
                sequence += UInt64(count)
            }
            let fields = Array(bytes[offset..<(offset + 24)])
            let sum = checksum(fields.span, seed: seed &+ bytes.word32(at: offset + 28))
            bytes.put(sum, at: offset + 24)
            offset += LogFormat.frameSizeBytes(payload: size)
        }
    }

    /// Gives each commit of a payload the version that can be read.
    private static func mendVersions(_ payload: inout [UInt8]) {
        var places: [Int] = []
        var reader = ByteReader(payload.span)
        while !reader.isAtEnd, let size = try? reader.readCount(limit: reader.remaining), size > 0 {
            places.append(reader.offset)
            guard (try? reader.readBytes(size)) != nil else { break }
        }
        for place in places where place < payload.count { payload[place] = CommitRecord.version }
    }

    private static func commitCount(_ payload: [UInt8], isCompressed: Bool) -> Int {
        let header = FrameHeader(
            payloadSizeBytes: payload.count, payloadChecksum: 0, firstSequence: 0,
            durableSizeBytes: 0, commitCount: 0, isCompressed: isCompressed)
        guard let plain = try? LogReader.expanded(payload, header) else { return 1 }
        var reader = ByteReader(plain.span)
        var count = 0
        while !reader.isAtEnd, (try? reader.readBlob(limit: plain.count)) != nil { count += 1 }
        return count
    }
}
