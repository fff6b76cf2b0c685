// Starts the service: opens the database, serves until a signal comes, closes the database.

import CozDB
import CozDBService
import CozStudy
import Hummingbird
import Logging
import ServiceLifecycle

@main
struct Backend {
    /// The database, the port and the address of the service come from the environment.
    static func main() async throws {
        let environment = Environment()
        let logger = Logger(label: "backend")
        let database = try await open(environment.get("DATABASE") ?? "study.cozdb", logger)
        let server = Application(
            router: makeRouter(database),
            configuration: .init(
                address: .hostname(
                    environment.get("HOST") ?? "127.0.0.1",
                    port: environment.get("PORT", as: Int.self) ?? 8080)),
            logger: logger)
        // The group shuts down in reverse order: first the server, which completes the requests it
        // has begun, then the database.
        let group = ServiceGroup(
            services: [DatabaseService(database, logger: logger), server],
            gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        try await group.run()
    }

    private static func open(_ path: String, _ logger: Logger) async throws -> Database {
        var options = DatabaseOptions()
        options.onEvent = EventReporter(logger: logger).report
        options.queryLimits.memorySizeBytesMax = 256 << 20
        return try await Database.open(path, options: options)
    }
}
