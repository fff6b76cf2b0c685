// Space that runs out: what nobody needs goes first, and what is left needs no repair.

import CozTestSupport
import Glibc
import Synchronization
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
            _ = try database.write(batch(number))
            if number % 2 == 0 { try database.flush() }
            if number == 2 { firstCall = system.callCount }
        }
        try database.compact()
        _ = try database.write(batch(batchCount + 1))
        let endCall = system.callCount
        _ = try database.execute("DELETE FROM dev WHERE time = 1")
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
            _ = try database.write(Self.batch(50))
            try database.close()
        }
    }

    @Test(arguments: [false, true])
    func `opening frees what is dead where there is no space to begin with`(
        lockIsOlder: Bool
    ) throws {
        let system = FaultyFileSystem()
        let database = try Self.open(system)
        for number in 1...4 {
            _ = try database.write(Self.batch(number))
            try database.flush()
        }
        let lock = system["db/LOCK"]
        try database.compact()
        _ = try database.write(Self.batch(5))
        let dead = try Self.files(system)
        // As a power loss may leave it; and after it a file that no manifest ever named.
        if lockIsOlder { system["db/LOCK"] = lock }
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
            _ = try database.write(Self.batch(number))
            try database.flush()
        }
        try database.compact()
        let before = try Self.files(system).count
        system.add(.init(at: system.callCount, .noSpace))
        #expect(throws: DatabaseError.self) {
            _ = try database.write(Self.batch(5))
            try database.flush()
        }
        #expect(try Self.files(system).count < before)
        #expect(try Self.rows(Self.open(system, .readOnly)) == 4)
    }

    // MARK: Retired files

    /// A directory whose removals wait until they may go on.
    private final class SlowRemovals: FileSystem, Directory {
        let path = "db"
        let isRemoving = Gate()
        let mayRemove = Gate()
        private let directory: any Directory
        private let isSlow = Mutex(false)

        init(_ directory: any Directory) { self.directory = directory }

        func begin() { isSlow.withLock { $0 = true } }

        func openDirectory(_ path: String, create: Bool, access: DatabaseOptions.FileAccess)
            -> any Directory
        { self }

        func openDirectory(_ name: String, create: Bool) throws(FileError) -> any Directory {
            try directory.openDirectory(name, create: create)
        }

        func open(_ name: String, writable: Bool) throws(FileError) -> any File {
            try directory.open(name, writable: writable)
        }

        func remove(_ name: String) throws(FileError) {
            if isSlow.withLock({ $0 }) {
                isRemoving.open()
                mayRemove.wait()
            }
            try directory.remove(name)
        }

        func list() throws(FileError) -> [String] { try directory.list() }
        func create(_ name: String) throws(FileError) -> any File { try directory.create(name) }
        func rename(_ source: String, to target: String) throws(FileError) {
            try directory.rename(source, to: target)
        }
        func removeDirectory(_ name: String) throws(FileError) {
            try directory.removeDirectory(name)
        }
        func sync() throws(FileError) { try directory.sync() }
        func lock(_ name: String) throws(FileError) -> (any File)? { try directory.lock(name) }
    }

    @Test func `who finds no space waits for what another thread is removing`() throws {
        let system = FaultyFileSystem()
        let slow = SlowRemovals(
            try system.openDirectory("db", create: true, access: .ownerOnly))
        let database = try Database.open(
            "db", access: .readWrite, options: Self.options, on: slow)
        for number in 1...2 {
            _ = try database.write(Self.batch(number))
            try database.flush()
        }
        try database.compact()
        guard case .writer(let engine) = database.store else { return }
        slow.begin()
        let attempts = Mutex(0)
        onThreads(3) { number in
            switch number {
            case 0: engine.removeRetired(all: true)
            case 1:
                slow.isRemoving.wait()
                #expect(throws: Never.self) {
                    try engine.makingRoom { () throws(DatabaseError) in
                        if attempts.withLock({
                            $0 += 1; return $0
                        }) > 1 {
                            return
                        }
                        let failure = FileError(code: ENOSPC, call: "pwrite", path: "db/x")
                        throw DatabaseError(failure, while: "writing")
                    }
                }
            default:
                slow.isRemoving.wait()
                usleep(50_000)
                slow.mayRemove.open()
            }
        }
        #expect(attempts.withLock { $0 } == 2)
        try database.close()
    }

    @Test func `an import keeps no more than four logs`() throws {
        let system = FaultyFileSystem()
        var options = Self.options
        options.memtableSizeBytesMax = 1 << 20
        let database = try Database.open(
            "db", access: .readWrite, options: options, on: system)
        var most = 0
        for round in 0..<60 {
            var batch = WriteBatch()
            let experiment = batch.experiment("dev".utf8.span)
            let column = batch.column(experiment: experiment, name: "x".utf8.span, type: .integer)
            let tagSet = batch.tagSet(experiment: experiment, tags: [("id_participant", "p")])
            for row in 0..<8000 {
                batch.append(column: column, bits: UInt64(row))
                batch.endRow(tagSet: tagSet, time: Int64(round * 8000 + row), line: 0)
            }
            _ = try database.write(batch)
            most = max(most, system.files.count { $0.hasSuffix(".wal") })
        }
        #expect(try database.info().segments > 3)
        // Open, being flushed, retired, and one that a flush has just retired.
        #expect((2...4).contains(most), "\(most) logs")
        try database.close()
    }
}
