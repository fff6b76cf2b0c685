// Forgetting a participant: planted texts and numbers are in every kind of place before, and in
// none after; others keep all they have; what comes later is refused and not kept.

import CozImport
import CozTestSupport
import Testing

@testable import CozDB

/// A database in which one participant has something of his own in every place there is.
struct PlantedDatabase {
    static let path = "study"
    static let him = "Qx" + text(seed: 1)
    /// What only he has, by where it is.
    static let markers: [String: [UInt8]] = {
        var markers: [String: [UInt8]] = [:]
        for (name, text) in texts { markers[name] = Array(text.utf8) }
        for (name, word) in [("integer", integer), ("float", float), ("time", UInt64(time))] {
            markers[name] = (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * UInt64($0))) }
        }
        return markers
    }()

    static let texts: [String: String] = [
        "participant": him, "attribute": "a" + text(seed: 2), "note": "n" + text(seed: 3),
        "field": "f" + text(seed: 4), "tag": "t" + text(seed: 5), "experiment": "e" + text(seed: 6),
        "line": "l" + text(seed: 7), "csv": "c" + text(seed: 8), "json": "j" + text(seed: 9),
        "value": "v" + text(seed: 10), "source": "s" + text(seed: 11),
        "time text": "2031-07-19T05:43:21.987Z", "constant": "k" + text(seed: 12),
    ]
    static let integer: UInt64 = 0x0123_4567_89AB_CDEF
    static let float: UInt64 = 0x4012_3456_789A_BCDE
    static let time: Int64 = 1_234_567_890_123_456_789

    /// 32 random bytes as text that no codec shortens.
    static func text(seed: UInt64) -> String {
        var random = SeededRandom(seed: seed &* 7919)
        let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".utf8)
        let bytes = (0..<43).map { _ in letters[Int(random.next() % UInt64(letters.count))] }
        return String(decoding: bytes, as: UTF8.self)
    }

    static func marker(_ name: String) -> String { texts[name] ?? "" }

    let identity: Identity
    var rowCount = 30

    /// One of several batches: he and two others, in the ways that the identity allows.
    func batch(_ round: Int) throws -> WriteBatch {
        var batch = WriteBatch()
        batch.settings = ExperimentSettings(identity: identity)
        batch.source = "round \(round)"
        for (index, name) in [Self.him, "p1", "p10"].enumerated() {
            let isHis = index == 0
            var tags = ["id_participant": name, "host": "h\(index)"]
            if isHis { tags["device"] = Self.marker("attribute") }
            if isHis { tags[Self.marker("tag")] = "x" }
            for row in 0..<rowCount {
                var fields: [String: FieldValue] = [
                    "heart": .integer(Int64(60 + row)), "load": .float(Double(row) / 8),
                    "mood": .string("mood \(row % 3)"), "note": .string("\(name) \(round) \(row)"),
                ]
                if isHis {
                    fields["note"] = .string("\(row)" + Self.marker("note"))
                    fields["heart"] = .integer(Int64(bitPattern: Self.integer))
                    fields["load"] = .float(Double(bitPattern: Self.float))
                    fields["mood"] = .string(Self.marker("constant"))
                    fields[Self.marker("field")] = .boolean(true)
                    fields["when"] = .string(Self.marker("time text"))
                } else {
                    fields["when"] = .string("2030-01-01T00:00:\(10 + row).000Z")
                }
                let time = isHis ? Self.time + Int64(row) : Int64(round * 40 + row) * 1_000_000
                try batch.add(
                    experiment: "dev", tags: tags, time: Timestamp(nanoseconds: time),
                    fields: fields)
            }
            try batch.add(
                experiment: isHis ? Self.marker("experiment") : "env", tags: tags,
                time: Timestamp(nanoseconds: Int64(round)), fields: ["noise": .float(1)])
            try batch.add(
                experiment: "dev", tags: tags, time: Timestamp(nanoseconds: Self.time),
                fields: ["load": .string("\(name)\(isHis ? Self.marker("value") : "")")])
            refuse(name, isHis, &batch)
        }
        return batch
    }

    /// Lines of several formats that no importer could read.
    private func refuse(_ name: String, _ isHis: Bool, _ batch: inout WriteBatch) {
        let json = isHis ? Self.marker("json") : ""
        let lines = [
            "dev,id_participant=\(name) v=\(isHis ? Self.marker("line") : "x")",
            "2030-01-01,\"\(name)\",\(isHis ? Self.marker("csv") : "x")",
            "{\"tags\":{\"id_participant\":\"\(name)\"},\"x\":\"\(json)",
        ]
        for (index, line) in lines.enumerated() {
            batch.refuse(
                Refusal(
                    subject: .line(Array(line.utf8)), reason: "not readable", source: "file",
                    line: index + 1))
        }
        let source = isHis ? "data/\(name)/\(Self.marker("source")).csv" : "data/\(name)/x.csv"
        batch.refuse(
            Refusal(subject: .line([0x31]), reason: "no time", source: source, line: 9))
    }

    /// Written over several sessions: in merged, new and superseded segments, and in the log.
    func make(on system: any FileSystem) throws {
        for round in 0..<3 {
            let database = try open(on: system)
            _ = try database.write(try batch(round))
            if round == 1 { try database.compact() }
            try database.close()
        }
    }

    func open(on system: any FileSystem) throws -> Database {
        var options = DatabaseOptions()
        options.compactsInBackground = false
        options.retireSeconds = 0
        return try Database.open(Self.path, access: .readWrite, options: options, on: system)
    }

    /// What a database holds of the others.
    static func others(_ contents: Contents) -> Contents {
        var others = contents
        others.cells = contents.cells.filter { cell, _ in
            cell.experiment != marker("experiment") && cell.time < time
        }
        let hidden = [him] + texts.values
        others.refusals = contents.refusals.filter { refusal in
            let words = refusal.mentions(tags: []).words.map(\.text)
            let text = "\(refusal)" + words.joined(separator: " ")
            return !hidden.contains { text.contains($0) }
        }
        return others
    }
}

struct ForgetTests {
    static let identities: [Identity] = [
        .standard, .allTags, .tags(["host"]), .participant(tag: "id_participant"),
    ]

    @Test(arguments: identities)
    func `nothing of a forgotten participant is in any file`(identity: Identity) throws {
        let planted = PlantedDatabase(identity: identity)
        let system = FaultyFileSystem()
        try planted.make(on: system)
        let before = try StoredBytes(PlantedDatabase.path, on: system)
        let found = before.places(of: PlantedDatabase.markers)
        for marker in PlantedDatabase.markers.keys {
            #expect(found.contains { $0.hasPrefix(marker + " in") }, "\(marker) was not planted")
        }
        let database = try planted.open(on: system)
        // In the log, too.
        _ = try database.write(try planted.batch(3))
        let contents = PlantedDatabase.others(try Contents(database))
        let preview = try database.forget([PlantedDatabase.him], isDryRun: true)
        #expect(try database.forgottenList().isEmpty)
        let report = try database.forget([PlantedDatabase.him])
        #expect(report.deletion == preview.deletion)
        #expect(report.deletion.rows == 30 + 4)
        #expect(report.newlyForgotten == 1 && report.removedExperiments == 1)
        for _ in 0..<2 {
            let after = try StoredBytes(PlantedDatabase.path, on: system)
            #expect(after.places(of: PlantedDatabase.markers) == [])
            #expect(after.unnamed == [])
            #expect(try Contents(database) == contents)
            #expect(!contents.cells.isEmpty && contents.refusals.count >= 10)
            // What comes again is refused, and nowhere kept.
            let again = try database.write(try planted.batch(3))
            #expect(again.forgottenPoints == 32 + 4)
            #expect(again.examples.first?.reason.contains("was forgotten") == true)
        }
        #expect(
            try StoredBytes(PlantedDatabase.path, on: system)
                .places(of: PlantedDatabase.markers) == [])
        try database.close()
        let reopened = try planted.open(on: system)
        #expect(try Contents(reopened) == contents)
        #expect(try reopened.forgottenList().contains(PlantedDatabase.him))
        #expect(try reopened.readmit([PlantedDatabase.him]) == [PlantedDatabase.him])
        #expect(try reopened.write(try planted.batch(3)).forgottenPoints == 0)
        try reopened.close()
        let kept = try StoredBytes(PlantedDatabase.path, on: system)
        #expect(!kept.places(of: PlantedDatabase.markers).isEmpty)
    }

    @Test func `refusals of others keep their sources beside those of the forgotten`() throws {
        let database = try Database.inMemory()
        var batch = WriteBatch()
        func add(_ participant: String, _ value: FieldValue) throws {
            try batch.add(
                experiment: "m", tags: ["id_participant": participant],
                time: Timestamp(nanoseconds: 1), fields: ["v": value])
        }
        try add("p0", .integer(1))
        _ = try database.write(batch)
        _ = try database.forget(["gone"])
        batch.removeAll()
        for participant in ["p1", "gone", "p2", "p3"] {
            batch.source = participant + ".csv"
            try add(participant, .string("text"))
        }
        let report = try database.write(batch)
        #expect(report.forgottenPoints == 1 && report.forgottenValues == 0)
        var sources: [String] = []
        try database.rejects { entry throws(DatabaseError) in
            sources.append(entry.refusal.source)
            return true
        }
        #expect(sources.sorted() == ["p1.csv", "p2.csv", "p3.csv"])
    }

    @Test func `names of others that begin alike stay`() throws {
        let system = FaultyFileSystem()
        let planted = PlantedDatabase(identity: .standard)
        try planted.make(on: system)
        let database = try planted.open(on: system)
        let before = try Contents(database)
        _ = try database.forget(["p1"])
        let after = try Contents(database)
        #expect(after.cells.count < before.cells.count)
        #expect(after.cells.keys.contains { $0.series.contains("p10") })
        #expect(after.refusals.contains { $0.mentions(tags: []).contains(Array("p10".utf8)) })
        #expect(!after.refusals.contains { $0.mentions(tags: []).contains(Array("p1".utf8)) })
        try database.close()
    }

    @Test func `what others sent stays, whatever words stand in it`() throws {
        let system = FaultyFileSystem()
        let database = try PlantedDatabase(identity: .standard).open(on: system)
        func refused(_ participant: String, _ text: String, source: String = "x.lp") -> WriteBatch {
            var batch = WriteBatch()
            let value = Refusal.Subject.value(
                experiment: "dev", key: SeriesKey(tags: [("id_participant", participant)]),
                time: Timestamp(nanoseconds: 1), field: "hr", value: .string(text), locked: .float)
            let line = "dev,id_participant=\(participant) hr=\(text) 1"
            for subject in [value, .line(Array(line.utf8))] {
                batch.refuse(Refusal(subject: subject, reason: "type", source: source, line: 1))
            }
            return batch
        }
        for name in ["p1-2", "p1.csv", "-p1", "p1\\,7", "p9"] {
            _ = try database.write(refused(name, "call p1"))
        }
        let kept = try Contents(database).refusals.count
        #expect(kept == 10)
        _ = try database.write(refused("p1", "sixty"))
        _ = try database.write(refused("p9", "of his file", source: "p1.lp"))
        try database.forget(["p1"])
        #expect(try Contents(database).refusals.count == kept)
        let again = try database.write(refused("p1-2", "once more"))
        #expect(again.forgottenPoints == 0)
        #expect(try database.write(refused("p1", "once more")).forgottenPoints > 0)
        #expect(try Contents(database).refusals.count == kept + 2)
        try database.close()
    }

    /// The experiment goes with its last participant; that its tag named participants does not.
    @Test(arguments: [false, true])
    func `a tag that named participants is known when its experiment is gone`(
        isDropped: Bool
    ) throws {
        let system = FaultyFileSystem()
        let planted = PlantedDatabase(identity: .standard)
        var database = try planted.open(on: system)
        func batch(_ experiment: String, _ identity: Identity) throws -> WriteBatch {
            var batch = WriteBatch()
            batch.settings.identity = identity
            try batch.add(
                experiment: experiment, tags: ["subject": "s9", "id_participant": "device 7"],
                time: Timestamp(nanoseconds: 1), fields: ["hr": .integer(61)])
            return batch
        }
        _ = try database.write(try batch("dev", .participant(tag: "subject")))
        if isDropped { _ = try database.execute("DROP MEASUREMENT dev") }
        try database.forget(["s9"])
        #expect(try database.schemas().isEmpty)
        for _ in 0..<2 {
            let report = try database.write(try batch("dev", .standard))
            #expect(report.forgottenPoints == 1)
            #expect(try Contents(database).cells.isEmpty)
            try database.close()
            database = try planted.open(on: system)
        }
        // What came in before somebody was forgotten again goes, too.
        try database.readmit(["s9"])
        _ = try database.write(try batch("dev", .standard))
        #expect(try database.forget(["s9"], isDryRun: true).deletion.rows == 1)
        #expect(try database.forget(["s9"]).deletion.rows == 1)
        try database.close()
    }

    @Test func `a name that a newer segment replaced is found`() throws {
        let system = FaultyFileSystem()
        let planted = PlantedDatabase(identity: .tags(["host"]))
        let database = try planted.open(on: system)
        for (round, name) in [PlantedDatabase.him, "other"].enumerated() {
            var batch = WriteBatch()
            batch.settings.identity = .tags(["host"])
            try batch.add(
                experiment: "dev", tags: ["host": "a", "id_participant": name],
                time: Timestamp(nanoseconds: 5), fields: ["v\(round)": .integer(1)])
            _ = try database.write(batch)
            try database.flush()
        }
        _ = try database.forget([PlantedDatabase.him])
        #expect(
            try StoredBytes(PlantedDatabase.path, on: system)
                .places(of: ["name": Array(PlantedDatabase.him.utf8)]) == [])
        #expect(try Contents(database).cells.count == 3)
        try database.close()
    }

    @Test func `who has no data is put on the list, and leftovers go`() throws {
        let system = FaultyFileSystem()
        let planted = PlantedDatabase(identity: .standard)
        try planted.make(on: system)
        let database = try planted.open(on: system)
        system.add("\(PlantedDatabase.path)/00009999.seg", Array(PlantedDatabase.him.utf8))
        system.add("\(PlantedDatabase.path)/rejects/00009999.rej", [1, 2, 3])
        let before = try Contents(database)
        let report = try database.forget(["nobody"])
        #expect(report.deletion.rows == 0 && report.newlyForgotten == 1 && report.listed == 1)
        #expect(try StoredBytes(PlantedDatabase.path, on: system).unnamed == [])
        #expect(try Contents(database) == before)
        #expect(try database.forget(["nobody"]).newlyForgotten == 0)
        #expect(throws: DatabaseError.self) { try database.forget([""]) }
        try database.close()
    }

    @Test func `columns that a deletion emptied go, also if the participant was forgotten before`()
        throws
    {
        let database = try Database.open(
            "db", access: .readWrite, options: DatabaseOptions(), on: FaultyFileSystem())
        var batch = WriteBatch()
        for (name, field) in [("p", "f"), ("a", "g")] {
            try batch.add(
                experiment: "m", tags: ["id_participant": name, "device_\(name)": "x"],
                time: Timestamp(nanoseconds: 1), fields: [field: .float(1)])
        }
        _ = try database.write(batch)
        _ = try database.forget(["q"])
        try database.delete(experiment: "m", tags: ["id_participant": "p"])
        let report = try database.forget(["q"])
        #expect(report.removedColumns == 2, "\(report)")
        #expect(try database.schemas().flatMap { $0.fields.map(\.name) } == ["g"])
        #expect(try database.forget(["q"]).removedColumns == 0)
        try database.close()
    }

    @Test func `nobody is forgotten while files of a repair may hold him, unless they go too`()
        throws
    {
        let system = FaultyFileSystem()
        let planted = PlantedDatabase(identity: .standard)
        try planted.make(on: system)
        for name in ["1/00000002.seg", "1/rejects/00000003.rej"] {
            system.add("\(PlantedDatabase.path)/damaged/\(name)", Array(PlantedDatabase.him.utf8))
        }
        let database = try planted.open(on: system)
        let before = try Contents(database)
        let error = #expect(throws: DatabaseError.self) {
            try database.forget([PlantedDatabase.him])
        }
        #expect(error?.kind == .usage)
        #expect(error?.message.contains("found 2 files in the damaged folder") == true)
        #expect(try Contents(database) == before)
        try database.forget([PlantedDatabase.him], removingSetAside: true)
        #expect(try Contents(database) != before)
        #expect(system.files.allSatisfy { !$0.contains("damaged") })
        #expect(try database.forget(["nobody"]).newlyForgotten == 1)
        try database.close()
    }

    @Test func `a restored copy forgets who is on a list of later`() throws {
        let system = FaultyFileSystem()
        let planted = PlantedDatabase(identity: .allTags)
        try planted.make(on: system)
        let backup = system.survivor(.nothing)
        let database = try planted.open(on: system)
        _ = try database.forget([PlantedDatabase.him, "somebody of another study"])
        let others = try Contents(database)
        let list = try ForgottenList(text: try database.forgottenList().text)
        #expect(list == (try database.forgottenList()))
        #expect(try ForgottenList(text: list.json) == list)
        try database.close()
        // The copy has forgotten somebody itself, with a salt of its own.
        let copy = try planted.open(on: backup)
        _ = try copy.forget(["third"])
        try copy.close()
        let report = try Database.applyForgotten(list, to: PlantedDatabase.path, on: backup)
        #expect(report.deletion.rows == 30 + 3)
        let after = try StoredBytes(PlantedDatabase.path, on: backup)
        #expect(after.places(of: PlantedDatabase.markers) == [])
        let reopened = try planted.open(on: backup)
        #expect(try Contents(reopened) == others)
        for name in [PlantedDatabase.him, "third", "somebody of another study"] {
            #expect(try reopened.forgottenList().contains(name))
        }
        #expect(try !reopened.forgottenList().contains("p1"))
        try reopened.close()
    }

    @Test func `a list that is not whole is refused`() throws {
        var list = ForgottenList()
        for number in 0..<20 { list.insert(["p\(number)"]) }
        for text in [list.text, list.json] {
            let bytes = Array(text.utf8)
            for index in bytes.indices where bytes[index] != UInt8(ascii: " ") {
                var changed = bytes
                changed[index] = changed[index] == UInt8(ascii: "7") ? 0x38 : 0x37
                let damaged = try? ForgottenList(text: String(decoding: changed, as: UTF8.self))
                // What is only there for the eye may change.
                #expect(damaged == nil || damaged == list, "byte \(index)")
            }
        }
        #expect(throws: DatabaseError.self) {
            try ForgottenList(text: String(list.text.dropLast(15)))
        }
    }

    @Test func `a list of more databases than 256 is refused, and so is one too many merged`()
        throws
    {
        func list(of count: Int) -> ForgottenList {
            var lists = ForgottenList()
            for number in 0..<count {
                var one = ForgottenList()
                one.insert(["p\(number)"])
                lists.merge(one)
            }
            return lists
        }
        let most = list(of: 256)
        #expect(try ForgottenList(text: most.text) == most)
        let text = list(of: 257).text
        let error = #expect(throws: DatabaseError.self) { try ForgottenList(text: text) }
        #expect(error?.kind == .limitExceeded)
        let database = try PlantedDatabase(identity: .standard).open(on: FaultyFileSystem())
        _ = try database.forget(["p7"])
        // Its own salt is one of them.
        #expect(throws: DatabaseError.self) { try database.forget([], merging: most) }
        #expect(try database.forgottenList().contains("p7"))
        try database.close()
    }

    @Test func `declared types go with the last value of their field, questions stay`() throws {
        let database = try PlantedDatabase(identity: .standard).open(on: FaultyFileSystem())
        func write(_ experiment: String, _ name: String, _ question: String = "") throws {
            var batch = WriteBatch()
            try batch.add(
                experiment: experiment, tags: ["id_participant": name],
                time: Timestamp(nanoseconds: 1), fields: ["\(name)_f": .float(1)])
            let handle = batch.experiment(experiment.utf8.span)
            for field in ["\(name)_f", "other"] {
                batch.declare(.init(field, .float, question: question), experiment: handle)
            }
            _ = try database.write(batch)
        }
        try write("typed", "p7")
        try write("asked", "p7", "Warm?")
        try write("shared", "p7")
        try write("shared", "p8")
        _ = try database.forget(["p7"])
        let schemas = try database.schemas()
        #expect(schemas.map(\.name).sorted() == ["asked", "shared"])
        let left = schemas.first { $0.name == "shared" }
        #expect(left?.declarations.map(\.name) == ["other", "p8_f"])
        #expect(left?.declaration(of: "p8_f")?.type == .float)
        try database.close()
    }

    @Test func `a declared type stays while another participant has a refused value`() throws {
        let database = try PlantedDatabase(identity: .standard).open(on: FaultyFileSystem())
        func write(_ name: String, _ fields: [String: FieldValue]) throws -> WriteReport {
            var batch = WriteBatch()
            try batch.add(
                experiment: "typed", tags: ["id_participant": name],
                time: Timestamp(nanoseconds: 1), fields: fields)
            batch.declare(
                .init("f", .float), experiment: batch.experiment("typed".utf8.span))
            return try database.write(batch)
        }
        _ = try write("p7", ["f": .float(1)])
        #expect(try write("p8", ["f": "x"]).refusedValues == 1)
        _ = try database.forget(["p7"])
        let left = try database.schemas().first { $0.name == "typed" }
        #expect(left?.declaration(of: "f")?.type == .float)
        #expect(left?.field("f") == nil)
        _ = try database.forget(["p8"])
        #expect(try !database.schemas().contains { $0.name == "typed" })
        try database.close()
    }

    @Test func `refused lines whose participant is known from elsewhere are not kept`() throws {
        let system = FaultyFileSystem()
        let database = try PlantedDatabase(identity: .standard).open(on: system)
        _ = try database.forget(["p7"])
        var batch = WriteBatch()
        batch.assumedParticipant = "p7"
        batch.refuse(
            Refusal(subject: .line(Array("dev v=1x".utf8)), reason: "no", source: "f", line: 1))
        let report = try database.write(batch)
        #expect(report.forgottenPoints == 1 && report.refusedPoints == 1 && report.points == 1)
        batch.removeAll()
        batch.assumedParticipant = "p8"
        batch.refuse(
            Refusal(subject: .line(Array("dev v=1x".utf8)), reason: "no", source: "f", line: 1))
        #expect(try database.write(batch).forgottenPoints == 0)
        #expect(try database.info().rejects == 1)
        try database.close()
    }

    @Test func `a batch that is stored whole or not at all is not stored without the forgotten`()
        throws
    {
        let database = try PlantedDatabase(identity: .standard).open(on: FaultyFileSystem())
        _ = try database.forget(["p7"])
        var batch = WriteBatch()
        for name in ["p6", "p7"] {
            try batch.add(
                experiment: "dev", tags: ["id_participant": name], time: Timestamp(nanoseconds: 1),
                fields: ["v": .float(1)])
        }
        batch.isAllOrNothing = true
        let whole = batch
        let error = #expect(throws: DatabaseError.self) { try database.write(whole) }
        #expect(error?.kind == .usage)
        #expect(error?.message.contains("1 points belong to forgotten participants") == true)
        #expect(try Contents(database).cells.isEmpty)
        batch.isAllOrNothing = false
        #expect(try database.write(batch).forgottenPoints == 1)
        #expect(try Contents(database).cells.count == 1)
        try database.close()
    }

    /// A write that was torn and the next one, an array that is not JSON, and two lines without a
    /// line break between them.
    @Test(arguments: [
        #"{"measurement":"dev","tags":{"id_participant":"p1"},"fields":{"n"#
            + #"{"measurement":"dev","tags":{"id_participant":"p2"},"fields":{"note":"secret"}}"#,
        #"{"measurement":"dev","tags":{"id_participant":"p1"},},"#
            + #"{"measurement":"dev","tags":{"id_participant":"p2"},"fields":{"note":"secret"}}]"#,
        #"dev,id_participant=p1 x=1i 17dev,id_participant=p2 note="secret" 17"#,
        #"dev,id_participant=p1 note="tor dev,id_participant=p2 note="secret" 17"#,
    ])
    func `a refused text of two participants goes with either, and no DELETE of one takes it`(
        text: String
    ) throws {
        for participant in ["p1", "p2", "p3"] {
            let database = try Database.inMemory()
            var batch = WriteBatch()
            for name in ["p1", "p2", "p3"] {
                try batch.add(
                    experiment: "dev", tags: ["id_participant": name],
                    time: Timestamp(nanoseconds: 1), fields: ["x": 1])
            }
            batch.refuse(
                Refusal(subject: .line(Array(text.utf8)), reason: "broken", source: "f", line: 1))
            _ = try database.write(batch)
            _ = try database.execute("DELETE WHERE id_participant = '\(participant)'")
            #expect(try Contents(database).refusals.count == 1)
            let report = try database.forget([participant])
            #expect(report.deletion.refusals == (participant == "p3" ? 0 : 1))
            // Forgotten before, they are not kept.
            var again = WriteBatch()
            again.refuse(
                Refusal(subject: .line(Array(text.utf8)), reason: "broken", source: "g", line: 1))
            _ = try database.write(again)
            #expect(try Contents(database).refusals.count == (participant == "p3" ? 2 : 0))
        }
    }
}
