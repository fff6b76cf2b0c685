// Detached threads. If the system has no thread left, Dispatch waits without end; starting one of
// these fails, and the caller does the work instead.

internal import CozKernels

/// Starts a detached thread for one piece of work.
enum DetachedThread {
    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Starts the work. Returns false if the system has no thread left.
    static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        // Sound: the work is retained here and released by the thread.
        let work = unsafe Unmanaged.passRetained(Work(body))
        let status = unsafe coz_thread_start(
            { argument in
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            }, work.toOpaque())
        guard status == 0 else {
            unsafe work.release()
            return false
        }
        return true
    }
}
