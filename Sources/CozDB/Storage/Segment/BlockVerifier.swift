// Verifies the checksums of blocks, many per read.

/// Reads blocks of a segment into a reused buffer.
struct BlockVerifier {
    private let file: any File
    private let databaseID: UInt64
    private let number: UInt64
    private var memory: [UInt8] = []

    init(_ file: any File, databaseID: UInt64, number: UInt64) {
        self.file = file
        self.databaseID = databaseID
        self.number = number
    }

    /// Returns the indices of damaged blocks.
    ///
    /// - Parameter handles: ascending, close to each other, and inside the file.
    /// - Throws: `io` if a read fails for another reason than a media error.
    mutating func damaged(_ handles: [BlockHandle]) throws(DatabaseError) -> [Int] {
        guard let base = handles.first?.offset else { return [] }
        let end = handles.reduce(base) { max($0, $1.offset + $1.sizeBytes) }
        let count: Int
        do throws(FileError) {
            count = try file.read(end - base, at: base, into: &memory)
        } catch {
            guard error.isReadFailure else {
                throw DatabaseError(error, while: "reading a segment")
            }
            // Reads one by one to find the blocks that the device cannot read.
            if handles.count == 1 { return [0] }
            var found: [Int] = []
            for index in handles.indices where try !damaged([handles[index]]).isEmpty {
                found.append(index)
            }
            return found
        }
        var found: [Int] = []
        let bytes = memory
        let span = bytes.span
        for (index, handle) in handles.enumerated() where handle.sizeBytes > 0 {
            let (start, end) = (handle.offset - base, handle.offset - base + handle.sizeBytes)
            let seed = SegmentFormat.seed(
                databaseID: databaseID, number: number, offset: handle.offset)
            if end > count
                || checksum(span.extracting(start..<end), seed: seed) != handle.checksum
            {
                found.append(index)
            }
        }
        return found
    }
}
