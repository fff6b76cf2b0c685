// Calls that recurse as deep as their input nests: threads have stacks of half a mebibyte as well
// as of eight, and to run out of one ends the process.

internal import CKernels
internal import Glibc

/// Runs a call where the stack has room for it.
enum RoomyStack {
    private final class Work {
        let body: () -> Void
        init(_ body: @escaping () -> Void) { self.body = body }
    }

    /// Runs the body: on this thread where so much of its stack is left, else on one made for it,
    /// for which this one waits. Nil where the system has no thread left.
    static func run<Value>(sizeBytes: Int, _ body: () -> Value) -> Value? {
        if coz_stack_left() >= sizeBytes { return body() }
        var value: Value?
        runOnThread(sizeBytes: sizeBytes) { value = body() }
        return value
    }

    private static func runOnThread(sizeBytes: Int, _ body: () -> Void) {
        // The thread is done with it, and has released it, when this call returns.
        withoutActuallyEscaping(body) { runOnThread(sizeBytes: sizeBytes, Work($0)) }
    }

    private static func runOnThread(sizeBytes: Int, _ work: Work) {
        var attributes = pthread_attr_t()
        var all = sigset_t()
        var before = sigset_t()
        var thread = pthread_t()
        // All are local; the work is retained here and released by the thread, for which this one
        // waits. Signals of the process belong to its host's threads.
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        let pageBytes = 1 << 16
        let rounded = (sizeBytes + pageBytes - 1) / pageBytes * pageBytes
        unsafe pthread_attr_setstacksize(&attributes, rounded)
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
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
