// Files replaced by older versions of themselves, and logs that were cut: what the lock file
// remembers tells.

import CozTestSupport
import Foundation
import Testing

@testable import CozDB

@Suite struct WitnessTests {
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
        #expect(error?.kind == .damaged && error?.message.contains("another database") == true)
        #expect(Self.failure { try Self.open(system) }?.kind == .damaged)
    }

    @Test func `an older lock, a cut one and none`() throws {
        let (system, _, locks) = try Self.closed(sessions: 2)
        system["db/LOCK"] = locks[0]
        #expect(
            Self.failure { try Self.rows(system) }?.message.contains("LOCK was replaced") == true)
        let other = [UInt8](repeating: 7, count: 1024)
        for bytes in [other, locks[1].map { ~$0 }, Array("not what a writer began".utf8)] {
            system["db/LOCK"] = bytes
            #expect(Self.failure { try Self.rows(system) }?.kind == .damaged)
            #expect(Self.failure { try Self.open(system) }?.kind == .damaged)
        }
        // What is left where the first opening of a copy ends inside of the first record, or power
        // is lost then.
        let zeros = [UInt8](repeating: 0, count: 1024)
        for bytes in [0, 1, 8, 300, 511].map({ Array(locks[1].prefix($0)) }) + [zeros] {
            system["db/LOCK"] = bytes
            #expect(try Self.rows(system) == 20, "\(bytes.count) bytes")
            #expect(try Examination.check(system).map(\.file) == ["LOCK"], "\(bytes.count) bytes")
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

    /// The same, closed after a flush, with the calls of that close.
    static func recordedClose() throws -> (system: FaultyFileSystem, calls: Range<Int>) {
        let (system, database) = try recorded { database in
            try write(database, 50..<51)
            try database.flush()
        }
        let start = system.callCount
        try database.close()
        return (system, start..<system.callCount)
    }

    /// The different contents that LOCK had before some calls.
    static func locks(_ system: FaultyFileSystem, _ calls: Range<Int>) -> Set<[UInt8]> {
        Set(calls.map { system.survivor(ofKillBefore: $0, .nothing)["db/LOCK"] })
    }

    @Test(arguments: [
        "one commit", "a commit, flushed", "flushes and a merge", "a deletion",
        "a commit behind a merge",
    ])
    func `a lock of any moment before the last close is found`(last: String) throws {
        let (system, database) = try Self.recorded { database in
            switch last {
            case "one commit": try Self.write(database, 50..<51)
            case "a commit, flushed":
                try Self.write(database, 50..<51)
                try database.flush()
            case "flushes and a merge": try database.compact()
            case "a deletion": _ = try database.query("DELETE FROM m WHERE time >= 35")
            case "a commit behind a merge":
                try database.compact()
                try Self.write(database, 50..<51)
            default: break
            }
        }
        let start = system.callCount
        try database.close()
        let earlier = Self.locks(system, 1..<start)
        #expect(earlier.count > 30)
        for lock in earlier {
            let copy = system.survivor(.nothing)
            copy["db/LOCK"] = lock
            let found = try Examination.check(copy)
            #expect(found.map(\.file) == ["LOCK"], "\(String(describing: Witness(lock)))")
            #expect(try Examination.repair(copy).findings.map(\.file) == ["LOCK"])
            #expect(try Examination.check(copy).isEmpty)
        }
        // Each of these was the newest, until the next manifest or the last write.
        for call in start..<system.callCount {
            let copy = system.survivor(ofKillBefore: call, .nothing)
            #expect(try Examination.check(copy).isEmpty, "\(system.calls[call])")
        }
    }

    @Test func `a session that writes nothing leaves every file as it was`() throws {
        let (system, database) = try Self.recorded { _ in }
        let start = system.callCount
        try database.close()
        let closed = system.survivor(.nothing)
        let again = try Self.open(system)
        #expect(system["db/LOCK"] != closed["db/LOCK"])
        try again.close()
        #expect(system.files == closed.files)
        for path in system.files { #expect(system[path] == closed[path], "\(path)") }
        for call in start..<system.callCount {
            let copy = system.survivor(ofKillBefore: call, .nothing)
            #expect(try Examination.check(copy).isEmpty, "\(system.calls[call])")
        }
    }

    @Test func `a lock of a session that was killed is found, wherever that was`() throws {
        let (system, calls) = try Self.recordedClose()
        for call in calls {
            let killed = system.survivor(ofKillBefore: call, .nothing)
            let lock = killed["db/LOCK"]
            guard Witness(lock)?.isClosed == false else { continue }
            try Self.open(killed).close()
            #expect(try Examination.check(killed).isEmpty, "\(system.calls[call])")
            killed["db/LOCK"] = lock
            let found = try Examination.check(killed).map(\.file)
            #expect(found == ["LOCK"], "\(system.calls[call])")
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
        #expect(seen.count > 500)
    }

    /// The records of a closed lock as an earlier build wrote them.
    ///
    /// - Parameter turn: what was behind the checksum of the log.
    private static func asBefore(_ lock: [UInt8], turn: UInt8) -> [UInt8] {
        var bytes = lock
        for place in [0, 512] {
            bytes[place + 272] = turn
            let sum = checksum(
                bytes.span.extracting((place + 16)..<(place + 512)),
                seed: positionSeed(file: 1, offset: UInt64(place)))
            for index in 0..<4 {
                bytes[place + 12 + index] = UInt8(truncatingIfNeeded: sum >> (8 * UInt32(index)))
            }
        }
        return bytes
    }

    @Test(arguments: [0, 7])
    func `a change of any byte of a closed lock is found`(turn: UInt8) throws {
        let system = try Self.closed(sessions: 2).system
        let lock = Self.asBefore(system["db/LOCK"], turn: turn)
        #expect(turn > 0 || lock == system["db/LOCK"])
        system["db/LOCK"] = lock
        #expect(try Examination.check(system).isEmpty)
        for index in lock.indices {
            for change: UInt8 in [1, 2, 4, 8, 16, 32, 64, 128, 255] {
                system["db/LOCK"][index] = lock[index] ^ change
                #expect(try !Examination.check(system).isEmpty, "byte \(index), \(change)")
            }
            system["db/LOCK"][index] = lock[index]
        }
        for start in [264, 776] {
            for index in start..<(start + 248) { system["db/LOCK"][index] = 0 }
            #expect(try !Examination.check(system).isEmpty, "zeros from \(start) on")
            system["db/LOCK"] = lock
        }
        try Self.open(system).close()
        #expect(try Examination.check(system).isEmpty)
        #expect(try Self.rows(system) == 20)
    }

    @Test func `an open lock of a build that announced nothing may be older`() throws {
        let system = try Self.closed(sessions: 2).system
        var witness = try #require(Witness(system["db/LOCK"]))
        witness.generation -= 2
        for (state, isSound) in [(Witness.State.unannounced, true), (.open, false)] {
            witness.state = state
            system["db/LOCK"] = witness.record(at: 0) + witness.record(at: 512)
            #expect(try Examination.check(system).isEmpty == isSound)
        }
        try Self.open(system).close()
        #expect(try Examination.check(system).isEmpty)
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
            serial: 7, databaseID: 3, generation: 12, manifestChecksum: 99, state: .closed,
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
