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
///
/// Fields do not know each other: of a slab they need nothing but the words of all its columns, as
/// they came. So the fields of a slab may be appended in any order, also by several threads, each
/// field by one at a time, once `FieldPartners` has looked at the slab.
struct FieldWriter {
    let column: Column
    private(set) var valueCount = 0

    /// Values that no block holds yet.
    private var rows: [UInt32] = []
    private var times: [Int64] = []
    private var bits: [UInt64] = []
    /// Which of them other fields have at the same rows.
    private var partners: [BlockReferences.Partner] = []
    private var matches: [[Bool]] = []

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
    ///   - slab: the rows, and the values of this column and its partners in them.
    ///   - newPartners: columns that this one may repeat.
    mutating func append(
        series: Int, _ slab: Slab, partners newPartners: [ColumnID], strings: StringSource,
        to output: inout SegmentOutput
    ) throws(FileError) {
        let own = slab.columns[column.id]
        let newRows = own.rows.span
        let words = own.words.span
        if series != lastSeries, SegmentFormat.needsNewBlock(rows.count, newRows.count) {
            try flush(to: &output)
        }
        lastSeries = series
        match(slab, newPartners)
        translation.begin(strings)
        var start = 0
        while start < newRows.count {
            var end = min(newRows.count, start + SegmentFormat.blockCountMax - rows.count)
            switch column.type {
            case .string: end = append(words: words, start..<end, strings)
            default:
                bits.append(addingCapacity: end - start) { output in
                    for index in start..<end { output.append(words[index]) }
                }
            }
            appendRows(newRows.extracting(start..<end), of: slab)
            for index in partners.indices {
                partners[index].isSame.append(contentsOf: matches[index][start..<end])
            }
            start = end
            if rows.count == SegmentFormat.blockCountMax || hasManyBytes {
                try flush(to: &output)
            }
        }
        valueCount += newRows.count
    }

    private mutating func appendRows(_ newRows: Span<UInt32>, of slab: Slab) {
        let base = UInt32(truncatingIfNeeded: slab.firstRow)
        let slabTimes = slab.times.span
        rows.append(addingCapacity: newRows.count) { output in
            for index in newRows.indices { output.append(base &+ newRows[index]) }
        }
        times.append(addingCapacity: newRows.count) { output in
            for index in newRows.indices { output.append(slabTimes[Int(newRows[index])]) }
        }
    }

    /// Compares the values of a slab with those of the partners.
    private mutating func match(_ slab: Slab, _ newPartners: [ColumnID]) {
        if partners.map(\.column) != newPartners {
            // Pending values were not compared with a partner that is new.
            let known = partners
            partners = newPartners.map { column in
                known.first { $0.column == column }
                    ?? BlockReferences.Partner(
                        column: column, isSame: rows.map { _ in false })
            }
        }
        while matches.count < partners.count { matches.append([]) }
        for (index, partner) in partners.enumerated() {
            slab.columns[column.id].matches(
                slab.columns[partner.column], rowCount: slab.times.count, into: &matches[index])
        }
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
            for partner in partners.indices { partners[partner].isSame.append(false) }
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
            times = codes.times
            for index in partners.indices { partners[index].isSame = rows.map { _ in false } }
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
        words: Span<UInt64>, _ range: Range<Int>, _ strings: StringSource
    ) -> Int {
        for index in range {
            append(string: words[index], strings)
            if hasManyBytes { return index + 1 }
        }
        return range.upperBound
    }

    /// Appends a time as it is, another string as its number in the dictionary, or in the block.
    private mutating func append(string word: UInt64, _ strings: StringSource) {
        if ISOTime.isWord(word) { return bits.append(word) }
        if isDictionaryFull {
            _ = strings.withBytes(word) { plainHeap.append(copying: $0) }
            bits.append(UInt64(plainEnds.count))
            plainEnds.append(plainHeap.count)
            return
        }
        if let known = translation[word] {
            bits.append(known)
            return
        }
        let new = strings.withBytes(word) { UInt64(dictionary.intern($0)) } ?? 0
        translation[word] = new
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
        if plainEnds.count == rows.count {
            place = try output.append(heap: plainHeap, ends: plainEnds)
        } else if !plainEnds.isEmpty {
            encoding = SegmentFormat.mixedStrings
            place = try output.append(words: bits, heap: plainHeap, ends: plainEnds)
        } else {
            var sources = BlockReferences(partners: partners)
            if column.type == .string, ISOTime.isWord(bits[0]) { sources.rowTimes = times }
            (place, encoding) = try output.append(
                words: bits, type: column.type, repeating: sources)
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
        for index in partners.indices {
            partners[index].isSame.removeAll(keepingCapacity: true)
        }
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
