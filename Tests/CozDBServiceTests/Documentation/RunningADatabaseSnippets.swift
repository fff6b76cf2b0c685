// The code of the article Running a database, which DocumentationTests compares with the article.

#if Service

internal import CozDB
internal import CozDBService
internal import CozTestSupport
internal import Logging
internal import ServiceLifecycle
internal import ServiceLifecycleTestKit
internal import Testing
internal import UnixSignals

// Snippet: Run a group
func run(path: String, makeServer: (Database) -> any Service) async throws {
    let logger = Logger(label: "backend")
    var options = DatabaseOptions()
    options.onEvent = EventReporter(logger: logger).report
    let database = try await Database.open(path, options: options)
    let group = ServiceGroup(
        services: [DatabaseService(database, logger: logger), makeServer(database)],
        gracefulShutdownSignals: [.sigterm], logger: logger)
    try await group.run()
}
// End of snippet

// Snippet: Test a service
func test(makeServer: (Database) -> any Service) async throws {
    let database = try Database.inMemory()
    let logger = Logger(label: "test")
    let service = DatabaseService(database, logger: logger)
    let group = ServiceGroup(services: [service, makeServer(database)], logger: logger)
    try await testGracefulShutdown { trigger in
        async let ended: Void = group.run()
        // Call the server here, and expect rows in the database.
        trigger.triggerGracefulShutdown()
        try await ended
    }
}
// End of snippet

/// Ends at a graceful shutdown, as a server does.
private struct WaitingServer: Service {
    func run() async throws { try await gracefulShutdown() }
}

struct RunningADatabaseSnippets {
    @Test func `the article's group closes its database`() async throws {
        let folder = TemporaryDirectory()
        try await testGracefulShutdown { trigger in
            async let ended: Void = run(path: folder.path) { _ in WaitingServer() }
            trigger.triggerGracefulShutdown()
            try await ended
        }
        #expect(!folder.files.isEmpty)
        // Fails if the lock is not free.
        try await Database.open(folder.path).close()
    }

    @Test func `the article's test ends`() async throws {
        try await test { _ in WaitingServer() }
    }
}

#endif
