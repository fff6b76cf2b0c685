// Files replaced by older versions of themselves, and logs that were cut: what the lock file
// remembers tells.

import CozTestSupport
import Foundation
import Testing

@testable import CozDB

@Suite struct WitnessTests {
    private static func open(
        _ system: FaultyFileSystem, _ access: DatabaseAccess = .readWrite
    ) throws -> Database {
        var options = DatabaseOptions()
        options.compactsInBackground = false
        return try Database.open("db", access: access, options: options, on: system)
    }

    private static func write(_ database: Database, _ rows: Range<Int>) throws {
        for row in rows {
            var batch = WriteBatch()
            try batch.add(
                experiment: "m", tags: ["id_participant": "p"],
                time: Timestamp(nanoseconds: Int64(row)), fields: ["v": .integer(Int64(row))])
            try database.write(batch)
        }
    }

    private static func rows(_ system: FaultyFileSystem) throws -> Int? {
        let database = try open(system, .readOnly)
        let series = try database.query("SELECT count(v) FROM m").series
        guard case .integer(let count)?? = series.first?.columns.last?.value(0) else { return 0 }
        return Int(count)
    }

    /// Closed after each session, with the manifests of all of them.
    private static func closed(
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

    private static func failure(_ body: () throws -> some Any) -> DatabaseError? {
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
        #expect(error?.kind == .damaged && error?.message.contains("another database") == true)
        #expect(Self.failure { try Self.open(system) }?.kind == .damaged)
    }

    @Test func `an older lock, a cut one and none`() throws {
        let (system, _, locks) = try Self.closed(sessions: 2)
        system["db/LOCK"] = locks[0]
        #expect(
            Self.failure { try Self.rows(system) }?.message.contains("LOCK was replaced") == true)
        for bytes in [Array(locks[1].prefix(300)), [UInt8](repeating: 0, count: 1024)] {
            system["db/LOCK"] = bytes
            #expect(
                Self.failure { try Self.rows(system) }?.kind == .damaged, "\(bytes.count) bytes")
            #expect(Self.failure { try Self.open(system) }?.kind == .damaged)
        }
        // One of the two records is enough.
        var half = locks[1]
        half.replaceSubrange(512..<600, with: [UInt8](repeating: 7, count: 88))
        system["db/LOCK"] = half
        #expect(try Self.rows(system) == 20)
        var findings: [CheckFinding] = []
        _ = try Database.check("db", on: system) { findings.append($0) }
        #expect(findings.map(\.file) == ["LOCK"], "the other record was changed")
        let copy = FaultyFileSystem()
        for path in system.files where !path.hasSuffix("LOCK") { copy.add(path, system[path]) }
        #expect(try Self.rows(copy) == 20, "a copy without its lock")
        try Self.open(copy).close()
        #expect(copy["db/LOCK"].count == Witness.sizeBytes)
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
            #expect(error?.message.contains("has lost its file MANIFEST and all that") == true)
        }
        #expect(copy.files == ["db/LOCK"] && copy["db/LOCK"] == locks[0], "nothing was changed")
        // An empty one saw as much as none.
        copy["db/LOCK"] = []
        try Self.open(copy).close()
        #expect(copy["db/LOCK"].count == Witness.sizeBytes)
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
                #expect(lost.contains { $0.hasPrefix("commits ") }, "\(lost)")
                #expect(try Examination.check(copy).isEmpty)
                let kept = file == path ? other : own
                #expect(try Self.rows(copy) == Self.rows(kept), "what the log has is kept")
            }
        }
    }

    @Test func `closing that ends anywhere leaves a lock that is sound`() throws {
        let system = FaultyFileSystem()
        let database = try Self.open(system)
        try Self.write(database, 0..<5)
        let before = system["db/LOCK"]
        try database.close()
        let closed = system["db/LOCK"]
        for end in 0...closed.count {
            let copy = system.survivor(.nothing)
            copy["db/LOCK"] = Array(closed.prefix(end)) + before.dropFirst(end)
            let found = try Examination.check(copy)
            #expect(found.isEmpty, "ended at \(end): \(found)")
        }
    }

    /// What a build that wrote no tails yet would have closed a database with.
    private static func withoutTails(_ lock: [UInt8]) throws -> [UInt8] {
        var witness = try #require(Witness(lock))
        try #require(witness.serial % 2 == 1)
        let second = witness.record(at: 512, hasTail: false)
        #expect(second[Witness.tailRange].allSatisfy { $0 == 0 })
        witness.serial -= 1
        return witness.record(at: 0, hasTail: false) + second
    }

    @Test(arguments: [true, false])
    func `opening that ends anywhere leaves a lock that is sound`(hasTail: Bool) throws {
        let system = try Self.closed(sessions: 2).system
        if !hasTail { system["db/LOCK"] = try Self.withoutTails(system["db/LOCK"]) }
        let before = system["db/LOCK"]
        let database = try Self.open(system)
        let opened = system["db/LOCK"]
        #expect(opened != before)
        for end in 0...opened.count {
            let copy = system.survivor(.nothing)
            copy["db/LOCK"] = Array(opened.prefix(end)) + before.dropFirst(end)
            let found = try Examination.check(copy)
            #expect(found.isEmpty, "ended at \(end): \(found)")
        }
        withExtendedLifetime(database) {}
    }

    @Test func `a change of any bit of a closed lock is found`() throws {
        let system = try Self.closed(sessions: 2).system
        let lock = system["db/LOCK"]
        var silent: [Int] = []
        for index in lock.indices {
            for bit in 0..<8 where bit == index % 8 || 40..<64 ~= index % 512 {
                var bytes = lock
                bytes[index] ^= 1 << UInt8(bit)
                system["db/LOCK"] = bytes
                if try Examination.check(system).isEmpty { silent.append(index) }
            }
        }
        for start in [265, 777] {
            system["db/LOCK"] = lock
            for index in start..<(start + 247) { system["db/LOCK"][index] = 0 }
            #expect(try !Examination.check(system).isEmpty, "zeros from \(start) on")
        }
        // Where a write that ended inside of the turn or of the first checksum differs too.
        #expect(silent.allSatisfy { $0 % 512 == Witness.turnOffset || $0 == 12 }, "\(silent)")
    }

    @Test func `a lock of before its records had a tail is sound`() throws {
        let system = try Self.closed(sessions: 2).system
        let lock = try Self.withoutTails(system["db/LOCK"])
        system["db/LOCK"] = lock
        #expect(try Examination.check(system).isEmpty)
        for index in [3, 13, 20, 30, 45, 100, 270, 272, 400, 530, 612] {
            system["db/LOCK"][index] ^= 1 << 5
            #expect(try !Examination.check(system).isEmpty, "byte \(index)")
            system["db/LOCK"] = lock
        }
        try Self.open(system).close()
        #expect(system["db/LOCK"][Witness.turnOffset] != 0)
        #expect(try Examination.check(system).isEmpty)
        #expect(try Self.rows(system) == 20)
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
        #expect(system["db/LOCK"].count == Witness.sizeBytes)
        #expect(try Examination.check(system).isEmpty)
        #expect(try Self.rows(system) == 10)
    }

    @Test func `records come back as they were written, and no others`() {
        var witness = Witness(
            serial: 7, databaseID: 3, generation: 12, manifestChecksum: 99, isClosed: true,
            logNumber: 4, logSizeBytes: 1 << 40, logChecksum: 77,
            holder: "process 17, since ever")
        let older = witness.record(at: 0)
        witness.serial = 8
        let newer = witness.record(at: 512)
        #expect(Witness(older + newer) == witness)
        #expect(Witness(older)?.serial == 7)
        #expect(Witness(newer) == nil, "a record at the other one's place")
        for index in older.indices {
            var damaged = older
            damaged[index] ^= 1 << UInt8(index % 8)
            #expect(Witness(damaged) == nil, "byte \(index)")
        }
        #expect(Witness([UInt8]("process 17, since ever".utf8)) == nil)
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
            try database.write(batch)
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
