// Writes one field of a segment: its blocks, their directory, its presence and its dictionary.

/// Where string codes of values on their way into a segment are looked up; words of times are
/// strings of any source.
enum StringSource {
    case none
    case table(StringTable)
    case arena(ByteArena.View)

    func withBytes<Result>(_ code: UInt64, _ body: (Span<UInt8>) -> Result) -> Result? {
        if ISOTime.isWord(code) { return ISOTime.withBytes(code, body) }
        return switch self {
        case .none: nil
        case .table(let table): table.withBytes(code, body)
        case .arena(let arena): arena.withBytes(Int(code), body)
        }
    }
}

/// One field on its way into a segment. A struct, so that its loops touch memory it owns alone.
struct FieldWriter {
    let column: Column
    private(set) var valueCount = 0

    /// Values that no block holds yet.
    private var rows: [UInt32] = []
    private var times: [Int64] = []
    private var bits: [UInt64] = []

    private var directory = IntegerTable(columnCount: BlockColumn.fieldColumnCount)
    private var presence = PresenceWriter()
    private var lastSeries = -1

    private var dictionary = BytePool()
    private var isDictionaryFull = false
    private var plainHeap: [UInt8] = []
    private var plainEnds: [Int] = []
    private var translation = CodeTranslation()

    init(column: Column) {
        self.column = column
    }

    /// Values of one series, by ascending row.
    ///
    /// - Parameters:
    ///   - series: number of the series, to keep small ones in one block.
    ///   - base: number of the row that `rows` counts from.
    ///   - rowTimes: times of the rows from `base` on.
    mutating func append(
        series: Int, rows newRows: Span<UInt32>, base: Int, rowTimes: [Int64],
        bits newBits: Span<UInt64>, strings: StringSource, to output: inout SegmentOutput
    ) throws(FileError) {
        if series != lastSeries, SegmentFormat.needsNewBlock(rows.count, newRows.count) {
            try flush(to: &output)
        }
        lastSeries = series
        translation.begin(strings)
        var start = 0
        while start < newRows.count {
            var end = min(newRows.count, start + SegmentFormat.blockCountMax - rows.count)
            switch column.type {
            case .string: end = append(codes: newBits, start..<end, strings)
            default: for index in start..<end { bits.append(newBits[index]) }
            }
            for index in start..<end {
                let row = Int(newRows[index])
                rows.append(UInt32(truncatingIfNeeded: base + row))
                times.append(rowTimes[row])
            }
            start = end
            if rows.count == SegmentFormat.blockCountMax || hasManyBytes {
                try flush(to: &output)
            }
        }
        valueCount += newRows.count
    }

    /// Values with a time each, by ascending row.
    mutating func append(
        _ part: BlockPart, to output: inout SegmentOutput
    ) throws(FileError) {
        let strings: StringSource = column.type == .string ? .table(part.strings) : .none
        translation.begin(strings)
        for index in part.rows.indices {
            if column.type == .string {
                append(string: part.bits[index], strings)
            } else {
                bits.append(part.bits[index])
            }
            rows.append(part.rows[index])
            times.append(part.times[index])
            if rows.count == SegmentFormat.blockCountMax || hasManyBytes {
                try flush(to: &output)
            }
        }
        valueCount += part.rows.count
    }

    /// A whole block as another segment has it.
    ///
    /// - Parameters:
    ///   - entry: of the other segment's directory; its rows and its place are replaced.
    ///   - codes: of strings in the other segment's dictionary, where the block has such. They
    ///     are translated, so that this dictionary has no string that nobody uses.
    mutating func append(
        copying bytes: [UInt8], entry: [UInt64], rows newRows: [UInt32], codes: BlockPart?,
        to output: inout SegmentOutput
    ) throws(FileError) {
        guard let firstRow = newRows.first, let lastRow = newRows.last else { return }
        try flush(to: &output)
        // Strings of one dictionary can be too many bytes for one block without it.
        if let codes, isDictionaryFull { return try append(codes, to: &output) }
        valueCount += newRows.count
        if let codes {
            translation.begin(.table(codes.strings))
            for code in codes.bits { append(string: code, .table(codes.strings)) }
            rows = newRows
            // Of strings nothing but the ends is told.
            times = [
                Int64(bitPattern: entry[BlockColumn.firstTime]),
                Int64(bitPattern: entry[BlockColumn.lastTime]),
            ]
            if bits != codes.bits || hasManyBytes {
                return try flush(to: &output)
            }
            forgetPending()
        }
        presence.append(newRows)
        let place = try output.append(block: bytes)
        var entry = entry
        entry[BlockColumn.firstRow] = UInt64(firstRow)
        entry[BlockColumn.lastRow] = UInt64(lastRow)
        entry[BlockColumn.offset] = UInt64(place.offset)
        entry[BlockColumn.sizeBytes] = UInt64(place.sizeBytes)
        entry[BlockColumn.checksum] = UInt64(place.checksum)
        directory.append(entry)
        limitDictionary()
    }

    /// Blocks so far.
    var blockCount: Int { directory.count }

    /// Puts blocks that were made apart into the file.
    ///
    /// - Parameter first: the first of them.
    mutating func settle(
        from first: Int, staged: inout SegmentOutput, in output: inout SegmentOutput
    ) throws(FileError) {
        guard first < directory.count else { return }
        let placeOf = try output.append(&staged)
        for block in first..<directory.count {
            let place = placeOf(
                BlockPlace(
                    offset: directory.int(BlockColumn.offset, block),
                    sizeBytes: directory.int(BlockColumn.sizeBytes, block), checksum: 0))
            directory.columns[BlockColumn.offset][block] = UInt64(place.offset)
            directory.columns[BlockColumn.checksum][block] = UInt64(place.checksum)
        }
    }

    /// Ends the field; the place of its directory and dictionary, and its presence vector.
    mutating func finish(
        to output: inout SegmentOutput, rowCount: Int
    ) throws(FileError) -> (field: SegmentField, presence: [UInt8]) {
        try flush(to: &output)
        var field = SegmentField(
            column: column, group: 0, valueCount: valueCount, directory: BlockPlace(),
            dictionary: BlockPlace(), dictionaryCount: dictionary.count)
        if dictionary.count > 0 {
            let ends = (0..<dictionary.count).map { dictionary.range($0).upperBound }
            field.dictionary = try output.append(heap: dictionary.heap, ends: ends)
        }
        field.directory = try output.append(table: directory)
        return (field, presence.finish(rowCount: rowCount))
    }

    /// Whether the strings of the pending block would make it, or the dictionary, too large.
    private var hasManyBytes: Bool {
        plainHeap.count > SegmentFormat.dictionarySizeBytesMax
            || !isDictionaryFull && dictionary.heapSizeBytes > SegmentFormat.dictionarySizeBytesMax
    }

    /// Appends strings until the block has many bytes; how far it came.
    private mutating func append(
        codes: Span<UInt64>, _ range: Range<Int>, _ strings: StringSource
    ) -> Int {
        for index in range {
            append(string: codes[index], strings)
            if hasManyBytes { return index + 1 }
        }
        return range.upperBound
    }

    private mutating func append(string code: UInt64, _ strings: StringSource) {
        if isDictionaryFull {
            _ = strings.withBytes(code) { plainHeap.append(copying: $0) }
            plainEnds.append(plainHeap.count)
            return
        }
        if let known = translation[code] {
            bits.append(known)
            return
        }
        let new = strings.withBytes(code) { UInt64(dictionary.intern($0)) } ?? 0
        translation[code] = new
        bits.append(new)
    }

    /// Writes the pending values as one block.
    private mutating func flush(to output: inout SegmentOutput) throws(FileError) {
        guard let firstRow = rows.first, let lastRow = rows.last else { return }
        presence.append(rows)
        var summary = ColumnSummary(
            type: column.type, count: rows.count, firstTime: times[0],
            lastTime: times[times.count - 1], min: 0, max: 0, sum: 0, first: 0, last: 0)
        var place: BlockPlace
        var encoding = SegmentFormat.plainStrings
        if isDictionaryFull {
            place = try output.append(heap: plainHeap, ends: plainEnds)
        } else {
            let type = column.type == .string ? .integer : column.type
            (place, encoding) = try output.append(words: bits, type: type)
            if column.type != .string {
                summary = summarize(times: times.span, words: bits.span, type: column.type)
            }
        }
        directory.append([
            UInt64(firstRow), UInt64(lastRow), UInt64(rows.count), UInt64(place.offset),
            UInt64(place.sizeBytes), UInt64(place.checksum), UInt64(encoding),
            UInt64(bitPattern: summary.firstTime), UInt64(bitPattern: summary.lastTime),
            summary.min, summary.max, summary.sum, summary.first, summary.last,
        ])
        forgetPending()
        limitDictionary()
    }

    private mutating func forgetPending() {
        rows.removeAll(keepingCapacity: true)
        times.removeAll(keepingCapacity: true)
        bits.removeAll(keepingCapacity: true)
        plainHeap.removeAll(keepingCapacity: true)
        plainEnds.removeAll(keepingCapacity: true)
    }

    private mutating func limitDictionary() {
        isDictionaryFull =
            dictionary.count + SegmentFormat.blockCountMax > SegmentFormat.dictionaryCountMax
            || dictionary.heapSizeBytes > SegmentFormat.dictionarySizeBytesMax
    }
}

/// Codes of a source and of the segment's dictionary, for the codes met lately. Most strings of a
/// field come again soon, and hashing them is what a flush would spend most of its time on.
private struct CodeTranslation {
    private var sources = [UInt64](repeating: .max, count: CodeTranslation.size)
    private var targets = [UInt32](repeating: 0, count: CodeTranslation.size)
    private var table: ObjectIdentifier?

    private static let size = 256

    /// Forgets everything where the source is not the one of the last call.
    mutating func begin(_ strings: StringSource) {
        let next: ObjectIdentifier? =
            switch strings {
            case .none: nil
            case .table(let table): ObjectIdentifier(table)
            case .arena(let view): view.identity
            }
        // A table may be gone and another one stand in its place: nothing outlives a call then.
        if next == table, case .arena = strings { return }
        table = next
        for index in sources.indices { sources[index] = .max }
    }

    subscript(code: UInt64) -> UInt64? {
        get {
            let slot = Int(truncatingIfNeeded: code) & (CodeTranslation.size - 1)
            return sources[slot] == code ? UInt64(targets[slot]) : nil
        }
        set {
            let slot = Int(truncatingIfNeeded: code) & (CodeTranslation.size - 1)
            sources[slot] = code
            targets[slot] = UInt32(truncatingIfNeeded: newValue ?? 0)
        }
    }
}

/// The presence vector of one field while its rows come; fields with equal bytes share one.
struct PresenceWriter {
    private var bytes = ByteWriter()
    private var chunk = 0
    private var positions: [UInt16] = []

    /// Rows come in ascending order.
    mutating func append(_ rows: [UInt32]) {
        for row in rows {
            let rowChunk = Int(row) / SegmentFormat.presenceChunkRows
            if rowChunk != chunk {
                flush(rowCount: SegmentFormat.presenceChunkRows)
                chunk = rowChunk
            }
            positions.append(UInt16(truncatingIfNeeded: row))
        }
    }

    mutating func finish(rowCount: Int) -> [UInt8] {
        let start = chunk * SegmentFormat.presenceChunkRows
        flush(rowCount: min(SegmentFormat.presenceChunkRows, rowCount - start))
        return bytes.bytes
    }

    private mutating func flush(rowCount: Int) {
        guard !positions.isEmpty else { return }
        var vector = ByteWriter()
        Presence.encode(positions.span, rowCount: rowCount, into: &vector)
        bytes.appendVarint(chunk)
        bytes.appendVarint(positions.count)
        bytes.appendBlob(vector.bytes)
        positions.removeAll(keepingCapacity: true)
    }
}
