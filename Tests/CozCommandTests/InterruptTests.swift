// Ctrl-C while `cozdb query` computes, and limits as options.

internal import Foundation
internal import Glibc
internal import Testing

struct InterruptTests {
    private func makeDatabase(_ folder: TemporaryFolder) throws -> String {
        let database = folder.path("x.cozdb")
        let lines = (0..<3000).map { "m,id_participant=p\($0 % 3) v=\($0)i \($0)000000000\n" }
        let run = try Command.cozdb(["import", "--db", database, "-"], input: lines.joined())
        #expect(run.status == 0)
        return database
    }

    /// Runs a command that takes long, interrupts it, and tells how it ended and how long that
    /// took.
    private func interrupt(
        _ arguments: [String], after seconds: Double, _ folder: TemporaryFolder
    ) throws -> (status: Int32, seconds: Double, output: String, errors: String) {
        let process = Process()
        process.executableURL = Command.binaries.appendingPathComponent("cozdb")
        process.arguments = arguments
        process.currentDirectoryURL = folder.url
        let files = try ["out", "err"].map { name in
            URL(fileURLWithPath: try folder.write("", to: name))
        }
        process.standardOutput = try FileHandle(forWritingTo: files[0])
        process.standardError = try FileHandle(forWritingTo: files[1])
        try process.run()
        Thread.sleep(forTimeInterval: seconds)
        #expect(process.isRunning, "the command takes long")
        let start = ContinuousClock.now
        kill(process.processIdentifier, SIGINT)
        process.waitUntilExit()
        return (
            process.terminationStatus, (ContinuousClock.now - start) / .seconds(1),
            try String(contentsOf: files[0], encoding: .utf8),
            try String(contentsOf: files[1], encoding: .utf8)
        )
    }

    @Test(arguments: [
        "SELECT count(v) FROM m WHERE time >= 0s AND time < 9000000s GROUP BY time(1s)",
        "SELECT max(c) FROM (SELECT count(v) AS c FROM m WHERE time >= 0s AND time < 9000000s "
            + "GROUP BY time(1s) fill(0))",
    ])
    func `Ctrl-C ends a query with status 130 and whole lines`(_ statement: String) throws {
        let folder = try TemporaryFolder()
        let database = try makeDatabase(folder)
        // Many, because one may end before the signal.
        let statements = Array(repeating: statement, count: 50).joined(separator: "; ")
        let ended = try interrupt(
            ["query", "--db", database, "--format", "csv", statements], after: 0.7, folder)
        #expect(ended.status == 130, "\(ended.errors)")
        // After two seconds the command would end itself, in the middle of a line.
        #expect(ended.seconds < 1.9)
        #expect(ended.output.isEmpty || ended.output.hasSuffix("\n"))
        #expect(ended.errors.contains("cancelled"))
    }

    @Test(arguments: [
        "import --db k pipe", "import --db k --format lp x.lp pipe",
        "query --db x.cozdb --file pipe",
        "forget --db x.cozdb --forgotten pipe", "restore x.cozdb --db r --forgotten pipe",
        "export --db x.cozdb --format lp --output pipe", "survey pipe",
    ])
    func `Ctrl-C ends the wait for the other end of a pipe`(_ command: String) throws {
        let folder = try TemporaryFolder()
        _ = try makeDatabase(folder)
        _ = try folder.write("m,id_participant=p v=1i 1\n", to: "x.lp")
        unsafe mkfifo(folder.path("pipe"), 0o600)
        let arguments = command.split(separator: " ").map(String.init)
        let ended = try interrupt(arguments, after: 0.7, folder)
        #expect(ended.status == 130, "\(ended.errors)")
        // After two seconds the command would end itself, without a word.
        #expect(ended.seconds < 1.9)
        #expect(ended.errors.contains("interrupted;") || ended.errors.contains("was cancelled"))
        #expect(ended.errors.split(separator: "\n").count == 1, "\(ended.errors)")
    }

    // With a line it waits for the 4 KiB that tell the format, and has not opened the database.
    @Test(arguments: [1, 400])
    func `Ctrl-C ends an import that waits for more of a pipe`(lineCount: Int) throws {
        let folder = try TemporaryFolder()
        unsafe mkfifo(folder.path("pipe"), 0o600)
        // Opened for both, so that nobody waits for the other end and the data does not end.
        let pipe = unsafe open(folder.path("pipe"), O_RDWR)
        defer { close(pipe) }
        let line = Array(String(repeating: "m,id_participant=p v=1i 1\n", count: lineCount).utf8)
        let written = unsafe line.withUnsafeBytes { bytes in
            unsafe write(pipe, bytes.baseAddress, bytes.count)
        }
        #expect(written == line.count)
        let ended = try interrupt(["import", "--db", "k", "pipe"], after: 0.7, folder)
        #expect(ended.status == 130, "\(ended.errors)")
        #expect(ended.seconds < 1.9)
        #expect(ended.errors.contains("pipe: the import was cancelled"), "\(ended.errors)")
        let check = try Command.cozdb(["check", "--db", "k"], in: folder.url)
        #expect(check.status == (lineCount == 1 ? 5 : 0), "\(check)")
    }

    @Test(arguments: [
        (["--max-rows", "10"], "SELECT v FROM m", "rowCountMax"),
        (["--max-groups", "2"], "SELECT count(v) FROM m GROUP BY id_participant", "groupCountMax"),
        (
            ["--max-buckets", "9"],
            "SELECT count(v) FROM m WHERE time > 0 AND time < 100s GROUP BY time(1s)",
            "bucketCountMax"
        ),
        (["--max-memory", "10K"], "SELECT median(v) FROM m", "memorySizeBytesMax"),
        (["--max-text", "5"], "SELECT v FROM m", "textSizeBytesMax"),
        (["--max-time", "0s"], "SELECT v FROM m", "durationMax"),
    ])
    func `going beyond a limit is 6 and names limit and option`(
        _ option: [String], _ statement: String, _ name: String
    ) throws {
        let folder = try TemporaryFolder()
        let database = try makeDatabase(folder)
        let run = try Command.cozdb(["query", "--db", database] + option + [statement])
        #expect(run.status == 6)
        #expect(run.errors.contains("(\(name))"))
        #expect(run.errors.contains("use \(option[0]) to raise the limit"))
        let usual = try Command.cozdb(["query", "--db", database, statement])
        #expect(usual.status == 0)
    }

    @Test(arguments: [
        ["--max-rows", "0"], ["--max-memory", "much"], ["--max-memory", "9999999999G"],
        ["--max-nesting", "501"], ["--max-text", "65M"], ["--max-time", "30"],
    ])
    func `a limit that is none is wrong usage`(_ option: [String]) throws {
        let run = try Command.cozdb(["query", "--db", "x"] + option + ["SHOW MEASUREMENTS"])
        #expect(run.status == 64, "\(run.errors)")
    }
}
