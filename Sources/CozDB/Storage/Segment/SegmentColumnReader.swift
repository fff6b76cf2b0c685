// Decodes blocks of one field of a segment, with the rows or times of the values.

/// Values of one column, with their rows.
struct RowValues {
    /// Row numbers, which count from a first row or in a list of rows.
    var rows: [UInt32] = []
    /// Filled on request only.
    var times: [Int64] = []
    var bits: [UInt64] = []
    var strings = StringTable.empty
    /// The values that are whole blocks and can be copied, ascending; filled on request only.
    var wholeBlocks: [WholeBlock] = []

    mutating func removeAll() {
        rows.removeAll(keepingCapacity: true)
        times.removeAll(keepingCapacity: true)
        bits.removeAll(keepingCapacity: true)
        strings = .empty
        wholeBlocks.removeAll()
    }

    /// Merges in the strings of other values. Returns the offset to add to their codes.
    mutating func adopt(_ other: StringTable) -> UInt64 {
        guard strings !== other, other.count > 0 else { return 0 }
        let offset = strings.count
        strings = offset == 0 ? other : StringTable(strings, other)
        return UInt64(offset)
    }
}

/// A block of a segment that can be copied to another one, because it refers to no other block.
struct WholeBlock: Sendable {
    /// The place of its values among the values it comes with.
    var values: Range<Int>
    var bytes: [UInt8]
    /// The block entry.
    var entry: BlockEntry

    /// Smaller blocks are better encoded together with their neighbors.
    static let countMin = SegmentFormat.blockCountMax / 2
}

/// Unreadable values of a block, which refer to damaged blocks.
struct MissingValues {
    /// One element per value of the block.
    var isMissing: [Bool]
    /// The error of the first unreadable value.
    var error: DatabaseError

    /// The words of a block, with values that are valid in every block in the places of missing
    /// ones.
    func filled(_ words: [UInt64], _ type: FieldType) -> [UInt64] {
        var words = words
        for index in words.indices where isMissing[index] {
            words[index] = type == .string ? ISOTime.packedTimeTag : 0
        }
        return words
    }
}

/// Reads the blocks of one field. Keeps the last decoded block.
struct SegmentColumnReader {
    let directory: BlockTable
    /// The type the values have in this segment; the schema's may have been widened since.
    let storedType: FieldType

    let segment: SegmentReader
    let field: Int
    private var presence: PresenceVector?
    /// The last used chunk of the presence vector, and its rows.
    private var chunk = -1
    private var chunkRows: [UInt32] = []
    /// The last decoded block: its values and strings. Its rows are `loadedRange` of `loadedRows`,
    /// which may contain rows of other blocks too.
    private var loadedBlock = -1
    var loadedBits: [UInt64] = []
    private(set) var loadedStrings = StringTable.empty
    var loadedRows: [UInt32] = []
    var loadedRange = 0..<0
    /// Missing values of the last decoded block, which only reference blocks have. Callers must not
    /// use the words in their places.
    var missing: MissingValues?
    private var dictionary: StringTable?
    /// Readers of the fields that blocks of this field refer to, by field.
    var referencedReaders: [Int: SegmentColumnReader] = [:]
    /// The number of references that may still be followed.
    let depth: Int
    private var rowTimes: RowTimes

    /// - Parameter directory: that of the field. An initializer that throws would copy the reader.
    init(
        _ segment: SegmentReader, field: Int, directory: BlockTable,
        depth: Int
    ) {
        self.directory = directory
        self.depth = depth
        self.segment = segment
        self.field = field
        rowTimes = RowTimes(segment)
        storedType = segment.footer.fields[field].column.type
    }

    init(
        _ segment: SegmentReader, field: Int, depth: Int = SegmentFormat.referenceDepthMax
    ) throws(DatabaseError) {
        self.init(segment, field: field, directory: try segment.directory(field), depth: depth)
    }

    /// Returns the values of a block in a range of rows.
    mutating func values(
        block: Int, rows: Range<Int>, withTimes: Bool = true
    ) throws(DatabaseError) -> ColumnSlice {
        try load(block, rows: rows, isShared: isShared(block, rows))
        let taken = places(of: rows)
        var slice = ColumnSlice(type: storedType)
        slice.strings = loadedStrings
        slice.bits =
            taken.count < loadedBits.count
            ? Array(loadedBits[bitRange(taken)]) : loadedBits
        if withTimes { slice.times = try times(taken) }
        return slice
    }

    /// Appends all values in these rows, each with its row counted from `rows.lowerBound`. Reads
    /// each block once if calls ask for ascending rows.
    ///
    /// - Parameters:
    ///   - findsWholeBlocks: whether to collect the values that are whole blocks.
    ///   - keepsShared: whether to cache a block that also has values of other rows, for the next
    ///     reader.
    mutating func append(
        rows: Range<Int>, to target: inout RowValues, findsWholeBlocks: Bool = false,
        keepsShared: Bool = false
    ) throws(DatabaseError) {
        for block in directory.blocks(rows: rows) {
            try load(block, rows: rows, isShared: keepsShared && isShared(block, rows))
            let taken = places(of: rows)
            guard !taken.isEmpty else { continue }
            if findsWholeBlocks, taken == loadedRange, canBeCopied(block) {
                let start = target.bits.count
                target.wholeBlocks.append(
                    WholeBlock(
                        values: start..<(start + taken.count),
                        bytes: try segment.read(directory.handle(block)) {
                            [UInt8](copying: $0)
                        }, entry: directory.entry(block, type: storedType)))
            }
            let offset = target.adopt(loadedStrings)
            for index in taken {
                target.rows.append(loadedRows[index] - UInt32(rows.lowerBound))
            }
            guard offset > 0 else {
                target.bits.append(contentsOf: loadedBits[bitRange(taken)])
                continue
            }
            for index in bitRange(taken) {
                target.bits.append(ISOTime.moved(loadedBits[index], by: offset))
            }
        }
    }

    /// Whether the last decoded block is worth copying, and needs neither other blocks nor a
    /// dictionary.
    private func canBeCopied(_ block: Int) -> Bool {
        let encoding = directory.encoding(block)
        guard loadedRange.count >= WholeBlock.countMin,
            let known = BlockEncoding(rawValue: encoding), !known.isReference
        else { return false }
        return storedType != .string || loadedBits.allSatisfy(ISOTime.isWord)
    }

    /// Returns the values of a block in a range of rows, with their rows and times.
    mutating func part(block: Int, rows: Range<Int>) throws(DatabaseError) -> RowValues {
        try load(block, rows: rows)
        let taken = places(of: rows)
        return RowValues(
            rows: Array(loadedRows[taken]), times: try times(taken),
            bits: Array(loadedBits[bitRange(taken)]), strings: loadedStrings)
    }

    /// Returns the same without unreadable values.
    mutating func readablePart(
        block: Int, rows: Range<Int>
    ) throws(DatabaseError) -> RowValues {
        try loadReadable(block)
        guard let missing else { return try part(block: block, rows: rows) }
        let first = loadedRange.lowerBound
        var part = RowValues(strings: loadedStrings)
        for place in places(of: rows) where !missing.isMissing[place - first] {
            part.rows.append(loadedRows[place])
            part.times += try times(place..<(place + 1))
            part.bits.append(loadedBits[place - first])
        }
        return part
    }

    /// Decodes a block to verify it. `missing` has the values that are unreadable because another
    /// block is damaged.
    mutating func check(block: Int) throws(DatabaseError) {
        loadedBlock = -1
        try loadReadable(block)
    }

    /// Returns the rows of the values of a block, without decoding the values.
    mutating func rows(block: Int) throws(DatabaseError) -> ArraySlice<UInt32> {
        try loadRows(ofBlock: block)
        return loadedRows[loadedRange]
    }

    /// Finds the rows of a block and compares them with the block entry. Invalidates the loaded
    /// values.
    mutating func loadRows(ofBlock block: Int) throws(DatabaseError) {
        if block == loadedBlock { return }
        loadedBlock = -1
        let ordinal = directory.ordinals[block]
        try findRows(ordinal..<(ordinal + directory.valueCount(block)), block: block)
        guard let first = loadedRows[loadedRange].first, let last = loadedRows[loadedRange].last
        else { return }
        guard Int(first) == directory.firstRow(block), Int(last) == directory.lastRow(block)
        else { throw damaged(block, "a block whose rows differ from its directory entry") }
    }

    /// An upper bound for the number of values in these rows, from the directory alone.
    func valueCountMax(rows: Range<Int>) -> Int {
        directory.blocks(rows: rows).reduce(0) {
            $0 + min(rows.count, directory.valueCount($1))
        }
    }

    /// The first row in `row..<end` that may have a value; nil if there is none. Exact inside the
    /// last decoded block, otherwise the first row of the next block.
    ///
    /// Inlined, because a call would copy a reader that is stored in a class.
    @inline(__always)
    func nextRow(from row: Int, before end: Int) -> Int? {
        guard row < end else { return nil }
        for block in directory.blocks(rows: row..<end) {
            let first = max(row, directory.rows(ofBlock: block).lowerBound)
            if block != loadedBlock { return first }
            let place = places(of: first..<end).lowerBound
            if place < loadedRange.upperBound { return Int(loadedRows[place]) }
        }
        return nil
    }

    var loadedSizeBytes: Int { 8 * loadedBits.count + loadedStrings.sizeBytes }

    /// Whether a block is the last decoded one.
    func isLoaded(_ block: Int) -> Bool { block == loadedBlock }

    /// Whether a block also has values of other rows.
    private func isShared(_ block: Int, _ rows: Range<Int>) -> Bool {
        directory.firstRow(block) < rows.lowerBound
            || directory.lastRow(block) >= rows.upperBound
    }

    /// The places in `loadedRows` of those rows of the loaded block that are in `rows`.
    func places(of rows: Range<Int>) -> Range<Int> {
        var (start, end) = (loadedRange.lowerBound, loadedRange.upperBound)
        guard start < end else { return loadedRange }
        if Int(loadedRows[start]) < rows.lowerBound {
            start = loadedRows[loadedRange].partitioningIndex { Int($0) >= rows.lowerBound }
        }
        if Int(loadedRows[end - 1]) >= rows.upperBound {
            end = loadedRows[loadedRange].partitioningIndex { Int($0) >= rows.upperBound }
        }
        return start..<max(start, end)
    }

    func bitRange(_ places: Range<Int>) -> Range<Int> {
        (places.lowerBound - loadedRange.lowerBound)..<(places.upperBound - loadedRange.lowerBound)
    }

    /// Decodes a block, unless it is loaded. Throws if a value in `rows` is unreadable.
    mutating func load(
        _ block: Int, rows: Range<Int>, isShared: Bool = false
    ) throws(DatabaseError) {
        try loadReadable(block, isShared: isShared)
        guard let missing else { return }
        if missing.isMissing[bitRange(places(of: rows))].contains(true) { throw missing.error }
    }

    /// Decodes the readable part of a block, unless it is loaded.
    ///
    /// - Throws: if no value is readable.
    mutating func loadReadable(_ block: Int, isShared: Bool = false) throws(DatabaseError) {
        guard block != loadedBlock else { return }
        try CancellationCheck.check()
        missing = nil
        try loadRows(ofBlock: block)
        let encoding = directory.encoding(block)
        if storedType == .string, encoding == SegmentFormat.plainStrings {
            loadedStrings = try segment.plainStrings(directory, block: block)
            loadedBits = (0..<directory.valueCount(block)).map { UInt64($0) }
        } else if storedType == .string, encoding == SegmentFormat.mixedStrings {
            (loadedBits, loadedStrings) = try segment.mixedStrings(directory, block: block)
            try check(loadedBits, below: loadedStrings.count, block: block)
        } else {
            try loadWords(block, encoding, isShared: isShared)
            if let missing { loadedBits = missing.filled(loadedBits, storedType) }
            if storedType == .string {
                loadedStrings = try loadDictionary()
                try check(loadedBits, below: loadedStrings.count, block: block)
            }
        }
        loadedBlock = block
    }

    private mutating func loadWords(
        _ block: Int, _ encoding: UInt8, isShared: Bool
    ) throws(DatabaseError) {
        let isReferenced = depth < SegmentFormat.referenceDepthMax
        let name = SegmentCache.BlockName(field: field, block: block)
        let known =
            isReferenced
            ? segment.cache.decoded { $0.repeatedWords[name] }
            : isShared ? segment.cache.sharedWords(ofField: field, block: block) : nil
        if let known {
            loadedBits = known
            return
        }
        let type = storedType == .string ? FieldType.integer : storedType
        switch BlockEncoding(rawValue: encoding) {
        case .same: loadedBits = try repeatedWords(block, type)
        case .rowTime where storedType == .string:
            let readable = try readableTimes(loadedRange)
            let rowTimes = readable.times
            missing = readable.missing
            loadedBits = try segment.read(directory.handle(block)) { bytes throws(FormatError) in
                var decoder = BlockDecoder()
                return try decoder.decodeRowTimes(bytes, rowTimes: rowTimes.span)
            }
        default: loadedBits = try segment.words(directory, block: block, type: type)
        }
        if missing != nil { return }
        if isReferenced {
            let words = loadedBits
            segment.cache.keep(sizeBytes: words.count * 8) {
                $0.repeatedWords.updateValue(words, forKey: name) == nil
            }
        } else if isShared {
            segment.cache.keepShared(loadedBits, ofField: field, block: block)
        }
    }

    private mutating func findRows(_ ordinals: Range<Int>, block: Int) throws(DatabaseError) {
        let vector = try loadPresence()
        var rows: [UInt32] = []
        var ordinal = ordinals.lowerBound
        while ordinal < ordinals.upperBound {
            let index = vector.chunk(ofOrdinal: ordinal)
            guard index >= 0 else { break }
            if index != chunk {
                chunkRows = try segment.presenceRows(vector, ofField: field, chunk: index)
                chunk = index
            }
            let first = ordinal - vector.chunks[index].firstOrdinal
            let taken = min(chunkRows.count - first, ordinals.upperBound - ordinal)
            guard taken > 0 else { break }
            if taken == ordinals.count {
                // The common case: the block lies in one chunk, whose rows need no copy.
                loadedRows = chunkRows
                loadedRange = first..<(first + taken)
                return
            }
            rows.append(contentsOf: chunkRows[first..<(first + taken)])
            ordinal += taken
        }
        guard rows.count == ordinals.count else {
            throw damaged(
                block,
                "\(rows.count) rows in the presence vector for a block of \(ordinals.count) values")
        }
        loadedRange = 0..<rows.count
        loadedRows = rows
    }

    /// Returns the times of the rows at these places.
    mutating func times(_ places: Range<Int>) throws(DatabaseError) -> [Int64] {
        var times: [Int64] = []
        let rows = loadedRows
        try rowTimes.append(rows.span.extracting(places), to: &times)
        return times
    }

    /// Returns the same if blocks of times may be damaged, with 0 for the unreadable times.
    ///
    /// - Throws: if no time is readable.
    mutating func readableTimes(
        _ places: Range<Int>
    ) throws(DatabaseError) -> (times: [Int64], missing: MissingValues?) {
        do throws(DatabaseError) {
            return (try times(places), nil)
        } catch {
            if error.isSystemCallFailure { throw error }
        }
        let directory = try segment.timeBlocks()
        var times: [Int64] = []
        var isMissing: [Bool] = []
        var failure: DatabaseError?
        var place = places.lowerBound
        while place < places.upperBound {
            let rows = directory.timeBlock(row: Int(loadedRows[place])).rows
            let end = loadedRows[place..<places.upperBound].partitioningIndex {
                Int($0) >= rows.upperBound
            }
            do throws(DatabaseError) {
                times += try self.times(place..<end)
                isMissing += Array(repeating: false, count: end - place)
            } catch {
                if error.isSystemCallFailure { throw error }
                failure = failure ?? error
                times += Array(repeating: 0, count: end - place)
                isMissing += Array(repeating: true, count: end - place)
            }
            place = end
        }
        guard let failure else { return (times, nil) }
        guard isMissing.contains(false) else { throw failure }
        return (times, MissingValues(isMissing: isMissing, error: failure))
    }

    private func check(
        _ words: [UInt64], below count: Int, block: Int
    ) throws(DatabaseError) {
        // One of the two sums is usually enough: all words are times, or no code is too large. They
        // vectorize to eight words at a time, three times as fast as a search for the largest word.
        var all = UInt64.max
        var any: UInt64 = 0
        for word in words {
            all &= word
            any |= word
        }
        if ISOTime.isWord(all) || any < UInt64(count) { return }
        if words.reduce(0, max) < UInt64(count) { return }
        guard words.allSatisfy({ ISOTime.isWord($0) || $0 < UInt64(count) }) else {
            throw damaged(block, "a string code beyond the dictionary of \(count)")
        }
    }

    func damaged(_ block: Int, _ found: String) -> DatabaseError {
        DatabaseError(.damaged, found, file: segment.path, offset: directory.offset(block))
    }

    private mutating func loadPresence() throws(DatabaseError) -> PresenceVector {
        if let presence { return presence }
        let loaded = try segment.presence(ofField: field)
        presence = loaded
        return loaded
    }

    mutating func loadDictionary() throws(DatabaseError) -> StringTable {
        if let dictionary { return dictionary }
        let loaded = try segment.dictionary(field)
        dictionary = loaded
        return loaded
    }
}
