// A segment whose ends, and the checksums of all it names, fit whatever bytes it has.

@testable internal import CozDB

/// First byte: checksums as they are found (bit 0), those of blocks too (1); what is done: reading
/// (0 in bits 2 and 3), merging and deleting (1), repair (2).
enum SegmentFuzzing {
    static func run(_ bytes: [UInt8], _ choice: UInt8) throws(FuzzFailure) {
        guard var info = Sample.manifest.segments.first else {
            throw FuzzFailure("a sample without segments")
        }
        var bytes = bytes
        if choice & 1 == 0 {
            var mending = SegmentMending(bytes, number: info.number)
            mending.run(mendsBlocks: choice & 2 == 0)
            bytes = mending.bytes
            info.footerChecksum = mending.footerChecksum
            info.rowCount = mending.rowCount ?? info.rowCount
            info.experiment = mending.experiment ?? info.experiment
        }
        info.sizeBytes = bytes.count
        var manifest = Sample.manifest
        manifest.segments[0] = info
        // An experiment of this number, and columns of these numbers, may not be known.
        var contents = Sample.files
        contents["db/MANIFEST"] = manifest.encoded()
        contents["db/" + FileName.segment(info.number).text] = bytes
        let files = MemoryFiles(contents)
        switch choice >> 2 & 3 {
        case 0: try Sample.read(files)
        case 1: try Sample.change(files)
        default: try Sample.mend(files)
        }
    }
}

/// Makes bytes a segment, as far as that can be had without changing what they say.
struct SegmentMending {
    private(set) var bytes: [UInt8]
    private(set) var footerChecksum: UInt32 = 0
    private(set) var rowCount: Int?
    private(set) var experiment: Int?
    private let number: UInt64

    /// Directories beyond this are left alone: whether they are refused is seen later.
    private static let entryCountMax = 4096

    init(_ bytes: [UInt8], number: UInt64) {
        self.bytes = bytes
        self.number = number
    }

    mutating func run(mendsBlocks: Bool) {
        let ends = SegmentFormat.headerSizeBytes + SegmentFormat.trailerSizeBytes
        guard bytes.count >= ends else { return }
        let trailer = bytes.suffix(SegmentFormat.trailerSizeBytes)
        bytes.removeLast(trailer.count)
        writeHeader()
        // Where the footer begins is what the trailer says, if that can be.
        let said = Int(truncatingIfNeeded: UInt64(Array(trailer).word32(at: 0)))
        let start = min(max(said, SegmentFormat.headerSizeBytes), bytes.count)
        var footer = Array(bytes[start...])
        if let read = SegmentMending.footer(footer, end: start) {
            (rowCount, experiment) = (read.rowCount, read.experiment)
            if mendsBlocks {
                bytes.removeLast(footer.count)
                footer = mended(read)
            }
        }
        let handle = append(footer, replacing: mendsBlocks && rowCount != nil ? nil : start)
        footerChecksum = handle.checksum
        writeTrailer(handle)
    }

    private static func footer(
        _ bytes: [UInt8], end: Int
    ) -> SegmentFooter? {
        guard let plain = try? decompressedBytes(bytes.span, limit: 1 << 24) else { return nil }
        var reader = ByteReader(plain.span)
        return try? reader.readFooter(end: end)
    }

    // MARK: Ends

    private mutating func writeHeader() {
        bytes.replaceSubrange(0..<8, with: SegmentFormat.magic)
        bytes.put(SegmentFormat.version, at: 8)
        bytes.put(Sample.databaseID, at: 16)
        bytes.put(number, at: 24)
        let sum = checksum(bytes.span.extracting(16..<32), seed: SegmentFormat.version)
        bytes.put(sum, at: 12)
    }

    private mutating func writeTrailer(_ footer: BlockHandle) {
        var trailer = ByteWriter()
        trailer.append(UInt64(footer.offset))
        trailer.append(UInt32(footer.sizeBytes))
        trailer.append(footer.checksum)
        trailer.append(UInt64(bytes.count + SegmentFormat.trailerSizeBytes))
        trailer.append(SegmentFormat.magic)
        bytes += trailer.bytes
    }

    /// - Parameter start: where the bytes stand already; nil puts them at the end.
    private mutating func append(_ block: [UInt8], replacing start: Int?) -> BlockHandle {
        let offset = start ?? bytes.count
        if start == nil { bytes += block }
        return BlockHandle(
            offset: offset, sizeBytes: block.count, checksum: sum(block.span, at: offset))
    }

    private func sum(_ block: Span<UInt8>, at offset: Int) -> UInt32 {
        let seed = SegmentFormat.seed(
            databaseID: Sample.databaseID, number: number, offset: offset)
        return checksum(block, seed: seed)
    }

    // MARK: What the footer names

    /// The footer with checksums that fit; directories that had others are written anew.
    private mutating func mended(_ read: SegmentFooter) -> [UInt8] {
        var footer = read
        mend(&footer.timeDirectory, columnCounts: [BlockTable.timeColumnCount])
        mend(&footer.seriesDirectory, columnCounts: [5], isSeries: true)
        mend(&footer.smallDirectories, columnCounts: [9, 14, 14], isBlobs: true)
        for index in footer.groups.indices { fit(&footer.groups[index]) }
        for index in footer.fields.indices {
            mend(&footer.fields[index].directory, columnCounts: [BlockTable.fieldColumnCount])
            fit(&footer.fields[index].dictionary)
        }
        var plain = ByteWriter()
        plain.append(footer)
        return [0] + plain.bytes
    }

    private func isInside(_ handle: BlockHandle) -> Bool {
        handle.offset >= 0 && handle.sizeBytes > 0 && handle.offset <= bytes.count
            && handle.sizeBytes <= bytes.count - handle.offset
    }

    private func fit(_ handle: inout BlockHandle) {
        guard isInside(handle) else { return }
        let range = handle.offset..<(handle.offset + handle.sizeBytes)
        handle.checksum = sum(bytes.span.extracting(range), at: handle.offset)
    }

    /// Mends the checksums in a directory, and then that of the directory.
    private mutating func mend(
        _ handle: inout BlockHandle, columnCounts: [Int], isSeries: Bool = false,
        isBlobs: Bool = false
    ) {
        guard isInside(handle) else { return }
        let block = Array(bytes[handle.offset..<(handle.offset + handle.sizeBytes)])
        let written = isSeries || isBlobs ? blobs(block, columnCounts) : table(block, columnCounts)
        guard let written, written != block else { return fit(&handle) }
        handle = append(written, replacing: nil)
    }

    private func table(_ block: [UInt8], _ columnCounts: [Int]) -> [UInt8]? {
        mendedTable(block.span, columnCount: columnCounts[0], firstFloat: .max)
    }

    /// Tables as blobs, and what stands behind them.
    private func blobs(_ block: [UInt8], _ columnCounts: [Int]) -> [UInt8]? {
        var reader = ByteReader(block.span)
        var writer = ByteWriter()
        for (index, columnCount) in columnCounts.enumerated() {
            guard let blob = try? reader.readBlob(limit: block.count) else { return nil }
            let firstFloat = index == 2 ? BlockTable.firstStatistic : Int.max
            let table = mendedTable(blob, columnCount: columnCount, firstFloat: firstFloat)
            writer.appendBlob(table ?? [UInt8](copying: blob))
        }
        guard let rest = try? reader.readBytes(reader.remaining) else { return nil }
        writer.append(rest)
        return writer.bytes
    }

    /// The bytes of the table with checksums that fit; as they are where they did.
    private func mendedTable(
        _ block: Span<UInt8>, columnCount: Int, firstFloat: Int
    ) -> [UInt8]? {
        guard
            var table = try? IntegerTable(
                decoding: block, columnCount: columnCount, firstFloat: firstFloat,
                countMax: SegmentMending.entryCountMax)
        else { return nil }
        let isSeries = columnCount == 5
        let first = isSeries ? SeriesColumn.offset : BlockTable.Column.offset
        var isChanged = false
        for row in 0..<table.count {
            var handle = BlockHandle(
                offset: table.int(first, row), sizeBytes: table.int(first + 1, row),
                checksum: UInt32(truncatingIfNeeded: table.int(first + 2, row)))
            let found = handle.checksum
            fit(&handle)
            isChanged = isChanged || handle.checksum != found
            table.columns[first + 2][row] = UInt64(handle.checksum)
        }
        guard isChanged else { return [UInt8](copying: block) }
        var writer = ByteWriter()
        table.encode(with: BlockEncoder(), firstFloat: firstFloat, into: &writer)
        return writer.bytes
    }
}
