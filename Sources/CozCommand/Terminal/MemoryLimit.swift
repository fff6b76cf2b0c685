// A limit of memory (ulimit -v): one that is too low for any work is refused at once. Where memory
// runs out amid the work, Swift ends the process by a signal; what is left to do then is to say so.

internal import CozDB
internal import Glibc

enum MemoryLimit {
    /// With less, an import of ordinary rows runs out of memory: two memtables, the batches between
    /// reader and writer, a segment's slab, and the stacks of a few threads.
    private static let sizeBytesMin: rlim_t = 256 << 20
    private static let alternateStackSizeBytes = 64 << 10

    /// Called once, before any file is opened. Without a limit nothing changes.
    ///
    /// - Throws: `limitExceeded` where the limit is too low for any work.
    static func prepare() throws(DatabaseError) {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0,
            limit.rlim_cur != rlim_t.max
        else { return }
        guard limit.rlim_cur >= sizeBytesMin else {
            throw DatabaseError(
                .limitExceeded,
                "found a limit of \(limit.rlim_cur >> 20) MiB of memory (RLIMIT_AS), expected at "
                    + "least \(sizeBytesMin >> 20); nothing was done. Raise it: "
                    + "ulimit -v \(sizeBytesMin >> 10)")
        }
        watch()
    }

    /// Has the signals in which Swift ends for want of memory end with a sentence and a status.
    private static func watch() {
        // A stack that cannot grow leaves a handler no room on it. The memory is never freed.
        var stack = unsafe stack_t()
        unsafe stack.ss_sp = UnsafeMutableRawPointer.allocate(
            byteCount: alternateStackSizeBytes, alignment: 16)
        unsafe stack.ss_size = alternateStackSizeBytes
        unsafe sigaltstack(&stack, nil)
        var action = sigaction()
        action.sa_flags = SA_ONSTACK
        unsafe action.__sigaction_handler.sa_handler = { _ in
            // Only calls that are allowed in a handler.
            let text: StaticString = """
                cozdb: memory ran out amid the work, or this is a defect of cozdb: there is a \
                limit (RLIMIT_AS). What was acknowledged is safe. Raise it: ulimit -v unlimited

                """
            // The bytes of a literal.
            _ = unsafe write(STDERR_FILENO, text.utf8Start, text.utf8CodeUnitCount)
            _exit(ExitStatus.limitExceeded.rawValue)
        }
        for number in [SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGTRAP] {
            unsafe sigaction(number, &action, nil)
        }
    }
}
