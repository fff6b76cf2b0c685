// The one error type that callers of the library see.

/// What went wrong, in words that say what was found, what was expected and what to do.
public struct DatabaseError: Error, Sendable {
    /// The kind decides what a program does next; the message is for people.
    public enum Kind: Sendable, Hashable {
        /// The call or statement itself is wrong; nothing was done.
        case usage
        /// The path, experiment or file does not exist, or is not a CozDB database.
        case notFound
        /// A file of a newer format, or with an encoding this version does not know.
        case unsupportedFormat
        /// Another process (or another `Database` of this one) writes to the database.
        case locked
        /// Stored bytes are not what was written. Nothing was changed or deleted.
        case damaged
        /// The operating system refused a read, write or sync. After a failed write the
        /// database acknowledges nothing more until it is opened again.
        case io
        /// A limit of `DatabaseOptions` was exceeded; the message names it.
        case limitExceeded
        /// The caller cancelled the operation.
        case cancelled
        /// The database was closed before the call.
        case closed
    }

    /// What a program decides by.
    public var kind: Kind
    /// One sentence or more, complete in itself.
    public var message: String
    /// The file concerned, as a path, where there is one.
    public var file: String?
    /// Byte offset in `file`, or in a statement's text for `usage`, where there is one.
    public var offset: Int?
    /// The call of the system that failed, where it was one.
    var cause: FileError?
    /// Whether a device failed to give bytes that are there: what they held is as good as damaged.
    var isUnreadable: Bool { cause?.isUnreadable == true }
    /// Whether a link, a pipe or a folder has the name of a file.
    var isOdd: Bool { cause?.isOdd == true }
    /// Whether a call failed for another reason than bytes that a device does not give.
    var isFailedCall: Bool { kind == .io && !isUnreadable }
    /// Whether the system refused a call for reasons that say nothing of what is stored: rights,
    /// limits, memory.
    var isRefusal: Bool { isFailedCall && !isOdd }

    /// - Parameters:
    ///   - message: what was found, what was expected, what to do.
    ///   - offset: byte offset in the file; without a file, in the text of a statement.
    public init(_ kind: Kind, _ message: String, file: String? = nil, offset: Int? = nil) {
        self.kind = kind
        self.message = message
        self.file = file
        self.offset = offset
    }
}

extension DatabaseError {
    /// Runs the body; an error of a statement that does not know its own place gets this one.
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

extension DatabaseError: CustomStringConvertible {
    /// File, offset and message, as far as they are known.
    public var description: String {
        guard let file else { return message }
        guard let offset else { return "\(file): \(message)" }
        return "\(file), offset \(offset): \(message)"
    }
}
