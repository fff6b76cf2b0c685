// What the files of a database say about themselves, for use when the manifest is lost or older
// than the files.

/// The files of a database, as identified by their own content.
struct FoundFiles {
    /// A segment, described by its footer.
    struct Segment {
        var info: Manifest.Segment
        var footer: SegmentFooter
    }

    let databaseID: UInt64
    private(set) var segments: [Segment] = []
    /// The logs. One with a damaged header has the first sequence 0.
    private(set) var logs: [Manifest.Log] = []
    private(set) var rejects: [Manifest.RejectsFile] = []
    /// Files that cannot be identified, and why.
    private(set) var unreadable: [(name: FileName, found: String)] = []
    /// The largest file number.
    private(set) var numberMax: UInt64 = 0
    private let directory: any Directory

    /// Files with this number or a larger one are those of an unfinished repair.
    private let numberLimit: UInt64

    /// - Parameters:
    ///   - databaseID: nil if the files must tell it.
    ///   - lockID: the database id in LOCK, for a database without segments and logs.
    ///   - numberLimit: the number of the first file to leave out.
    /// - Throws: `damaged` if they do not; `io`.
    init(
        in directory: any Directory, databaseID known: UInt64?, lockID: UInt64? = nil,
        numberLimit: UInt64 = .max
    ) throws(DatabaseError) {
        self.directory = directory
        self.numberLimit = numberLimit
        let names = try directory.names()
        let files = names.compactMap { FileName($0) }
        var owner = known
        if owner == nil {
            owner =
                DirectoryMark.hasSegmentsOrLogs(names)
                ? try FoundFiles.owner(in: directory) : lockID
        }
        guard let owner else {
            throw DatabaseError(
                .damaged,
                "the manifest cannot be read, and no segment or log has an intact header with a "
                    + "database id; restore a backup",
                file: directory.path)
        }
        databaseID = owner
        for name in files {
            switch name {
            case .segment(let number) where number < numberLimit: try addSegment(number)
            case .log(let number) where number < numberLimit: try addLog(number)
            default: break
            }
        }
        if names.contains(FileName.rejectsDirectory) { try addRejects() }
    }

    // MARK: Database id

    /// The database id that most headers of segments and logs have; nil if no header can be read.
    static func owner(in directory: any Directory) throws(DatabaseError) -> UInt64? {
        let names = try directory.names()
        var votes: [UInt64: Int] = [:]
        for name in names.compactMap({ FileName($0) }) {
            let bytes: [UInt8]
            switch name {
            case .segment, .log:
                bytes = try read(name.text, in: directory) { _ in (0, LogFormat.headerSizeBytes) }
            default: continue
            }
            if let identity = try? LogIdentity.read(header: bytes) {
                votes[identity.databaseID, default: 0] += 1
            } else if let id = segmentDatabaseID(bytes) {
                votes[id, default: 0] += 1
            }
        }
        return votes.max { ($0.value, $0.key) < ($1.value, $1.key) }?.key
    }

    private static func segmentDatabaseID(_ bytes: [UInt8]) -> UInt64? {
        guard bytes.count >= SegmentFormat.headerSizeBytes else { return nil }
        let header = bytes.span.extracting(..<SegmentFormat.headerSizeBytes)
        var reader = ByteReader(header)
        guard let magic = try? reader.readBytes(8), [UInt8](copying: magic) == SegmentFormat.magic,
            let version = try? reader.readUInt32(), let stored = try? reader.readUInt32(),
            checksum(header.extracting(16...), seed: version) == stored
        else { return nil }
        return try? reader.readUInt64()
    }

    /// - Parameter range: returns the offset and count to read, given the size of the file.
    private static func read(
        _ name: String, in directory: any Directory, _ range: (Int) -> (offset: Int, count: Int)
    ) throws(DatabaseError) -> [UInt8] {
        try calling("reading a file") { () throws(FileError) in
            let file = try directory.open(name, writable: false)
            let (offset, count) = range(try file.size())
            return try file.readReadable(count: max(0, count), at: max(0, offset)).bytes
        }
    }

    // MARK: Segments

    private mutating func addSegment(_ number: UInt64) throws(DatabaseError) {
        numberMax = max(numberMax, number)
        let name = FileName.segment(number).text
        var size = 0
        let trailer = try FoundFiles.read(name, in: directory) { fileSize in
            size = fileSize
            return (fileSize - SegmentFormat.trailerSizeBytes, SegmentFormat.trailerSizeBytes)
        }
        let end = size - SegmentFormat.trailerSizeBytes
        var handle = BlockHandle()
        do throws(FormatError) {
            var reader = ByteReader(trailer.span)
            let (offset, count) = (try reader.readUInt64(), try reader.readUInt32())
            handle = BlockHandle(
                offset: Int(clamping: offset), sizeBytes: Int(count),
                checksum: try reader.readUInt32())
            guard try reader.readUInt64() == UInt64(size), handle.offset <= end,
                handle.offset + handle.sizeBytes == end, handle.offset > 0
            else { throw FormatError(.invalid, "the trailer of the segment is damaged", at: 0) }
        } catch {
            return unreadable.append((.segment(number), error.message))
        }
        let bytes = try FoundFiles.read(name, in: directory) { _ in
            (handle.offset, handle.sizeBytes)
        }
        do throws(FormatError) {
            let seed = SegmentFormat.seed(
                databaseID: databaseID, number: number, offset: handle.offset)
            guard checksum(bytes.span, seed: seed) == handle.checksum else {
                throw FormatError(.checksum, "the footer does not match its checksum", at: 0)
            }
            let plain = try decompressedBytes(
                bytes.span, limit: SegmentFormat.blockSizeBytesMax)
            var reader = ByteReader(plain.span)
            let footer = try reader.readFooter(end: handle.offset)
            let info = Manifest.Segment(
                number: number, experiment: footer.experiment, sizeBytes: size,
                footerChecksum: handle.checksum, rowCount: footer.rowCount,
                valueCount: footer.valueCount, firstTime: footer.firstTime,
                lastTime: footer.lastTime)
            segments.append(Segment(info: info, footer: footer))
        } catch {
            unreadable.append((.segment(number), error.message))
        }
    }

    // MARK: Logs and rejects

    private mutating func addLog(_ number: UInt64) throws(DatabaseError) {
        numberMax = max(numberMax, number)
        let header = try FoundFiles.read(FileName.log(number).text, in: directory) { _ in
            (0, LogFormat.headerSizeBytes)
        }
        var log = Manifest.Log(number: number, firstSequence: 0, sealedSizeBytes: nil)
        if let read = try? LogIdentity.read(header: header), read.databaseID == databaseID,
            read.number == number
        {
            log.firstSequence = read.firstSequence
        }
        logs.append(log)
    }

    private mutating func addRejects() throws(DatabaseError) {
        let folder = try calling("opening the rejects journal") { () throws(FileError) in
            try directory.openDirectory(FileName.rejectsDirectory, create: false)
        }
        let names = try calling("listing the rejects journal") { () throws(FileError) in
            try folder.list()
        }
        for name in names {
            guard case .rejects(let number) = FileName(name), number < numberLimit else { continue }
            numberMax = max(numberMax, number)
            let bytes = try FoundFiles.read(name, in: folder) { (0, $0) }
            var info = Manifest.RejectsFile(
                number: number, sizeBytes: bytes.count,
                checksum: RejectsFile.checksum(of: bytes, number: number, databaseID: databaseID),
                entryCount: 0)
            do throws(DatabaseError) {
                info.entryCount = try RejectsFile.read(
                    info, under: directory, databaseID: databaseID
                ).count
                rejects.append(info)
            } catch {
                if error.isSystemCallFailure { throw error }
                unreadable.append((.rejects(number), error.message))
            }
        }
    }
}
