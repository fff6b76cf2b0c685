// A file of the rejects journal: read, printed, written again.

@testable internal import CozDB

/// First byte: the checksum as it is found (bit 0), the number of entries as it is found (1),
/// replaying what was refused (2).
enum RejectsFuzzing {
    static func run(_ bytes: [UInt8], _ choice: UInt8) throws(FuzzFailure) {
        var bytes = bytes
        let number = Sample.rejectsNumber
        if bytes.count >= 16 {
            bytes.replaceSubrange(0..<8, with: RejectsFile.magic)
            bytes.put(RejectsFile.version, at: 8)
            if choice & 2 == 0 { bytes.put(count(in: bytes), at: 12) }
        }
        var info = Manifest.RejectsFile(
            number: number, sizeBytes: bytes.count, checksum: 0, entryCount: 1)
        if choice & 1 == 0 {
            info.checksum = RejectsFile.checksum(
                of: bytes, number: number, databaseID: Sample.databaseID)
        }
        if let entries = try? RejectsFile.decode(bytes, info, databaseID: Sample.databaseID) {
            try checkWriting(entries)
        }
        try readDatabase(bytes, info, replays: choice & 4 != 0)
    }

    /// As many entries as can be read: a changed one shall not hide those behind it.
    private static func count(in bytes: [UInt8]) -> UInt32 {
        var reader = ByteReader(bytes.span.extracting(16...))
        var count: UInt32 = 0
        while !reader.isAtEnd, (try? reader.readJournalEntry()) != nil { count += 1 }
        return count
    }

    private static func checkWriting(_ entries: [JournalEntry]) throws(FuzzFailure) {
        var writer = ByteWriter()
        for entry in entries { writer.append(entry) }
        var again = ByteWriter()
        var reader = ByteReader(writer.bytes.span)
        while !reader.isAtEnd {
            guard let entry = try? reader.readJournalEntry() else {
                throw FuzzFailure("an entry that was written cannot be read")
            }
            again.append(entry)
        }
        try require(writer.bytes == again.bytes, "an entry is written otherwise")
    }

    private static func readDatabase(
        _ bytes: [UInt8], _ info: Manifest.RejectsFile, replays: Bool
    ) throws(FuzzFailure) {
        var manifest = Sample.manifest
        manifest.rejects = [info]
        var files = Sample.files
        files["db/MANIFEST"] = manifest.encoded()
        files["db/rejects/" + FileName.rejects(info.number).text] = bytes
        // What was refused may have names that nothing can have.
        try Sample.attempt(allowing: [.usage]) { () throws(DatabaseError) in
            let database = try Sample.open(MemoryFiles(files), replays ? .readWrite : .readOnly)
            try database.redactedRejects { _ throws(DatabaseError) in true }
            try database.rejects { entry throws(DatabaseError) in
                _ = String(describing: entry.refusal)
                return true
            }
            guard replays else { return }
            _ = try database.replayRejects(overwrite: true)
            _ = try database.execute("DELETE FROM /.*/ WHERE id_participant = 'p1'")
            try database.close()
        }
    }
}
