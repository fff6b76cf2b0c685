// `cozdb study` from outside: what docs/study.md does not show. Its examples are tested as they
// stand.

internal import Foundation
internal import Testing

struct StudyCommandTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        // From 2024-03-01 on, one response a day, of the second participant every other day.
        var lines = ""
        for day in 0..<90 {
            let time = (1_709_251_200 + (day / 2) * 86_400) * 1_000_000_000
            if day % 4 == 3 { continue }
            lines += "demo,id_participant=demo_p0\(day % 2 + 1) ws_survey_count=\(day)i,"
            lines += "ts_heart_rate=70i,timestamp_lambda_ms=\(time / 1_000_000 + 5_000),"
            lines += "transmit_trigger=\"watch_survey\",wss_goal=30i \(time)\n"
        }
        try write(lines)
    }

    private func study(_ arguments: String...) throws -> CommandRun {
        try Command.cozdb(
            ["study", "--db", "s", "--now", "2024-04-01T00:00:00Z"] + arguments, in: folder.url)
    }

    private func write(_ lines: String) throws {
        let run = try Command.cozdb(["import", "--db", "s", "-"], input: lines, in: folder.url)
        #expect(run.status == 0, "\(run.errors)")
    }

    @Test func `without a question all are answered, in one order`() throws {
        let names = [
            "overview", "responses", "votes", "goal", "silence", "delay", "interval",
            "availability",
        ]
        let all = try study("demo", "--width", "200")
        #expect(all.status == 0)
        let titles = all.lines.compactMap { line in names.first { line.hasPrefix($0 + ": ") } }
        #expect(titles == names)
        let some = try study("demo", "delay", "votes", "delay")
        let asked = some.lines.compactMap { line in names.first { line.hasPrefix($0 + ": ") } }
        #expect(asked == ["votes", "delay"])
    }

    @Test func `JSON is one object, whatever the names are`() throws {
        try write("we\\ ird\\\"\\,,id_participant=p\\ \\\"q ws_survey_count=1i,ts_x\\ y=2 0\n")
        let run = try study("we ird\\\",", "--format", "json")
        #expect(run.status == 0, "\(run.errors)")
        let parsed = try JSONSerialization.jsonObject(with: Data(run.output.utf8))
        let object = try #require(parsed as? [String: Any])
        let head = ["experiment", "tz", "now", "from", "until"]
        for (name, member) in object where !head.contains(name) {
            let answer = try #require(member as? [String: Any])
            let rows = try #require(answer["rows"] as? [[String: Any]])
            #expect(answer["statement"] is String || answer["note"] is String, "\(name)")
            if name != "delay", name != "interval" {
                #expect(rows.first?["participant"] as? String == "p \\\"q", "\(name)")
            }
        }
        #expect(object.count == 13)
    }

    @Test func `names cannot steer the terminal`() throws {
        try write("\u{1B}[31m,id_participant=\u{1B}]0;x ws_survey_count=1i,ts_\u{7}=1 0\n")
        let run = try study("\u{1B}[31m")
        #expect(run.status == 0)
        #expect(!run.output.contains("\u{1B}") && !run.output.contains("\u{7}"))
        #expect(run.output.contains("\\u{1b}]0;x"))
        let wrong = try study("\u{1B}[32m")
        #expect(wrong.status == 5 && !wrong.errors.contains("\u{1B}"))
    }

    @Test(arguments: [40, 60, 80, 200]) func `strips fit the width`(width: Int) throws {
        let run = try study("demo", "responses", "votes", "--width", "\(width)", "--ascii")
        let strips = run.lines.filter { $0.contains(" of ") && $0.hasPrefix("demo_p") }
        #expect(strips.count == 4)
        for line in strips {
            // Ten days are shown at least, whatever the room.
            #expect(line.count <= max(width, 66), "\(line)")
        }
        #expect(run.output.contains("each column is") == (width < 100))
    }

    @Test func `a terminal has its own width and characters`() throws {
        for (locale, glyph) in [("en_US.UTF-8", "█"), ("C", "#")] {
            let terminal = try PseudoTerminal(
                Command.binaries.appendingPathComponent("cozdb"),
                ["study", "--db", "s", "demo", "responses"],
                environment: ["PATH": "/usr/bin:/bin", "LANG": locale], in: folder.url,
                columns: 60)
            let text = try #require(terminal.wait(for: "each column is"))
            #expect(text.contains(glyph), "\(locale)")
            #expect(terminal.end() == 0)
        }
    }

    @Test func `a study without surveys or times of arrival says so`() throws {
        try write("bare,id_participant=p ts_heart_rate=70 0\n")
        let run = try study("bare")
        #expect(run.status == 0)
        #expect(run.output.contains("\"bare\" has no survey rows"))
        #expect(run.output.contains("an import of payloads with enrichment"))
        let csv = try study("bare", "votes", "--format", "csv")
        #expect(csv.status == 0)
        #expect(csv.output == "participant,day,responses,valid,invalid\n")
        #expect(csv.errors.contains("no survey rows"))
    }

    @Test func `statements can be asked again`() throws {
        let printed = try Command.shell(
            "cozdb study --db s demo --tz Europe/Helsinki --from 2024-03-20 --show-statements "
                + "| cozdb query --db s --file - --format csv | grep -c '^'", in: folder.url)
        #expect(printed.status == 0, "\(printed.errors)")
        #expect(Int(printed.lines.first ?? "") ?? 0 > 100)
    }

    @Test(arguments: [
        ["demo", "--format", "csv"], ["demo", "votes", "goal", "--format", "csv"],
        ["demo", "nonsense"], ["demo", "--days", "0"], ["demo", "--goal", "0"],
        ["demo", "--gap", "soon"], ["demo", "--gap", "-5m"], ["demo", "--from", "yesterday"],
        ["demo", "--from", "2024-13-01"], ["demo", "--tz", "Mars/Olympus"],
        ["demo", "--from", "2024-03-05", "--to", "2024-03-04"], ["demo", "--width", "9"],
        ["demo", "--days", "3", "--from", "2024-03-05"],
    ])
    func `wrong usage is 64`(arguments: [String]) throws {
        let run = try Command.cozdb(["study", "--db", "s"] + arguments, in: folder.url)
        #expect(run.status == 64, "\(arguments): \(run.output)")
        #expect(run.output.isEmpty)
        #expect(!run.errors.isEmpty)
    }

    @Test(arguments: [
        ["dmeo"], ["demo", "--participant", "nobody"], ["demo", "--modality", "ts_hart_rate"],
        ["demo", "--survey", "votes"],
    ])
    func `names that do not exist are 5`(arguments: [String]) throws {
        let run = try Command.cozdb(["study", "--db", "s"] + arguments, in: folder.url)
        #expect(run.status == 5, "\(arguments): \(run.output)")
        #expect(run.output.isEmpty)
        #expect(run.errors.contains("there is no"))
    }

    @Test func `the last days end today, and silence is as of now`() throws {
        let days = try study("demo", "responses", "--days", "3", "--format", "csv")
        let expected = ["03-30", "03-31", "04-01"]
        #expect(
            days.lines.dropFirst().map { String($0.dropFirst(14).prefix(5)) } == expected + expected
        )
        for range in [["--days", "3"], []] {
            let run = try Command.cozdb(
                ["study", "--db", "s", "--now", "2024-04-01T12:00:00Z", "demo", "silence"] + range
                    + ["--modality", "ts_heart_rate", "--format", "csv"], in: folder.url)
            let seconds = run.lines.dropFirst().map { $0.split(separator: ",").last }
            #expect(seconds == ["43200", "129600"], "\(range)")
        }
    }

    @Test func `now without an offset is in the time zone`() throws {
        func silence(_ now: String) throws -> String {
            try Command.cozdb(
                ["study", "--db", "s", "--now", now, "demo", "silence", "--tz", "Asia/Singapore"]
                    + ["--format", "csv"], in: folder.url
            ).output
        }
        let local = try silence("2024-04-01T20:00:00")
        #expect(local.contains("\n"))
        #expect(try silence("2024-04-01T12:00:00Z") == local)
        #expect(try silence("2024-04-01T20:00:00Z") != local)
    }

    @Test func `the only experiment needs no name`() throws {
        let named = try study("demo", "votes", "goal")
        #expect(named.status == 0)
        #expect(try study("votes", "goal").output == named.output)
        #expect(try study("votes", "goal", "--experiment", "demo").output == named.output)
        try write("votes,id_participant=p ws_survey_count=1i 0\n")
        let several = try study("votes")
        #expect(several.status == 64)
        #expect(several.errors.contains("found 2 experiments (\"demo\", \"votes\")"))
        #expect(try study("votes", "--experiment", "votes").status == 0)
        #expect(try study("demo", "--experiment", "votes").status == 64)
    }

    @Test func `days of the range are local`() throws {
        // 2024-03-31T00:30 in Helsinki, where that day has 23 hours.
        try write("dst,id_participant=p ws_survey_count=1i 1711837800000000000\n")
        for (from, to) in [
            ("2024-03-31", "2024-04-01"), ("2024-03-31T00:30", "2024-03-31T00:31"),
            ("2024-03-30T22:30Z", "2024-03-31T00:30:01+02:00"),
        ] {
            let day = try study(
                "dst", "responses", "--tz", "Europe/Helsinki", "--from", from, "--to", to,
                "--format", "csv")
            #expect(day.lines == ["participant,day,responses,surveys", "p,2024-03-31,1,"])
        }
        let utc = try study("dst", "responses", "--format", "csv", "--to", "2024-03-31")
        #expect(utc.lines == ["participant,day,responses,surveys", "p,2024-03-30,1,"])
        for range in [["--from", "2024-03-30T22:30:01"], ["--to", "2024-03-30"]] {
            let outside = try Command.cozdb(
                ["study", "--db", "s", "dst", "responses"] + range, in: folder.url)
            #expect(outside.output.contains("no rows in this time range"), "\(range)")
        }
    }

    @Test func `a day whose midnight was skipped begins an hour later`() throws {
        // Clocks in Asuncion went from 23:59:59 on 30 September to 01:00, 04:00 in UTC.
        try write("skip,id_participant=p ws_survey_count=1i 1696132799000000000\n")
        let arguments = ["skip", "responses", "--tz", "America/Asuncion", "--format", "csv"]
        let before = try Command.cozdb(
            ["study", "--db", "s"] + arguments + ["--to", "2023-10-01"], in: folder.url)
        #expect(before.lines == ["participant,day,responses,surveys", "p,2023-09-30,1,"])
        let after = try Command.cozdb(
            ["study", "--db", "s"] + arguments + ["--from", "2023-10-01"], in: folder.url)
        #expect(after.lines == ["participant,day,responses,surveys"])
    }

    @Test func `the days of three centuries cost in proportion`() throws {
        // Some 124,000 days. Copying the rows of a participant for each took minutes.
        try write(
            "long,id_participant=p ws_survey_count=1i -9000000000000000000\n"
                + "long,id_participant=p ws_survey_count=2i 1709251200000000000\n")
        let run = try Command.shell(
            "timeout 60 cozdb study --db s long responses --format csv", in: folder.url)
        #expect(run.status == 0)
        #expect(run.lines.count > 123_950)
    }
}
