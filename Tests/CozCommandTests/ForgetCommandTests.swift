// `cozdb forget` and `--redact` from outside: what is printed, what stays out, exit statuses.

internal import Foundation
internal import Testing

struct ForgetCommandTests {
    private static let lines = """
        dev,id_participant=p1,id_password=SECRET1 heart=60,api_read_key="KEY1" 0
        dev,id_participant=p1,id_password=SECRET1 heart=61,only="x" 1000000000
        dev,id_participant=p2,id_password=SECRET2 heart=70,api_write_key="KEY2" 0
        dev,id_participant=p1,id_password=SECRET1 heart=6x 5
        dev,id_participant=p2,id_password=SECRET2 heart="SECRET2" 5

        """

    private func database(_ folder: TemporaryFolder) throws -> String {
        let path = folder.path("study.cozdb")
        let run = try Command.cozdb(["import", "--db", path, "-"], input: Self.lines)
        #expect(run.status == 7, "\(run.errors)")
        return path
    }

    /// Whether a text stands in a file of the database as it is.
    private func isStored(_ text: String, _ path: String) throws -> Bool {
        let all = FileManager.default.enumerator(atPath: path)
        while let name = all?.nextObject() as? String {
            let data = FileManager.default.contents(atPath: path + "/" + name)
            if data?.range(of: Data(text.utf8)) != nil { return true }
        }
        return false
    }

    @Test(arguments: ["p7", "Anna Maria", "a\"b,c"], [false, true])
    func `lines that were read as somebody's go with them`(name: String, byList: Bool) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("study.cozdb")
        let lines = """
            dev heart=1 1
            dev heart=SECRET 2
            dev,id_participant=other heart=OTHERS 3

            """
        let run = try Command.cozdb(
            ["import", "--db", path, "--participant", name, "-"], input: lines)
        #expect(run.status == 7, "\(run.errors)")
        #expect(run.output.contains("standard input:2:"), "\(run.output)")
        let unread = try Command.cozdb(["import", "--db", path, "-"], input: "dev heart=NOBODYS\n")
        #expect(unread.status == 7)
        if byList {
            let other = folder.path("other.cozdb")
            let point = "dev,id_participant=x v=1 1\n"
            #expect(try Command.cozdb(["import", "--db", other, "-"], input: point).status == 0)
            let listed = try Command.cozdb(["forget", "--db", other, "--participant", name])
            #expect(listed.status == 0, "\(listed.errors)")
            let list = try Command.cozdb(["forget", "--db", other, "--list"])
            let forget = try Command.cozdb(
                ["forget", "--db", path, "--forgotten", "-"], input: list.output)
            #expect(forget.status == 0, "\(forget.errors)")
        } else {
            let forget = try Command.cozdb(["forget", "--db", path, "--participant", name])
            #expect(forget.status == 0, "\(forget.errors)")
        }
        #expect(try !isStored("SECRET", path))
        #expect(try isStored("OTHERS", path) && isStored("NOBODYS", path))
    }

    @Test func `the rejects journal is emptied, whole or of one experiment`() throws {
        let folder = try TemporaryFolder()
        let path = try database(folder)
        let other = "other,id_participant=p v=FOREIGN 1\n"
        #expect(try Command.cozdb(["import", "--db", path, "-"], input: other).status == 7)
        func rejects(_ arguments: String...) throws -> CommandRun {
            try Command.cozdb(["rejects", "--db", path] + arguments)
        }
        let first = try rejects("clear", "--experiment", "other")
        #expect(first.status == 0 && first.output == "cleared  1 entry\n", "\(first)")
        #expect(try !isStored("FOREIGN", path))
        #expect(try rejects("list").output.contains("6x"))
        let second = try rejects("clear")
        #expect(second.status == 0 && second.output == "cleared  2 entries\n", "\(second)")
        #expect(try rejects("list", "--all").output == "(no rejects)\n")
        #expect(try rejects("clear").output == "cleared  0 entries\n")
        // What was cleared is kept again where it comes again.
        #expect(try Command.cozdb(["import", "--db", path, "-"], input: other).status == 7)
        #expect(try rejects("list").output.contains("FOREIGN"))
        #expect(try rejects("list", "--experiment", "x").status == 64)
        #expect(try Command.cozdb(["check", "--db", path]).status == 0)
    }

    @Test func `a participant is forgotten, kept out, listed and readmitted`() throws {
        let folder = try TemporaryFolder()
        let path = try database(folder)
        func forget(_ arguments: String..., input: String = "") throws -> CommandRun {
            try Command.cozdb(["forget", "--db", path] + arguments, input: input)
        }
        #expect(try isStored("SECRET1", path))
        let preview = try forget("--participant", "p1", "--dry-run")
        #expect(preview.status == 0, "\(preview.errors)")
        #expect(
            preview.output == """
                nothing was changed; a run without --dry-run would remove:
                rows      2
                values    4
                refused   1 entry in the rejects journal

                """)
        #expect(try isStored("SECRET1", path))
        let done = try forget("--participant", "p1", "--format", "json")
        #expect(done.status == 0, "\(done.errors)")
        let json = try #require(
            try JSONSerialization.jsonObject(with: Data(done.output.utf8)) as? [String: Any])
        #expect(json["rows"] as? Int == 2 && json["refusals"] as? Int == 1)
        #expect(json["columns_removed"] as? Int == 2 && json["forgotten"] as? Int == 1)
        #expect(try !isStored("SECRET1", path) && !isStored("KEY1", path))
        #expect(try isStored("SECRET2", path))

        let again = try Command.cozdb(["import", "--db", path, "-"], input: Self.lines)
        #expect(again.status == 7)
        #expect(again.output.contains("of forgotten participants"))
        let written = try Command.cozdb(["write", "--db", path], input: Self.lines)
        #expect(written.status == 7)
        #expect(written.lines.count == 5)
        #expect(written.lines[0].hasPrefix("refused 1:0 the participant was forgotten"))
        #expect(written.lines[2] == "ok")
        #expect(written.lines[3].hasPrefix("refused 4:"))
        #expect(try !isStored("SECRET1", path))

        let list = try forget("--list")
        #expect(list.status == 0 && list.output.hasPrefix("cozdb-forgotten 1\nsalt "))
        #expect(try forget("--readmit", "--participant", "p1").output == "p1 readmitted\n")
        #expect(try forget("--readmit", "--participant", "p1").output == "p1 was not forgotten\n")
        _ = try Command.cozdb(["import", "--db", path, "-"], input: Self.lines)
        #expect(try isStored("SECRET1", path))
        let applied = try forget("--forgotten", "-", input: list.output)
        #expect(applied.status == 0, "\(applied.errors)")
        #expect(try !isStored("SECRET1", path))
        #expect(try Command.cozdb(["check", "--db", path]).status == 0)
    }

    @Test func `a name without rows is noted, and forgotten`() throws {
        let folder = try TemporaryFolder()
        let path = try database(folder)
        let run = try Command.cozdb(["forget", "--db", path, "--participant", "p11", "--dry-run"])
        #expect(run.status == 0)
        #expect(
            run.errors
                == "cozdb: there were no rows of a participant \"p11\"; did you mean \"p1\"?\n")
        let other = try Command.cozdb(["forget", "--db", path, "--participant", "somebody"])
        #expect(other.errors == "cozdb: there were no rows of a participant \"somebody\"\n")
        #expect(other.output.contains("1 new"), "\(other.output)")
        let known = try Command.cozdb(["forget", "--db", path, "--participant", "p1"])
        #expect(known.errors.isEmpty, "\(known.errors)")
    }

    @Test func `an import tells which refused values are not kept`() throws {
        let folder = try TemporaryFolder()
        let path = try database(folder)
        _ = try Command.cozdb(["forget", "--db", path, "--participant", "p1"])
        let source = folder.path("p1.lp")
        try "dev,id_participant=p2 heart=\"x\" 7\n".write(
            toFile: source, atomically: true, encoding: .utf8)
        let run = try Command.cozdb(["import", "--db", path, source])
        #expect(
            run.output.contains(
                """
                refused  0 lines, 0 points, 1 value; kept in the rejects journal
                         except 1 of forgotten participants, which are not kept
                """), "\(run)")
        #expect(!run.output.contains("to list all of them"), "\(run)")
        let kept = try Command.cozdb(["rejects", "--db", path, "list"])
        #expect(!kept.output.contains("p1.lp"), "\(kept)")
    }

    @Test func `wrong usage, wrong lists and missing databases`() throws {
        let folder = try TemporaryFolder()
        let path = try database(folder)
        for (arguments, status) in [
            ([], 64), (["--participant", ""], 64), (["--list", "--participant", "p"], 64),
            (["--readmit"], 64), (["--readmit", "--participant", "p", "--dry-run"], 64),
            (["--forgotten", folder.path("none")], 5),
        ] as [([String], Int32)] {
            let run = try Command.cozdb(["forget", "--db", path] + arguments)
            #expect(run.status == status, "\(arguments): \(run.errors)")
        }
        let cut = try Command.cozdb(
            ["forget", "--db", path, "--forgotten", "-"], input: "cozdb-forgotten 1\n")
        #expect(cut.status == 64 && cut.errors.contains("truncated"))
        let missing = try Command.cozdb(
            ["forget", "--db", folder.path("absent"), "--participant", "p"])
        #expect(missing.status == 5)
    }

    @Test(arguments: ["participant", "all", "id_participant,id_password"])
    func `redacted answers and exports tell no secret`(identity: String) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("study.cozdb")
        _ = try Command.cozdb(
            ["import", "--db", path, "--identity", identity, "-"], input: Self.lines)
        let statements = [
            "SELECT * FROM dev", "SELECT api_read_key AS x, id_password FROM dev",
            "SELECT last(api_read_key) FROM dev", "SELECT count(heart) FROM dev GROUP BY *",
            "SELECT distinct(api_write_key) FROM dev", "SHOW SERIES",
            "SHOW TAG VALUES WITH KEY = id_password",
            "SELECT x FROM (SELECT api_write_key AS x FROM dev) WHERE x = 'KEY2'",
            "SELECT coalesce(api_read_key, api_write_key) FROM dev", "EXPLAIN SELECT * FROM dev",
            "SELECT mode(api_read_key) FROM dev GROUP BY id_password",
        ]
        for format in ["table", "csv", "json", "ndjson", "influx-json"] {
            let run = try Command.cozdb(
                [
                    "query", "--db", path, "--redact", "--format", format,
                    statements.joined(separator: ";"),
                ])
            #expect(run.status == 0, "\(format): \(run.errors)")
            #expect(run.output.contains("REDACTED"))
            #expect(!run.output.contains("SECRET") && !run.output.contains("KEY1"), "\(format)")
        }
        for format in ["csv", "ndjson", "lp", "cozie-csv"] {
            let run = try Command.cozdb(["export", "--db", path, "--redact", "--format", format])
            #expect(run.status == 0, "\(format): \(run.errors)")
            #expect(run.output.contains("REDACTED"))
            #expect(!run.output.contains("SECRET") && !run.output.contains("KEY"), "\(format)")
        }
        for format in ["table", "ndjson", "lp"] {
            let run = try Command.cozdb(
                ["rejects", "--db", path, "export", "--redact", "--format", format])
            #expect(run.status == 0)
            #expect(!run.output.contains("SECRET1"), "\(format)")
        }
        // Reasons repeat what they are about.
        _ = try Command.cozdb(
            ["import", "--db", path, "-"],
            input: "dev,id_participant=p1 api_x_key=99999999999999999999i 2\n")
        for format in ["table", "ndjson"] {
            let run = try Command.cozdb(
                ["rejects", "--db", path, "list", "--redact", "--format", format])
            #expect(run.output.contains("unable to parse integer REDACTED"), "\(run.output)")
            #expect(!run.output.contains("99999999999999999999"), "\(run.output)")
        }
        for refused in [
            "SELECT heart FROM dev WHERE id_password = 'SECRET1'",
            "SELECT heart FROM (SELECT heart FROM dev WHERE api_read_key =~ /^K/)",
            "SHOW TAG VALUES WITH KEY = id_participant WHERE id_password = 'SECRET1'",
            "DELETE FROM dev",
        ] {
            let run = try Command.cozdb(["query", "--db", path, "--redact", refused])
            #expect(run.status == 64, "\(refused)")
        }
        let password = try Command.cozdb(
            ["export", "--db", path, "--redact", "--format", "csv", "--password", "SECRET1"])
        #expect(password.status == 64)
    }

    @Test func `only a few unknown names get a suggestion`() throws {
        let folder = try TemporaryFolder()
        let path = try database(folder)
        let names = (11...18).flatMap { ["--participant", "p\($0)"] }
        let run = try Command.cozdb(["forget", "--db", path, "--dry-run"] + names)
        let lines = run.errors.split(separator: "\n")
        #expect(lines.count == 8)
        #expect(lines.count { $0.contains("did you mean") } == 5)
    }
}
