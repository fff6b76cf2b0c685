// Readers, a second writer and backups beside a process that writes, flushes, merges and deletes.

internal import Foundation
internal import Synchronization
internal import Testing

struct OtherProcessTests {
    private let folder: TemporaryFolder
    /// Each round is one commit with one row for each of two experiments.
    private static let roundCount = 150

    init() throws {
        folder = try TemporaryFolder()
        var lines = ""
        for round in 1...Self.roundCount {
            lines += "a,id_participant=p k=\(round)i \(round)\n"
            lines += "b,id_participant=p k=\(round)i \(round)\n"
        }
        _ = try folder.write(lines, to: "lines.lp")
    }

    private func shell(_ line: String) throws -> CommandRun {
        try Command.shell(line, in: folder.url)
    }

    /// Starts `cozdb` with a pipe as its input.
    private func start(_ arguments: [String], input: Pipe? = nil) throws -> Process {
        let process = Process()
        process.executableURL = Command.binaries.appendingPathComponent("cozdb")
        process.arguments = arguments
        process.currentDirectoryURL = folder.url
        // Killed, it would leave half a file of counts of coverage.
        process.environment = Command.environment
        if let input { process.standardInput = input }
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
    }

    /// A shell that imports in small commits, merges, deletes, and does it again.
    private func writer() throws -> Process {
        let script = """
            for round in 1 2; do
              cozdb import --db d --batch-rows 2 lines.lp || exit 1
              cozdb query --db d "DELETE FROM a WHERE time < $((round * 20))" || exit 2
              cozdb compact --db d || exit 3
            done
            """
        _ = try folder.write(script, to: "writer.sh")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["writer.sh"]
        process.currentDirectoryURL = folder.url
        process.environment = Command.environment
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
    }

    @Test func `answers beside writing, merging and deleting are prefixes that only grow`() throws {
        #expect(try shell("cozdb import --db d - < /dev/null").status == 0)
        let process = try writer()
        let answers = Mutex(0)
        // One statement for both experiments, so that one snapshot answers for both.
        let question = "SELECT max(k), count(k) FROM a, b"
        DispatchQueue.concurrentPerform(iterations: 2) { reader in
            var last = 0
            while process.isRunning {
                guard
                    let run = try? shell("cozdb query --db d --format csv --epoch ns '\(question)'")
                else { continue }
                if run.status == 5, run.errors.contains("no experiment"), last == 0 { continue }
                #expect(run.status == 0, "\(run.errors)")
                // Of each experiment the time, the largest key and how many there are.
                let rows = run.lines.map { $0.split(separator: ",").compactMap { Int($0) } }
                    .filter { $0.count == 3 }
                guard rows.count == 2 else { continue }
                // A commit has both experiments. Nothing of `b` is ever deleted, so that it counts
                // the commits; of `a` only the beginning is.
                #expect(rows[1][1] == rows[1][2] && rows[0][1] == rows[1][1], "\(run.output)")
                #expect(rows[1][1] >= last, "after \(last): \(run.output)")
                last = rows[1][1]
                answers.withLock { $0 += 1 }
            }
        }
        #expect(process.terminationStatus == 0)
        #expect(answers.withLock { $0 } > 4)
        #expect(try shell("cozdb check --db d").status == 0)
    }

    @Test func `a second writer is refused at once by name; after kill -9 the lock is free`() throws
    {
        #expect(try shell("cozdb import --db d lines.lp").status == 0)
        let input = Pipe()
        let holder = try start(["write", "--db", "d"], input: input)
        defer { holder.terminate() }
        try input.fileHandleForWriting.write(contentsOf: Data("c,id_participant=p k=1 1\n".utf8))
        // It has the lock once what it wrote can be seen.
        var isThere = false
        for _ in 0..<200 where !isThere {
            isThere = try shell("cozdb query --db d 'SELECT k FROM c'").status == 0
        }
        try #require(isThere)
        let second = try shell(
            """
            date +%s%N; cozdb import --db d lines.lp; echo $?; date +%s%N
            cozdb --version > out; date +%s%N
            """)
        let times = second.lines.compactMap { Int($0) }
        try #require(times.count == 4 && times[1] == 4, "\(second)")
        // Beyond what starting a program takes on a busy machine.
        let patience = 1_000_000_000 + 3 * (times[3] - times[2])
        #expect(times[2] - times[0] < patience, "\(second.output)")
        #expect(second.errors.contains("process \(holder.processIdentifier), since 20"))
        #expect(second.errors.contains("wait until it closes it, or open read-only"))
        for command in ["compact --db d", "forget --db d --participant p", "repair --db d"] {
            #expect(try shell("cozdb \(command)").status == 4, "\(command)")
        }
        for command in [
            "check --db d", "info --db d", "backup --db d b", "repair --db d --dry-run",
        ] {
            #expect(try shell("cozdb \(command)").status == 0, "\(command)")
        }
        kill(holder.processIdentifier, SIGKILL)
        holder.waitUntilExit()
        #expect(try shell("cozdb write --db d < /dev/null").status == 0)
        #expect(try shell("cozdb query --db d --format csv 'SELECT k FROM c'").lines.count == 2)
        #expect(try shell("cozdb check --db d").status == 0)
    }

    @Test(arguments: ["rm d/LOCK", "mv d/LOCK d/other", "cp d/LOCK l && mv l d/LOCK"])
    func `a writer whose lock was taken away acknowledges nothing more`(how: String) throws {
        #expect(try shell("cozdb import --db d lines.lp").status == 0)
        let run = try shell(
            """
            mkfifo in; cozdb write --db d < in > first 2> errors & exec 3> in
            echo 'c,id_participant=p k=1i 1' >&3
            while ! grep -q ok first; do sleep 0.01; done
            \(how)
            echo 'd,id_participant=p k=1i 1' | cozdb write --db d > second; echo $?
            echo 'c,id_participant=p k=2i 2' >&3; exec 3>&-
            wait $!; echo $?; cat first second
            """)
        #expect(run.lines == ["0", "4", "ok", "ok"], "\(run.output) \(run.errors)")
        let errors = try shell("cat errors").output
        #expect(errors.contains("d/LOCK: this file was removed or replaced"), "\(errors)")
        #expect(try shell("cozdb check --db d").status == 0)
        for name in ["c", "d"] {
            let rows = try shell("cozdb query --db d --format csv 'SELECT k FROM \(name)'").lines
            #expect(rows.count == 2, "\(rows)")
        }
    }

    @Test func `a backup beside forgetting and merging is sound, and the next one forgets`() throws
    {
        #expect(try shell("cozdb import --db d lines.lp").status == 0)
        let others = (0..<50).map { line in
            "a,id_participant=q\(line % 5) k=\(line)i,t=\"of q\(line % 5)\" \(line)"
        }
        _ = try folder.write(others.joined(separator: "\n") + "\n", to: "others.lp")
        #expect(try shell("cozdb import --db d others.lp").status == 0)
        for participant in 0..<5 {
            let forgetting = try start(["forget", "--db", "d", "--participant", "q\(participant)"])
            let backup = try shell("cozdb backup --db d b")
            #expect(backup.status == 0, "\(backup.errors)")
            #expect(try shell("cozdb check --db b").status == 0)
            forgetting.waitUntilExit()
            #expect(forgetting.terminationStatus == 0)
            #expect(try shell("cozdb compact --db d && cozdb backup --db d b").status == 0)
            #expect(try shell("grep -l 'of q\(participant)' b/*").output == "")
            let late = try shell(
                """
                rm -rf r; cozdb restore b --db r > out || exit 1
                echo 'a,id_participant=q\(participant) k=1i 1' | cozdb write --db r
                """)
            #expect(late.status == 7 && late.output.contains("forgotten"), "\(late)")
            #expect(
                try shell("cozdb forget --db b --list").output
                    == shell("cozdb forget --db d --list").output)
        }
    }
}
