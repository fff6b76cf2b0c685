// A database in a group of services: open while they run, closed after the last of them.

#if Service

public import CozDB
public import CoreMetrics
public import Logging
internal import Metrics
public import ServiceLifecycle

/// Keeps a database open while a `ServiceGroup` runs, and closes it at the end.
///
/// A group shuts its services down in reverse order. So list the database before the services that
/// use it: it closes when they have ended. Closing flushes, and releases the lock.
///
/// Meanwhile the service samples the database and reports these gauges:
///
/// | gauge | value |
/// | --- | --- |
/// | `cozdb_commits` | commits so far |
/// | `cozdb_disk_bytes` | size of all files |
/// | `cozdb_log_bytes` | size of the write-ahead logs |
/// | `cozdb_segments` | number of segments |
/// | `cozdb_rows` | rows of all experiments |
/// | `cozdb_refusals` | lines and values in the rejects journal |
/// | `cozdb_unkept_refusals` | refusals that the journal had no room for |
public struct DatabaseService: Service, CustomStringConvertible {
    /// The database, for the services that use it.
    public let database: Database
    /// The name of the service in messages of its group.
    public let description: String
    private let logger: Logger
    private let interval: Duration
    private let gauges: [(gauge: Meter, value: @Sendable (DatabaseInfo) -> Int)]

    /// - Parameters:
    ///   - database: an open database.
    ///   - logger: where failures go.
    ///   - name: the name of the database in metrics and messages; nil if there is only one.
    ///   - interval: between two samples, 1 ms to 68 years. A sample reads the directories of all
    ///     segments.
    ///   - metrics: where gauges go.
    public init(
        _ database: Database, logger: Logger, name: String? = nil,
        interval: Duration = .seconds(60),
        metrics: any MetricsFactory = MetricsSystem.factory
    ) {
        self.database = database
        var logger = logger
        if let name { logger[metadataKey: "database"] = "\(name)" }
        self.logger = logger
        description = name.map { "DatabaseService(\($0))" } ?? "DatabaseService"
        // Task.sleep traps if the clock cannot express the end of its wait.
        self.interval = min(max(interval, .milliseconds(1)), .seconds(1 << 31))
        let dimensions = name.map { [("database", $0)] } ?? []
        let values: [(String, @Sendable (DatabaseInfo) -> Int)] = [
            ("cozdb_commits", { Int(clamping: $0.sequence) }),
            ("cozdb_disk_bytes", { $0.diskBytes }),
            ("cozdb_log_bytes", { $0.walBytes }),
            ("cozdb_segments", { $0.segments }),
            ("cozdb_rows", { $0.experiments.reduce(0) { $0 + $1.rows } }),
            ("cozdb_refusals", { $0.rejects }),
            ("cozdb_unkept_refusals", { $0.unkeptRejects }),
        ]
        gauges = values.map { label, value in
            (Meter(label: label, dimensions: dimensions, factory: metrics), value)
        }
    }

    /// Samples until the group shuts down or the task is cancelled, then closes the database.
    ///
    /// - Throws: `DatabaseError` if closing fails. What was acknowledged is safe; see
    ///   `Database.close()`.
    public func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await sample()
                try? await Task.sleep(for: interval)
            }
        }
        try await database.close()
    }

    private func sample() async {
        do throws(DatabaseError) {
            let info = try await database.info()
            for (gauge, value) in gauges { gauge.set(value(info)) }
        } catch {
            if error.kind == .cancelled { return }
            logger.warning("the database could not be sampled", metadata: ["error": "\(error)"])
        }
    }
}

#else

/// Not there without the package's trait `Service`.
@available(
    *, unavailable,
    message: "depend on the package of CozDB with the trait Service: traits: [\"Service\"]"
)
public struct DatabaseService {}

#endif
