// The values of one slab of rows on its way into a segment, and which fields repeat each other.

/// The values of one column in the rows of a slab.
struct SlabColumn: Sendable {
    var type = FieldType.boolean
    /// Ascending, counted from the first row of the slab.
    var rows: [UInt32] = []
    /// Words that mean the same in every field: numbers, and texts that are times. Of other texts
    /// there is what no field has.
    var words: [UInt64] = []
    /// Values that another segment has as a block, ascending.
    var wholeBlocks: [WholeBlock] = []

    /// Whether a word can be told to be equal to one of another field.
    static func isComparable(_ word: UInt64, _ type: FieldType) -> Bool {
        type != .string || ISOTime.isWord(word)
    }

    /// For each value whether another column has the same one in that row.
    ///
    /// - Parameter rowCount: rows of the slab.
    func matches(_ other: SlabColumn, rowCount: Int, into isSame: inout [Bool]) {
        isSame.removeAll(keepingCapacity: true)
        let (ownRows, ownWords) = (rows.span, words.span)
        let (otherRows, otherWords) = (other.rows.span, other.words.span)
        isSame.append(addingCapacity: rows.count) { output in
            guard otherRows.count < rowCount else {
                for index in ownRows.indices {
                    let word = ownWords[index]
                    let isEqual = otherWords[Int(ownRows[index])] == word
                    output.append(isEqual && SlabColumn.isComparable(word, type))
                }
                return
            }
            var place = 0
            for index in ownRows.indices {
                let row = ownRows[index]
                while place < otherRows.count, otherRows[place] < row { place &+= 1 }
                let word = ownWords[index]
                output.append(
                    place < otherRows.count && otherRows[place] == row
                        && otherWords[place] == word && SlabColumn.isComparable(word, type))
            }
        }
    }

    /// The word at a row; nil where the column has none there.
    func word(at row: UInt32) -> UInt64? {
        let place = rows.partitioningIndex { $0 >= row }
        return place < rows.count && rows[place] == row ? words[place] : nil
    }
}

/// Rows of one series that are written together, and their values as they come.
struct Slab: Sendable {
    /// Number of the first row in the segment.
    private(set) var firstRow = 0
    private(set) var times: [Int64] = []
    /// By number of the column; those without values in the slab are empty.
    private(set) var columns: [SlabColumn] = []

    mutating func begin(firstRow: Int, _ times: [Int64]) {
        self.firstRow = firstRow
        self.times = times
        for index in columns.indices { columns[index] = SlabColumn() }
    }

    mutating func add(
        _ column: Column, rows: [UInt32], bits: [UInt64], _ strings: StringSource,
        _ wholeBlocks: [WholeBlock] = []
    ) {
        while columns.count <= column.id { columns.append(SlabColumn()) }
        columns[column.id] = SlabColumn(
            type: column.type, rows: rows, words: bits, wholeBlocks: wholeBlocks)
        if column.type == .string { columns[column.id].replaceTimes(strings) }
    }
}

extension SlabColumn {
    /// Puts the word of each text that is a time in the place of its number.
    fileprivate mutating func replaceTimes(_ strings: StringSource) {
        // Most texts come again soon: each is read once for as long as it stays in the table.
        var known: [(code: UInt64, word: UInt64)] = []
        for index in words.indices {
            let code = words[index]
            if ISOTime.isWord(code) { continue }
            if known.isEmpty { known = Array(repeating: (.max, 0), count: 64) }
            let slot = Int(truncatingIfNeeded: code & 63)
            if known[slot].code != code {
                known[slot] = (code, strings.withBytes(code) { ISOTime($0)?.word ?? code } ?? code)
            }
            if known[slot].word != code { words[index] = known[slot].word }
        }
    }
}

/// Which fields of a segment may repeat which others: decided from samples of their first values,
/// the same for the whole segment. A field repeats only columns with smaller numbers, so that there
/// is no circle, and never through more than `SegmentFormat.referenceDepthMax` blocks.
struct FieldPartners {
    private struct Entry {
        var partners: [ColumnID] = []
        /// Those it has or had: blocks that are written already may repeat them.
        var allPartners: Set<ColumnID> = []
        var sampleCount = 0
        /// How many samples another column had too.
        var matches: [Int] = []
        /// Blocks to go through from this field at most, and up to this field.
        var depth = 0
        var height = 0
    }

    private var entries: [Entry] = []

    private static let slabSampleCount = 16
    private static let sampleCountMax = 64
    private static let partnerCountMax = 2
    /// A partner has at least one in so many samples.
    private static let samplesPerMatchMax = 8

    /// Columns that a field may repeat, the likeliest first.
    func partners(of column: ColumnID) -> [ColumnID] {
        column < entries.count ? entries[column].partners : []
    }

    /// Samples a slab of one column, whose partners come before it.
    mutating func search(_ column: ColumnID, in slab: [SlabColumn]) {
        while entries.count <= column { entries.append(Entry()) }
        guard entries[column].sampleCount < Self.sampleCountMax, slab[column].type != .boolean
        else { return }
        let own = slab[column]
        let count = min(own.rows.count, Self.slabSampleCount)
        var matches = entries[column].matches
        while matches.count < column { matches.append(0) }
        var sampleCount = 0
        for sample in 0..<count {
            let index = sample * own.rows.count / count
            let word = own.words[index]
            guard SlabColumn.isComparable(word, own.type) else { continue }
            sampleCount += 1
            for other in 0..<column where slab[other].type == own.type {
                if slab[other].word(at: own.rows[index]) == word { matches[other] += 1 }
            }
        }
        guard sampleCount > 0 else { return }
        entries[column].matches = matches
        entries[column].sampleCount += sampleCount
        choose(column)
    }

    private mutating func choose(_ column: ColumnID) {
        let entry = entries[column]
        var found = (0..<column).filter { other in
            entry.matches[other] * Self.samplesPerMatchMax >= entry.sampleCount
                && entries[other].sampleCount > 0
                && entries[other].depth + 1 + entry.height <= SegmentFormat.referenceDepthMax
        }
        found.sort {
            (-entry.matches[$0], entries[$0].depth, $0) < (
                -entry.matches[$1], entries[$1].depth, $1
            )
        }
        found.removeLast(max(0, found.count - Self.partnerCountMax))
        entries[column].partners = found
        let count = entries[column].allPartners.count
        entries[column].allPartners.formUnion(found)
        if entries[column].allPartners.count > count { measure() }
    }

    /// Finds depths and heights anew: partners have smaller numbers.
    private mutating func measure() {
        for column in entries.indices {
            entries[column].height = 0
            entries[column].depth =
                entries[column].allPartners.map { entries[$0].depth + 1 }.max() ?? 0
        }
        for column in entries.indices.reversed() {
            for other in entries[column].allPartners {
                entries[other].height = max(entries[other].height, entries[column].height + 1)
            }
        }
    }
}
