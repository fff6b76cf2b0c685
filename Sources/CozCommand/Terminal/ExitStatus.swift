// Maps errors to exit statuses. No other file does.

internal import ArgumentParser
internal import CozDB

/// The exit statuses of the command. Scripts rely on these numbers.
enum ExitStatus: Int32 {
    case success = 0
    /// Stored bytes differ from what was written.
    case damaged = 1
    /// A read or write failed, or the disk is full.
    case io = 3
    case locked = 4
    /// Not found, not a database, or a newer format.
    case notFound = 5
    case limitExceeded = 6
    /// Finished, but some input was refused; it is in the rejects journal.
    case partlyRefused = 7
    /// Wrong usage, or an invalid statement.
    case usage = 64
    case interrupted = 130

    init(_ kind: DatabaseError.Kind) {
        self =
            switch kind {
            case .usage, .closed: .usage
            case .notFound, .unsupportedFormat: .notFound
            case .locked: .locked
            case .damaged: .damaged
            case .io: .io
            case .limitExceeded, .busy: .limitExceeded
            case .cancelled: .interrupted
            }
    }

    var exitCode: ExitCode { ExitCode(rawValue) }
}

extension DatabaseError {
    /// Prints the error as one line on standard error.
    func report() {
        StandardError.writeLine("cozdb: \(PlainText.escaped(descriptionWithRemedy))")
    }
}
