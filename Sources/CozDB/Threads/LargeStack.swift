// Runs deeply recursive calls on a large enough stack. Thread stacks range from 512 KiB to 8 MiB,
// and a stack overflow kills the process.

internal import CozKernels
internal import Glibc

/// Runs a call with enough stack.
enum LargeStack {
    private final class Work {
        let body: () -> Void
        init(_ body: @escaping () -> Void) { self.body = body }
    }

    /// Runs the body on this thread if it has this much stack left; otherwise on a new thread,
    /// while this one waits. Returns nil if the system has no thread left.
    static func run<Value>(sizeBytes: Int, _ body: () -> Value) -> Value? {
        if coz_stack_remaining() >= sizeBytes { return body() }
        var value: Value?
        runOnThread(sizeBytes: sizeBytes) { value = body() }
        return value
    }

    private static func runOnThread(sizeBytes: Int, _ body: () -> Void) {
        // Does not escape: the thread has finished and released it when this call returns.
        withoutActuallyEscaping(body) { runOnThread(sizeBytes: sizeBytes, Work($0)) }
    }

    private static func runOnThread(sizeBytes: Int, _ work: Work) {
        var attributes = pthread_attr_t()
        var blocked = DetachedThread.hostSignals
        var before = sigset_t()
        var thread = pthread_t()
        // Sound: all of these are local. The work is retained here and released by the thread,
        // which is joined below.
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        let pageBytes = 1 << 16
        let rounded = (sizeBytes + pageBytes - 1) / pageBytes * pageBytes
        unsafe pthread_attr_setstacksize(&attributes, rounded)
        unsafe pthread_sigmask(SIG_SETMASK, &blocked, &before)
        let retained = unsafe Unmanaged.passRetained(work)
        let status = unsafe pthread_create(
            &thread, &attributes,
            { argument in
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            }, retained.toOpaque())
        unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
        guard status == 0 else {
            unsafe retained.release()
            return
        }
        pthread_join(thread, nil)
    }
}
