// Runs deeply recursive calls on a large enough stack. Thread stacks range from 512 KiB to 8 MiB,
// and a stack overflow kills the process.

internal import CozKernels

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
        let pageBytes = 1 << 16
        let rounded = (sizeBytes + pageBytes - 1) / pageBytes * pageBytes
        // Sound: the work is retained here and released by the thread, which ends within the call.
        let retained = unsafe Unmanaged.passRetained(work)
        let status = unsafe coz_thread_run(
            rounded,
            { argument in
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            }, retained.toOpaque())
        if status != 0 { unsafe retained.release() }
    }
}
