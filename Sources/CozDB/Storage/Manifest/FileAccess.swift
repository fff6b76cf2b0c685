// Where failed calls and senseless bytes become errors that name the file.

/// Runs file calls and says, when one fails, what they were for.
func calling<Result>(
    _ purpose: String, _ body: () throws(FileError) -> Result
) throws(DatabaseError) -> Result {
    do throws(FileError) {
        return try body()
    } catch {
        throw DatabaseError(error, while: purpose)
    }
}

/// Reads bytes of a named file and says, when they make no sense, where.
func namingFile<Result>(
    _ file: String, at base: Int = 0, _ body: () throws(FormatError) -> Result
) throws(DatabaseError) -> Result {
    do throws(FormatError) {
        return try body()
    } catch {
        throw DatabaseError(error, file: file, at: base)
    }
}

extension FileMapping {
    /// Some of the bytes, valid during the call. The caller has checked that they are there.
    ///
    /// - Throws: `truncated` where the device or the file does not give them any more.
    func withBytes<Result>(
        _ offset: Int, count: Int, _ body: (Span<UInt8>) throws(FormatError) -> Result
    ) throws(FormatError) -> Result {
        precondition(offset >= 0 && count >= 0 && offset + count <= self.count)
        guard isReadable(offset..<(offset + count)) else {
            throw FormatError(
                .truncated, "the file was made shorter, or its device cannot be read", at: 0)
        }
        // Sound: the range is inside the mapping, which lives as long as self.
        let part = unsafe UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + count)])
        return try unsafe body(Span(_unsafeBytes: part))
    }
}
