// Few open files, small files, full disks: one message, the exit status of the contract, and a
// database that goes on.

internal import CozTestSupport
internal import Foundation
internal import Testing

@Suite(.disabled(if: Command.isSanitized, "a sanitizer needs more than these limits"))
struct ScarcityTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        let lines = (0..<3000).map { line in
            "m\(line % 5),id_participant=p\(line % 7) k=\(line)i,t=\"text \(line * 7919)\" \(line)"
        }
        _ = try folder.write(lines.joined(separator: "\n") + "\n", to: "lines.lp")
    }

    private func shell(_ line: String) throws -> CommandRun {
        try Command.shell(line, in: folder.url)
    }

    /// Rows of the five experiments together, each of which has the key in field k.
    private func rows(_ path: String = "d", of experiments: String = "/.*/") throws -> Int {
        let run = try shell(
            "cozdb query --db \(path) --format csv 'SELECT count(k) FROM \(experiments)'")
        #expect(run.status == 0 || run.errors.contains("no experiment"), "\(run.errors)")
        return run.lines.compactMap { Int($0.split(separator: ",").last ?? "") }.reduce(0, +)
    }

    @Test func `every command works with few open files, or says so`() throws {
        #expect(try shell("cozdb import --db whole --batch-rows 500 lines.lp").status == 0)
        let commands = [
            "import --db d lines.lp", "query --db d 'SELECT count(k) FROM /.*/'", "compact --db d",
            "check --db d", "export --db d --format csv", "backup --db d b",
            "forget --db d --participant p1", "repair --db d", "restore whole --db r",
        ]
        for limit in [6, 12, 16, 20, 40] {
            _ = try shell("rm -rf d b r; cp -r whole d")
            for command in commands {
                let run = try shell("ulimit -n \(limit); cozdb \(command)")
                if run.status == 0 { continue }
                #expect(run.status == 3, "\(limit), \(command): \(run.status) \(run.errors)")
                #expect(run.errors.contains("ulimit -n"), "\(limit), \(command): \(run.errors)")
                #expect(limit < 40, "\(command): \(run.errors)")
                #expect(run.errors.split(separator: "\n").count == 1, "\(command): \(run.errors)")
            }
            #expect(try shell("cozdb check --db d").status == 0, "\(limit)")
        }
        let none = try shell("ulimit -n 8; cozdb info --db whole")
        #expect(none.errors.contains("found a limit of 8 open files (RLIMIT_NOFILE)"))
    }

    @Test func `as few open files as the command asks for are enough for a rejects file`() throws {
        _ = try folder.write("m1,id_participant=p1 k=\"no integer\" 5\n", to: "bad.lp")
        let made = try shell("cozdb import --db d lines.lp; cozdb import --db d bad.lp")
        #expect(made.status == 7, "\(made.errors)")
        #expect(try shell("cozdb forget --db d --list > list.txt").status == 0)
        for command in [
            "backup --db d b", "import --db d again.lp", "backup --db d b --verify",
            "restore b --db r", "restore b --db f --forgotten list.txt",
            "query --db d 'DELETE FROM m1 WHERE time < 100'", "rejects --db d replay",
            "compact --db d", "export --db d --format csv", "forget --db d --participant p1",
        ] {
            _ = try shell("sed s/=p1/=p2/ bad.lp > again.lp")
            let run = try shell("ulimit -n 16; cozdb \(command)")
            #expect(run.status == 0 || run.status == 7, "\(command): \(run.errors)")
        }
        // What the caller has open is not there for the command.
        let line = "exec 3< lines.lp 4< lines.lp; cozdb backup --db d"
        let refused = try shell("ulimit -n 16; \(line) c")
        #expect(refused.status == 3 && refused.errors.contains("with 2 already open"))
        #expect(refused.errors.contains("expected at least 18; nothing was done"), "\(refused)")
        #expect(try shell("ulimit -n 18; \(line) c").status == 0)
    }

    @Test(.enabled(if: Machine.hasOtherUsers, "needs root and setpriv"))
    func `no thread to be had`() throws {
        #expect(try shell("cozdb import --db d lines.lp; chown -R 65534 . d").status == 0)
        for command in [
            "import --db d lines.lp", "query --db d 'SELECT count(k) FROM /.*/'", "compact --db d",
            "query --db d 'SELECT mean(k) FROM /.*/ GROUP BY id_participant'", "check --db d",
            "import --db new --batch-rows 500 lines.lp", "export --db d --format csv",
            "backup --db d b", "restore b --db r", "forget --db d --participant p1",
            "repair --db d",
        ] {
            // The limit counts threads of the user; a process that has one may keep that.
            let run = try shell(
                "timeout 60 setpriv --reuid=65534 --clear-groups bash -c "
                    + "\"ulimit -u 1; exec cozdb \(command)\"")
            #expect(run.status == 0, "\(command): \(run.status) \(run.errors)")
        }
        #expect(try rows("new") == 3000)
    }

    @Test func `too little memory is an error that names the limit`() throws {
        #expect(try shell("cozdb import --db d lines.lp").status == 0)
        let refused = try shell("ulimit -v 200000; cozdb query --db d 'SELECT count(k) FROM /.*/'")
        #expect(refused.status == 6, "\(refused)")
        #expect(refused.errors.contains("found a memory limit of 195 MiB (RLIMIT_AS)"))
        // A line of 200 MB has to be in memory to be read.
        let run = try shell(
            """
            (printf 'm1,id_participant=p1 t="'; head -c 200000000 /dev/zero | tr '\\0' x
            printf '" 1\\n') > long.lp
            ulimit -v 270000; timeout 60 cozdb import --db d long.lp
            """)
        #expect(run.status == 6 || run.status == 7, "\(run.status) \(run.errors.suffix(400))")
        #expect(try shell("cozdb check --db d").status == 0)
        #expect(try rows() == 3000)
    }

    @Test(.enabled(if: Growth.isMeasured, "takes a minute; see Tools/nightly"))
    func `whatever the memory limit, a command does its work or ends with its status`() throws {
        // Long texts, a batch of them all: what does not fit, is found out in the middle.
        let filler = String(repeating: "x", count: 3000)
        let lines = (0..<40_000).map { "m,id_participant=p k=\($0)i,t=\"\($0)\(filler)\" \($0)" }
        _ = try folder.write(lines.joined(separator: "\n") + "\n", to: "texts.lp")
        #expect(try shell("cozdb import --db whole texts.lp").status == 0)
        let commands = [
            "import --db d --batch-rows 1000000 texts.lp",
            "query --db whole --format csv 'SELECT mode(t), count(k) FROM m'",
        ]
        var statuses: [String: [Int32]] = [:]
        for limit in stride(from: 100_000, through: 600_000, by: 20_000) {
            _ = try shell("rm -rf d; cozdb import --db d lines.lp")
            for command in commands {
                let run = try shell("ulimit -v \(limit); timeout 60 cozdb \(command) > answer")
                statuses[command, default: []].append(run.status)
                // Neither a signal (128 and more) nor a hang (124).
                #expect([0, 6].contains(run.status), "\(limit), \(command): \(run)")
                #expect(run.errors.isEmpty == (run.status == 0), "\(limit): \(run.errors)")
                if run.status == 6 {
                    #expect(run.errors.contains("ulimit -v"), "\(limit): \(run.errors)")
                }
                if limit < 256 << 10 {
                    #expect(run.status == 6 && run.errors.contains("nothing was done"), "\(run)")
                }
            }
            #expect(try shell("cozdb check --db d").status == 0, "\(limit)")
            let stored = try shell("cozdb query --db d --format csv 'SELECT count(k) FROM m'")
            let isWhole = statuses[commands[0]]?.last == 0
            #expect(stored.output.hasSuffix(",40000\n") == isWhole, "\(limit): \(stored)")
            #expect(try rows(of: "/^m[0-4]$/") == 3000, "\(limit)")
        }
        // Some limits are too low, some are not.
        for (command, found) in statuses {
            #expect(found.count == 26 && found.first == 6 && found.last == 0, "\(command)")
        }
        #expect(
            statuses[commands[0]] != statuses[commands[1]],
            "the import of a large batch needs more than the least: \(statuses)")
    }

    @Test(arguments: [0, 1, 64])
    func `a host that leaves signals alone is told of a file too large`(blocks: Int) throws {
        let program = Command.binaries.appendingPathComponent("ReadmeProgram").path
        let run = try shell(
            "(ulimit -f \(blocks); SWIFT_BACKTRACE=enable=no \(program) 2>&1) | cat")
        // The example ends with what was thrown; SIGXFSZ would have ended it without a word.
        #expect(run.output.contains("raise the file size limit (ulimit -f)"), "\(run)")
        let after = try shell("\(program) && cozdb check --db readme.cozdb")
        #expect(after.status == 0, "\(after)")
        #expect(after.output.hasPrefix("stored 4 values"), "\(after)")
    }

    @Test(arguments: [0, 1, 8, 100, 300])
    func `a limit on file size is an error, and what was stored stays`(blocks: Int) throws {
        // A pipe, because a file that is written to would be limited as well.
        let run = try shell(
            """
            (ulimit -f \(blocks)
            cozdb import --db d --batch-rows 100 --progress plain lines.lp 2>&1 > /dev/null
            echo $?) | cat
            """)
        let status = run.lines.last.flatMap { Int($0) }
        if status != 0 {
            #expect(status == 3, "\(run.output)")
            #expect(run.output.contains("raise the file size limit (ulimit -f)"), "\(run)")
        }
        let committed = run.lines.last { $0.hasPrefix("committed ") }
        let acknowledged = committed.flatMap { Int($0.dropFirst(10)) } ?? 0
        guard FileManager.default.fileExists(atPath: folder.path("d/MANIFEST")) else {
            #expect(acknowledged == 0)
            return
        }
        #expect(try shell("cozdb check --db d").status == 0)
        let found = try rows()
        #expect(found >= acknowledged && found % 100 == 0, "\(found) of \(acknowledged)")
        #expect(try shell("cozdb import --db d lines.lp").status == 0)
        #expect(try rows() == 3000)
    }

    @Test(.enabled(if: Machine.hasReadOnlyMounts, "needs root and mount"))
    func `a full disk, and then a larger one`() throws {
        // In a name space of its own: the mount goes with its last process.
        let script = """
            mount -t tmpfs -o size=200k tmpfs disk || exit 9
            i=0
            while [ $i -lt 30 ]; do
              i=$((i + 1))
              cozdb import --db disk/d --batch-rows 100 --experiment e$i many.lp 2> ../err > ../out
              status=$?
              test $status = 0 && continue
              break
            done
            echo "import $i $status $(cat ../err)"
            cozdb check --db disk/d || exit 8
            cozdb import --db disk/d lines.lp 2> ../err > ../out
            echo "again $? $(cat ../err)"
            cozdb check --db disk/d || exit 7
            mount -o remount,size=20m disk || exit 6
            cozdb import --db disk/d lines.lp && cozdb check --db disk/d || exit 5
            ls disk/d
            """
        var random = SeededRandom(seed: 3)
        let lines = (0..<1500).map { line in
            "e,id_participant=p\(line % 7) v=\(Double.random(in: 0...1, using: &random)) \(line)"
        }
        _ = try folder.write(lines.joined(separator: "\n") + "\n", to: "many.lp")
        _ = try folder.write(
            script.replacing("--experiment e$i many.lp", with: "now.lp")
                .replacing(
                    "  cozdb import", with: "  sed s/^e/e$i/ many.lp > now.lp\n  cozdb import"
                )
                .replacing("../", with: ""), to: "run.sh")
        let run = try shell("mkdir disk && unshare --mount sh run.sh")
        #expect(run.status == 0, "\(run.status) \(run.output) \(run.errors)")
        for line in run.lines where line.hasPrefix("import ") || line.hasPrefix("again ") {
            #expect(line.contains(" 3 cozdb: "), "\(line)")
            #expect(line.contains("No space left on device; free space"), "\(line)")
        }
    }
}
