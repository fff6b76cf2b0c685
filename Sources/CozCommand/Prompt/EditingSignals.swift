// Signal handling while a line is edited and the terminal is in libedit's mode. Every exit restores
// the terminal, and every signal is noticed at once, on whichever thread it arrives.

internal import CozPlatform
internal import Synchronization

enum EditingSignals {
    private static let wasResized = Atomic<Bool>(false)
    private static let suspendRequested = Atomic<Bool>(false)
    /// The original terminal settings. Only `begin` writes them, before it installs the handlers
    /// that read them. They are allocated on the heap: Swift 6.3 lays out a static C structure
    /// without the padding inside this one, so calls that fill it would write past its end.
    nonisolated(unsafe) private static let found = {
        let settings = UnsafeMutablePointer<termios>.allocate(capacity: 1)
        unsafe settings.initialize(to: termios())
        return unsafe settings
    }()
    /// The read end of the pipe that signal handlers write to.
    private static let wakeUp = Atomic<Int32>(-1)

    private static let fatalSignals = [SIGTERM, SIGHUP, SIGQUIT]

    /// Until `end`, Ctrl-C, Ctrl-Z and a resize wake `waitForKey`, and a fatal signal restores the
    /// terminal before it ends the process.
    static func begin() {
        if wakeUp.load(ordering: .relaxed) < 0 { openPipe() }
        // Sound: fills in the structure at the given address.
        unsafe tcgetattr(STDIN_FILENO, found)
        install(SIGWINCH) { _ in
            EditingSignals.wasResized.store(true, ordering: .relaxed)
            Signals.wake()
        }
        install(SIGTSTP, requestSuspend)
        for number in fatalSignals {
            install(number) { number in
                // Only async-signal-safe calls. The raised signal kills the process when the
                // handler returns.
                unsafe tcsetattr(STDIN_FILENO, TCSANOW, EditingSignals.found)
                signal(number, SIG_DFL)
                raise(number)
            }
        }
    }

    static func end() {
        for number in fatalSignals + [SIGWINCH, SIGTSTP] { signal(number, SIG_DFL) }
    }

    /// Waits for input or for one of the signals.
    static func waitForKey() {
        let pipe = wakeUp.load(ordering: .relaxed)
        var waiting = [STDIN_FILENO, pipe].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        // Sound: the array has two elements.
        unsafe poll(&waiting, 2, -1)
        guard waiting[1].revents != 0 else { return }
        var bytes = [UInt8](repeating: 0, count: 64)
        // Sound: reads at most as many bytes as the buffer has. The pipe never blocks.
        _ = unsafe read(pipe, &bytes, bytes.count)
    }

    static func takeResize() -> Bool { wasResized.exchange(false, ordering: .relaxed) }

    static func takeSuspend() -> Bool { suspendRequested.exchange(false, ordering: .relaxed) }

    /// Stops the process as Ctrl-Z does, until it is continued.
    static func suspend() {
        signal(SIGTSTP, SIG_DFL)
        raise(SIGTSTP)
        install(SIGTSTP, requestSuspend)
    }

    private static let requestSuspend: @convention(c) (Int32) -> Void = { _ in
        EditingSignals.suspendRequested.store(true, ordering: .relaxed)
        Signals.wake()
    }

    /// Opens the pipe. It stays open until the process ends.
    private static func openPipe() {
        var ends: [Int32] = [-1, -1]
        // Sound: fills in two integers.
        guard unsafe pipe(&ends) == 0 else { return }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        wakeUp.store(ends[0], ordering: .relaxed)
        Signals.wake(by: ends[1])
    }

    private static func install(
        _ number: Int32, _ handler: @escaping @convention(c) (Int32) -> Void
    ) {
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_handler = handler
        unsafe sigaction(number, &action, nil)
    }
}
