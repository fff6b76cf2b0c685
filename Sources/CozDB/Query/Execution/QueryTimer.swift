// The time that a query may take.

internal import Synchronization

/// Stops a query when it has run for its maximum time. One thread at a time runs it; its other
/// threads only ask.
final class QueryTimer: Sendable {
    private let durationMax: Duration
    private let start = ContinuousClock.now
    /// The nanoseconds that the query has run before the current run, and when that began.
    private let used = Atomic<Int64>(0)
    private let runStart = Atomic<Int64>(.max)

    init(_ durationMax: Duration) {
        self.durationMax = durationMax
    }

    private var now: Int64 { Int64(clamping: (ContinuousClock.now - start).wholeNanoseconds) }

    private var isOver: Bool {
        let begun = runStart.load(ordering: .relaxed)
        let current = begun == .max ? 0 : now - begun
        return .nanoseconds(used.load(ordering: .relaxed) + current) >= durationMax
    }

    /// Returns the condition that ends the query: that of the caller, or the time.
    func check(_ isCancelled: (@Sendable () -> Bool)?) -> @Sendable () -> Bool {
        { isCancelled?() == true || self.isOver }
    }

    /// Runs a part of the query, and counts its time.
    func run<Value>(_ body: () throws(DatabaseError) -> Value) throws(DatabaseError) -> Value {
        let begun = now
        runStart.store(begun, ordering: .relaxed)
        defer {
            used.add(now - begun, ordering: .relaxed)
            runStart.store(.max, ordering: .relaxed)
        }
        do throws(DatabaseError) {
            return try body()
        } catch {
            throw cause(of: error)
        }
    }

    /// Returns the error of the limit, if that is why a query was cancelled.
    func cause(of error: DatabaseError) -> DatabaseError {
        guard error.kind == .cancelled, isOver else { return error }
        return DatabaseError(
            .limitExceeded,
            "the query ran for \(durationMax) (durationMax); narrow the time range, group into "
                + "fewer groups or buckets, or raise the limit")
    }
}
