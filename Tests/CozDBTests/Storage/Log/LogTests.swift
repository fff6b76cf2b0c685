// The write-ahead log: one test for each way in which a record can be broken.

import CozTestSupport
import Synchronization
import Testing

@testable import CozDB

struct LogTests {
    static let identity = LogIdentity(databaseID: 77, number: 5, firstSequence: 10)

    let system = FaultyFileSystem()

    var directory: any Directory {
        get throws {
            try system.openDirectory("db", create: true, access: .ownerOnly)
        }
    }

    let path = "db/00000005.wal"

    /// Writes a log of three frames with two commits each; gives the offsets of the frames.
    func write(
        identity: LogIdentity = Self.identity, syncing: Bool = true, sizes: [Int] = [100, 3000, 40]
    ) throws -> [Int] {
        let writer = try LogWriter(in: directory, identity: identity) { $0() }
        var offsets: [Int] = []
        for (index, size) in sizes.enumerated() {
            offsets.append(writer.sizeBytes)
            try writer.append(
                [[UInt8](repeating: UInt8(index), count: size), [7]],
                firstSequence: identity.firstSequence + UInt64(2 * index))
            if syncing { try writer.sync() }
        }
        return offsets + [writer.sizeBytes]
    }

    struct Outcome {
        var sequences: [UInt64] = []
        var tornBytes = 0
    }

    func read(
        _ identity: LogIdentity = Self.identity, sealed: Int? = nil
    ) throws -> Outcome {
        let name = FileName.log(identity.number).text
        var reader = try LogReader(
            directory.open(name, writable: false), expecting: identity, sealedSizeBytes: sealed)
        var outcome = Outcome()
        while let frame = try reader.next() {
            outcome.sequences.append(frame.firstSequence)
            #expect(frame.commits.count == 2)
        }
        outcome.tornBytes = reader.tornBytes
        return outcome
    }

    func damage(_ what: String, sealed: Int? = nil, at offset: Int?) {
        do {
            let outcome = try read(sealed: sealed)
            Issue.record("\(what): read \(outcome)")
        } catch let error as DatabaseError {
            #expect(error.kind == .damaged)
            #expect(error.file == path)
            if let offset { #expect(error.offset == offset) }
        } catch {
            Issue.record("\(what): \(error)")
        }
    }

    @Test func `frames read back in order, and reserved space is no frame`() throws {
        let offsets = try write()
        #expect(system[path].count > offsets[3] + 100_000)
        let outcome = try read()
        #expect(outcome.sequences == [10, 12, 14])
        #expect(outcome.tornBytes == 0)
    }

    @Test func `a frame that a writer adds while its place is read is no damage`() throws {
        let offsets = try write()
        let file = GrowingFile(
            try directory.open("00000005.wal", writable: false),
            missing: offsets[1]..<offsets[2])
        var reader = try LogReader(file, expecting: Self.identity, sealedSizeBytes: nil)
        var sequences: [UInt64] = []
        while let frame = try reader.next() { sequences.append(frame.firstSequence) }
        #expect(sequences == [10, 12, 14])
        #expect(reader.tornBytes == 0)
    }

    @Test func `an empty log is clean`() throws {
        _ = try LogWriter(in: directory, identity: Self.identity) { $0() }
        #expect(try read().sequences.isEmpty)
    }

    @Test func `a torn header at the end is cut off`() throws {
        let offsets = try write()
        for cut in stride(from: 1, to: LogFormat.frameHeaderSizeBytes, by: 5) {
            system[path].removeLast(system[path].count - offsets[2] - cut)
            let outcome = try read()
            #expect(outcome.sequences == [10, 12])
            #expect(outcome.tornBytes == cut)
            system.erase(path)
            _ = try write()
        }
    }

    @Test func `a torn payload at the end is cut off`() throws {
        let offsets = try write()
        let whole = system[path]
        for end in (offsets[2] + LogFormat.frameHeaderSizeBytes)..<(offsets[2] + 73) {
            var bytes = whole
            for index in end..<bytes.count { bytes[index] = 0 }
            system[path] = bytes
            #expect(try read().sequences == [10, 12])
        }
    }

    @Test func `a frame without its last sector is cut off, with it gone the ones before stay`()
        throws
    {
        let offsets = try write(sizes: [100, 3000])
        for start in stride(from: 512, to: offsets[2], by: 512) where start > offsets[1] {
            var bytes = system[path]
            for index in start..<min(start + 512, bytes.count) { bytes[index] = 0 }
            let whole = system[path]
            system[path] = bytes
            #expect(try read().sequences == [10], "sector at \(start)")
            system[path] = whole
        }
    }

    @Test func `every bit of the last frame counts`() throws {
        let offsets = try write()
        for offset in offsets[2]..<(offsets[2] + 73) {
            system[path][offset] ^= 0x10
            let outcome = try read()
            #expect(outcome.sequences == [10, 12], "offset \(offset)")
            #expect(outcome.tornBytes > 0)
            system[path][offset] ^= 0x10
        }
        #expect(try read().sequences == [10, 12, 14])
    }

    @Test func `a bad frame with a synced one behind it is damage`() throws {
        let offsets = try write()
        for offset in [offsets[0], offsets[0] + 24, offsets[0] + 60, offsets[1], offsets[1] + 999] {
            system[path][offset] ^= 1
            let frame = offset < offsets[1] ? offsets[0] : offsets[1]
            damage("offset \(offset)", at: frame)
            system[path][offset] ^= 1
        }
    }

    @Test func `zeros in place of a synced frame are damage`() throws {
        let offsets = try write()
        for index in offsets[1]..<offsets[2] { system[path][index] = 0 }
        damage("zeros", at: offsets[1])
    }

    @Test func `a bad frame that was never synced is a torn tail, whatever follows`() throws {
        let offsets = try write(syncing: false)
        system[path][offsets[1] + 50] ^= 1
        let outcome = try read()
        #expect(outcome.sequences == [10])
        #expect(outcome.tornBytes == system[path].count - offsets[1])
    }

    @Test func `a sealed log must have its size and every frame`() throws {
        let offsets = try write()
        #expect(try read(sealed: offsets[3]).sequences == [10, 12, 14])
        let whole = system[path]
        for size in [offsets[3] - 1, offsets[2], offsets[1] + 3, LogFormat.headerSizeBytes] {
            system[path] = Array(whole[..<size])
            damage("cut to \(size)", sealed: offsets[3], at: size)
        }
        system[path] = whole
        system[path][offsets[2] + 40] ^= 1
        damage("flipped", sealed: offsets[3], at: offsets[2])
    }

    @Test func `stale frames of another file are no frames`() throws {
        var other = Self.identity
        other.number = 6
        _ = try write(identity: other)
        let stale = system["db/00000006.wal"]
        let offsets = try write(sizes: [100])
        system[path].replaceSubrange(offsets[1]..<stale.count, with: stale[offsets[1]...])
        #expect(try read().sequences == [10])
    }

    @Test func `a frame at another place than where it was written is none`() throws {
        let offsets = try write()
        let frame = Array(system[path][offsets[0]..<offsets[1]])
        system[path].replaceSubrange(offsets[3]..<(offsets[3] + frame.count), with: frame)
        let outcome = try read()
        #expect(outcome.sequences == [10, 12, 14])
        #expect(outcome.tornBytes > 0)
    }

    @Test func `a frame written twice does not come twice`() throws {
        let writer = try LogWriter(in: directory, identity: Self.identity) { $0() }
        for _ in 0..<2 {
            try writer.append([[1], [2]], firstSequence: 10)
        }
        #expect(try read().sequences == [10])
    }

    @Test func `every byte of the header counts`() throws {
        _ = try write()
        for offset in 0..<LogFormat.headerSizeBytes {
            system[path][offset] ^= 4
            #expect(throws: DatabaseError.self, "offset \(offset)") { try read() }
            system[path][offset] ^= 4
        }
        #expect(throws: DatabaseError.self) {
            var other = Self.identity
            other.firstSequence = 11
            _ = try read(other)
        }
    }

    @Test func `any cut leaves a prefix of the frames`() throws {
        let offsets = try write()
        let whole = system[path]
        for size in stride(from: offsets[3] + 64, through: LogFormat.headerSizeBytes, by: -7) {
            system[path] = Array(whole[..<size])
            // Without the zeros that fill up a frame.
            let ends = [offsets[0] + 32 + 103, offsets[1] + 32 + 3004, offsets[2] + 32 + 43]
            let expected = ends.filter { $0 <= size }.count
            #expect(try read().sequences.count == expected, "cut to \(size)")
        }
    }

    @Test func `random bytes behind the frames are a torn tail`() throws {
        let offsets = try write()
        var random = SeededRandom(seed: 4)
        for index in offsets[3]..<(offsets[3] + 5000) {
            system[path][index] = UInt8.random(in: 0...255, using: &random)
        }
        #expect(try read().sequences == [10, 12, 14])
    }

    /// One frame with these commits, and what is read of it.
    private func commits(_ commits: [[UInt8]]) throws -> (sizeBytes: Int, read: [[UInt8]]) {
        try? directory.remove("00000005.wal")
        let writer = try LogWriter(in: directory, identity: Self.identity) { $0() }
        try writer.append(commits, firstSequence: 10)
        var reader = try LogReader(
            directory.open("00000005.wal", writable: false), expecting: Self.identity,
            sealedSizeBytes: nil)
        return (writer.sizeBytes, try reader.next()?.commits ?? [])
    }

    @Test func `large frames are compressed, where that saves something`() throws {
        var random = SeededRandom(seed: 11)
        let noise = random.bytes(50_000, in: 0...255)
        let rows = (0..<50_000).map { UInt8(truncatingIfNeeded: $0 % 50) }
        let limit = LogFormat.compressedSizeBytesMin
        for (commit, most) in [
            (noise, 50_100), (rows, 2000), (Array(rows[..<limit]), 2000),
            (Array(rows[..<(limit - 100)]), limit),
        ] {
            let frame = try commits([commit, [1, 2, 3]])
            #expect(frame.read == [commit, [1, 2, 3]])
            #expect(frame.sizeBytes <= most, "\(commit.count) bytes")
            if commit.count < limit { #expect(frame.sizeBytes > commit.count) }
        }
    }

    @Test func `every byte of a compressed frame counts`() throws {
        let rows = (0..<50_000).map { UInt8(truncatingIfNeeded: $0 % 50) }
        let frame = try commits([rows, [1]])
        for offset in LogFormat.headerSizeBytes..<(frame.sizeBytes - LogFormat.alignment) {
            system[path][offset] ^= 0x41
            let outcome = try read()
            #expect(outcome.sequences.isEmpty, "offset \(offset)")
            #expect(outcome.tornBytes > 0)
            system[path][offset] ^= 0x41
        }
        #expect(try read().sequences == [10])
    }

    @Test func `logs without compression are read`() throws {
        _ = try write()
        var bytes = system[path]
        let fields = Array(bytes[16..<LogFormat.headerSizeBytes])
        var head = ByteWriter()
        head.append(UInt32(1))
        head.append(checksum(fields.span, seed: 1))
        bytes.replaceSubrange(8..<16, with: head.bytes)
        system[path] = bytes
        #expect(try read().sequences == [10, 12, 14])
    }

    @Test func `commits share a frame only up to what readers accept`() {
        let group = CommitGroup(firstSequence: 1)
        #expect(group.hasRoom(for: 3 * LogFormat.groupSizeBytesMax), "the first always has")
        group.append([UInt8](repeating: 0, count: 100))
        #expect(group.hasRoom(for: LogFormat.groupSizeBytesMax - 100))
        #expect(!group.hasRoom(for: LogFormat.groupSizeBytesMax - 99))
        #expect(LogFormat.commitSizeBytesMax + 10 <= LogFormat.payloadSizeBytesMax)
    }
}

/// A file that a writer makes longer: the first read of a range gives zeros.
private final class GrowingFile: File {
    let path: String
    private let file: any File
    private let missing: Range<Int>
    private let wasRead = Atomic(false)

    init(_ file: any File, missing: Range<Int>) {
        path = file.path
        (self.file, self.missing) = (file, missing)
    }

    func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(FileError) -> Int {
        let count = try unsafe file.read(into: buffer, at: offset)
        guard missing.overlaps(offset..<(offset + count)) else { return count }
        guard wasRead.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged
        else { return count }
        for place in missing.clamped(to: offset..<(offset + count)) {
            unsafe buffer[place - offset] = 0
        }
        return count
    }

    func size() throws(FileError) -> Int { try file.size() }
    func write(_ buffer: UnsafeRawBufferPointer, at offset: Int) throws(FileError) -> Int {
        try unsafe file.write(buffer, at: offset)
    }
    func allocate(size: Int) throws(FileError) { try file.allocate(size: size) }
    func truncate(to size: Int) throws(FileError) { try file.truncate(to: size) }
    func syncData() throws(FileError) { try file.syncData() }
    func map(size: Int) throws(FileError) -> FileMapping { try file.map(size: size) }
}
