// A mutex with a condition variable and the state it protects. Synchronization's Mutex has no
// condition variable, but commits must wait for the thread that syncs. It also remembers the number
// of its thread, which the thread that called `fork` no longer has in the child.

internal import Glibc

/// State shared by several threads, accessible only inside `withLock`.
@safe package final class Monitor<State>: @unchecked Sendable {
    // Unchecked: `state` and the count are accessed only while the mutex is held.
    private var state: State
    /// Threads that wait for a condition.
    private var waitingCount = 0
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    package init(_ state: State) {
        self.state = state
        // Adaptive: a waiting thread spins briefly before it sleeps. Critical sections are short,
        // and a hundred committing threads would otherwise spend their time on wakeups.
        var kind = pthread_mutexattr_t()
        unsafe pthread_mutexattr_init(&kind)
        unsafe pthread_mutexattr_settype(&kind, Int32(PTHREAD_MUTEX_ADAPTIVE_NP))
        unsafe pthread_mutex_init(lock, &kind)
        unsafe pthread_mutexattr_destroy(&kind)
        unsafe pthread_cond_init(changed, nil)
    }

    deinit {
        unsafe pthread_cond_destroy(changed)
        unsafe pthread_mutex_destroy(lock)
        unsafe changed.deallocate()
        unsafe lock.deallocate()
    }

    /// Runs the body with the mutex held. Wakes waiting threads afterwards.
    package func withLock<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        unsafe pthread_mutex_lock(lock)
        defer { unlock() }
        return try body(&state)
    }

    /// Waits until the condition holds, then runs the body with the mutex held. Wakes the other
    /// waiting threads afterwards.
    package func withLock<Result, Failure: Error>(
        when condition: (borrowing State) -> Bool,
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        unsafe pthread_mutex_lock(lock)
        defer { unlock() }
        while !condition(state) {
            waitingCount += 1
            unsafe pthread_cond_wait(changed, lock)
            waitingCount -= 1
        }
        return try body(&state)
    }

    private func unlock() {
        if waitingCount > 0 { unsafe pthread_cond_broadcast(changed) }
        unsafe pthread_mutex_unlock(lock)
    }
}
