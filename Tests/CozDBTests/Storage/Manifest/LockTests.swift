// The last acknowledged state in the lock file detects a manifest that was replaced by an older one
// and a log that was cut or replaced.

import CozTestSupport
import Foundation
import Testing

@testable import CozDB

@Suite struct LockTests {
    static func open(
        _ system: FaultyFileSystem, _ access: DatabaseAccess = .readWrite
    ) throws -> Database {
        var options = DatabaseOptions()
        options.compactsInBackground = false
        return try Database.open("db", access: access, options: options, on: system)
    }

    static func write(_ database: Database, _ rows: Range<Int>) throws {
        for row in rows {
            var batch = WriteBatch()
            try batch.add(
                experiment: "m", tags: ["id_participant": "p"],
                time: Timestamp(nanoseconds: Int64(row)), fields: ["v": .integer(Int64(row))])
            _ = try database.write(batch)
        }
    }

    static func rows(_ system: FaultyFileSystem) throws -> Int? {
        let database = try open(system, .readOnly)
        let series = try database.query("SELECT count(v) FROM m").series
        guard case .integer(let count)?? = series.first?.columns.last?.value(0) else { return 0 }
        return Int(count)
    }

    /// Closed after each session, with the manifests of all of them.
    static func closed(
        sessions: Int, seed: UInt64 = 0
    ) throws -> (system: FaultyFileSystem, manifests: [[UInt8]], locks: [[UInt8]]) {
        let system = FaultyFileSystem(seed: seed)
        var manifests: [[UInt8]] = []
        var locks: [[UInt8]] = []
        for session in 0..<sessions {
            let database = try open(system)
            try write(database, (session * 10)..<(session * 10 + 10))
            try database.close()
            manifests.append(system["db/MANIFEST"])
            locks.append(system["db/LOCK"])
        }
        return (system, manifests, locks)
    }

    static func failure(_ body: () throws -> some Any) -> DatabaseError? {
        do {
            _ = try body()
            return nil
        } catch {
            return error as? DatabaseError
        }
    }

    @Test func `an older manifest is neither answered from nor followed`() throws {
        let (system, manifests, _) = try Self.closed(sessions: 3)
        for old in manifests.dropLast() {
            let copy = system.survivor(.nothing)
            copy["db/MANIFEST"] = old
            let files = copy.files
            let read = Self.failure { try Self.rows(copy) }
            #expect(read?.kind == .damaged && read?.file?.hasSuffix("MANIFEST") == true)
            let written = Self.failure { try Self.open(copy) }
            #expect(written?.kind == .damaged && written?.message.contains("older") == true)
            #expect(copy.files == files, "nothing was removed")
            copy["db/MANIFEST"] = manifests[2]
            #expect(try Self.rows(copy) == 30)
        }
    }

    @Test func `a manifest of another database is refused`() throws {
        let (system, _, _) = try Self.closed(sessions: 1)
        let (_, others, _) = try Self.closed(sessions: 1, seed: 1 << 32)
        system["db/MANIFEST"] = others[0]
        let error = Self.failure { try Self.rows(system) }
        #expect(error?.kind == .damaged && error?.message.contains("different databases") == true)
        #expect(Self.failure { try Self.open(system) }?.kind == .damaged)
    }

    @Test func `a lock without a whole record is damage, one without a record is missing`() throws {
        let (system, _, locks) = try Self.closed(sessions: 2)
        let other = [UInt8](repeating: 7, count: 1024)
        for bytes in [other, locks[1].map { ~$0 }, Array("not what a writer began".utf8)] {
            system["db/LOCK"] = bytes
            #expect(Self.failure { try Self.rows(system) }?.kind == .damaged)
            #expect(Self.failure { try Self.open(system) }?.kind == .damaged)
        }
        // What is left if the first opening of a copy ends inside the first record, or power is
        // lost then.
        let zeros = [UInt8](repeating: 0, count: 1024)
        for bytes in [0, 1, 8, 300, 511].map({ Array(locks[1].prefix($0)) }) + [zeros] {
            system["db/LOCK"] = bytes
            #expect(try Self.rows(system) == 20, "\(bytes.count) bytes")
            #expect(try Examination.check(system).map(\.file) == ["LOCK"], "\(bytes.count) bytes")
        }
        let copy = FaultyFileSystem()
        for path in system.files where !path.hasSuffix("LOCK") { copy.add(path, system[path]) }
        #expect(try Self.rows(copy) == 20, "a copy without its lock")
        try Self.open(copy).close()
        #expect(copy["db/LOCK"].count >= AcknowledgedState.recordSizeBytes)
        #expect(try Examination.check(copy).isEmpty)
    }

    @Test func `an older lock harms nothing`() throws {
        let (system, database) = try Self.recorded { database in
            try Self.write(database, 50..<51)
            try database.compact()
        }
        try database.close()
        let locks = Set((1..<system.callCount).map { Self.killed(system, before: $0)["db/LOCK"] })
        #expect(locks.count > 30)
        let count = try Self.rows(system)
        for lock in locks where !lock.isEmpty {
            let copy = system.survivor(.nothing)
            copy["db/LOCK"] = lock
            #expect(try Examination.check(copy).isEmpty)
            #expect(try Self.rows(copy) == count)
            try Self.open(copy).close()
            #expect(try Examination.check(copy).isEmpty)
            let manifest = try Manifest(decoding: copy["db/MANIFEST"])
            #expect(AcknowledgedState(copy["db/LOCK"])?.isOf(manifest) == true)
        }
    }

    @Test func `a change of any byte of a lock harms nothing, and check says it`() throws {
        let system = try Self.closed(sessions: 2).system
        let lock = system["db/LOCK"]
        let newest = try #require(AcknowledgedState(lock))
        for index in lock.indices {
            for change: UInt8 in [1, 128, 255] {
                system["db/LOCK"][index] = lock[index] ^ change
                var findings: [CheckFinding] = []
                _ = try Database.check("db", on: system) { findings.append($0) }
                #expect(findings.map(\.file) == ["LOCK"], "byte \(index)")
                #expect(findings.allSatisfy { $0.severity == .note }, "byte \(index)")
            }
            #expect(try Self.rows(system) == 20)
            system["db/LOCK"][index] = lock[index]
        }
        system["db/LOCK"][100] ^= 1
        system["db/LOCK"][612] ^= 1
        #expect(try Examination.check(system).map(\.file) == ["LOCK"], "both records")
        system["db/LOCK"] = lock
        system["db/LOCK"][100] ^= 1
        try Self.open(system).close()
        var findings: [CheckFinding] = []
        _ = try Database.check("db", on: system) { findings.append($0) }
        #expect(findings.isEmpty, "a writer replaces the record: \(findings)")
        #expect(try #require(AcknowledgedState(system["db/LOCK"])).serial > newest.serial)
    }

    @Test func `a lock that saw a database is not where a new one begins`() throws {
        let (system, _, locks) = try Self.closed(sessions: 1)
        let copy = FaultyFileSystem()
        copy.add("db/LOCK", system["db/LOCK"])
        for error in [
            Self.failure { try Self.open(copy) }, Self.failure { try Self.rows(copy) },
            Self.failure { try Database.repair("db", on: copy) },
        ] {
            #expect(error?.kind == .notFound)
            #expect(error?.message.contains("the file MANIFEST and all data files") == true)
        }
        #expect(copy.files == ["db/LOCK"] && copy["db/LOCK"] == locks[0], "nothing was changed")
        // An empty one saw as much as none.
        copy["db/LOCK"] = []
        try Self.open(copy).close()
        #expect(copy["db/LOCK"].count == AcknowledgedState.sizeBytes)
    }

    @Test func `of a log that was not closed nothing acknowledged can be cut off`() throws {
        let system = FaultyFileSystem()
        let database = try Self.open(system)
        try Self.write(database, 0..<20)
        let path = try #require(system.files.first { $0.hasSuffix(".wal") })
        // As after kill -9: everything that was written is there.
        let killed = system.survivor(.nothing)
        #expect(try Self.rows(killed.survivor(.nothing)) == 20)
        let log = killed[path]
        let end = try #require(log.lastIndex { $0 != 0 })
        for cut in [0, 20, 40, 400, end / 2, end - 1] {
            for isZeroed in [false, true] {
                let copy = killed.survivor(.nothing)
                let rest = [UInt8](repeating: 0, count: isZeroed ? log.count - cut : 0)
                copy[path] = Array(log.prefix(cut)) + rest
                let error = Self.failure { try Self.rows(copy) }
                #expect(error?.kind == .damaged, "cut at \(cut), zeros \(isZeroed)")
                #expect(Self.failure { try Self.open(copy) }?.kind == .damaged)
            }
        }
        withExtendedLifetime(database) {}
    }

    @Test func `a log is not exchanged for one of a copy that somebody wrote to`() throws {
        let origin = try Self.closed(sessions: 1).system
        func written(_ rows: Range<Int>) throws -> FaultyFileSystem {
            let system = origin.survivor(.nothing)
            let database = try Self.open(system)
            try Self.write(database, rows)
            // As after kill -9.
            let killed = system.survivor(.nothing)
            withExtendedLifetime(database) {}
            return killed
        }
        let own = try written(20..<30)
        let path = try #require(own.files.first { $0.hasSuffix(".wal") })
        #expect(try Self.rows(own.survivor(.nothing)) == 20)
        // As long, longer, and with frames that end elsewhere.
        for other in [try written(30..<40), try written(21..<70), try written(300_000..<300_040)] {
            for file in [path, "db/LOCK"] {
                let copy = own.survivor(.nothing)
                copy[file] = other[file]
                let read = Self.failure { try Self.rows(copy) }
                #expect(read?.kind == .damaged && read?.file?.hasSuffix(".wal") == true)
                #expect(Self.failure { try Self.open(copy) }?.kind == .damaged)
                let found = try Examination.check(copy)
                #expect(found.count == 1 && path.hasSuffix(found.first?.file ?? ""), "\(found)")
                let lost = try Examination.repair(copy).findings.map(\.lost)
                #expect(lost.contains { $0.contains("commits") }, "\(lost)")
                #expect(try Examination.check(copy).isEmpty)
                let kept = file == path ? other : own
                #expect(try Self.rows(copy) == Self.rows(kept), "what the log has is kept")
            }
        }
    }

    /// A database of which every state is kept: sessions that were closed, then one that is about
    /// to be.
    private static func recorded(
        _ last: (Database) throws -> Void
    ) throws -> (system: FaultyFileSystem, database: Database) {
        let system = try closed(sessions: 2).system
        system.recordStates()
        var database = try open(system)
        try write(database, 20..<30)
        try database.flush()
        try write(database, 30..<40)
        try database.close()
        try open(system).close()
        database = try open(system)
        try last(database)
        return (system, database)
    }

    private static func killed(
        _ system: FaultyFileSystem, before call: Int
    ) -> FaultyFileSystem {
        system.survivor(ofKillBefore: call, .nothing)
    }

    @Test func `check finds nothing wherever a session ends`() throws {
        let (system, database) = try Self.recorded { database in
            try Self.write(database, 50..<51)
            try database.flush()
        }
        let start = system.callCount
        try database.close()
        for call in start..<system.callCount {
            let copy = Self.killed(system, before: call)
            #expect(try Examination.check(copy).isEmpty, "\(system.calls[call])")
        }
    }

    @Test func `opening and closing that end inside of a write leave a sound lock`() throws {
        let (system, database) = try Self.recorded { database in
            try Self.write(database, 40..<45)
        }
        try database.close()
        let writes = system.calls.indices.filter { system.calls[$0] == "pwrite db/LOCK" }
        var seen: Set<[UInt8]> = []
        for call in writes where call < system.callCount - 1 {
            let copy = system.survivor(ofKillBefore: call, .nothing)
            let before = copy["db/LOCK"]
            let after = system.survivor(ofKillBefore: call + 1, .nothing)["db/LOCK"]
            guard before.count == after.count else { continue }
            for end in 0...after.count {
                let torn = Array(after.prefix(end)) + before.dropFirst(end)
                guard seen.insert(torn).inserted else { continue }
                copy["db/LOCK"] = torn
                let found = try Examination.check(copy)
                #expect(found.isEmpty, "call \(call) of \(writes) ended at \(end): \(found)")
            }
        }
        #expect(seen.count > 400)
    }

    @Test func `files that no manifest names stay until all others could be opened`() throws {
        let (system, _, _) = try Self.closed(sessions: 1)
        system.add("db/00000099.seg", [1, 2, 3])
        let segment = try #require(system.files.first { $0.hasSuffix(".seg") })
        let bytes = system[segment]
        system[segment] = Array(bytes.dropLast(5))
        #expect(Self.failure { try Self.open(system) }?.kind == .damaged)
        #expect(system.files.contains("db/00000099.seg"))
        system[segment] = bytes
        try Self.open(system).close()
        #expect(!system.files.contains("db/00000099.seg"))
    }

    @Test func `bytes behind the records are damage until a writer cuts them off`() throws {
        let system = try Self.closed(sessions: 1).system
        system["db/LOCK"] += [1, 2, 3]
        let found = try Examination.check(system)
        #expect(found.map(\.found) == ["LOCK has 1027 bytes, expected 1024"])
        try Self.open(system).close()
        #expect(system["db/LOCK"].count == AcknowledgedState.sizeBytes)
        #expect(try Examination.check(system).isEmpty)
        #expect(try Self.rows(system) == 10)
    }

    @Test func `records come back as they were written, and no others`() {
        var state = AcknowledgedState(
            serial: 7, databaseID: 3, generation: 12, manifestChecksum: 99, logNumber: 4,
            logSizeBytes: 1 << 40, logChecksum: 77,
            holder: "process 17, since ever")
        let older = state.record(at: 0)
        state.serial = 8
        let newer = state.record(at: 512)
        #expect(AcknowledgedState(older + newer) == state)
        #expect(AcknowledgedState(older)?.serial == 7)
        #expect(AcknowledgedState(newer) == nil, "a record at the other one's place")
        for index in older.indices {
            var damaged = older
            damaged[index] ^= 1 << UInt8(index % 8)
            #expect(AcknowledgedState(damaged) == nil, "byte \(index)")
        }
        #expect(AcknowledgedState([UInt8]("process 17, since ever".utf8)) == nil)
    }
}

/// What one file that cannot be read keeps others from.
@Suite struct DamageScopeTests {
    private let directory = TemporaryDirectory()

    private func make() throws -> [String] {
        var options = DatabaseOptions()
        options.compactsInBackground = false
        let database = try Database.open(directory.path, options: options)
        for name in ["a", "b"] {
            var batch = WriteBatch()
            for row in 0..<100 {
                try batch.add(
                    experiment: name, tags: ["id_participant": "p"],
                    time: Timestamp(nanoseconds: Int64(row)), fields: ["v": .integer(Int64(row))])
            }
            _ = try database.write(batch)
            try database.flush()
        }
        try database.close()
        return try files().filter { $0.hasSuffix(".seg") }
    }

    private func files() throws -> [String] {
        try PosixFileSystem().openDirectory(directory.path, create: false, access: .ownerOnly)
            .list()
    }

    private func failure(_ text: String) -> DatabaseError? {
        do {
            let database = try Database.open(directory.path, access: .readOnly)
            let series = try database.query(text).series
            #expect(series.first?.column("count")?.integers == [100])
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: ["gone", "shorter", "longer", "link", "folder", "pipe"])
    func `a bad segment keeps nobody from other experiments`(kind: String) throws {
        let segments = try make()
        #expect(segments.count == 2)
        let path = directory.path + "/" + segments[0]
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        try FileManager.default.removeItem(atPath: path)
        switch kind {
        case "shorter": try bytes.dropLast(3).write(to: URL(fileURLWithPath: path))
        case "longer": try (bytes + [0]).write(to: URL(fileURLWithPath: path))
        case "link":
            try FileManager.default.createSymbolicLink(
                atPath: path, withDestinationPath: segments[1])
        case "folder":
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: false)
        case "pipe": #expect(unsafe mkfifo(path, 0o600) == 0)
        default: break
        }
        let error = failure("SELECT count(v) FROM a")
        #expect(error?.file?.hasSuffix(segments[0]) == true, "\(String(describing: error))")
        #expect(error?.kind == (["link", "folder", "pipe"].contains(kind) ? .io : .damaged))
        #expect(failure("SELECT count(v) FROM b") == nil)
        let before = try files()
        #expect(throws: DatabaseError.self) { try Database.open(directory.path) }
        #expect(try files() == before, "opening for writing removed nothing")
        _ = try? FileManager.default.removeItem(atPath: path)
        try bytes.write(to: URL(fileURLWithPath: path))
        #expect(failure("SELECT count(v) FROM a") == nil)
    }
}
