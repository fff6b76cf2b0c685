// The refused values of a point with long identity tags are kept together as a line.

import CozTestSupport
import Testing

@testable import CozDB

struct RefusedPointTests {
    private let folder = TemporaryDirectory()

    private func tags(_ count: Int) -> [String: String] {
        Dictionary(uniqueKeysWithValues: (0..<count).map { ("t\($0)", "x") })
    }

    /// One value for each of the fields `f0` and so on.
    private func fields(_ count: Int, _ value: FieldValue) -> [String: FieldValue] {
        Dictionary(uniqueKeysWithValues: (0..<count).map { ("f\($0)", value) })
    }

    /// One point whose tags all identify its series.
    private func batch(
        _ tags: [String: String], _ fields: [String: FieldValue]
    ) throws -> WriteBatch {
        var batch = WriteBatch()
        batch.source = "points"
        batch.settings.identity = .allTags
        try batch.add(
            experiment: "m", tags: tags, time: Timestamp(nanoseconds: 1), fields: fields)
        return batch
    }

    /// A database whose fields hold integers.
    private func database(_ count: Int) throws -> Database {
        let database = try Database.open(folder.path)
        _ = try database.write(batch(tags(1), fields(count, .integer(1))))
        return database
    }

    @Test(arguments: [10, 1000])
    func `the journal grows with the point, not with its tags times its values`(
        count: Int
    ) throws {
        let database = try database(count)
        let report = try database.write(
            batch(
                tags(count), fields(count, .string("x")).merging(["g": .float(2)]) { $1 }))
        #expect(report.refusedValues == count)
        #expect(report.refusedPoints == 0)
        #expect(report.values == 1)
        #expect(report.conflicts.count == count)
        var sizeBytes = 0
        try database.rejects { entry in
            sizeBytes += entry.refusal.sizeBytes
            return true
        }
        #expect(sizeBytes < 1000 * count)
    }

    // MARK: Names that differ in normalization

    private let names = ["Caf\u{e9}", "Cafe\u{301}"]

    @Test func `refused values of experiments with similar names have their own identity`() throws {
        let database = try Database.open(folder.path)
        for (name, identity) in zip(names, [Identity.standard, .allTags]) {
            var batch = WriteBatch()
            batch.settings.identity = identity
            try batch.add(
                experiment: name, tags: ["id_participant": "p"],
                time: Timestamp(nanoseconds: 1), fields: ["f": .float(1)])
            _ = try database.write(batch)
        }
        var batch = WriteBatch()
        for name in names {
            batch.refuse(
                Refusal(
                    subject: .value(
                        experiment: name,
                        key: SeriesKey(tags: [("id_participant", "p"), ("site", "a")]),
                        time: Timestamp(nanoseconds: 2), field: "f", value: .string("x"),
                        locked: .float), reason: "text", source: "s", line: 1))
        }
        _ = try database.write(batch)
        var tags: [[String]] = []
        try database.rejects { entry in
            if case .value(_, let key, _, _, _, _) = entry.refusal.subject {
                tags.append(key.tags.map(\.name))
            }
            return true
        }
        #expect(tags == [["id_participant"], ["id_participant", "site"]])
    }

    @Test func `refused values of experiments with similar names are lines of their own`() throws {
        let database = try Database.open(folder.path)
        for value in [FieldValue.float(1), .string("x")] {
            var batch = WriteBatch()
            for name in names {
                try batch.add(
                    experiment: name,
                    tags: ["id_participant": String(repeating: "p", count: 2000)],
                    time: Timestamp(nanoseconds: 1), fields: ["f": value, "g": value])
            }
            _ = try database.write(batch)
        }
        var lines: [String] = []
        try database.rejects { entry in
            if case .line(let bytes) = entry.refusal.subject {
                lines.append(String(decoding: bytes, as: UTF8.self))
            }
            return true
        }
        #expect(lines.count == 2)
        for (line, name) in zip(lines, names) {
            #expect(line.utf8.starts(with: name.utf8))
            #expect(line.hasSuffix("f=\"x\",g=\"x\" 1"))
        }
    }

    // MARK: Attributes

    private func write(
        _ database: Database, _ time: Int64, _ tags: [String: String],
        _ fields: [String: FieldValue]
    ) throws {
        var batch = WriteBatch()
        try batch.add(
            experiment: "m", tags: ["id_participant": "p"].merging(tags) { $1 },
            time: Timestamp(nanoseconds: time), fields: fields)
        _ = try database.write(batch)
    }

    @Test func `refused values keep the attributes of a row of which nothing was stored`() throws {
        let database = try Database.open(folder.path)
        try write(database, 1, ["device": "a"], ["f": .integer(1)])
        // Nothing is stored; other values are; nothing is stored until later.
        try write(database, 2, ["device": "b"], ["f": .float(2.5)])
        try write(database, 3, ["device": "c"], ["f": .float(3.5), "g": .integer(3)])
        try write(database, 4, ["device": "d"], ["f": .float(4.5)])
        try write(database, 4, ["device": "e"], ["g": .integer(4)])
        var keys: [[String]] = []
        try database.rejects { entry in
            if case .value(_, let key, _, _, _, _) = entry.refusal.subject {
                keys.append(key.tags.map(\.value))
            }
            return true
        }
        #expect(keys == [["b", "p"], ["p"], ["d", "p"]])
        try database.alter(experiment: "m", field: "f", type: .float)
        let report = try database.replayRejects()
        #expect(report.replayed == 3)
        let result = try database.query("SELECT f, device FROM m")
        #expect(result.series[0].column("f")?.doubles == [1, 2.5, 3.5, 4.5])
        #expect(result.series[0].column("device")?.texts == ["a", "b", "c", "e"])
        try database.close()
    }

    @Test func `a refused value of a participant whom an attribute names is forgotten`() throws {
        let database = try Database.open(folder.path)
        for (row, value) in [FieldValue.integer(1), .string("secret")].enumerated() {
            var batch = WriteBatch()
            batch.settings.identity = .tags(["site"])
            try batch.add(
                experiment: "m", tags: ["site": "s", "id_participant": "p\(row)"],
                time: Timestamp(nanoseconds: Int64(row)), fields: ["f": value])
            _ = try database.write(batch)
        }
        _ = try database.forget(["p1"])
        var count = 0
        try database.rejects { _ in
            count += 1
            return true
        }
        #expect(count == 0)
        try database.close()
    }

    @Test func `a refused value of a participant whom an attribute names outlives no row`() throws {
        let database = try Database.open(folder.path)
        for value in [FieldValue.integer(1), .string("secret")] {
            var batch = WriteBatch()
            batch.settings.identity = .tags(["site"])
            try batch.add(
                experiment: "m", tags: ["site": "s", "id_participant": "p1"],
                time: Timestamp(nanoseconds: 1), fields: ["f": value, "g": .float(1)])
            _ = try database.write(batch)
        }
        _ = try database.execute("DELETE FROM m WHERE g = 1")
        #expect(try database.info().rejects == 1)
        _ = try database.forget(["p1"])
        #expect(try database.info().rejects == 0)
        try database.close()
    }

    @Test func `a refused line stays if only an option named its participant`() throws {
        let database = try Database.open(folder.path)
        var batch = WriteBatch()
        batch.source = "file"
        batch.assumedParticipant = "p1"
        batch.refuse(
            Refusal(
                subject: .line(Array("e v=1,x= 5".utf8)), reason: "no", source: "file", line: 1))
        batch.refuse(
            Refusal(subject: .line(Array("e,soon,1".utf8)), reason: "no", source: "file", line: 2))
        try batch.add(
            experiment: "e", tags: ["id_participant": "p2"], time: Timestamp(nanoseconds: 1),
            fields: ["v": 1])
        _ = try database.write(batch)
        for comparison in ["=", "!="] {
            _ = try database.execute("DELETE FROM e WHERE id_participant \(comparison) 'p1'")
            #expect(try database.info().rejects == 2, "\(comparison)")
        }
        // The row of a table does not say its experiment.
        _ = try database.execute("DELETE FROM e")
        #expect(try database.info().rejects == 1)
        _ = try database.forget(["p1"])
        #expect(try database.info().rejects == 0)
        try database.close()
    }

    @Test func `a refused value goes only with what a name means in the whole statement`() throws {
        let database = try Database.open(folder.path)
        for (experiment, tags, a) in [
            ("e0", ["id_participant": "p", "a": "x"], nil),
            ("e1", ["id_participant": "p"], FieldValue.float(1.5)),
        ] {
            var batch = WriteBatch()
            batch.settings.identity = .allTags
            var fields: [String: FieldValue] = ["u": .integer(1)]
            fields["a"] = a
            if experiment == "e1" { fields["b"] = .string("x") }
            try batch.add(
                experiment: experiment, tags: tags, time: Timestamp(nanoseconds: 1), fields: fields)
            try batch.add(
                experiment: experiment, tags: tags, time: Timestamp(nanoseconds: 1),
                fields: ["u": .string("refused")])
            _ = try database.write(batch)
        }
        // As a field, which e1 has, the name is null in e0, and so is one that e0 does not have.
        _ = try database.execute("DELETE FROM e0, e1 WHERE a = 'x'")
        _ = try database.execute("DELETE FROM e0, e1 WHERE b != 'x'")
        _ = try database.execute("DELETE FROM e0, e1 WHERE b = ''")
        _ = try database.execute("DELETE FROM e0, e1 WHERE a = 1.5")
        #expect(try database.rowCount() == 1)
        #expect(try database.info().rejects == 2)
        _ = try database.execute("DELETE FROM e0, e1 WHERE a::tag = 'x'")
        #expect(try database.rowCount() == 0)
        #expect(try database.info().rejects == 1)
        try database.close()
    }

    @Test func `a value replays into a field that no longer exists`() throws {
        let database = try Database.open(folder.path)
        try write(database, 1, ["id_participant": "p1"], ["n": .float(1.5)])
        try write(
            database, 2, ["id_participant": "p2"], ["n": .string("text"), "y": .float(1)])
        _ = try database.forget(["p1"])
        #expect(try database.replayRejects().replayed == 1)
        #expect(try database.query("SELECT n FROM m").series[0].column("n")?.texts == ["text"])
        try database.close()
    }

    @Test func `a replayed value that is refused again is counted as refused`() throws {
        let database = try Database.open(folder.path)
        try write(database, 1, [:], ["f": .integer(1)])
        var batch = WriteBatch()
        try batch.add(
            experiment: "m", tags: ["id_participant": "q"], time: Timestamp(nanoseconds: 2),
            fields: ["f": .float(2.5)])
        _ = try database.write(batch)
        // The experiment goes with its last row and comes back with another identity.
        _ = try database.forget(["p"])
        batch = WriteBatch()
        batch.settings.identity = .tags(["host"])
        try batch.add(
            experiment: "m", tags: ["host": "h"], time: Timestamp(nanoseconds: 1),
            fields: ["f": .float(1)])
        _ = try database.write(batch)
        let report = try database.replayRejects()
        #expect(report.replayed == 0)
        #expect(report.refused == 1)
        try database.close()
    }

    @Test func `the line holds the refused values and imports again`() throws {
        let database = try database(3)
        let values: [String: FieldValue] = [
            "f0": .string("a \"b\""), "f1": .boolean(true), "g": .float(2), "f2": .float(0.5),
        ]
        _ = try database.write(batch(tags(500), values))
        // The same point once more adds nothing.
        _ = try database.write(batch(tags(500), values))
        var entries: [RejectEntry] = []
        try database.rejects { entry in
            entries.append(entry)
            return true
        }
        let entry = try #require(entries.first)
        #expect(entries.count == 1)
        #expect(entry.count == 1)
        #expect(
            entry.refusal.reason
                == "field \"f0\": string for a field that is locked as integer; and 2 more fields")
        #expect(entry.refusal.source == "points")
        guard case .line(let bytes) = entry.refusal.subject else {
            Issue.record("expected a line")
            return
        }
        let line = String(decoding: bytes, as: UTF8.self)
        #expect(line.hasPrefix("m,t0=x,t1=x,t10=x,"))
        #expect(line.hasSuffix(#" f0="a \"b\"",f1=true,f2=0.5 1"#))
        #expect(entry.refusal.experiment == "m")
        #expect(try database.replayRejects().lines == 1)
        #expect(try database.clearRejects(of: "m") == 1)
    }

    @Test func `values of other points and values longer than the tags are kept apart`() throws {
        let database = try database(2)
        let long = FieldValue.string(String(repeating: "v", count: 10_000))
        var points = try batch(tags(500), ["f0": .string("x"), "f1": long])
        try points.add(
            experiment: "m", tags: tags(500), time: Timestamp(nanoseconds: 2),
            fields: ["f0": .string("y"), "f1": .string("z")])
        let report = try database.write(points)
        #expect(report.refusedValues == 4)
        var found: [String] = []
        try database.rejects { entry in
            if case .value(_, _, _, let field, _, _) = entry.refusal.subject {
                found.append(field)
            } else {
                found.append(entry.refusal.reason)
            }
            return true
        }
        let type = "string for a field that is locked as integer"
        #expect(found == ["f1", "f0", "field \"f0\": \(type); and 1 more field"])
    }

    @Test(arguments: [
        ["id_participant": "secret\\"], ["id_participant": "secret", "a\\": "x"],
        ["id_participant": "secret", "a": "x\\"], ["id_participant": "secret", "a": "x\ny"],
        ["id_participant": "a\\,b", "z": "1"],
    ])
    func `a participant is forgotten, whatever the names of refused points`(
        names: [String: String]
    ) throws {
        let database = try database(2)
        var tags = names
        tags["long"] = String(repeating: "l", count: 1100)
        // Two refused values with a long key, and a refused point.
        _ = try database.write(
            batch(tags, ["f0": .string("my answer"), "f1": .string("my other answer")]))
        var point = WriteBatch()
        try point.add(
            experiment: "m", tags: names, time: Timestamp(nanoseconds: .min),
            fields: ["f0": .string("my last answer")])
        _ = try database.write(point)
        _ = try database.forget([names["id_participant"] ?? ""])
        var left: [String] = []
        try database.rejects { entry in
            left.append("\(entry.refusal)")
            return true
        }
        #expect(left == [])
        try database.close()
    }

    @Test func `each value of a line counts if the journal is full`() throws {
        var options = DatabaseOptions()
        options.rejectsSizeBytesMax = 10_000
        let database = try Database.open(folder.path, options: options)
        _ = try database.write(batch(tags(1), fields(10, .integer(1))))
        var points = WriteBatch()
        for time in 0..<10 as Range<Int64> {
            try points.add(
                experiment: "m", tags: tags(500), time: Timestamp(nanoseconds: time),
                fields: fields(10, .string("x")))
        }
        let report = try database.write(points)
        #expect(report.refusedValues == 100)
        var keptCount = 0
        try database.rejects { _ in
            keptCount += 1
            return true
        }
        #expect(keptCount > 0)
        #expect(report.unkeptRefusals == 100 - 10 * keptCount)
    }

    @Test func `values that do not fit into one line begin another`() throws {
        let database = try database(40)
        let text = String(repeating: "v", count: 60_000)
        let fields = (0..<40).map { ("f\($0)", FieldValue.string("\($0)\(text)")) }
        let tags = ["t": String(repeating: "k", count: 65_000)]
        let points = try batch(tags, Dictionary(uniqueKeysWithValues: fields))
        let report = try database.write(points)
        #expect(report.refusedValues == 40)
        var found: Set<Int> = []
        var lineCount = 0
        try database.rejects { entry in
            guard case .line(let bytes) = entry.refusal.subject else { return true }
            lineCount += 1
            #expect(bytes.count < Refusal.lineSizeBytesMax)
            let starts = bytes.split { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: " ") }
                .map { String(decoding: $0.prefix(8), as: UTF8.self) }
            for number in 0..<40
            where starts.contains(where: { $0.hasPrefix("f\(number)=\"\(number)v") }) {
                found.insert(number)
            }
            return true
        }
        #expect(found.count == 40)
        #expect(lineCount == 3)
    }
}
