// Runs a program as users do, in a process of its own, and reads from the system what the run cost.

internal import CozDB
internal import Glibc

/// One run of a program.
struct CommandRun {
    let seconds: Double
    /// Of both the program's own and the system's work for it.
    let processorSeconds: Double
    /// Largest resident set, in bytes. What this process has when it starts the other counts
    /// (`man 2 getrusage`), so it has to be small.
    let peakSizeBytes: Int
    /// Bytes given to write calls, to whatever file.
    let writtenBytes: Int
    let status: Int32

    /// What the command tells the allocator, for workloads of this program that stand for it.
    static let allocatorSettings = [
        "MALLOC_ARENA_MAX=2", "MALLOC_TRIM_THRESHOLD_=131072", "MALLOC_MMAP_THRESHOLD_=1048576",
    ]

    /// Runs a workload of this program in a process of its own, with the command's allocator.
    ///
    /// - Throws: `io` where it fails; it has said why.
    static func ofWorkload(_ words: String...) throws(DatabaseError) -> CommandRun {
        let run = try CommandRun(
            "/proc/self/exe", words, environment: allocatorSettings, showsErrors: true)
        guard run.status == 0 else {
            throw DatabaseError(.io, "cozbench \(words[0]) ended with status \(run.status)")
        }
        return run
    }

    /// Runs a program to its end; its output is thrown away.
    ///
    /// - Parameter environment: added to that of this process, each `NAME=value`.
    /// - Throws: `notFound` where it cannot be started.
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
        // Sound: lists of C strings that end with nil and live until they are freed below.
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
        // Ended and not yet forgotten: then its counts are complete.
        var state = unsafe siginfo_t()
        unsafe waitid(P_PID, id_t(process), &state, WEXITED | WNOWAIT)
        seconds = Clock.now() - start
        writtenBytes = (try? ProcessCosts.writtenBytes(of: "\(process)")) ?? 0
        var status: Int32 = 0
        var usage = rusage()
        unsafe wait4(process, &status, 0, &usage)
        peakSizeBytes = usage.ru_maxrss * 1024
        processorSeconds = CommandRun.seconds(usage.ru_utime) + CommandRun.seconds(usage.ru_stime)
        // The status of a process that ended by itself, as WEXITSTATUS takes it apart.
        self.status = status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    }

    /// Copies of this process's variables.
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
