// Signals, standard descriptors and memory of the process. The library leaves them to its host:
// this is it.

internal import CMalloc
internal import Glibc
internal import Synchronization

enum Signals {
    private static let interrupted = Atomic<Bool>(false)
    /// At a prompt Ctrl-C ends a statement, never the process.
    private static let isPrompting = Atomic<Bool>(false)
    /// Whether the process was started without a standard input.
    private static let inputWasClosed = Atomic<Bool>(false)
    /// A pipe that handlers write a byte to; -1 for none.
    private static let pipe = Atomic<Int32>(-1)

    /// Whether the user asked to stop (Ctrl-C). Long work looks here now and then.
    static var isInterrupted: Bool {
        interrupted.load(ordering: .relaxed)
    }

    /// Whether the caller closed standard input; nothing can be read from it.
    static var isInputClosed: Bool {
        inputWasClosed.load(ordering: .relaxed)
    }

    /// Seconds after Ctrl-C in which the command may end in its own way. What is not committed
    /// then is dropped, as after a crash; a second Ctrl-C does not wait.
    private static let graceSeconds: UInt32 = 2

    /// From now on Ctrl-C only sets `isInterrupted`.
    static func beginPrompt() {
        isPrompting.store(true, ordering: .relaxed)
    }

    /// Has handlers write to this descriptor, so that somebody who waits for a key as well sees
    /// a signal that came to another thread.
    static func wake(by descriptor: Int32) {
        pipe.store(descriptor, ordering: .relaxed)
    }

    /// Called by handlers.
    static func wake() {
        let descriptor = pipe.load(ordering: .relaxed)
        guard descriptor >= 0 else { return }
        let number = errno
        var byte: UInt8 = 0
        // One byte, of a variable of one byte. A full pipe wakes as well.
        _ = unsafe write(descriptor, &byte, 1)
        errno = number
    }

    /// Forgets a Ctrl-C, before the next statement or line.
    static func clearInterrupt() {
        interrupted.store(false, ordering: .relaxed)
    }

    /// Called once, before any thread exists.
    static func prepareProcess() {
        // A full file size limit or a closed pipe shall be an error code, not a death.
        signal(SIGXFSZ, SIG_IGN)
        signal(SIGPIPE, SIG_IGN)
        fillStandardDescriptors()
        boundMemory()
        // Programs with threads of their own often start others with their threads' blocked
        // signals; Ctrl-C and kill shall work all the same.
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe sigprocmask(SIG_SETMASK, &none, nil)
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_handler = { _ in
            // Only calls that are allowed in a handler: load, store, write, alarm, _exit.
            let isSecond = Signals.interrupted.exchange(true, ordering: .relaxed)
            Signals.wake()
            if Signals.isPrompting.load(ordering: .relaxed) { return }
            if isSecond { _exit(130) }
            alarm(Signals.graceSeconds)
        }
        // Without SA_RESTART: a read that waits for input comes back and can stop.
        unsafe sigaction(SIGINT, &action, nil)
        signal(SIGALRM) { _ in _exit(130) }
    }

    /// Fewer arenas, and free memory goes back to the system at once. Batches are filled by one
    /// thread and freed by another; glibc would keep what is free in up to eight arenas per core,
    /// and raise the threshold whenever a large block is freed. Measured: 40 MB less at the peak
    /// of an import, at the same speed. Blocks of less than a mebibyte, which come and go with
    /// each slab of rows, stay: as mappings of their own they would be fresh pages every time,
    /// two fifths of the system's share of an import.
    private static func boundMemory() {
        mallopt(M_ARENA_MAX, 2)
        mallopt(M_TRIM_THRESHOLD, 128 << 10)
        mallopt(M_MMAP_THRESHOLD, 1 << 20)
    }

    /// What is free stays with the process: for those that answer one statement after the other,
    /// whose buffers would come as fresh pages every time. Measured: a sixth of the time of a
    /// statement that reads a million values.
    static func keepMemory() {
        mallopt(M_TRIM_THRESHOLD, 64 << 20)
        mallopt(M_MMAP_THRESHOLD, 16 << 20)
    }

    /// A descriptor that was closed by the caller would be taken by the next file opened, and
    /// output would end up in a file of the database.
    private static func fillStandardDescriptors() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
        where fcntl(descriptor, F_GETFD) < 0 {
            if descriptor == STDIN_FILENO { inputWasClosed.store(true, ordering: .relaxed) }
            // The lowest free number is the one that was found closed.
            _ = unsafe open("/dev/null", O_RDWR)
        }
    }
}
