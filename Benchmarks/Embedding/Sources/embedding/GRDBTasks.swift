// The eight tasks of docs/embedding.md with GRDB. The lines between marks are those of the page.

import Foundation
import GRDB
import Logging
import ServiceLifecycle

enum GRDBTasks {
    // Snippet: type
    struct Sample: Codable, FetchableRecord, PersistableRecord {
        var time: Int64  // nanoseconds
        var id_participant: String
        var ts_heart_rate: Double?
        var q_thermal: String?
    }
    // End of snippet

    static func write(_ samples: [Sample], to path: String) async throws -> DatabasePool {
        // Snippet: Write structs
        let pool = try DatabasePool(path: path)
        try await pool.write { db in
            try db.create(table: "sample", options: .ifNotExists) { table in
                table.column("time", .integer).notNull()
                table.column("id_participant", .text).notNull()
                table.column("ts_heart_rate", .double)
                table.column("q_thermal", .text)
                table.primaryKey(["id_participant", "time"])
            }
            for sample in samples { try sample.upsert(db) }
        }
        // End of snippet
        return pool
    }

    static func load(_ file: String, into pool: DatabasePool) async throws -> Int {
        // Snippet: Import a file
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        var points = 0
        for start in stride(from: 1, to: lines.count, by: 10_000) {
            let batch = lines[start..<min(start + 10_000, lines.count)]
            points += try await pool.write { db in
                for line in batch {
                    let cells = line.split(separator: ",", omittingEmptySubsequences: false)
                    try Sample(
                        time: Int64(cells[0]) ?? 0, id_participant: String(cells[1]),
                        ts_heart_rate: Double(cells[2])
                    ).upsert(db)
                }
                return batch.count
            }
            print(points, "of", lines.count - 1, "lines")
        }
        // End of snippet
        return points
    }

    static func read(_ pool: DatabasePool) async throws -> [Sample] {
        // Snippet: Read typed rows
        let samples = try await pool.read { db in try Sample.fetchAll(db) }
        // End of snippet
        return samples
    }

    static func bind(_ pool: DatabasePool, participant: String, since: Int64) async throws
        -> [Sample]
    {
        // Snippet: Bind parameters
        let samples = try await pool.read { db in
            try Sample.fetchAll(
                db, sql: "SELECT * FROM sample WHERE id_participant = :who AND time >= :since",
                arguments: ["who": participant, "since": since])
        }
        // End of snippet
        return samples
    }

    static func stream(_ pool: DatabasePool) async throws -> Double {
        // Snippet: Stream a million rows
        let sum = try await pool.read { db in
            var sum = 0.0
            let rows = try Row.fetchCursor(db, sql: "SELECT ts_heart_rate FROM sample")
            while let row = try rows.next() { sum += row[0] ?? 0.0 }
            return sum
        }
        // End of snippet
        return sum
    }

    static func observe(
        _ pool: DatabasePool, _ show: @escaping @Sendable (Int) -> Bool
    ) async throws {
        // Snippet: Observe an answer
        let observation = ValueObservation.tracking { db in
            try Int.fetchOne(db, sql: "SELECT count(ts_heart_rate) FROM sample") ?? 0
        }
        for try await count in observation.values(in: pool) {
            guard show(count) else { break }
        }
        // End of snippet
    }

    // Snippet: Run in a service
    struct PoolService: Service {
        let pool: DatabasePool

        func run() async throws {
            try? await gracefulShutdown()
            try pool.close()
        }
    }
    // End of snippet

    static func serve(_ pool: DatabasePool, _ server: some Service) async throws {
        let logger = Logger(label: "backend")
        let group = ServiceGroup(
            services: [PoolService(pool: pool), server], gracefulShutdownSignals: [.sigterm],
            logger: logger)
        try await group.run()
    }

    static func test() throws -> Int {
        // Snippet: Test with a database of its own
        let queue = try DatabaseQueue()
        // End of snippet
        return try queue.read { try Int.fetchOne($0, sql: "SELECT 0") ?? 1 }
    }
}
