// The values of one slab of rows on its way into a segment.

/// The values of one column in the rows of a slab.
struct ChunkColumn: Sendable {
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
    func matches(_ other: ChunkColumn, rowCount: Int, into isSame: inout [Bool]) {
        isSame.removeAll(keepingCapacity: true)
        let (ownRows, ownWords) = (rows.span, words.span)
        let (otherRows, otherWords) = (other.rows.span, other.words.span)
        isSame.append(addingCapacity: rows.count) { output in
            guard otherRows.count < rowCount else {
                for index in ownRows.indices {
                    let word = ownWords[index]
                    let isEqual = otherWords[Int(ownRows[index])] == word
                    output.append(isEqual && ChunkColumn.isComparable(word, type))
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
                        && otherWords[place] == word && ChunkColumn.isComparable(word, type))
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
struct RowChunk: Sendable {
    /// Number of the first row in the segment.
    private(set) var firstRow = 0
    private(set) var times: [Int64] = []
    /// By number of the column; those without values in the slab are empty.
    private(set) var columns: [ChunkColumn] = []
    /// The columns with values, as they came: work on a slab is for those, not for all there are.
    private(set) var filled: [ColumnID] = []

    mutating func begin(firstRow: Int, _ times: [Int64]) {
        self.firstRow = firstRow
        self.times = times
        for column in filled { columns[column] = ChunkColumn() }
        filled.removeAll(keepingCapacity: true)
    }

    mutating func add(
        _ column: Column, rows: [UInt32], bits: [UInt64], _ strings: StringSource,
        _ wholeBlocks: [WholeBlock] = []
    ) {
        while columns.count <= column.id { columns.append(ChunkColumn()) }
        filled.append(column.id)
        columns[column.id] = ChunkColumn(
            type: column.type, rows: rows, words: bits, wholeBlocks: wholeBlocks)
        if column.type == .string { columns[column.id].replaceTimes(strings) }
    }
}

extension ChunkColumn {
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
