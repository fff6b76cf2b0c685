// Segments whose checksums are right, and that no writer makes.

internal import Testing

@testable internal import CozDB

struct ForgedSegmentTests {
    /// The first segment of the sample with so many rows, whose times are in as many blocks, each
    /// column of their directory constant pages of a few bytes.
    private func segment(rows: Int) throws -> (SegmentMending, Manifest.Segment) {
        var info = Sample.manifest.segments[0]
        let name = FileName.segment(info.number).text
        let bytes = try #require(Sample.files["db/" + name])
        let directory = MemoryDirectory(MemoryFiles(Sample.files), "db")
        var footer = try SegmentReader(in: directory, info, databaseID: Sample.databaseID).footer
        var table = ByteWriter()
        table.appendVarint(rows)
        for _ in 0..<(BlockColumn.timeColumnCount * rows / SegmentFormat.pageCount) {
            table.append(BlockEncoding.constant.rawValue)
            table.appendBlob([2])
        }
        footer.timeDirectory = BlockPlace(offset: bytes.count, sizeBytes: table.count)
        footer.rowCount = rows
        var forged = ByteWriter()
        forged.append(bytes)
        forged.append(table.bytes)
        let footerOffset = forged.count
        forged.append(0 as UInt8)
        forged.append(footer)
        forged.append(UInt64(footerOffset))
        forged.appendZeros(SegmentFormat.trailerSizeBytes - 8)
        var mending = SegmentMending(forged.bytes, number: info.number)
        mending.run(mendsBlocks: true)
        info.rowCount = rows
        info.sizeBytes = mending.bytes.count
        info.footerChecksum = mending.footerChecksum
        return (mending, info)
    }

    @Test(arguments: [(1 << 18, "expected at most"), (1 << 24, "rows in a file of")])
    func `a small file does not become much memory`(rows: Int, words: String) throws {
        let (forged, info) = try segment(rows: rows)
        #expect(forged.rowCount == rows && info.sizeBytes < 32 << 10)
        let name = FileName.segment(info.number).text
        let directory = MemoryDirectory(MemoryFiles(["db/" + name: forged.bytes]), "db")
        let error = #expect(throws: DatabaseError.self) {
            _ = try SegmentReader(in: directory, info, databaseID: Sample.databaseID).timeBlocks()
        }
        #expect(error?.kind == .damaged)
        #expect(error?.message.contains(words) == true, "\(String(describing: error))")
    }
}
