// Turns failed file calls and invalid bytes into errors that name the file.

/// Runs file calls. The error of a failed call names the purpose, and the offset in the file if it
/// is known.
func calling<Result>(
    _ purpose: String, at offset: Int? = nil, _ body: () throws(FileError) -> Result
) throws(DatabaseError) -> Result {
    do throws(FileError) {
        return try body()
    } catch {
        var failure = DatabaseError(error, while: purpose)
        failure.offset = offset
        throw failure
    }
}

/// Decodes bytes of a named file. Errors name the file and the offset in it.
func namingFile<Result>(
    _ file: String, at base: Int = 0, _ body: () throws(FormatError) -> Result
) throws(DatabaseError) -> Result {
    do throws(FormatError) {
        return try body()
    } catch {
        throw DatabaseError(error, file: file, at: base)
    }
}

extension Directory {
    /// The names in the directory of a database.
    func names() throws(DatabaseError) -> [String] {
        try calling("listing the database") { () throws(FileError) in try list() }
    }
}

extension FileMapping {
    /// Passes some of the bytes to the body; they are valid during the call. The caller has checked
    /// the bounds.
    ///
    /// - Throws: `truncated` if the file was shortened or its device cannot be read.
    func withBytes<Result>(
        _ offset: Int, count: Int, _ body: (Span<UInt8>) throws(FormatError) -> Result
    ) throws(FormatError) -> Result {
        precondition(offset >= 0 && count >= 0 && offset + count <= self.count)
        guard isReadable(offset..<(offset + count)) else {
            throw FormatError(
                .truncated, "the file was truncated, or its device cannot be read", at: 0)
        }
        // Sound: the range is inside the mapping, which lives as long as self.
        let part = unsafe UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + count)])
        return try unsafe body(Span(_unsafeBytes: part))
    }
}
