// A mutex with a condition variable and the state it protects. Synchronization's Mutex has no
// condition variable, but commits must wait for the thread that syncs. It also remembers the number
// of its thread, which the thread that called `fork` no longer has in the child.

internal import Glibc

/// State shared by several threads, accessible only inside `withLock`.
@safe package final class Monitor<State>: @unchecked Sendable {
    // Unchecked: `state` is accessed only while the mutex is held.
    private var state: State
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

    /// Waits until the condition holds, then runs the body with the mutex held. Wakes all waiters
    /// afterwards.
    package func withLock<Result, Failure: Error>(
        when condition: (borrowing State) -> Bool = { _ in true },
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        unsafe pthread_mutex_lock(lock)
        while !condition(state) { unsafe pthread_cond_wait(changed, lock) }
        defer {
            unsafe pthread_cond_broadcast(changed)
            unsafe pthread_mutex_unlock(lock)
        }
        return try body(&state)
    }
}
