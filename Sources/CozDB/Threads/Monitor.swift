// A mutex with a condition variable and the state it protects. Synchronization's Mutex has no
// condition variable, but commits must wait for the thread that syncs. It also remembers the number
// of its thread, which the thread that called `fork` no longer has in the child.

internal import CozKernels

/// State shared by several threads, accessible only inside `withLock`.
@safe package final class Monitor<State>: @unchecked Sendable {
    // Unchecked: `state` and the count are accessed only while the lock is held.
    private var state: State
    /// Threads that wait for a condition.
    private var waitingCount = 0
    /// The lock, and the condition.
    private let words = UnsafeMutablePointer<UInt32>.allocate(capacity: 2)

    package init(_ state: State) {
        self.state = state
        unsafe words.initialize(repeating: 0, count: 2)
    }

    deinit { unsafe words.deallocate() }

    /// Runs the body with the lock held. Wakes waiting threads afterwards.
    package func withLock<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        unsafe coz_lock(words)
        defer { unlock() }
        return try body(&state)
    }

    /// Waits until the condition holds, then runs the body with the lock held. Wakes the other
    /// waiting threads afterwards.
    package func withLock<Result, Failure: Error>(
        when condition: (borrowing State) -> Bool,
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        unsafe coz_lock(words)
        defer { unlock() }
        while !condition(state) {
            waitingCount += 1
            unsafe coz_condition_wait(words + 1, words)
            waitingCount -= 1
        }
        return try body(&state)
    }

    private func unlock() {
        if waitingCount > 0 { unsafe coz_condition_change(words + 1) }
        unsafe coz_unlock(words)
    }
}
