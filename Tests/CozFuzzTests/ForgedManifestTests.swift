// Manifests and locks whose checksums are right, and that no writer makes.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB

struct ForgedManifestTests {
    private func error(_ body: () throws -> Void) -> DatabaseError? {
        #expect(throws: DatabaseError.self) { try body() }
    }

    /// The sample with another manifest, and with the lock of a writer that was killed.
    private func files(manifest: [UInt8], lock: AcknowledgedState? = nil) -> MemoryFiles {
        var contents = Sample.files
        contents["db/MANIFEST"] = manifest
        if let lock {
            contents["db/LOCK"] =
                lock.record(at: 0) + lock.record(at: AcknowledgedState.recordSizeBytes)
        }
        return MemoryFiles(contents)
    }

    private func count(_ files: MemoryFiles) throws -> String {
        let answer = try Sample.open(files, .readOnly).query(
            "SELECT count(v) FROM dev", options: Sample.queryOptions)
        return "\(answer)"
    }

    // MARK: Contents

    private func payload(_ bytes: [UInt8]) throws -> [UInt8] {
        try decompressedBytes(bytes.span.extracting(Manifest.headerSizeBytes...), limit: 1 << 20)
    }

    private static let forgeries: [(String, @Sendable (inout Manifest) -> Void)] = [
        ("a counter is out of range", { $0.generation = Manifest.counterLimit }),
        ("a counter is out of range", { $0.nextFileNumber = 1 << 63 }),
        ("a counter is out of range", { $0.lastSequence = .max }),
        ("a file number is out of range", { $0.logs[0].number = .max }),
        ("a file number is out of range", { $0.segments[0].number = .max }),
        ("a file number is out of range", { $0.rejects[0].number = .max }),
        ("two files have the number", { $0.logs.append($0.logs[0]) }),
        ("two files have the number", { $0.segments[0].number = $0.logs[0].number }),
        ("two files have the number", { $0.rejects[0].number = $0.segments[0].number }),
        ("the first sequence of a log is out of range", { $0.logs[0].firstSequence = 1 << 62 }),
        ("expected at most", { $0.segments[0].rowCount = Manifest.countMax + 1 }),
        ("expected at most", { $0.segments[0].sizeBytes = Int.max }),
        ("expected at most", { $0.counters.mergedRows = Int.max }),
    ]

    @Test(arguments: forgeries.indices)
    func `numbers that nobody can reach are damage`(index: Int) throws {
        let (words, change) = Self.forgeries[index]
        var manifest = Sample.manifest
        change(&manifest)
        let files = files(manifest: manifest.encoded())
        for access in [DatabaseAccess.readOnly, .readWrite] {
            let error = error { _ = try Sample.open(files, access) }
            #expect(error?.kind == .damaged)
            #expect(error?.file == "db/MANIFEST")
            #expect(error?.message.contains(words) == true, "\(String(describing: error))")
        }
        try Sample.mend(files)
    }

    @Test func `nobody counts on behind the last number`() throws {
        var manifest = Sample.manifest
        manifest.generation = Manifest.counterLimit - 1
        let bytes = manifest.encoded()
        let files = files(manifest: bytes)
        let error = error { _ = try Sample.open(files, .readWrite) }
        #expect(error?.kind == .io)
        #expect(files.files["db/MANIFEST"] == bytes, "nobody could read the next one")
        _ = try Sample.open(files, .readOnly)
    }

    /// Payloads of a few megabytes at most that stand for very much, and what is said of them.
    private func bombs() throws -> [(words: String, start: [UInt8], zeros: Int)] {
        let plain = try payload(Sample.manifest.encoded())
        func varint(_ value: Int) -> [UInt8] {
            var writer = ByteWriter()
            writer.appendVarint(value)
            return writer.bytes
        }
        // Former tags and branches are the last parts, of which there are none; in front of the
        // counters there is a file of the journal.
        let tags = Array(plain.dropLast(2)) + varint(60_000_000)
        let branches = Array(plain.dropLast()) + varint(10_001)
        var manifest = Sample.manifest
        manifest.logs = (0..<2000).map {
            Manifest.Log(number: UInt64(10_000 + $0), firstSequence: 1, sealedSizeBytes: nil)
        }
        let logs = try payload(manifest.encoded())
        return [
            ("former tags are not in ascending order", tags, 60_000_000),
            ("for an original size of", [], 200_000_000),
            ("found 10001, expected at most 10000", branches, 60_000_000),
            ("expected at most 1000", logs, 0),
        ]
    }

    @Test func `a manifest of a few bytes cannot ask for gigabytes`() throws {
        for (words, start, zeros) in try bombs() {
            var writer = ByteWriter()
            writer.append(UInt8(1))
            writer.appendVarint(start.count + zeros)
            writer.append(LZ4Bomb.block(start, zeros: zeros))
            let files = files(manifest: Manifest.file(writer.bytes))
            for access in [DatabaseAccess.readOnly, .readWrite] {
                let error = error { _ = try Sample.open(files, access) }
                #expect(error?.kind == .damaged)
                #expect(error?.message.contains(words) == true, "\(String(describing: error))")
            }
        }
    }

    @Test func `of a large file that is none of ours no more than its beginning is read`() throws {
        let count = 64 << 20
        var bytes = [UInt8](repeating: 0, count: count)
        var files = files(manifest: bytes)
        let error = error { _ = try Sample.open(files, .readOnly) }
        #expect(error?.message.contains("not the beginning of a manifest") == true)
        bytes.replaceSubrange(0..<8, with: Manifest.magic)
        bytes[8] = UInt8(Manifest.version)
        files = self.files(manifest: bytes)
        let other = self.error { _ = try Sample.open(files, .readOnly) }
        #expect(
            other?.kind == .damaged && other?.message.contains("found a payload of 1 b") == true)
    }

    @Test func `bytes behind the end are damage`() throws {
        let plain = try payload(Sample.manifest.encoded())
        let files = files(manifest: Manifest.file([0] + plain + [0]))
        let error = error { _ = try Sample.open(files, .readOnly) }
        #expect(error?.kind == .damaged)
        #expect(error?.message.contains("bytes after the manifest's end") == true)
        try Sample.mend(files)
    }

    @Test func `a segment with an unknown flag is refused`() throws {
        var quick = Sample.manifest
        quick.segments[0].isQuicklyEncoded.toggle()
        var plain = try payload(Sample.manifest.encoded())
        let place = try #require(
            zip(plain, try payload(quick.encoded())).map(!=).firstIndex(of: true))
        plain[place] |= 2
        let files = files(manifest: Manifest.file([0] + plain))
        let error = error { _ = try Sample.open(files, .readOnly) }
        #expect(error?.kind == .unsupportedFormat)
        #expect(error?.message.contains("unknown flags of a segment: 2") == true)
    }

    // MARK: Versions

    @Test func `a repair leaves a newer version alone, if it is one`() throws {
        let newer = Manifest.file([1, 2, 3], version: 99)
        let whole = files(manifest: newer)
        let error = error { _ = try Database.repair("db", on: whole) }
        #expect(error?.kind == .unsupportedFormat)
        #expect(error?.message.contains("manifest version 99") == true)
        #expect(whole.files["db/MANIFEST"] == newer)
        // A flipped bit makes a version, too; then the segments say what there is.
        var flipped = Sample.manifest.encoded()
        flipped[8] ^= 1 << 6
        for bytes in [flipped, Array(flipped[..<13]), Array(flipped[..<23])] {
            let files = files(manifest: bytes)
            let report = try Database.repair("db", on: files)
            #expect(!report.isEmpty)
            try Sample.mend(files)
            #expect(try count(files) == count(MemoryFiles(Sample.files)))
        }
    }

    // MARK: Locks

    private static let locks: [(String, @Sendable (inout AcknowledgedState) -> Void)] = [
        ("belong to different databases", { $0.databaseID += 1 }),
        ("was replaced by an older one", { $0.generation += 1 }),
        ("the manifest was replaced: its generation", { $0.manifestChecksum += 1 }),
    ]

    @Test(arguments: locks.indices)
    func `a lock that knows another state is damage`(index: Int) throws {
        let (words, change) = Self.locks[index]
        let bytes = Sample.manifest.encoded()
        let manifest = try Manifest(decoding: bytes)
        var state = AcknowledgedState(
            databaseID: manifest.databaseID, generation: manifest.generation,
            manifestChecksum: manifest.fileChecksum, holder: "nobody")
        let agreeing = files(manifest: bytes, lock: state)
        _ = try Sample.open(agreeing, .readOnly)
        change(&state)
        let files = files(manifest: bytes, lock: state)
        for access in [DatabaseAccess.readOnly, .readWrite] {
            let error = error {
                let database = try Sample.open(files, access)
                _ = try database.query("SHOW SERIES", options: Sample.queryOptions)
            }
            #expect(error?.kind == .damaged)
            #expect(error?.message.contains(words) == true, "\(String(describing: error))")
        }
        try Sample.mend(files)
    }

    // MARK: Readers beside a writer

    /// A directory in which the manifest is newer each time that somebody looks.
    private final class Hurry: ReadingDirectory {
        let directory: any Directory

        init(_ files: MemoryFiles) {
            directory = MemoryDirectory(files, "db")
        }

        func open(_ name: String, writable: Bool) throws(FileError) -> any File {
            if FileName(name) == .manifest, var manifest = try? Manifest.read(in: directory) {
                try manifest.replace(in: directory)
            }
            return try directory.open(name, writable: writable)
        }
    }

    @Test func `a reader comes through beside a writer that never rests`() throws {
        let reader = try LiveReader(Hurry(files(manifest: Sample.manifest.encoded())))
        let snapshot = try reader.snapshot()
        #expect(!Sample.manifest.logs.isEmpty)
        #expect(snapshot.sequence > Sample.manifest.lastSequence)
    }
}

extension Manifest {
    fileprivate mutating func replace(in directory: any Directory) throws(FileError) {
        generation += 1
        try write(in: directory)
    }
}
