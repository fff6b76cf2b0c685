// The prompt as somebody at a terminal sees it.

internal import Foundation
internal import Testing

@Suite(.serialized) struct PromptTerminalTests {
    private let folder: TemporaryFolder
    private let database: String

    init() throws {
        folder = try TemporaryFolder()
        let sample = try Command.cozdb([
            "sample", "--participants", "4", "--days", "4", "--shape", "points",
        ])
        database = folder.path("study.cozdb")
        let run = try Command.cozdb(["import", "--db", database, "-"], input: sample.output)
        #expect(run.status == 0)
    }

    private func prompt(
        _ arguments: [String] = [], environment: [String: String] = [:]
    ) throws -> PseudoTerminal {
        var all = [
            "TERM": "xterm", "HOME": folder.url.path, "PATH": "/usr/bin:/bin", "PAGER": "",
            "LC_ALL": "C",
        ]
        all.merge(environment) { $1 }
        return try PseudoTerminal(
            Command.binaries.appendingPathComponent("cozdb"),
            ["query", "--db", "study.cozdb"] + arguments, environment: all, in: folder.url)
    }

    private static let ready = "cozdb> "

    /// Ctrl-D at the next prompt: before it, a terminal would take the key as the end of a line.
    private func leave(_ terminal: PseudoTerminal, isReady: Bool = false) throws {
        if !isReady { _ = try #require(terminal.wait(for: Self.ready)) }
        try terminal.type("\u{4}")
        #expect(terminal.end() == 0)
    }

    @Test func `a statement is typed, completed, answered and called back`() throws {
        let terminal = try prompt()
        let greeting = try #require(terminal.wait(for: Self.ready))
        #expect(greeting.contains("study.cozdb: 1 experiment, "))
        #expect(greeting.contains("\\help"))
        try terminal.type("sel\tcount(ts_heart\t) FROM de\t WHERE id_part\t = 'demo_p02\t\r")
        let answer = try #require(terminal.wait(for: "-----"))
        #expect(
            answer.contains(
                "select count(ts_heart_rate) FROM demo WHERE id_participant = 'demo_p02'"),
            "\(answer)")
        _ = try #require(terminal.wait(for: Self.ready))
        // Up, and on with the same statement.
        try terminal.type("\u{1B}[A\u{8}\u{8}3'\r")
        _ = try #require(terminal.wait(for: "-----"))
        _ = try #require(terminal.wait(for: Self.ready))
        try terminal.type("\\quit\r")
        #expect(terminal.end() == 0)
        #expect(terminal.isInLineMode)
        let history = folder.path(".local/state/cozdb/history")
        let lines = try String(contentsOfFile: history, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines[1].hasSuffix("'demo_p03'"))
        #expect(lines[2] == "\\quit")

        let later = try prompt()
        _ = try #require(later.wait(for: Self.ready))
        try later.type("\u{1B}[A\u{1B}[A\r")
        let third = try #require(later.wait(for: "-----"))
        #expect(third.contains("'demo_p03'"), "\(third)")
        try leave(later)
    }

    // libedit would write outside of its memory.
    @Test func `a line may be longer than the window`() throws {
        let terminal = try prompt(["--no-history"])
        _ = try #require(terminal.wait(for: Self.ready))
        let list = (0..<400).map { "field\($0)" }.joined(separator: ", ")
        // Home, End, and on.
        try terminal.type("SELECT \(list)\u{1}\u{5}, \(list), ts_heart_rate FROM demo\r")
        _ = try #require(terminal.wait(for: "there is no field"), "\(terminal.text.suffix(400))")
        try leave(terminal)
    }

    @Test func `the window may change while a line is typed`() throws {
        let terminal = try prompt(["--no-history"])
        _ = try #require(terminal.wait(for: Self.ready))
        for columns in [100, 20, 7, 1, 150, 30, 10, 60_000, 2, 80] {
            terminal.resize(rows: columns == 7 ? 1 : 5, columns: UInt16(columns))
            // The end of what is typed, which no row cuts, is what comes back.
            try terminal.type("SELECT aaaa, bbbb, cccc, dddd, eeee FROM \(columns) ;")
            _ = terminal.wait(for: ";")
        }
        terminal.resize(rows: 24, columns: 100)
        try terminal.type("\u{15}SELECT count(ts_heart_rate) FROM demo\r")
        _ = try #require(terminal.wait(for: "-----"), "\(terminal.text.suffix(400))")
        try leave(terminal)
    }

    // Both end libedit with a crash.
    @Test func `quotes that are not closed reach none of libedit's commands`() throws {
        _ = try folder.write("cozdb:bind 'x\n", to: ".editrc")
        let terminal = try prompt(["--no-history"])
        _ = try #require(terminal.wait(for: Self.ready))
        try terminal.type("\u{1B}xa'\r")
        try terminal.type("\u{15}\rSELECT count(ts_heart_rate) FROM demo\r")
        _ = try #require(terminal.wait(for: "-----"), "\(terminal.text.suffix(400))")
        try leave(terminal)
    }

    @Test func `a line that is too long is refused as a whole`() throws {
        let terminal = try prompt(["--no-history"])
        _ = try #require(terminal.wait(for: Self.ready))
        for _ in 0..<10 {
            try terminal.type(String(repeating: "DROP ", count: 400))
            usleep(50_000)
        }
        try terminal.type("MEASUREMENT demo\r")
        let answer = try #require(terminal.wait(for: "--file"), "\(terminal.text.suffix(400))")
        #expect(answer.contains("more than 16384 characters"))
        _ = try #require(terminal.wait(for: Self.ready))
        try terminal.type("SELECT count(ts_heart_rate) FROM demo\r")
        _ = try #require(terminal.wait(for: "-----"))
        try leave(terminal)
    }

    @Test func `names and text are UTF-8 whatever the locale says`() throws {
        let terminal = try prompt(["--no-history"])
        _ = try #require(terminal.wait(for: Self.ready))
        // A wide character is typed, removed and replaced.
        try terminal.type("SELECT \"漢\u{7F}é字\" FROM demo\r")
        let answer = try #require(terminal.wait(for: "^"))
        #expect(answer.contains("no field or tag \"é字\""), "\(answer)")
        #expect(answer.contains("  SELECT \"é字\" FROM demo\n         ^"), "\(answer)")
        try leave(terminal)
        #expect(!FileManager.default.fileExists(atPath: folder.path(".local")))
    }

    @Test func `Ctrl-C ends a statement or a line, not the prompt`() throws {
        let terminal = try prompt()
        _ = try #require(terminal.wait(for: Self.ready))
        try terminal.type("SELECT nothing of")
        // A terminal drops with Ctrl-C what was typed and not read yet.
        _ = try #require(terminal.wait(for: "nothing of"))
        try terminal.type("\u{3}")
        _ = try #require(terminal.wait(for: Self.ready))
        // Completion has started threads of the library, to which a signal may come as well.
        try terminal.type("SELECT ts_\t")
        _ = try #require(terminal.wait(for: "cozdb> SELECT ts_"))
        try terminal.type("\u{3}")
        _ = try #require(terminal.wait(for: Self.ready))
        try terminal.type("\u{3}")
        #expect(try #require(terminal.wait(for: Self.ready)).contains("Ctrl-D or type \\quit to"))
        // An answer of millions of rows; the first of them say that it runs.
        try terminal.type("SELECT mean(ts_heart_rate) FROM demo WHERE time > 0 GROUP BY time(1h)\r")
        _ = try #require(terminal.wait(for: "--\n1970"))
        try terminal.type("\u{3}")
        #expect(try #require(terminal.wait(for: Self.ready)).contains("cancelled"))
        try terminal.type("SHOW MEASUREMENTS\r")
        #expect(try #require(terminal.wait(for: Self.ready)).contains("demo\n"))
        try terminal.type("quit\r")
        #expect(terminal.end() == 0)
        #expect(terminal.isInLineMode)
    }

    @Test func `each statement sees what others have written, and can write itself`() throws {
        let terminal = try prompt()
        _ = try #require(terminal.wait(for: Self.ready))
        let line = "new,id_participant=p v=1i 1\n"
        #expect(
            try Command.cozdb(["import", "--db", database, "-"], input: line).status == 0)
        try terminal.type("SELECT v FROM n\t\r")
        #expect(try #require(terminal.wait(for: Self.ready)).contains("name: new"))
        try terminal.type("ALTER EXPERIMENT new FIELD v TYPE float\r")
        _ = try #require(terminal.wait(for: Self.ready))
        try terminal.type("\\fields new\r")
        #expect(try #require(terminal.wait(for: Self.ready)).contains("float"))
        // The lock is free between statements.
        #expect(
            try Command.cozdb(["import", "--db", database, "-"], input: line).status == 0)
        try leave(terminal, isReady: true)
    }

    @Test func `a change while another process has is refused, reading is not`() throws {
        let writer = Process()
        writer.executableURL = Command.binaries.appendingPathComponent("cozdb")
        writer.arguments = ["write", "--db", database]
        let (input, output) = (Pipe(), Pipe())
        writer.standardInput = input
        writer.standardOutput = output
        try writer.run()
        try input.fileHandleForWriting.write(contentsOf: Data("new,id_participant=p v=1i 1\n".utf8))
        #expect(try output.fileHandleForReading.read(upToCount: 3) == Data("ok\n".utf8))

        let terminal = try prompt()
        _ = try #require(terminal.wait(for: Self.ready))
        try terminal.type("ALTER EXPERIMENT new FIELD v TYPE float\r")
        #expect(
            try #require(terminal.wait(for: Self.ready)).contains("another process has"))
        try terminal.type("SELECT v FROM new\r")
        #expect(try #require(terminal.wait(for: Self.ready)).contains("name: new"))
        try input.fileHandleForWriting.close()
        writer.waitUntilExit()
        try terminal.type("ALTER EXPERIMENT new FIELD v TYPE float\r")
        #expect(try !#require(terminal.wait(for: Self.ready)).contains("another process"))
        try leave(terminal, isReady: true)
    }

    @Test func `statements over several lines, switches and errors`() throws {
        let terminal = try prompt(["--now", "2024-03-05T00:00:00Z"])
        _ = try #require(terminal.wait(for: Self.ready))
        try terminal.type("SELECT count(nothing_such)\r")
        _ = try #require(terminal.wait(for: "   ... "))
        try terminal.type("FROM demo\r")
        let error = try #require(terminal.wait(for: Self.ready))
        #expect(error.contains("1 | SELECT count(nothing_such)\n    |              ^"), "\(error)")
        try terminal.type("\\format csv\r\\epoch s\r\\timing on\r\\now\r")
        #expect(try #require(terminal.wait(for: "\\now 2024")).contains("\\timing on"))
        try terminal.type("SELECT count(ts_heart_rate) FROM demo\r")
        let answer = try #require(terminal.wait(for: "elapsed_ms="))
        #expect(answer.contains("time,count\n0,"), "\(answer)")
        try terminal.type("\\format xml\r")
        #expect(terminal.wait(for: "expected table, csv, json") != nil)
        try leave(terminal)
    }

    @Test func `long answers go through the pager, short ones do not`() throws {
        let terminal = try prompt(environment: ["PAGER": "sed 's/^/page: /'"])
        _ = try #require(terminal.wait(for: Self.ready))
        try terminal.type("SHOW MEASUREMENTS\r")
        #expect(try !#require(terminal.wait(for: Self.ready)).contains("page: "))
        try terminal.type("SHOW FIELD KEYS FROM demo\r")
        #expect(try #require(terminal.wait(for: Self.ready)).contains("page: name: demo"))
        try terminal.type("\\pager off\rSHOW FIELD KEYS FROM demo\r")
        #expect(try #require(terminal.wait(for: "\nname: demo")).contains("\\pager off"))
        try leave(terminal)
    }

    @Test func `a pager that is left early ends the statement`() throws {
        let terminal = try prompt(environment: ["PAGER": "head -n 3"])
        _ = try #require(terminal.wait(for: Self.ready))
        try terminal.type("SELECT mean(ts_heart_rate) FROM demo WHERE time > 0 GROUP BY time(1h)\r")
        let answer = try #require(terminal.wait(for: Self.ready))
        #expect(answer.contains("-----") && !answer.contains("cozdb:"), "\(answer)")
        try leave(terminal, isReady: true)
    }

    @Test func `the terminal is put back when the prompt is killed`() throws {
        let terminal = try prompt()
        _ = try #require(terminal.wait(for: Self.ready))
        let end = Date() + 10
        while terminal.isInLineMode, Date() < end { usleep(10_000) }
        #expect(!terminal.isInLineMode, "libedit edits the line")
        // Ctrl-\ is SIGQUIT.
        try terminal.type("half a line\u{1C}")
        #expect(terminal.end() != 0)
        #expect(terminal.isInLineMode)
    }

    @Test func `a database that is not there is told before any prompt`() throws {
        let terminal = try PseudoTerminal(
            Command.binaries.appendingPathComponent("cozdb"), ["query", "--db", "missing"],
            environment: ["TERM": "xterm"], in: folder.url)
        #expect(terminal.end() == 5)
        #expect(!terminal.text.contains(Self.ready))
    }
}
