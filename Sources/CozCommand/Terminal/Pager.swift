// Runs a pager: a program that shows long output page by page.

internal import CozDB
internal import CozPlatform

final class Pager {
    private let command: String
    private let rows: Int
    private let columns: Int
    private var process: pid_t = 0
    private var input: Int32 = -1

    /// - Parameters:
    ///   - command: A command line for the shell.
    ///   - rows: Height of the terminal in lines.
    ///   - columns: Width of the terminal.
    init(command: String, rows: Int, columns: Int) {
        self.command = command
        self.rows = rows
        self.columns = columns
    }

    /// Returns `$PAGER`, or `less` without line wrapping if it is installed. Returns nil if PAGER
    /// is empty or `cat`, or if there is no less.
    static func standardCommand(_ environment: (String) -> String?) -> String? {
        if let command = environment("PAGER") {
            let isNone = command.allSatisfy(\.isWhitespace) || command == "cat"
            return isNone ? nil : command
        }
        let folders = (environment("PATH") ?? "/usr/bin:/bin").parts(
            separatedBy: ":", keepsEmpty: false)
        // Sound: each path is null-terminated during the call.
        let isThere = folders.contains { unsafe access("\($0)/less", X_OK) == 0 }
        return isThere ? "less -FRSX" : nil
    }

    /// Returns a pager for standard output; nil if it is not a terminal or there is no command.
    static func forTerminal(_ command: String?) -> Pager? {
        guard let command, let size = Terminal.size(STDOUT_FILENO) else { return nil }
        return Pager(command: command, rows: size.rows, columns: size.columns)
    }

    var isRunning: Bool { input >= 0 }

    /// Whether the bytes and the next prompt do not fit the terminal.
    func isNeeded(for bytes: [UInt8]) -> Bool {
        var count = 0
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            let width = line.count { $0 & 0xC0 != 0x80 }
            count += 1 + max(0, width - 1) / max(1, columns)
        }
        return count > rows
    }

    /// Starts the program. Returns the write end of its input; nil if it cannot be started.
    func start() -> Int32? {
        var ends: [Int32] = [-1, -1]
        // Sound: fills in two integers.
        guard unsafe pipe(&ends) == 0 else { return nil }
        defer { close(ends[0]) }
        // The program must not inherit the write end: it waits for that to close.
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
        // Sound: local structures, destroyed here; the strings are copies that are freed below.
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawnattr_init(&attributes)
        defer {
            unsafe posix_spawn_file_actions_destroy(&actions)
            unsafe posix_spawnattr_destroy(&attributes)
        }
        unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, STDIN_FILENO)
        // Ignored signals would stay ignored in the program.
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        for number in [SIGPIPE, SIGXFSZ] { unsafe sigaddset(&signals, number) }
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
        // Output is UTF-8 in any locale. The shell sets the variable, because other threads may be
        // reading this process's environment.
        let line = "LESSCHARSET=${LESSCHARSET-utf-8}; export LESSCHARSET\n" + command
        var arguments: [UnsafeMutablePointer<CChar>?] = unsafe []
        for word in ["/bin/sh", "-c", line] { unsafe arguments.append(strdup(word)) }
        unsafe arguments.append(nil)
        let status = unsafe posix_spawn(
            &process, "/bin/sh", &actions, &attributes, &arguments, environ)
        for index in 0..<3 { unsafe free(arguments[index]) }
        return status == 0
    }

    /// Closes the program's input and waits until the program ends.
    func finish() {
        guard input >= 0 else { return }
        close(input)
        input = -1
        var status: Int32 = 0
        // Sound: the number belongs to our child until this call returns it.
        while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
    }
}
