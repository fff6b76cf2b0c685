// The limit of open files. One that is too low is refused at the start, not in the middle of the
// work.

internal import CozDB
internal import CozPlatform

enum OpenFiles {
    /// The minimum for every subcommand. A backup or restore of a rejects file opens the most,
    /// including the standard descriptors.
    private static let countMin: rlim_t = 16
    /// From this limit on, inherited descriptors need not be counted.
    private static let inheritedCheckThreshold: rlim_t = 512

    /// Checks the limit. Call it once, before any file is opened.
    ///
    /// - Throws: `io` if the limit is too low for any work.
    static func prepare() throws(DatabaseError) {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0,
            limit.rlim_cur < inheritedCheckThreshold
        else { return }
        let inherited = inheritedCount(below: limit.rlim_cur)
        guard limit.rlim_cur >= countMin + inherited else {
            let others =
                inherited == 0
                ? "" : " with \(inherited) already open when the command started"
            throw DatabaseError(
                .io,
                "found a limit of \(limit.rlim_cur) open files (RLIMIT_NOFILE)\(others), expected "
                    + "at least \(countMin + inherited); nothing was done. Raise the limit "
                    + "with ulimit -n \(inheritedCheckThreshold)")
        }
    }

    /// Descriptors other than the standard ones, which shells and schedulers often pass on.
    private static func inheritedCount(below limit: rlim_t) -> rlim_t {
        let first = STDERR_FILENO + 1
        return rlim_t((first..<max(first, Int32(limit))).count { fcntl($0, F_GETFD) >= 0 })
    }
}
