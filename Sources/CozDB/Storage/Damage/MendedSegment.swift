// A segment whose header or trailer is damaged, or that has bytes behind its end, seen with the
// ends that it must have. The footer proves that nothing else is taken for it: the manifest, or
// the trailer where there is no manifest, has its checksum.

enum MendedSegment {
    /// Bytes before the trailer among which a footer is searched that no trailer names.
    private static let searchSizeBytes = 128 << 10

    /// Opens a segment by its footer alone; nil where that cannot be found.
    static func open(
        _ info: Manifest.Segment, in directory: any Directory, databaseID: UInt64
    ) throws(DatabaseError) -> SegmentReader? {
        let file = try calling("opening a segment") { () throws(FileError) in
            try directory.open(FileName.segment(info.number).text, writable: false)
        }
        guard let footer = try footer(of: file, info, databaseID: databaseID) else { return nil }
        for version in [SegmentFormat.version, SegmentFormat.oldestVersion] {
            let mended = MendedFile(
                file, size: info.sizeBytes,
                header: header(info, databaseID: databaseID, version: version),
                trailer: trailer(info, footer))
            do throws(DatabaseError) {
                return try SegmentReader(
                    in: MendedDirectory(directory, mended), info, databaseID: databaseID,
                    access: .copied)
            } catch {
                // A footer of the other version makes no sense as this one.
                if error.isFailedCall { throw error }
            }
        }
        return nil
    }

    /// Where the footer with the checksum of the manifest lies.
    private static func footer(
        of file: any File, _ info: Manifest.Segment, databaseID: UInt64
    ) throws(DatabaseError) -> BlockPlace? {
        let end = info.sizeBytes - SegmentFormat.trailerSizeBytes
        guard end >= SegmentFormat.headerSizeBytes else { return nil }
        let start = max(SegmentFormat.headerSizeBytes, end - searchSizeBytes)
        let (tail, trailer) = try calling("reading a segment") { () throws(FileError) in
            (
                try file.readReadable(count: end - start, at: start).bytes,
                try file.readReadable(count: SegmentFormat.trailerSizeBytes, at: end).bytes
            )
        }
        guard tail.count == end - start else { return nil }
        func matches(_ bytes: Span<UInt8>, at offset: Int) -> Bool {
            let seed = SegmentFormat.seed(
                databaseID: databaseID, number: info.number, offset: offset)
            return checksum(bytes, seed: seed) == info.footerChecksum
        }
        var reader = ByteReader(trailer.span)
        if let offset = try? reader.readUInt64(), let size = try? reader.readUInt32() {
            // One of the two is right unless both are damaged.
            for candidate in [Int(clamping: offset), end - Int(size)] {
                guard candidate >= SegmentFormat.headerSizeBytes, candidate < end,
                    end - candidate <= SegmentFormat.blockSizeBytesMax
                else { continue }
                let bytes = try calling("reading a segment") { () throws(FileError) in
                    try file.readReadable(count: end - candidate, at: candidate).bytes
                }
                if matches(bytes.span, at: candidate) {
                    return place(from: candidate, to: end, info)
                }
            }
        }
        let span = tail.span
        for offset in stride(from: end - 1, through: start, by: -1) {
            if matches(span.extracting((offset - start)...), at: offset) {
                return place(from: offset, to: end, info)
            }
        }
        return nil
    }

    private static func place(
        from offset: Int, to end: Int, _ info: Manifest.Segment
    ) -> BlockPlace {
        BlockPlace(offset: offset, sizeBytes: end - offset, checksum: info.footerChecksum)
    }

    private static func header(
        _ info: Manifest.Segment, databaseID: UInt64, version: UInt32
    ) -> [UInt8] {
        var fields = ByteWriter()
        fields.append(databaseID)
        fields.append(info.number)
        var writer = ByteWriter()
        writer.append(SegmentFormat.magic)
        writer.append(version)
        writer.append(checksum(fields.bytes.span, seed: version))
        writer.append(fields.bytes)
        return writer.bytes
    }

    private static func trailer(_ info: Manifest.Segment, _ footer: BlockPlace) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(UInt64(footer.offset))
        writer.append(UInt32(footer.sizeBytes))
        writer.append(footer.checksum)
        writer.append(UInt64(info.sizeBytes))
        writer.append(SegmentFormat.magic)
        return writer.bytes
    }
}

/// A file with other bytes at both ends; for reading only.
private final class MendedFile: File {
    private let file: any File
    private let sizeBytes: Int
    private let header: [UInt8]
    private let trailer: [UInt8]

    init(_ file: any File, size: Int, header: [UInt8], trailer: [UInt8]) {
        self.file = file
        sizeBytes = size
        self.header = header
        self.trailer = trailer
    }

    var path: String { file.path }

    func size() throws(FileError) -> Int { sizeBytes }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(FileError) -> Int {
        let ends = [(header, 0), (trailer, sizeBytes - trailer.count)]
        // A device that does not give an end is not asked for it.
        let isEnd = ends.contains { bytes, start in
            offset >= start && offset + buffer.count <= start + bytes.count
        }
        let count =
            isEnd
            ? buffer.count
            : unsafe min(try file.read(into: buffer, at: offset), max(0, sizeBytes - offset))
        for (bytes, start) in ends {
            for index in bytes.indices where (0..<count).contains(start + index - offset) {
                // Sound: the place is among the bytes that were read into the buffer.
                unsafe buffer[start + index - offset] = bytes[index]
            }
        }
        return count
    }

    private func refused(_ call: String) -> FileError {
        FileError(call: call, path: path, code: readOnlyCode)
    }

    func write(_ buffer: UnsafeRawBufferPointer, at offset: Int) throws(FileError) -> Int {
        throw refused("pwrite")
    }
    func allocate(size: Int) throws(FileError) { throw refused("posix_fallocate") }
    func truncate(to size: Int) throws(FileError) { throw refused("ftruncate") }
    func syncData() throws(FileError) { throw refused("fdatasync") }
    func map(size: Int) throws(FileError) -> FileMapping { throw refused("mmap") }
}

/// EROFS.
private let readOnlyCode: Int32 = 30

/// A directory in which one file is mended.
private final class MendedDirectory: Directory {
    private let directory: any Directory
    private let file: MendedFile

    init(_ directory: any Directory, _ file: MendedFile) {
        self.directory = directory
        self.file = file
    }

    var path: String { directory.path }

    func list() throws(FileError) -> [String] { try directory.list() }
    func create(_ name: String) throws(FileError) -> any File { try directory.create(name) }
    func open(_ name: String, writable: Bool) throws(FileError) -> any File { file }
    func openDirectory(_ name: String, create: Bool) throws(FileError) -> any Directory {
        try directory.openDirectory(name, create: create)
    }
    func rename(_ source: String, to target: String) throws(FileError) {
        try directory.rename(source, to: target)
    }
    func remove(_ name: String) throws(FileError) { try directory.remove(name) }
    func removeDirectory(_ name: String) throws(FileError) {
        try directory.removeDirectory(name)
    }
    func sync() throws(FileError) { try directory.sync() }
    func lock(_ name: String) throws(FileError) -> (any File)? { try directory.lock(name) }
}
