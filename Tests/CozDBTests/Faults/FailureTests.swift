// What the writer does after a single failure: what it refuses, frees and leaves behind.

import CozTestSupport
import Glibc
import Testing

@testable import CozDB

struct FailureTests {
    /// Numbers of the calls of one kind on files with one ending.
    func calls(
        _ system: FaultyFileSystem, from first: Int = 0, _ name: String, _ ending: String
    ) -> [Int] {
        let calls = system.calls
        return calls.indices.filter {
            $0 >= first && calls[$0].hasPrefix(name + " ") && calls[$0].hasSuffix(ending)
        }
    }

    func writeThree(_ database: Database) throws {
        for number in 1...3 { _ = try database.write(FaultWorkload.batch(number)) }
    }

    @Test
    func `a failed sync of the log stops all writing, also after a power loss nothing is lost`()
        throws
    {
        let workload = FaultWorkload()
        let system = FaultyFileSystem()
        let database = try workload.open(system)
        try writeThree(database)
        system.add(.init(at: system.callCount + 1, .failure(EIO)))
        #expect(throws: DatabaseError.self) { try database.write(FaultWorkload.batch(4)) }
        #expect(system.calls.last?.hasPrefix("fdatasync") == true)
        let callCount = system.callCount
        #expect(throws: DatabaseError.self) { try database.write(FaultWorkload.batch(5)) }
        #expect(throws: DatabaseError.self) { try database.flush() }
        #expect(throws: DatabaseError.self) { try database.compact() }
        #expect(system.callCount == callCount, "nothing was tried again")
        #expect(try Contents(database) == FaultTests.prefixes.get()[3], "readers go on")
        let progress = FaultWorkload.Progress(acknowledged: 3, begun: 4)
        for seed in 0..<20 {
            workload.check(
                system.survivor(.random(seed: UInt64(seed))), progress, "seed \(seed)")
        }
    }

    @Test func `closing after a failure frees the lock`() throws {
        let workload = FaultWorkload()
        let system = FaultyFileSystem()
        let database = try workload.open(system)
        try writeThree(database)
        system.add(.init(at: system.callCount, .failure(EIO)))
        #expect(throws: DatabaseError.self) { try database.close() }
        let next = try workload.open(system)
        #expect(try Contents(next) == FaultTests.prefixes.get()[3])
        try next.close()
        withExtendedLifetime(database) {}
    }

    @Test func `a failed replacement of the manifest by a merge stops all writing`() throws {
        let workload = FaultWorkload()
        let plain = FaultyFileSystem()
        var first = 0
        func run(_ system: FaultyFileSystem) throws -> Database {
            let database = try workload.open(system)
            _ = try database.write(FaultWorkload.batch(1))
            try database.flush()
            _ = try database.write(FaultWorkload.batch(2))
            try database.flush()
            first = system.callCount
            return database
        }
        try run(plain).compact()
        let renames = calls(plain, from: first, "rename", "MANIFEST.new")
        let rename = try #require(renames.first)
        for call in [rename, rename + 1] {
            let system = FaultyFileSystem(faults: [.init(at: call, .failure(EIO))])
            let database = try run(system)
            #expect(throws: DatabaseError.self) { try database.compact() }
            #expect(throws: DatabaseError.self) { try database.write(FaultWorkload.batch(3)) }
            try? database.close()
            let next = try workload.open(system)
            #expect(try Contents(next) == FaultTests.prefixes.get()[2])
            try next.close()
        }
    }

    @Test func `a merge that fails for lack of space takes none`() throws {
        let workload = FaultWorkload()
        let system = FaultyFileSystem()
        let database = try workload.open(system)
        for number in 1...2 {
            _ = try database.write(FaultWorkload.batch(number))
            try database.flush()
        }
        let before = system.files
        // The first call makes the file, the second writes it.
        system.add(.init(at: system.callCount + 1, .failure(ENOSPC)))
        #expect(throws: DatabaseError.self) { try database.compact() }
        #expect(system.files == before)
        _ = try database.write(FaultWorkload.batch(3))
        try database.compact()
        #expect(try Contents(database) == FaultTests.prefixes.get()[3])
        try database.close()
    }

    @Test func `interrupted and short calls change nothing`() throws {
        let workload = FaultWorkload()
        let count = try FaultTests.whole.get().system.callCount
        for kind in [FaultyFileSystem.Fault.Kind.interruption, .short] {
            let system = FaultyFileSystem(
                faults: (0..<2 * count).filter { $0 % 3 == 0 }.map { .init(at: $0, kind) })
            let progress = try workload.run(on: system)
            #expect(progress.failure == nil)
            workload.check(system.survivor(.everything), progress, "\(kind)")
        }
    }

    @Test(arguments: 0..<40) func `a crash beside background work loses nothing`(seed: Int) throws {
        var workload = FaultWorkload()
        workload.options.compactsInBackground = true
        workload.options.compactionSegmentCount = 2
        workload.options.memtableSizeBytesMax = 1
        var random = SeededRandom(seed: UInt64(seed))
        let system = FaultyFileSystem(
            faults: [.init(at: Int.random(in: 10..<400, using: &random), .crash)])
        let progress = try workload.run(on: system)
        let loss: FaultyFileSystem.Loss = seed % 4 == 0 ? .nothing : .random(seed: UInt64(seed))
        workload.check(system.survivor(loss), progress, "seed \(seed), \(loss)")
    }
}
