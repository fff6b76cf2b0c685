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
/// field by one at a time, once `ReferenceCandidates` has looked at the slab.
struct FieldWriter {
    let column: Column
    private(set) var valueCount = 0

    /// Values that no block holds yet, and where the first and the last of them are.
    private var bits: [UInt64] = []
    private var first = Place()
    private var last = Place()
    /// Times of their rows: of strings only, which may be differences to them.
    private var times: [Int64] = []
    /// Which of them other fields have at the same rows.
    private var partners: [BlockReferences.ReferencedField] = []
    private var matches: [[Bool]] = []

    /// A row and its time.
    private struct Place {
        var row: UInt32 = 0
        var time: Int64 = 0
    }

    private var directory = IntegerTable(columnCount: BlockColumn.fieldColumnCount)
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
        series: Int, _ slab: RowChunk, partners newPartners: [ColumnID], strings: StringSource,
        to output: inout SegmentOutput
    ) throws(FileError) {
        let own = slab.columns[column.id]
        let newRows = own.rows.span
        let words = own.words.span
        if series != lastSeries, SegmentFormat.needsNewBlock(bits.count, newRows.count) {
            try flush(to: &output)
        }
        lastSeries = series
        match(slab, newPartners)
        if column.type == .string { translation.begin(strings) }
        var start = 0
        var copies = own.wholeBlocks[...]
        var countMax = SegmentFormat.blockCountMax
        var sharedEnd = newRows.count
        while start < newRows.count {
            if let block = copies.first, block.values.lowerBound == start {
                copies.removeFirst()
                if bits.isEmpty || bits.count >= WholeBlock.countMin {
                    try flush(to: &output)
                    try append(block, newRows, of: slab, to: &output)
                    start = block.values.upperBound
                    continue
                }
                // A few pending values would stay a small block for good: they take half of this.
                countMax = (bits.count + block.values.count + 1) / 2
                sharedEnd = block.values.upperBound
            }
            let limit = min(sharedEnd, copies.first?.values.lowerBound ?? newRows.count)
            var end = min(limit, start + countMax - bits.count)
            let isFirst = bits.isEmpty
            switch column.type {
            case .string: end = append(words: words, start..<end, strings)
            default: bits.append(contentsOf: own.words[start..<end])
            }
            if isFirst { first = Self.place(of: newRows[start], in: slab) }
            last = Self.place(of: newRows[end - 1], in: slab)
            if column.type == .string {
                appendWords(
                    of: slab.times.span, at: newRows.extracting(start..<end), from: 0, to: &times)
            }
            for index in partners.indices {
                partners[index].isSame.append(contentsOf: matches[index][start..<end])
            }
            start = end
            let endsShared = start == sharedEnd && countMax < SegmentFormat.blockCountMax
            if bits.count == countMax || hasManyBytes || endsShared { try flush(to: &output) }
            if endsShared { (countMax, sharedEnd) = (SegmentFormat.blockCountMax, newRows.count) }
        }
        valueCount += newRows.count
    }

    /// Copies a block; nothing is pending.
    private mutating func append(
        _ block: WholeBlock, _ rows: Span<UInt32>, of slab: RowChunk, to output: inout SegmentOutput
    ) throws(FileError) {
        let first = Self.place(of: rows[block.values.lowerBound], in: slab)
        let last = Self.place(of: rows[block.values.upperBound - 1], in: slab)
        try appendCopy(block.bytes, block.entry, rows: first.row...last.row, to: &output)
    }

    private mutating func appendCopy(
        _ bytes: [UInt8], _ entry: [UInt64], rows: ClosedRange<UInt32>,
        to output: inout SegmentOutput
    ) throws(FileError) {
        let place = try output.append(block: bytes)
        var entry = entry
        entry[BlockColumn.firstRow] = UInt64(rows.lowerBound)
        entry[BlockColumn.lastRow] = UInt64(rows.upperBound)
        entry[BlockColumn.offset] = UInt64(place.offset)
        entry[BlockColumn.sizeBytes] = UInt64(place.sizeBytes)
        entry[BlockColumn.checksum] = UInt64(place.checksum)
        directory.append(entry)
    }

    private static func place(of row: UInt32, in slab: RowChunk) -> Place {
        Place(
            row: UInt32(truncatingIfNeeded: slab.firstRow) &+ row, time: slab.times[Int(row)])
    }

    /// Compares the values of a slab with those of the partners.
    private mutating func match(_ slab: RowChunk, _ newPartners: [ColumnID]) {
        if partners.map(\.column) != newPartners {
            // Pending values were not compared with a partner that is new.
            let known = partners
            partners = newPartners.map { column in
                known.first { $0.column == column }
                    ?? BlockReferences.ReferencedField(
                        column: column, isSame: bits.map { _ in false })
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
        if column.type == .string { translation.begin(strings) }
        for index in part.rows.indices {
            if column.type == .string {
                append(string: part.bits[index], strings)
            } else {
                bits.append(part.bits[index])
            }
            for partner in partners.indices { partners[partner].isSame.append(false) }
            last = Place(row: part.rows[index], time: part.times[index])
            if bits.count == 1 { first = last }
            if column.type == .string { times.append(last.time) }
            if bits.count == SegmentFormat.blockCountMax || hasManyBytes {
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
            times = codes.times
            first = Place(row: firstRow, time: times[0])
            last = Place(row: lastRow, time: times[times.count - 1])
            for index in partners.indices { partners[index].isSame = bits.map { _ in false } }
            if bits != codes.bits || hasManyBytes {
                return try flush(to: &output)
            }
            forgetPending()
        }
        try appendCopy(bytes, entry, rows: firstRow...lastRow, to: &output)
        limitDictionary()
    }

    /// Blocks so far.
    var blockCount: Int { directory.count }

    /// Values that no block holds yet.
    var pendingCount: Int { bits.count }

    /// Ends the block that is being filled, and frees its memory.
    mutating func flushPending(to output: inout SegmentOutput) throws(FileError) {
        try flush(to: &output)
        bits = []
        times = []
        matches = []
        for index in partners.indices { partners[index].isSame = [] }
    }

    /// Puts blocks that were made apart into the file.
    ///
    /// - Parameter first: the first of them.
    mutating func settle(
        from first: Int, staged: SegmentOutput, in output: inout SegmentOutput
    ) throws(FileError) {
        guard first < directory.count else { return }
        let placeOf = try output.append(staged)
        for block in first..<directory.count {
            let place = placeOf(
                BlockPlace(
                    offset: directory.int(BlockColumn.offset, block),
                    sizeBytes: directory.int(BlockColumn.sizeBytes, block), checksum: 0))
            directory.columns[BlockColumn.offset][block] = UInt64(place.offset)
            directory.columns[BlockColumn.checksum][block] = UInt64(place.checksum)
        }
    }

    /// Ends the field; the place of its directory and dictionary, its group is not known here.
    ///
    /// - Parameter small: takes the directory of a field of few blocks.
    mutating func finish(
        to output: inout SegmentOutput, _ small: inout SmallDirectories
    ) throws(FileError) -> SegmentField {
        try flush(to: &output)
        var field = SegmentField(
            column: column, group: 0, valueCount: valueCount, directory: BlockPlace(),
            dictionary: BlockPlace(), dictionaryCount: dictionary.count)
        if dictionary.count > 0 {
            let ends = (0..<dictionary.count).map { dictionary.range($0).upperBound }
            field.dictionary = try output.append(heap: dictionary.heap, ends: ends)
        }
        if directory.count <= SmallDirectories.blockCountMax {
            field.smallBlockCount = directory.count
            small.append(directory, type: column.type)
        } else {
            field.directory = try output.append(table: directory)
        }
        return field
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
        var index = range.lowerBound
        while index < range.upperBound {
            let rest = words.extracting(index..<range.upperBound)
            // A full dictionary is not asked any more.
            index += translation.appendKnown(rest, knowsCodes: !isDictionaryFull, to: &bits)
            guard index < range.upperBound else { break }
            append(string: words[index], strings)
            index += 1
            if hasManyBytes { break }
        }
        return index
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
        guard !bits.isEmpty else { return }
        var summary = ColumnSummary(
            type: column.type, count: bits.count, firstTime: first.time, lastTime: last.time,
            min: 0, max: 0, sum: 0, first: 0, last: 0)
        var place: BlockPlace
        var encoding = SegmentFormat.plainStrings
        if plainEnds.count == bits.count {
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
                summarize(bits.span, into: &summary)
            }
        }
        directory.append([
            UInt64(first.row), UInt64(last.row), UInt64(bits.count), UInt64(place.offset),
            UInt64(place.sizeBytes), UInt64(place.checksum), UInt64(encoding),
            UInt64(bitPattern: summary.firstTime), UInt64(bitPattern: summary.lastTime),
            summary.min, summary.max, summary.sum, summary.first, summary.last,
        ])
        forgetPending()
        limitDictionary()
    }

    private mutating func forgetPending() {
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
    /// No memory before the first string: most fields are numbers.
    private var sources: [UInt64] = []
    private var targets: [UInt32] = []
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
        if next == table, case .arena = strings, !sources.isEmpty { return }
        table = next
        if sources.isEmpty {
            sources = [UInt64](repeating: .max, count: CodeTranslation.size)
            targets = [UInt32](repeating: 0, count: CodeTranslation.size)
        }
        for index in sources.indices { sources[index] = .max }
    }

    /// Appends words up to the first whose number here is not known; how many.
    ///
    /// - Parameter knowsCodes: whether anything but times is known.
    func appendKnown(_ words: Span<UInt64>, knowsCodes: Bool, to bits: inout [UInt64]) -> Int {
        let (sources, targets) = (sources.span, targets.span)
        var count = 0
        bits.append(addingCapacity: words.count) { output in
            while count < words.count {
                let word = words[count]
                if ISOTime.isWord(word) {
                    output.append(word)
                } else {
                    let slot = Int(truncatingIfNeeded: word) & (CodeTranslation.size - 1)
                    guard knowsCodes, sources[slot] == word else { return }
                    output.append(UInt64(targets[slot]))
                }
                count &+= 1
            }
        }
        return count
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
