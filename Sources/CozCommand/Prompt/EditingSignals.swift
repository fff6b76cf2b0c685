// Signals while a line is edited and the terminal is in libedit's mode: nothing leaves it there.

internal import Glibc
internal import Synchronization

enum EditingSignals {
    private static let wasResized = Atomic<Bool>(false)
    private static let shallSuspend = Atomic<Bool>(false)
    /// The terminal as it was found; written by `begin` only, before the handlers that read it.
    nonisolated(unsafe) private static var found = termios()

    private static let deadly = [SIGTERM, SIGHUP, SIGQUIT]

    /// From here to `end` a resize and Ctrl-Z interrupt reading, and a signal that ends the process
    /// puts the terminal back first.
    static func begin() {
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
        for number in deadly + [SIGWINCH, SIGTSTP] { signal(number, SIG_DFL) }
    }

    static func takeResize() -> Bool { wasResized.exchange(false, ordering: .relaxed) }

    static func takeSuspend() -> Bool { shallSuspend.exchange(false, ordering: .relaxed) }

    /// Stops the process as Ctrl-Z does, until it is continued.
    static func suspend() {
        signal(SIGTSTP, SIG_DFL)
        raise(SIGTSTP)
        install(SIGTSTP) { _ in EditingSignals.shallSuspend.store(true, ordering: .relaxed) }
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
