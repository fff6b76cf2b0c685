// The eight tasks of docs/embedding.md with CozDB. The lines between marks are those of the page.

import CozDB
import CozDBService
import CozImport
import Logging
import ServiceLifecycle

enum CozDBTasks {
    // Snippet: type
    struct Sample: Codable, Sendable {
        var time: Timestamp
        var id_participant: String
        var ts_heart_rate: Double?
        var q_thermal: String?
    }
    // End of snippet

    static func write(_ samples: [Sample], to path: String) async throws -> Database {
        // Snippet: Write structs
        let database = try await Database.open(path)
        let report = try await database.write(samples, experiment: "dev")
        // report.values is durable; report.refusedValues did not fit their fields
        // End of snippet
        _ = report
        return database
    }

    static func load(_ file: String, into database: Database) async throws -> Int {
        // Snippet: Import a file
        var options = ImportOptions()
        options.format = .csv
        options.experiment = "imported"
        options.progress = { print($0.readBytes, "of", $0.totalBytes ?? 0, "bytes") }
        let report = try await importFiles([file], into: database, options: options)
        // End of snippet
        return report.points
    }

    static func read(_ database: Database) async throws -> [Sample] {
        // Snippet: Read typed rows
        let samples = try await database.query("SELECT * FROM dev").rows(as: Sample.self)
        // End of snippet
        return samples
    }

    static func bind(_ database: Database, participant: String, since: Timestamp) async throws
        -> [Sample]
    {
        // Snippet: Bind parameters
        let samples = try await database.query(
            "SELECT * FROM dev WHERE id_participant = $who AND time >= $since",
            parameters: ["who": participant, "since": since]
        ).rows(as: Sample.self)
        // End of snippet
        return samples
    }

    static func stream(_ database: Database) async throws -> Double {
        // Snippet: Stream a million rows
        var sum = 0.0
        for try await batch in try await database.cursor("SELECT ts_heart_rate FROM dev") {
            for rate in batch.column("ts_heart_rate")?.doubles ?? [] { sum += rate ?? 0 }
        }
        // End of snippet
        return sum
    }

    static func observe(
        _ database: Database, _ show: @escaping @Sendable (Int64) -> Bool
    ) async throws {
        // Snippet: Observe an answer
        for try await result in try database.values(of: "SELECT count(ts_heart_rate) FROM dev") {
            let count = result.series.first?.column("count")?.integers.first ?? nil
            guard show(count ?? 0) else { break }
        }
        // End of snippet
    }

    static func serve(_ path: String, _ server: some Service) async throws {
        // Snippet: Run in a service
        let logger = Logger(label: "backend")
        var options = DatabaseOptions()
        options.onEvent = EventReporter(logger: logger).report
        let database = try await Database.open(path, options: options)
        let group = ServiceGroup(
            services: [DatabaseService(database, logger: logger), server],
            gracefulShutdownSignals: [.sigterm], logger: logger)
        try await group.run()
        // End of snippet
    }

    static func test() throws -> Int {
        // Snippet: Test with a database of its own
        let database = try Database.inMemory()
        // End of snippet
        return try database.rowCount()
    }
}
