// A database whose manifest is gone, made again of what its files say of themselves; and the ends
// of segments, which say where everything else is.

import CozTestSupport
import Foundation
import Testing

@testable import CozDB

struct RebuildTests {
    private func write(
        _ database: Database, _ experiment: String, tags: [String: String],
        identity: Identity? = nil, rows: Int = 20, _ fields: [String: FieldValue]
    ) throws {
        var batch = WriteBatch()
        if let identity { batch.settings = ExperimentSettings(identity: identity) }
        for row in 0..<rows {
            try batch.add(
                experiment: experiment, tags: tags, time: Timestamp(nanoseconds: Int64(row)),
                fields: fields)
        }
        _ = try database.write(batch)
    }

    /// Of the same cells, whatever the types and names of columns without values.
    private func contents(_ system: FaultyFileSystem) throws -> Contents {
        try Contents(SoundDatabase.open(system, .readOnly))
    }

    @Test func `identities, types and numbers of columns are those of the segments`() throws {
        let system = FaultyFileSystem()
        let database = try SoundDatabase.open(system)
        try write(database, "one", tags: ["id_participant": "p"], ["a": .integer(1)])
        try write(database, "one", tags: ["id_participant": "p"], ["b": .integer(2)])
        try write(
            database, "two", tags: ["site": "x", "host": "y"], identity: .tags(["host", "site"]),
            ["v": .boolean(true)])
        for tags in [["a": "1"], ["a": "1", "b": "2"], ["c": "3"]] {
            try write(database, "three", tags: tags, identity: .allTags, ["v": .string("text")])
        }
        try database.flush()
        _ = try database.execute("DELETE a FROM one")
        _ = try database.execute("ALTER EXPERIMENT one FIELD b TYPE float")
        try write(database, "one", tags: ["id_participant": "q"], ["b": .float(2.5)])
        try database.close()
        let before = try contents(system)
        system.erase("db/MANIFEST")
        let found = try Examination.check(system)
        #expect(found.map(\.file) == ["MANIFEST"])
        let report = try Examination.repair(system)
        for words in [
            "\"one\": identity participant (tag id_participant)",
            "\"two\": identity tags host,site",
            "\"three\": identity all tags", "the names of 1 columns without values are lost",
            "segments are ordered by their numbers", "the list of forgotten participants is lost",
        ] {
            #expect(report.notes.contains { $0.contains(words) }, "\(words): \(report.notes)")
        }
        #expect(try contents(system) == before)
        #expect(try Examination.check(system).isEmpty)
        let schema = try SoundDatabase.open(system, .readOnly).schemas().first { $0.name == "one" }
        #expect(schema?.columns.first { $0.name == "b" }?.type == .float)
        let next = try SoundDatabase.open(system)
        try write(next, "two", tags: ["site": "x", "host": "y"], ["v": .boolean(false)])
        try next.close()
        #expect(try contents(system).cells.count == before.cells.count)
    }

    @Test(arguments: [false, true])
    func `segments that a repair took in can be merged`(isOlder: Bool) throws {
        let system = FaultyFileSystem()
        var older: [UInt8] = []
        for value in 0..<3 {
            let database = try SoundDatabase.open(system)
            let rows = value == 0 ? 1 : 200
            try write(
                database, "one", tags: ["id_participant": "p"], rows: rows,
                ["a": .integer(Int64(value)), "b": .integer(7)])
            try database.close()
            if value == 0 { older = system["db/MANIFEST"] }
        }
        let before = try contents(system)
        if isOlder { system["db/MANIFEST"] = older } else { system.erase("db/MANIFEST") }
        _ = try Examination.repair(system)
        let database = try SoundDatabase.open(system)
        try database.compact()
        let counters = try database.info().counters
        #expect(counters.insertedValues == 400 && counters.replacedValues >= 200)
        try database.close()
        #expect(try contents(system) == before)
        #expect(try Examination.check(system).isEmpty)
    }

    @Test func `a log has the types that its fields had when it was written`() throws {
        let system = FaultyFileSystem()
        let first = try SoundDatabase.open(system)
        try write(
            first, "one", tags: ["id_participant": "p"], rows: 1,
            ["a": .integer(0), "s": .string("x")])
        _ = try first.execute("ALTER EXPERIMENT one FIELD a TYPE float")
        try write(first, "one", tags: ["id_participant": "q"], rows: 2, ["s": .string("y")])
        try write(first, "one", tags: ["id_participant": "q"], rows: 3, ["a": .float(1.5)])
        // As after kill -9.
        let killed = system.survivor(.nothing)
        let before = try contents(killed)
        killed.erase("db/MANIFEST")
        let report = try Examination.repair(killed)
        #expect(report.findings.map(\.file) == ["MANIFEST"], "\(report.findings)")
        #expect(try contents(killed) == before)
        withExtendedLifetime(first) {}
    }

    @Test func `manifest and lock that were exchanged go aside, both`() throws {
        let sound = try DamageTests.sound.get()
        let system = sound.system.survivor(.nothing)
        let (manifest, lock) = (system["db/MANIFEST"], system["db/LOCK"])
        (system["db/MANIFEST"], system["db/LOCK"]) = (lock, manifest)
        let report = try Examination.repair(system)
        #expect(report.findings.map(\.file) == ["MANIFEST", "LOCK"])
        let folder = try #require(report.folder)
        #expect(system["db/\(folder)/MANIFEST"] == lock)
        #expect(system["db/\(folder)/LOCK"] == manifest)
        #expect(try Examination.check(system).isEmpty)
    }

    @Test func `bytes behind the manifest cost nothing but themselves`() throws {
        let sound = try DamageTests.sound.get()
        let system = sound.system.survivor(.nothing)
        let before = try (contents(system), sound.manifest())
        system["db/MANIFEST"].append(0)
        #expect(try Examination.check(system).map(\.file) == ["MANIFEST"])
        let report = try Examination.repair(system)
        #expect(report.findings.map(\.lost) == ["nothing"])
        let after = try Manifest(decoding: system["db/MANIFEST"])
        #expect(after.segments.map(\.number) == before.1.segments.map(\.number))
        #expect(after.forgotten == before.1.forgotten)
        #expect(try contents(system) == before.0)
        #expect(try Examination.check(system).isEmpty)
    }

    @Test func `a manifest that counted too little can be merged under`() throws {
        var manifest = Manifest(databaseID: 1)
        var merged = WriteCounters()
        merged.insertedValues = -3
        merged.replacedValues = 3
        manifest.add(merged)
        #expect(try Manifest(decoding: manifest.encoded()).counters.insertedValues == 0)
    }

    @Test func `files that do not say what they are go aside`() throws {
        let sound = try DamageTests.sound.get()
        let system = sound.system.survivor(.nothing)
        let manifest = try sound.manifest()
        let segment = SoundDatabase.path(.segment(manifest.segments[1].number))
        let trailer = SoundDatabase.path(.segment(manifest.segments[2].number))
        let rejects = SoundDatabase.path(.rejects(manifest.rejects[0].number))
        system["db/MANIFEST"][30] ^= 1
        system[segment][manifest.segments[1].sizeBytes - 60] ^= 1
        system[trailer][manifest.segments[2].sizeBytes - 30] ^= 1
        system[rejects][2] ^= 1
        let report = try Examination.repair(system)
        #expect(
            Set(report.moved.map { "db/" + $0 }) == [segment, trailer, rejects, "db/MANIFEST"])
        #expect(try Examination.check(system).isEmpty)
        let left = try contents(system)
        #expect(Examination.wrong(left, sound) == 0)
        #expect(!left.cells.isEmpty && left.refusals.count == sound.contents.refusals.count - 1)
    }

    @Test func `a killed database without a manifest keeps what its logs have`() throws {
        let killed = try DamageTests.killed.get()
        for hasLock in [true, false] {
            let system = killed.system.survivor(.nothing)
            system.erase("db/MANIFEST")
            if !hasLock { system.erase("db/LOCK") }
            let (contents, report) = try Examination.repaired(system, killed)
            #expect(contents == killed.contents, "\(report.lines)")
        }
        // A damaged log besides: what it loses is said.
        let system = killed.system.survivor(.nothing)
        system.erase("db/MANIFEST")
        let log = try #require(killed.manifest().logs.first)
        let path = SoundDatabase.path(.log(log.number))
        system[path][20] ^= 1
        system[path][100] ^= 1
        let (contents, report) = try Examination.repaired(system, killed)
        #expect(Examination.losers(contents, killed) == [2])
        #expect(report.findings.contains { "db/" + $0.file == path }, "\(report.lines)")
    }

    @Test func `what cannot be repaired is refused by name`() throws {
        let sound = try DamageTests.sound.get()
        // Nothing says whose the files are.
        let nameless = sound.system.survivor(.nothing)
        nameless["db/MANIFEST"][30] ^= 1
        for path in nameless.files where path.hasSuffix(".seg") { nameless[path][17] ^= 1 }
        #expect { try Examination.repair(nameless) } throws: { error in
            let error = error as? DatabaseError
            return error?.kind == .damaged && error?.message.contains("restore a backup") == true
        }
        // A newer version is none of this program's business.
        let newer = sound.system.survivor(.nothing)
        let payload = Array(newer["db/MANIFEST"][24...])
        var writer = ByteWriter()
        writer.append(Manifest.magic)
        writer.append(Manifest.version + 1)
        writer.append(checksum(payload.span, seed: Manifest.version + 1))
        writer.append(UInt64(payload.count))
        newer["db/MANIFEST"] = writer.bytes + payload
        #expect { try Examination.repair(newer) } throws: { error in
            (error as? DatabaseError)?.kind == .unsupportedFormat
        }
        // A flipped bit that makes it look so is damage.
        let flipped = sound.system.survivor(.nothing)
        flipped["db/MANIFEST"][8] ^= 8
        let (contents, _) = try Examination.repaired(flipped, sound)
        #expect(contents == sound.contents)
        // No database at all, or only a lock.
        let empty = FaultyFileSystem()
        empty.add("db/notes.txt", [1])
        for system in [empty, FaultyFileSystem()] {
            #expect { try Examination.repair(system) } throws: { error in
                (error as? DatabaseError)?.kind == .notFound
            }
        }
        // Somebody writes to it.
        let busy = sound.system.survivor(.nothing)
        let database = try SoundDatabase.open(busy)
        #expect { try Examination.repair(busy) } throws: { error in
            (error as? DatabaseError)?.kind == .locked
        }
        try database.close()
    }

    @Test func `a footer is found without the trailer's help`() throws {
        let sound = try DamageTests.sound.get()
        let info = try #require(sound.manifest().segments.first)
        let path = SoundDatabase.path(.segment(info.number))
        for range in [0..<8, 8..<12, 0..<32, 12..<16, 16..<32] {
            let system = sound.system.survivor(.nothing)
            let start = info.sizeBytes - SegmentFormat.trailerSizeBytes
            for index in range { system[path][start + index] ^= 0xFF }
            let found = try Examination.check(system)
            #expect(found.count == 1, "\(range)")
            let (contents, _) = try Examination.repaired(system, sound, "\(range)")
            #expect(contents == sound.contents, "\(range)")
        }
        // Cut so short that there is no place for a footer.
        let system = sound.system.survivor(.nothing)
        system[path] = Array(system[path].prefix(40))
        let (contents, _) = try Examination.repaired(system, sound)
        #expect(Examination.losers(contents, sound).count == 1)
    }

    @Test func `two repairs of one moment have folders of their own`() throws {
        let system = FaultyFileSystem()
        system.add("db/x", [1, 2, 3])
        let directory = try system.openDirectory("db", create: false, access: .ownerOnly)
        let time = Timestamp(nanoseconds: 0)
        var paths: Set<String> = []
        for _ in 0..<3 {
            let folder = try DamagedFolder(in: directory, at: time)
            #expect(try folder.copy("x", from: directory) == 0)
            try folder.finish(["a report"])
            paths.insert(folder.path)
            #expect(system["db/\(folder.path)/x"] == [1, 2, 3])
        }
        #expect(paths.count == 3)
    }

    @Test func `trouble while repairing changes nothing, and is told`() throws {
        let sound = try DamageTests.sound.get()
        let broken = sound.system.survivor(.nothing)
        let segment = SoundDatabase.path(.segment(try sound.manifest().segments[0].number))
        broken[segment][broken[segment].count / 3] ^= 1
        let whole = broken.survivor(.nothing)
        _ = try Examination.repair(whole)
        let expected = try contents(whole)
        for call in stride(from: 0, to: whole.callCount, by: 7) {
            for kind in [
                FaultyFileSystem.Fault.Kind.failure(EIO), .failure(EACCES), .noSpace,
            ] {
                let system = broken.survivor(.nothing, faults: [.init(at: call, kind)])
                _ = try? Examination.repair(system)
                let left = system.survivor(.nothing)
                _ = try Examination.repair(left)
                #expect(try Examination.check(left).isEmpty, "\(kind) \(whole.calls[call])")
                let found = try contents(left)
                // A read that failed once made more of it look lost; nothing is wrong.
                #expect(Examination.wrong(found, sound) == 0, "\(kind) \(whole.calls[call])")
                if kind != .failure(EIO) {
                    #expect(found == expected, "\(kind) \(whole.calls[call])")
                }
            }
        }
    }
}
