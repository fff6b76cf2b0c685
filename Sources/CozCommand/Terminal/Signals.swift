// Signals, standard descriptors and memory settings of the process. The library leaves these to its
// host, which is this command.

internal import CozMalloc
internal import CozPlatform
internal import Synchronization

enum Signals {
    private static let interrupted = Atomic<Bool>(false)
    /// Whether a prompt is running, where Ctrl-C ends a statement but not the process.
    private static let isPrompting = Atomic<Bool>(false)
    /// Whether the process was started without standard input.
    private static let inputWasClosed = Atomic<Bool>(false)
    /// The pipe that handlers write a byte to; -1 for none.
    private static let pipe = Atomic<Int32>(-1)

    /// Whether the user asked to stop (Ctrl-C). Long operations check it from time to time.
    static var isInterrupted: Bool {
        interrupted.load(ordering: .relaxed)
    }

    /// Whether the caller closed standard input, so that nothing can be read from it.
    static var isInputClosed: Bool {
        inputWasClosed.load(ordering: .relaxed)
    }

    /// Seconds after Ctrl-C in which the command may finish normally. After that the process exits,
    /// and uncommitted data is lost as in a crash. A second Ctrl-C exits at once.
    private static let graceSeconds: UInt32 = 2

    /// From now on, Ctrl-C only sets `isInterrupted`.
    static func beginPrompt() {
        isPrompting.store(true, ordering: .relaxed)
    }

    /// Lets handlers write to this descriptor. It wakes a thread that waits for a key, even if
    /// another thread got the signal.
    static func wake(by descriptor: Int32) {
        pipe.store(descriptor, ordering: .relaxed)
    }

    /// Wakes the waiting thread. Handlers call it.
    static func wake() {
        let descriptor = pipe.load(ordering: .relaxed)
        guard descriptor >= 0 else { return }
        let number = errno
        var byte: UInt8 = 0
        // Sound: writes one byte from a one-byte variable. A full pipe wakes the thread as well.
        _ = unsafe write(descriptor, &byte, 1)
        errno = number
    }

    /// Clears an earlier Ctrl-C, before the next statement or line.
    static func clearInterrupt() {
        interrupted.store(false, ordering: .relaxed)
    }

    /// Prepares the process. Call it once, before any thread exists.
    static func prepareProcess() {
        // Exceeding a file size limit or writing to a closed pipe must be an error, not end the
        // process.
        signal(SIGXFSZ, SIG_IGN)
        signal(SIGPIPE, SIG_IGN)
        // Swift's runtime would print a backtrace and go on.
        signal(SIGQUIT, SIG_DFL)
        openMissingStandardDescriptors()
        configureAllocator()
        // Multithreaded programs often pass on blocked signals to the programs that they start.
        // Ctrl-C and kill must work anyway.
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe sigprocmask(SIG_SETMASK, &none, nil)
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_handler = { _ in
            // Only async-signal-safe operations: load, store, write, alarm, _exit.
            let isSecond = Signals.interrupted.exchange(true, ordering: .relaxed)
            Signals.wake()
            if Signals.isPrompting.load(ordering: .relaxed) { return }
            if isSecond { _exit(130) }
            alarm(Signals.graceSeconds)
        }
        // Without SA_RESTART, so that Ctrl-C interrupts a read that waits for input.
        unsafe sigaction(SIGINT, &action, nil)
        signal(SIGALRM) { _ in _exit(130) }
    }

    /// Limits the number of arenas and returns free memory to the system at once. One thread fills
    /// batches and another frees them. By default glibc keeps free memory in up to eight arenas per
    /// core, and raises the threshold whenever a large block is freed. Measured: 40 MB less at the
    /// peak of an import, at the same speed. Blocks below 1 MiB, which every chunk of rows
    /// allocates and frees, are not mapped separately: they would be fresh pages every time, two
    /// fifths of the system time of an import.
    private static func configureAllocator() {
        mallopt(M_ARENA_MAX, 2)
        mallopt(M_TRIM_THRESHOLD, 128 << 10)
        mallopt(M_MMAP_THRESHOLD, 1 << 20)
    }

    /// Keeps free memory in the process, for commands that answer one statement after another.
    /// Otherwise their buffers would be fresh pages every time. Measured: a sixth of the time of a
    /// statement that reads a million values.
    static func retainFreeMemory() {
        mallopt(M_TRIM_THRESHOLD, 64 << 20)
        mallopt(M_MMAP_THRESHOLD, 16 << 20)
    }

    /// Opens /dev/null for standard descriptors that the caller closed. Otherwise the next file
    /// opened would get that number, and output would go into a file of the database.
    private static func openMissingStandardDescriptors() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
        where fcntl(descriptor, F_GETFD) < 0 {
            if descriptor == STDIN_FILENO { inputWasClosed.store(true, ordering: .relaxed) }
            // `open` returns the lowest free number, which is the closed one.
            _ = unsafe open("/dev/null", O_RDWR)
        }
    }
}
