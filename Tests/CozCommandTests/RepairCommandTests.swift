// `cozdb check` and `cozdb repair` on a damaged database: exit codes and words.

import Foundation
import Testing

struct RepairCommandTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        let lines = (0..<2000).map { row in
            "dev,id_participant=p\(row % 3) heart=\(row % 40).5,mood=\"m\(row % 4)\" \(row + 1)000"
        }
        _ = try folder.write(lines.joined(separator: "\n") + "\n", to: "lines.txt")
        let run = try Command.shell("cozdb import --db d lines.txt", in: folder.url)
        try #require(run.status == 0, "\(run.errors)")
    }

    private func shell(_ line: String) throws -> CommandRun {
        try Command.shell(line, in: folder.url)
    }

    private func files(_ path: String = "d") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path(path)).sorted()
    }

    private func damageSegment() throws -> String {
        let name = try #require(files().first { $0.hasSuffix(".seg") })
        let url = folder.url.appendingPathComponent("d/" + name)
        var bytes = try Data(contentsOf: url)
        bytes[40] ^= 1
        try bytes.write(to: url)
        return name
    }

    @Test func `one row with one value is lost as one`() throws {
        _ = try folder.write("dev,id_participant=p heart=1 1\n", to: "one.txt")
        #expect(try shell("rm -r d; cozdb import --db d one.txt").status == 0)
        _ = try damageSegment()
        let check = try shell("cozdb check --db d")
        #expect(check.output.contains("; lost: experiment \"dev\", "), "\(check.output)")
        #expect(!check.output.contains(" 1 rows"), "\(check.output)")
        #expect(!check.output.contains(" 1 values"), "\(check.output)")
        let name = try #require(files().first { $0.hasSuffix(".seg") })
        let gone = try shell("rm d/\(name); cozdb check --db d")
        #expect(
            gone.output.contains("lost: experiment \"dev\", 1 row with 1 value of all fields"),
            "\(gone.output)")
    }

    @Test func `a repair of a sound database changes nothing`() throws {
        #expect(try shell("cozdb check --db d --decode").status == 0)
        let run = try shell("cozdb repair --db d")
        #expect(run.status == 0)
        #expect(run.output == "no damage found, nothing to repair\n")
        #expect(try !files().contains("damaged"))
        #expect(try shell("cozdb repair --db absent").status == 5)
    }

    @Test func `damage is found, said, repaired and gone`() throws {
        let name = try damageSegment()
        let check = try shell("cozdb check --db d")
        #expect(check.status == 1)
        let line = try #require(check.lines.first)
        #expect(line.hasPrefix("damage: \(name), offset 37: "))
        #expect(line.contains("; lost: experiment \"dev\", "))
        #expect(line.contains("1970-01-01T00:00:00"))
        #expect(check.lines.last?.hasPrefix("1 place is damaged: read ") == true, "\(check)")
        #expect(check.errors.contains("found damage in 1 place, expected none"), "\(check)")

        let before = try files()
        let dry = try shell("cozdb repair --db d --dry-run")
        #expect(dry.status == 1)
        #expect(dry.lines.first == line)
        #expect(dry.output.hasSuffix("found damage in 1 place; nothing was changed\n"))
        #expect(try files() == before)

        let run = try shell("cozdb repair --db d")
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.lines.first == line)
        #expect(run.output.contains("repaired damage in 1 place; moved 1 file to damaged/"))
        let time = try #require(files("d/damaged").first)
        #expect(try files("d/damaged/" + time) == [name, "report.txt"].sorted())
        let report = try String(
            contentsOf: folder.url.appendingPathComponent("d/damaged/\(time)/report.txt"),
            encoding: .utf8)
        #expect(report.hasPrefix(line + "\n"))

        #expect(try shell("cozdb check --db d").status == 0)
        #expect(try shell("cozdb repair --db d").output.hasPrefix("no damage"))
        #expect(try shell("cozdb import --db d lines.txt").status == 0)
        let count = try shell("cozdb query --db d --format csv 'SELECT count(heart) FROM dev'")
        #expect(count.output.contains("2000"), "\(count.output)")
    }

    @Test func `a check needs no file for each segment`() throws {
        let lines = (0..<60).map { "m\($0),id_participant=p v=1 1" }.joined(separator: "\n")
        #expect(
            try Command.cozdb(["import", "--db", folder.path("m"), "-"], input: lines).status == 0)
        let run = try shell("ulimit -n 24; cozdb check --db m --decode")
        #expect(run.status == 0 && run.output.hasPrefix("no damage: read 62 files"), "\(run)")
    }

    @Test func `a backup is mended by the next one, not by a repair`() throws {
        #expect(try shell("cozdb backup --db d b").status == 0)
        let name = try #require(files("b").first { $0.hasSuffix(".seg") })
        _ = try shell("printf x | dd of=b/\(name) bs=1 seek=40 conv=notrunc 2> /dev/null")
        let check = try shell("cozdb check --db b")
        #expect(
            check.status == 1 && check.errors.contains("cozdb backup --db DIR --verify"), "\(check)"
        )
        let before = try files("b")
        for option in ["", "--dry-run"] {
            let repair = try shell("cozdb repair --db b \(option)")
            #expect(repair.status == 5 && repair.errors.contains("remove the file BACKUP"))
        }
        #expect(try files("b") == before)
        _ = try shell("cp -r b copy; rm copy/BACKUP")
        #expect(try shell("cozdb repair --db copy").status == 0)
        #expect(try shell("cozdb check --db copy").status == 0)
        #expect(try shell("cozdb backup --verify --db d b").status == 0)
        #expect(try shell("cozdb check --db b").status == 0)
    }

    @Test func `who has lost the manifest is told of the way back`() throws {
        _ = try shell("rm d/MANIFEST")
        for command in [
            "info --db d", "import --db d lines.txt", "backup --db d b", "forget --db d --list",
        ] {
            let run = try shell("cozdb \(command)")
            #expect(
                run.status == 5 && run.errors.contains("; run: cozdb repair --db DIR"),
                "\(command): \(run)")
        }
    }

    @Test func `json names the same`() throws {
        let name = try damageSegment()
        let run = try shell("cozdb repair --db d --format json")
        #expect(run.status == 0)
        #expect(run.output.contains("\"file\": \"\(name)\""), "\(run.output)")
        #expect(run.output.contains("\"moved\": [\"\(name)\"]"), "\(run.output)")
        #expect(run.output.contains("\"dry_run\": false"), "\(run.output)")
    }

    @Test func `a lost manifest is made again of the files`() throws {
        try FileManager.default.removeItem(atPath: folder.path("d/MANIFEST"))
        #expect(try shell("cozdb check --db d").status == 1)
        let run = try shell("cozdb repair --db d")
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("the manifest is missing"))
        #expect(run.output.contains("identity participant (tag id_participant)"))
        #expect(try shell("cozdb check --db d").status == 0)
        let count = try shell("cozdb query --db d --format csv 'SELECT count(heart) FROM dev'")
        #expect(count.output.contains("2000"), "\(count.output)")
    }

    @Test func `what was set aside is nobody's secret: forget asks what becomes of it`() throws {
        _ = try damageSegment()
        #expect(try shell("cozdb repair --db d").status == 0)
        let before = try shell("cksum d/*.seg d/MANIFEST").output
        let refused = try shell("cozdb forget --db d --participant p1")
        #expect(refused.status == 64)
        #expect(refused.errors.contains("d/damaged: found 2 files in the damaged folder"))
        #expect(refused.errors.contains("--with-damaged"))
        let dry = try shell("cozdb forget --db d --participant p1 --dry-run")
        #expect(dry.status == 0)
        #expect(dry.output.contains("damaged   2 files moved aside by cozdb repair; removing"))
        #expect(try shell("cksum d/*.seg d/MANIFEST").output == before)

        let done = try shell("cozdb forget --db d --participant p1 --with-damaged --format json")
        #expect(done.status == 0, "\(done.errors)")
        #expect(done.output.contains("\"damaged_files\": 2"), "\(done.output)")
        #expect(try !files().contains("damaged"))
        #expect(try shell("cozdb check --db d").status == 0)
        #expect(try shell("cozdb forget --db d --participant p0").status == 0)
    }
}
