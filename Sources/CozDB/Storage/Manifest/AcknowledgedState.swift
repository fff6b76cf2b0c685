// The last acknowledged state of a database, as the lock file keeps it. It tells when MANIFEST or
// the write-ahead log was replaced by an older version of itself; docs/format/lock.md.

/// The newest state that a writer knew to be durable.
struct AcknowledgedState: Equatable, Sendable {
    /// Counts the records of the lock file. The whole record with the larger serial is valid.
    var serial = AcknowledgedState.serialBeforeFirst
    var databaseID: UInt64
    /// Generation of the manifest; 0 before the first one.
    var generation: UInt64
    /// Checksum of that manifest's payload.
    var manifestChecksum: UInt32
    /// Number of the open log; 0 without one.
    var logNumber: UInt64 = 0
    /// Durable bytes of that log.
    var logSizeBytes: UInt64 = 0
    /// Checksum over the frames in those bytes.
    var logChecksum: UInt32 = 0
    /// Who took the lock last, for people.
    var holder: String

    /// What a lock file holds.
    enum Found {
        /// No file, no whole first record yet, or no permission to read it.
        case nothing
        /// Two records, neither of them whole.
        case noRecord
        case state(AcknowledgedState)

        var state: AcknowledgedState? {
            guard case .state(let state) = self else { return nil }
            return state
        }

        /// Whether the database had a manifest. False for a lock that was made just before a crash.
        var knowsManifest: Bool { state?.generation ?? 0 > 0 }
    }

    private static let magic: [UInt8] = Array("COZLCK\r\n".utf8)
    private static let version: UInt32 = 1
    static let recordSizeBytes = 512
    static let sizeBytes = 2 * recordSizeBytes
    /// Even serials go to the start of the file, so a new file begins with a whole record.
    static let serialBeforeFirst: UInt64 = 1
    private static let holderSizeBytes = 200

    /// Whether this is the state of a manifest: then the manifest is durable and the newest.
    func isOf(_ manifest: Manifest) -> Bool {
        generation == manifest.generation && manifestChecksum == manifest.fileChecksum
            && databaseID == manifest.databaseID
    }
}

// MARK: Bytes

extension AcknowledgedState {
    /// The record at one of the two offsets.
    func record(at offset: Int) -> [UInt8] {
        var body = ByteWriter(capacity: AcknowledgedState.recordSizeBytes)
        body.append(serial)
        body.append(databaseID)
        body.append(generation)
        body.append(manifestChecksum)
        body.append(logChecksum)
        body.append(logNumber)
        body.append(logSizeBytes)
        var text = Array(holder.utf8.prefix(AcknowledgedState.holderSizeBytes))
        let padding = AcknowledgedState.holderSizeBytes - text.count
        text += Array(repeating: UInt8(ascii: " "), count: padding)
        body.append(text + [UInt8(ascii: "\n")])
        body.appendZeros(AcknowledgedState.recordSizeBytes - 16 - body.count)
        var writer = ByteWriter(capacity: AcknowledgedState.recordSizeBytes)
        writer.append(AcknowledgedState.magic)
        writer.append(AcknowledgedState.version)
        writer.append(checksum(body.bytes.span, seed: AcknowledgedState.seed(offset)))
        writer.append(body.bytes)
        return writer.bytes
    }

    private static func seed(_ offset: Int) -> UInt32 {
        positionSeed(file: UInt64(version), offset: UInt64(offset))
    }

    /// The newest whole record of a lock file.
    init?(_ bytes: [UInt8]) {
        let found = [0, AcknowledgedState.recordSizeBytes].compactMap { offset in
            AcknowledgedState(bytes, at: offset)
        }
        guard let newest = found.max(by: { $0.serial < $1.serial }) else { return nil }
        self = newest
    }

    /// The record at one of the two offsets; nil if it is not whole.
    init?(_ bytes: [UInt8], at offset: Int) {
        guard bytes.count >= offset + AcknowledgedState.recordSizeBytes else { return nil }
        let end = offset + AcknowledgedState.recordSizeBytes
        let record = bytes.span.extracting(offset..<end)
        var reader = ByteReader(record)
        guard let magic = try? reader.readBytes(8),
            [UInt8](copying: magic) == AcknowledgedState.magic,
            let version = try? reader.readUInt32(), version == AcknowledgedState.version,
            let stored = try? reader.readUInt32(),
            checksum(record.extracting(16...), seed: AcknowledgedState.seed(offset)) == stored,
            let serial = try? reader.readUInt64(), let databaseID = try? reader.readUInt64(),
            let generation = try? reader.readUInt64(),
            let manifestChecksum = try? reader.readUInt32(),
            let logChecksum = try? reader.readUInt32(), let logNumber = try? reader.readUInt64(),
            let logSizeBytes = try? reader.readUInt64(),
            let text = try? reader.readBytes(AcknowledgedState.holderSizeBytes),
            max(serial, generation) < Manifest.counterLimit
        else { return nil }
        self.init(
            serial: serial, databaseID: databaseID, generation: generation,
            manifestChecksum: manifestChecksum, logNumber: logNumber, logSizeBytes: logSizeBytes,
            logChecksum: logChecksum, holder: AcknowledgedState.text([UInt8](copying: text)))
    }

    /// Printable text, whatever the bytes.
    private static func text(_ bytes: [UInt8]) -> String {
        let end = bytes.lastIndex { $0 > UInt8(ascii: " ") }.map { $0 + 1 } ?? 0
        let shown = bytes[..<end].map { 0x20..<0x7F ~= $0 ? $0 : UInt8(ascii: "?") }
        return String(decoding: shown, as: UTF8.self)
    }
}

// MARK: File

extension AcknowledgedState {
    /// Reads the lock file of a database; a writer may be writing it.
    static func read(in directory: any Directory) throws(DatabaseError) -> Found {
        try readBytes(in: directory).found
    }

    /// Reads the lock file and returns its bytes and the size of the file as well.
    static func readBytes(
        in directory: any Directory
    ) throws(DatabaseError) -> (found: Found, bytes: [UInt8], sizeBytes: Int) {
        let file: any File
        do throws(FileError) {
            file = try directory.open(FileName.lock.text, writable: false)
        } catch {
            // The lock is the owner's alone, also where others may read the database.
            if error.isNotFound || error.isPermissionDenied { return (.nothing, [], 0) }
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
        // A crash right after the file was made, or while its first record was written.
        let start = bytes.prefix(magic.count)
        if bytes.count < recordSizeBytes, magic.starts(with: start) { return .nothing }
        // The same with a power loss that kept the size of the file but not its bytes.
        if bytes.allSatisfy({ $0 == 0 }) { return .nothing }
        return AcknowledgedState(bytes).map { .state($0) } ?? .noRecord
    }
}

// MARK: Comparison with the manifest

extension AcknowledgedState.Found {
    /// Compares with a manifest that was read before the lock file. An older lock is no damage:
    /// its records are not synced one by one.
    ///
    /// - Throws: `damaged` if the manifest was replaced, or if the lock has no whole record.
    func check(
        _ manifest: Manifest, in directory: any Directory
    ) throws(DatabaseError) {
        func damage(_ name: FileName, _ text: String) -> DatabaseError {
            DatabaseError(
                .damaged, text + "; put the newest files back, or repair the database",
                file: directory.path + "/" + name.text, offset: 0, remedy: .repair)
        }
        switch self {
        case .nothing: return
        case .noRecord:
            throw damage(.lock, "found no intact record in LOCK, expected at least one")
        case .state(let state):
            guard state.databaseID == manifest.databaseID else {
                throw damage(
                    .manifest, "the manifest and LOCK belong to different databases")
            }
            if state.generation > manifest.generation {
                throw damage(
                    .manifest,
                    "the manifest was replaced by an older one: found generation "
                        + "\(manifest.generation), expected \(state.generation); everything "
                        + "stored in between is missing")
            }
            if state.generation == manifest.generation, !state.isOf(manifest) {
                throw damage(
                    .manifest,
                    "the manifest was replaced: its generation is \(manifest.generation), as "
                        + "expected, but its checksum is not")
            }
        }
    }
}
