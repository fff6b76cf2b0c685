// A service's load: 64 tasks write durable payloads of 12 values, 8 tasks ask for rows of a
// participant. With CozDB and with GRDB in turn, in one run.

import CozDB
import Foundation
import GRDB
import Synchronization

/// One of the two databases.
protocol PayloadStore: Sendable {
    static var name: String { get }
    static func open(_ path: String) throws -> Self
    /// Stores one row durably.
    func write(participant: Int, time: Int64, values: [Double]) async throws
    /// Returns the number of rows of a participant since a time.
    func count(participant: Int, since: Int64) async throws -> Int
    func close() async throws
}

enum PayloadLoad {
    static let writers = 64
    static let readers = 8
    static let payloads = 12_800
    static let fields = (0..<12).map { "f\($0)" }

    /// What the tasks of one run share.
    private final class Shared: Sendable {
        let reads = Mutex<[Double]>([])
        let writes = Mutex<[Double]>([])
        /// Reads that did not find what was acknowledged before them.
        let stale = Mutex(0)
        let isOver = Mutex(false)
    }

    static func run(_ folder: String, rounds: Int) async throws {
        for round in 1...rounds {
            print("round \(round)")
            try await measure(CozDBStore.self, "\(folder)/c\(round)")
            try await measure(GRDBStore.self, "\(folder)/g\(round)")
        }
    }

    private static func measure<Store: PayloadStore>(
        _ type: Store.Type, _ path: String
    ) async throws {
        let store = try Store.open(path)
        try await store.write(participant: 0, time: 0, values: fields.map { _ in 0 })
        let shared = Shared()
        let (start, processor) = (now(), processorSeconds())
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for writer in 0..<writers {
                group.addTask {
                    var times: [Double] = []
                    for number in 1...(payloads / writers) {
                        let begin = now()
                        try await store.write(
                            participant: writer, time: Int64(number),
                            values: fields.indices.map { Double(number * $0) })
                        times.append(now() - begin)
                        // A caller must see what it was told is stored.
                        if number % 50 == 0,
                            try await store.count(participant: writer, since: Int64(number)) != 1
                        {
                            shared.stale.withLock { $0 += 1 }
                        }
                    }
                    shared.writes.withLock { $0 += times }
                    return true
                }
            }
            for reader in 0..<readers {
                group.addTask {
                    var times: [Double] = []
                    while !shared.isOver.withLock({ $0 }) {
                        let begin = now()
                        _ = try await store.count(participant: reader, since: 1)
                        times.append(now() - begin)
                        try await Task.sleep(for: .milliseconds(1))
                    }
                    shared.reads.withLock { $0 += times }
                    return false
                }
            }
            var ended = 0
            for try await isWriter in group where isWriter {
                ended += 1
                if ended == writers { shared.isOver.withLock { $0 = true } }
            }
        }
        let seconds = now() - start
        let cpu = processorSeconds() - processor
        let (all, asked) = (
            shared.writes.withLock { $0.sorted() }, shared.reads.withLock { $0.sorted() }
        )
        func ms(_ times: [Double], _ part: Double) -> String {
            String(
                format: "%.2f", times[min(times.count - 1, Int(Double(times.count) * part))] * 1e3)
        }
        print(
            "  \(Store.name): \(Int(Double(all.count) / seconds)) payloads/s, "
                + "\(Int(cpu / Double(all.count) * 1e6)) us of processor a payload, "
                + "write p50 \(ms(all, 0.5)) p99 \(ms(all, 0.99)) ms, "
                + "query p50 \(ms(asked, 0.5)) p99 \(ms(asked, 0.99)) ms (\(asked.count)), "
                + "stale \(shared.stale.withLock { $0 })")
        try await store.close()
    }

    static func now() -> Double { Double(DispatchTime.now().uptimeNanoseconds) / 1e9 }

    static func processorSeconds() -> Double {
        var usage = rusage()
        // RUSAGE_SELF, which is imported with another type than the parameter's.
        getrusage(0, &usage)
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }
}

struct CozDBStore: PayloadStore {
    static let name = "CozDB"
    let database: CozDB.Database

    static func open(_ path: String) throws -> CozDBStore {
        CozDBStore(database: try Database.open(path))
    }

    func write(participant: Int, time: Int64, values: [Double]) async throws {
        var batch = WriteBatch()
        try batch.add(
            experiment: "dev", tags: ["id_participant": "p\(participant)"],
            time: Timestamp(nanoseconds: time),
            fields: Dictionary(
                uniqueKeysWithValues: zip(PayloadLoad.fields, values.map { .float($0) })))
        _ = try await database.write(batch)
    }

    func count(participant: Int, since: Int64) async throws -> Int {
        let result = try await database.query(
            "SELECT f3 FROM dev WHERE id_participant = $who AND time >= $since "
                + "ORDER BY time DESC LIMIT 10",
            parameters: ["who": "p\(participant)", "since": Timestamp(nanoseconds: since)])
        return result.series.first?.rowCount ?? 0
    }

    func close() async throws { try await database.close() }
}

struct GRDBStore: PayloadStore {
    static let name = "GRDB "
    let pool: DatabasePool

    static func open(_ path: String) throws -> GRDBStore {
        var configuration = Configuration()
        configuration.busyMode = .timeout(10)
        let pool = try DatabasePool(path: path, configuration: configuration)
        // As durable as a commit of CozDB. GRDB sets NORMAL, which syncs at checkpoints only.
        try pool.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA synchronous = FULL")
        }
        try pool.write { db in
            let columns = PayloadLoad.fields.map { "\($0) DOUBLE" }.joined(separator: ", ")
            try db.execute(
                sql: "CREATE TABLE dev (id_participant TEXT, time INTEGER, \(columns), "
                    + "PRIMARY KEY (id_participant, time)) WITHOUT ROWID")
        }
        return GRDBStore(pool: pool)
    }

    private static let insert =
        "INSERT OR REPLACE INTO dev VALUES (?, ?\(String(repeating: ", ?", count: 12)))"

    func write(participant: Int, time: Int64, values: [Double]) async throws {
        try await pool.write { db in
            let arguments: [any DatabaseValueConvertible] = ["p\(participant)", time] + values
            try db.cachedStatement(sql: Self.insert).execute(
                arguments: StatementArguments(arguments))
        }
    }

    func count(participant: Int, since: Int64) async throws -> Int {
        try await pool.read { db in
            try Double.fetchAll(
                db.cachedStatement(
                    sql: "SELECT f3 FROM dev WHERE id_participant = ? AND time >= ? "
                        + "ORDER BY time DESC LIMIT 10"),
                arguments: ["p\(participant)", since]
            ).count
        }
    }

    func close() async throws { try pool.close() }
}
