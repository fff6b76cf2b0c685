// `cozdb export` from outside: what comes back from each format, and what it says of itself.

internal import CozDB
internal import Foundation
internal import Testing

struct ExportTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private static let lines = """
        dev,id_participant=p1,id_password=w ts_heart_rate=74,n=3i,ok=true,\
        q_a="None, \\"really\\"" 1000
        dev,id_participant=p1,id_password=w,x=tag x=1.5,e="" 2000
        dev,id_participant=p2 ts_heart_rate=61.5 3000
        other\\ one,id_participant=p1 v=1i 1000

        """

    private func database(_ lines: String = lines, _ options: [String] = []) throws -> String {
        let path = folder.path("a.cozdb")
        let run = try Command.cozdb(["import", "--db", path] + options + ["-"], input: lines)
        #expect(run.status == 0, "\(run.errors)")
        return path
    }

    private func export(_ database: String, _ arguments: String...) throws -> CommandRun {
        try Command.cozdb(["export", "--db", database] + arguments)
    }

    @Test func `line protocol has every experiment`() throws {
        let run = try export(database(), "--format", "lp")
        #expect(run.status == 0)
        #expect(
            run.output == """
                dev,id_participant=p1,id_password=w n=3i,ok=true,\
                q_a="None, \\"really\\"",ts_heart_rate=74 1000
                dev,id_participant=p1,id_password=w,x=tag e="",x=1.5 2000
                dev,id_participant=p2 ts_heart_rate=61.5 3000
                other\\ one,id_participant=p1 v=1i 1000

                """)
    }

    @Test func `typed CSV is a table for each experiment`() throws {
        let run = try export(database(), "--format", "csv", "--participant", "p1")
        #expect(
            run.output == """
                #datatype measurement,tag,tag,tag,dateTime:RFC3339,string,long,boolean,string,\
                double,double
                measurement,id_participant,id_password,x,time,e,n,ok,q_a,ts_heart_rate,x
                dev,p1,w,,1970-01-01T00:00:00.000001000Z,,3,true,"None, ""really""\",74,
                dev,p1,w,tag,1970-01-01T00:00:00.000002000Z,"",,,,,1.5

                #datatype measurement,tag,dateTime:RFC3339,long
                measurement,id_participant,time,v
                other one,p1,1970-01-01T00:00:00.000001000Z,1

                """)
    }

    @Test func `NDJSON says what is a tag and what an integer`() throws {
        let run = try export(
            database(), "--format", "ndjson", "--experiment", "dev", "--columns", "n,x")
        #expect(
            run.output == """
                {"measurement":"dev","tags":{"id_participant":"p1","id_password":"w"},"time":\
                "1970-01-01T00:00:00.000001000Z","fields":{},"fields_int":{"n":3}}
                {"measurement":"dev","tags":{"id_participant":"p1","id_password":"w","x":"tag"},\
                "time":\
                "1970-01-01T00:00:00.000002000Z","fields":{"x":1.5}}

                """)
    }

    @Test func `the researcher's CSV takes one experiment`() throws {
        let path = try database()
        let many = try export(path, "--format", "cozie-csv")
        #expect(many.status == 64 && many.errors.contains("--experiment") && many.output.isEmpty)
        let run = try export(
            path, "--format", "cozie-csv", "--experiment", "dev", "--participant", "p2", "--tz",
            "Asia/Singapore")
        #expect(
            run.output == """
                ,index,id_participant,ts_heart_rate
                0,1970-01-01 07:30:00.000003+0730,p2,61.5

                """)
        #expect(run.status == 0 && run.errors.isEmpty)
    }

    @Test func `an empty answer says why on standard error`() throws {
        let path = try database()
        let common = ["export", "--db", path, "--format", "cozie-csv", "--experiment", "dev"]
        for (options, word) in [
            (
                ["--participant", "nobody"],
                "found no participant \"nobody\", expected one of 2: \"p1\""
            ),
            (["--participant", "p1", "--password", "no"], "id_password"),
            (["--participant", "p1", "--days", "1"], "times"),
        ] {
            let run = try Command.cozdb(common + options)
            #expect(run.status == 0 && run.output == ",index\n")
            #expect(run.errors.contains(word), "\(run.errors)")
        }
    }

    @Test func `wrong usage says what to do`() throws {
        let path = try database()
        for (options, status, word) in [
            (["--format", "lp", "--experiment", "def"], Int32(5), "other one"),
            (["--format", "lp", "--columns", "hart"], 64, "hart"),
            (
                ["--format", "cozie-csv", "--experiment", "dev", "--columns", "ts_hart_rate"], 64,
                "ts_heart_rate"
            ),
            (["--format", "lp", "--tz", "UTC"], 64, "cozie-csv"),
            (["--format", "csv", "--days", "-1"], 64, "--days"),
            (["--format", "csv", "--output", "/nowhere/x.csv"], 5, "/nowhere/x.csv"),
            (["--format", "csv", "--output", ""], 64, "found an empty path"),
        ] {
            let run = try Command.cozdb(["export", "--db", path] + options)
            #expect(run.status == status && run.errors.contains(word), "\(options) \(run.errors)")
            #expect(run.output.isEmpty)
        }
        let absent = try Command.cozdb(["export", "--db", folder.path("none"), "--format", "lp"])
        #expect(absent.status == 5)
    }

    private func leftovers() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
            .filter { $0.hasSuffix(".partial") }
    }

    @Test func `a file is there as a whole or not at all`() throws {
        let path = try database()
        let file = try folder.write("old", to: "x.csv")
        let bad = try export(
            path, "--format", "cozie-csv", "--experiment", "dev", "--columns", "no", "--output",
            file)
        #expect(bad.status == 64)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "old")
        #expect(try leftovers().isEmpty)
        let good = try export(
            path, "--format", "cozie-csv", "--experiment", "other one", "--output", file)
        #expect(good.status == 0 && good.output.isEmpty)
        #expect(
            try String(contentsOfFile: file, encoding: .utf8).hasPrefix(",index,id_participant,v\n")
        )
        #expect(try leftovers().isEmpty)
    }

    @Test func `from and to are local times where a zone is named`() throws {
        let lines = (0..<4).map {
            "dev,id_participant=p v=\($0) \(1_760_400_000 + $0 * 21_600)000000000\n"
        }
        let path = try database(lines.joined())
        // The rows stand at 0, 6, 12 and 18 o'clock UTC, which is 8, 14, 20 and 2 in Singapore.
        for (zone, day, expected) in [
            ("UTC", "2025-10-14", ["0", "1", "2", "3"]),
            ("Asia/Singapore", "2025-10-14", ["0", "1", "2"]),
            ("Asia/Singapore", "2025-10-15T00:00:00+08:00", ["0", "1", "2"]),
        ] {
            let isDay = day.count == 10
            let run = try export(
                path, "--format", "cozie-csv", "--tz", zone, "--to", isDay ? "2025-10-15" : day)
            #expect(
                run.lines.dropFirst().map { String($0.last ?? "-") } == expected,
                "\(zone) \(run.errors)")
        }
    }

    @Test func `a pipe is read as a file is`() throws {
        let path = try database()
        // Without the column that holds empty texts only, which the second file would not have.
        let csv = try export(
            path, "--format", "cozie-csv", "--experiment", "dev", "--columns",
            "n,ok,q_a,ts_heart_rate"
        ).output
        let run = try Command.cozdb(
            ["import", "--db", folder.path("b.cozdb"), "--experiment", "dev", "-"], input: csv)
        #expect(run.status == 0, "\(run.errors)")
        #expect(try export(folder.path("b.cozdb"), "--format", "cozie-csv").output == csv)
        let shell = try Command.shell(
            "cat x.csv | cozdb import --db c.cozdb --experiment dev --format cozie-csv -",
            in: {
                _ = try? folder.write(csv, to: "x.csv"); return folder.url
            }())
        #expect(shell.status == 0, "\(shell.errors)")
        #expect(try export(folder.path("c.cozdb"), "--format", "cozie-csv").output == csv)
    }

    @Test func `fields and tags called time are in the journal, and an export lacks nothing`()
        throws
    {
        let path = folder.path("time.cozdb")
        let database = try Database.open(path)
        var batch = WriteBatch()
        try batch.add(
            experiment: "m", tags: ["id_participant": "p"], time: Timestamp(nanoseconds: 1),
            fields: ["time": .float(1), "v": .float(2)])
        try batch.add(
            experiment: "m", tags: ["id_participant": "p", "time": "noon"],
            time: Timestamp(nanoseconds: 2), fields: ["v": .float(3)])
        _ = try database.write(batch)
        try database.close()
        let run = try export(path, "--format", "lp")
        #expect(run.status == 0 && run.output == "m,id_participant=p v=2 1\n", "\(run.errors)")
        let rejects = try Command.cozdb(["rejects", "--db", path, "list"])
        #expect(rejects.output.contains("a field cannot be called \"time\""), "\(rejects.output)")
        #expect(rejects.output.contains("a tag cannot be called \"time\""), "\(rejects.output)")
    }

    @Test func `a full device is an error, a closed output is none`() throws {
        let path = try database()
        let one = "cozdb export --db '\(path)' --experiment dev --format"
        for format in ["lp", "csv", "ndjson", "cozie-csv"] {
            for target in ["> /dev/full", "--output /dev/full"] {
                let run = try Command.shell("\(one) \(format) \(target)", in: folder.url)
                #expect(run.status == 3, "\(format) \(target)")
                #expect(run.errors.contains("No space left on device"), "\(run.errors)")
            }
            let closed = try Command.shell("\(one) \(format) | true", in: folder.url)
            #expect(closed.status == 0 && closed.errors.isEmpty, "\(format) \(closed.errors)")
        }
    }

    @Test func `no file of the database is replaced, whatever it is called`() throws {
        let path = try database("m,id_participant=p v=1 1\n")
        _ = try Command.cozdb(
            ["import", "--db", path, "-"], input: "m,id_participant=p v=\"text\" 2\n")
        let manager = FileManager.default
        let rejects = try manager.contentsOfDirectory(atPath: path + "/rejects")
        #expect(rejects.count == 1)
        try manager.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: path)
        let before = try manager.contentsOfDirectory(atPath: path).sorted()
        for name in [
            "a.cozdb/MANIFEST", "a.cozdb/new.lp", "./a.cozdb//rejects/\(rejects[0])",
            "link/LOCK", "link/rejects/new", "a.cozdb/rejects/../LOCK", path + "/MANIFEST",
        ] {
            let run = try Command.cozdb(
                ["export", "--db", "a.cozdb", "--format", "lp", "--output", name], in: folder.url)
            #expect(run.status == 64, "\(name): \(run.errors)")
            #expect(run.errors.contains("found a file inside the database"), "\(run.errors)")
            #expect(run.errors.contains("expected a file outside"), "\(run.errors)")
        }
        let inside = try Command.shell(
            "cd a.cozdb && cozdb export --db . --format lp --output MANIFEST", in: folder.url)
        #expect(inside.status == 64, "\(inside.errors)")
        #expect(try manager.contentsOfDirectory(atPath: path).sorted() == before)
        #expect(try Command.cozdb(["check", "--db", path]).status == 0)
        for name in ["MANIFEST", "rejects", "../\(folder.url.lastPathComponent)/beside"] {
            let run = try Command.cozdb(
                ["export", "--db", "a.cozdb", "--format", "lp", "--output", name], in: folder.url)
            #expect(run.status == 0, "\(name): \(run.errors)")
        }
        let absent = try Command.cozdb(
            ["export", "--db", "a.cozdb", "--format", "lp", "--output", "no/x"], in: folder.url)
        #expect(absent.status == 5, "\(absent.errors)")
    }

    @Test func `what makes an experiment special is said with an export`() throws {
        let path = try database("m,host=a v=1 1\n", ["--identity", "all", "--types", "strict"])
        let run = try export(path, "--format", "lp")
        #expect(run.status == 0 && run.output == "m,host=a v=1 1\n")
        #expect(run.errors.contains("--identity all --types strict"))
    }
}
