// The zeros that are written ahead of the frames of a log: they come in time, they never cost a
// frame, and no failure of theirs is one of a commit.

import CozTestSupport
import Glibc
import Synchronization
import Testing

@testable import CozDB

struct LogReserveTests {
    static let identity = LogIdentity(databaseID: 77, number: 5, firstSequence: 1)
    static let path = "db/00000005.wal"

    /// Work that a test runs when it wants to.
    final class Later: Sendable {
        private let work = Mutex<[@Sendable () -> Void]>([])

        var count: Int { work.withLock { $0.count } }

        func add(_ body: @escaping @Sendable () -> Void) { work.withLock { $0.append(body) } }

        func run() {
            let all = work.withLock { work in
                defer { work = [] }
                return work
            }
            for body in all { body() }
        }
    }

    func makeLog(
        on system: FaultyFileSystem, background: @escaping LogReserve.Background
    ) throws -> LogWriter {
        let directory = try system.openDirectory("db", create: true, access: .ownerOnly)
        return try LogWriter(in: directory, identity: Self.identity, background: background)
    }

    /// Appends and syncs commits of these sizes; gives their number.
    @discardableResult
    func write(_ sizes: [Int], from first: UInt64 = 1, to log: LogWriter) throws -> UInt64 {
        for (index, size) in sizes.enumerated() {
            var random = SeededRandom(seed: UInt64(index))
            let record = random.bytes(size, in: 1...255)
            try log.append([record], firstSequence: first + UInt64(index))
            try log.sync()
        }
        return UInt64(sizes.count)
    }

    /// Number of the commits that a log gives back.
    func read(_ system: FaultyFileSystem) throws -> UInt64 {
        let directory = try system.openDirectory("db", create: false, access: .ownerOnly)
        var reader = try LogReader(
            directory.open("00000005.wal", writable: false), expecting: Self.identity,
            sealedSizeBytes: nil)
        var count: UInt64 = 0
        while let frame = try reader.next() { count += UInt64(frame.commits.count) }
        return count
    }

    /// Enough small commits to need more space twice.
    static let many = [Int](repeating: 1000, count: 1500)

    @Test func `small commits always find written space, and make the file longer by chunks`()
        throws
    {
        let system = FaultyFileSystem()
        let log = try makeLog(on: system) { $0() }
        for index in 0..<1500 {
            try write([1000], from: UInt64(index + 1), to: log)
            #expect(system[Self.path].count >= log.sizeBytes + LogReserve.leastSizeBytes - 1040)
        }
        let writes = system.calls.filter { $0.hasPrefix("pwrite") }.count
        #expect(writes == 1500 + 1 + 2, "the header, the frames, two chunks of zeros")
        #expect(try read(system) == 1500)
    }

    @Test func `where the zeros come too late, frames make the file longer themselves`() throws {
        let system = FaultyFileSystem()
        let later = Later()
        let log = try makeLog(on: system) { later.add($0) }
        let before = try write(Self.many, to: log)
        #expect(later.count == 1, "asked for once")
        #expect(system[Self.path].count == log.sizeBytes)
        later.run()
        #expect(system[Self.path].count == log.sizeBytes + LogReserve.chunkSizeBytes)
        let after = try write([10, 20], from: before + 1, to: log)
        #expect(try read(system) == before + after, "zeros went behind the frames")
    }

    @Test func `large commits ask for no zeros`() throws {
        let system = FaultyFileSystem()
        let later = Later()
        let log = try makeLog(on: system) { later.add($0) }
        try write([300_000, 70_000], to: log)
        #expect(later.count == 0)
        #expect(system[Self.path].count == log.sizeBytes)
        #expect(try read(system) == 2)
    }

    @Test(arguments: [ENOSPC, EIO])
    func `zeros that cannot be written are no failure of a commit`(code: Int32) throws {
        let system = FaultyFileSystem()
        let later = Later()
        let log = try makeLog(on: system) { later.add($0) }
        let before = try write([60_000, 10_000], to: log)
        #expect(later.count == 1)
        system.add(.init(at: system.callCount, .failure(code)))
        later.run()
        #expect(system.calls.last?.hasPrefix("pwrite") == true)
        let after = try write(Self.many, from: before + 1, to: log)
        #expect(later.count == 0, "not tried again in this log")
        #expect(try read(system) == before + after)
    }

    @Test(arguments: 0..<30)
    func `a power loss around the zeros loses no synced commit`(seed: Int) throws {
        for isWritten in [false, true] {
            let system = FaultyFileSystem()
            let later = Later()
            let log = try makeLog(on: system) { later.add($0) }
            let before = try write([60_000, 10_000], to: log)
            if isWritten { later.run() }
            // A frame on its way besides: written, not synced.
            try log.append([[1, 2, 3]], firstSequence: before + 1)
            let found = try read(system.survivor(.random(seed: UInt64(seed))))
            #expect(found == before || found == before + 1, "seed \(seed), \(isWritten)")
        }
    }

    @Test(arguments: [FaultyFileSystem.Fault.Kind.crash, .short, .interruption])
    func `zeros that are written in parts are zeros`(kind: FaultyFileSystem.Fault.Kind) throws {
        let system = FaultyFileSystem()
        let later = Later()
        let log = try makeLog(on: system) { later.add($0) }
        let before = try write([60_000, 10_000], to: log)
        system.add(.init(at: system.callCount, kind))
        let size = system[Self.path].count
        later.run()
        #expect(system[Self.path].count > size, "some were written")
        #expect(try read(system.survivor(.nothing)) == before)
    }
}
