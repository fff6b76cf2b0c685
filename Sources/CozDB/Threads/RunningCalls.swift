// Counts the calls that change a database, so that closing it can wait for them.

internal import Synchronization

/// The calls in progress. Counting costs them no mutex.
final class RunningCalls: Sendable {
    private let count = Atomic(0)
    private let isEnded = Atomic(false)
    private let waiting = Monitor(())

    /// Returns whether a call may begin. If so, `leave` must follow.
    func enter() -> Bool {
        count.add(1, ordering: .sequentiallyConsistent)
        if !isEnded.load(ordering: .sequentiallyConsistent) { return true }
        leave()
        return false
    }

    func leave() {
        let isLast = count.subtract(1, ordering: .sequentiallyConsistent).newValue == 0
        if isLast, isEnded.load(ordering: .sequentiallyConsistent) { waiting.withLock { _ in } }
    }

    /// Refuses further calls and waits for those that have begun.
    func end() {
        isEnded.store(true, ordering: .sequentiallyConsistent)
        waiting.withLock(when: { _ in count.load(ordering: .sequentiallyConsistent) == 0 }) { _ in }
    }
}
