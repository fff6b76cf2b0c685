// A segment whose header or trailer is damaged, or that has bytes behind its end, opened by its
// footer. That proves that nothing else is taken for it: the manifest, or
// the trailer where there is no manifest, has its checksum.

enum RecoveredSegment {
    /// Bytes before the trailer among which a footer is searched that no trailer names.
    private static let searchSizeBytes = 128 << 10

    /// Opens a segment by its footer alone; nil where that cannot be found.
    static func open(
        _ info: Manifest.Segment, in directory: any Directory, databaseID: UInt64
    ) throws(DatabaseError) -> SegmentReader? {
        let file = try calling("opening a segment") { () throws(FileError) in
            try directory.open(FileName.segment(info.number).text, writable: false)
        }
        guard let place = try footer(of: file, info, databaseID: databaseID) else { return nil }
        do throws(DatabaseError) {
            let opened = try SegmentFile.open(
                file, info, databaseID: databaseID, footerAt: place)
            return SegmentReader(info, opened)
        } catch {
            if error.isSystemCallFailure { throw error }
            return nil
        }
    }

    /// Where the footer with the checksum of the manifest lies.
    private static func footer(
        of file: any File, _ info: Manifest.Segment, databaseID: UInt64
    ) throws(DatabaseError) -> BlockPlace? {
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
            // One of the two is right unless both are damaged.
            for candidate in [Int(clamping: offset), end - Int(size)] {
                guard candidate >= SegmentFormat.headerSizeBytes, candidate < end,
                    end - candidate <= SegmentFormat.blockSizeBytesMax
                else { continue }
                let bytes = try calling("reading a segment") { () throws(FileError) in
                    try file.readReadable(count: end - candidate, at: candidate).bytes
                }
                if matches(bytes.span, at: candidate) {
                    return place(from: candidate, to: end, info)
                }
            }
        }
        let span = tail.span
        for offset in stride(from: end - 1, through: start, by: -1) {
            if matches(span.extracting((offset - start)...), at: offset) {
                return place(from: offset, to: end, info)
            }
        }
        return nil
    }

    private static func place(
        from offset: Int, to end: Int, _ info: Manifest.Segment
    ) -> BlockPlace {
        BlockPlace(offset: offset, sizeBytes: end - offset, checksum: info.footerChecksum)
    }
}
