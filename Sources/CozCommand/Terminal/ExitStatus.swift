// The one place where errors become exit statuses.

internal import ArgumentParser
internal import CozDB

/// What the command says to the shell. Scripts rely on these numbers.
enum ExitStatus: Int32 {
    case success = 0
    /// Stored bytes are not what was written.
    case damaged = 1
    /// The system refused a read or write, or there is no space.
    case io = 3
    /// Another process writes to the database.
    case locked = 4
    /// Not found, not a database, or a newer format.
    case notFound = 5
    case limitExceeded = 6
    /// Finished, but some input was refused; the rejects journal has it.
    case partlyRefused = 7
    /// Wrong usage, or a statement that does not parse or fails its checks.
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
            case .limitExceeded: .limitExceeded
            case .cancelled: .interrupted
            }
    }

    var exitCode: ExitCode { ExitCode(rawValue) }
}

extension DatabaseError {
    /// The error as one line on standard error.
    func report() {
        StandardError.writeLine("cozdb: \(PlainText.escaped(description))")
    }
}
