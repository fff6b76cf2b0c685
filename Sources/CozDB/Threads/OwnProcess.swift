// Which process something belongs to.

internal import CKernels

/// The process that opened a database. A child that it makes by `fork` has its memory, but none of
/// its threads: what the child wrote would damage the log, and what it waits for never comes.
struct OwnProcess: Sendable {
    private let number = coz_process()

    /// Whether this is the process still.
    var isThisOne: Bool { coz_process() == number }

    /// - Throws: `usage` in a child. To be asked before any lock is taken: another thread may have
    ///   held it when the child was made.
    func check() throws(DatabaseError) {
        if isThisOne { return }
        throw DatabaseError(
            .usage,
            "the database was opened by process \(number), and this is process "
                + "\(coz_process()), its child by fork; open the database in the child")
    }
}
