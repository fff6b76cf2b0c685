// Runs the finished command as users do, and reads from the system what a run cost.

internal import CozDB
internal import Glibc

/// One run of a program.
struct CommandRun {
    let seconds: Double
    /// Largest resident set, in bytes.
    let peakSizeBytes: Int
    let status: Int32

    /// Runs a program to its end; its output is thrown away.
    ///
    /// - Throws: `notFound` where it cannot be started.
    init(_ program: String, _ arguments: [String]) throws(DatabaseError) {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for descriptor in [STDOUT_FILENO, STDERR_FILENO] {
            unsafe posix_spawn_file_actions_addopen(
                &actions, descriptor, "/dev/null", O_WRONLY, 0)
        }
        // Sound: a list of C strings that ends with nil and lives until it is freed below.
        var words = unsafe ([program] + arguments).map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        var process = pid_t()
        let start = CommandRun.now()
        let code = unsafe posix_spawn(&process, program, &actions, nil, &words, environ)
        guard code == 0 else {
            throw DatabaseError(.notFound, "cannot start the command", file: program)
        }
        var status: Int32 = 0
        var usage = rusage()
        unsafe wait4(process, &status, 0, &usage)
        seconds = CommandRun.now() - start
        peakSizeBytes = usage.ru_maxrss * 1024
        // The status of a process that ended by itself, as WEXITSTATUS takes it apart.
        self.status = status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    }

    static func now() -> Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
