// The error type of the public interface.

/// An error, with a message that says what was found, what was expected and what to do.
public struct DatabaseError: Error, Sendable {
    /// The kind of an error, for programs to act on.
    public enum Kind: Sendable, Hashable {
        /// The call or statement is invalid; nothing was done.
        case usage
        /// The path, experiment or file does not exist, or is not a CozDB database.
        case notFound
        /// A file has a newer format, or an encoding that this version does not know.
        case unsupportedFormat
        /// Another process, or another `Database` in this one, has the database open for writing.
        case locked
        /// Stored bytes are corrupt. Nothing was changed or deleted.
        case damaged
        /// The operating system reported an error on a read, write or sync. After a failed write,
        /// nothing more is acknowledged until the database is opened again.
        case io
        /// A limit was exceeded; the message names it. The same call fails again.
        case limitExceeded
        /// Too many calls wait, or the system has no thread for the call. Nothing was done; the
        /// same call can succeed later.
        case busy
        /// The caller cancelled the operation.
        case cancelled
        /// The database was closed before the call.
        case closed
    }

    /// The kind of the error, for programs to act on.
    public var kind: Kind
    /// The description for people: one or more complete sentences.
    public var message: String
    /// Path of the file concerned; nil if there is none.
    public var file: String?
    /// Byte offset in `file`, or in a statement's text for `usage`; nil if unknown.
    public var offset: Int?
    /// What the user can do, for front ends that have commands or options for it; nil if the
    /// message says everything.
    public var remedy: Remedy?
    /// The system call that failed; nil if none did.
    var cause: FileError?
    /// Whether a device failed to return stored bytes, which is treated like damage.
    var isReadFailure: Bool { cause?.isReadFailure == true }
    /// Whether a link, pipe or directory has the name of a file.
    var isWrongFileType: Bool { cause?.isWrongFileType == true }
    /// Whether a system call failed, other than a device that failed to return stored bytes.
    var isSystemCallFailure: Bool { kind == .io && !isReadFailure }
    /// Whether the system refused a call for a reason unrelated to the stored data: permissions,
    /// limits, memory.
    var isRefusal: Bool { isSystemCallFailure && !isWrongFileType }

    static let databaseClosed = DatabaseError(.closed, "the database was closed")

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - kind: The kind of the error, for programs to act on.
    ///   - message: What was found, what was expected, what to do.
    ///   - file: Path of the file concerned; nil if there is none.
    ///   - offset: Byte offset in the file; without a file, in the text of a statement.
    ///   - remedy: What to do, for front ends. The message says it in plain words.
    public init(
        _ kind: Kind, _ message: String, file: String? = nil, offset: Int? = nil,
        remedy: Remedy? = nil
    ) {
        self.kind = kind
        self.message = message
        self.file = file
        self.offset = offset
        self.remedy = remedy
    }
}

extension DatabaseError {
    /// Runs the body. An error without a position in the statement gets this one.
    static func located<Result>(
        at offset: Int, _ body: () throws(DatabaseError) -> Result
    ) throws(DatabaseError) -> Result {
        do {
            return try body()
        } catch {
            var error = error
            switch error.kind {
            case .usage, .notFound, .limitExceeded:
                if error.file == nil, (error.offset ?? 0) == 0 { error.offset = offset }
            default: break
            }
            throw error
        }
    }
}

extension DatabaseError {
    /// Runs the body, which has no text in which an error could have a position.
    static func withoutOffset<Result>(
        _ body: () throws(DatabaseError) -> Result
    ) throws(DatabaseError) -> Result {
        do {
            return try body()
        } catch {
            var error = error
            if error.file == nil { error.offset = nil }
            throw error
        }
    }
}

extension DatabaseError: CustomStringConvertible {
    /// File, offset and message, as far as they are known.
    public var description: String {
        guard let file else { return message }
        guard let offset else { return "\(file): \(message)" }
        return "\(file), offset \(offset): \(message)"
    }
}
