// Reads files from failing devices: unreadable sectors become zeros.

extension File {
    private static var pieceSizeBytes: Int { 1 << 20 }
    /// The unit in which unreadable bytes are skipped.
    private static var sectorSizeBytes: Int { 4096 }

    /// Reads up to `count` bytes, fewer only at the end of the file. Unreadable bytes are zeros.
    ///
    /// - Returns: the bytes, and how many of them could not be read.
    func readReadable(
        count: Int, at offset: Int
    ) throws(FileError) -> (bytes: [UInt8], unreadable: Int) {
        var bytes: [UInt8] = []
        var unreadable = 0
        while bytes.count < count {
            let size = min(Self.pieceSizeBytes, count - bytes.count)
            let piece = try readPiece(size, at: offset + bytes.count, &unreadable)
            bytes += piece
            if piece.count < size { break }
        }
        return (bytes, unreadable)
    }

    private func readPiece(
        _ count: Int, at start: Int, _ unreadable: inout Int
    ) throws(FileError) -> [UInt8] {
        do throws(FileError) {
            return try readAll(count: count, at: start)
        } catch {
            guard error.isReadFailure else { throw error }
        }
        var bytes: [UInt8] = []
        while bytes.count < count {
            // Reads up to the next sector boundary, because devices fail by sectors.
            let place = start + bytes.count
            let size = min(Self.sectorSizeBytes - place % Self.sectorSizeBytes, count - bytes.count)
            do throws(FileError) {
                let sector = try readAll(count: size, at: place)
                bytes += sector
                if sector.count < size { break }
            } catch {
                guard error.isReadFailure else { throw error }
                unreadable += size
                bytes += [UInt8](repeating: 0, count: size)
            }
        }
        return bytes
    }
}
