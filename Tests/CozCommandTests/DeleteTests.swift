// `cozdb query` with statements that take data away: dry runs, what each format prints, statuses.

internal import Foundation
internal import Testing

struct DeleteTests {
    private static let lines = """
        dev,id_participant=p1,device=d1 heart=60,mood="ok" 0
        dev,id_participant=p1,device=d1 heart=61 1000000000
        dev,id_participant=p2 heart=70 0
        env,id_participant=p1 noise=40 0

        """

    private func database(_ folder: TemporaryFolder) throws -> String {
        let path = folder.path("study.cozdb")
        let run = try Command.cozdb(["import", "--db", path, "-"], input: Self.lines)
        #expect(run.status == 0, "\(run.errors)")
        return path
    }

    private func query(_ path: String, _ arguments: String...) throws -> CommandRun {
        try Command.cozdb(["query", "--db", path] + arguments)
    }

    /// Every byte of the database.
    private func bytes(_ path: String) throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: path) where name != "LOCK" {
            files[name] = try? Data(contentsOf: URL(fileURLWithPath: path + "/" + name))
        }
        return files
    }

    @Test func `a dry run says what would go and changes no byte`() throws {
        let folder = try TemporaryFolder()
        let path = try database(folder)
        let before = try bytes(path)
        let table = try query(
            path, "--dry-run", "--epoch", "s", "DELETE WHERE id_participant = 'p1'")
        #expect(table.status == 0, "\(table.errors)")
        #expect(
            table.output == """
                experiment  series             field  rows  values  first  last
                ----------  -----------------  -----  ----  ------  -----  ----
                dev         id_participant=p1            2       3  0      1
                dev         id_participant=p1  heart             2  0      1
                dev         id_participant=p1  mood              1  0      0
                env         id_participant=p1            1       1  0      0
                env         id_participant=p1  noise             1  0      0

                """)
        let json = try query(path, "--dry-run", "--format", "json", "DROP MEASUREMENT env")
        let read = try JSONSerialization.jsonObject(with: Data(json.output.utf8))
        let rows = try #require(read as? [[String: Any]])
        #expect(rows.count == 2)
        #expect(rows[0]["series"] as? String == "id_participant=p1")
        #expect(rows[0]["rows"] as? Int == 1 && rows[0]["values"] as? Int == 1)
        #expect(rows[0]["field"] is NSNull && rows[1]["field"] as? String == "noise")
        #expect(rows[1]["first"] as? String == "1970-01-01T00:00:00.000000000Z")
        let nothing = try query(path, "--dry-run", "DROP SERIES WHERE id_participant = 'p9'")
        #expect(nothing.status == 0 && nothing.output == "(no rows)\n")
        #expect(try query(path, "--dry-run", "DELETE FROM nothing").status == 5)
        #expect(
            try query(path, "--dry-run", "ALTER EXPERIMENT dev FIELD heart TYPE string").status
                == 64)
        #expect(try bytes(path) == before)
        // Beside a writer, too: a dry run only reads.
        let held = try Command.shell(
            """
            mkfifo wait
            cozdb write --db study.cozdb < wait > /dev/null &
            exec 3> wait
            sleep 0.3
            cozdb query --db study.cozdb --dry-run 'DELETE FROM env'; echo $?
            cozdb query --db study.cozdb 'DELETE FROM env'; echo $?
            """, in: folder.url)
        #expect(held.output.hasSuffix("\n0\n4\n"), "\(held.output) \(held.errors)")
    }

    @Test func `each format says what was deleted, or nothing`() throws {
        let folder = try TemporaryFolder()
        let path = try database(folder)
        let csv = try query(path, "--format", "csv", "DELETE mood FROM dev WHERE heart < 65")
        #expect(csv.status == 0, "\(csv.errors)")
        #expect(csv.output == "experiment,series,rows,values,refusals\ndev,1,0,1,0\n")
        let refused = try query(path, "--format", "influx-json", "DELETE FROM dev WHERE heart > 65")
        #expect(refused.status == 64)
        let words = "fields not supported in WHERE clause during deletion"
        #expect(refused.output == "{\"results\":[{\"statement_id\":0,\"error\":\"\(words)\"}]}\n")
        let influx = try query(
            path, "--format", "influx-json",
            "DELETE FROM dev WHERE device = 'd1'; DROP MEASUREMENT none; SHOW MEASUREMENTS")
        #expect(
            influx.output == "{\"results\":[{\"statement_id\":0},{\"statement_id\":1},"
                + "{\"statement_id\":2,\"series\":[{\"name\":\"measurements\","
                + "\"columns\":[\"name\"],\"values\":[[\"dev\"],[\"env\"]]}]}]}\n")
        let lines = try query(path, "--format", "lp", "DROP SERIES FROM env")
        #expect(lines.status == 0 && lines.output.isEmpty, "\(lines.output) \(lines.errors)")
        let left = try query(path, "--format", "lp", "SELECT * FROM /.*/")
        #expect(left.output.contains("id_participant=p2"))
        #expect(!left.output.contains("p1"))
        let table = try query(path, "DELETE FROM dev WHERE heart > 65; SHOW SERIES")
        #expect(
            table.output == """
                experiment  series  rows  values  refusals
                ----------  ------  ----  ------  --------
                dev              1     1       1         0

                """)
        #expect(try Command.cozdb(["check", "--db", path]).status == 0)
    }

    @Test func `statements that cannot be run show where and change nothing`() throws {
        let folder = try TemporaryFolder()
        let path = try database(folder)
        let before = try bytes(path)
        for (text, status, word) in [
            ("DELETE", 64, "expected FROM, WHERE"), ("DELETE FROM dve", 5, "did you mean \"dev\""),
            ("DELETE FROM a.dev", 64, "retention policy not supported"),
            ("DELETE FROM dev WHERE hart > 1", 64, "did you mean \"heart\""),
            ("DROP SERIES FROM dev WHERE heart > 1", 64, "fields not supported"),
            ("DROP SERIES FROM dev WHERE device = 'd1'", 64, "only identity tags"),
            ("DROP MEASUREMENT dvv", 5, "did you mean \"dev\""),
            ("DELETE device FROM dev", 64, "no field \"device\""),
        ] {
            let run = try query(path, text)
            #expect(run.status == status, "\(text): \(run.status) \(run.errors)")
            #expect(run.errors.contains(word), "\(text): \(run.errors)")
            #expect(
                try bytes(path).filter { $0.key.hasSuffix(".seg") }
                    == before.filter { $0.key.hasSuffix(".seg") }, "\(text)")
        }
    }

    @Test func `a statement that is not UTF-8 is refused, not repaired`() throws {
        let folder = try TemporaryFolder()
        let lines = "dev,id_participant=p\u{FFFD} f=1 1\n"
        _ = try Command.cozdb(["import", "--db", folder.path("d"), "-"], input: lines)
        let run = try Command.shell(
            #"cozdb query --db d "$(printf "DELETE FROM dev WHERE id_participant='p\\377'")""#,
            in: folder.url)
        #expect(run.status == 64)
        #expect(run.errors.contains("not UTF-8"), "\(run.errors)")
        let left = try query(folder.path("d"), "--format", "csv", "SELECT count(f) FROM dev")
        #expect(left.lines.last?.hasSuffix(",1") == true)
    }

    @Test func `a refused line goes whichever of its participants is deleted`() throws {
        let folder = try TemporaryFolder()
        let lines = """
            dev,id_participant=p1 f=1 1
            dev,id_participant=p9,id_participant=p1 s="secret" 2

            """
        let path = folder.path("d")
        #expect(try Command.cozdb(["import", "--db", path, "-"], input: lines).status == 7)
        _ = try query(path, "DELETE WHERE id_participant = 'p1'")
        let left = try Command.cozdb(["rejects", "--db", path, "list"])
        #expect(!left.output.contains("secret"), "\(left.output)")
    }
}
