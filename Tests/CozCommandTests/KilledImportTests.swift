// Imports that are killed, and readers beside an import that runs.

internal import CozTestSupport
internal import Foundation
internal import Testing

struct KilledImportTests {
    private static let rowCount = 6_000
    private static let batchRows = 50
    private static let question = "SELECT count(k), sum(k), sum(v), count(s) FROM m"

    /// A file of made-up points; field k counts the lines.
    private func points(in folder: TemporaryFolder) throws -> String {
        var lines = ""
        for line in 0..<Self.rowCount {
            let place = "m,id_participant=p\(line % 37)"
            let fields = "v=\(line).5,s=\"text \(line % 100)\",k=\(line)i"
            lines += "\(place) \(fields) \(line * 1_000_003)\n"
        }
        return try folder.write(lines, to: "points.lp")
    }

    private func begin(_ file: String, into database: String, errors: URL) throws -> Process {
        try Data().write(to: errors)
        let process = Process()
        process.executableURL = Command.binaries.appendingPathComponent("cozdb")
        process.arguments = [
            "import", "--db", database, "--progress", "plain", "--batch-rows",
            "\(Self.batchRows)", file,
        ]
        // Killed, it would leave half a file of counts of coverage.
        process.environment = Command.environment
        process.standardOutput = FileHandle.nullDevice
        process.standardError = try FileHandle(forWritingTo: errors)
        try process.run()
        return process
    }

    /// The last N of the whole lines `committed N`.
    private func committed(_ errors: URL) throws -> Int {
        let lines = String(decoding: try Data(contentsOf: errors), as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        guard let last = lines.last(where: { $0.hasPrefix("committed ") }) else { return 0 }
        return Int(last.dropFirst("committed ".count)) ?? 0
    }

    /// The answer's only row; nil where the experiment is not there yet.
    private func ask(_ statement: String, _ database: String) throws -> Substring? {
        let run = try Command.cozdb([
            "query", "--db", database, "--format", "csv", "--epoch", "ns", statement,
        ])
        if run.status == 5, run.errors.contains("no experiment") { return nil }
        #expect(run.status == 0, "\(statement): \(run.errors)")
        return run.lines.count > 1 ? run.lines[1] : nil
    }

    private func count(_ statement: String, _ database: String) throws -> Int {
        guard let row = try ask(statement, database) else { return 0 }
        return Int(row.split(separator: ",")[1]) ?? 0
    }

    @Test func `a killed import keeps what it reported and can be run again`() throws {
        let seed: UInt64 = 0x0C02_DB09
        var random = SeededRandom(seed: seed)
        let folder = try TemporaryFolder()
        let file = try points(in: folder)
        let whole = folder.path("whole.cozdb")
        let start = ContinuousClock.now
        #expect(try Command.cozdb(["import", "--db", whole, file]).status == 0)
        let patience = (ContinuousClock.now - start) / .microseconds(1) * 1.5
        let wanted = try ask(Self.question, whole)
        let errors = folder.url.appendingPathComponent("errors")
        var kills = 0
        for round in 0..<8 {
            let database = folder.path("\(round).cozdb")
            for _ in 0..<3 {
                let process = try begin(file, into: database, errors: errors)
                usleep(useconds_t.random(in: 0...UInt32(patience), using: &random))
                kill(process.processIdentifier, SIGKILL)
                process.waitUntilExit()
                kills += 1
                try checkPrefix(of: database, reported: committed(errors), "seed \(seed) #\(kills)")
            }
            let again = try Command.cozdb(["import", "--db", database, file])
            #expect(again.status == 0, "seed \(seed), round \(round): \(again.errors)")
            #expect(try ask(Self.question, database) == wanted, "seed \(seed), round \(round)")
        }
        #expect(kills >= 20)
    }

    private func checkPrefix(of database: String, reported: Int, _ note: String) throws {
        guard FileManager.default.fileExists(atPath: "\(database)/MANIFEST") else {
            #expect(reported == 0, "\(note)")
            return
        }
        let check = try Command.cozdb(["check", "--db", database])
        #expect(check.status == 0, "\(note): \(check.output) \(check.errors)")
        let there = try count("SELECT count(k) FROM m WHERE k < \(reported)", database)
        #expect(there == reported, "\(note): rows that were reported are gone")
        #expect(try count("SELECT count(k) FROM m", database) % Self.batchRows == 0, "\(note)")
    }

    @Test func `readers beside an import see whole batches, never fewer than before`() throws {
        let folder = try TemporaryFolder()
        let file = try points(in: folder)
        let database = folder.path("x.cozdb")
        #expect(try Command.cozdb(["import", "--db", database, "-"]).status == 0)
        let errors = folder.url.appendingPathComponent("errors")
        let process = try begin(file, into: database, errors: errors)
        var last = 0
        var reads = 0
        while process.isRunning {
            let reported = try committed(errors)
            let seen = try count("SELECT count(k) FROM m", database)
            #expect(seen >= max(last, reported))
            #expect(seen % Self.batchRows == 0)
            last = seen
            reads += 1
        }
        #expect(process.terminationStatus == 0)
        #expect(reads > 1)
        #expect(try count("SELECT count(k) FROM m", database) == Self.rowCount)
    }

    @Test func `an interrupted import ends with 130 and keeps what it reported`() throws {
        let folder = try TemporaryFolder()
        let database = folder.path("x.cozdb")
        let errors = folder.url.appendingPathComponent("errors")
        let process = try begin(points(in: folder), into: database, errors: errors)
        while try process.isRunning && committed(errors) < 200 { usleep(1000) }
        process.interrupt()
        process.waitUntilExit()
        #expect(process.terminationStatus == 130)
        let reported = try committed(errors)
        #expect(reported >= 200)
        #expect(try count("SELECT count(k) FROM m WHERE k < \(reported)", database) == reported)
        #expect(try Command.cozdb(["check", "--db", database]).status == 0)
    }
}
