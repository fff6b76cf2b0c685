// A program that shows long output page by page.

internal import CozDB
internal import Glibc

/// Decides whether output needs a pager, starts it, and waits for its end.
final class Pager {
    private let command: String
    private let rows: Int
    private let columns: Int
    private var process: pid_t = 0
    private var input: Int32 = -1

    /// - Parameters:
    ///   - command: a line for the shell.
    ///   - rows: lines of the terminal, and its columns.
    init(command: String, rows: Int, columns: Int) {
        self.command = command
        self.rows = rows
        self.columns = columns
    }

    /// What `$PAGER` says; else `less`, where it is installed, with lines cut at the right.
    /// Nil for none: `PAGER` is empty or `cat`, or there is no less.
    static func standardCommand(_ environment: (String) -> String?) -> String? {
        if let command = environment("PAGER") {
            let isNone = command.allSatisfy(\.isWhitespace) || command == "cat"
            return isNone ? nil : command
        }
        let folders = (environment("PATH") ?? "/usr/bin:/bin").split(separator: ":")
        // Each name ends with a zero byte during the call.
        let isThere = folders.contains { unsafe access("\($0)/less", X_OK) == 0 }
        return isThere ? "less -FRSX" : nil
    }

    /// A pager for the terminal of standard output; nil where there is no terminal, or no command.
    static func forTerminal(_ command: String?) -> Pager? {
        guard let command, let size = Terminal.size(STDOUT_FILENO) else { return nil }
        return Pager(command: command, rows: size.rows, columns: size.columns)
    }

    var isRunning: Bool { input >= 0 }

    /// Whether the terminal has no room for all of this and the next prompt.
    func isNeeded(for bytes: [UInt8]) -> Bool {
        var count = 0
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            let width = line.count { $0 & 0xC0 != 0x80 }
            count += 1 + max(0, width - 1) / max(1, columns)
        }
        return count > rows
    }

    /// Starts the program; the answer is where it reads, nil where it cannot be started.
    func start() -> Int32? {
        var ends: [Int32] = [-1, -1]
        // The call fills two numbers.
        guard unsafe pipe(&ends) == 0 else { return nil }
        defer { close(ends[0]) }
        // The program must not hold the end open that it waits for.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        guard spawn(reading: ends[0]) else {
            close(ends[1])
            return nil
        }
        input = ends[1]
        return input
    }

    private func spawn(reading descriptor: Int32) -> Bool {
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        // Structures of our own, made and destroyed here; strings are copies that are freed below.
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawnattr_init(&attributes)
        defer {
            unsafe posix_spawn_file_actions_destroy(&actions)
            unsafe posix_spawnattr_destroy(&attributes)
        }
        unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, STDIN_FILENO)
        // Signals that we ignore would stay ignored.
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        for number in [SIGPIPE, SIGXFSZ] { unsafe sigaddset(&signals, number) }
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
        // Answers are UTF-8, whatever the locale says. Our own environment stays as it is: other
        // threads may be reading it.
        let line = "LESSCHARSET=${LESSCHARSET-utf-8}; export LESSCHARSET\n" + command
        var arguments: [UnsafeMutablePointer<CChar>?] = unsafe []
        for word in ["/bin/sh", "-c", line] { unsafe arguments.append(strdup(word)) }
        unsafe arguments.append(nil)
        let status = unsafe posix_spawn(
            &process, "/bin/sh", &actions, &attributes, &arguments, environ)
        for index in 0..<3 { unsafe free(arguments[index]) }
        return status == 0
    }

    /// Lets the program know the end, and waits until whoever reads has seen enough.
    func finish() {
        guard input >= 0 else { return }
        close(input)
        input = -1
        var status: Int32 = 0
        // The number is that of our own child, until this call has it.
        while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
    }
}
