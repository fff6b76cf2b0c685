// Inputs that never end: each has a limit, which the message names.

internal import Foundation
internal import Testing

struct InputLimitTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        let run = try Command.cozdb(
            ["import", "--db", folder.path("study.cozdb"), "-"],
            input: "dev,id_participant=p v=1 1\n")
        #expect(run.status == 0)
        let backup = try Command.cozdb([
            "backup", "--db", folder.path("study.cozdb"), folder.path("backup"),
        ])
        #expect(backup.status == 0, "\(backup.errors)")
    }

    @Test(arguments: [
        ("query --db study.cozdb - < /dev/zero", "1048576 bytes", "--max-text"),
        ("query --db study.cozdb --file /dev/zero", "1048576 bytes", "--max-text"),
        ("query --db study.cozdb --max-text 2M --file /dev/zero", "2097152 bytes", "--max-text"),
        ("survey /dev/zero", "16777216 bytes", "expected at most"),
        ("survey - < /dev/zero", "16777216 bytes", "expected at most"),
        ("forget --db study.cozdb --forgotten /dev/zero", "67108864 bytes", "expected at most"),
        (
            "restore backup --db restored --forgotten /dev/zero", "67108864 bytes",
            "expected at most"
        ),
    ])
    func `an input without end is refused`(line: String, limit: String, word: String) throws {
        let run = try Command.shell("timeout 30 cozdb \(line)", in: folder.url)
        #expect(run.status == 6, "\(run.errors)")
        #expect(run.errors.contains(limit) && run.errors.contains(word), "\(run.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder.path("restored")))
    }

    @Test(arguments: ["/dev/stdin -", "- /dev/fd/0", "pipe pipe", "pipe link"])
    func `a pipe that is given twice is refused`(files: String) throws {
        let run = try Command.shell(
            """
            mkfifo pipe; ln -s pipe link
            seq 999 | sed 's/.*/m,id_participant=p v=&i &/' |
                timeout 20 cozdb import --db d \(files)
            """, in: folder.url)
        #expect(run.status == 64, "\(run)")
        #expect(run.errors.contains("can be read only once; give it once"), "\(run.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder.path("d")))
    }

    @Test func `two pipes are two inputs`() throws {
        let run = try Command.shell(
            """
            mkfifo a b
            echo 'm,id_participant=p v=1i 1' > a &
            echo 'm,id_participant=p v=2i 2' > b &
            echo 'm,id_participant=p v=4i 3' | timeout 20 cozdb import --db d a b - > summary
            cozdb query --db d --format csv --epoch ns 'SELECT sum(v) FROM m'
            """, in: folder.url)
        #expect(run.lines.last == "0,7", "\(run)")
    }

    @Test(.disabled(if: Command.isSanitized, "a sanitizer needs more than this limit"))
    func `a long comment is read once, and in no more memory than the least allowed`() throws {
        // Of a pipe, every byte can be read only once.
        let run = try Command.shell(
            """
            mkfifo pipe
            (echo 'm,id_participant=p v=1i 1'; printf '# '; head -c 67108864 /dev/zero | tr '\\0' x
            printf '\\nm,id_participant=p v=2i 2\\n') > pipe &
            ulimit -v \(256 << 10); timeout 60 cozdb import --db study.cozdb pipe
            echo "status $?"; cozdb rejects --db study.cozdb list
            cozdb query --db study.cozdb --format csv --epoch ns 'SELECT sum(v) FROM m'
            """, in: folder.url)
        #expect(run.lines.last == "0,3", "\(run)")
        #expect(run.output.contains("status 7"), "\(run)")
        #expect(run.output.contains("a line of more than 33554432 bytes"))
    }

    @Test func `many equal lines take little space in the rejects journal`() throws {
        let run = try Command.shell(
            """
            yes x | head -100000 | gzip > x.gz
            cozdb import --db study.cozdb x.gz || echo "status $?"
            cozdb rejects --db study.cozdb list
            du -s --block-size=1 study.cozdb/rejects
            """, in: folder.url)
        #expect(run.output.contains("refused  100,000 lines, 0 points"), "\(run)")
        #expect(run.output.contains("status 7"))
        #expect(run.output.contains("(and 99,999 more equal lines, up to line 100000)"), "\(run)")
        let size = run.lines.last.flatMap { Int($0.prefix { $0 != "\t" }) }
        #expect((size ?? .max) <= 16_384, "\(run.lines)")
    }

    @Test func `days without data are not made by the million`() throws {
        let fields = (0..<10).map { "ts_f\($0)=1" }.joined(separator: ",")
        let lines = [Int64.min + 2, 1_700_000_000_000_000_000, Int64.max - 1].map { time in
            "dev,id_participant=p ws_survey_count=1i,\(fields) \(time)\n"
        }
        let made = try Command.cozdb(
            ["import", "--db", folder.path("clock.cozdb"), "-"], input: lines.joined())
        #expect(made.status == 0, "\(made.errors)")
        let run = try Command.shell(
            "timeout 30 cozdb study --db clock.cozdb dev availability", in: folder.url)
        #expect(run.status == 6, "\(run)")
        #expect(run.errors.contains("per day from 1677-09-21 to 2262-04-11"), "\(run.errors)")
        let short = try Command.shell(
            "cozdb study --db clock.cozdb dev availability --from 2023-11-01 --to 2023-12-01",
            in: folder.url)
        #expect(short.status == 0, "\(short.errors)")
    }

    @Test func `a text of just the limit is read`() throws {
        let statement = "SELECT v FROM dev"
        let blanks = String(repeating: " ", count: (1 << 20) - statement.utf8.count)
        let file = try folder.write(statement + blanks, to: "text")
        let run = try Command.cozdb(["query", "--db", folder.path("study.cozdb"), "--file", file])
        #expect(run.status == 0, "\(run.errors)")
    }
}
