// Logs whose checksums are right, and that no writer makes.

internal import Testing

@testable internal import CozDB

struct ForgedLogTests {
    private static let path = "db/" + FileName.log(Sample.manifest.logs[0].number).text

    /// The sample with another frame in its log.
    ///
    /// - Parameters:
    ///   - start: of its payload before compression.
    ///   - zeros: behind that.
    private func files(_ start: [UInt8], zeros: Int, commitCount: Int) -> MemoryFiles {
        let log = Sample.manifest.logs[0]
        let identity = LogIdentity(
            databaseID: Sample.databaseID, number: log.number, firstSequence: log.firstSequence)
        var payload = ByteWriter()
        payload.appendVarint(start.count + zeros)
        payload.append(LZ4Bomb.block(start, zeros: zeros))
        let offset = LogFormat.headerSizeBytes
        var header = FrameHeader(
            payloadSizeBytes: payload.count,
            payloadChecksum: checksum(
                payload.bytes.span, seed: LogFormat.seed(identity, offset: offset)),
            firstSequence: log.firstSequence, durableSizeBytes: 0, commitCount: commitCount)
        header.isCompressed = true
        var file = ByteWriter()
        file.append(identity.header())
        header.append(to: &file, log: identity, offset: offset)
        file.append(payload.bytes)
        let frameSize = LogFormat.frameSizeBytes(payload: payload.count)
        file.appendZeros(offset + frameSize - file.count)
        // A second frame says that the first was synced: what is bad in it is no torn tail.
        let second = [UInt8]([1, 0])
        FrameHeader(
            payloadSizeBytes: second.count,
            payloadChecksum: checksum(
                second.span, seed: LogFormat.seed(identity, offset: offset + frameSize)),
            firstSequence: log.firstSequence + 1, durableSizeBytes: offset + frameSize,
            commitCount: 1
        ).append(to: &file, log: identity, offset: offset + frameSize)
        file.append(second)
        var contents = Sample.files
        contents[Self.path] = file.bytes
        return MemoryFiles(contents)
    }

    private static let version = CommitRecord.version

    /// A payload that stands for very much.
    struct Bomb: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// What is said of it: the bound that it meets.
        var words: String
        var start: [UInt8]
        var zeros: Int
        var commitCount: Int

        init(
            _ name: String, _ words: String, _ start: [UInt8], zeros: Int, commits: Int = 1
        ) {
            testDescription = name
            self.words = words
            self.start = start
            self.zeros = zeros
            commitCount = commits
        }

        /// One commit whose next part has very many entries.
        init(_ name: String, _ words: String, commit start: [UInt8]) {
            let size = 50_000_000
            var writer = ByteWriter()
            writer.appendVarint(size)
            let count = writer.bytes
            writer.removeAll()
            writer.appendVarint(start.count + count.count + size)
            self.init(name, words, writer.bytes + start + count, zeros: size)
        }
    }

    private static let bombs: [Bomb] = [
        Bomb(
            "more than is plausible",
            "compressed bytes for an original size of 900000000, which is impossible", [],
            zeros: 900_000_000),
        Bomb("more than a payload", "expected at most 1073741824", [], zeros: 1 << 30 + 1),
        Bomb(
            "empty commits", "found 50000000 commits, expected at most 65536", [],
            zeros: 50_000_000, commits: 50_000_000),
        Bomb(
            "more commits than the frame says", "found more commits, expected 3", [],
            zeros: 50_000_000, commits: 3),
        Bomb(
            "commits without end", "found 1073741824 commits, expected at most 65536", [],
            zeros: 50_000_000, commits: 1 << 30),
        Bomb("changes", "unknown", commit: [version]),
        Bomb("entries", "found 50000000, expected at most 4194304", commit: [version, 0]),
        Bomb("strings", "found a second empty string", commit: [version, 0, 0]),
        Bomb("tables", "rows of an unknown experiment 0", commit: [version, 0, 0, 0]),
    ]

    @Test(arguments: bombs)
    func `a log of a few bytes cannot ask for gigabytes`(bomb: Bomb) throws {
        let files = files(bomb.start, zeros: bomb.zeros, commitCount: bomb.commitCount)
        for access in [DatabaseAccess.readOnly, .readWrite] {
            let error = #expect(throws: DatabaseError.self) {
                let database = try Sample.open(files, access)
                _ = try database.query("SHOW SERIES", options: Sample.queryOptions)
            }
            // Zeros are changes of a kind that a newer version may know.
            #expect(error?.kind == .damaged || error?.kind == .unsupportedFormat)
            #expect(error?.file == Self.path)
            #expect(error?.message.contains(bomb.words) == true, "\(String(describing: error))")
        }
    }
}
