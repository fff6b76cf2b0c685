// Reads the bytes of one segment file and verifies them.

/// A segment file. Every read verifies the block's checksum.
struct SegmentFile: Sendable {
    /// How bytes are read.
    enum Access {
        /// From the page cache; the fastest for blocks that are read repeatedly.
        case mapped
        /// Copied block by block. A single pass over a file leaves none of it in the process's
        /// memory.
        case copied
    }

    private enum Bytes {
        case mapped(FileMapping)
        case file(any File)
    }

    let path: String
    private let info: Manifest.Segment
    private let databaseID: UInt64
    private var bytes: Bytes
    private let sizeBytes: Int

    /// A file with its footer.
    typealias Opened = (file: SegmentFile, footer: SegmentFooter, footerSizeBytes: Int)

    /// Opens a segment, verifies header and trailer, and reads the footer.
    ///
    /// - Throws: `notFound` if the file is gone, `damaged` if it is not the one that the manifest
    ///   names.
    static func open(
        in directory: any Directory, _ info: Manifest.Segment, databaseID: UInt64,
        access: Access
    ) throws(DatabaseError) -> Opened {
        let (bytes, sizeBytes) = try calling("opening a segment") { () throws(FileError) in
            let file = try directory.open(
                FileName.segment(info.number).text, writable: false)
            return (file, try file.size())
        }
        var file = SegmentFile(
            path: bytes.path, info: info, databaseID: databaseID, bytes: .file(bytes),
            sizeBytes: sizeBytes)
        // Copied: touching a page of a mapping may load megabytes around it.
        let handle = try file.readEnds()
        let footer = try file.readFooter(handle)
        if access == .mapped {
            file.bytes = .mapped(
                try calling("opening a segment") { () throws(FileError) in
                    try bytes.map(size: sizeBytes)
                })
        }
        return (file, footer, handle.sizeBytes)
    }

    /// Opens a segment by its footer alone, ignoring header and trailer.
    ///
    /// - Parameter handle: the handle of the footer.
    static func open(
        _ bytes: any File, _ info: Manifest.Segment, databaseID: UInt64,
        footerAt handle: BlockHandle
    ) throws(DatabaseError) -> Opened {
        let file = SegmentFile(
            path: bytes.path, info: info, databaseID: databaseID, bytes: .file(bytes),
            sizeBytes: info.sizeBytes)
        return (file, try file.readFooter(handle), handle.sizeBytes)
    }

    /// Verifies a block and passes it to the body.
    func read<Result>(
        _ handle: BlockHandle, _ body: (Span<UInt8>) throws(FormatError) -> Result
    ) throws(DatabaseError) -> Result {
        guard handle.offset >= 0, handle.sizeBytes >= 0,
            handle.offset <= sizeBytes - handle.sizeBytes
        else {
            throw DatabaseError(
                .damaged, "a block outside the file", file: path, offset: handle.offset)
        }
        return try withBytes(handle.offset, count: handle.sizeBytes) { bytes throws(FormatError) in
            let seed = SegmentFormat.seed(
                databaseID: databaseID, number: info.number, offset: handle.offset)
            guard handle.sizeBytes == 0 || checksum(bytes, seed: seed) == handle.checksum else {
                throw FormatError(.checksum, "this block does not match its checksum", at: 0)
            }
            return try body(bytes)
        }
    }

    /// The caller checks that the range is inside the file.
    private func withBytes<Result>(
        _ offset: Int, count: Int, _ body: (Span<UInt8>) throws(FormatError) -> Result
    ) throws(DatabaseError) -> Result {
        switch bytes {
        case .mapped(let mapping):
            return try namingFile(path, at: offset) { () throws(FormatError) in
                try mapping.withBytes(offset, count: count, body)
            }
        case .file(let file):
            let copy = try calling("reading a segment", at: offset) { () throws(FileError) in
                try file.readAll(count: count, at: offset)
            }
            return try namingFile(path, at: offset) { () throws(FormatError) in
                guard copy.count == count else {
                    throw FormatError(.truncated, "the file ends inside a block", at: copy.count)
                }
                return try body(copy.span)
            }
        }
    }

    /// Verifies header and trailer and returns the handle of the footer.
    private func readEnds() throws(DatabaseError) -> BlockHandle {
        let minimum = SegmentFormat.headerSizeBytes + SegmentFormat.trailerSizeBytes
        guard sizeBytes == info.sizeBytes, sizeBytes >= minimum else {
            throw DatabaseError(
                .damaged, "the file has \(sizeBytes) bytes, expected \(info.sizeBytes)",
                file: path, offset: sizeBytes)
        }
        try withBytes(0, count: SegmentFormat.headerSizeBytes, checkHeader)
        let trailerOffset = sizeBytes - SegmentFormat.trailerSizeBytes
        return try withBytes(trailerOffset, count: SegmentFormat.trailerSizeBytes, readTrailer)
    }

    private func readFooter(_ handle: BlockHandle) throws(DatabaseError) -> SegmentFooter {
        try read(handle) { bytes throws(FormatError) in
            let plain = try decompressedBytes(bytes, limit: SegmentFormat.blockSizeBytesMax)
            var reader = ByteReader(plain.span)
            let footer = try reader.readFooter(end: handle.offset)
            guard footer.experiment == info.experiment, footer.rowCount == info.rowCount else {
                throw FormatError(
                    .invalid,
                    "the footer belongs to another segment: its experiment or number of rows "
                        + "differs from the manifest", at: 0)
            }
            guard footer.rowCount / SegmentFormat.rowsPerByteMax <= sizeBytes else {
                throw FormatError(
                    .invalid, "\(footer.rowCount) rows in a file of \(sizeBytes) bytes", at: 0)
            }
            return footer
        }
    }

    private func checkHeader(_ bytes: Span<UInt8>) throws(FormatError) {
        var reader = ByteReader(bytes)
        guard try [UInt8](copying: reader.readBytes(8)) == SegmentFormat.magic else {
            throw FormatError(.invalid, "the file does not start like a segment", at: 0)
        }
        let version = try reader.readUInt32()
        guard version == SegmentFormat.version else {
            throw FormatError(
                .unsupported,
                "segment version \(version), expected \(SegmentFormat.version); export with the "
                    + "program that wrote it and import again", at: 8)
        }
        let stored = try reader.readUInt32()
        guard checksum(bytes.extracting(16...), seed: version) == stored else {
            throw FormatError(.checksum, "the header does not match its checksum", at: 12)
        }
        guard try reader.readUInt64() == databaseID, try reader.readUInt64() == info.number else {
            throw FormatError(
                .invalid,
                "the segment belongs to another database or has another file number", at: 16)
        }
    }

    private func readTrailer(_ bytes: Span<UInt8>) throws(FormatError) -> BlockHandle {
        var reader = ByteReader(bytes)
        let offset = try reader.readUInt64()
        let size = try reader.readUInt32()
        let sum = try reader.readUInt32()
        let fileSize = try reader.readUInt64()
        let end = info.sizeBytes - SegmentFormat.trailerSizeBytes
        guard fileSize == UInt64(info.sizeBytes), offset <= UInt64(end),
            Int(offset) + Int(size) == end,
            try [UInt8](copying: reader.readBytes(8)) == SegmentFormat.magic
        else { throw FormatError(.invalid, "the trailer is not that of this segment", at: 0) }
        guard sum == info.footerChecksum else {
            throw FormatError(
                .checksum, "the checksum of the footer differs from the manifest", at: 12)
        }
        return BlockHandle(offset: Int(offset), sizeBytes: Int(size), checksum: sum)
    }
}
