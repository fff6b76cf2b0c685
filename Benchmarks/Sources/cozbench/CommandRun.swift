// Runs a program in another process, as users do, and reads the cost of the run from the kernel.

internal import CozDB
internal import Glibc

struct CommandRun {
    let seconds: Double
    /// User and system CPU seconds.
    let cpuTime: Double
    /// Largest resident set, in bytes. It includes the size of this process at the moment of the
    /// spawn (`man 2 getrusage`), so this process has to be small.
    let peakSizeBytes: Int
    /// Bytes passed to write calls, to any file.
    let writtenBytes: Int
    let status: Int32

    /// The allocator settings of the `cozdb` command, for workloads that stand in for it.
    static let allocatorSettings = [
        "MALLOC_ARENA_MAX=2", "MALLOC_TRIM_THRESHOLD_=131072", "MALLOC_MMAP_THRESHOLD_=1048576",
    ]

    /// Runs a workload of this program in a child process, with the allocator settings of `cozdb`.
    ///
    /// - Throws: `io` if it fails; the child has printed the reason.
    static func ofWorkload(_ words: String...) throws(DatabaseError) -> CommandRun {
        let run = try CommandRun(
            "/proc/self/exe", words, environment: allocatorSettings, showsErrors: true)
        guard run.status == 0 else {
            throw DatabaseError(.io, "cozbench \(words[0]) ended with status \(run.status)")
        }
        return run
    }

    /// Runs a program to its end and discards its output.
    ///
    /// - Parameter environment: Variables to add to those of this process, each as `NAME=value`.
    /// - Throws: `notFound` if it cannot be started.
    init(
        _ program: String, _ arguments: [String], environment: [String] = [],
        showsErrors: Bool = false
    ) throws(DatabaseError) {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for descriptor in showsErrors ? [STDOUT_FILENO] : [STDOUT_FILENO, STDERR_FILENO] {
            unsafe posix_spawn_file_actions_addopen(
                &actions, descriptor, "/dev/null", O_WRONLY, 0)
        }
        // Sound: null-terminated lists of C strings, which live until they are freed below.
        var words = unsafe ([program] + arguments).map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        var variables = unsafe environment.map { unsafe strdup($0) } + CommandRun.inherited
        defer { unsafe variables.forEach { unsafe free($0) } }
        unsafe variables.append(nil)
        var process = pid_t()
        let start = Clock.now()
        let code = unsafe posix_spawn(&process, program, &actions, nil, &words, &variables)
        guard code == 0 else {
            throw DatabaseError(.notFound, "cannot start the command", file: program)
        }
        // The process has ended but is not reaped yet, so its I/O counts are complete.
        var state = unsafe siginfo_t()
        unsafe waitid(P_PID, id_t(process), &state, WEXITED | WNOWAIT)
        seconds = Clock.now() - start
        writtenBytes = (try? ProcessCosts.writtenBytes(of: "\(process)")) ?? 0
        var status: Int32 = 0
        var usage = rusage()
        unsafe wait4(process, &status, 0, &usage)
        peakSizeBytes = usage.ru_maxrss * 1024
        cpuTime = CommandRun.seconds(usage.ru_utime) + CommandRun.seconds(usage.ru_stime)
        // The exit status as WEXITSTATUS computes it, or 128 plus the signal.
        self.status = status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    }

    private static var inherited: [UnsafeMutablePointer<CChar>?] {
        var copies = unsafe [UnsafeMutablePointer<CChar>?]()
        var place = 0
        while let variable = unsafe environ[place] {
            unsafe copies.append(strdup(variable))
            place += 1
        }
        return unsafe copies
    }

    private static func seconds(_ time: timeval) -> Double {
        Double(time.tv_sec) + Double(time.tv_usec) / 1e6
    }
}
