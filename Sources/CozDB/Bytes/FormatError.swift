// What is wrong with stored bytes, before anybody knows which file they are from.

/// Stored bytes that cannot be what was written. Becomes a `DatabaseError` where the file is known.
struct FormatError: Error, Equatable {
    enum Kind: Equatable {
        /// The bytes end before the value does.
        case truncated
        /// A checksum does not match.
        case checksum
        /// A number or combination that no writer produces.
        case invalid
        /// A version or encoding of a newer writer.
        case unsupported
    }

    var kind: Kind
    /// What was found and what was expected.
    var message: String
    /// Bytes from the beginning of what was being read.
    var offset: Int

    init(_ kind: Kind, _ message: String, at offset: Int) {
        self.kind = kind
        self.message = message
        self.offset = offset
    }
}
