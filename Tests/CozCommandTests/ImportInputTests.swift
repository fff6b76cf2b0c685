// What an import takes and refuses: streams, broken files, wrong directories, and what it answers.

internal import Foundation
internal import Glibc
internal import Testing

struct ImportInputTests {
    private static let lines = (0..<200).map { "m,id_participant=p v=\($0)i \($0)\n" }.joined()

    private func importing(
        _ arguments: [String], input: String = "", in folder: TemporaryFolder
    ) throws -> CommandRun {
        try Command.cozdb(
            ["import", "--db", "x.cozdb", "--progress", "none"] + arguments, input: input,
            in: folder.url)
    }

    private func rows(in folder: TemporaryFolder) throws -> Substring? {
        let run = try Command.cozdb(
            ["query", "--db", "x.cozdb", "--format", "csv", "SELECT count(v) FROM m"],
            in: folder.url)
        return run.lines.last?.split(separator: ",").last
    }

    @Test func `plain or gzip, from a file or a stream, the points are the same`() throws {
        for line in [
            "cozdb import --db x.cozdb lines.lp", "cozdb import --db x.cozdb lines.lp.gz",
            "cozdb import --db x.cozdb - < lines.lp",
            "cat lines.lp.gz | cozdb import --db x.cozdb -",
        ] {
            let folder = try TemporaryFolder()
            _ = try folder.write(Self.lines, to: "lines.lp")
            let run = try Command.shell("gzip -k lines.lp && \(line)", in: folder.url)
            #expect(run.status == 0, "\(line): \(run.errors)")
            #expect(try rows(in: folder) == "200", "\(line)")
        }
    }

    @Test func `a gzip file that breaks off keeps the points before and is an error`() throws {
        let folder = try TemporaryFolder()
        _ = try folder.write(Self.lines, to: "lines.lp")
        let run = try Command.shell(
            "gzip -k lines.lp && head -c 300 lines.lp.gz > cut.gz; "
                + "cozdb import --db x.cozdb cut.gz",
            in: folder.url)
        #expect(run.status == 1)
        #expect(run.errors.contains("cut.gz, offset 300: the gzip data is truncated"))
        #expect(try Command.cozdb(["check", "--db", "x.cozdb"], in: folder.url).status == 0)
        #expect(try importing(["lines.lp.gz"], in: folder).status == 0)
        #expect(try rows(in: folder) == "200")
    }

    @Test(arguments: ["csv --experiment dev --time-column index", "cozie-csv --experiment dev"])
    func `a cut gzip from a pipe stores as much as from a file`(_ format: String) throws {
        let folder = try TemporaryFolder()
        let rows = (0..<20_000).map { row in
            let second = String(100 + row % 60).dropFirst()
            let minute = String(100 + row / 60 % 60).dropFirst()
            let time = "2025-10-15 0\(row / 3600):\(minute):\(second).000000+0000"
            return "\(row),\(time),p,\(row * 7919 % 9973)\n"
        }
        _ = try folder.write(",index,id_participant,x\n" + rows.joined(), to: "x.csv")
        let options = "--format \(format)"
        let run = try Command.shell(
            "gzip x.csv && head -c 60000 x.csv.gz > cut.gz; "
                + "cozdb import --db x.cozdb \(options) cut.gz; echo $?; "
                + "cat cut.gz | cozdb import --db y.cozdb \(options) -; echo $?",
            in: folder.url)
        #expect(run.output.split(separator: "\n").filter { $0 == "1" }.count == 2, "\(run.errors)")
        #expect(run.errors.contains("standard input, offset 60000: the gzip data is truncated"))
        let counts = try ["x.cozdb", "y.cozdb"].map { database in
            try Command.cozdb(
                ["query", "--db", database, "SELECT count(x) FROM dev"], in: folder.url
            ).output
        }
        #expect(counts[0] == counts[1])
        #expect(!counts[0].isEmpty)
    }

    @Test(arguments: [
        "import --db x.cozdb -", "import --db x.cozdb lines.lp -", "write --db x.cozdb",
        "query --db y.cozdb -", "query --db y.cozdb", "query --db y.cozdb --file -",
        "forget --db y.cozdb --forgotten -", "restore y.cozdb --db x.cozdb --forgotten -",
    ])
    func `a closed standard input is an error, and nothing is made`(_ command: String) throws {
        let folder = try TemporaryFolder()
        _ = try folder.write(Self.lines, to: "lines.lp")
        #expect(try Command.shell("cozdb import --db y.cozdb lines.lp", in: folder.url).status == 0)
        let run = try Command.shell("cozdb \(command) <&-", in: folder.url)
        #expect(run.status == 3, "\(run.errors)")
        let words = "cozdb: standard input: found it closed, expected input. Nothing was done\n"
        #expect(run.errors == words)
        #expect(!FileManager.default.fileExists(atPath: folder.path("x.cozdb")))
        let other = try Command.shell("cozdb import --db x.cozdb lines.lp <&-", in: folder.url)
        #expect(other.status == 0, "it is not asked for: \(other.errors)")
    }

    @Test func `nothing is made for files that are not there or not ours`() throws {
        let folder = try TemporaryFolder()
        _ = try folder.write(Self.lines, to: "lines.lp")
        #expect(try importing(["lines.lp", "absent.lp"], in: folder).status == 5)
        #expect(!FileManager.default.fileExists(atPath: folder.path("x.cozdb")))
        #expect(try importing(["--format", "parquet", "lines.lp"], in: folder).status == 64)
        #expect(!FileManager.default.fileExists(atPath: folder.path("x.cozdb")))
        for directory in [".", "lines.lp"] {
            let run = try Command.cozdb(
                ["import", "--db", directory, "lines.lp"], in: folder.url)
            #expect(run.status == 5, "\(directory): \(run.errors)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).count == 1)
    }

    @Test func `an empty input makes an empty database`() throws {
        let folder = try TemporaryFolder()
        #expect(try importing(["-"], in: folder).status == 0)
        #expect(try Command.cozdb(["check", "--db", "x.cozdb"], in: folder.url).status == 0)
    }

    @Test func `other settings than those stored are refused before anything is stored`() throws {
        let folder = try TemporaryFolder()
        #expect(try importing(["-"], input: Self.lines, in: folder).status == 0)
        let new = (0..<50).map { "n,user=u v=\($0) \($0)\n" }.joined()
        let file = try folder.write(new + "m,user=u v=1i 9\n", to: "other.lp")
        for options in [
            ["--identity", "all"], ["--participant-tag", "user"], ["--types", "strict"],
            ["--preset", "cozie-v3"], ["--identity", "user,id_participant"],
        ] {
            let run = try importing(options + ["--batch-rows", "10", file], in: folder)
            #expect(run.status == 64, "\(options)")
            #expect(run.errors.contains("was created with"), "\(run.errors)")
        }
        let shown = try Command.cozdb(
            ["query", "--db", "x.cozdb", "--format", "csv", "SHOW MEASUREMENTS"], in: folder.url)
        #expect(shown.lines.count == 2)
    }

    @Test func `a participant for all lines, another tag, a list of tags`() throws {
        let lines = "m,user=a,dev=x v=1i 1\nm,user=a,dev=y v=2i 1\n"
        let expected: [(options: [String], rows: String)] = [
            (["--participant", "P7"], "1"), (["--participant-tag", "user"], "1"),
            (["--identity", "user,dev"], "2"), (["--identity", "all"], "2"),
        ]
        for (options, count) in expected {
            let folder = try TemporaryFolder()
            let run = try importing(options + ["-"], input: lines, in: folder)
            #expect(run.status == 0, "\(options): \(run.errors)")
            #expect(try rows(in: folder) ?? "" == count, "\(options)")
        }
    }

    @Test func `a reader of the output that leaves early is no error`() throws {
        let folder = try TemporaryFolder()
        #expect(try importing(["-"], input: Self.lines, in: folder).status == 0)
        let run = try Command.shell(
            "{ cozdb query --db x.cozdb --format csv 'SELECT v FROM m'; echo $? >&2; } | head -1",
            in: folder.url)
        #expect(run.output == "time,v\n")
        #expect(run.errors == "0\n")
    }

    @Test func `numbers and strings at the edges come back as they were`() throws {
        let folder = try TemporaryFolder()
        let integers = [Int64.min, .max, 0, -1, 1 << 53, (1 << 53) + 1, (1 << 53) - 1]
        let floats = [
            "-0", "5e-324", "1e+308", "1.7976931348623157e+308", "9007199254740991", "0.1",
        ]
        let strings = ["", " ", "None", "\\\\", String(repeating: "x", count: 1 << 20)]
        var lines = integers.enumerated().map { "i,id_participant=a v=\($1)i \($0)" }
        lines += floats.enumerated().map { "f,id_participant=a v=\($1) \($0)" }
        lines += strings.enumerated().map { "s,id_participant=a v=\"\($1)\" \($0)" }
        let run = try importing(["-"], input: lines.joined(separator: "\n"), in: folder)
        #expect(run.status == 0, "\(run.output)")
        func values(_ experiment: String, _ format: String) throws -> [Substring] {
            try Command.cozdb(
                [
                    "query", "--db", "x.cozdb", "--format", format, "--epoch", "ns",
                    "SELECT v FROM \(experiment)",
                ], in: folder.url
            ).lines
        }
        #expect(
            try values("i", "csv").dropFirst()
                .elementsEqual(integers.enumerated().map { "\($0),\($1)" }, by: ==))
        #expect(
            try values("f", "csv").dropFirst()
                .elementsEqual(floats.enumerated().map { "\($0),\($1)" }, by: ==))
        #expect(
            try values("s", "ndjson").elementsEqual(
                strings.enumerated().map { "{\"time\":\($0),\"v\":\"\($1)\"}" }, by: ==))
    }
}

struct WaitingImportTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        // The name ends with a zero byte during the call.
        unsafe mkfifo(folder.path("pipe"), 0o600)
    }

    @Test(arguments: [
        // Nobody opens the other end; somebody does, and says nothing; so does a standard input.
        "cozdb import --db x.cozdb pipe &",
        "sleep 20 > pipe & cozdb import --db x.cozdb pipe &",
        "sleep 20 > pipe & cozdb import --db x.cozdb --format lp pipe &",
        "sleep 20 > pipe & cozdb import --db x.cozdb --format lp - < pipe &",
    ])
    func `an import that waits for a pipe keeps nobody out`(line: String) throws {
        let run = try Command.shell(
            line + """
                 import=$!
                sleep 1
                echo 'dev,id_participant=p v=1 1' | timeout 10 cozdb write --db x.cozdb
                echo "status=$?"
                kill -0 $import && echo waiting
                kill -9 %2 %1 2> /dev/null; kill -9 $import
                """,
            in: folder.url)
        #expect(run.output.contains("ok\nstatus=0\nwaiting"), "\(run.output) \(run.errors)")
    }

    @Test func `what comes through a pipe is stored`() throws {
        let run = try Command.shell(
            """
            (sleep 1; echo 'dev,id_participant=p v=1 1') > pipe &
            cozdb import --db x.cozdb pipe && cozdb query --db x.cozdb 'SELECT count(v) FROM dev'
            """, in: folder.url)
        #expect(run.status == 0 && run.output.contains("refused  nothing"), "\(run.errors)")
    }
}
