// A mutex with a condition variable and the state it protects. Synchronization's Mutex has no
// condition variable, but commits must wait for the thread that syncs. It also remembers the number
// of its thread, which the thread that called `fork` no longer has in the child.

internal import CozKernels

/// State shared by several threads, accessible only inside `withLock`.
@safe package final class Monitor<State>: @unchecked Sendable {
    // Unchecked, also for exclusive access, which would cost as much as the lock: both are accessed
    // only while it is held.
    @exclusivity(unchecked) private var state: State
    /// Threads that wait for a condition.
    @exclusivity(unchecked) private var waitingCount = 0
    /// The lock, and the condition.
    private let words = UnsafeMutablePointer<UInt32>.allocate(capacity: 2)

    package init(_ state: State) {
        unsafe self.state = state
        unsafe words.initialize(repeating: 0, count: 2)
    }

    deinit { unsafe words.deallocate() }

    /// Runs the body with the lock held. Wakes waiting threads afterwards.
    package func withLock<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        unsafe coz_lock(words)
        defer { unlock() }
        return try unsafe body(&state)
    }

    /// Runs the body with the lock held. Returns nil at once if another thread holds it.
    package func withLockIfFree<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard unsafe coz_try_lock(words) else { return nil }
        defer { unlock() }
        return try unsafe body(&state)
    }

    /// Waits until the condition holds, then runs the body with the lock held. Wakes the other
    /// waiting threads afterwards.
    package func withLock<Result, Failure: Error>(
        when condition: (borrowing State) -> Bool,
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        unsafe coz_lock(words)
        defer { unlock() }
        while unsafe !condition(state) {
            unsafe waitingCount += 1
            unsafe coz_condition_wait(words + 1, words)
            unsafe waitingCount -= 1
        }
        return try unsafe body(&state)
    }

    private func unlock() {
        if unsafe waitingCount > 0 { unsafe coz_condition_change(words + 1) }
        unsafe coz_unlock(words)
    }
}
