// Data on a terminal: what would steer it is escaped, whatever the command; a pipe gets the bytes.

internal import Foundation
internal import Testing

@testable internal import CozCommand

@Suite(.serialized) struct TerminalOutputTests {
    private let folder: TemporaryFolder

    /// C0, DEL, C1, an Arabic letter mark, two that end lines, one that reorders.
    private static let hostile = "\u{1B}]0;x\u{7}\u{7F}\u{9B}31m\u{61C}\u{2028}\u{202E}ü"
    private static let scalars: [Unicode.Scalar] = [
        "\u{1B}", "\u{7}", "\u{7F}", "\u{9B}", "\u{61C}", "\u{2028}", "\u{202E}",
    ]

    init() throws {
        folder = try TemporaryFolder()
        let text = Self.hostile
        let line = "ev\(text),id_participant=p\(text) v\(text)=\"t\(text)\",n=1i 1\n"
        let run = try Command.cozdb(
            ["import", "--db", folder.path("study.cozdb"), "-"],
            input: line + line.replacingOccurrences(of: ",n=1i", with: ",n=\"\(text)\""))
        #expect(run.status == 7, "\(run.errors)")
    }

    /// What a terminal is given.
    private func bytes(_ arguments: [String]) throws -> [UInt8] {
        let terminal = try PseudoTerminal(
            Command.binaries.appendingPathComponent("cozdb"), arguments,
            environment: [
                "TERM": "dumb", "HOME": folder.url.path, "PATH": "/usr/bin:/bin", "PAGER": "",
            ], in: folder.url)
        _ = terminal.end()
        var bytes = terminal.bytes
        // What was written before the end may come a moment later.
        for _ in 0..<200 {
            usleep(5_000)
            if terminal.bytes.count == bytes.count, !bytes.isEmpty { break }
            bytes = terminal.bytes
        }
        return bytes.filter { $0 != 0x0D }
    }

    private static let db = ["--db", "study.cozdb"]

    @Test(arguments: [
        ["query"] + db + ["--format", "csv", "SELECT * FROM /ev/"],
        ["query"] + db + ["--format", "lp", "SELECT * FROM /ev/"],
        ["query"] + db + ["--format", "json", "SELECT * FROM /ev/"],
        ["query"] + db + ["--format", "ndjson", "SELECT * FROM /ev/"],
        ["query"] + db + ["--format", "influx-json", "SELECT * FROM /ev/"],
        ["query"] + db + ["--format", "table", "SELECT * FROM /ev/"],
        ["query"] + db + ["SELECT \(hostile)"],
        ["query"] + db + ["--format", hostile, "SHOW MEASUREMENTS"],
        ["query"] + db + ["--\(hostile)"],
        ["export"] + db + ["--format", "csv"], ["export"] + db + ["--format", "ndjson"],
        ["export"] + db + ["--format", "cozie-csv"], ["export"] + db + ["--format", "lp"],
        ["rejects"] + db + ["list"], ["rejects"] + db + ["export"],
        ["rejects"] + db + ["export", "--format", "ndjson"],
        ["inspect", "study.cozdb/MANIFEST"], ["info"] + db, ["schema"] + db,
        ["info"] + db + ["--format", "json"], ["schema"] + db + ["--format", "json"],
        ["study"] + db + ["--show-statements", "--experiment", "ev\(hostile)"],
        ["survey", "no\(hostile)"], ["import", "--db", "other", "no\(hostile)"],
    ])
    func `a terminal is given nothing that steers it`(arguments: [String]) throws {
        let found = try bytes(arguments)
        let text = try #require(String(validating: found, as: UTF8.self))
        #expect(!text.isEmpty)
        for scalar in text.unicodeScalars where scalar != "\n" && scalar != "\t" {
            #expect(
                scalar.value >= 0x20 && !Self.scalars.contains(scalar),
                "U+\(String(scalar.value, radix: 16)) of \(arguments)")
        }
    }

    @Test func `JSON on a terminal says what it says in a pipe`() throws {
        let statement = ["query"] + Self.db + ["--format", "json", "SELECT * FROM /ev/"]
        let shown = try JSONSerialization.jsonObject(with: Data(try bytes(statement)))
        let run = try Command.shell(
            "cozdb query --db study.cozdb --format json 'SELECT * FROM /ev/'", in: folder.url)
        let piped = try JSONSerialization.jsonObject(with: Data(run.output.utf8))
        #expect(shown as? NSArray == piped as? NSArray)
    }

    @Test(arguments: ["csv", "lp"])
    func `a pipe is given the bytes`(format: String) throws {
        let run = try Command.shell(
            "cozdb query --db study.cozdb --format \(format) 'SELECT * FROM /ev/'",
            in: folder.url)
        #expect(run.output.contains("t" + Self.hostile))
    }

    @Test func `the report of a repair is safe to look at`() throws {
        let database = folder.path("study.cozdb")
        let segment = try #require(
            FileManager.default.contentsOfDirectory(atPath: database)
                .first { $0.hasSuffix(".seg") })
        let file = URL(fileURLWithPath: database).appendingPathComponent(segment)
        var damaged = try Data(contentsOf: file)
        damaged[70] ^= 0x41
        try damaged.write(to: file)
        let run = try Command.cozdb(["repair", "--db", database])
        #expect(run.status == 0, "\(run.errors)")
        let reports = try Command.shell("cat study.cozdb/damaged/*/report.txt", in: folder.url)
        #expect(reports.output.contains("ev\\u{1b}]0;x"), "\(reports.output)")
        #expect(!reports.output.unicodeScalars.contains { Self.scalars.contains($0) })
    }

    // MARK: The function

    @Test func `characters that come in pieces are put together`() {
        let text = "a\u{9B}b\u{202E}ü漢😀\n\tc"
        for size in 1...5 {
            var terminal = TerminalText()
            var result: [UInt8] = []
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                let piece = Array(rest.prefix(size))
                rest = rest.dropFirst(size)
                result += terminal.escaped(piece, isLast: rest.isEmpty)
            }
            #expect(String(decoding: result, as: UTF8.self) == "a\\u009bb\\u202eü漢😀\n\tc")
        }
    }

    @Test func `bytes that are no text are shown as bytes`() {
        var terminal = TerminalText()
        let result = terminal.escaped([0x61, 0x9B, 0xE2, 0x80, 0x62, 0xF0, 0x9F])
        #expect(String(decoding: result, as: UTF8.self) == "a\\x9b\\xe2\\x80b\\xf0\\x9f")
    }
}
