// What a repair makes of the files if the manifest is lost, or older than they are.

import CozTestSupport
import Testing

@testable import CozDB

struct RebuiltManifestTests {
    /// Writes a row of `demo` at each time, and flushes.
    private func write(
        _ value: FieldValue, at times: Range<Int64>, to database: Database
    ) throws {
        var batch = WriteBatch()
        for time in times {
            try batch.add(
                experiment: "demo", tags: ["id_participant": "p"],
                time: Timestamp(nanoseconds: time), fields: ["a": value, "b": .integer(time)])
        }
        _ = try database.write(batch)
        try database.flush()
    }

    @Test(arguments: [false, true])
    func `an older manifest and a newer experiment of a name that was free`(
        keepsSegment: Bool
    ) throws {
        let system = FaultyFileSystem()
        let database = try Database.open(
            "db", access: .readWrite, options: SoundDatabase.options, on: system)
        func write(_ field: String, _ value: FieldValue) throws {
            var batch = WriteBatch()
            try batch.add(
                experiment: "demo", tags: ["id_participant": "p"],
                time: Timestamp(nanoseconds: 1), fields: [field: value])
            _ = try database.write(batch)
            try database.flush()
        }
        try write("a", .integer(1))
        let before = system.survivor(.everything)
        _ = try database.execute("DROP MEASUREMENT demo")
        try write("a", .string("x"))
        try database.close()
        system["db/MANIFEST"] = before["db/MANIFEST"]
        if keepsSegment {
            for path in before.files where path.hasSuffix(".seg") {
                system.add(path, before[path])
            }
        }
        let report = try Examination.repair(system)
        let repaired = try SoundDatabase.open(system, .readOnly)
        let names = try repaired.snapshot().schemas.map(\.name)
        #expect(names == (keepsSegment ? ["demo", "demo (1)"] : ["demo"]), "\(report.lines)")
        #expect(report.notes.contains { $0.contains("demo (1)") } == keepsSegment)
        #expect(try repaired.query("SELECT a FROM demo").series[0].columns[1].texts == ["x"])
        if keepsSegment {
            let rest = try repaired.query("SELECT a FROM \"demo (1)\"")
            #expect(rest.series[0].columns[1].integers == [1])
        }
        #expect(try Examination.check(system).isEmpty)
    }

    @Test func `an assumed identity hides no tag of later points`() throws {
        let sound = FaultyFileSystem()
        let first = try SoundDatabase.open(sound)
        var batch = WriteBatch()
        batch.settings = ExperimentSettings(identity: .participant(tag: "user"))
        for row in 0..<40 {
            try batch.add(
                experiment: "demo", tags: ["user": "u\(row)", "id_participant": "p\(row)"],
                time: Timestamp(nanoseconds: Int64(row)), fields: ["a": .integer(1)])
        }
        _ = try first.write(batch)
        try first.close()
        sound.erase("db/MANIFEST")
        let path = try #require(sound.files.first { $0.hasSuffix(".seg") })
        var assumed = 0
        for offset in stride(from: 40, to: sound[path].count, by: 11) {
            let system = sound.survivor(.everything)
            system[path][offset] ^= 1
            _ = try Examination.repair(system)
            let database = try SoundDatabase.open(system)
            guard try database.schemas().first?.identity == .standard else { continue }
            assumed += 1
            var later = WriteBatch()
            try later.add(
                experiment: "demo", tags: ["user": "u1", "id_participant": "p1"],
                time: Timestamp(nanoseconds: 99), fields: ["a": .integer(2)])
            _ = try database.write(later)
            let found = try database.query("SELECT a, id_participant FROM demo").series
            #expect(found.first?.columns[2].texts.last == "p1", "byte \(offset)")
            try database.close()
        }
        #expect(assumed > 0)
    }

    @Test func `an older manifest and a merge whose number is not newer`() throws {
        let system = FaultyFileSystem()
        let database = try Database.open(
            "db", access: .readWrite, options: SoundDatabase.options, on: system)
        try write(.integer(1), at: 0..<5, to: database)
        try write(.integer(2), at: 3..<8, to: database)
        var older = try Manifest(decoding: system["db/MANIFEST"])
        try database.compact()
        try write(.integer(3), at: 7..<9, to: database)
        try database.close()
        let before = try Contents(SoundDatabase.open(system, .readOnly))
        // As if a merge had reserved its number, and then a flush the next one.
        let merged = older.nextFileNumber
        older.nextFileNumber = merged + 1
        let names = system.files.filter { $0.hasSuffix(".seg") }
        #expect(names.contains("db/" + FileName.segment(merged).text), "\(names)")
        system["db/MANIFEST"] = older.encoded()
        let report = try Examination.repair(system)
        #expect(
            try Contents(SoundDatabase.open(system, .readOnly)) == before, "\(report.lines)")
        #expect(try Examination.check(system).isEmpty)
    }

    @Test(arguments: [FieldType.float, .string], [false, true])
    func `an older manifest from before a change of type`(
        type: FieldType, isMerged: Bool
    ) throws {
        let system = FaultyFileSystem()
        let database = try Database.open(
            "db", access: .readWrite, options: SoundDatabase.options, on: system)
        try write(.integer(1), at: 0..<5, to: database)
        let older = system["db/MANIFEST"]
        let name = type == .float ? "float" : "string"
        _ = try database.execute("ALTER EXPERIMENT demo FIELD a TYPE \(name)")
        if isMerged { try database.compact() }
        try write(type == .float ? .float(1.5) : .string("x"), at: 5..<10, to: database)
        if isMerged { try database.compact() }
        try database.close()
        let before = try Contents(SoundDatabase.open(system, .readOnly))
        system["db/MANIFEST"] = older
        _ = try Examination.repair(system)
        #expect(try Contents(SoundDatabase.open(system, .readOnly)) == before)
        #expect(try Examination.check(system).isEmpty)
    }

    /// Writes one row, whose fields get numbers in their order.
    private func write(
        _ fields: [(name: String, value: FieldValue)], tags: [String: String] = ["a": "1"],
        identity: Identity? = .allTags, to database: Database, _ experiment: String = "demo",
        at time: Int64 = 1
    ) throws {
        for (name, value) in fields {
            var batch = WriteBatch()
            batch.settings = ExperimentSettings(identity: identity)
            try batch.add(
                experiment: experiment, tags: tags, time: Timestamp(nanoseconds: time),
                fields: [name: value])
            _ = try database.write(batch)
        }
    }

    /// Puts a manifest back that has reserved the numbers of all files.
    private func putBack(_ bytes: [UInt8], in system: FaultyFileSystem) throws {
        var older = try Manifest(decoding: bytes)
        older.nextFileNumber = 1000
        system["db/MANIFEST"] = older.encoded()
    }

    @Test func `an older manifest, a log and rejects whose numbers are not newer`() throws {
        let system = FaultyFileSystem()
        let database = try SoundDatabase.open(system)
        try write([("a", .integer(1))], to: database)
        try database.flush()
        let older = system["db/MANIFEST"]
        try write([("a", .string("x")), ("b", .integer(2))], to: database)
        try database.flush()
        try write([("a", .string("y")), ("b", .integer(3))], to: database)
        let killed = system.survivor(.nothing)
        let before = try Contents(SoundDatabase.open(killed, .readOnly))
        #expect(before.refusals.count == 2)
        try putBack(older, in: killed)
        let report = try Examination.repair(killed)
        #expect(
            try Contents(SoundDatabase.open(killed, .readOnly)) == before, "\(report.lines)")
        #expect(try Examination.check(killed).isEmpty)
        withExtendedLifetime(database) {}
    }

    @Test func `a lost manifest of a database that has nothing but refusals`() throws {
        let system = FaultyFileSystem()
        let database = try SoundDatabase.open(system)
        try write([("a", .integer(1))], to: database)
        try write([("a", .string("x"))], to: database, at: 2)
        _ = try database.execute("DELETE FROM demo WHERE time = 1")
        try database.close()
        let before = try Contents(SoundDatabase.open(system, .readOnly))
        #expect(before.refusals.count == 1 && !system.files.contains { $0.hasSuffix(".seg") })
        system.erase("db/MANIFEST")
        #expect(try Examination.check(system).map(\.lost).contains { $0.contains("rebuilds") })
        let report = try Examination.repair(system)
        #expect(try Contents(SoundDatabase.open(system, .readOnly)) == before, "\(report.lines)")
        #expect(try Examination.check(system).isEmpty)
    }

    @Test func `an older manifest and a log that was flushed before it`() throws {
        let system = FaultyFileSystem()
        let database = try SoundDatabase.open(system)
        try write([("a", .integer(1))], to: database)
        let flushed = system.survivor(.nothing)
        #expect(flushed.files.contains { $0.hasSuffix(".wal") })
        try database.flush()
        let older = system["db/MANIFEST"]
        try write([("a", .integer(2))], to: database)
        try database.close()
        let before = try Contents(SoundDatabase.open(system, .readOnly))
        for path in flushed.files where path.hasSuffix(".wal") { system.add(path, flushed[path]) }
        try putBack(older, in: system)
        _ = try Examination.repair(system)
        #expect(try Contents(SoundDatabase.open(system, .readOnly)) == before)
    }

    @Test(arguments: [false, true])
    func `an assumed identity is that of the logs too`(isOlder: Bool) throws {
        let system = FaultyFileSystem()
        let database = try SoundDatabase.open(system)
        try write([("x", .integer(0))], to: database, "other")
        try database.flush()
        let older = system["db/MANIFEST"]
        try write([("v", .integer(1))], tags: ["a": "1"], to: database)
        try database.flush()
        try write([("v", .integer(2))], tags: ["a": "1", "b": "2"], to: database)
        try write([("v", .integer(3))], tags: ["a": "1", "b": "3"], to: database)
        let killed = system.survivor(.nothing)
        let before = try Contents(SoundDatabase.open(killed, .readOnly))
        if isOlder { killed["db/MANIFEST"] = older } else { killed.erase("db/MANIFEST") }
        let report = try Examination.repair(killed)
        #expect(
            try Contents(SoundDatabase.open(killed, .readOnly)) == before, "\(report.lines)")
        #expect(report.notes.contains { $0.contains("\"demo\": identity all tags") })
        withExtendedLifetime(database) {}
    }

    @Test func `an assumed identity is that of a segment with a damaged header`() throws {
        let system = FaultyFileSystem()
        let database = try SoundDatabase.open(system)
        try write([("x", .integer(0))], to: database, "other")
        try database.flush()
        let files = Set(system.files)
        try write([("v", .integer(1))], tags: ["a": "1", "b": "1"], to: database)
        try write([("v", .integer(2))], tags: ["a": "1", "c": "2"], to: database)
        try database.close()
        let before = try Contents(SoundDatabase.open(system, .readOnly))
        let path = try #require(
            system.files.first { $0.hasSuffix(".seg") && !files.contains($0) })
        system[path][0] ^= 1
        system.erase("db/MANIFEST")
        _ = try Examination.repair(system)
        let repaired = try SoundDatabase.open(system, .readOnly)
        #expect(try Contents(repaired) == before)
        #expect(try repaired.schemas().first { $0.name == "demo" }?.identity == .allTags)
    }

    @Test func `an older manifest and a newer segment that cannot be read`() throws {
        let system = FaultyFileSystem()
        let database = try SoundDatabase.open(system)
        try write([("a", .integer(1))], to: database)
        try database.flush()
        let (older, files) = (system["db/MANIFEST"], Set(system.files))
        try write([("a", .integer(2))], to: database, at: 2)
        try database.close()
        let path = try #require(
            system.files.first { $0.hasSuffix(".seg") && !files.contains($0) })
        system[path][system[path].count - 50] ^= 1
        let damaged = system[path]
        system["db/MANIFEST"] = older
        let report = try Examination.repair(system)
        let name = String(path.dropFirst(3))
        #expect(report.findings.contains { $0.file == name && $0.lost.contains("the whole file") })
        let folder = try #require(report.folder)
        #expect(system["db/\(folder)/\(name)"] == damaged)
        #expect(try Examination.check(system).isEmpty)
    }

    @Test(arguments: [false, true])
    func `a field is not hidden by one whose name is lost`(isInLog: Bool) throws {
        let system = FaultyFileSystem()
        let database = try SoundDatabase.open(system)
        try write([("a", .integer(1)), ("b", .integer(2))], to: database)
        if !isInLog { try write([("unknown column 1", .integer(3))], to: database) }
        try write([("c", .integer(4))], to: database)
        try database.flush()
        _ = try database.execute("DELETE b FROM demo")
        if isInLog { try write([("unknown column 1", .integer(3))], to: database) }
        let killed = system.survivor(.nothing)
        killed.erase("db/MANIFEST")
        _ = try Examination.repair(killed)
        let repaired = try SoundDatabase.open(killed, .readOnly)
        let found = try repaired.query("SELECT \"unknown column 1\" FROM demo").series
        #expect(found.first?.columns[1].integers == [3])
        #expect(try repaired.schemas()[0].fields.map(\.name).count == 4)
        withExtendedLifetime(database) {}
    }

    /// The names of the manifest must not be given to values of columns that got its numbers.
    @Test func `a manifest from before the repair of a lost one`() throws {
        let system = FaultyFileSystem()
        let first = try SoundDatabase.open(system)
        try write([("a", .integer(1)), ("b", .integer(2))], to: first)
        try write([("v", .integer(3))], to: first, "gone")
        try first.flush()
        let older = system["db/MANIFEST"]
        _ = try first.execute("DELETE b FROM demo; DELETE FROM gone")
        try first.close()
        system.erase("db/MANIFEST")
        _ = try Examination.repair(system)
        let second = try SoundDatabase.open(system)
        try write([("c", .integer(4))], identity: nil, to: second, at: 2)
        try write([("v", .integer(5))], to: second, "new", at: 2)
        try second.close()
        system["db/MANIFEST"] = older
        let report = try Examination.repair(system)
        let repaired = try SoundDatabase.open(system, .readOnly)
        let rows = try repaired.query("SELECT * FROM demo, gone").series
        let values = rows.flatMap { $0.columns.dropFirst() }.flatMap(\.integers)
            .compactMap(\.self)
        #expect(values == [1], "\(report.lines)")
        #expect(report.moved.filter { $0.hasSuffix(".seg") }.count == 2, "\(report.lines)")
        #expect(try Examination.check(system).isEmpty)
    }

    @Test func `an older manifest whose schemas take too much space with the newer ones`() throws {
        let system = FaultyFileSystem()
        let database = try Database.open(
            "db", access: .readWrite, options: SoundDatabase.options, on: system)
        func write(_ experiment: String) throws {
            var batch = WriteBatch()
            let fields = (0..<170).map {
                ("f\($0)" + String(repeating: experiment, count: 60_000), FieldValue.integer(1))
            }
            try batch.add(
                experiment: experiment, tags: ["id_participant": "p"],
                time: Timestamp(nanoseconds: 1), fields: Dictionary(uniqueKeysWithValues: fields))
            _ = try database.write(batch)
        }
        try write("a")
        try database.flush()
        let manifest = system["db/MANIFEST"]
        _ = try database.execute("DROP MEASUREMENT a")
        try write("b")
        try database.close()
        system["db/MANIFEST"] = manifest
        let report = try Examination.repair(system)
        #expect(report.notes.contains { $0.contains("removed the experiment \"a\"") })
        let repaired = try SoundDatabase.open(system, .readOnly)
        #expect(try repaired.snapshot().schemas.map(\.name) == ["b"], "\(report.lines)")
        #expect(try repaired.snapshot().schemas[0].fields.count == 170)
        #expect(try Examination.check(system).isEmpty)
    }

    /// Numbers of columns that no segment has, because their values were deleted, and rows in a log
    /// that use what only the manifest knew.
    @Test func `a log is kept whole without the manifest`() throws {
        let system = FaultyFileSystem()
        let database = try SoundDatabase.open(system)
        func write(_ experiment: String, _ time: Int64, _ fields: [String: FieldValue]) throws {
            var batch = WriteBatch()
            try batch.add(
                experiment: experiment, tags: ["id_participant": "p", "room": "r"],
                time: Timestamp(nanoseconds: time), fields: fields)
            _ = try database.write(batch)
        }
        try write("m", 1, ["a": .integer(1)])
        try write("m", 2, ["b": .boolean(true)])
        try write("n", 1, ["x": .string("s")])
        try database.flush()
        _ = try database.execute("DELETE b FROM m; DELETE FROM n")
        try write("m", 3, ["a": .integer(3), "b": .boolean(false), "c": .string("new")])
        try write("n", 2, ["x": .string("t"), "y": .float(2)])
        let killed = system.survivor(.nothing)
        killed.erase("db/MANIFEST")
        let report = try Examination.repair(killed)
        #expect(report.findings.allSatisfy { $0.file == "MANIFEST" }, "\(report.lines)")
        let repaired = try SoundDatabase.open(killed)
        func values(_ statement: String) throws -> [String] {
            try repaired.query(statement).series.flatMap { series in
                (0..<series.rowCount).map { row in
                    series.columns.dropFirst().map { $0.value(row)?.description ?? "-" }
                        .joined(separator: " ")
                }
            }
        }
        #expect(try values("SELECT a, c FROM m") == ["1i -", "3i \"new\""])
        #expect(try values("SELECT \"unknown column 2\" FROM m") == ["false"])
        let rest = try values("SELECT \"unknown column 1\", y FROM \"unknown experiment 2\"")
        #expect(rest == ["\"t\" 2.0"])
        #expect(report.notes.contains { $0.contains("unknown experiment 2") })
        try repaired.close()
        #expect(try Examination.check(killed).isEmpty)
    }

    @Test func `a rebuilt manifest is no successor of a backup`() throws {
        let system = FaultyFileSystem()
        let database = try SoundDatabase.open(system)
        _ = try database.write(SoundDatabase.batch(1, rowCount: 10))
        try database.backup(to: "backup", options: BackupOptions(), on: system)
        try database.close()
        system.erase("db/MANIFEST")
        #expect(try Examination.repair(system).notes.contains { $0.contains("no earlier backup") })
        let repaired = try SoundDatabase.open(system)
        #expect(throws: DatabaseError.self) {
            try repaired.backup(to: "backup", options: BackupOptions(), on: system)
        }
        try repaired.backup(to: "other", options: BackupOptions(), on: system)
        try repaired.backup(to: "other", options: BackupOptions(), on: system)
        try repaired.close()
    }
}
