// Reads one immutable segment: the footer on opening, everything else on demand.
// Every read verifies the block's checksum.

/// An open segment, shared by all snapshots that contain it. Safe from any thread.
final class SegmentReader: Sendable {
    let info: Manifest.Segment
    let footer: SegmentFooter
    let footerSizeBytes: Int
    var path: String { file.path }

    private let file: SegmentFile
    /// Index in `footer.fields` by column number; -1 if the segment lacks the column.
    private let fieldByColumn: [Int]
    let cache: SegmentCache
    /// Whether damage errors describe what is lost.
    private let saysLoss: Bool
    /// A block that is treated as damaged.
    private let absent: BlockHandle?

    /// - Throws: `notFound` if the file is gone, `damaged` if it is not the one that the manifest
    ///   names.
    convenience init(
        in directory: any Directory, _ info: Manifest.Segment, databaseID: UInt64,
        access: SegmentFile.Access = .mapped
    ) throws(DatabaseError) {
        self.init(
            info,
            try SegmentFile.open(in: directory, info, databaseID: databaseID, access: access))
    }

    init(_ info: Manifest.Segment, _ opened: SegmentFile.Opened) {
        self.info = info
        cache = SegmentCache()
        saysLoss = true
        absent = nil
        (file, footer, footerSizeBytes) = opened
        var fieldByColumn: [Int] = []
        for (index, field) in footer.fields.enumerated() {
            while fieldByColumn.count <= field.column.id { fieldByColumn.append(-1) }
            fieldByColumn[field.column.id] = index
        }
        self.fieldByColumn = fieldByColumn
    }

    /// Creates a quiet reader of the same segment, whose errors do not describe losses. For code
    /// that computes the losses and may run into damage itself.
    ///
    /// - Parameter handle: a block that is treated as damaged.
    init(quiet other: SegmentReader, without handle: BlockHandle? = nil) {
        info = other.info
        footer = other.footer
        footerSizeBytes = other.footerSizeBytes
        file = other.file
        fieldByColumn = other.fieldByColumn
        saysLoss = false
        absent = handle
        // Shares the decoded directories, unless the block is one of them.
        let directories =
            [footer.timeDirectory, footer.seriesDirectory, footer.smallDirectories]
            + footer.fields.map(\.directory)
        let isDirectory = handle.map(directories.contains) ?? false
        cache = isDirectory ? SegmentCache() : SegmentCache(directoriesOf: other.cache)
    }

    /// Checks that its columns have the names and types of the manifest. ALTER may have widened the
    /// types since, and a column may have been removed.
    func check(_ manifest: Manifest) throws(DatabaseError) {
        guard let schema = manifest.schemas[info.experiment] else { return }
        for field in footer.fields {
            let column = field.column
            let known = column.id < schema.columnCount ? schema.column(column.id) : nil
            var problem: String?
            if known?.kind != column.kind || !column.type.canBecome(known?.type ?? column.type) {
                let expected = known.map { "expected a \($0.type.name) as in the manifest" }
                problem =
                    "is a \(column.type.name) in this segment, "
                    + (expected ?? "but the manifest has no such column")
            } else if let known, !known.isRemoved, Name(known.name) != Name(column.name) {
                problem =
                    "is \"\(column.name)\" in this segment, expected \"\(known.name)\" as in the "
                    + "manifest"
            }
            guard let problem else { continue }
            throw DatabaseError(
                .damaged, "column \(column.id) \(problem)", file: path,
                offset: info.sizeBytes - SegmentFormat.trailerSizeBytes)
        }
    }

    /// Index of a column's field in the footer; nil if the segment has no value of it.
    func field(_ column: ColumnID) -> Int? {
        guard column < fieldByColumn.count, fieldByColumn[column] >= 0 else { return nil }
        return fieldByColumn[column]
    }

    // MARK: Directories

    func directory(_ field: Int) throws(DatabaseError) -> BlockTable {
        if let known = cache.withDirectories({ $0.fields[field] }) { return known }
        let description = footer.fields[field]
        let isSmall = description.smallBlockCount > 0
        let table =
            isSmall
            ? try smallDirectories().directory(of: field, in: footer.fields)
            : try read(description.directory) { bytes throws(FormatError) in
                BlockTable(
                    try IntegerTable(
                        decoding: bytes, columnCount: BlockTable.fieldColumnCount,
                        countMax: entryCountMax(description.valueCount)))
            }
        let handle = isSmall ? footer.smallDirectories : description.directory
        let rowCount = footer.rowCount
        try namingFile(path, at: handle.offset) { () throws(FormatError) in
            try table.check(
                rowCount: rowCount, valueCount: description.valueCount,
                fileSizeBytes: info.sizeBytes)
        }
        cache.withDirectories { $0.fields[field] = table }
        return table
    }

    /// The most blocks that so many values, rows or series can have. Constant pages of a directory
    /// take almost no bytes, so the file size limits the memory.
    private func entryCountMax(_ count: Int) -> Int {
        min(count, SegmentFormat.entriesPerByteMax * info.sizeBytes)
    }

    private func smallDirectories() throws(DatabaseError) -> SmallDirectories {
        if let known = cache.withDirectories({ $0.small }) { return known }
        let fields = footer.fields
        let directories = try read(footer.smallDirectories) { bytes throws(FormatError) in
            try SmallDirectories(
                decoding: bytes, fields: fields, countMax: entryCountMax(.max))
        }
        cache.withDirectories { $0.small = directories }
        return directories
    }

    func dictionary(_ field: Int) throws(DatabaseError) -> StringTable {
        if let known = cache.withDirectories({ $0.dictionaries[field] }) { return known }
        let description = footer.fields[field]
        guard description.dictionaryCount > 0 else { return .empty }
        let table = try read(description.dictionary) { bytes throws(FormatError) in
            try SegmentReader.strings(bytes, count: description.dictionaryCount)
        }
        cache.withDirectories { $0.dictionaries[field] = table }
        return table
    }

    func presence(ofField field: Int) throws(DatabaseError) -> PresenceVector {
        try presence(ofGroup: footer.fields[field].group)
    }

    private func presence(ofGroup group: Int) throws(DatabaseError) -> PresenceVector {
        if let known = cache.withDirectories({ $0.presence[group] }) { return known }
        let rowCount = footer.rowCount
        let vector = try read(footer.groups[group]) { bytes throws(FormatError) in
            try PresenceVector([UInt8](copying: bytes), rowCount: rowCount)
        }
        cache.withDirectories { $0.presence[group] = vector }
        return vector
    }

    /// The rows of one chunk of a presence vector.
    func presenceRows(
        _ vector: PresenceVector, ofField field: Int, chunk: Int
    ) throws(DatabaseError) -> [UInt32] {
        try presenceRows(vector, ofGroup: footer.fields[field].group, chunk: chunk)
    }

    /// Whether all rows with a value of `field` are known to have one of `other`. Exact only for
    /// presence that is stored as a subset; otherwise false.
    func isPart(_ field: Int, of other: Int, rows: Range<Int>) throws(DatabaseError) -> Bool {
        let (group, whole) = (footer.fields[field].group, footer.fields[other].group)
        if group == whole { return true }
        return try presence(ofGroup: group).chunks.allSatisfy {
            !rows.overlaps($0.rows) || $0.whole == whole
        }
    }

    /// Decodes chunks of a presence vector to verify them.
    ///
    /// - Parameter isWanted: whether to decode the chunks that are a subset of the given vector, or
    ///   of none.
    func checkPresence(
        ofGroup group: Int, _ isWanted: (_ whole: Int?) -> Bool
    ) throws(DatabaseError) {
        let vector = try presence(ofGroup: group)
        for (chunk, found) in vector.chunks.enumerated() where isWanted(found.whole) {
            _ = try presenceRows(vector, ofGroup: group, chunk: chunk)
        }
    }

    private func presenceRows(
        _ vector: PresenceVector, ofGroup group: Int, chunk: Int, isWhole: Bool = false
    ) throws(DatabaseError) -> [UInt32] {
        let name = SegmentCache.ChunkName(group: group, chunk: chunk)
        if let known = cache.decoded({ $0.presenceRows[name] }) { return known }
        let offset = footer.groups[group].offset
        let rows: [UInt32]
        if let other = vector.chunks[chunk].whole {
            let number = vector.chunks[chunk].number
            guard !isWhole, other < footer.groups.count else {
                throw DatabaseError(
                    .damaged,
                    "a presence vector stored as a subset of vector \(other), which is "
                        + "a subset itself or does not exist", file: path,
                    offset: offset)
            }
            let whole = try presence(ofGroup: other)
            guard let wholeChunk = whole.chunk(number: number) else {
                throw DatabaseError(
                    .damaged,
                    "a presence vector stored as a subset of a vector without rows "
                        + "there", file: path,
                    offset: offset)
            }
            let among = try presenceRows(
                whole, ofGroup: other, chunk: wholeChunk, isWhole: true)
            rows = try namingFile(path, at: offset) { () throws(FormatError) in
                try vector.rows(ofChunk: chunk, of: among)
            }
        } else {
            rows = try namingFile(path, at: offset) { () throws(FormatError) in
                try vector.rows(ofChunk: chunk)
            }
        }
        cache.keep(sizeBytes: rows.count * 4) {
            $0.presenceRows.updateValue(rows, forKey: name) == nil
        }
        return rows
    }

    /// The series in key order; nil if there are too many to cache.
    func keptSeries() throws(DatabaseError) -> [SeriesEntry]? {
        guard footer.seriesCount <= SegmentReader.seriesCountMax else { return nil }
        if let known = cache.withDirectories({ $0.seriesEntries }) { return known }
        var series: [SeriesEntry] = []
        try forEachSeries { series.append($0) }
        cache.withDirectories { $0.seriesEntries = series }
        return series
    }

    /// The directory of the blocks of the series table, with their first keys.
    func seriesBlocks() throws(DatabaseError) -> SeriesDirectory {
        if let known = cache.withDirectories({ $0.series }) { return known }
        let seriesCount = footer.seriesCount
        let directory = try read(footer.seriesDirectory) { bytes throws(FormatError) in
            try SeriesDirectory(
                bytes, seriesCount: seriesCount, countMax: entryCountMax(seriesCount))
        }
        cache.withDirectories { $0.series = directory }
        return directory
    }

    /// The most series of a segment that are cached: about two mebibytes.
    private static let seriesCountMax = 16_384

    /// The directory of the blocks of times.
    func timeBlocks() throws(DatabaseError) -> BlockTable {
        if let known = cache.withDirectories({ $0.times }) { return known }
        let rowCount = footer.rowCount
        let table = try read(footer.timeDirectory) { bytes throws(FormatError) in
            let table = BlockTable(
                try IntegerTable(
                    decoding: bytes, columnCount: BlockTable.timeColumnCount,
                    countMax: entryCountMax(rowCount)))
            try table.check(
                rowCount: rowCount, valueCount: rowCount, fileSizeBytes: info.sizeBytes)
            return table
        }
        cache.withDirectories { $0.times = table }
        return table
    }

    /// The block with the time of a row, and all rows of the block.
    func timeBlock(row: Int) throws(DatabaseError) -> (block: Int, rows: Range<Int>) {
        // Copying the table would cost more than the search.
        if let found = cache.withDirectories({ $0.times?.timeBlock(row: row) }) { return found }
        return try timeBlocks().timeBlock(row: row)
    }

    /// The times of one block of rows.
    func times(block: Int) throws(DatabaseError) -> [Int64] {
        if let known = cache.decoded({ $0.times[block] }) { return known }
        let words = try words(timeBlocks(), block: block, type: .integer)
        var times: [Int64] = []
        let source = words.span
        times.append(addingCapacity: source.count) { output in
            for index in source.indices { output.append(Int64(bitPattern: source[index])) }
        }
        cache.keep(sizeBytes: times.count * 8) { $0.times.updateValue(times, forKey: block) == nil }
        return times
    }

    // MARK: Blocks

    /// The decoded words of a block that a directory lists.
    func words(
        _ directory: BlockTable, block: Int, type: FieldType
    ) throws(DatabaseError) -> [UInt64] {
        let count = directory.valueCount(block)
        let encoding = directory.encoding(block)
        return try read(directory.handle(block)) { bytes throws(FormatError) in
            var words: [UInt64] = []
            var decoder = BlockDecoder()
            words.reserveCapacity(count)
            try decoder.decode(
                bytes, encoding: encoding, count: count, type: type, appendTo: &words)
            return words
        }
    }

    /// The words of times and codes and the strings of a block that stores both.
    func mixedStrings(
        _ directory: BlockTable, block: Int
    ) throws(DatabaseError) -> (words: [UInt64], strings: StringTable) {
        let count = directory.valueCount(block)
        return try read(directory.handle(block)) { bytes throws(FormatError) in
            var (words, heap, ends) = ([UInt64](), [UInt8](), [Int]())
            try MixedStringBlock.decode(
                bytes, count: count, sizeBytesMax: SegmentFormat.blockSizeBytesMax, words: &words,
                heap: &heap, ends: &ends)
            return (words, StringTable(heap: heap, ends: ends))
        }
    }

    /// The strings of a block that stores them itself.
    func plainStrings(
        _ directory: BlockTable, block: Int
    ) throws(DatabaseError) -> StringTable {
        let count = directory.valueCount(block)
        return try read(directory.handle(block)) { bytes throws(FormatError) in
            try SegmentReader.strings(bytes, count: count)
        }
    }

    private static func strings(
        _ bytes: Span<UInt8>, count: Int
    ) throws(FormatError) -> StringTable {
        var (heap, ends) = ([UInt8](), [Int]())
        try decodeStrings(
            bytes, count: count, sizeBytesMax: SegmentFormat.blockSizeBytesMax, heap: &heap,
            ends: &ends)
        return StringTable(heap: heap, ends: ends)
    }

    /// The size of the strings that a block stores itself, from their lengths; otherwise 0.
    func stringSizeBytes(_ directory: BlockTable, block: Int) throws(DatabaseError) -> Int {
        let (count, encoding) = (directory.valueCount(block), directory.encoding(block))
        guard SegmentFormat.holdsStrings(encoding) else { return 0 }
        let decode =
            encoding == SegmentFormat.mixedStrings
            ? MixedStringBlock.decodeTotalSize : decodeTotalSize
        return try read(directory.handle(block)) { bytes throws(FormatError) in
            try decode(bytes, count, SegmentFormat.blockSizeBytesMax)
        }
    }

    /// Verifies a block and passes it to the body.
    ///
    /// - Throws: `damaged`, with the same description of the loss as `check`.
    func read<Result>(
        _ handle: BlockHandle, _ body: (Span<UInt8>) throws(FormatError) -> Result
    ) throws(DatabaseError) -> Result {
        do throws(DatabaseError) {
            if handle == absent {
                throw DatabaseError(.damaged, "a lost block", file: path, offset: handle.offset)
            }
            return try file.read(handle, body)
        } catch {
            guard error.kind == .damaged, saysLoss else { throw error }
            throw error.losing(lost(at: handle))
        }
    }
}

extension SegmentReader {
    /// The number of values of a field in the rows before `row`.
    func ordinal(ofRow row: Int, field: Int) throws(DatabaseError) -> Int {
        let vector = try presence(ofField: field)
        guard let index = vector.chunk(ofRow: row) else { return 0 }
        let rows = try presenceRows(vector, ofField: field, chunk: index)
        return vector.chunks[index].firstOrdinal + rows.partitioningIndex { Int($0) >= row }
    }

    /// The rows of one series in a time range.
    func rows(in range: TimeRange, of rows: Range<Int>) throws(DatabaseError) -> Range<Int> {
        let start = try firstRow(from: range.lower, in: rows)
        return start..<(try firstRow(from: range.upper, in: start..<rows.upperBound))
    }

    /// The first of ascending rows whose time is not before `time`. A binary search that decodes
    /// only blocks of times whose bounds do not decide the comparison.
    private func firstRow(
        from time: Int64, in rows: Range<Int>
    ) throws(DatabaseError) -> Int {
        let directory = try timeBlocks()
        var (low, high) = (rows.lowerBound, rows.upperBound)
        while low < high {
            let (block, blockRows) = directory.timeBlock(row: (low + high) / 2)
            let (start, end) = (max(low, blockRows.lowerBound), min(high, blockRows.upperBound))
            // The bounds of a block that is shared with other series may be their times.
            if rows.lowerBound <= blockRows.lowerBound, blockRows.upperBound <= rows.upperBound {
                if directory.firstTime(block) >= time {
                    high = start
                    continue
                }
                if directory.lastTime(block) < time {
                    low = end
                    continue
                }
            }
            let times = try times(block: block)
            let blockRow = blockRows.lowerBound
            let looked = (start - blockRow)..<(end - blockRow)
            let row = blockRow + times[looked].partitioningIndex { $0 >= time }
            if row > start, row < end { return row }
            if row == start { high = start } else { low = end }
        }
        return low
    }
}
