// A lock with the state it guards and a way to wait for a change of it. Synchronization's Mutex
// has no condition variable, and the writer needs one: commits wait for the thread that syncs.

internal import Glibc

/// State that several threads share; reached only inside `withLock`.
@safe package final class Monitor<State>: @unchecked Sendable {
    // Unchecked: `state` is read and written only between lock and unlock.
    private var state: State
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    package init(_ state: State) {
        self.state = state
        // Adaptive: a thread that finds it taken looks again for a moment before it sleeps. Bodies
        // are short, and a hundred committing threads would spend their time on being woken.
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

    /// Waits until the condition holds, then runs the body alone; wakes all that wait afterwards.
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
