// What a dry run of a repair says while a writer is at work.

import CozTestSupport
import Synchronization
import Testing

@testable import CozDB

struct RepairBesideWriterTests {
    /// A file system in which a writer merges everything, a few times, whenever a segment is opened
    /// by somebody else.
    private final class Restless: FileSystem, ReadingDirectory {
        let directory: any Directory
        private let writer: Database
        private let mergesLeft: Mutex<Int>

        init(_ system: FaultyFileSystem, mergeCount: Int) throws {
            directory = try system.openDirectory("db", create: false, access: .ownerOnly)
            writer = try SoundDatabase.open(system, .readWrite)
            mergesLeft = Mutex(mergeCount)
        }

        func openDirectory(_ path: String, create: Bool, access: DatabaseOptions.FileAccess)
            -> any Directory
        { self }

        func openDirectory(_ name: String, create: Bool) throws(FileError) -> any Directory {
            try directory.openDirectory(name, create: create)
        }

        func open(_ name: String, writable: Bool) throws(FileError) -> any File {
            let merges = mergesLeft.withLock { left in
                guard case .segment = FileName(name), left > 0 else { return false }
                left -= 1
                return true
            }
            if merges {
                do {
                    try RepairBesideWriterTests.write(writer)
                    try writer.compact()
                } catch {
                    Issue.record("\(error)")
                }
            }
            return try directory.open(name, writable: writable)
        }
    }

    private static func write(_ database: Database) throws {
        var batch = WriteBatch()
        try batch.add(
            experiment: "other", tags: ["id_participant": "p"], time: Timestamp(nanoseconds: 1),
            fields: ["v": .float(1)])
        _ = try database.write(batch)
        try database.flush()
    }

    @Test func `a dry run beside a writer finds no damage`() throws {
        let system = try DamageTests.sound.get().system.survivor(.nothing)
        let restless = try Restless(system, mergeCount: 3)
        let report = try Database.repair(SoundDatabase.path, on: restless, isDryRun: true)
        #expect(report.isEmpty, "\(report.lines)")
        let busy = try Restless(
            try DamageTests.sound.get().system.survivor(.nothing), mergeCount: .max)
        let error = #expect(throws: DatabaseError.self) {
            try Database.repair(SoundDatabase.path, on: busy, isDryRun: true)
        }
        #expect(error?.kind == .locked)
    }
}
