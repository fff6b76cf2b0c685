// An error in stored bytes, before the file is known.

/// Corrupt or unsupported stored bytes. Converted to a `DatabaseError` where the file is known.
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
    /// Byte offset from the start of the value being read.
    var offset: Int

    init(_ kind: Kind, _ message: String, at offset: Int) {
        self.kind = kind
        self.message = message
        self.offset = offset
    }
}
