// `cozdb backup` and `cozdb restore`, beside an import and on their own.

internal import CozTestSupport
internal import Foundation
internal import Testing

struct BackupCommandTests {
    private static let batchRows = 50

    /// Made-up points; field k counts the lines.
    private func points(_ count: Int, in folder: TemporaryFolder) throws -> String {
        var lines = ""
        for line in 0..<count {
            lines += "m,id_participant=p\(line % 37) v=\(line).5,k=\(line)i \(line * 1_000_003)\n"
        }
        return try folder.write(lines, to: "points.lp")
    }

    private func count(_ statement: String, _ database: String) throws -> Int {
        let run = try Command.cozdb(["query", "--db", database, "--format", "csv", statement])
        guard run.status == 0, run.lines.count > 1 else { return 0 }
        return Int(run.lines[1].split(separator: ",")[1]) ?? 0
    }

    private func expectPrefix(_ database: String, atLeast: Int) throws {
        let check = try Command.cozdb(["check", "--db", database])
        #expect(check.status == 0, "\(check.output) \(check.errors)")
        let rows = try count("SELECT count(k) FROM m", database)
        #expect(rows >= atLeast)
        #expect(rows % Self.batchRows == 0)
        #expect(try count("SELECT count(k) FROM m WHERE k < \(rows)", database) == rows)
    }

    @Test func `backups beside an import hold what was reported, and are restored`() throws {
        let folder = try TemporaryFolder()
        let file = try points(6000, in: folder)
        let database = folder.path("x.cozdb")
        #expect(try Command.cozdb(["import", "--db", database, "-"]).status == 0)
        let errors = URL(fileURLWithPath: try folder.write("", to: "errors"))
        let process = Process()
        process.executableURL = Command.binaries.appendingPathComponent("cozdb")
        process.arguments = [
            "import", "--db", database, "--progress", "plain", "--batch-rows",
            "\(Self.batchRows)", file,
        ]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = try FileHandle(forWritingTo: errors)
        try process.run()
        var rounds = 0
        while process.isRunning || rounds < 2 {
            let reported = try committed(errors)
            let run = try Command.cozdb(["backup", "--db", database, folder.path("backup")])
            #expect(run.status == 0, "\(run.errors)")
            try expectPrefix(folder.path("backup"), atLeast: reported)
            rounds += 1
        }
        #expect(process.terminationStatus == 0)
        #expect(
            try Command.cozdb(["restore", folder.path("backup"), "--db", folder.path("y.cozdb")])
                .status == 0)
        try expectPrefix(folder.path("y.cozdb"), atLeast: 0)
    }

    /// The last N of the whole lines `committed N`.
    private func committed(_ errors: URL) throws -> Int {
        let lines = String(decoding: try Data(contentsOf: errors), as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        guard let last = lines.last(where: { $0.hasPrefix("committed ") }) else { return 0 }
        return Int(last.dropFirst("committed ".count)) ?? 0
    }

    @Test func `a killed backup or restore is refused, and finished by the same command`() throws {
        let folder = try TemporaryFolder()
        let database = folder.path("x.cozdb")
        let imported = try Command.cozdb(["import", "--db", database, points(20_000, in: folder)])
        #expect(imported.status == 0)
        var random = SeededRandom(seed: 7)
        for command in ["backup", "restore"] {
            let target = folder.path(command == "backup" ? "backup" : "restored")
            let arguments =
                command == "backup"
                ? ["backup", "--db", database, target]
                : ["restore", folder.path("backup"), "--db", target]
            for _ in 0..<12 {
                let process = Process()
                process.executableURL = Command.binaries.appendingPathComponent("cozdb")
                process.arguments = arguments
                // Killed, it would leave half a file of counts of coverage.
                process.environment = Command.environment
                process.standardOutput = FileHandle.nullDevice
                process.standardError = FileHandle.nullDevice
                try process.run()
                usleep(UInt32.random(in: 1000...60_000, using: &random))
                kill(process.processIdentifier, SIGKILL)
                process.waitUntilExit()
                let check = try Command.cozdb(["check", "--db", target])
                if check.status != 0 {
                    #expect(check.status == 5, "\(check.output) \(check.errors)")
                    continue
                }
                #expect(try count("SELECT count(k) FROM m", target) == 20_000)
            }
            let run = try Command.cozdb(arguments)
            #expect(run.status == 0 || command == "restore" && run.status == 5, "\(run.errors)")
            #expect(try count("SELECT count(k) FROM m", target) == 20_000)
            #expect(try Command.cozdb(["check", "--db", target]).status == 0)
        }
        #expect(try Command.cozdb(["check", "--db", database]).status == 0)
    }

    @Test func `both say what they did, and refuse with advice`() throws {
        let folder = try TemporaryFolder()
        let database = folder.path("x.cozdb")
        #expect(
            try Command.cozdb(["import", "--db", database, points(100, in: folder)]).status == 0)
        let target = folder.path("backup")
        let first = try Command.cozdb(["backup", "--db", database, target])
        #expect(first.status == 0)
        #expect(first.output.contains("copied   2 files"), "\(first.output)")
        let next = try Command.cozdb(["backup", "--db", database, "--format", "json", target])
        #expect(next.output.contains("\"incremental\": true"), "\(next.output)")
        #expect(next.output.contains("\"reused_files\": 1"))
        let write = try Command.cozdb(["import", "--db", target, folder.path("points.lp")])
        #expect(write.status == 5)
        #expect(write.errors.contains("; run: cozdb restore BACKUP --db DIR\n"))
        let full = try Command.cozdb(["restore", target, "--db", database])
        #expect(full.status == 5)
        #expect(full.errors.contains("Name another directory"))
        let nothing = try Command.cozdb(["backup", "--db", folder.path("none"), folder.path("new")])
        #expect(nothing.status == 5)
        #expect(!FileManager.default.fileExists(atPath: folder.path("new")))
        for name in ["MANIFEST", "BACKUP"] {
            let mode = try FileManager.default.attributesOfItem(atPath: "\(target)/\(name)")
            #expect(mode[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test func `a copy into what is copied is refused by name, and nothing is written`() throws {
        let folder = try TemporaryFolder()
        let run = try Command.shell(
            """
            echo 'm,id_participant=p1 k=1 1' | cozdb import --db d -
            cozdb backup --db d b && mkdir d/there && ln -s d/there link && ln -s d alias
            mkdir around && mv d around/e && ln -s around/e d
            """, in: folder.url)
        #expect(run.status == 0, "\(run.errors)")
        let list = "find . -printf '%p %s %T@\n' | sort"
        let before = try Command.shell(list, in: folder.url).output
        for (target, found) in [
            ("d", "the directory of the database itself"), ("d/", "the directory of the database"),
            ("./alias", "the directory of the database itself"),
            ("d/new", "a directory inside the database"),
            ("d/there", "a directory inside the database"),
            ("d/there/", "a directory inside the database"),
            ("link", "a directory inside the database"),
            ("link/new", "a directory inside the database"),
            ("alias/../e/new", "a directory inside the database"),
            ("d/new/newer/newest", "a directory inside the database"),
            ("around", "a directory that contains the database"),
            (".", "a directory that contains the database"),
            ("..", "a directory that contains the database"),
            ("/", "a directory that contains the database"),
        ] {
            let run = try Command.shell("cozdb backup --db d '\(target)'", in: folder.url)
            #expect(run.status == 5, "\(target): \(run.output) \(run.errors)")
            #expect(run.errors.contains("found \(found)"), "\(target): \(run.errors)")
            #expect(run.errors.contains("nothing was written. Choose another"), "\(run.errors)")
        }
        for target in ["b", "b/new", "."] {
            let run = try Command.shell("cozdb restore b --db '\(target)'", in: folder.url)
            #expect(run.status == 5 && run.errors.contains("nothing was written"), "\(target)")
        }
        #expect(try Command.shell(list, in: folder.url).output == before)
        // Beside it is apart from it.
        #expect(try Command.shell("cozdb backup --db d around/b", in: folder.url).status == 0)
        #expect(try Command.shell("cozdb backup --db d ./b/../c", in: folder.url).status == 0)
    }

    @Test func `a list of those forgotten since is applied before a restore is whole`() throws {
        let folder = try TemporaryFolder()
        func shell(_ line: String) throws -> CommandRun {
            try Command.shell(line, in: folder.url)
        }
        let lines = (0..<90).map { line in
            "m,id_participant=p\(line % 3) k=\(line)i,t=\"of p\(line % 3)\" \(line)"
        }
        _ = try folder.write(lines.joined(separator: "\n") + "\n", to: "lines.lp")
        let made = try shell(
            """
            cozdb import --db d lines.lp && cozdb backup --db d b || exit 1
            cozdb forget --db d --participant p1 && cozdb forget --db d --list > list || exit 2
            """)
        #expect(made.status == 0, "\(made.errors)")
        let run = try shell("cozdb restore b --db r --forgotten list")
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("forgot   30 rows"), "\(run.output)")
        let json = try shell("cozdb restore b --db s --forgotten - --format json < list")
        #expect(json.output.contains("\"forgotten_rows\": 30"), "\(json.output) \(json.errors)")
        for name in ["r", "s"] {
            #expect(try count("SELECT count(k) FROM m", folder.path(name)) == 60)
            #expect(try shell("cozdb check --db \(name)").status == 0)
            #expect(try shell("grep -c 'of p1' \(name)/* | grep -v ':0'").output == "")
            let late = try shell("cozdb import --db \(name) lines.lp")
            #expect(late.status == 7 && late.output.contains("of forgotten"), "\(late)")
        }
        // The backup still has them, and a wrong list makes nothing.
        #expect(try count("SELECT count(k) FROM m", folder.path("b")) == 90)
        let wrong = try shell("head -c 40 list | cozdb restore b --db t --forgotten -")
        #expect(wrong.status == 64 && !FileManager.default.fileExists(atPath: folder.path("t")))
        let missing = try shell("cozdb restore b --db t --forgotten none")
        #expect(missing.status == 5 && !FileManager.default.fileExists(atPath: folder.path("t")))
    }
}
