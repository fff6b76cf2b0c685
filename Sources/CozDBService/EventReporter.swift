// The events of a database, for swift-log and swift-metrics.

#if Service

public import CozDB
public import CoreMetrics
public import Logging
internal import Metrics

/// Reports the events of databases to a log and to metrics.
///
/// | event | level | metrics |
/// | --- | --- | --- |
/// | `recovered` | notice | counter `cozdb_recoveries` |
/// | `flushed` | debug | timer `cozdb_flush_duration`, counter `cozdb_flushed_bytes` |
/// | `merged` | debug | counters `cozdb_merges`, `cozdb_merged_bytes` |
/// | `mergeFailed` | error | counter `cozdb_merge_failures` |
/// | `removedObsoleteFiles` | warning | counter `cozdb_space_shortages` |
/// | `stoppedWriting` | critical | counter `cozdb_write_stops` |
///
/// The numbers of an event are metadata of its message: `commits`, `bytes` and so on. None is a
/// measured value. Metrics have the dimension `database` if the reporter has a name for it.
public struct EventReporter: Sendable {
    private let logger: Logger
    private let recoveries: Counter
    private let flushDuration: Metrics.Timer
    private let flushedBytes: Counter
    private let merges: Counter
    private let mergedBytes: Counter
    private let mergeFailures: Counter
    private let spaceShortages: Counter
    private let writeStops: Counter

    /// - Parameters:
    ///   - logger: where messages go.
    ///   - database: the name of the database in metrics and messages; nil if there is only one.
    ///   - metrics: where metrics go.
    public init(
        logger: Logger, database: String? = nil,
        metrics: any MetricsFactory = MetricsSystem.factory
    ) {
        var logger = logger
        if let database { logger[metadataKey: "database"] = "\(database)" }
        self.logger = logger
        let dimensions = database.map { [("database", $0)] } ?? []
        func counter(_ label: String) -> Counter {
            Counter(label: label, dimensions: dimensions, factory: metrics)
        }
        recoveries = counter("cozdb_recoveries")
        flushDuration = Metrics.Timer(
            label: "cozdb_flush_duration", dimensions: dimensions, factory: metrics)
        flushedBytes = counter("cozdb_flushed_bytes")
        merges = counter("cozdb_merges")
        mergedBytes = counter("cozdb_merged_bytes")
        mergeFailures = counter("cozdb_merge_failures")
        spaceShortages = counter("cozdb_space_shortages")
        writeStops = counter("cozdb_write_stops")
    }

    /// Reports one event. `DatabaseOptions.onEvent` takes this method.
    public func report(_ event: DatabaseEvent) {
        var level = Logger.Level.debug
        var numbers: Logger.Metadata = [:]
        switch event {
        case .recovered(let commits, let discardedBytes):
            level = .notice
            numbers = ["commits": "\(commits)", "discarded_bytes": "\(discardedBytes)"]
            recoveries.increment()
        case .flushed(let sizeBytes, let duration):
            numbers = ["bytes": "\(sizeBytes)", "duration": "\(duration)"]
            flushDuration.record(duration: duration)
            flushedBytes.increment(by: sizeBytes)
        case .merged(let inputs, let outputs, let sizeBytes):
            numbers = ["bytes": "\(sizeBytes)", "inputs": "\(inputs)", "outputs": "\(outputs)"]
            merges.increment()
            mergedBytes.increment(by: sizeBytes)
        case .mergeFailed(let error):
            level = .error
            numbers = ["kind": "\(error.kind)"]
            mergeFailures.increment()
        case .removedObsoleteFiles:
            level = .warning
            spaceShortages.increment()
        case .stoppedWriting(let error):
            level = .critical
            numbers = ["kind": "\(error.kind)"]
            writeStops.increment()
        @unknown default: level = .notice
        }
        logger.log(level: level, "\(event)", metadata: numbers)
    }
}

#else

/// Not there without the package's trait `Service`.
@available(
    *, unavailable,
    message: "depend on the package of CozDB with the trait Service: traits: [\"Service\"]"
)
public struct EventReporter {}

#endif
