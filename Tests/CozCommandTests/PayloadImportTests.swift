// `cozdb import` of payloads from outside: what docs/cozie-payloads.md does not show.

internal import Foundation
internal import Testing

struct PayloadImportTests {
    private let folder: TemporaryFolder
    private let item = """
        {"time":"2022-09-01T07:42:24.471+0800","measurement":"dev","tags":{"id_participant":"p1"},
        "fields":{"ts_heart_rate":74}}
        """

    init() throws {
        folder = try TemporaryFolder()
    }

    private func cozdb(_ line: String) throws -> CommandRun {
        try Command.shell("cozdb \(line)", in: folder.url)
    }

    @Test(arguments: [
        ("--atomic", "found --atomic with --format auto"),
        ("--format lp --lenient", "expected --format cozie-json"),
        ("--enrich-fields a", "--enrich-fields without --enrich"),
        ("--lambda ms", "--lambda without --enrich"),
        ("--keep-offset time", "expected a field name other than time"),
    ])
    func `options that do not go together are wrong usage`(options: String, text: String) throws {
        _ = try folder.write(item, to: "a.json")
        let run = try cozdb("import --db d \(options) a.json")
        #expect(run.status == 64)
        #expect(run.errors.contains(text), "\(run.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder.path("d")))
    }

    @Test(arguments: ["a.json", "log.txt", "anything"])
    func `payloads are known by what is in them`(name: String) throws {
        _ = try folder.write("[\(item)]", to: name)
        let run = try cozdb("import --db d \(name)")
        #expect(run.status == 0, "\(run.errors)")
        let answer = try cozdb("query --db d --format csv 'SELECT ts_heart_rate FROM dev'")
        #expect(answer.output.contains("2022-08-31T23:42:24.471000000Z,74"), "\(answer.output)")
    }

    @Test func `auto takes a line per item, a debug line before them and nothing at all`() throws {
        let first = """
            {"time":"2022-09-01T07:02:51.578+0800","measurement":"dev",\
            "tags":{"id_participant":"p"},"fields":{"a":1}}
            """
        let second = """
            {"measurement":"dev","tags":{"id_participant":"p"},\
            "time":"2022-09-01T07:03:51.578+0800","fields":{"a":1}}
            """
        let debug = #"{"message":"sync failed"}"#
        _ = try folder.write("\(first)\n\(second)\n", to: "lines")
        _ = try folder.write("\(debug)\n\(first)\n\(second)\n", to: "log")
        _ = try folder.write(" []\n", to: "nothing")
        _ = try folder.write("\(debug)\n", to: "unknown")
        let lines = try cozdb("import --db d lines")
        #expect(lines.status == 0 && lines.output.hasPrefix("points   2\n"), "\(lines)")
        let log = try cozdb("import --db e log")
        #expect(log.status == 7 && log.output.hasPrefix("points   2\n"), "\(log)")
        #expect(log.output.contains("log:1:1: missing time"), "\(log)")
        let nothing = try cozdb("import --db e nothing")
        #expect(nothing.status == 0 && nothing.output.hasPrefix("points   0\n"), "\(nothing)")
        let export = try cozdb(
            "export --db d --format ndjson --experiment dev > x && cozdb import --db f x")
        #expect(export.status == 0 && export.output.hasPrefix("points   2\n"), "\(export)")
        let unknown = try cozdb("import --db f unknown")
        #expect(unknown.status == 64)
        #expect(unknown.errors.contains("expected cozie-json, influx-json or ndjson"))
    }

    @Test func `a payload comes from a pipe and from gzip`() throws {
        _ = try folder.write("[\(item)]", to: "a.json")
        let piped = try cozdb("import --db d - < a.json")
        #expect(piped.status == 0, "\(piped.errors)")
        let packed = try Command.shell(
            "gzip a.json && cozdb import --db d a.json.gz", in: folder.url)
        #expect(packed.status == 0, "\(packed.errors)")
        #expect(packed.output.contains("0 new, 1 in the database"), "\(packed.output)")
    }

    @Test func `what is refused ends with 7, and deleting a participant takes it along`() throws {
        let bad = item.replacing("\"fields\"", with: "\"values\"")
        _ = try folder.write("[\(item),\n\(bad)]", to: "a.json")
        let run = try cozdb("import --db d a.json")
        #expect(run.status == 7)
        #expect(run.output.contains("missing fields"), "\(run.output)")
        #expect(try cozdb("rejects --db d list").output.contains("missing fields"))
        let deletion = try cozdb("query --db d \"DELETE FROM dev WHERE id_participant = 'p1'\"")
        #expect(deletion.status == 0, "\(deletion.errors)")
        #expect(try cozdb("rejects --db d list").output == "(no rejects)\n")
    }

    @Test func `a refused number stays what was sent, and replay makes text of it`() throws {
        let fields = #"{"q_a":7,"q_b":true,"ts_heart_rate":"abc","q_c":7.5}"#
        let bad = item.replacing(#"{"ts_heart_rate":74}"#, with: fields)
        _ = try folder.write(bad, to: "a.json")
        let setup = try cozdb(
            "import --db d --format lp - <<'END'\n"
                + #"dev,id_participant=p1 q_a="x",q_b="x",q_c="x",ts_heart_rate=1 1"# + "\nEND")
        #expect(setup.status == 0, "\(setup)")
        let run = try cozdb("import --db d a.json")
        #expect(run.status == 7)
        for line in [
            "a.json:1: dev q_a=7: integer for a field that is locked as string\n",
            "a.json:1: dev q_b=true: boolean for a field that is locked as string\n",
            "a.json:1: dev q_c=7.5: float for a field that is locked as string\n",
            #"a.json:1: dev ts_heart_rate="abc": string for a field that is locked as float"#,
        ] {
            #expect(run.output.contains(line), "\(run.output)")
        }
        #expect(!run.output.contains(" more; "), "\(run.output)")
        let list = try cozdb("rejects --db d list").output
        #expect(list.contains(",id_participant=p1 q_a=7 2022-"), "\(list)")
        #expect(!list.contains("id_password"), "\(list)")
        _ = try cozdb("rejects --db d replay")
        let answer = try cozdb(
            "query --db d --format csv \"SELECT q_a, q_b, q_c FROM dev WHERE time > 1d\"")
        #expect(answer.output.contains(",7,true,7.5"), "\(answer.output)")
    }

    @Test func `a summary names values, cut, and says how many more there are`() throws {
        let long = String(repeating: "x", count: 100)
        let items = (0..<12).map { minute in
            item.replacing("07:42", with: "07:\(minute + 10)")
                .replacing("74}", with: "\"\(minute)\\u001b\(long)\"}")
        }
        _ = try folder.write("[\(items.joined(separator: ",\n"))]", to: "a.json")
        let run = try cozdb("import --db d a.json")
        #expect(run.output.contains("refused  0 lines, 0 points, 12 values"), "\(run.output)")
        let cut = String(repeating: "x", count: 38)
        let line = "a.json:1: dev ts_heart_rate=\"0\\u{1b}\(cut)...\": string for a field"
        #expect(run.output.contains(line), "\(run.output)")
        #expect(
            run.output.contains(
                "\n         and 7 more; to list all of them: cozdb rejects --db d list\n"),
            "\(run.output)")
        let whole = try cozdb("import --db e --format cozie-json --atomic a.json")
        #expect(whole.status == 64)
        #expect(
            whole.errors.contains("for example line 1: dev ts_heart_rate=\"0"), "\(whole.errors)")
    }

    @Test(arguments: ["", "--enrich-fields heart_rate,ws_survey_count"])
    func `what is added is named after what fields are renamed to`(fields: String) throws {
        let old = item.replacing("\"ts_heart_rate\":74", with: #""heart_rate":74,"vote_count":3"#)
        _ = try folder.write(old, to: "a.json")
        let run = try cozdb("import --db d --rename cozie-v2 --enrich \(fields) a.json")
        #expect(run.status == 0, "\(run)")
        let keys = try cozdb("query --db d --format csv 'SHOW FIELD KEYS'").output
            .split(separator: "\n").dropFirst().map { $0.split(separator: ",")[1] }
        let expected =
            ["timestamp_lambda", "transmit_trigger"]
            + ["ts_heart_rate", "ws_survey_count"].flatMap {
                [$0, $0 + "_lambda", $0 + "_trigger"]
            }
        #expect(keys.map(String.init).sorted() == expected.sorted())
    }

    @Test func `the preset knows when an answer arrived, in either form`() throws {
        let answer = item.replacing("74}", with: "74,\"q_place\":\"home\"}")
        _ = try folder.write(answer, to: "a.json")
        for (form, type) in [("ms", "q_place_lambda_ms,float"), ("iso", "q_place_lambda,string")] {
            let run = try cozdb(
                "import --db \(form) --preset cozie-v3 --enrich --lambda \(form) "
                    + "--enrich-fields q_place a.json")
            #expect(run.status == 0, "\(run)")
            let keys = try cozdb("query --db \(form) --format csv 'SHOW FIELD KEYS'").output
            #expect(keys.contains(",\(type)"), "\(keys)")
        }
    }

    @Test func `a renamed trigger is the trigger`() throws {
        let pushed = item.replacing(
            "\"ts_heart_rate\":74", with: #""ts_heart_rate":74,"transmit_trigger":"push""#)
        _ = try folder.write(pushed, to: "a.json")
        let run = try cozdb("import --db d --rename transmit_trigger=tt --enrich a.json")
        #expect(run.status == 0, "\(run)")
        let answer = try cozdb(
            "query --db d --format csv 'SELECT tt, ts_heart_rate_trigger FROM dev'")
        #expect(answer.output.contains(",push,push\n"), "\(answer.output)")
        let keys = try cozdb("query --db d --format csv 'SHOW FIELD KEYS'").output
        #expect(!keys.contains("transmit_trigger"), "\(keys)")
    }

    @Test func `faults of JSON name their place once`() throws {
        _ = try folder.write(item.replacing("74}", with: "74,}"), to: "a.json")
        let run = try cozdb("import --db d a.json")
        #expect(run.output.contains("a.json:2:30: invalid JSON: found"), "\(run.output)")
        #expect(
            run.output.contains("accept trailing commas to read it\n         see --lenient\n"),
            "\(run.output)")
    }
}
