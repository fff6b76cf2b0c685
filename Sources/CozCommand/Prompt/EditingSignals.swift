// Signals while a line is edited and the terminal is in libedit's mode: nothing leaves it there,
// and none is noticed late, whichever thread of the process it comes to.

internal import Glibc
internal import Synchronization

enum EditingSignals {
    private static let wasResized = Atomic<Bool>(false)
    private static let shallSuspend = Atomic<Bool>(false)
    /// The terminal as it was found; written by `begin` only, before the handlers that read it.
    /// In memory of its own: Swift 6.3 lays out a static structure of C without the gap that this
    /// one has inside, and calls that fill it would write behind its end.
    nonisolated(unsafe) private static let found = {
        let settings = UnsafeMutablePointer<termios>.allocate(capacity: 1)
        unsafe settings.initialize(to: termios())
        return unsafe settings
    }()
    /// The reading end of the pipe that handlers write to.
    private static let wakeUp = Atomic<Int32>(-1)

    private static let deadly = [SIGTERM, SIGHUP, SIGQUIT]

    /// From here to `end` Ctrl-C, Ctrl-Z and a resize end `waitForKey`, and a signal that ends the
    /// process puts the terminal back first.
    static func begin() {
        if wakeUp.load(ordering: .relaxed) < 0 { openPipe() }
        // The call fills the structure it is given the address of.
        unsafe tcgetattr(STDIN_FILENO, found)
        install(SIGWINCH) { _ in
            EditingSignals.wasResized.store(true, ordering: .relaxed)
            Signals.wake()
        }
        install(SIGTSTP, suspendSoon)
        for number in deadly {
            install(number) { number in
                // Only calls that are allowed in a handler. The signal comes again, and kills,
                // when the handler returns.
                unsafe tcsetattr(STDIN_FILENO, TCSANOW, EditingSignals.found)
                signal(number, SIG_DFL)
                raise(number)
            }
        }
    }

    static func end() {
        for number in deadly + [SIGWINCH, SIGTSTP] { signal(number, SIG_DFL) }
    }

    /// Waits until there is something to read, or one of the signals has come.
    static func waitForKey() {
        let pipe = wakeUp.load(ordering: .relaxed)
        var waiting = [STDIN_FILENO, pipe].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        // The call fills the structures, of which there are two.
        unsafe poll(&waiting, 2, -1)
        guard waiting[1].revents != 0 else { return }
        var bytes = [UInt8](repeating: 0, count: 64)
        // At most as many as the buffer has; the pipe never blocks.
        _ = unsafe read(pipe, &bytes, bytes.count)
    }

    static func takeResize() -> Bool { wasResized.exchange(false, ordering: .relaxed) }

    static func takeSuspend() -> Bool { shallSuspend.exchange(false, ordering: .relaxed) }

    /// Stops the process as Ctrl-Z does, until it is continued.
    static func suspend() {
        signal(SIGTSTP, SIG_DFL)
        raise(SIGTSTP)
        install(SIGTSTP, suspendSoon)
    }

    private static let suspendSoon: @convention(c) (Int32) -> Void = { _ in
        EditingSignals.shallSuspend.store(true, ordering: .relaxed)
        Signals.wake()
    }

    /// Kept open until the process ends.
    private static func openPipe() {
        var ends: [Int32] = [-1, -1]
        // The call fills two numbers.
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
