// Writes one field of a segment: its blocks, their directory, its presence and its dictionary.

/// Writes one field of a segment. A struct, so that its loops touch only memory that it owns.
///
/// Fields are independent: to append a chunk, a field needs only the words of the chunk's columns.
/// So several threads may append the fields of a chunk in any order, one thread per field, once
/// `ReferenceCandidates` has searched the chunk.
struct FieldWriter {
    let column: Column
    private(set) var valueCount = 0

    /// Values that are not in a block yet, and the row and time of the first and the last of them.
    private var bits: [UInt64] = []
    private var first = RowTime()
    private var last = RowTime()
    /// The times of the pending rows, for strings only: a block may store differences to them.
    private var times: [Int64] = []
    /// The fields that this field may refer to, and which pending values equal theirs.
    private var referenced: [BlockReferences.ReferencedField] = []
    private var matches: [[Bool]] = []

    /// A row and its time.
    private struct RowTime {
        var row: UInt32 = 0
        var time: Int64 = 0
    }

    private var directory = BlockTable()
    private var lastSeries = -1

    private var dictionary = BytePool()
    private var isDictionaryFull = false
    private var plainHeap: [UInt8] = []
    private var plainEnds: [Int] = []
    private var translation = CodeTranslation()

    init(column: Column) {
        self.column = column
    }

    /// Appends values of one series, by ascending row.
    ///
    /// - Parameters:
    ///   - series: number of the series, which keeps a small series in one block.
    ///   - chunk: the rows, and the values of this column and of the referenced fields.
    ///   - columns: the columns that this field may refer to.
    mutating func append(
        series: Int, _ chunk: RowChunk, referenced columns: [ColumnID], strings: StringSource,
        to output: inout SegmentOutput
    ) throws(DatabaseError) {
        let own = chunk.columns[column.id]
        let newRows = own.rows.span
        let words = own.words.span
        if series != lastSeries, SegmentFormat.needsNewBlock(bits.count, newRows.count) {
            try flush(to: &output)
        }
        lastSeries = series
        match(chunk, columns)
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
                    let first = Self.rowTime(of: newRows[start], in: chunk).row
                    let last = Self.rowTime(of: newRows[block.values.upperBound - 1], in: chunk).row
                    try appendCopy(block.bytes, block.entry, rows: first...last, to: &output)
                    start = block.values.upperBound
                    continue
                }
                // A few pending values would stay a small block for good, so they take half of this
                // block.
                countMax = (bits.count + block.values.count + 1) / 2
                sharedEnd = block.values.upperBound
            }
            try endDictionary(before: words[start], strings, to: &output)
            let limit = min(sharedEnd, copies.first?.values.lowerBound ?? newRows.count)
            var end = min(limit, start + countMax - bits.count)
            let isFirst = bits.isEmpty
            switch column.type {
            case .string: end = append(words: words, start..<end, strings)
            default: bits.append(contentsOf: own.words[start..<end])
            }
            if isFirst { first = Self.rowTime(of: newRows[start], in: chunk) }
            last = Self.rowTime(of: newRows[end - 1], in: chunk)
            if column.type == .string {
                appendWords(
                    of: chunk.times.span, at: newRows.extracting(start..<end), from: 0, to: &times)
            }
            for index in referenced.indices {
                referenced[index].isSame.append(contentsOf: matches[index][start..<end])
            }
            start = end
            let endsShared = start == sharedEnd && countMax < SegmentFormat.blockCountMax
            if bits.count == countMax || hasManyBytes || endsShared { try flush(to: &output) }
            if endsShared { (countMax, sharedEnd) = (SegmentFormat.blockCountMax, newRows.count) }
        }
        valueCount += newRows.count
    }

    /// Copies a block. No values are pending.
    private mutating func appendCopy(
        _ bytes: [UInt8], _ entry: BlockEntry, rows: ClosedRange<UInt32>,
        to output: inout SegmentOutput
    ) throws(DatabaseError) {
        var entry = entry
        entry.rows = Int(rows.lowerBound)...Int(rows.upperBound)
        entry.handle = try output.append(block: bytes)
        directory.append(entry)
    }

    private static func rowTime(of row: UInt32, in chunk: RowChunk) -> RowTime {
        RowTime(
            row: UInt32(truncatingIfNeeded: chunk.firstRow) &+ row, time: chunk.times[Int(row)])
    }

    /// Compares the values of a chunk with those of the referenced fields.
    private mutating func match(_ chunk: RowChunk, _ columns: [ColumnID]) {
        if referenced.map(\.column) != columns {
            // Pending values were never compared with a new referenced field.
            let known = referenced
            referenced = columns.map { column in
                known.first { $0.column == column }
                    ?? BlockReferences.ReferencedField(
                        column: column, isSame: bits.map { _ in false })
            }
        }
        while matches.count < referenced.count { matches.append([]) }
        for (index, field) in referenced.enumerated() {
            chunk.columns[column.id].matches(
                chunk.columns[field.column], rowCount: chunk.times.count, into: &matches[index])
        }
    }

    /// Appends values that each have a time, by ascending row.
    mutating func append(
        _ part: RowValues, to output: inout SegmentOutput
    ) throws(DatabaseError) {
        let strings = StringSource.table(part.strings)
        if column.type == .string { translation.begin(strings) }
        for index in part.rows.indices {
            if column.type == .string {
                try endDictionary(before: part.bits[index], strings, to: &output)
                append(string: part.bits[index], strings)
            } else {
                bits.append(part.bits[index])
            }
            for field in referenced.indices { referenced[field].isSame.append(false) }
            last = RowTime(row: part.rows[index], time: part.times[index])
            if bits.count == 1 { first = last }
            if column.type == .string { times.append(last.time) }
            if bits.count == SegmentFormat.blockCountMax || hasManyBytes {
                try flush(to: &output)
            }
        }
        valueCount += part.rows.count
    }

    /// Copies a whole block of another segment.
    ///
    /// - Parameters:
    ///   - entry: the block entry in the other segment. Its rows and its handle are replaced.
    ///   - codes: the block's values, if they are codes of the other segment's dictionary. They are
    ///     translated, so that this dictionary gets no unused string.
    mutating func append(
        copying bytes: [UInt8], entry: BlockEntry, rows newRows: [UInt32], codes: RowValues?,
        to output: inout SegmentOutput
    ) throws(DatabaseError) {
        guard let firstRow = newRows.first, let lastRow = newRows.last else { return }
        try flush(to: &output)
        // Without the dictionary, strings that share it can be too many bytes for one block.
        if let codes, isDictionaryFull { return try append(codes, to: &output) }
        valueCount += newRows.count
        if let codes {
            translation.begin(.table(codes.strings))
            for code in codes.bits { append(string: code, .table(codes.strings)) }
            times = codes.times
            first = RowTime(row: firstRow, time: times[0])
            last = RowTime(row: lastRow, time: times[times.count - 1])
            for index in referenced.indices { referenced[index].isSame = bits.map { _ in false } }
            if bits != codes.bits || hasManyBytes {
                return try flush(to: &output)
            }
            removePending()
        }
        try appendCopy(bytes, entry, rows: firstRow...lastRow, to: &output)
        limitDictionary()
    }

    /// The number of blocks so far.
    var blockCount: Int { directory.count }

    /// The number of values that are not in a block yet.
    var pendingCount: Int { bits.count }

    /// Writes the pending values as a block and frees their memory.
    mutating func flushPending(to output: inout SegmentOutput) throws(DatabaseError) {
        try flush(to: &output)
        bits = []
        times = []
        matches = []
        for index in referenced.indices { referenced[index].isSame = [] }
    }

    /// Moves staged blocks into the file and corrects their entries.
    ///
    /// - Parameter first: the first staged block.
    mutating func settle(
        from first: Int, staged: SegmentOutput, in output: inout SegmentOutput
    ) throws(DatabaseError) {
        guard first < directory.count else { return }
        let handleOf = try output.append(staged)
        for block in first..<directory.count {
            directory.move(block, to: handleOf(directory.handle(block)))
        }
    }

    /// Ends the field. The caller sets the group of the result.
    ///
    /// - Parameter small: takes the directory of a field of few blocks.
    mutating func finish(
        to output: inout SegmentOutput, _ small: inout SmallDirectories
    ) throws(DatabaseError) -> SegmentField {
        try flush(to: &output)
        var field = SegmentField(
            column: column, valueCount: valueCount, dictionaryCount: dictionary.count)
        if dictionary.count > 0 {
            let ends = (0..<dictionary.count).map { dictionary.range($0).upperBound }
            field.dictionary = try output.append {
                encodeStrings(heap: dictionary.heap.span, ends: ends, into: &$1)
            }
        }
        if directory.count <= SegmentFormat.smallBlockCountMax {
            field.smallBlockCount = directory.count
            small.append(directory, type: column.type)
        } else {
            field.directory = try output.append { directory.integers.encode(with: $0, into: &$1) }
        }
        return field
    }

    /// Whether the strings of the pending block make it, or the dictionary, too large.
    private var hasManyBytes: Bool {
        plainHeap.count > SegmentFormat.dictionarySizeBytesMax
            || !isDictionaryFull && dictionary.heapSizeBytes > SegmentFormat.dictionarySizeBytesMax
    }

    /// Whether a string is too large for the dictionary, which ends with it.
    private func isLarge(_ word: UInt64, _ strings: StringSource) -> Bool {
        column.type == .string && !isDictionaryFull
            && strings.withBytes(word) { $0.count } > SegmentFormat.dictionarySizeBytesMax
    }

    private mutating func endDictionary(
        before word: UInt64, _ strings: StringSource, to output: inout SegmentOutput
    ) throws(DatabaseError) {
        guard isLarge(word, strings) else { return }
        try flush(to: &output)
        isDictionaryFull = true
    }

    /// Appends strings until the block has many bytes. Returns the index of the next string.
    private mutating func append(
        words: Span<UInt64>, _ range: Range<Int>, _ strings: StringSource
    ) -> Int {
        var index = range.lowerBound
        while index < range.upperBound {
            let rest = words.extracting(index..<range.upperBound)
            // A full dictionary gets no more lookups.
            index += translation.appendKnown(rest, knowsCodes: !isDictionaryFull, to: &bits)
            guard index < range.upperBound else { break }
            if index > range.lowerBound, isLarge(words[index], strings) { break }
            append(string: words[index], strings)
            index += 1
            if hasManyBytes { break }
        }
        return index
    }

    /// Appends a time as it is. Any other string becomes a code of the dictionary or of the block.
    private mutating func append(string word: UInt64, _ strings: StringSource) {
        if ISOTime.isWord(word) { return bits.append(word) }
        if isDictionaryFull {
            strings.withBytes(word) { plainHeap.append(copying: $0) }
            bits.append(UInt64(plainEnds.count))
            plainEnds.append(plainHeap.count)
            return
        }
        if let known = translation[word] {
            bits.append(known)
            return
        }
        let new = strings.withBytes(word) { UInt64(dictionary.intern($0)) }
        translation[word] = new
        bits.append(new)
    }

    /// Writes the pending values as one block.
    private mutating func flush(to output: inout SegmentOutput) throws(DatabaseError) {
        guard !bits.isEmpty else { return }
        var summary = ColumnSummary(
            type: column.type, count: bits.count, firstTime: first.time, lastTime: last.time)
        var handle: BlockHandle
        var encoding = SegmentFormat.plainStrings
        if plainEnds.count == bits.count {
            handle = try output.append {
                encodeStrings(heap: plainHeap.span, ends: plainEnds, into: &$1)
            }
        } else if !plainEnds.isEmpty {
            encoding = SegmentFormat.mixedStrings
            handle = try output.append(words: bits, heap: plainHeap, ends: plainEnds)
        } else {
            var sources = BlockReferences(partners: referenced)
            if column.type == .string, ISOTime.isWord(bits[0]) { sources.rowTimes = times }
            (handle, encoding) = try output.append(
                words: bits, type: column.type, repeating: sources)
            if column.type != .string {
                summarize(bits.span, into: &summary)
            }
        }
        directory.append(
            BlockEntry(
                rows: Int(first.row)...Int(last.row), handle: handle, encoding: encoding,
                summary: summary))
        removePending()
        limitDictionary()
    }

    private mutating func removePending() {
        times.removeAll(keepingCapacity: true)
        bits.removeAll(keepingCapacity: true)
        for index in referenced.indices {
            referenced[index].isSame.removeAll(keepingCapacity: true)
        }
        plainHeap.removeAll(keepingCapacity: true)
        plainEnds.removeAll(keepingCapacity: true)
    }

    private mutating func limitDictionary() {
        isDictionaryFull =
            isDictionaryFull
            || dictionary.count + SegmentFormat.blockCountMax > SegmentFormat.dictionaryCountMax
            || dictionary.heapSizeBytes > SegmentFormat.dictionarySizeBytesMax
    }
}

/// A direct-mapped cache from codes of a source to codes of the segment's dictionary. Most strings
/// of a field come again soon, and hashing them would take most of the time of a flush.
private struct CodeTranslation {
    /// Allocated with the first string: most fields are numbers.
    private var slots: [(source: UInt64, target: UInt64)] = []
    private var table: ObjectIdentifier?

    private static let size = 256

    /// Clears the cache unless the source is the one of the last call.
    mutating func begin(_ strings: StringSource) {
        let next =
            switch strings {
            case .table(let table): ObjectIdentifier(table)
            case .arena(let view): view.identity
            }
        // A freed table may give its address to another one, so entries of tables last for one
        // call.
        if next == table, case .arena = strings, !slots.isEmpty { return }
        table = next
        if slots.isEmpty { slots = Array(repeating: (.max, 0), count: CodeTranslation.size) }
        for index in slots.indices { slots[index].source = .max }
    }

    /// Appends words up to the first one without a cached code. Returns how many.
    ///
    /// - Parameter knowsCodes: false if only times may be appended.
    func appendKnown(_ words: Span<UInt64>, knowsCodes: Bool, to bits: inout [UInt64]) -> Int {
        let slots = slots.span
        var count = 0
        bits.append(addingCapacity: words.count) { output in
            while count < words.count {
                let word = words[count]
                if ISOTime.isWord(word) {
                    output.append(word)
                } else {
                    let slot = Int(truncatingIfNeeded: word) & (CodeTranslation.size - 1)
                    guard knowsCodes, slots[slot].source == word else { return }
                    output.append(slots[slot].target)
                }
                count &+= 1
            }
        }
        return count
    }

    subscript(code: UInt64) -> UInt64? {
        get {
            let slot = Int(truncatingIfNeeded: code) & (CodeTranslation.size - 1)
            return slots[slot].source == code ? slots[slot].target : nil
        }
        set {
            let slot = Int(truncatingIfNeeded: code) & (CodeTranslation.size - 1)
            slots[slot] = (code, newValue ?? 0)
        }
    }
}
