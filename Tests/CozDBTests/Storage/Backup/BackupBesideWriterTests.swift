// Backups beside a writer that commits, flushes, merges and deletes all the time.

import CozTestSupport
import Foundation
import Synchronization
import Testing

@testable import CozDB

/// A thread that writes until it is told to stop.
///
/// Commit N puts one row at time N into experiments `a` and `b`; every so often the older half of
/// `a` is deleted.
private final class BusyWriter: Sendable {
    struct Progress {
        var acknowledged: Int64 = 0
        /// Commits after which rows of `a` were deleted, with the first time that was left.
        var deletions: [(after: Int64, first: Int64)] = []
        var isStopping = false
        var hasEnded = false
        var failure: String?
    }

    let progress = Mutex(Progress())
    private let database: Database

    init(_ database: Database) {
        self.database = database
    }

    func start() {
        Thread.detachNewThread { [self] in
            do {
                var number: Int64 = 0
                while !progress.withLock({ $0.isStopping }) {
                    number += 1
                    try commit(number)
                }
            } catch {
                progress.withLock { $0.failure = "\(error)" }
            }
            progress.withLock { $0.hasEnded = true }
        }
    }

    func stop() {
        progress.withLock { $0.isStopping = true }
        while !progress.withLock({ $0.hasEnded }) { usleep(1000) }
    }

    private func commit(_ number: Int64) throws {
        var batch = WriteBatch()
        for experiment in ["a", "b"] {
            try batch.add(
                experiment: experiment, tags: ["id_participant": "p"],
                time: Timestamp(nanoseconds: number), fields: ["k": .integer(number)])
        }
        _ = try database.write(batch)
        progress.withLock { $0.acknowledged = number }
        if number % 7 == 0 { try database.flush() }
        if number % 23 == 0 { try database.compact() }
        if number % 17 == 0 {
            let first = number / 2
            progress.withLock { $0.deletions.append((number, first)) }
            _ = try database.execute("DELETE FROM a WHERE time < \(first)")
        }
    }
}

struct BackupBesideWriterTests {
    private static func times(_ experiment: String, _ path: String, _ system: FaultyFileSystem)
        throws -> [Int64]
    {
        try BackupSample.contents(path, system).cells.keys.filter { $0.experiment == experiment }
            .map(\.time).sorted()
    }

    /// What a database holds must be what the writer had committed at one moment.
    private func check(
        _ path: String, _ system: FaultyFileSystem, _ writer: BusyWriter, atLeast: Int64
    ) throws {
        #expect(try BackupSample.damage(path, system) == [])
        let first = try Self.times("a", path, system)
        let second = try Self.times("b", path, system)
        let last = second.last ?? 0
        #expect(last >= atLeast)
        #expect(second == Array(1...max(1, last)).filter { $0 <= last })
        // The deletion after the last commit may be in it or not.
        let deletions = writer.progress.withLock { $0.deletions }
        let before = deletions.last { $0.after < last }?.first ?? 1
        let after = deletions.last { $0.after <= last }?.first ?? 1
        let whole = [before, after].map { max($0, 1) }.map { $0 <= last ? Array($0...last) : [] }
        #expect(whole.contains(first), "from \(first.first ?? 0), last \(last), \(deletions)")
    }

    @Test(arguments: [1, 4 << 10, 1 << 20]) func `every backup is a committed prefix`(
        memtableSize: Int
    ) throws {
        let system = FaultyFileSystem()
        var options = DatabaseOptions()
        options.retireSeconds = 0
        options.compactionSegmentCount = 3
        options.memtableSizeBytesMax = memtableSize
        let database = try Database.open("db", access: .readWrite, options: options, on: system)
        let writer = BusyWriter(database)
        writer.start()
        defer { writer.stop() }
        var last: Int64 = 0
        for round in 0..<12 {
            while writer.progress.withLock({ $0.acknowledged < last + 10 && !$0.hasEnded }) {
                usleep(200)
            }
            let acknowledged = writer.progress.withLock { $0.acknowledged }
            last = acknowledged
            if round % 2 == 0 {
                try BackupSample.backup(system)
            } else {
                try database.backup(to: "backup", options: BackupOptions(), on: system)
            }
            try check("backup", system, writer, atLeast: acknowledged)
            if round % 4 == 3 {
                let path = "restored \(round)"
                try Database.restore(
                    "backup", to: path, options: RestoreOptions(), on: system)
                let restored = try BackupSample.open(path, on: system)
                try restored.compact()
                try restored.close()
                try check(path, system, writer, atLeast: acknowledged)
            }
        }
        writer.stop()
        #expect(writer.progress.withLock { $0.failure } == nil)
        try BackupSample.backup(system)
        let expected = try Contents(database)
        try database.close()
        #expect(try BackupSample.contents("backup", system) == expected)
    }
}
