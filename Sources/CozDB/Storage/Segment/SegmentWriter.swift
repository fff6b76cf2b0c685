// Writes sorted rows to one immutable segment file; docs/format/segment.md.
// Memory: one block per field, the directories and the presence vectors; nothing per row.

/// Writes series in key order, each by ascending time.
final class SegmentWriter {
    /// The number of values from which a chunk uses all cores.
    private let parallelCountMin: Int
    private var output: SegmentOutput
    private var fields: [FieldEncoder?] = []
    private var footer: SegmentFooter

    /// The chunk that the last `addRows` started, the number of its series, and its columns.
    private var chunk = RowChunk()
    private var chunkSeries = 0
    private var chunkFields: [ChunkField] = []
    private var candidates = ReferenceCandidates()
    /// Whether to write reference blocks. Off when blocks are copied from another segment, because
    /// a chain of references could exceed the depth that readers allow.
    var findsReferences: Bool
    private var seriesFirstRow = 0
    /// Values that are not in a block yet. Only thousands of fields reach the limit, at which all
    /// fields end their blocks early.
    private var pendingCount = 0
    private let presence = PresenceGroups()
    private let encoders: EncoderPool

    private var pendingTimes: [Int64] = []
    private var pendingFirstRow = 0
    private var timeDirectory = BlockTable(IntegerTable(columnCount: BlockTable.timeColumnCount))
    private var seriesTable = SeriesTableWriter()

    init(
        _ file: any File, number: UInt64, databaseID: UInt64, schema: ExperimentSchema,
        effort: EncodingEffort = .thorough, parallelCountMin: Int = FieldEncoder.parallelCountMin
    ) throws(DatabaseError) {
        self.parallelCountMin = parallelCountMin
        encoders = EncoderPool(effort: effort)
        findsReferences = effort == .thorough
        output = SegmentOutput(
            file, databaseID: databaseID, number: number, effort: effort)
        footer = SegmentFooter(experiment: schema.id, experimentName: schema.name)
        var fields = ByteWriter()
        fields.append(databaseID)
        fields.append(number)
        var header = ByteWriter()
        header.append(SegmentFormat.magic)
        header.append(SegmentFormat.version)
        header.append(checksum(fields.bytes.span, seed: SegmentFormat.version))
        header.append(fields.bytes)
        try output.append(header.bytes)
    }

    /// Creates a segment file and fills it. The file is durable on return, its directory entry is
    /// not.
    ///
    /// - Parameters:
    ///   - isAlone: whether the lock still excludes other writers. Only then a failure removes the
    ///     file: otherwise it may be another writer's.
    ///   - fill: writes the rows.
    ///   - finish: further work that must succeed.
    static func write<Result>(
        in directory: any Directory, number: UInt64, databaseID: UInt64,
        schema: ExperimentSchema, effort: EncodingEffort, isAlone: () -> Bool,
        _ fill: (SegmentWriter) throws(DatabaseError) -> Void,
        finish: (Manifest.Segment) throws(DatabaseError) -> Result
    ) throws(DatabaseError) -> Result {
        let name = FileName.segment(number).text
        do throws(DatabaseError) {
            let file = try calling("creating a segment") { () throws(FileError) in
                try directory.create(name)
            }
            let writer = try SegmentWriter(
                file, number: number, databaseID: databaseID, schema: schema, effort: effort)
            try fill(writer)
            return try finish(writer.finish())
        } catch {
            // The manifest does not name the file. It may hold the very space that is missing.
            if isAlone() { try? directory.remove(name) }
            throw error
        }
    }

    /// Comparisons and lookups between fields so far; for tests of their growth.
    var stepCount: Int { candidates.stepCount + presence.comparisonCount }

    /// The most cells of a chunk so far; for tests of its limit.
    private(set) var largestChunkCellCount = 0

    /// The number of rows so far.
    var rowCount: Int { footer.rowCount }

    /// Starts a series, whose key is greater than the one before.
    func beginSeries(_ key: [UInt8]) throws(DatabaseError) {
        try seriesTable.begin(key, firstRow: footer.rowCount, to: &output)
        footer.seriesCount += 1
        seriesFirstRow = footer.rowCount
    }

    /// Adds rows to the series, later than its other rows. `addValues` adds their values.
    func addRows(_ times: [Int64]) throws(DatabaseError) {
        try endChunk()
        guard let first = times.first, let last = times.last else { return }
        chunk.begin(firstRow: footer.rowCount, times)
        chunkSeries = footer.seriesCount
        if footer.rowCount == seriesFirstRow,
            SegmentFormat.needsNewBlock(pendingTimes.count, times.count)
        {
            try flushTimes()
        }
        addRows(count: times.count, first: first, last: last)
        try addTimes(times)
    }

    /// Adds the values of one column for the rows of the last `addRows`, once per column.
    ///
    /// - Parameters:
    ///   - rows: ascending, counted from the first row of that call.
    ///   - wholeBlocks: the values that are copyable blocks of another segment.
    func addValues(
        _ column: Column, rows: [UInt32], bits: [UInt64], strings: StringSource,
        wholeBlocks: [WholeBlock] = []
    ) throws(DatabaseError) {
        guard !rows.isEmpty else { return }
        prepare(column)
        chunk.add(column, rows: rows, bits: bits, strings, wholeBlocks)
        chunkFields.append(ChunkField(column: column.id, strings: strings, valueCount: rows.count))
    }

    /// Encodes the values of the chunk, all fields in parallel.
    private func endChunk() throws(DatabaseError) {
        guard !chunkFields.isEmpty else { return }
        let chunkFields = chunkFields
        largestChunkCellCount = max(
            largestChunkCellCount, chunkFields.reduce(0) { $0 + $1.valueCount })
        self.chunkFields.removeAll(keepingCapacity: true)
        if findsReferences { candidates.search(chunk) }
        let (chunk, series) = (chunk, chunkSeries)
        let fieldEncoders = chunkFields.compactMap { fields[$0.column] }
        let referenced = chunkFields.map { candidates.referencedColumns(of: $0.column) }
        let (presence, encoders) = (presence, encoders)
        pendingCount -= fieldEncoders.reduce(0) { $0 + $1.writer.pendingCount }
        FieldEncoder.run(
            chunkFields, parallelFrom: parallelCountMin, beside: { presence.append(chunk) }
        ) { index in
            fieldEncoders[index].append(
                chunk, series: series, referenced: referenced[index],
                strings: chunkFields[index].strings, with: encoders)
        }
        for encoder in fieldEncoders { try encoder.settle(in: &output) }
        pendingCount += fieldEncoders.reduce(0) { $0 + $1.writer.pendingCount }
        guard pendingCount > SegmentFormat.chunkCellCountMax else { return }
        pendingCount = 0
        for field in fields { try field?.writer.flushPending(to: &output) }
    }

    // MARK: Copying

    /// Adds rows to the series. The calls below then copy their times and values.
    func addRows(count: Int, first: Int64, last: Int64) {
        footer.firstTime = min(footer.firstTime, first)
        footer.lastTime = max(footer.lastTime, last)
        footer.rowCount += count
        seriesTable.add(count: count, first: first, last: last)
    }

    /// Adds the times of the next rows that have none yet.
    func addTimes(_ times: [Int64]) throws(DatabaseError) {
        for time in times {
            pendingTimes.append(time)
            if pendingTimes.count == SegmentFormat.blockCountMax { try flushTimes() }
        }
    }

    /// Copies a whole block of times of another segment.
    func copyTimes(_ bytes: [UInt8], entry: BlockEntry) throws(DatabaseError) {
        try flushTimes()
        var entry = entry
        entry.rows = pendingFirstRow...(pendingFirstRow + entry.summary.count - 1)
        entry.handle = try output.append(block: bytes)
        timeDirectory.append(entry)
        pendingFirstRow += entry.summary.count
    }

    /// Adds values of one column, whose rows are row numbers of this segment.
    func addValues(_ column: Column, _ part: RowValues) throws(DatabaseError) {
        guard !part.rows.isEmpty else { return }
        try endChunk()
        prepare(column)
        presence.append(part.rows, of: column.id)
        try fields[column.id]?.writer.append(part, to: &output)
    }

    /// Copies a whole block of values of another segment; see `FieldWriter`.
    func copyValues(
        _ column: Column, _ bytes: [UInt8], entry: BlockEntry, rows: [UInt32], codes: RowValues?
    ) throws(DatabaseError) {
        try endChunk()
        prepare(column)
        presence.append(rows, of: column.id)
        try fields[column.id]?.writer.append(
            copying: bytes, entry: entry, rows: rows, codes: codes, to: &output)
    }

    private func prepare(_ column: Column) {
        while fields.count <= column.id { fields.append(nil) }
        if fields[column.id] == nil { fields[column.id] = FieldEncoder(column) }
    }

    // MARK: Finishing

    /// Writes directories, footer and trailer. The file is durable on return, its directory entry
    /// is not.
    func finish() throws(DatabaseError) -> Manifest.Segment {
        try endChunk()
        try flushTimes()
        footer.timeDirectory = try output.append {
            timeDirectory.integers.encode(with: $0, into: &$1)
        }
        footer.seriesDirectory = try seriesTable.finish(to: &output)
        let presence = presence.finish(rowCount: footer.rowCount)
        var small = SmallDirectories()
        var groups = BytePool()
        var vectors: [[UInt8]] = []
        for index in fields.indices {
            // Taken out of the array, so that each field's memory is freed once it is written.
            guard let encoder = fields[index].take() else { continue }
            var field = try encoder.writer.finish(to: &output, &small)
            field.group = groups.intern(presence[index])
            if field.group == vectors.count { vectors.append(presence[index]) }
            footer.fields.append(field)
        }
        footer.smallDirectories = try output.append { small.encode(with: $0, into: &$1) }
        // Cannot fail for vectors encoded here. If it does, the vectors are stored independently.
        vectors = (try? PresenceSharing.related(vectors, rowCount: footer.rowCount)) ?? vectors
        for vector in vectors { footer.groups.append(try output.append(block: vector)) }
        return try writeFooter()
    }

    private func writeFooter() throws(DatabaseError) -> Manifest.Segment {
        var plain = ByteWriter()
        plain.append(footer)
        var bytes = ByteWriter()
        bytes.append(compressing: plain.bytes)
        let handle = try output.append(block: bytes.bytes)
        var trailer = ByteWriter()
        trailer.append(UInt64(handle.offset))
        trailer.append(UInt32(handle.sizeBytes))
        trailer.append(handle.checksum)
        trailer.append(UInt64(output.offset + SegmentFormat.trailerSizeBytes))
        trailer.append(SegmentFormat.magic)
        try output.append(trailer.bytes)
        try output.finish()
        return Manifest.Segment(
            number: output.number, experiment: footer.experiment, sizeBytes: output.offset,
            footerChecksum: handle.checksum, rowCount: footer.rowCount,
            valueCount: footer.valueCount, firstTime: footer.firstTime,
            lastTime: footer.lastTime, isQuicklyEncoded: encoders.effort == .quick)
    }

    private func flushTimes() throws(DatabaseError) {
        guard let first = pendingTimes.min(), let last = pendingTimes.max() else { return }
        let words = pendingTimes.map { UInt64(bitPattern: $0) }
        let (handle, encoding) = try output.append(words: words, type: .integer)
        let count = pendingTimes.count
        let summary = ColumnSummary(
            type: .integer, count: count, firstTime: first, lastTime: last)
        timeDirectory.append(
            BlockEntry(
                rows: pendingFirstRow...(pendingFirstRow + count - 1), handle: handle,
                encoding: encoding, summary: summary))
        pendingFirstRow += count
        pendingTimes.removeAll(keepingCapacity: true)
    }
}

/// Writes the series table, in blocks that can be found by key.
private struct SeriesTableWriter {
    private var heap: [UInt8] = []
    private var ends: [Int] = []
    /// Row count, first and last time of each series of the pending block.
    private var entries = IntegerTable(columnCount: 3)
    private var current: (count: Int, first: Int64, last: Int64)?
    private var blockFirstRow = 0

    private var directory = IntegerTable(columnCount: 5)
    private var firstKeys: [UInt8] = []
    private var firstKeyEnds: [Int] = []

    mutating func begin(
        _ key: [UInt8], firstRow: Int, to output: inout SegmentOutput
    ) throws(DatabaseError) {
        endSeries()
        if ends.count == SegmentFormat.seriesBlockCount
            || heap.count > SegmentFormat.seriesBlockSizeBytesMax
        {
            try flush(to: &output)
        }
        if ends.isEmpty {
            blockFirstRow = firstRow
            firstKeys.append(contentsOf: key)
            firstKeyEnds.append(firstKeys.count)
        }
        heap.append(contentsOf: key)
        ends.append(heap.count)
        current = (0, .max, .min)
    }

    mutating func add(count: Int, first: Int64, last: Int64) {
        guard let known = current else { return }
        current = (known.count + count, min(known.first, first), max(known.last, last))
    }

    mutating func finish(to output: inout SegmentOutput) throws(DatabaseError) -> BlockHandle {
        endSeries()
        try flush(to: &output)
        return try output.append(table: directory, heap: firstKeys, ends: firstKeyEnds)
    }

    private mutating func endSeries() {
        guard let known = current else { return }
        entries.append([
            UInt64(known.count), UInt64(bitPattern: known.first), UInt64(bitPattern: known.last),
        ])
        current = nil
    }

    private mutating func flush(to output: inout SegmentOutput) throws(DatabaseError) {
        guard !ends.isEmpty else { return }
        let handle = try output.append(table: entries, heap: heap, ends: ends)
        directory.append([
            UInt64(handle.offset), UInt64(handle.sizeBytes), UInt64(handle.checksum),
            UInt64(blockFirstRow), UInt64(ends.count),
        ])
        heap.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        entries = IntegerTable(columnCount: 3)
    }
}
