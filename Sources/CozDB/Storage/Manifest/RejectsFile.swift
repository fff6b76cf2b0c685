// The immutable files of the rejects journal; docs/format/rejects.md.
//
//      0  magic "COZREJ\r\n"
//      8  version, 4 bytes
//     12  number of entries, 4 bytes
//     16  entries, as in commit records
//
// The manifest holds the size and the checksum of the whole file.

enum RejectsFile {
    static let magic: [UInt8] = Array("COZREJ\r\n".utf8)
    static let version: UInt32 = 1

    /// Writes a file, in a folder that is created if missing. Durable on return, but for the name
    /// of the folder.
    static func write(
        _ entries: [JournalEntry], number: UInt64, under database: any Directory, databaseID: UInt64
    ) throws(FileError) -> Manifest.RejectsFile {
        var writer = ByteWriter()
        writer.append(magic)
        writer.append(version)
        writer.append(UInt32(truncatingIfNeeded: entries.count))
        for entry in entries { writer.append(entry) }
        let folder = try database.openDirectory(FileName.rejectsDirectory, create: true)
        let file = try folder.create(FileName.rejects(number).text)
        try file.writeAll(writer.bytes.span, at: 0)
        try file.syncData()
        try folder.sync()
        return Manifest.RejectsFile(
            number: number, sizeBytes: writer.count,
            checksum: checksum(of: writer.bytes, number: number, databaseID: databaseID),
            entryCount: entries.count)
    }

    static func read(
        _ info: Manifest.RejectsFile, under database: any Directory, databaseID: UInt64
    ) throws(DatabaseError) -> [JournalEntry] {
        let folder = try calling("opening the rejects journal") { () throws(FileError) in
            try database.openDirectory(FileName.rejectsDirectory, create: false)
        }
        let name = FileName.rejects(info.number).text
        let bytes = try calling("reading the rejects journal") { () throws(FileError) in
            let file = try folder.open(name, writable: false)
            // The magic is read first. One more byte than expected shows that something was
            // appended.
            let start = try file.readAll(count: magic.count, at: 0)
            guard start == magic else { return start }
            return try file.readAll(count: min(file.size(), info.sizeBytes + 1), at: 0)
        }
        return try namingFile(folder.path + "/" + name) { () throws(FormatError) in
            try decode(bytes, info, databaseID: databaseID)
        }
    }

    /// Decodes a file after its size and checksum were verified.
    static func decode(
        _ bytes: [UInt8], _ info: Manifest.RejectsFile, databaseID: UInt64
    ) throws(FormatError) -> [JournalEntry] {
        guard bytes.count == info.sizeBytes else {
            throw FormatError(
                .invalid,
                "the file has \(bytes.count > info.sizeBytes ? "more than " : "")"
                    + "\(min(bytes.count, info.sizeBytes)) bytes, expected \(info.sizeBytes)",
                at: min(bytes.count, info.sizeBytes))
        }
        guard
            checksum(of: bytes, number: info.number, databaseID: databaseID) == info.checksum
        else { throw FormatError(.checksum, "the file does not match its checksum", at: 0) }
        var reader = ByteReader(bytes.span)
        guard try [UInt8](copying: reader.readBytes(8)) == magic,
            try reader.readUInt32() == version
        else { throw FormatError(.unsupported, "not a rejects file of version \(version)", at: 0) }
        var entries: [JournalEntry] = []
        for _ in 0..<(try reader.readUInt32()) { entries.append(try reader.readJournalEntry()) }
        guard reader.isAtEnd else {
            throw FormatError(.invalid, "bytes after the entries", at: reader.offset)
        }
        return entries
    }

    /// The checksum that the manifest stores for a file.
    static func checksum(of bytes: [UInt8], number: UInt64, databaseID: UInt64) -> UInt32 {
        CozDB.checksum(bytes.span, seed: positionSeed(file: databaseID ^ number, offset: 0))
    }
}
