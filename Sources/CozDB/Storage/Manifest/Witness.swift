// What the lock file remembers of the newest durable state, to tell when another file was replaced
// by an older version of itself; docs/format/lock.md.

/// The state of a database as its writer last knew it.
struct Witness: Equatable, Sendable {
    var serial: UInt64 = 0
    var databaseID: UInt64
    var generation: UInt64
    /// Of the payload of the manifest of that generation.
    var manifestChecksum: UInt32
    var isClosed = false
    /// The open log; 0 where there is none.
    var logNumber: UInt64 = 0
    /// Bytes of it that are durable and acknowledged.
    var logSizeBytes: UInt64 = 0
    /// Of the frames in those bytes; 0 where that is not known.
    var logChecksum: UInt32 = 0
    /// Who holds the lock, for people.
    var holder: String

    /// What a lock file holds.
    enum Found {
        /// There is no file, nothing was written to it yet, or this reader may not read it.
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
    /// Of a record, where it says whether it was closed.
    static let closedOffset = 44
    /// Of the holder's text, with which a record ends.
    static let holderOffset = 64
    static let sizeBytes = 2 * recordSizeBytes
    private static let holderSizeBytes = 200
    /// Of a record, what changes with every one: the checksum of the log and the turn behind it.
    static let tailRange = 268..<273
    static let turnOffset = 272
    /// Which of its turns a record was written in, never 0: so that a record of which only the
    /// beginning was written ends otherwise than one that was changed.
    private var turn: UInt8 { UInt8(1 + serial / 2 % 255) }
}

// MARK: Bytes

extension Witness {
    /// The record at one of the two places.
    ///
    /// - Parameter hasTail: false for the record of a build that did not write the tail yet.
    func record(at offset: Int, hasTail: Bool = true) -> [UInt8] {
        var body = ByteWriter(capacity: Witness.recordSizeBytes)
        body.append(serial)
        body.append(databaseID)
        body.append(generation)
        body.append(manifestChecksum)
        body.append(UInt32(isClosed ? 1 : 0))
        body.append(logNumber)
        body.append(logSizeBytes)
        var text = Array(holder.utf8.prefix(Witness.holderSizeBytes))
        text += Array(repeating: UInt8(ascii: " "), count: Witness.holderSizeBytes - text.count)
        body.append(text + [UInt8(ascii: "\n")])
        body.appendZeros(Witness.tailRange.lowerBound - 16 - body.count)
        if hasTail {
            body.append(logChecksum)
            body.append(turn)
        }
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

    private init?(_ bytes: [UInt8], at offset: Int) {
        guard bytes.count >= offset + Witness.recordSizeBytes else { return nil }
        let record = bytes.span.extracting(offset..<(offset + Witness.recordSizeBytes))
        var reader = ByteReader(record)
        guard let magic = try? reader.readBytes(8), [UInt8](copying: magic) == Witness.magic,
            let version = try? reader.readUInt32(), version == Witness.version,
            let stored = try? reader.readUInt32(),
            checksum(record.extracting(16...), seed: Witness.seed(offset)) == stored,
            let serial = try? reader.readUInt64(), let databaseID = try? reader.readUInt64(),
            let generation = try? reader.readUInt64(), let sum = try? reader.readUInt32(),
            let closed = try? reader.readUInt32(), let logNumber = try? reader.readUInt64(),
            let logSizeBytes = try? reader.readUInt64(),
            let text = try? reader.readBytes(Witness.holderSizeBytes),
            (try? reader.readBytes(4)) != nil, let logChecksum = try? reader.readUInt32(),
            max(serial, generation) < Manifest.counterLimit
        else { return nil }
        self.init(
            serial: serial, databaseID: databaseID, generation: generation,
            manifestChecksum: sum, isClosed: closed == 1, logNumber: logNumber,
            logSizeBytes: logSizeBytes, logChecksum: logChecksum,
            holder: Witness.text([UInt8](copying: text)))
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
        let file: any File
        do throws(FileError) {
            file = try directory.open(FileName.lock.text, writable: false)
        } catch {
            // A database that others may read has a lock that they may not.
            if error.isNotFound || error.isForbidden { return .nothing }
            throw DatabaseError(error, while: "reading the lock")
        }
        // A record that is being written is whole a moment later.
        for _ in 0..<3 {
            let found = try read(file)
            if case .noRecord = found { continue }
            return found
        }
        return .noRecord
    }

    static func read(_ file: any File) throws(DatabaseError) -> Found {
        let bytes = try calling("reading the lock") { () throws(FileError) in
            try file.readAll(count: sizeBytes, at: 0)
        }
        // A writer that ended right after it made the file: nothing was written to it yet.
        if bytes.isEmpty { return .nothing }
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
