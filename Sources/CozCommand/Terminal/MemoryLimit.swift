// Memory limits (ulimit -v). A limit that is too low is refused at the start. If memory runs out
// later, Swift ends the process with a signal, and a handler prints the reason.

internal import CozDB
internal import CozPlatform

enum MemoryLimit {
    /// With less memory, an import of ordinary rows fails. It needs two memtables, the batches
    /// between reader and writer, a chunk of a segment, and the stacks of a few threads.
    private static let sizeBytesMin: rlim_t = 256 << 20
    private static let alternateStackSizeBytes = 64 << 10

    /// Checks the limit. Call it once, before any file is opened. Does nothing without a limit.
    ///
    /// - Throws: `limitExceeded` if the limit is too low for any work.
    static func prepare() throws(DatabaseError) {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0,
            limit.rlim_cur != rlim_t.max
        else { return }
        guard limit.rlim_cur >= sizeBytesMin else {
            throw DatabaseError(
                .limitExceeded,
                "found a memory limit of \(limit.rlim_cur >> 20) MiB (RLIMIT_AS), expected at "
                    + "least \(sizeBytesMin >> 20) MiB; nothing was done. Raise the limit with "
                    + "ulimit -v \(sizeBytesMin >> 10)")
        }
        watch()
    }

    /// Installs handlers for the signals with which Swift ends a process that is out of memory.
    /// They print a message and exit with a status.
    private static func watch() {
        // A handler needs its own stack when the normal one cannot grow. The memory is never freed.
        var stack = unsafe stack_t()
        unsafe stack.ss_sp = UnsafeMutableRawPointer.allocate(
            byteCount: alternateStackSizeBytes, alignment: 16)
        unsafe stack.ss_size = alternateStackSizeBytes
        unsafe sigaltstack(&stack, nil)
        var action = sigaction()
        action.sa_flags = SA_ONSTACK
        unsafe action.__sigaction_handler.sa_handler = { _ in
            // Only async-signal-safe calls.
            let text: StaticString = """
                cozdb: out of memory, or a bug in cozdb; a memory limit is set (RLIMIT_AS). \
                Acknowledged data is safe. Raise the limit with ulimit -v unlimited

                """
            // Sound: the bytes of a literal.
            _ = unsafe write(STDERR_FILENO, text.utf8Start, text.utf8CodeUnitCount)
            _exit(ExitStatus.limitExceeded.rawValue)
        }
        for number in [SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGTRAP] {
            unsafe sigaction(number, &action, nil)
        }
    }
}
