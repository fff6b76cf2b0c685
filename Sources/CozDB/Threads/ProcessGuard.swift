// Detects use of a database in a forked child process.

internal import CozKernels

/// The process that opened a database. A child process made by `fork` shares its memory but has
/// none of its threads: its writes would corrupt the log, and its waits would never end.
struct ProcessGuard: Sendable {
    private let number = coz_process_id()

    /// Whether the current process is still that process.
    var isSameProcess: Bool { coz_process_id() == number }

    /// Throws `usage` in a forked child. Must be called before taking any lock, because another
    /// thread may have held it at the fork.
    func check() throws(DatabaseError) {
        if isSameProcess { return }
        throw DatabaseError(
            .usage,
            "the database was opened by process \(number), but this is its forked child "
                + "\(coz_process_id()); open the database again in the child")
    }
}
