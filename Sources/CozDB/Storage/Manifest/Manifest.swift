// The manifest: the file that lists everything a database consists of; docs/format/manifest.md.
//
//      0  magic "COZMAN\r\n"
//      8  version, 4 bytes
//     12  checksum of the payload, 4 bytes
//     16  size of the payload, 8 bytes
//     24  payload, compressible (varints, texts and the parts below, in order)
//
// It is replaced as a whole: written as a draft, synced, renamed, and the directory is synced.

internal import CozPlatform

/// The content of a database at one moment.
struct Manifest: Sendable {
    /// One immutable segment file.
    struct Segment: Equatable, Sendable {
        var number: UInt64
        var experiment: Int
        var sizeBytes: Int
        /// Checksum of the segment's footer. The footer covers everything else in the file.
        var footerChecksum: UInt32
        var rowCount: Int
        var valueCount: Int
        var firstTime: Int64
        var lastTime: Int64
        /// Whether a flush used quick encodings. A merge then encodes the blocks again.
        var isQuicklyEncoded = false
    }

    /// One write-ahead log file. Commits of a lower number come before those of a higher one.
    struct Log: Equatable, Sendable {
        var number: UInt64
        var firstSequence: UInt64
        /// The size of a complete log; nil while it may still grow.
        var sealedSizeBytes: Int?
    }

    /// One immutable file of the rejects journal.
    struct RejectsFile: Equatable, Sendable {
        var number: UInt64
        var sizeBytes: Int
        var checksum: UInt32
        var entryCount: Int
    }

    /// The point where a restored database branches off from the one that was backed up.
    struct Branch: Equatable, Sendable {
        /// A random number.
        var id: UInt64
        /// Generation of the restored backup.
        var generation: UInt64
        /// Sequence of the last commit in that backup.
        var sequence: UInt64
    }

    /// A random number that tells files of this database from those of others.
    var databaseID: UInt64
    /// One more in every manifest.
    var generation: UInt64 = 0
    /// Number of the next file of any kind. No manifest names a number twice.
    var nextFileNumber: UInt64 = 1
    /// Sequence of the last commit that segments hold.
    var lastSequence: UInt64 = 0
    var schemas = SchemaSet()
    /// Oldest first. Values of a later segment win.
    var segments: [Segment] = []
    /// Oldest first; empty after a clean close.
    var logs: [Log] = []
    var rejects: [RejectsFile] = []
    var counters = WriteCounters()
    /// Digests of forgotten participants, whose data is not stored again.
    var forgotten = ForgottenList()
    /// The restores of this database, oldest first.
    var branches: [Branch] = []

    /// Checksum of the payload as last read or written.
    private(set) var fileChecksum: UInt32 = 0

    static let magic: [UInt8] = Array("COZMAN\r\n".utf8)
    static let version: UInt32 = 1
    /// The oldest branches beyond this number are dropped. Backups from before them are then
    /// refused.
    static let branchCountMax = 10_000
    static let headerSizeBytes = 24
    static let sizeBytesMax = 1 << 28
    /// The header of a larger file is checked before the rest is read.
    private static let uncheckedSizeBytesMax = 1 << 20
    /// A writer needs two or three.
    private static let logCountMax = 1000
    /// Limit of file numbers, sequences and generations. They grow by one, or by a thousand
    /// at a repair, so no database reaches it, and sums do not overflow.
    static let counterLimit: UInt64 = 1 << 62
    /// Limit of the bytes, rows and values of one file, so that sums do not overflow.
    static let countMax = 1 << 48
}

extension Manifest {
    /// The files that it names.
    var fileNames: Set<FileName> {
        Set(
            segments.map { FileName.segment($0.number) } + logs.map { .log($0.number) }
                + rejects.map { .rejects($0.number) })
    }

    /// Adds the counts of a flush or a merge.
    ///
    /// A merge subtracts values that flushes counted as new. A manifest rebuilt from files may lack
    /// those counts, so the sum is kept at 0 or more.
    mutating func add(_ changes: WriteCounters) {
        counters.add(changes)
        counters.insertedValues = max(0, counters.insertedValues)
    }
}

// MARK: Bytes

extension Manifest {
    func encoded() -> [UInt8] {
        var payload = ByteWriter()
        payload.append(databaseID)
        payload.append(generation)
        payload.appendVarint(nextFileNumber)
        payload.appendVarint(lastSequence)
        payload.appendVarint(schemas.nextID)
        appendSchemas(to: &payload)
        payload.appendVarint(segments.count)
        for segment in segments {
            payload.appendVarint(segment.number)
            payload.appendVarint(segment.experiment)
            payload.appendVarint(segment.sizeBytes)
            payload.append(segment.footerChecksum)
            payload.appendVarint(segment.rowCount)
            payload.appendVarint(segment.valueCount)
            payload.appendSigned(segment.firstTime)
            payload.appendSigned(segment.lastTime)
            payload.append(UInt8(segment.isQuicklyEncoded ? 1 : 0))
        }
        payload.appendVarint(logs.count)
        for log in logs {
            payload.appendVarint(log.number)
            payload.appendVarint(log.firstSequence)
            payload.appendVarint((log.sealedSizeBytes ?? -1) + 1)
        }
        payload.appendVarint(rejects.count)
        for file in rejects {
            payload.appendVarint(file.number)
            payload.appendVarint(file.sizeBytes)
            payload.append(file.checksum)
            payload.appendVarint(file.entryCount)
        }
        payload.appendVarint(counters.insertedValues)
        payload.appendVarint(counters.replacedValues)
        payload.appendVarint(counters.identicalValues)
        payload.appendVarint(counters.mergedRows)
        payload.append(forgotten)
        payload.appendVarint(schemas.formerParticipantTags.count)
        for tag in schemas.formerParticipantTags.sorted() { payload.appendText(tag.text) }
        payload.appendVarint(branches.count)
        for branch in branches {
            payload.append(branch.id)
            payload.appendVarint(branch.generation)
            payload.appendVarint(branch.sequence)
        }

        let plain = payload.bytes
        payload.removeAll()
        payload.append(compressing: plain)
        return Manifest.file(payload.bytes)
    }

    /// The bytes of a manifest file with this payload.
    static func file(_ payload: [UInt8], version: UInt32 = version) -> [UInt8] {
        var writer = ByteWriter(capacity: payload.count + headerSizeBytes)
        writer.append(magic)
        writer.append(version)
        writer.append(checksum(payload.span, seed: version))
        writer.append(UInt64(payload.count))
        writer.append(payload)
        return writer.bytes
    }

    private func appendSchemas(to writer: inout ByteWriter) {
        writer.appendVarint(schemas.presets.count)
        for preset in schemas.presets { writer.append(SchemaChange.preset(preset)) }
        let experiments = schemas.all
        writer.appendVarint(experiments.count)
        for schema in experiments {
            writer.append(SchemaChange.experiment(schema))
            writer.appendVarint(schema.columnCount)
            for column in schema.columns {
                writer.append(SchemaChange.column(experiment: schema.id, column))
            }
            let declarations = schema.declarations
            writer.appendVarint(declarations.count)
            for field in declarations {
                writer.append(SchemaChange.declaration(experiment: schema.id, field))
            }
        }
    }

    init(decoding bytes: [UInt8]) throws(FormatError) {
        let (sum, payload) = try Manifest.payload(bytes)
        fileChecksum = sum
        var reader = ByteReader(payload.span)
        databaseID = try reader.readUInt64()
        generation = try reader.readUInt64()
        nextFileNumber = try reader.readVarint()
        lastSequence = try reader.readVarint()
        guard max(generation, nextFileNumber, lastSequence) < Manifest.counterLimit else {
            throw FormatError(.invalid, "a counter is out of range", at: 24)
        }
        let nextID = try reader.readCount(limit: Int(UInt32.max))
        // Presets, then experiments, each with its columns and its declarations.
        for _ in 0..<(try reader.readCount(limit: reader.remaining)) {
            try schemas.applyStored(reader.readSchemaChange())
        }
        for _ in 0..<(try reader.readCount(limit: reader.remaining)) {
            try schemas.applyStored(reader.readSchemaChange())
            for _ in 0..<2 {
                for _ in 0..<(try reader.readCount(limit: reader.remaining)) {
                    try schemas.applyStored(reader.readSchemaChange())
                }
            }
        }
        schemas.nextID = nextID
        for _ in 0..<(try reader.readCount(limit: reader.remaining)) {
            segments.append(try Manifest.readSegment(&reader))
        }
        for _ in 0..<(try reader.readCount(limit: Manifest.logCountMax)) {
            let number = try reader.readVarint()
            let firstSequence = try reader.readVarint()
            guard firstSequence < Manifest.counterLimit else {
                throw FormatError(.invalid, "the first sequence of a log is out of range", at: 24)
            }
            let sealed = try reader.readCount(limit: Manifest.countMax)
            logs.append(
                Log(
                    number: number, firstSequence: firstSequence,
                    sealedSizeBytes: sealed == 0 ? nil : sealed - 1))
        }
        for _ in 0..<(try reader.readCount(limit: reader.remaining)) {
            rejects.append(
                RejectsFile(
                    number: try reader.readVarint(),
                    sizeBytes: try reader.readCount(limit: Manifest.countMax),
                    checksum: try reader.readUInt32(),
                    entryCount: try reader.readCount(limit: Manifest.countMax)))
        }
        counters.insertedValues = try reader.readCount(limit: Manifest.countMax)
        counters.replacedValues = try reader.readCount(limit: Manifest.countMax)
        counters.identicalValues = try reader.readCount(limit: Manifest.countMax)
        counters.mergedRows = try reader.readCount(limit: Manifest.countMax)
        forgotten = try reader.readForgottenList()
        try schemas.readFormerTags(&reader)
        for _ in 0..<(try reader.readCount(limit: Manifest.branchCountMax)) {
            branches.append(
                Branch(
                    id: try reader.readUInt64(), generation: try reader.readVarint(),
                    sequence: try reader.readVarint()))
        }
        guard reader.isAtEnd else {
            throw FormatError(.invalid, "bytes after the manifest's end", at: 24 + reader.offset)
        }
        try checkNumbers()
    }

    /// Checks that file numbers are below the limit and unique.
    private func checkNumbers() throws(FormatError) {
        var known: Set<UInt64> = []
        let numbers = segments.map(\.number) + logs.map(\.number) + rejects.map(\.number)
        for number in numbers {
            guard number < Manifest.counterLimit else {
                throw FormatError(.invalid, "a file number is out of range", at: 24)
            }
            guard known.insert(number).inserted else {
                throw FormatError(.invalid, "two files have the number \(number)", at: 24)
            }
        }
    }

    /// The checksum and the payload of a file, after header and checksum were verified.
    private static func payload(
        _ bytes: [UInt8]
    ) throws(FormatError) -> (checksum: UInt32, payload: [UInt8]) {
        var header = ByteReader(bytes.span)
        guard try [UInt8](copying: header.readBytes(8)) == Manifest.magic else {
            throw FormatError(.invalid, "not the beginning of a manifest", at: 0)
        }
        let version = try header.readUInt32()
        guard version == Manifest.version else {
            throw FormatError(
                .unsupported, "manifest version \(version), expected \(Manifest.version)", at: 8)
        }
        let stored = try header.readUInt32()
        let size = try header.readUInt64()
        guard size == UInt64(header.remaining) else {
            throw FormatError(
                .truncated, "found a payload of \(header.remaining) bytes, expected \(size)", at: 16
            )
        }
        guard checksum(bytes.span.extracting(24...), seed: version) == stored else {
            throw FormatError(.checksum, "the manifest does not match its checksum", at: 12)
        }
        let payload = bytes.span.extracting(24...)
        return (stored, try decompressedBytes(payload, limit: Manifest.sizeBytesMax))
    }

    private static func readSegment(_ reader: inout ByteReader) throws(FormatError) -> Segment {
        var segment = try Segment(
            number: reader.readVarint(), experiment: reader.readCount(limit: Int(UInt32.max)),
            sizeBytes: reader.readCount(limit: Manifest.countMax),
            footerChecksum: reader.readUInt32(),
            rowCount: reader.readCount(limit: Manifest.countMax),
            valueCount: reader.readCount(limit: Manifest.countMax),
            firstTime: reader.readSigned(), lastTime: reader.readSigned())
        let flags = try reader.readUInt8()
        guard flags <= 1 else {
            throw FormatError(
                .unsupported, "unknown flags of a segment: \(flags)", at: reader.offset - 1)
        }
        segment.isQuicklyEncoded = flags == 1
        return segment
    }
}

extension SchemaSet {
    /// Reads the tags in ascending order, which excludes duplicates.
    fileprivate mutating func readFormerTags(_ reader: inout ByteReader) throws(FormatError) {
        var last: Name?
        for _ in 0..<(try reader.readCount(limit: reader.remaining)) {
            let tag = Name(try reader.readText(limit: DatabaseOptions.nameSizeBytesMax))
            if let last, tag <= last {
                throw FormatError(
                    .invalid, "former tags are not in ascending order", at: 24 + reader.offset)
            }
            last = tag
            addFormer([tag])
            try checkSize()
        }
    }

    fileprivate mutating func applyStored(_ change: SchemaChange) throws(FormatError) {
        if case .experiment(let schema) = change, named(schema.name) != nil {
            throw FormatError(.invalid, "two experiments have one name", at: 24)
        }
        apply(change)
        try checkSize()
    }
}

// MARK: File

extension Manifest {
    /// Reads the manifest; nil if the directory has none.
    static func read(in directory: any Directory) throws(DatabaseError) -> Manifest? {
        try readOpen(in: directory)?.manifest
    }

    /// Reads the manifest and keeps its file open. The file tells later whether it was replaced.
    static func readOpen(
        in directory: any Directory
    ) throws(DatabaseError) -> (manifest: Manifest, file: any File)? {
        typealias Found = (bytes: [UInt8], file: any File)
        let found = try calling("reading the manifest") { () throws(FileError) -> Found? in
            let file = try directory.openIfPresent(FileName.manifest.text)
            guard let file else { return nil }
            return (try bytes(of: file), file)
        }
        guard let found else { return nil }
        let manifest = try namingFile(found.file.path) { () throws(FormatError) in
            try Manifest(decoding: found.bytes)
        }
        return (manifest, found.file)
    }

    /// The bytes of the manifest file, whatever its version.
    static func bytes(in directory: any Directory) throws(DatabaseError) -> [UInt8] {
        try calling("reading the manifest") { () throws(FileError) in
            let file = try directory.open(FileName.manifest.text, writable: false)
            return try bytes(of: file)
        }
    }

    /// Reads a file. Only the header of a large file that is not a manifest is read.
    private static func bytes(of file: any File) throws(FileError) -> [UInt8] {
        var count = min(try file.size(), sizeBytesMax)
        if count > uncheckedSizeBytesMax {
            let header = try file.readAll(count: headerSizeBytes, at: 0)
            guard header.starts(with: magic) else { return header }
            var reader = ByteReader(header.span.extracting(16...))
            let size = (try? reader.readUInt64()) ?? 0
            // One more byte shows that something was appended.
            count = min(count, headerSizeBytes + 1 + Int(min(size, UInt64(sizeBytesMax))))
        }
        return try file.readAll(count: count, at: 0)
    }

    /// The manifest at the start of a file that has extra bytes after it; nil if there is none.
    static func readBeforeEnd(in directory: any Directory) throws(DatabaseError) -> Manifest? {
        let bytes = try bytes(in: directory)
        guard bytes.count > headerSizeBytes else { return nil }
        var header = ByteReader(bytes.span.extracting(16..<headerSizeBytes))
        guard let size = try? header.readUInt64(), size < UInt64(bytes.count - headerSizeBytes)
        else { return nil }
        return try? Manifest(decoding: Array(bytes[..<(headerSizeBytes + Int(size))]))
    }

    /// Whether a manifest of an unknown version matches its checksum.
    static func isWhole(in directory: any Directory) throws(DatabaseError) -> Bool {
        let bytes = try bytes(in: directory)
        guard bytes.count >= headerSizeBytes else { return false }
        var header = ByteReader(bytes.span.extracting(magic.count..<headerSizeBytes))
        guard let version = try? header.readUInt32(), let stored = try? header.readUInt32() else {
            return false
        }
        return checksum(bytes.span.extracting(headerSizeBytes...), seed: version) == stored
    }

    /// Replaces the manifest. It is durable on return.
    mutating func write(in directory: any Directory) throws(FileError) {
        // No reader would accept such a file.
        guard max(generation, nextFileNumber, lastSequence) < Manifest.counterLimit else {
            let path = directory.path + "/" + FileName.manifestDraft.text
            throw FileError(code: EOVERFLOW, call: "write", path: path)
        }
        let bytes = encoded()
        fileChecksum = checksum(
            bytes.span.extracting(Manifest.headerSizeBytes...), seed: Manifest.version)
        try Manifest.replace(in: directory, by: bytes)
    }

    /// Writes the same manifest again to make it durable. A rename that was not synced, or whose
    /// sync failed, becomes durable only in this way.
    static func writeAgain(in directory: any Directory) throws(DatabaseError) {
        let bytes = try bytes(in: directory)
        try calling("replacing the manifest") { () throws(FileError) in
            try replace(in: directory, by: bytes)
        }
    }

    private static func replace(
        in directory: any Directory, by bytes: [UInt8]
    ) throws(FileError) {
        let draft = FileName.manifestDraft.text
        try directory.removeIfPresent(draft)
        do throws(FileError) {
            let file = try directory.create(draft)
            try file.writeAll(bytes.span, at: 0)
            try file.syncData()
            try directory.rename(draft, to: FileName.manifest.text)
        } catch {
            // The draft takes space, and the disk may be full.
            try? directory.remove(draft)
            throw error
        }
        try directory.sync()
    }
}

extension Manifest {
    /// What a segment holds, as far as the manifest knows.
    func lost(_ info: Segment) -> String {
        let name = schemas[info.experiment]?.name ?? "number \(info.experiment)"
        return
            "experiment \"\(name)\", \(LossText.counted(info.rowCount, "row")) with "
            + "\(LossText.counted(info.valueCount, "value")) of all fields, "
            + "series with unreadable names, "
            + LossText.span(info.firstTime, info.lastTime)
    }
}
