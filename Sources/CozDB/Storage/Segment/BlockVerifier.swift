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
    /// - Parameter places: ascending, close to each other, and inside the file.
    /// - Throws: `io` if a read fails for another reason than a media error.
    mutating func damaged(_ places: [BlockPlace]) throws(DatabaseError) -> [Int] {
        guard let base = places.first?.offset else { return [] }
        let end = places.reduce(base) { max($0, $1.offset + $1.sizeBytes) }
        let count: Int
        do throws(FileError) {
            count = try file.read(end - base, at: base, into: &memory)
        } catch {
            guard error.isReadFailure else {
                throw DatabaseError(error, while: "reading a segment")
            }
            // Reads one by one to find the blocks that the device cannot read.
            if places.count == 1 { return [0] }
            var found: [Int] = []
            for index in places.indices where try !damaged([places[index]]).isEmpty {
                found.append(index)
            }
            return found
        }
        var found: [Int] = []
        let bytes = memory
        let span = bytes.span
        for (index, place) in places.enumerated() where place.sizeBytes > 0 {
            let (start, end) = (place.offset - base, place.offset - base + place.sizeBytes)
            let seed = SegmentFormat.seed(
                databaseID: databaseID, number: number, offset: place.offset)
            if end > count
                || checksum(span.extracting(start..<end), seed: seed) != place.checksum
            {
                found.append(index)
            }
        }
        return found
    }
}
