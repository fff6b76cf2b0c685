// What a repair keeps of each kind of file, where one kind of trouble is looked at alone: logs,
// files of which a device does not give all, manifests of another time or database, older formats.

import CozTestSupport
import Foundation
import Testing

@testable import CozDB

struct RepairTests {
    private let sound: SoundDatabase
    private let killed: SoundDatabase

    init() throws {
        sound = try DamageTests.sound.get()
        killed = try DamageTests.killed.get()
    }

    /// Every block of a segment of many, and what it is.
    private static func parts(
        of large: SoundDatabase
    ) throws -> (path: String, parts: [(handle: BlockHandle, part: SegmentPart)]) {
        let manifest = try large.manifest()
        let directory = try large.system.openDirectory("db", create: false, access: .ownerOnly)
        let info = try #require(manifest.segments.first { $0.rowCount > 1000 })
        let reader = try SegmentReader(in: directory, info, databaseID: manifest.databaseID)
        var parts = reader.footerParts + (try reader.seriesParts()) + (try reader.timeParts())
        for field in reader.footer.fields.indices { parts += try reader.valueParts(ofField: field) }
        return (SoundDatabase.path(.segment(info.number)), parts)
    }

    private func logs() throws -> [(path: String, log: Manifest.Log)] {
        try killed.manifest().logs.map { (SoundDatabase.path(.log($0.number)), $0) }
    }

    /// Where the frames of a log begin, and where the last one ends.
    private func frames(_ index: Int) throws -> [Int] {
        let (path, log) = try logs()[index]
        let directory = try killed.system.openDirectory("db", create: false, access: .ownerOnly)
        let identity = LogIdentity(
            databaseID: try killed.manifest().databaseID, number: log.number,
            firstSequence: log.firstSequence)
        var reader = try LogReader(
            directory.open(String(path.dropFirst(3)), writable: false), expecting: identity,
            sealedSizeBytes: log.sealedSizeBytes)
        var places = [reader.validSizeBytes]
        while try reader.next() != nil { places.append(reader.validSizeBytes) }
        return places
    }

    // MARK: Segments

    @Test(arguments: [false, true])
    func `values that come back with a lost segment are spoken of`(isFlipped: Bool) throws {
        let system = FaultyFileSystem()
        let database = try SoundDatabase.open(system)
        for value in 1...2 {
            var batch = WriteBatch()
            for row in 0..<100 {
                try batch.add(
                    experiment: "m", tags: ["id_participant": "p"],
                    time: Timestamp(nanoseconds: Int64(row)),
                    fields: ["v": .integer(Int64(value * 1000 + row)), "w": .integer(1)])
            }
            _ = try database.write(batch)
            try database.flush()
        }
        try database.close()
        let text = "SELECT first(v) FROM m"
        func first() throws -> Int64? {
            let series = try SoundDatabase.open(system, .readOnly).query(text).series
            return series.first?.columns.last?.integers.first ?? nil
        }
        #expect(try first() == 2000)
        let segments = try Manifest(decoding: system["db/MANIFEST"]).segments
        try #require(segments.count == 2)
        let newer = SoundDatabase.path(.segment(segments[1].number))
        if isFlipped {
            let directory = try system.openDirectory("db", create: false, access: .ownerOnly)
            let reader = try SegmentReader(
                in: directory, segments[1],
                databaseID: try Manifest(decoding: system["db/MANIFEST"]).databaseID)
            let field = try #require(
                reader.footer.fields.firstIndex { $0.column.name == "v" })
            system[newer][try reader.valueParts(ofField: field)[0].handle.offset] ^= 8
        } else {
            system[newer] = []
        }
        let report = try Examination.repair(system)
        #expect(try first() == 1000, "of the older segment")
        #expect(report.notes.contains { $0.contains("replaced may have returned") })
    }

    // MARK: Logs

    @Test(arguments: [0, 1])
    func `of a damaged log all whole commits are kept`(index: Int) throws {
        let (path, log) = try logs()[index]
        let places = try frames(index)
        #expect(places.count == 3, "two frames")
        let first = log.firstSequence
        let batches = index == 0 ? [2, 3] : [4, 5]
        let bytes = killed.system[path]
        let cases: [(name: String, bytes: [UInt8], lost: [Int], words: String)] = [
            (
                "flip in the first", flipped(bytes, places[0] + 50), [batches[0]],
                "commit \(first), in an unknown"
            ),
            (
                "flip in the last", flipped(bytes, places[1] + 50), [batches[1]],
                index == 0 ? "commit \(first + 1), in" : "commits from sequence \(first + 1) on"
            ),
            ("flip in the header", flipped(bytes, 20), [], "nothing"),
            (
                "cut in the last", Array(bytes[..<(places[1] + 60)]), [batches[1]],
                index == 0 ? "commit \(first + 1), in" : "commits from sequence \(first + 1) on"
            ),
            (
                "cut to nothing", [], batches,
                index == 0
                    ? "commits \(first) to \(first + 1)" : "commits from sequence \(first) on"
            ),
            (
                "zeroed", zeroed(bytes, 0..<(places[1] + 8)), batches,
                index == 0
                    ? "commits \(first) to \(first + 1)" : "commits from sequence \(first) on"
            ),
        ]
        for (name, bytes, lost, words) in cases {
            let system = killed.system.survivor(.nothing)
            system[path] = bytes
            let found = try Examination.check(system)
            #expect(found.map(\.file) == [String(path.dropFirst(3))], "\(name): \(found)")
            #expect(try Examination.readable(system) == nil, "\(name)")
            let (contents, report) = try Examination.repaired(system, killed, name)
            #expect(
                Examination.losers(contents, killed).sorted() == lost.map(Int64.init), "\(name)")
            let text = report.findings.first?.lost ?? ""
            #expect(text.hasPrefix(words), "\(name): \(text)")
            #expect(system.files.contains { $0.hasPrefix("db/damaged/") && $0.hasSuffix(".wal") })
        }
    }

    private func flipped(_ bytes: [UInt8], _ place: Int) -> [UInt8] {
        var bytes = bytes
        bytes[place] ^= 16
        return bytes
    }

    private func zeroed(_ bytes: [UInt8], _ places: Range<Int>) -> [UInt8] {
        var bytes = bytes
        for index in places { bytes[index] = 0 }
        return bytes
    }

    @Test(arguments: [0, 1])
    func `a log that is gone costs its commits alone`(index: Int) throws {
        let (path, log) = try logs()[index]
        let system = killed.system.survivor(.nothing)
        system.erase(path)
        #expect(
            try Examination.check(system).first?.found.hasPrefix(
                "the manifest names this file, but it is missing") == true)
        let (contents, report) = try Examination.repaired(system, killed)
        #expect(Examination.losers(contents, killed) == (index == 0 ? [2, 3] : [4, 5]))
        let finding = report.findings.first
        #expect(finding?.found == "the file is missing")
        #expect(finding?.lost.contains("\(log.firstSequence)") == true, "\(report.lines)")
        #expect(report.moved.isEmpty)
    }

    @Test func `a log of another database, and logs that changed places`() throws {
        let foreign = try DamageTests.foreignKilled.get()
        let paths = try logs().map(\.path)
        let one = killed.system.survivor(.nothing)
        one[paths[0]] = foreign.files[paths[0]] ?? []
        #expect(try Examination.check(one).first?.found.contains("another database") == true)
        var (contents, report) = try Examination.repaired(one, killed)
        #expect(Examination.losers(contents, killed) == [2, 3])
        #expect(report.moved == [String(paths[0].dropFirst(3))])
        let both = killed.system.survivor(.nothing)
        (both[paths[0]], both[paths[1]]) = (killed.system[paths[1]], killed.system[paths[0]])
        (contents, report) = try Examination.repaired(both, killed)
        #expect(Examination.losers(contents, killed) == [2, 3, 4, 5])
        #expect(report.findings.count == 2)
    }

    @Test func `every byte of what was acknowledged in logs is looked at`() throws {
        for (index, (path, _)) in try logs().enumerated() {
            let end = try #require(frames(index).last)
            let whole = killed.system[path]
            for offset in stride(from: index, to: end, by: end / 60) {
                let system = killed.system.survivor(.nothing)
                system[path][offset] ^= UInt8(1 << (offset % 8))
                #expect(try Examination.check(system).count == 1, "log \(index), byte \(offset)")
            }
            // Places that no commit needs: between frames, and behind the end of a complete log.
            let system = killed.system.survivor(.nothing)
            let padding = try frames(index).dropFirst().map { $0 - 1 }.first { whole[$0] == 0 }
            for place in [padding, index == 0 ? end + 100 : nil].compactMap({ $0 }) {
                system[path] = flipped(whole, place)
                let found = try Examination.check(system)
                #expect(found.map(\.lost) == ["nothing"], "\(place): \(found)")
                let report = try Examination.repaired(system.survivor(.nothing), killed)
                #expect(report.contents == killed.contents)
            }
        }
    }

    @Test func `a longer zeroed end of a log, and a torn one, are no damage`() throws {
        for (path, _) in try logs() {
            let system = killed.system.survivor(.nothing)
            system[path] += [UInt8](repeating: 0, count: 5000)
            #expect(try Examination.check(system).isEmpty)
        }
        let system = killed.system.survivor(.nothing)
        let path = try logs()[1].path
        let end = try #require(frames(1).last)
        system[path].replaceSubrange(end..<(end + 3), with: [1, 2, 3])
        var notes: [CheckFinding] = []
        #expect(try Database.check("db", on: system) { notes.append($0) }.damaged == 0)
        #expect(notes.first?.found.hasPrefix("an unfinished commit at the end") == true)
        #expect(try Examination.repair(system).isEmpty)
        #expect(try Examination.readable(system) == killed.contents)
    }

    // MARK: What a device does not give

    @Test func `what a device does not give is named, and everything else is kept`() throws {
        let manifest = try sound.manifest()
        let segment = SoundDatabase.path(.segment(manifest.segments[0].number))
        let size = manifest.segments[0].sizeBytes
        let rejects = SoundDatabase.path(.rejects(manifest.rejects[0].number))
        let cases: [(path: String, range: Range<Int>, losers: Int)] = [
            ("db/MANIFEST", 0..<10, 0), ("db/LOCK", 100..<101, 0), (rejects, 3..<4, 0),
            (segment, 0..<4, 0), (segment, (size - 5)..<size, 0),
            (segment, (size - 60)..<(size - 40), 1), (segment, 40..<400, 1),
            (segment, 0..<size, 1),
        ]
        for (path, range, losers) in cases {
            let system = sound.system.survivor(.nothing)
            system.makeUnreadable(path, range)
            let what = "\(path) \(range)"
            let found = try Examination.check(system)
            #expect(found.allSatisfy { "db/" + $0.file == path } && !found.isEmpty, "\(found)")
            #expect(found.first?.found.contains("pread failed") == true, "\(found)")
            let (contents, report) = try Examination.repaired(system, sound, what)
            #expect(Examination.losers(contents, sound).count == losers, "\(what)")
            #expect(
                report.notes.contains { $0.contains("has zeros in their place") }, "\(report.lines)"
            )
            if path != rejects { #expect(contents.refusals == sound.contents.refusals) }
        }
    }

    @Test func `each part of a segment that a device does not give costs that part`() throws {
        let large = try DamageTests.large.get()
        let (path, parts) = try Self.parts(of: large)
        var kinds: Set<String> = []
        for (place, part) in parts {
            guard kinds.insert("\(part)".prefix { $0 != "(" }.description).inserted else {
                continue
            }
            let system = large.system.survivor(.nothing)
            system.makeUnreadable(path, place.offset..<(place.offset + 1))
            let found = try Examination.check(system)
            #expect(found.first?.offset == place.offset, "\(part): \(found)")
            #expect(found.first?.lost.contains("experiment \"dev\"") == true, "\(found)")
            let (contents, _) = try Examination.repaired(system, large, "\(part)")
            #expect(Examination.losers(contents, large).count == 1, "\(part)")
        }
    }

    @Test func `a log of which a device does not give all`() throws {
        for (index, (path, _)) in try logs().enumerated() {
            let place = try frames(index)[0] + 40
            let system = killed.system.survivor(.nothing)
            system.makeUnreadable(path, place..<(place + 1))
            let found = try Examination.check(system)
            #expect(found.map { "db/" + $0.file } == [path])
            let (contents, _) = try Examination.repaired(system, killed, path)
            let batches: Set<Int64> = index == 0 ? [2, 3] : [4, 5]
            let losers = Examination.losers(contents, killed)
            #expect(losers.isSubset(of: batches) && !losers.isEmpty)
        }
    }

    // MARK: Manifests and locks

    @Test func `an older manifest takes in all newer files, logs among them`() throws {
        for bytes in [killed.closedManifest, killed.earlier["db/MANIFEST"] ?? []] {
            for hasLock in [true, false] {
                let system = killed.system.survivor(.nothing)
                system["db/MANIFEST"] = bytes
                // Without a lock only a log that is gone can show it.
                if !hasLock { system["db/LOCK"] = killed.earlier["db/LOCK"] ?? [] }
                var notes: [CheckFinding] = []
                _ = try Database.check("db", on: system) { notes.append($0) }
                guard hasLock else { continue }
                #expect(notes.contains { $0.found.contains("older one") })
                #expect(notes.contains { $0.found.contains("a repair adopts it") })
                let (contents, report) = try Examination.repaired(system, killed)
                #expect(contents == killed.contents, "\(report.lines)")
                #expect(report.lines.contains { $0.contains("newer files were adopted") })
                let database = try SoundDatabase.open(system)
                _ = try database.write(SoundDatabase.batch(9, rowCount: 10))
                try database.close()
                #expect(try Examination.check(system).isEmpty)
            }
        }
    }

    @Test func `segments and logs that a newer manifest let go are no loss`() throws {
        let system = FaultyFileSystem()
        var options = SoundDatabase.options
        options.compactionSegmentCount = 2
        let database = try Database.open(
            "db", access: .readWrite, options: options, on: system)
        for number in 0..<3 {
            _ = try database.write(SoundDatabase.batch(number, rowCount: 50))
            if number < 2 { try database.flush() }
        }
        let manifest = system["db/MANIFEST"]
        try database.flush()
        try database.compact()
        try database.close()
        let contents = try Contents(SoundDatabase.open(system, .readOnly))
        system["db/MANIFEST"] = manifest
        let report = try Examination.repair(system)
        #expect(try Contents(SoundDatabase.open(system, .readOnly)) == contents)
        #expect(report.findings.allSatisfy { $0.file == "MANIFEST" }, "\(report.lines)")
        #expect(report.notes.contains { $0.contains("missing, as after a merge") })
        #expect(report.notes.contains { $0.contains("missing, as after a flush") })
        #expect(try Examination.check(system).isEmpty)
    }

    @Test func `manifest or lock of another database`() throws {
        let foreign = try DamageTests.foreign.get()
        for name in ["MANIFEST", "LOCK"] {
            let system = sound.system.survivor(.nothing)
            system["db/" + name] = foreign.files["db/" + name] ?? []
            #expect(try Examination.readable(system) == nil)
            #expect(try Examination.check(system).first?.file == name)
            let (contents, report) = try Examination.repaired(system, sound, name)
            #expect(contents == sound.contents, "\(name): \(report.lines)")
            #expect(report.moved == [name])
        }
    }

    @Test func `a missing lock is said, and in nobody's way`() throws {
        for bytes in [nil, [UInt8]()] {
            let system = sound.system.survivor(.nothing)
            if let bytes { system["db/LOCK"] = bytes } else { system.erase("db/LOCK") }
            #expect(try Examination.readable(system) == sound.contents)
            let found = try Examination.check(system)
            #expect(found.map(\.file) == ["LOCK"])
            #expect(found.first?.found.hasPrefix("LOCK is missing") == true)
            let copy = system.survivor(.nothing)
            try SoundDatabase.open(copy).close()
            #expect(try Examination.check(copy).isEmpty, "the next writer makes it")
            let (contents, report) = try Examination.repaired(system, sound)
            #expect(contents == sound.contents && report.moved.isEmpty)
            #expect(system["db/LOCK"].count >= AcknowledgedState.recordSizeBytes)
        }
        let backup = sound.system.survivor(.nothing)
        backup.erase("db/LOCK")
        backup.add("db/BACKUP", [UInt8]("a backup".utf8))
        #expect(try Examination.check(backup).isEmpty)
        let before = backup.files
        let refused = #expect(throws: DatabaseError.self) { try Examination.repair(backup) }
        #expect(refused?.kind == .notFound && refused?.remedy == .verifyBackup)
        #expect(backup.files == before, "nothing is made in a backup")
        let other = FaultyFileSystem()
        other.add("db/notes.txt", [1])
        #expect(throws: DatabaseError.self) { try Examination.repair(other) }
        #expect(other.files == ["db/notes.txt"])
    }

    @Test func `a copy without a lock is opened whatever ends its first opening`() throws {
        let copy = sound.system.survivor(.nothing)
        copy.erase("db/LOCK")
        let whole = copy.survivor(.nothing)
        try SoundDatabase.open(whole).close()
        for call in 0..<whole.callCount {
            for loss in [FaultyFileSystem.Loss.nothing, .everything] {
                let system = copy.survivor(.nothing, faults: [.init(at: call, .crash)])
                _ = try? SoundDatabase.open(system).close()
                let left = system.survivor(loss)
                try SoundDatabase.open(left).close()
                #expect(try Examination.check(left).isEmpty, "\(whole.calls[call])")
            }
        }
    }

    // MARK: What the system does not let be read

    @Test func `calls that the system refuses are no damage`() throws {
        let (closed, killed) = (sound.system, killed.system)
        for base in [closed, killed] {
            let whole = base.survivor(.nothing)
            _ = try Examination.check(whole)
            let calls = whole.calls
            for code in [EACCES, EMFILE, ENOMEM] {
                for call in calls.indices where calls[call].hasPrefix("open db/") {
                    // Whoever reads LOCK may be none who may write.
                    if calls[call].hasSuffix("LOCK"), code == EACCES { continue }
                    let faults = calls.indices[call...].map {
                        FaultyFileSystem.Fault(at: $0, .failure(code))
                    }
                    let system = base.survivor(.nothing, faults: faults)
                    let error = #expect(throws: DatabaseError.self, "\(code) \(calls[call])") {
                        _ = try Examination.check(system)
                    }
                    #expect(error?.kind == .io, "\(code) \(calls[call])")
                }
            }
        }
    }

    @Test func `something else in the place of a file or folder is named`() throws {
        let system = sound.system.survivor(.nothing)
        for path in system.files where path.hasPrefix("db/rejects/") { system.erase(path) }
        system.add("db/MANIFEST.new/x", [])
        system.add("db/00000999.seg/x", [])
        system.add("db/rejects/00000999.rej/x", [])
        system.add("db/rejects/y", [])
        var found: [CheckFinding] = []
        _ = try Database.check("db", on: system) { found.append($0) }
        let notes = found.filter {
            $0.severity == .note && $0.found.contains("this is not a regular file")
        }
        #expect(
            Set(notes.map(\.file)) == ["MANIFEST.new", "00000999.seg", "rejects/00000999.rej"])
        #expect(!found.contains { $0.found.contains("the next writer removes it") })
        #expect(
            found.first { $0.file == "rejects/y" }?.found == "not a file of the database")
        let damage = found.filter { $0.severity == .damage }
        #expect(damage.count == SoundDatabase.segmentCount)
        #expect(damage.allSatisfy { $0.file.hasPrefix("rejects/") })
        let database = try SoundDatabase.open(sound.system.survivor(.nothing), .readOnly)
        try database.close()
    }

    @Test func `a file in place of the folder of refusals is named, other files are checked`()
        throws
    {
        let system = FaultyFileSystem()
        for path in sound.files.keys where !path.hasPrefix("db/rejects/") {
            system.add(path, sound.files[path] ?? [])
        }
        system.add("db/rejects", [1])
        let segment = SoundDatabase.path(.segment(try sound.manifest().segments[0].number))
        system[segment][50] ^= 1
        let found = Set(try Examination.check(system).map { "db/" + $0.file })
        #expect(found.contains("db/rejects") && found.contains(segment))
    }

    // MARK: Exchanges

    @Test func `files of equal length that changed places are told from each other`() throws {
        let system = FaultyFileSystem()
        let database = try SoundDatabase.open(system)
        let names = (10..<30).map { "e\($0)" }
        for name in names {
            var batch = WriteBatch()
            for row in 0..<50 {
                try batch.add(
                    experiment: name, tags: ["id_participant": "p"],
                    time: Timestamp(nanoseconds: Int64(row)), fields: ["v": .integer(Int64(row))])
            }
            _ = try database.write(batch)
        }
        try database.close()
        let segments = try Manifest(decoding: system["db/MANIFEST"]).segments
        let bySize = Dictionary(grouping: segments) { $0.sizeBytes }
        let pair = try #require(bySize.values.first { $0.count > 1 }).prefix(2)
        let paths = pair.map { SoundDatabase.path(.segment($0.number)) }
        (system[paths[0]], system[paths[1]]) = (system[paths[1]], system[paths[0]])
        let found = try Examination.check(system)
        #expect(Set(found.map { "db/" + $0.file }) == Set(paths))
        let answers = try names.filter { name in
            let reader = try SoundDatabase.open(system, .readOnly)
            return (try? reader.query("SELECT count(v) FROM \(name)")) != nil
        }
        #expect(answers.count == names.count - 2)
    }

    @Test func `blocks of equal length that changed places are told from each other`() throws {
        let large = try DamageTests.large.get()
        let (path, parts) = try Self.parts(of: large)
        let bytes = large.system[path]
        func content(_ place: BlockHandle) -> ArraySlice<UInt8> {
            bytes[place.offset..<(place.offset + place.sizeBytes)]
        }
        var count = 0
        for (index, (one, _)) in parts.enumerated() {
            let other = parts[(index + 1)...].first {
                $0.handle.sizeBytes == one.sizeBytes
                    && !content($0.handle).elementsEqual(content(one))
            }
            guard let other = other?.handle else { continue }
            count += 1
            let system = large.system.survivor(.nothing)
            var swapped = bytes
            swapped.replaceSubrange(one.offset..<(one.offset + one.sizeBytes), with: content(other))
            swapped.replaceSubrange(
                other.offset..<(other.offset + one.sizeBytes), with: content(one))
            system[path] = swapped
            let offsets = Set(try Examination.check(system).compactMap(\.offset))
            #expect(offsets.isSubset(of: [one.offset, other.offset]) && !offsets.isEmpty)
        }
        #expect(count > 0)
    }

    // MARK: Golden files

    @Test(arguments: GoldenDatabaseTests.versions)
    func `golden files of every version are repaired`(version: String) throws {
        let golden = GoldenDatabaseTests()
        let whole = try golden.system(version)
        let contents = try Contents(FaultWorkload().open(whole, .readOnly))
        for name in GoldenDatabaseTests.names {
            let system = try golden.system(version)
            let path = "db/" + name
            // Of a log the first commit: of the last one nothing says that it was acknowledged.
            system[path][name.hasSuffix(".wal") ? 80 : system[path].count / 2] ^= 1
            let found = try Examination.check(system)
            #expect(found.contains { $0.file == name }, "\(name): \(found)")
            let report = try Examination.repair(system)
            #expect(!report.isEmpty)
            #expect(try Examination.check(system).isEmpty, "\(name)")
            let left = try Contents(FaultWorkload().open(system, .readOnly))
            #expect(left.cells.allSatisfy { contents.cells[$0.key] == $0.value }, "\(name)")
            #expect((left == contents) == (name == "MANIFEST"), "\(name): \(report.lines)")
        }
        let ends = try golden.system(version)
        for name in ["00000002.seg", "00000003.seg"] { ends["db/" + name][9] ^= 1 }
        _ = try Examination.repair(ends)
        #expect(try Contents(FaultWorkload().open(ends, .readOnly)) == contents)
    }
}
