// Space that runs out: what nobody needs goes first, and what is left needs no repair.

import CozTestSupport
import Glibc
import Testing

@testable import CozDB

struct SpaceTests {
    private static let path = "db"

    /// Files wait for slow readers for ever, unless they must go.
    private static var options: DatabaseOptions {
        var options = DatabaseOptions()
        options.compactsInBackground = false
        options.retireSeconds = 3600
        return options
    }

    private static func open(
        _ system: FaultyFileSystem, _ access: DatabaseAccess = .readWrite
    ) throws(DatabaseError) -> Database {
        try Database.open(path, access: access, options: options, on: system)
    }

    private static func batch(_ number: Int) throws -> WriteBatch {
        var batch = WriteBatch()
        try batch.add(
            experiment: "dev", tags: ["id_participant": "p\(number % 2)"],
            time: Timestamp(nanoseconds: Int64(number)), fields: ["v": .integer(Int64(number))])
        // Refused, and kept in the journal.
        try batch.add(
            experiment: "dev", tags: ["id_participant": "p\(number % 2)"],
            time: Timestamp(nanoseconds: Int64(number)), fields: ["v": .string("no \(number)")])
        return batch
    }

    private static let batchCount = 6

    /// - Returns: the calls while there are files that wait: a deletion does not let them.
    @discardableResult
    private static func run(on system: FaultyFileSystem) throws -> Range<Int> {
        let database = try open(system)
        var firstCall = 0
        for number in 1...batchCount {
            try database.write(batch(number))
            if number % 2 == 0 { try database.flush() }
            if number == 2 { firstCall = system.callCount }
        }
        try database.compact()
        try database.write(batch(batchCount + 1))
        let endCall = system.callCount
        _ = try database.query("DELETE FROM dev WHERE time = 1")
        try database.close()
        return firstCall..<endCall
    }

    /// Values, one a row.
    private static func rows(_ database: Database) throws -> Int {
        try Contents(database).cells.count
    }

    private static func files(_ system: FaultyFileSystem) throws -> Set<String> {
        Set(system.files.filter { $0.hasSuffix(".seg") || $0.hasSuffix(".wal") })
    }

    @Test(arguments: [ENOSPC, EDQUOT])
    func `files that wait for slow readers go before a write fails`(code: Int32) throws {
        let whole = FaultyFileSystem()
        let waiting = try Self.run(on: whole)
        var tried = 0
        for (call, name) in whole.calls.enumerated() where waiting.contains(call) {
            guard ["create", "mkdir", "rename", "pwrite"].contains(name.prefix { $0 != " " }),
                !name.hasSuffix("LOCK")
            else { continue }
            let system = FaultyFileSystem(faults: [.init(at: call, .space(code, .untilRemoval))])
            #expect(throws: Never.self, "call \(call), \(name)") { try Self.run(on: system) }
            #expect(try Self.rows(Self.open(system, .readOnly)) == Self.batchCount, "\(name)")
            tried += 1
        }
        #expect(tried > 20)
    }

    @Test func `where there is none to free the write fails, and the next opening goes on`() throws
    {
        let whole = FaultyFileSystem()
        let first = try Self.run(on: whole).lowerBound
        for call in stride(from: first, to: whole.callCount, by: 3) {
            let system = FaultyFileSystem(faults: [.init(at: call, .noSpace)])
            var database: Database?
            do {
                try Self.run(on: system)
            } catch let error as DatabaseError {
                #expect(error.kind == .io, "\(error)")
                #expect(error.message.contains("free space"), "\(error)")
                // The space is somebody else's: only what nobody needs is given back.
                #expect(try Self.rows(Self.open(system, .readOnly)) > 0, "call \(call)")
                system.freeSpace()
                database = try Self.open(system)
            }
            guard let database else { continue }
            try database.write(Self.batch(50))
            try database.close()
        }
    }

    @Test(arguments: [false, true])
    func `opening frees what is dead where there is no space to begin with`(
        witnessIsOlder: Bool
    ) throws {
        let system = FaultyFileSystem()
        let database = try Self.open(system)
        for number in 1...4 {
            try database.write(Self.batch(number))
            try database.flush()
        }
        let lock = system["db/LOCK"]
        try database.compact()
        try database.write(Self.batch(5))
        let dead = try Self.files(system)
        // As a power loss may leave it; and after it a file that no manifest ever named.
        if witnessIsOlder { system["db/LOCK"] = lock }
        system.add("db/00000099.seg", [1, 2, 3])
        let survivor = system.survivor(
            .everything, faults: [.init(at: 4, .space(ENOSPC, .untilRemoval))])
        var options = Self.options
        // The directory is there, and a real system would not look for space to make it.
        options.createsDatabase = false
        let again = try Database.open(
            Self.path, access: .readWrite, options: options, on: survivor)
        #expect(try Self.rows(again) == 5)
        let left = try Self.files(survivor)
        #expect(left.count < dead.count && !left.contains("db/00000099.seg"))
        try again.close()
        withExtendedLifetime(database) {}
    }

    @Test func `a write that fails gives back the space of files that wait`() throws {
        let system = FaultyFileSystem()
        let database = try Self.open(system)
        for number in 1...4 {
            try database.write(Self.batch(number))
            try database.flush()
        }
        try database.compact()
        let before = try Self.files(system).count
        system.add(.init(at: system.callCount, .noSpace))
        #expect(throws: DatabaseError.self) {
            try database.write(Self.batch(5))
            try database.flush()
        }
        #expect(try Self.files(system).count < before)
        #expect(try Self.rows(Self.open(system, .readOnly)) == 4)
    }
}
