// What the lock file remembers of the newest durable state, to tell when another file was replaced
// by an older version of itself; docs/format/lock.md.

/// The state of a database as its writer last knew it.
struct Witness: Equatable, Sendable {
    /// One more with each record.
    var serial = Witness.serialBeforeFirst
    var databaseID: UInt64
    var generation: UInt64
    /// Of the payload of the manifest of that generation.
    var manifestChecksum: UInt32
    var state = State.open
    var isClosed: Bool { state == .closed }
    /// The open log; 0 where there is none.
    var logNumber: UInt64 = 0
    /// Bytes of it that are durable and acknowledged.
    var logSizeBytes: UInt64 = 0
    /// Of the frames in those bytes; 0 where that is not known.
    var logChecksum: UInt32 = 0
    /// Who holds the lock, for people.
    var holder: String

    /// How far its writer was.
    enum State: UInt32 {
        /// Not closed, in a record of a build that did not announce manifests without logs.
        case unannounced = 0
        case closed = 1
        case open = 2
        /// Open, and the manifest that comes next names no log.
        case settling = 3
    }

    /// What a lock file holds.
    enum Found {
        /// There is no file, or no more than the beginning of a first record, or this reader may
        /// not read it.
        case nothing
        /// No whole record.
        case noRecord
        case witness(Witness)

        var witness: Witness? {
            guard case .witness(let witness) = self else { return nil }
            return witness
        }
    }

    private static let magic: [UInt8] = Array("COZLCK\r\n".utf8)
    private static let version: UInt32 = 1
    static let recordSizeBytes = 512
    /// The first record of a file is the one at its beginning, where even ones go.
    static let serialBeforeFirst: UInt64 = 1
    static let sizeBytes = 2 * recordSizeBytes
    private static let holderSizeBytes = 200
    private static let logChecksumOffset = 268
    /// The last byte of a record while opening or closing write it: what is left of it where that
    /// ends inside of the record is told from one that was changed.
    static let unfinishedMark: UInt8 = 0xA5
}

// MARK: Bytes

extension Witness {
    /// The record at one of the two places.
    func record(at offset: Int) -> [UInt8] {
        var body = ByteWriter(capacity: Witness.recordSizeBytes)
        body.append(serial)
        body.append(databaseID)
        body.append(generation)
        body.append(manifestChecksum)
        body.append(state.rawValue)
        body.append(logNumber)
        body.append(logSizeBytes)
        var text = Array(holder.utf8.prefix(Witness.holderSizeBytes))
        text += Array(repeating: UInt8(ascii: " "), count: Witness.holderSizeBytes - text.count)
        body.append(text + [UInt8(ascii: "\n")])
        body.appendZeros(Witness.logChecksumOffset - 16 - body.count)
        body.append(logChecksum)
        body.appendZeros(Witness.recordSizeBytes - 16 - body.count)
        var writer = ByteWriter(capacity: Witness.recordSizeBytes)
        writer.append(Witness.magic)
        writer.append(Witness.version)
        writer.append(checksum(body.bytes.span, seed: Witness.seed(offset)))
        writer.append(body.bytes)
        return writer.bytes
    }

    private static func seed(_ offset: Int) -> UInt32 {
        positionSeed(file: UInt64(version), offset: UInt64(offset))
    }

    /// The newest whole record of a lock file.
    init?(_ bytes: [UInt8]) {
        let found = [0, Witness.recordSizeBytes].compactMap { Witness(bytes, at: $0) }
        guard let newest = found.max(by: { $0.serial < $1.serial }) else { return nil }
        self = newest
    }

    /// The record at one of the two places; nil where it is not whole.
    init?(_ bytes: [UInt8], at offset: Int) {
        guard bytes.count >= offset + Witness.recordSizeBytes else { return nil }
        let record = bytes.span.extracting(offset..<(offset + Witness.recordSizeBytes))
        var reader = ByteReader(record)
        guard let magic = try? reader.readBytes(8), [UInt8](copying: magic) == Witness.magic,
            let version = try? reader.readUInt32(), version == Witness.version,
            let stored = try? reader.readUInt32(),
            checksum(record.extracting(16...), seed: Witness.seed(offset)) == stored,
            let serial = try? reader.readUInt64(), let databaseID = try? reader.readUInt64(),
            let generation = try? reader.readUInt64(), let sum = try? reader.readUInt32(),
            let state = try? reader.readUInt32(), let logNumber = try? reader.readUInt64(),
            let logSizeBytes = try? reader.readUInt64(),
            let text = try? reader.readBytes(Witness.holderSizeBytes),
            (try? reader.readBytes(4)) != nil, let logChecksum = try? reader.readUInt32(),
            max(serial, generation) < Manifest.counterLimit
        else { return nil }
        self.init(
            serial: serial, databaseID: databaseID, generation: generation,
            manifestChecksum: sum,
            // What a newer build may mean by another number says nothing here.
            state: State(rawValue: state) ?? .unannounced,
            logNumber: logNumber, logSizeBytes: logSizeBytes, logChecksum: logChecksum,
            holder: Witness.text([UInt8](copying: text)))
    }

    /// Whether a record that is not whole is what is left where opening or closing ended while
    /// they wrote it.
    static func isUnfinished(_ bytes: [UInt8], at offset: Int) -> Bool {
        let record = bytes[offset..<(offset + recordSizeBytes)]
        var start = ByteWriter()
        start.append(magic)
        start.append(version)
        // A build that did not write the mark had something behind the checksum of the log.
        let zeros = record.dropFirst(logChecksumOffset + 5).dropLast()
        return record.starts(with: start.bytes) && record.last == unfinishedMark
            && zeros.allSatisfy { $0 == 0 }
    }

    /// Printable text, whatever the bytes.
    static func text(_ bytes: [UInt8]) -> String {
        let end = bytes.lastIndex { $0 > UInt8(ascii: " ") }.map { $0 + 1 } ?? 0
        let shown = bytes[..<end].map { 0x20..<0x7F ~= $0 ? $0 : UInt8(ascii: "?") }
        return String(decoding: shown, as: UTF8.self)
    }
}

// MARK: File

extension Witness {
    /// Reads the lock file of a database; a writer may be writing it.
    static func read(in directory: any Directory) throws(DatabaseError) -> Found {
        try readBytes(in: directory).found
    }

    /// The same with its bytes, as far as there should be any, and the size of the file.
    static func readBytes(
        in directory: any Directory
    ) throws(DatabaseError) -> (found: Found, bytes: [UInt8], sizeBytes: Int) {
        let file: any File
        do throws(FileError) {
            file = try directory.open(FileName.lock.text, writable: false)
        } catch {
            // A database that others may read has a lock that they may not.
            if error.isNotFound || error.isForbidden { return (.nothing, [], 0) }
            throw DatabaseError(error, while: "reading the lock")
        }
        return try calling("reading the lock") { () throws(FileError) in
            var bytes: [UInt8] = []
            // A record that is being written is whole a moment later.
            for _ in 0..<3 {
                bytes = try file.readAll(count: sizeBytes, at: 0)
                let found = found(in: bytes)
                if case .noRecord = found { continue }
                return (found, bytes, try file.size())
            }
            return (.noRecord, bytes, try file.size())
        }
    }

    static func read(_ file: any File) throws(DatabaseError) -> Found {
        try calling("reading the lock") { () throws(FileError) in
            found(in: try file.readAll(count: sizeBytes, at: 0))
        }
    }

    private static func found(in bytes: [UInt8]) -> Found {
        // A writer that ended right after it made the file, or while it wrote the first record.
        let start = bytes.prefix(magic.count)
        if bytes.count < recordSizeBytes, magic.starts(with: start) { return .nothing }
        // The same, and a power loss that left the size of the file.
        if bytes.allSatisfy({ $0 == 0 }) { return .nothing }
        return Witness(bytes).map { .witness($0) } ?? .noRecord
    }
}

// MARK: Judgement

extension Witness.Found {
    /// Whether there was a manifest. Making a database that ended before the first one leaves a
    /// lock that saw none.
    var knowsManifest: Bool { witness?.generation ?? 0 > 0 }

    /// Compares with the manifest that was read, before this.
    ///
    /// - Throws: `damaged` where the one or the other was replaced.
    func check(
        _ manifest: Manifest, in directory: any Directory
    ) throws(DatabaseError) {
        func damage(_ name: FileName, _ text: String) -> DatabaseError {
            DatabaseError(
                .damaged, text + "; put the newest files back, or see what is left: cozdb repair",
                file: directory.path + "/" + name.text, offset: 0)
        }
        switch self {
        case .nothing: return
        case .noRecord:
            guard manifest.fileVersion >= Manifest.versionWithWitness else { return }
            throw damage(
                .lock, "the lock has no whole record of the newest state, which it should")
        case .witness(let witness):
            let found = "it is of generation \(manifest.generation)"
            guard witness.databaseID == manifest.databaseID else {
                throw damage(
                    .manifest, "the manifest is of another database than LOCK, or LOCK is")
            }
            if witness.generation > manifest.generation {
                throw damage(
                    .manifest,
                    "the manifest was replaced by an older one: \(found), but generation "
                        + "\(witness.generation) was written; what was stored in between is missing"
                )
            }
            if witness.generation == manifest.generation,
                witness.manifestChecksum != manifest.fileChecksum
            {
                throw damage(
                    .manifest, "the manifest is not the one that was written: \(found), as that one"
                )
            }
            if witness.generation < manifest.generation, witness.isClosed {
                throw damage(
                    .lock,
                    "LOCK was replaced by an older one, or MANIFEST by another: \(found), and "
                        + "generation \(witness.generation) was the last at the end of writing")
            }
        }
    }
}
