// Reads files from failing devices: unreadable sectors become zeros.

/// The unit in which unreadable bytes are skipped.
private let sectorSizeBytes = 4096

extension File {
    /// Reads up to `count` bytes, fewer only at the end of the file. Unreadable bytes are zeros.
    ///
    /// - Parameter unit: the bytes of a read. After a failure it reads by sectors, as devices fail.
    /// - Returns: the bytes, and how many of them could not be read.
    func readReadable(
        count: Int, at offset: Int, by unit: Int = 1 << 20
    ) throws(FileError) -> (bytes: [UInt8], unreadable: Int) {
        var bytes: [UInt8] = []
        var unreadable = 0
        while bytes.count < count {
            let start = offset + bytes.count
            let size = min(unit - start % sectorSizeBytes, count - bytes.count)
            var part = (bytes: [UInt8](), unreadable: 0)
            do throws(FileError) {
                part.bytes = try readAll(count: size, at: start)
            } catch {
                guard error.isReadFailure else { throw error }
                part =
                    unit > sectorSizeBytes
                    ? try readReadable(count: size, at: start, by: sectorSizeBytes)
                    : ([UInt8](repeating: 0, count: size), size)
            }
            bytes += part.bytes
            unreadable += part.unreadable
            if part.bytes.count < size { break }
        }
        return (bytes, unreadable)
    }
}
