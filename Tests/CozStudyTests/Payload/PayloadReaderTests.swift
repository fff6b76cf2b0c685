// Payloads in files: documents one after the other, faults in the middle, all or nothing.

internal import CozDB
internal import CozImport
internal import CozTestSupport
internal import Foundation
internal import Synchronization
internal import Testing

@testable internal import CozStudy

struct PayloadReaderTests {
    private let directory = TemporaryDirectory()
    private let database: Database
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "cozdb-payload-\(UUID().uuidString)")

    init() throws {
        database = try Database.open(directory.path)
    }

    private func file(_ text: String, _ name: String = "log.json") throws -> String {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let url = folder.appendingPathComponent(name)
        try Data(text.utf8).write(to: url)
        return url.path
    }

    private func item(_ second: Int, _ fields: String = #"{"a":1}"#) -> String {
        let time = Timestamp(nanoseconds: 1_661_986_971_000_000_000 + Int64(second) * 1_000_000_000)
        return """
            {"time":"\(time)","measurement":"dev","tags":{"id_participant":"p1"},"fields":\(fields)}
            """
    }

    @discardableResult
    private func run(
        _ path: String, _ payload: CoziePayloadOptions = CoziePayloadOptions(),
        _ change: (inout ImportOptions) -> Void = { _ in }
    ) throws -> ImportReport {
        var options = ImportOptions()
        options.format = .cozieJSON(payload)
        change(&options)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try importFiles([path], into: database, options: options)
    }

    @Test func `items with refused values only fill a batch, too`() throws {
        let text = (0..<100).map { item($0, #"{"a":[1,2,3]}"#) }.joined(separator: "\n")
        let commits = Mutex(0)
        let report = try run(try file(text)) {
            $0.batchRows = 10
            $0.committed = { _ in commits.withLock { $0 += 1 } }
        }
        #expect(report.refusedValues == 100)
        #expect(commits.withLock { $0 } == 10)
    }

    @Test func `a refused value has the names under which it is stored`() throws {
        var batch = WriteBatch()
        try batch.add(
            experiment: "dev", tags: ["id_participant": "p0"], time: Timestamp(nanoseconds: 0),
            fields: ["y": "s"])
        _ = try database.write(batch)
        let item =
            #"{"time":"2022-09-01T00:00:00.000+0000","measurement":"dev","#
            + #""tags":{"user":"p1"},"fields":{"k":1,"x":["diary"]}}"#
        let report = try run(try file(item)) {
            $0.renames = ["user": "id_participant", "x": "y"]
        }
        #expect(report.refusedValues == 1)
        #expect(try database.replayRejects().replayed == 1)
        let result = try database.query("SELECT y FROM dev WHERE id_participant = 'p1'")
        #expect(result.series.first?.column("y")?.texts.count == 1)
        #expect(try database.query("SHOW SERIES").series.first?.rowCount == 2)
    }

    @Test func `a refused value keeps its name from a renamed one`() throws {
        let item =
            #"{"time":"2022-09-01T00:00:00.000+0000","measurement":"dev","#
            + #""tags":{"id_participant":"p1"},"fields":{"a":"five","b":["own"]}}"#
        let report = try run(try file(item)) { $0.renames = ["a": "b"] }
        #expect(report.refusedValues == 1)
        #expect(try database.query("SELECT a FROM dev").series.first?.rowCount == 1)
        #expect(try database.replayRejects().replayed == 1)
        let result = try database.query("SELECT a, b FROM dev")
        #expect(result.series.first?.column("a")?.texts == ["five"])
        #expect(result.series.first?.column("b")?.texts == [#"["own"]"#])
    }

    @Test func `a participant tag keeps its name if the item has the new one, too`() throws {
        let item =
            #"{"time":"2022-09-01T00:00:00.000+0000","measurement":"dev","#
            + #""tags":{"id_participant":"p1","dev":"d"},"fields":{"a":1}}"#
        let report = try run(try file(item)) { $0.renames = ["id_participant": "dev"] }
        #expect(!report.hasRefusals && report.points == 1)
        let result = try database.query("SHOW SERIES")
        #expect(result.series.first?.column("key")?.texts == ["dev,id_participant=p1"])
    }

    @Test(
        "files of payloads are known by their objects, in any order of keys",
        arguments: [
            (#"{"time":"T+0800","measurement":"d","tags":{"p":"1"},"fields":{"a":1}}"#, true),
            (#"{"measurement":"d","tags":{"p":"1"},"time":"T+0800","fields":{"a":1}}"#, true),
            (#"{"fields_int" : {"a":1}, "measurement":"d"}"#, true),
            (#"{"message":"sync failed"}"#, false),
            (#"{"time":"T","measurement":"d","tags":"x","fields":2}"#, false),
            (#"{"time":1,"x":{"measurement":"d","tags":{}}}"#, false),
            (#"{"time":"measurement","v":"\"tags\":{"}"#, false),
        ])
    func recognition(object: String, isPayload: Bool) throws {
        let format = InputFormat.cozieJSON()
        func isKnown(_ text: String) -> Bool { format.recognizes(Array(text.utf8), "log.txt") }
        #expect(isKnown(object + "\n" + object + "\n") == isPayload)
        #expect(isKnown(#"{"message":"a \"b\" {"}"# + "\n" + object + "\n") == isPayload)
        let export = #"{"measurement":"d","tags":{},"time":"TZ","fields":{"a":1}}"#
        #expect(!isKnown(export) && !isKnown(export + "\n" + export), "cozdb writes it")
        for empty in ["[]", " {}\n", "[ [], {} ]"] { #expect(isKnown(empty), "\(empty)") }
        for other in ["", " \n", "\"\"", "m v=1"] { #expect(!isKnown(other), "\(other)") }
    }

    @Test func `documents one after the other and in lines are one import`() throws {
        let text = item(1) + item(2) + "[" + item(3) + "]" + "\n" + item(4) + "\n\n" + item(5)
        let report = try run(try file(text))
        #expect(report.points == 5)
        #expect(!report.hasRefusals)
        #expect(try StoredRow.all(database).count == 5)
    }

    @Test(arguments: [1, 3, 10_000]) func `batches of any size hold the same`(rows: Int) throws {
        let items = (0..<10).map { item($0, #"{"a":\#($0),"s":"text \#($0 % 3)"}"#) }
        let report = try run(try file("[[" + items.joined(separator: ",\n") + "],{}]")) {
            $0.batchRows = rows
        }
        #expect(report.points == 10)
        #expect(report.refusedLines == 1)
        let stored = try StoredRow.all(database)
        #expect(stored.map { $0.fields["a"] } == (0..<10).map { .float(Double($0)) })
        #expect(stored[4].fields["s"] == .string("text 1"))
    }

    @Test func `what is no JSON is refused to the next item, with its bytes`() throws {
        let lines = [
            "[", item(1) + ",", item(2, #"{"a":1,}"#) + ",", item(3) + ",",
            "{\"time\":", item(4) + ",", item(5), "]", item(6),
        ]
        let report = try run(try file(lines.joined(separator: "\n")))
        #expect(report.points == 4)
        #expect(report.refusedLines == 2)
        let refusals = try StoredRow.refusals(database)
        #expect(refusals.map(\.line) == [3, 7])
        #expect(refusals.first?.reason.hasPrefix("invalid JSON: found") == true)
        #expect(refusals.first?.reason.hasSuffix("; accept trailing commas to read it") == true)
        #expect(refusals.first?.subject == .line(Array((lines[2] + "\n").utf8)))
        // A value that is missing makes the next item a part of this one.
        #expect(refusals.last?.reason.hasPrefix("invalid JSON: found") == true)
        #expect(
            refusals.last?.subject == .line(Array("\(lines[4])\n\(lines[5])\n".utf8)))
    }

    @Test func `a file that is cut off keeps what came before`() throws {
        let whole = "[" + (1...20).map { item($0) }.joined(separator: ",") + "]"
        let report = try run(try file(String(whole.dropLast(30))))
        #expect(report.points == 19)
        #expect(report.refusedLines == 1)
        let reason = try StoredRow.refusals(database).first?.reason ?? ""
        #expect(reason.hasPrefix("invalid JSON: found"), "\(reason)")
        #expect(reason.contains("found the end"), "\(reason)")
    }

    @Test func `equal bad items are one refusal with a count`() throws {
        // The last brace meets the end of the file, which is another reason.
        for (line, counts) in [("{", [999, 1]), ("7", [1_000]), (#"{"tags":{}}"#, [1_000])] {
            try database.clearRejects()
            let text = String(repeating: line + "\n", count: 1_000)
            let report = try run(try file(text))
            #expect(report.refusedLines == 1_000)
            var entries: [RejectEntry] = []
            try database.rejects { entry in
                entries.append(entry)
                return true
            }
            #expect(entries.map(\.count) == counts, "\(line)")
        }
    }

    @Test func `a string of JSON is told by its place`() throws {
        let inner = "[" + item(1) + ",{\"a\" 1}]"
        let quoted = "\"" + inner.replacing("\"", with: "\\\"") + "\""
        let report = try run(try file("\n [" + quoted + "," + item(2) + "]"))
        #expect(report.points == 2)
        #expect(report.refusedLines == 1)
        let refusal = try #require(try StoredRow.refusals(database).first)
        #expect(refusal.reason.contains("invalid JSON, line 1, column"))
        #expect(refusal.line == 2)
    }

    @Test func `pieces longer than one read are read`() throws {
        // Longer than a chunk, with escapes at every place of a word.
        let long = String(repeating: "0123456é\\n", count: 60_000)
        let text = "[" + item(1, #"{"s":"\#(long)"}"#) + "," + item(2) + "]"
        let report = try run(try file(text))
        #expect(report.points == 2)
        #expect(!report.hasRefusals)
        let stored = try StoredRow.all(database).first?.fields["s"]
        #expect(stored == .string(long.replacing("\\n", with: "\n")))
    }

    @Test func `a string longer than a database takes is refused alone`() throws {
        let long = String(repeating: "é", count: 600_000)
        let report = try run(try file(item(1, #"{"s":"\#(long)","a":1}"#)))
        #expect(report.points == 1)
        #expect(report.refusedValues == 1)
        #expect(try StoredRow.all(database).first?.fields == ["a": .float(1)])
        guard
            case .value(_, _, _, _, .string(let kept), _) = try StoredRow.refusals(database)
                .first?.subject
        else {
            Issue.record("the string is not kept")
            return
        }
        #expect(kept.utf8.count == 1 << 20)
    }

    @Test func `refused values of an item of which nothing is stored keep its attributes`() throws {
        func item(_ second: Int, _ fields: String) -> String {
            """
            {"time":"2022-09-01T07:02:0\(second)Z","measurement":"dev",
            "tags":{"id_participant":"p","id_device":"d"},"fields":\(fields)}

            """
        }
        _ = try run(try file(item(1, #"{"a":[1]}"#) + item(2, #"{"a":[2],"b":1}"#)))
        let keys = try StoredRow.refusals(database).map { refusal -> [String] in
            guard case .value(_, let key, _, _, _, _) = refusal.subject else { return [] }
            return key.tags.map(\.value)
        }
        #expect(keys == [["d", "p"], ["p"]])
    }

    @Test func `names too long to store are refused, and the rest is stored`() throws {
        let long = String(repeating: "n", count: 70_000)
        let tagged = """
            {"time":"2022-09-01T07:02:51Z","measurement":"dev","tags":{"id_participant":"p",
            "\(long)":"x"},"fields":{"a":1}}
            """
        let report = try run(try file(item(1, #"{"\#(long)":1,"a":1}"#) + tagged))
        #expect(report.points == 1)
        #expect(report.refusedValues == 1)
        #expect(report.refusedLines == 1)
    }

    @Test(arguments: [Identity.participant(tag: "user"), .allTags, .tags(["site"])])
    func `the identity of a known experiment decides what an item needs`(identity: Identity) throws
    {
        var batch = WriteBatch()
        batch.settings.identity = identity
        try batch.add(
            experiment: "dev", tags: ["user": "p1", "site": "s"], time: Timestamp(nanoseconds: 1),
            fields: ["a": .float(1)])
        _ = try database.write(batch)
        let item = """
            {"time":"2022-09-01T07:02:51Z","measurement":"dev","tags":{"user":"p2","site":"s"},
            "fields":{"a":1}}
            """
        #expect(try run(try file(item)).points == 1)
        #expect(try StoredRow.refusals(database).isEmpty)
    }

    @Test func `a participant of the options is that of items that name none`() throws {
        let report = try run(
            try file(
                """
                {"time":"2022-09-01T07:02:51Z","measurement":"dev","tags":{},"fields":{"a":1}}
                {"time":"2022-09-01T07:02:51Z","measurement":"dev","tags":{"id_participant":"p1"},
                "fields":{"a":2}}
                """)
        ) { $0.participant = "p9" }
        #expect(report.points == 2)
        let rows = try StoredRow.all(database)
        #expect(Set(rows.map(\.key)) == [["p1"], ["p9"]])
    }

    // MARK: All or nothing

    @Test func `a file is stored whole or not at all`() throws {
        var payload = CoziePayloadOptions()
        payload.isAtomic = true
        let bad = try file("[" + item(1) + "," + item(2, #"{"a":[1]}"#) + "]")
        let error = #expect(throws: DatabaseError.self) {
            try run(bad, payload) { $0.batchRows = 1 }
        }
        #expect(error?.kind == .usage)
        #expect(error?.message.contains("dev a=\"[1]\": found an array") == true)
        #expect(try database.schemas().isEmpty)
        #expect(try StoredRow.refusals(database).isEmpty)
    }

    @Test func `all or nothing needs JSON to the end, and all of it is one commit`() throws {
        var payload = CoziePayloadOptions()
        payload.isAtomic = true
        let cut = try file("[" + item(1) + "," + item(2))
        let error = #expect(throws: DatabaseError.self) { try run(cut, payload) }
        #expect(error?.message.contains("Nothing was stored") == true)
        #expect(try database.schemas().isEmpty)
    }

    @Test func `all of a good file is one commit`() throws {
        var payload = CoziePayloadOptions()
        payload.isAtomic = true
        let items = (1...50).map { item($0) }.joined(separator: ",")
        try run(try file("[" + items + "]"), payload) { $0.batchRows = 7 }
        #expect(try StoredRow.all(database).count == 50)
        #expect(try database.counters().insertedValues == 50)
    }

    // MARK: Recognition

    @Test(arguments: [
        ("[{\"time\":\"x\",\"measurement\":\"dev\"", true),
        ("\u{FEFF} {\"fields\":{},\"tags\":{", true),
        ("\"[{\\\"measurement\\\":\\\"dev\\\",", true), ("[[{\"debug\":1},{\"measurement\":", true),
        ("{\"results\":[{\"series\":[{\"name\":\"measurement\"}]}]}", false), ("[1,2,3]", false),
        ("dev,id=\"measurement\" a=1", false), ("[{\"name\":\"x\"}]", false), ("", false),
        ("{\"measurement\":\"a\",\"time\":1}\n{\"measurement\":", false),
        ("time,\"measurement\"\n", false), ("{\"tags\":{},\"time\":1,\"fields\":{}}", true),
    ])
    func `payloads are known by their beginning`(_ head: String, isPayload: Bool) {
        #expect(PayloadRecognition.recognizes(Array(head.utf8)) == isPayload)
    }
}
