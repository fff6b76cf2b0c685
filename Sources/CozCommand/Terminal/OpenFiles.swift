// Few open files: the command says so at once, rather than in the middle of its work.

internal import CozDB
internal import Glibc

enum OpenFiles {
    /// With fewer some subcommand could not end: a backup or restore of a rejects file has all of
    /// them open, standard input, output and errors included.
    private static let countMin: rlim_t = 16
    /// With more there are always some left.
    private static let countEnough: rlim_t = 512

    /// Called once, before any file is opened.
    ///
    /// - Throws: `io` where the limit is too low for any work.
    static func prepare() throws(DatabaseError) {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0,
            limit.rlim_cur < countEnough
        else { return }
        let inherited = inheritedCount(below: limit.rlim_cur)
        guard limit.rlim_cur >= countMin + inherited else {
            let others =
                inherited == 0
                ? "" : " and \(inherited) that the caller left open to the command"
            throw DatabaseError(
                .io,
                "found a limit of \(limit.rlim_cur) open files (RLIMIT_NOFILE)\(others), expected "
                    + "at least \(countMin + inherited); nothing was done. Raise it: "
                    + "ulimit -n \(countEnough)")
        }
    }

    /// Descriptors besides the standard ones; shells and schedulers often have some of their own.
    private static func inheritedCount(below limit: rlim_t) -> rlim_t {
        let first = STDERR_FILENO + 1
        return rlim_t((first..<max(first, Int32(limit))).count { fcntl($0, F_GETFD) >= 0 })
    }
}
