// Parts of a large file, for threads that scan it in parallel.

internal import CozDB
internal import CozPlatform

extension InputFile {
    /// Splits the file into two parts at a line start near the middle. Returns nil if the file is
    /// smaller than `sizeBytesMin`, is not a plain file, or has no newline within 64 KiB of the
    /// middle.
    ///
    /// - Throws: as `init`; `io` if reading fails.
    func halves(from sizeBytesMin: Int) throws(DatabaseError) -> (FilePart, FilePart)? {
        guard isPlain, let size = sizeBytes, size >= sizeBytesMin else { return nil }
        let file = try OpenFile(path: name)
        var probe = FilePart(file: file, range: (size / 2)..<size)
        var buffer = PaddedBuffer()
        unsafe try buffer.append(upTo: 1 << 16) { (target) throws(DatabaseError) in
            unsafe try probe.read(into: target)
        }
        guard let newline = buffer.bytes.firstIndex(of: 0x0A, in: 0..<buffer.count) else {
            return nil
        }
        let middle = size / 2 + newline + 1
        // The second part has no end: bytes appended in the meantime are read too.
        return (
            FilePart(file: file, range: 0..<middle), FilePart(file: file, range: middle..<Int.max)
        )
    }
}

/// A range of a file's bytes that is read once, from front to back.
struct FilePart: Sendable {
    fileprivate let file: OpenFile
    /// The bytes not read yet.
    fileprivate var range: Range<Int>

    /// Reads the next bytes and returns their count; 0 at the end of the range or the file.
    ///
    /// - Throws: `io`.
    mutating func read(
        into target: UnsafeMutableRawBufferPointer
    ) throws(DatabaseError) -> Int {
        while true {
            let size = min(target.count, range.count)
            // Sound: the buffer is writable for its count.
            let count = unsafe pread(
                file.descriptor, target.baseAddress, size, off_t(range.lowerBound))
            if count >= 0 {
                range = (range.lowerBound + count)..<range.upperBound
                return count
            }
            if errno == EINTR { continue }
            throw DatabaseError(
                .io, "cannot be read: \(InputFile.message(errno))", file: file.path,
                offset: range.lowerBound)
        }
    }
}

/// A file descriptor that is closed when the last part is released.
private final class OpenFile: Sendable {
    let path: String
    let descriptor: Int32

    init(path: String) throws(DatabaseError) {
        self.path = path
        descriptor = try InputFile.open(path)
    }

    deinit { _ = close(descriptor) }
}
