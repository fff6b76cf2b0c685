// Detached threads. If the system has no thread left, Dispatch waits without end; starting one of
// these fails, and the caller does the work instead.

internal import Glibc

/// Starts a detached thread for one piece of work.
enum DetachedThread {
    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// The signals that threads of the library block, because they belong to the host's threads:
    /// all except those of a thread's own faults. Blocked, a fault would end the process without
    /// the host's handler.
    static var hostSignals: sigset_t {
        var signals = sigset_t()
        // Sound: the set is local.
        unsafe sigfillset(&signals)
        for fault in [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE] {
            unsafe sigdelset(&signals, fault)
        }
        return signals
    }

    /// Starts the work. Returns false if the system has no thread left.
    ///
    /// The thread blocks `hostSignals`.
    static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        var blocked = DetachedThread.hostSignals
        var before = sigset_t()
        var thread = pthread_t()
        // Sound: the sets are local. The work is retained here and released by the thread.
        unsafe pthread_sigmask(SIG_SETMASK, &blocked, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        let work = unsafe Unmanaged.passRetained(Work(body))
        let status = unsafe pthread_create(
            &thread, nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            }, work.toOpaque())
        guard status == 0 else {
            unsafe work.release()
            return false
        }
        pthread_detach(thread)
        return true
    }
}
