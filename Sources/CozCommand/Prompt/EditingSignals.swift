// Signals while a line is edited and the terminal is in libedit's mode: nothing leaves it there.

internal import Glibc
internal import Synchronization

enum EditingSignals {
    private static let wasResized = Atomic<Bool>(false)
    private static let shallSuspend = Atomic<Bool>(false)
    /// The terminal as it was found; written by `begin` only, before the handlers that read it.
    nonisolated(unsafe) private static var found = termios()

    /// The signals that were blocked before `begin`.
    nonisolated(unsafe) private static var usual = sigset_t()

    private static let deadly = [SIGTERM, SIGHUP, SIGQUIT]

    /// From here to `end` Ctrl-C, Ctrl-Z and a resize are noticed by `waitForKey` only, and a
    /// signal that ends the process puts the terminal back first.
    static func begin() {
        // What was blocked before; `hold` adds to it.
        unsafe pthread_sigmask(SIG_BLOCK, nil, &usual)
        hold()
        // The call fills the structure it is given the address of.
        unsafe tcgetattr(STDIN_FILENO, &found)
        install(SIGWINCH) { _ in EditingSignals.wasResized.store(true, ordering: .relaxed) }
        install(SIGTSTP) { _ in EditingSignals.shallSuspend.store(true, ordering: .relaxed) }
        for number in deadly {
            install(number) { number in
                // Only calls that are allowed in a handler. The signal comes again, and kills,
                // when the handler returns.
                unsafe tcsetattr(STDIN_FILENO, TCSANOW, &EditingSignals.found)
                signal(number, SIG_DFL)
                raise(number)
            }
        }
    }

    static func end() {
        // What `begin` has found.
        unsafe pthread_sigmask(SIG_SETMASK, &usual, nil)
        for number in deadly + [SIGWINCH, SIGTSTP] { signal(number, SIG_DFL) }
    }

    /// Waits until there is something to read, or one of the signals has come. No moment is left
    /// in which one could come and be noticed with the next key only.
    static func waitForKey() {
        var descriptors = fd_set()
        // Standard input has the lowest bit of the first word.
        descriptors.__fds_bits.0 = 1 << STDIN_FILENO
        // The call reads the mask and changes the set, which live through it.
        unsafe pselect(STDIN_FILENO + 1, &descriptors, nil, nil, nil, &usual)
    }

    static func takeResize() -> Bool { wasResized.exchange(false, ordering: .relaxed) }

    static func takeSuspend() -> Bool { shallSuspend.exchange(false, ordering: .relaxed) }

    /// Stops the process as Ctrl-Z does, until it is continued.
    static func suspend() {
        signal(SIGTSTP, SIG_DFL)
        raise(SIGTSTP)
        // It is blocked, and comes with this.
        unsafe pthread_sigmask(SIG_SETMASK, &usual, nil)
        hold()
        install(SIGTSTP) { _ in EditingSignals.shallSuspend.store(true, ordering: .relaxed) }
    }

    private static func hold() {
        var held = sigset_t()
        // A set of our own, which lives through the calls.
        unsafe sigemptyset(&held)
        for number in [SIGINT, SIGWINCH, SIGTSTP] { unsafe sigaddset(&held, number) }
        unsafe pthread_sigmask(SIG_BLOCK, &held, nil)
    }

    private static func install(
        _ number: Int32, _ handler: @escaping @convention(c) (Int32) -> Void
    ) {
        var action = sigaction()
        // Without SA_RESTART: a read that waits for a key comes back.
        unsafe action.__sigaction_handler.sa_handler = handler
        unsafe sigaction(number, &action, nil)
    }
}
