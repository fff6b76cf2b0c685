// Queries that run at once, on the thread of the task that asks. Services mostly ask for the last
// rows of a participant, which are in memory. That takes less time than the way to another thread
// and back beside busy writers.

internal import Synchronization

/// An attempt to run a query on the caller's thread. It gives up before it would read a file or
/// many rows, and when it takes too long.
final class BriefRun: Sendable {
    /// The longest text that is tried.
    static let textSizeBytesMax = 1 << 10
    private static let durationMax = Duration.milliseconds(1)

    private let end = ContinuousClock.now + BriefRun.durationMax
    private let givenUp = Atomic(false)

    var hasGivenUp: Bool { givenUp.load(ordering: .relaxed) }

    /// Whether the query must stop.
    var isOver: Bool {
        if hasGivenUp { return true }
        if ContinuousClock.now < end { return false }
        givenUp.store(true, ordering: .relaxed)
        return true
    }

    /// Gives up, and returns the error that ends the attempt.
    func giveUp() -> DatabaseError {
        givenUp.store(true, ordering: .relaxed)
        return DatabaseError(.cancelled, "the query is not brief")
    }
}
