// Opens a segment with a damaged header or trailer, or with extra bytes at its end, by its footer.
// The footer's checksum, from the manifest or else the trailer, proves that it is the right
// segment.

enum RecoveredSegment {
    /// How much of the file's end is searched for a footer that the trailer does not locate.
    private static let searchSizeBytes = 128 << 10

    /// Opens a segment by its footer alone; nil if the footer cannot be found.
    static func open(
        _ info: Manifest.Segment, in directory: any Directory, databaseID: UInt64
    ) throws(DatabaseError) -> SegmentReader? {
        let file = try calling("opening a segment") { () throws(FileError) in
            try directory.open(FileName.segment(info.number).text, writable: false)
        }
        let offset = try footerOffset(of: file, info, databaseID: databaseID)
        guard let offset else { return nil }
        let handle = BlockHandle(
            offset: offset, sizeBytes: info.sizeBytes - SegmentFormat.trailerSizeBytes - offset,
            checksum: info.footerChecksum)
        do throws(DatabaseError) {
            let opened = try SegmentFile.open(
                file, info, databaseID: databaseID, footerAt: handle)
            return SegmentReader(info, opened)
        } catch {
            if error.isSystemCallFailure { throw error }
            return nil
        }
    }

    /// The offset of the footer that has the checksum of the manifest.
    private static func footerOffset(
        of file: any File, _ info: Manifest.Segment, databaseID: UInt64
    ) throws(DatabaseError) -> Int? {
        let end = info.sizeBytes - SegmentFormat.trailerSizeBytes
        guard end >= SegmentFormat.headerSizeBytes else { return nil }
        let start = max(SegmentFormat.headerSizeBytes, end - searchSizeBytes)
        let (tail, trailer) = try calling("reading a segment") { () throws(FileError) in
            (
                try file.readReadable(count: end - start, at: start).bytes,
                try file.readReadable(count: SegmentFormat.trailerSizeBytes, at: end).bytes
            )
        }
        guard tail.count == end - start else { return nil }
        func matches(_ bytes: Span<UInt8>, at offset: Int) -> Bool {
            let seed = SegmentFormat.seed(
                databaseID: databaseID, number: info.number, offset: offset)
            return checksum(bytes, seed: seed) == info.footerChecksum
        }
        var reader = ByteReader(trailer.span)
        if let offset = try? reader.readUInt64(), let size = try? reader.readUInt32() {
            // Both values locate the footer, so one intact value is enough.
            for candidate in [Int(clamping: offset), end - Int(size)] {
                guard candidate >= SegmentFormat.headerSizeBytes, candidate < end,
                    end - candidate <= SegmentFormat.blockSizeBytesMax
                else { continue }
                let bytes = try calling("reading a segment") { () throws(FileError) in
                    try file.readReadable(count: end - candidate, at: candidate).bytes
                }
                if matches(bytes.span, at: candidate) { return candidate }
            }
        }
        let span = tail.span
        for offset in stride(from: end - 1, through: start, by: -1) {
            if matches(span.extracting((offset - start)...), at: offset) { return offset }
        }
        return nil
    }
}
