// Everything that can be asked of a database, by many threads at once: nothing hangs or ends the
// process, each error is one that the call may give, and what was acknowledged is there.

import CozTestSupport
import Foundation
import Synchronization
import Testing

@testable import CozDB

/// Threads that do random things with a database until its time is over.
private final class ConcurrentWork: Sendable {
    static let writerCount = 3
    private static let rowCount = 40

    let database: Database
    private let directory: TemporaryDirectory
    private let deadline: ContinuousClock.Instant
    private let seed: UInt64
    let mistakes = Mutex<[String]>([])
    /// For each writer what its participant has: by row the last number that was acknowledged.
    private let models = Mutex(Array(repeating: [Int64: Int64](), count: writerCount))

    init(_ database: Database, _ directory: TemporaryDirectory, _ seed: UInt64, _ time: Duration) {
        (self.database, self.directory, self.seed) = (database, directory, seed)
        deadline = .now + time
    }

    func run() {
        let group = DispatchGroup()
        for index in 0..<(Self.writerCount + 5) {
            group.enter()
            Thread.detachNewThread {
                self.work(index)
                group.leave()
            }
        }
        group.wait()
    }

    private func work(_ index: Int) {
        var random = SeededRandom(seed: seed &* 31 &+ UInt64(index))
        while ContinuousClock.now < deadline {
            do {
                switch index - Self.writerCount {
                case ..<0: try write(index, &random)
                case 0, 1: try read(&random)
                case 2: try change(&random)
                case 3: try copy(&random)
                default: try look(&random)
                }
            } catch let error as DatabaseError
                where error.kind == .notFound || error.kind == .cancelled
            {
                // Dropped by another, or by its own wish.
            } catch {
                mistakes.withLock { $0.append("\(index): \(error)") }
                return
            }
        }
    }

    private func write(_ number: Int, _ random: inout SeededRandom) throws {
        var batch = WriteBatch()
        var added: [Int64: Int64] = [:]
        for _ in 0..<Int.random(in: 1...20, using: &random) {
            let row = Int64.random(in: 0..<Int64(Self.rowCount), using: &random)
            let value = Int64.random(in: 0..<1_000_000, using: &random)
            added[row] = value
            try batch.add(
                experiment: "m", tags: ["id_participant": "w\(number)", "t": "a\(row % 5)"],
                time: Timestamp(nanoseconds: row),
                fields: ["v": .integer(value), "s": .string("text \(value)")])
            guard row % 7 == 0 else { continue }
            // Of somebody who may be forgotten, in an experiment that may be dropped, of a type
            // that may be another, with fields of its own.
            try batch.add(
                experiment: "x", tags: ["id_participant": "gone"],
                time: Timestamp(nanoseconds: row),
                fields: [
                    "v": row % 2 == 0 ? .integer(value) : .string("no number"),
                    "f\(value % 50)": .float(Double(value)),
                ])
        }
        let report = try database.write(batch)
        guard report.points > 0 else { throw DatabaseError(.usage, "nothing was stored") }
        models.withLock { $0[number].merge(added) { $1 } }
    }

    private func read(_ random: inout SeededRandom) throws {
        let statement = [
            "SELECT count(v) FROM m GROUP BY id_participant", "SELECT * FROM m",
            "SELECT mean(v) FROM m GROUP BY t", "SELECT * FROM x", "SHOW FIELDS",
            "SHOW TAG VALUES WITH KEY = t", "SELECT mode(s) FROM m", "SHOW SERIES",
            "SELECT count(*) FROM /./ WHERE time < 40 AND time >= 0 GROUP BY time(10ns)",
            "SELECT v FROM m WHERE s =~ /9/",
        ].randomElement(using: &random)!
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            let cursor = try database.cursor(statement)
            _ = try cursor.next()
            if Bool.random(using: &random) { while try cursor.next() != nil {} }
        case 1:
            // One moment, whatever others do.
            let snapshot = try database.snapshot()
            let first = try snapshot.query("SELECT sum(v) FROM m").description
            let again = try snapshot.query("SELECT sum(v) FROM m").description
            if first != again {
                mistakes.withLock { $0.append("a snapshot changed: \(first), \(again)") }
            }
        case 2:
            var options = QueryOptions(now: Timestamp(nanoseconds: 1_000_000))
            let end = ContinuousClock.now + .microseconds(Int.random(in: 0..<500, using: &random))
            options.isCancelled = { ContinuousClock.now > end }
            _ = try database.execute(statement, options: options)
        default: _ = try database.execute(statement)
        }
    }

    private func change(_ random: inout SeededRandom) throws {
        switch Int.random(in: 0..<10, using: &random) {
        case 0: try database.compact()
        case 1: try database.flush()
        case 2: _ = try database.drop(experiment: "x")
        case 3: _ = try database.delete(experiment: "x", tags: ["id_participant": "gone"])
        case 4: _ = try database.forget(["gone"])
        case 5: _ = try database.readmit(["gone"])
        case 6: _ = try database.clearRejects(of: Bool.random(using: &random) ? "x" : nil)
        case 7: _ = try database.replayRejects(overwrite: Bool.random(using: &random))
        case 8:
            let type = [FieldType.string, .float].randomElement(using: &random)!
            let name = "f\(Int.random(in: 0..<50, using: &random))"
            try database.alter(experiment: "x", field: name, type: type)
        default: try database.rejects { _ in true }
        }
    }

    private func copy(_ random: inout SeededRandom) throws {
        let target = directory.path + "/copy"
        _ = try database.backup(to: target)
        guard Bool.random(using: &random) else { return }
        let copy = try Database.open(target, access: .readOnly)
        _ = try copy.query("SELECT count(v) FROM m")
        try copy.close()
        try FileManager.default.removeItem(atPath: target)
    }

    private func look(_ random: inout SeededRandom) throws {
        _ = try database.info()
        _ = try database.counters()
        _ = try database.columns(of: "m")
        let other = try Database.open(directory.path + "/db", access: .readOnly)
        _ = try other.query("SELECT count(v) FROM m GROUP BY id_participant")
        try other.close()
        var found: [String] = []
        _ = try Database.check(directory.path + "/db", decodes: Bool.random(using: &random)) {
            if $0.severity == .damage { found.append("\($0)") }
        }
        if !found.isEmpty { mistakes.withLock { $0.append("check: \(found)") } }
    }

    /// What the database must hold, and what it holds.
    func contents(_ database: Database) throws -> (expected: [String], found: [String]) {
        var expected: [String] = []
        models.withLock { models in
            for (number, model) in models.enumerated() {
                for (row, value) in model { expected.append("w\(number) \(row) \(value)") }
            }
        }
        var found: [String] = []
        for series in try database.query(
            "SELECT v FROM m WHERE time >= 0 GROUP BY id_participant"
        ).series {
            let who = series.tag("id_participant") ?? ""
            for (time, value) in zip(series.times, series.column("v")?.integers ?? []) {
                found.append("\(who) \(time.nanoseconds) \(value ?? -1)")
            }
        }
        return (expected.sorted(), found.sorted())
    }
}

@Suite(.serialized) struct ConcurrencyTests {
    private static let environment = ProcessInfo.processInfo.environment
    /// `COZDB_CONCURRENCY` is a number of seconds for each seed, `COZDB_SEED` runs one.
    private static let seconds = environment["COZDB_CONCURRENCY"].flatMap { Int($0) } ?? 2
    private static let seeds: [UInt64] =
        environment["COZDB_SEED"].flatMap { UInt64($0) }.map { [$0] } ?? [1, 2]

    @Test(.timeLimit(.minutes(10)), arguments: seeds)
    func `many threads that do everything at once agree`(_ seed: UInt64) throws {
        let directory = TemporaryDirectory()
        var options = DatabaseOptions()
        options.memtableSizeBytesMax = 1 << 16
        options.compactionSegmentCount = 3
        options.retireSeconds = 0
        try FileManager.default.createDirectory(
            atPath: directory.path, withIntermediateDirectories: true)
        let database = try Database.open(directory.path + "/db", options: options)
        var first = WriteBatch()
        try first.add(
            experiment: "m", tags: ["id_participant": "w0", "t": "a"],
            time: Timestamp(nanoseconds: -1), fields: ["v": .integer(-1), "s": .string("x")])
        _ = try database.write(first)
        let work = ConcurrentWork(database, directory, seed, .seconds(Self.seconds))
        work.run()
        #expect(work.mistakes.withLock { $0 } == [], "COZDB_SEED=\(seed)")
        var contents = try work.contents(database)
        #expect(contents.expected == contents.found, "COZDB_SEED=\(seed)")
        try database.close()
        let again = try Database.open(directory.path + "/db", options: options)
        contents = try work.contents(again)
        #expect(contents.expected == contents.found, "COZDB_SEED=\(seed)")
        try again.close()
    }
}
