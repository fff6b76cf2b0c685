// Where `cozdb query` gets statements from, what it says of wrong ones, and closed output.

internal import Foundation
internal import Testing

struct QueryInputTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        let lines = "m,id_participant=a v=1i,s=\"x\" 1\nm,id_participant=b v=2i 2\n"
        let run = try Command.cozdb(["import", "--db", folder.path("d"), "-"], input: lines)
        #expect(run.status == 0)
    }

    private func query(_ arguments: [String], input: String = "") throws -> CommandRun {
        try Command.cozdb(
            ["query", "--db", "d", "--format", "csv"] + arguments, input: input, in: folder.url)
    }

    private static let two = "SELECT v FROM m WHERE v = 1;\nSELECT v FROM m WHERE v = 2"

    @Test func `statements come as an argument, from a file or from standard input`() throws {
        _ = try folder.write(Self.two, to: "two.influxql")
        // Some editors begin a file with a byte order mark.
        _ = try folder.write("\u{FEFF}" + Self.two, to: "marked.influxql")
        let runs = [
            try query([Self.two]), try query(["--file", "marked.influxql"]),
            try query(["--file", "two.influxql"]),
            try query(["-"], input: Self.two), try query([], input: Self.two),
            try query(["--file", "-"], input: Self.two),
        ]
        for run in runs {
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.output == runs[0].output)
        }
        #expect(runs[0].output.contains("000000001Z,1\n") && runs[0].output.contains("02Z,2\n"))
    }

    @Test func `no statement is wrong usage, an empty one is not`() throws {
        let nothing = try query([], input: " \n")
        #expect(nothing.status == 64)
        #expect(nothing.errors.contains("found no statement"))
        #expect(try query(["-"]).status == 0)
        let both = try query(["--file", "f", "SHOW SERIES"])
        #expect(both.status == 64)
        let missing = try query(["--file", "not there"])
        #expect(missing.status == 5)
        #expect(missing.errors.contains("not there: "))
    }

    @Test func `an error in a file has the file and line, and the place below`() throws {
        _ = try folder.write("SHOW SERIES;\n\n\tSELECT vv\n\tFROM m\n", to: "f.influxql")
        let run = try query(["--file", "f.influxql"])
        #expect(run.status == 64)
        #expect(
            run.errors == """
                cozdb: f.influxql, line 3: there is no field or tag "vv" in experiment "m"; \
                did you mean "v"?
                  3 |  SELECT vv
                    |         ^

                """)
    }

    @Test func `an error in a later statement of several shows its place`() throws {
        let run = try query(["SHOW SERIES; SELECT v FROM mm; SHOW SERIES"])
        #expect(run.status == 5)
        let lines = run.errors.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines[1] == "  SHOW SERIES; SELECT v FROM mm; SHOW SERIES")
        #expect(lines[2] == "  " + String(repeating: " ", count: 27) + "^")
    }

    @Test func `parameters of every kind stand for one word`() throws {
        func rows(_ params: String, _ condition: String) throws -> Int {
            let run = try query(["--params", params, "SELECT v FROM m WHERE \(condition)"])
            #expect(run.status == 0, "\(params): \(run.errors)")
            return max(0, run.lines.count - 1)
        }
        #expect(try rows(#"{"p": "a"}"#, "id_participant = $p") == 1)
        #expect(try rows(#"{"p": "a' OR 1 = 1"}"#, "id_participant = $p") == 0)
        #expect(try rows(#"{"p": 2}"#, "v >= $p") == 1)
        #expect(try rows(#"{"p": 1.5}"#, "v > $p") == 1)
        #expect(try rows(#"{"p": {"list": ["b", "c"]}}"#, "id_participant IN $p") == 1)
        #expect(try rows(#"{"p": {"list": [1, 2, 2.5]}}"#, "v IN $p") == 2)
        #expect(try rows(#"{"p": {"list": []}}"#, "v IN $p") == 0)
        #expect(try rows(#"{"p": {"regex": "^[ab]$"}}"#, "id_participant =~ $p") == 2)
        #expect(try rows(#"{"p": {"identifier": "v"}}"#, "$p = 1") == 1)
        #expect(try rows(#"{"d": {"duration": "1s"}}"#, "time < 0s + $d") == 2)
    }

    @Test(arguments: [
        ("{\"p\":", "--params: "), ("[1]", "expected an object"), ("{\"p\": [1]}", "\"p\""),
        ("{\"p\": {\"list\": [[1]]}}", "\"p\""), ("{\"p\": {\"list\": 1}}", "\"p\""),
        ("{\"p\": {\"list\": [{\"regex\": \"1\"}]}}", "\"p\""),
        ("{\"p\": {\"list\": [1]}}", "\"p\""),
        ("{\"q\": 1}", "missing parameter: p"),
        // One character, composed and decomposed.
        ("{\"\u{E9}\": 1, \"e\u{301}\": 2}", "twice"),
    ]) func `wrong parameters are named`(params: String, words: String) throws {
        let run = try query(["--params", params, "SELECT v FROM m WHERE v = $p"])
        #expect(run.status == 64)
        #expect(run.errors.contains(words), "\(run.errors)")
    }

    @Test func `--repeat runs all statements, and prints answers and errors once`() throws {
        let run = try query(["--repeat", "3", Self.two])
        #expect(run.status == 0)
        #expect(run.output == (try query([Self.two])).output)
        #expect(run.errors.split(separator: "\n").count == 3)
        #expect(run.errors.split(separator: "\n").allSatisfy { $0.hasPrefix("elapsed_ms=") })
        let failing = try query(["--repeat", "2", "SHOW SERIES; SELECT vv FROM m"])
        #expect(failing.status == 64)
        #expect(failing.errors.split(separator: "\n").count { $0.contains("no field") } == 1)
        #expect(try query(["--repeat", "0", "SHOW SERIES"]).status == 64)
    }

    @Test func `closed standard output is no error`() throws {
        let sample = try Command.cozdb(["sample", "--participants", "2", "--days", "3"])
        _ = try Command.cozdb(["import", "--db", folder.path("s"), "-"], input: sample.output)
        let statement = "cozdb query --db s --format csv 'SELECT * FROM demo'"
        let head = try Command.shell("{ \(statement); echo $? >&2; } | head -n 1", in: folder.url)
        #expect(head.lines.count == 1)
        #expect(head.errors == "0\n")
        let closed = try Command.shell("\(statement) >&-; echo $?", in: folder.url)
        #expect(closed.output == "0\n")
        #expect(closed.errors == "")
    }

    @Test func `what cannot be line protocol is refused, and why`() throws {
        func run(_ statement: String) throws -> CommandRun {
            try Command.cozdb(
                ["query", "--db", "d", "--format", "lp", statement], in: folder.url)
        }
        for statement in ["SELECT v FROM m", "SELECT mean(v) FROM m", "SELECT s, v FROM m"] {
            let refused = try run(statement)
            #expect(refused.status == 64)
            #expect(refused.output == "")
            #expect(refused.errors.contains("the tag \"id_participant\""), "\(refused.errors)")
            #expect(refused.errors.contains("GROUP BY"))
        }
        let show = try run("SHOW MEASUREMENTS")
        #expect(show.status == 64)
        #expect(show.errors.contains("an answer without an experiment"))
        let good = try run("SELECT v, s FROM m GROUP BY id_participant")
        #expect(good.output == "m,id_participant=a v=1i,s=\"x\" 1\nm,id_participant=b v=2i 2\n")
    }

    @Test func `a tag of GROUP BY is told from a column of its name`() throws {
        let folder = try TemporaryFolder()
        let lines = """
            dev,id_participant=p1,x=A x=1 1
            dev,id_participant=p1,x=B x=2 2

            """
        _ = try Command.cozdb(["import", "--db", folder.path("d"), "-"], input: lines)
        func answer(_ format: String) throws -> String {
            try Command.cozdb(
                [
                    "query", "--db", folder.path("d"), "--format", format, "--epoch", "ns",
                    "SELECT max(x::field) AS x FROM dev GROUP BY x",
                ]
            ).output
        }
        #expect(try answer("csv") == "x_1,time,x\nA,1,1\nB,2,2\n")
        #expect(
            try answer("ndjson")
                == "{\"x_1\":\"A\",\"time\":1,\"x\":1}\n{\"x_1\":\"B\",\"time\":2,\"x\":2}\n")
    }

    @Test func `a pipe in place of a time zone's file is no zone`() throws {
        let folder = try TemporaryFolder()
        let run = try Command.shell(
            "cozdb sample --participants 1 --days 1 | cozdb import --db s.cozdb - > import.txt && "
                + "mkdir tz && mkfifo tz/Pipe && TZDIR=$PWD/tz timeout 20 cozdb query --db s.cozdb "
                + "\"SELECT ts_heart_rate FROM demo LIMIT 1 tz('Pipe')\"", in: folder.url)
        #expect(run.status == 64)
        #expect(run.errors.contains("unable to find time zone Pipe"))
    }
}
