// The rejects journal: entries of every kind read back, damage does not.

import CozTestSupport
import Foundation
import Synchronization
import Testing

@testable import CozDB

struct RejectsTests {
    static let refusals: [Refusal] =
        [
            Refusal(subject: .line([]), reason: "", source: "", line: 0),
            Refusal(
                subject: .line([0xFF, 0, 0x0A]), reason: "not UTF-8", source: "a\nb", line: 7,
                column: 3),
        ]
        + [FieldValue.float(.nan), .integer(.min), .boolean(true), .string("é\u{0}")].map { value in
            Refusal(
                subject: .value(
                    experiment: "dev", key: SeriesKey(tags: [("a", "\u{0}")]), time: .min,
                    field: "x", value: value, locked: .boolean), reason: "r", source: "s", line: 1)
        }

    func write(_ system: FaultyFileSystem) throws -> Manifest.RejectsFile {
        let directory = try system.openDirectory("db", create: true, access: .ownerOnly)
        let entries =
            Self.refusals.map { JournalEntry.refusal($0) } + [
                .mark(id: 5, state: .done), .mark(id: .max, state: .superseded),
                .repeated(id: 6, count: 1 << 32, line: .max, column: 2), .dropped(count: 300),
            ]
        return try RejectsFile.write(entries, number: 3, under: directory, databaseID: 8)
    }

    @Test func `entries read back`() throws {
        let system = FaultyFileSystem()
        let info = try write(system)
        let directory = try system.openDirectory("db", create: false, access: .ownerOnly)
        let entries = try RejectsFile.read(info, under: directory, databaseID: 8)
        var refusals: [Refusal] = []
        var marks: [UInt64] = []
        var counts: [Int] = []
        for entry in entries {
            switch entry {
            case .refusal(let refusal): refusals.append(refusal)
            case .mark(let id, _): marks.append(id)
            case .repeated(let id, let count, let line, let column):
                counts += [Int(id), count, line, column]
            case .dropped(let count): counts.append(count)
            }
        }
        #expect(counts == [6, 1 << 32, .max, 2, 300])
        #expect(refusals == Self.refusals)
        #expect(marks == [5, .max])
        #expect(Set(refusals.map(\.journalID)).count == refusals.count)
    }

    @Test func `every flipped byte, cut and other place is refused`() throws {
        let system = FaultyFileSystem()
        var info = try write(system)
        let directory = try system.openDirectory("db", create: false, access: .ownerOnly)
        let path = "db/rejects/00000003.rej"
        let whole = system[path]
        func isRefused(_ databaseID: UInt64 = 8) -> Bool {
            do throws(DatabaseError) {
                _ = try RejectsFile.read(info, under: directory, databaseID: databaseID)
                return false
            } catch {
                return error.kind == .damaged && error.file == path
            }
        }
        for offset in whole.indices {
            system[path][offset] ^= 0x20
            #expect(isRefused(), "offset \(offset)")
            system[path] = Array(whole[..<offset])
            #expect(isRefused(), "cut at \(offset)")
            system[path] = whole
        }
        #expect(isRefused(9))
        info.checksum ^= 1
        #expect(isRefused())
    }

    @Test func `counts have the bytes of the page`() throws {
        var writer = ByteWriter()
        let id: UInt64 = 0x0807_0605_0403_0201
        writer.append(JournalEntry.repeated(id: id, count: 300, line: 9, column: 0))
        writer.append(JournalEntry.dropped(count: 1))
        #expect(writer.bytes == [4, 1, 2, 3, 4, 5, 6, 7, 8, 0xAC, 0x02, 9, 0, 5, 1])
        // A count that sums could overflow with.
        var large = ByteWriter()
        large.append(JournalEntry.dropped(count: 1 << 32 + 1))
        var reader = ByteReader(large.bytes.span)
        #expect(throws: FormatError.self) { try reader.readJournalEntry() }
    }

    @Test func `a mark of an unknown state is refused`() {
        var writer = ByteWriter()
        writer.append(JournalEntry.mark(id: 5, state: .superseded))
        writer.bytes[writer.count - 1] = 3
        #expect(throws: FormatError.self) {
            var reader = ByteReader(writer.bytes.span)
            _ = try reader.readJournalEntry()
        }
    }

    @Test(arguments: 0..<10) func `entries of any bytes do not trap`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var writer = ByteWriter()
        for refusal in Self.refusals { writer.append(JournalEntry.refusal(refusal)) }
        for _ in 0..<500 {
            var bytes = writer.bytes
            for _ in 0..<3 {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(
                    in: 0...255, using: &random)
            }
            var reader = ByteReader(bytes.span)
            while !reader.isAtEnd, (try? reader.readJournalEntry()) != nil {}
        }
    }
}

struct RejectsReplayTests {
    private func open(_ system: FaultyFileSystem = FaultyFileSystem()) throws -> Database {
        var options = DatabaseOptions()
        options.compactsInBackground = false
        return try Database.open("db", access: .readWrite, options: options, on: system)
    }

    private func refuse(
        _ database: Database, participant: String = "p",
        time: Timestamp = Timestamp(nanoseconds: 1), field: String = "f",
        value: FieldValue = .integer(3), isCut: Bool = false
    ) throws {
        var batch = WriteBatch()
        var refusal = Refusal(
            subject: .value(
                experiment: "m", key: SeriesKey(tags: [("id_participant", participant)]),
                time: time, field: field, value: value, locked: .float),
            reason: "r", source: "s", line: 1)
        refusal.isCut = isCut
        batch.refuse(refusal)
        _ = try database.write(batch)
    }

    private func write(_ database: Database, _ field: String, _ value: FieldValue) throws {
        var batch = WriteBatch()
        try batch.add(
            experiment: "m", tags: ["id_participant": "p"], time: Timestamp(nanoseconds: 5),
            fields: [field: value])
        _ = try database.write(batch)
    }

    private func entries(_ database: Database) throws -> [RejectEntry] {
        var entries: [RejectEntry] = []
        try database.rejects { entry throws(DatabaseError) in
            entries.append(entry)
            return true
        }
        return entries
    }

    @Test func `what no point can be stays refused and keeps no other entry from a replay`() throws
    {
        let database = try open()
        var batch = WriteBatch()
        try batch.add(
            experiment: "m", tags: ["id_participant": "p"], time: Timestamp(nanoseconds: 5),
            fields: ["f": .float(1)])
        _ = try database.write(batch)
        try refuse(database)
        try refuse(database, participant: String(repeating: "x", count: 70_000))
        try refuse(database, time: Timestamp(nanoseconds: .min))
        try refuse(database, field: "")
        try refuse(database, field: String(repeating: "x", count: 70_000))
        let long = String(repeating: "x", count: DatabaseOptions().stringSizeBytesMax + 1)
        try refuse(database, field: "g", value: .string(long))
        let report = try database.replayRejects()
        #expect(report.replayed == 1 && report.refused == 5)
        #expect(
            try entries(database).map(\.state)
                == [.done, .waiting, .waiting, .waiting, .waiting, .waiting])
        #expect(try database.query("SELECT count(f) FROM m").series[0].columns[1].integers == [2])
    }

    @Test(arguments: [false, true])
    func `what a replay cannot store keeps waiting as it is`(isFull: Bool) throws {
        var options = DatabaseOptions()
        options.columnCountMax = 3
        options.compactsInBackground = false
        if isFull { options.rejectsSizeBytesMax = 300 }
        let database = try Database.open(
            "db", access: .readWrite, options: options, on: FaultyFileSystem())
        try write(database, "f", .float(1))
        // Two values of a new field have different types. The other new field is one too many.
        try refuse(database, field: "g", value: .boolean(true))
        try refuse(database, time: Timestamp(nanoseconds: 2), field: "g", value: .float(2))
        try write(database, "h", .float(1))
        try refuse(database, field: "i", value: .float(1))
        let before = try entries(database)
        for round in 1...3 {
            let report = try database.replayRejects()
            #expect(report.replayed == (round == 1 ? 1 : 0))
            #expect(report.refused == before.count - 1)
            let after = try entries(database)
            #expect(after.map(\.refusal) == before.map(\.refusal))
            #expect(after.map(\.state) == [.done] + before.dropFirst().map { _ in .waiting })
        }
    }

    @Test(arguments: ["DROP MEASUREMENT m", "DELETE FROM m"])
    func `refused values without a possible time go with their experiment`(
        statement: String
    ) throws {
        let database = try open()
        try write(database, "f", .float(1))
        try refuse(database, time: Timestamp(nanoseconds: .min))
        try refuse(database, time: Timestamp(nanoseconds: .max))
        _ = try database.execute(statement)
        #expect(try entries(database).isEmpty)
    }

    @Test func `no replay takes the beginning of a value for the value`() throws {
        let database = try open()
        try write(database, "f", .float(1))
        try refuse(database, field: "g", value: .string("a beginning"), isCut: true)
        try refuse(database, field: "a beginning", isCut: true)
        try refuse(database, participant: String(repeating: "x", count: 2000), isCut: true)
        try database.flush()
        let report = try database.replayRejects()
        #expect(report.replayed == 0 && report.refused == 3)
        #expect(try entries(database).map(\.refusal.isCut) == [true, true, true])
        #expect(try entries(database).map(\.state) == [.waiting, .waiting, .waiting])
    }

    @Test func `a float that may be a rounded integer is refused, and by a replay, too`() throws {
        let database = try open()
        try write(database, "i", .integer(1))
        for (time, value) in [-0x1p63, 0x1p63, -0.0, 1.5, -0x1p62].enumerated() {
            var batch = WriteBatch()
            try batch.add(
                experiment: "m", tags: ["id_participant": "p"],
                time: Timestamp(nanoseconds: Int64(10 + time)), fields: ["i": .float(value)])
            #expect(try database.write(batch).refusedValues == (value == -0x1p62 ? 0 : 1))
        }
        let report = try database.replayRejects()
        #expect(report.replayed == 0 && report.refused == 4)
    }

    @Test func `a replay stores what fits also where refusals are errors`() throws {
        var options = DatabaseOptions()
        options.refusalPolicy = .throw
        let system = FaultyFileSystem()
        var database = try open(system)
        try write(database, "i", .integer(1))
        try write(database, "j", .integer(1))
        for field in ["i", "j"] {
            var batch = WriteBatch()
            try batch.add(
                experiment: "m", tags: ["id_participant": "p"], time: Timestamp(nanoseconds: 10),
                fields: [field: .float(1.5)])
            #expect(try database.write(batch).refusedValues == 1)
        }
        try database.alter(experiment: "m", field: "i", type: .float)
        try database.close()
        database = try Database.open("db", access: .readWrite, options: options, on: system)
        let report = try database.replayRejects()
        #expect(report.replayed == 1 && report.refused == 1)
        #expect(try entries(database).map(\.state) == [.done, .waiting])
    }

    @Test(arguments: [false, true])
    func `a value that is refused again after its replay waits again`(reopens: Bool) throws {
        let system = FaultyFileSystem()
        var database = try open(system)
        try write(database, "f", .float(1))
        try refuse(database)
        try refuse(database, participant: "q")
        for round in 1...2 {
            #expect(try database.replayRejects().replayed == 2)
            #expect(try entries(database).map(\.state) == [.done, .done])
            if reopens {
                try database.close()
                database = try open(system)
            }
            _ = try database.execute("DELETE FROM m WHERE f > 2")
            try refuse(database)
            try refuse(database)
            // Each refusal once, in the order of the last time.
            #expect(try entries(database).map(\.state) == [.done, .waiting])
            #expect(try database.replayRejects().replayed == 1, "round \(round)")
            try refuse(database, participant: "q")
            _ = try database.execute("DELETE FROM m WHERE f > 2")
            try refuse(database)
        }
    }

    @Test func `what the database refuses of a forgotten participant is not kept`() throws {
        let database = try open()
        try write(database, "f", .float(1))
        try database.forget(["p4"])
        for (source, user) in [("", "p4"), ("p4.csv", "x"), ("", "p5")] {
            var batch = WriteBatch()
            batch.source = source
            try batch.add(
                experiment: "m", tags: ["user": user], time: Timestamp(nanoseconds: 1),
                fields: ["f": .float(2)])
            let report = try database.write(batch)
            #expect(report.refusedPoints == 1)
            #expect(report.forgottenPoints == (user == "p5" ? 0 : 1))
        }
        var batch = WriteBatch()
        batch.source = "p4.csv"
        try batch.add(
            experiment: "m", tags: ["id_participant": "p"], time: Timestamp(nanoseconds: 1),
            fields: ["f": .string("x")])
        let report = try database.write(batch)
        #expect(report.refusedValues == 1 && report.forgottenValues == 1)
        let kept = try entries(database)
        #expect(kept.count == 1)
        #expect(kept.first?.refusal.reason.contains("id_participant") == true)
    }

    @Test func `a refused value keeps a name by the tag of a deleted experiment`() throws {
        let database = try open()
        var batch = WriteBatch()
        batch.settings.identity = .participant(tag: "who")
        try batch.add(
            experiment: "a", tags: ["who": "zoe"], time: Timestamp(nanoseconds: 1),
            fields: ["f": .float(1)])
        _ = try database.write(batch)
        _ = try database.execute("DROP MEASUREMENT a")
        batch = WriteBatch()
        for (time, value) in [(1, FieldValue.float(1)), (2, .string("secret"))] {
            try batch.add(
                experiment: "m", tags: ["id_participant": "p", "who": "zoe"],
                time: Timestamp(nanoseconds: Int64(time)), fields: ["f": value, "g": .float(1)])
        }
        #expect(try database.write(batch).refusedValues == 1)
        _ = try database.execute("DELETE FROM m WHERE g = 1 AND time = 2")
        #expect(try database.forget(["zoe"]).deletion.refusals == 1)
        #expect(try entries(database).isEmpty)
    }

    @Test func `a refused object or array is masked as a whole`() throws {
        let database = try open()
        var batch = WriteBatch()
        for text in ["{\"api_write_key\":\"S3CRET\"}", "[\"S3CRET\"]"] {
            batch.refuse(
                Refusal(
                    subject: .value(
                        experiment: "m", key: SeriesKey(tags: [("id_participant", "p")]),
                        time: Timestamp(nanoseconds: 1), field: "f", value: .string(text),
                        locked: .float),
                    reason: "an object", source: "s", line: 1))
        }
        _ = try database.write(batch)
        var count = 0
        try database.redactedRejects { entry throws(DatabaseError) in
            #expect(!"\(entry)".contains("S3CRET"))
            count += 1
            return true
        }
        #expect(count == 2)
    }

    @Test func `an error of a batch that must be whole masks credentials`() throws {
        var options = DatabaseOptions()
        options.refusalPolicy = .throw
        let database = try Database.open(
            "db", access: .readWrite, options: options, on: FaultyFileSystem())
        func write(_ value: FieldValue) throws {
            var batch = WriteBatch()
            try batch.add(
                experiment: "m", tags: ["id_participant": "p"], time: Timestamp(nanoseconds: 1),
                fields: ["id_password": value])
            _ = try database.write(batch)
        }
        try write(.integer(1))
        let error = #expect(throws: DatabaseError.self) { try write("hunter-two") }
        #expect(error?.message.contains("hunter") == false)
        #expect(error?.message.contains("id_password=\"REDACTED\": string") == true)
    }

    @Test func `a row without values creates nothing`() throws {
        let database = try open()
        var batch = WriteBatch()
        let experiment = batch.experiment("ghost".utf8.span)
        let tags = batch.tagSet(
            experiment: experiment, tags: [("id_participant", "p"), ("room", "r")])
        batch.endRow(tagSet: tags, time: 0, line: 1)
        _ = try database.write(batch)
        #expect(try database.schemas().isEmpty)
    }

    @Test func `replaying costs in proportion to the journal`() throws {
        let growth = try Growth(from: 1500) { count in
            let database = try self.open()
            var batch = WriteBatch()
            for number in 0..<count {
                try batch.add(
                    experiment: "m", tags: ["id_participant": "p\(number)"],
                    time: Timestamp(nanoseconds: 0), fields: ["f": .float(1)])
            }
            _ = try database.write(batch)
            for number in 0..<count { try self.refuse(database, participant: "p\(number)") }
            return database
        } _: { database in
            _ = try database.replayRejects()
        }
        #expect(growth.isLinear, "\(growth)")
    }

    @Test func `a replay beside writers replaces nothing that they have written`() throws {
        let database = try Database.open(
            "db", access: .readWrite, options: DatabaseOptions(), on: FaultyFileSystem())
        func batch(_ rows: some Sequence<Int>, _ value: FieldValue) throws -> WriteBatch {
            var batch = WriteBatch()
            for row in rows {
                try batch.add(
                    experiment: "m", tags: ["id_participant": "p"],
                    time: Timestamp(nanoseconds: Int64(row)), fields: ["x": value])
            }
            return batch
        }
        let rowCount = 20_000
        _ = try database.write(try batch([-1], .integer(1)))
        _ = try database.write(try batch(0..<rowCount, .float(1.5)))
        try database.alter(experiment: "m", field: "x", type: .float)
        let isDone = Atomic(false)
        let thread = Thread {
            _ = try? database.replayRejects()
            isDone.store(true, ordering: .releasing)
        }
        thread.start()
        var row = rowCount
        while row > 0, !isDone.load(ordering: .acquiring) {
            row -= 1
            _ = try database.write(try batch([row], .float(999)))
        }
        while !isDone.load(ordering: .acquiring) { usleep(1000) }
        let answer = try database.query("SELECT x FROM m WHERE time >= \(row)")
        let values = try #require(answer.series.first?.column("x"))
        #expect(
            values.doubles.prefix(rowCount - row)
                == Array(repeating: 999, count: rowCount - row)[...])
    }

    @Test func `forgetting costs in proportion to the names`() throws {
        let growth = try Growth(from: 5_000) { count in
            (try self.open(), (0..<count).map { "participant \($0)" })
        } _: { database, names in
            _ = try database.forget(names)
            _ = try database.readmit(names)
        }
        #expect(growth.isLinear, "\(growth)")
    }

    @Test func `names with one first word are looked for at once`() throws {
        let growth = try Growth(from: 300) { count in
            let database = try self.open()
            var batch = WriteBatch()
            for line in 0..<count {
                batch.refuse(
                    Refusal(
                        subject: .line(Array("room \(line) of Study participant".utf8)),
                        reason: "r", source: "f", line: 1))
            }
            _ = try database.write(batch)
            return (database, (0..<count).map { "Study P\($0)" })
        } _: { database, names in
            _ = try database.forget(names)
        }
        #expect(growth.isLinear, "\(growth)")
    }

    @Test func `names of several words are found in refused lines`() throws {
        let database = try open()
        var batch = WriteBatch()
        for text in ["of a-b: no line", "of a-bc: no line", "of xa-b: no line", "other"] {
            batch.refuse(
                Refusal(
                    subject: .line(Array(text.utf8)), reason: "r", source: "f", line: 1))
        }
        _ = try database.write(batch)
        _ = try database.forget(["a-b"])
        var count = 0
        try database.rejects { _ throws(DatabaseError) in
            count += 1
            return true
        }
        #expect(count == 3, "one line names the participant as a whole word")
    }

    @Test func `a deletion looks at refused lines in proportion to their tags`() throws {
        let growth = try Growth(from: 200) { size in
            let database = try open()
            var batch = WriteBatch()
            for line in [
                "m," + (0..<size).map { "t\($0)=x" }.joined(separator: ","),
                "m," + (0..<size).map { "id_participant=\($0)" }.joined(separator: ","),
            ] {
                batch.refuse(
                    Refusal(
                        subject: .line(Array((line + " f=").utf8)), reason: "r", source: "s",
                        line: 1))
            }
            _ = try database.write(batch)
            return database
        } _: { database in
            let condition = "id_participant = 'p' AND t1 = 'y'"
            _ = try database.execute("DELETE WHERE \(condition)")
        }
        #expect(growth.isLinear || growth.costs[2].seconds < 0.01, "\(growth)")
    }

    @Test func `of a tag that a refused line has twice, every value is meant`() throws {
        let database = try open()
        var batch = WriteBatch()
        for (number, line) in ["m,a=1,b=2,a=3 f=", "m,a=1,b=2,b=4 f=", "m,b=2 f="].enumerated() {
            batch.refuse(
                Refusal(
                    subject: .line(Array(line.utf8)), reason: "r", source: "s", line: number))
        }
        _ = try database.write(batch)
        for (condition, count) in [
            ("a = '3' AND b = '4'", 3), ("a = '3' AND b = '2'", 2), ("b = '4'", 1),
            ("a != '1'", 0),
        ] {
            _ = try database.execute("DELETE WHERE \(condition)")
            var left = 0
            try database.rejects { _ in
                left += 1
                return true
            }
            #expect(left == count, "\(condition)")
        }
    }

    @Test func `an identity has a limited number of tags`() throws {
        let database = try open()
        var batch = WriteBatch()
        let names = (0...Identity.tagCountMax).map { "t\($0)" }
        batch.settings.identity = .tags(names)
        let tags = Dictionary(uniqueKeysWithValues: names.map { ($0, "x") })
        try batch.add(
            experiment: "m", tags: tags, time: Timestamp(nanoseconds: 1), fields: ["f": .float(1)])
        let error = #expect(throws: DatabaseError.self) { try database.write(batch) }
        #expect(error?.kind == .usage)
        #expect(error?.message.contains("expected at most 100") == true)
        batch.settings.identity = .tags(names.dropLast())
        #expect(try database.write(batch).values == 1)
    }

    @Test func `a deletion may name many tags`() throws {
        let database = try open()
        var batch = WriteBatch()
        try batch.add(
            experiment: "m", tags: ["id_participant": "p"], time: Timestamp(nanoseconds: 5),
            fields: ["f": .float(1)])
        _ = try database.write(batch)
        let tags = Dictionary(uniqueKeysWithValues: (0..<50_000).map { ("t\($0)", "x") })
        #expect(throws: DatabaseError.self) { try database.delete(tags: tags) }
    }

    /// The ids of these lines are equal, as somebody computed.
    @Test func `a refusal that was made to have the id of another one is counted`() throws {
        let refusals = [
            "dev,id_participant=575/3h-)]N6E", "dev,id_participant=4599?VM))C}T",
        ].map {
            Refusal(
                subject: .line(Array($0.utf8)), reason: "missing fields", source: "a.lp", line: 1)
        }
        #expect(refusals[0].journalID == refusals[1].journalID)
        let system = FaultyFileSystem()
        for order in [refusals, refusals.reversed()] {
            let database = try Database.open(
                "db", access: .readWrite, options: DatabaseOptions(), on: system)
            var batch = WriteBatch()
            for refusal in order { batch.refuse(refusal) }
            #expect(try database.write(batch).unkeptRefusals == 1)
            var kept: [Refusal] = []
            try database.rejects { entry in
                kept.append(entry.refusal)
                #expect(entry.count == 1)
                return true
            }
            #expect(kept == [refusals[0]])
            try database.close()
        }
    }
}
