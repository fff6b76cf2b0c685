// What a service does with its database, and where events go.

#if Service

internal import CozDB
internal import CozDBService
internal import InMemoryLogging
internal import Logging
internal import MetricsTestKit
internal import ServiceLifecycle
internal import ServiceLifecycleTestKit
internal import Testing

struct DatabaseServiceTests {
    private let metrics = TestMetrics()
    private let log = InMemoryLogHandler()

    private var logger: Logger {
        var logger = Logger(label: "test") { _ in log }
        logger.logLevel = .debug
        return logger
    }

    private func write(_ count: Int, to database: Database) async throws {
        var batch = WriteBatch()
        for second in 0..<count {
            try batch.add(
                experiment: "dev", tags: ["id_participant": "p1"],
                time: Timestamp(nanoseconds: Int64(second) * 1_000_000_000),
                fields: ["x": .integer(1)])
        }
        _ = try await database.write(batch)
    }

    private func gauge(_ label: String) -> Double? {
        metrics.meters(label: label).first?.lastValue
    }

    @Test func `the database closes when the group has shut down`() async throws {
        let database = try Database.inMemory()
        let service = DatabaseService(
            database, logger: logger, interval: .milliseconds(1), metrics: metrics)
        try await testGracefulShutdown { trigger in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await service.run() }
                try await write(5, to: database)
                while gauge("cozdb_rows") != 5 {
                    try await Task.sleep(for: .milliseconds(1))
                }
                trigger.triggerGracefulShutdown()
                try await group.waitForAll()
            }
        }
        #expect(gauge("cozdb_commits") == 1 && gauge("cozdb_refusals") == 0)
        let error = await #expect(throws: DatabaseError.self) {
            try await write(1, to: database)
        }
        #expect(error?.kind == .closed)
    }

    @Test func `a service listed later ends before the database closes`() async throws {
        /// Writes once more when it is told to end.
        struct Writer: Service {
            let write: @Sendable () async throws -> Void
            func run() async throws {
                try? await gracefulShutdown()
                try await write()
            }
        }
        let database = try Database.inMemory()
        let service = DatabaseService(database, logger: logger, metrics: metrics)
        let writer = Writer { try await write(1, to: database) }
        try await testGracefulShutdown { trigger in
            let group = ServiceGroup(services: [service, writer], logger: logger)
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { try await group.run() }
                try await Task.sleep(for: .milliseconds(20))
                trigger.triggerGracefulShutdown()
                try await tasks.waitForAll()
            }
        }
        let error = #expect(throws: DatabaseError.self) { try database.rowCount() }
        #expect(error?.kind == .closed)
    }

    @Test func `cancelling the task closes the database, too`() async throws {
        let database = try Database.inMemory()
        let service = DatabaseService(database, logger: logger, metrics: metrics)
        let task = Task { try await service.run() }
        task.cancel()
        try await task.value
        let error = #expect(throws: DatabaseError.self) { try database.rowCount() }
        #expect(error?.kind == .closed)
    }

    @Test func `events are messages and metrics`() async throws {
        let reporter = EventReporter(logger: logger, database: "study", metrics: metrics)
        var options = DatabaseOptions()
        options.onEvent = reporter.report
        let database = try Database.inMemory(options: options)
        try await write(3, to: database)
        try await database.flush()
        let flushed = log.entries.first { $0.message.description.hasPrefix("flushed") }
        #expect(flushed?.level == .debug)
        #expect(flushed?.metadata["database"] == "study")
        #expect(flushed?.metadata["bytes"] != nil)
        let bytes = try metrics.expectCounter("cozdb_flushed_bytes", [("database", "study")])
        #expect(bytes.totalValue > 0)
        let timer = try metrics.expectTimer("cozdb_flush_duration", [("database", "study")])
        #expect(timer.values.count == 1)
    }

    @Test(arguments: [
        (
            DatabaseEvent.recovered(commits: 2, discardedBytes: 0), Logger.Level.notice,
            "recoveries"
        ),
        (.merged(inputs: 4, outputs: 1, sizeBytes: 9), .debug, "merges"),
        (.mergeFailed(DatabaseError(.io, "x")), .error, "merge_failures"),
        (.removedObsoleteFiles, .warning, "space_shortages"),
        (.stoppedWriting(DatabaseError(.io, "x")), .critical, "write_stops"),
    ])
    func `each event has its level and its counter`(
        event: DatabaseEvent, level: Logger.Level, counter: String
    ) throws {
        EventReporter(logger: logger, metrics: metrics).report(event)
        #expect(log.entries.map(\.level) == [level])
        #expect(log.entries[0].message.description == event.description)
        #expect(try metrics.expectCounter("cozdb_\(counter)").totalValue == 1)
    }
}

#endif
