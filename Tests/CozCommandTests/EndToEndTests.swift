// From files to answers through the command alone, on made-up data.

internal import Foundation
internal import Testing

struct EndToEndTests {
    /// A folder with a sample in both shapes.
    private func sample() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        for shape in ["points", "export"] {
            let run = try Command.cozdb([
                "sample", "--participants", "3", "--days", "3", "--shape", shape,
            ])
            _ = try folder.write(run.output, to: "\(shape).lp")
        }
        return folder
    }

    private static let questions = [
        "SELECT count(ts_heart_rate), mean(ts_heart_rate) FROM demo",
        "SELECT mean(ts_heart_rate) FROM demo GROUP BY id_participant",
        "SELECT q_preference_thermal, ws_latitude FROM demo WHERE ws_survey_count > 0",
        "SELECT * FROM demo WHERE id_participant = 'demo_p02'",
        "SHOW FIELD KEYS FROM demo",
    ]

    private func answers(_ database: String) throws -> [String] {
        try Self.questions.map { question in
            let run = try Command.cozdb(["query", "--db", database, "--format", "csv", question])
            #expect(run.status == 0, "\(question): \(run.errors)")
            #expect(run.lines.count > 1, "\(question) has rows")
            return run.output
        }
    }

    @Test func `both shapes give the same answers, again and after compaction`() throws {
        let folder = try sample()
        let databases = ["points", "export"].map { folder.path("\($0).cozdb") }
        for (shape, database) in zip(["points", "export"], databases) {
            let run = try Command.cozdb([
                "import", "--db", database, folder.path("\(shape).lp"),
            ])
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.output.contains("refused  nothing"))
        }
        let first = try answers(databases[0])
        #expect(try answers(databases[1]) == first)
        let again = try Command.cozdb(["import", "--db", databases[0], folder.path("export.lp")])
        #expect(again.status == 0)
        #expect(try answers(databases[0]) == first)
        #expect(try Command.cozdb(["compact", "--db", databases[0]]).status == 0)
        #expect(try answers(databases[0]) == first)
        #expect(try Command.cozdb(["check", "--db", databases[0]]).status == 0)
    }

    @Test func `what lp prints imports to the same answers`() throws {
        let folder = try sample()
        let (first, second) = (folder.path("first.cozdb"), folder.path("second.cozdb"))
        #expect(try Command.cozdb(["import", "--db", first, folder.path("points.lp")]).status == 0)
        let lines = try Command.cozdb([
            "query", "--db", first, "--format", "lp", "SELECT * FROM demo",
        ])
        #expect(lines.status == 0)
        let run = try Command.cozdb(["import", "--db", second, "-"], input: lines.output)
        #expect(run.status == 0, "\(run.errors)")
        #expect(try answers(second) == answers(first))
    }

    @Test func `progress names committed points and the exit status refusals`() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            """
            m,id_participant=a v=1 1
            m,id_participant=a v= 2
            m,id_participant=b v=2 3
            m v=2 3

            """, to: "lines.lp")
        let database = folder.path("x.cozdb")
        let run = try Command.cozdb([
            "import", "--db", database, "--progress", "plain", "--batch-rows", "2", file,
        ])
        #expect(run.status == 7)
        #expect(run.errors == "committed 2\ncommitted 4\n")
        #expect(run.output.contains("lines.lp:2:"))
        let list = try Command.cozdb(["rejects", "--db", database, "list"])
        #expect(list.status == 0)
        #expect(list.output.contains("v= 2"))
        let export = try Command.cozdb(["rejects", "--db", database, "export"])
        #expect(export.lines.contains("m,id_participant=a v= 2"))
    }

    @Test func `a type conflict comes in by the commands that the summary prints`() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            "m,id_participant=a v=1i 1\nm,id_participant=a v=2.5 2\n", to: "lines.lp")
        let run = try Command.cozdb(["import", "--db", "x.cozdb", file], in: folder.url)
        #expect(run.status == 7)
        let commands = run.lines.filter { $0.hasPrefix("  cozdb ") }
        #expect(commands.count == 2, "\(run.output)")
        for command in commands {
            let run = try Command.shell(String(command), in: folder.url)
            #expect(run.status == 0, "\(command): \(run.errors)")
        }
        let answer = try Command.cozdb(
            ["query", "--db", "x.cozdb", "--format", "csv", "--epoch", "ns", "SELECT v FROM m"],
            in: folder.url)
        #expect(answer.output == "time,v\n1,1\n2,2.5\n")
    }

    @Test func `rows that two devices met in are told with the way out`() throws {
        let folder = try TemporaryFolder()
        _ = try folder.write("m,device=a,id_participant=p v=1 1\n", to: "a.lp")
        _ = try folder.write("m,device=b,id_participant=p v=2 1\n", to: "b.lp")
        let run = try Command.cozdb(
            ["import", "--db", "x.cozdb", "--batch-rows", "1", "a.lp", "b.lp"], in: folder.url)
        #expect(run.status == 0)
        #expect(run.output.contains("merged   1 row from points with different tags; 1 value "))
        #expect(run.output.contains("m, id_participant=p at 1970-01-01T00:00:00.000000001Z: "))
        #expect(run.output.contains("device \"a\" and \"b\""))
        let identity = "--identity id_participant,device"
        #expect(run.output.contains(identity))
        let apart = try Command.shell(
            "cozdb import --db y.cozdb \(identity) a.lp b.lp", in: folder.url)
        #expect(apart.output.contains("rows     2 new"))
        #expect(!apart.output.contains("merged"))

        // In segments of their own they meet when closing merges them.
        for file in ["a.lp", "b.lp"] {
            let run = try Command.cozdb(["import", "--db", "z.cozdb", file], in: folder.url)
            #expect(run.output.contains("merged") == (file == "b.lp"), "\(run.output)")
        }
    }

    @Test func `a preset gives types and units, and another one later is refused`() throws {
        let folder = try TemporaryFolder()
        _ = try folder.write("dev,id_participant=p ts_HRV=1i,other=1i 1\n", to: "a.lp")
        let run = try Command.cozdb(
            ["import", "--db", "x.cozdb", "--preset", "cozie-v3", "a.lp"], in: folder.url)
        #expect(run.status == 0)
        let schema = try Command.cozdb(["schema", "--db", "x.cozdb"], in: folder.url)
        let words = schema.lines.map { $0.split(separator: " ") }
        #expect(words.contains { $0.prefix(5) == ["ts_HRV", "field", "float", "ms", "1"] })
        #expect(words.contains { $0.prefix(4) == ["other", "field", "integer", "1"] })
        let again = try Command.cozdb(
            ["import", "--db", "x.cozdb", "--preset", "none", "a.lp"], in: folder.url)
        #expect(again.status == 64)
        #expect(again.errors.contains("preset cozie-v3"))
        let unknown = try Command.cozdb(
            ["import", "--db", "y.cozdb", "--preset", "cozie-v9", "a.lp"], in: folder.url)
        #expect(unknown.status == 64)
        #expect(unknown.errors.contains("cozie-v3"))
    }

    @Test(arguments: ["ns", "s"])
    func `points without a time do not meet`(precision: String) throws {
        let folder = try TemporaryFolder()
        let lines = (0..<50).map { "dev,id_participant=p v=\($0)i\n" }.joined()
        let run = try Command.cozdb(
            ["write", "--db", folder.path("x.cozdb"), "--precision", precision], input: lines)
        #expect(run.status == 0, "\(run.errors)")
        let read = try Command.cozdb([
            "query", "--db", folder.path("x.cozdb"), "--format", "csv", "SELECT v FROM dev",
        ])
        let rows = read.lines.dropFirst().map { $0.split(separator: ",") }
        #expect(rows.map { String($0[1]) } == (0..<50).map { String($0) })
        #expect(Set(rows.map { $0[0] }).count == 50)
        let named = try Command.cozdb(
            ["write", "--db", folder.path("y.cozdb"), "--now", "7"], input: lines)
        #expect(named.status == 0)
        let one = try Command.cozdb([
            "query", "--db", folder.path("y.cozdb"), "--format", "csv", "--epoch", "ns",
            "SELECT v FROM dev",
        ])
        #expect(one.output == "time,v\n7,49\n")
    }

    @Test func `points without a time have that of their arrival`() throws {
        let folder = try TemporaryFolder()
        let run = try Command.shell(
            """
            (echo 'dev,id_participant=p v=1i'
            for try in $(seq 600); do if grep -q ok answers; then break; fi; sleep 0.05; done
            sleep 1; printf 'dev,id_participant=p v=%s\\n' 2i 3i
            ) 2>/dev/null | cozdb write --db x.cozdb | tee answers
            """, in: folder.url)
        #expect(run.output == "ok\nok\nok\n", "\(run.errors)")
        let read = try Command.shell(
            "cozdb query --db x.cozdb --format csv --epoch ns 'SELECT v FROM dev'", in: folder.url)
        let rows = read.lines.dropFirst().map { $0.split(separator: ",").compactMap { Int($0) } }
        #expect(rows.map(\.last) == [1, 2, 3], "\(read.output)")
        let times = rows.compactMap(\.first)
        #expect(times.count == 3 && Set(times).count == 3)
        // The first was answered before the sleep, which may take longer on a busy machine.
        #expect(times[1] - times[0] >= 900_000_000, "\(times)")
    }

    @Test func `write answers every point`() throws {
        let folder = try TemporaryFolder()
        let run = try Command.cozdb(
            ["write", "--db", folder.path("x.cozdb")],
            input: """
                m,id_participant=a v=1i,s="two
                lines" 1

                # a comment
                m,id_participant=a v=1.5,w=2 2
                m,id_participant=a v=
                m v=1i 3
                m,id_participant=b v=4i
                """)
        #expect(run.status == 7)
        #expect(run.lines.count == 5)
        #expect(run.lines.first == "ok")
        #expect(run.lines[1] == "ok refused=1")
        #expect(run.lines[2].hasPrefix("refused 6:"))
        #expect(run.lines[3].hasPrefix("refused 7:"))
        #expect(run.lines[4] == "ok")
    }

    @Test func `a second writer is refused, a reader is not`() throws {
        let folder = try TemporaryFolder()
        let database = folder.path("x.cozdb")
        let writer = Process()
        writer.executableURL = Command.binaries.appendingPathComponent("cozdb")
        writer.arguments = ["write", "--db", database]
        let (input, output) = (Pipe(), Pipe())
        writer.standardInput = input
        writer.standardOutput = output
        try writer.run()
        defer { writer.terminate() }
        input.fileHandleForWriting.write(Data("m,id_participant=a v=1 1\n".utf8))
        #expect(output.fileHandleForReading.availableData == Data("ok\n".utf8))
        let second = try Command.cozdb(["write", "--db", database])
        #expect(second.status == 4)
        #expect(second.errors.contains("another process has"))
        let reader = try Command.cozdb([
            "query", "--db", database, "--format", "csv", "--epoch", "ns", "SELECT v FROM m",
        ])
        #expect(reader.output == "time,v\n1,1\n")
        // Ctrl-C ends a writer that waits for input, and what it answered stays.
        writer.interrupt()
        writer.waitUntilExit()
        #expect(writer.terminationStatus == 130)
        #expect(try Command.cozdb(["check", "--db", database]).status == 0)
    }

    @Test func `a quit signal ends a writer at once`() throws {
        let folder = try TemporaryFolder()
        let run = try Command.shell(
            "sleep 4 | cozdb write --db x.cozdb & sleep 1; kill -QUIT $!; wait $!; echo $?",
            in: folder.url)
        #expect(run.output == "131\n")
        #expect(!run.errors.contains("crashed"))
    }

    @Test func `who waits for a writer comes after it`() throws {
        let folder = try TemporaryFolder()
        let point = "echo 'm,id_participant=a v=1 1' |"
        #expect(
            try Command.shell("\(point) cozdb write --db x.cozdb", in: folder.url).status == 0)
        let holder =
            "(sleep 2; echo 'm,id_participant=a v=2 2') | cozdb write --db x.cozdb & sleep 1;"
        for line in [
            "\(point) cozdb write --db x.cozdb --wait 20",
            "\(point) cozdb import --db x.cozdb --wait 20 -",
            "cozdb compact --db x.cozdb --wait 20",
            "cozdb query --db x.cozdb --wait 20 'DELETE FROM m WHERE time = 7'",
            "cozdb rejects --db x.cozdb --wait 20 replay",
            "cozdb forget --db x.cozdb --wait 20 --participant nobody",
            "cozdb repair --db x.cozdb --wait 20",
        ] {
            let run = try Command.shell("\(holder) \(line)", in: folder.url)
            #expect(run.status == 0, "\(line): \(run.errors)")
        }
        let late = try Command.shell(
            "\(holder) \(point) cozdb write --db x.cozdb --wait 0; echo $?; wait", in: folder.url)
        #expect(late.output.hasPrefix("4\n"), "\(late.output)")
        #expect(
            try Command.cozdb(["compact", "--db", folder.path("x.cozdb"), "--wait", "-1"]).status
                == 64)
    }

    @Test func `statements that are wrong are 64 with their place`() throws {
        let folder = try TemporaryFolder()
        let database = folder.path("x.cozdb")
        #expect(try Command.cozdb(["import", "--db", database, "-"]).status == 0)
        let run = try Command.cozdb(["query", "--db", database, "SELECT v FRM m"])
        #expect(run.status == 64)
        #expect(run.errors.contains("\n           ^\n"), "\(run.errors)")
        let json = try Command.cozdb([
            "query", "--db", database, "--format", "influx-json", "SELECT v FRM m",
        ])
        #expect(json.status == 64)
        #expect(json.output.hasPrefix("{\"error\":\"error parsing query: "))
        let empty = try Command.cozdb([
            "query", "--db", database, "--format", "influx-json", "SELECT v FROM m",
        ])
        #expect(empty.status == 0)
        #expect(empty.output == "{\"results\":[{\"statement_id\":0}]}\n")
    }

    @Test func `timing prints one line per run and its parts`() throws {
        let folder = try TemporaryFolder()
        let database = folder.path("x.cozdb")
        let line = "m,id_participant=a v=1 1\n"
        #expect(try Command.cozdb(["import", "--db", database, "-"], input: line).status == 0)
        let statement = "SELECT v FROM m"
        let timed = try Command.cozdb(["query", "--db", database, "--timing", statement])
        #expect(timed.errors.contains(/^elapsed_ms=\d+\.\d+\nopen_ms=/))
        let repeated = try Command.cozdb([
            "query", "--db", database, "--format", "csv", "--repeat", "5", statement,
        ])
        #expect(repeated.errors.matches(of: /elapsed_ms=\d+\.\d+\n/).count == 5)
        #expect(repeated.output.matches(of: /time,v/).count == 1)
    }

    @Test func `info and schema tell what is there`() throws {
        let folder = try TemporaryFolder()
        let database = folder.path("x.cozdb")
        let lines = "m,id_participant=a,device=d v=1i,s=\"x\" 1\nm,id_participant=b v=2i 2\n"
        #expect(
            try Command.cozdb(["import", "--db", database, "-"], input: lines).status == 0)
        let info = try Command.cozdb(["info", "--db", database, "--format", "json"])
        for part in ["\"rows\": 2", "\"values\": 3", "\"fields\": 2", "\"series\": 2"] {
            #expect(info.output.contains(part), "\(part) in \(info.output)")
        }
        let schema = try Command.cozdb(["schema", "--db", database, "m"])
        for part in [/v +field +integer +2/, /s +field +string +1/, /device +attribute +string/] {
            #expect(schema.output.contains(part), "\(schema.output)")
        }
        #expect(try Command.cozdb(["schema", "--db", database, "nope"]).status == 5)
        let manifest = try Command.cozdb(["inspect", "\(database)/MANIFEST"])
        #expect(manifest.status == 0)
        #expect(manifest.output.contains("m"))
    }
}
