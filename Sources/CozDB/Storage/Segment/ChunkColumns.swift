// The values of one chunk of rows before they are written to a segment.

/// The values of one column in the rows of a chunk.
struct ChunkColumn: Sendable {
    var type = FieldType.boolean
    /// Ascending, counted from the first row of the chunk.
    var rows: [UInt32] = []
    /// Numbers and times are words that mean the same in every field. Other strings are codes of a
    /// `StringSource`, which mean nothing in another field.
    var words: [UInt64] = []
    /// Values that another segment stores as one block, ascending.
    var wholeBlocks: [WholeBlock] = []

    /// Whether a word can be compared with a word of another field.
    static func isComparable(_ word: UInt64, _ type: FieldType) -> Bool {
        type != .string || ISOTime.isWord(word)
    }

    /// Finds out for each value whether another column has the same value in the same row.
    ///
    /// - Parameter rowCount: the number of rows of the chunk.
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

    /// The word at a row; nil if the column has no value there.
    func word(at row: UInt32) -> UInt64? {
        let place = rows.partitioningIndex { $0 >= row }
        return place < rows.count && rows[place] == row ? words[place] : nil
    }
}

/// Consecutive rows of one series that are written together, with their values.
struct RowChunk: Sendable {
    /// Number of the first row in the segment.
    private(set) var firstRow = 0
    private(set) var times: [Int64] = []
    /// By column number; columns without values in the chunk are empty.
    private(set) var columns: [ChunkColumn] = []
    /// The columns with values, in order of arrival. Work on a chunk is proportional to these, not
    /// to all columns.
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
    /// Replaces the code of each string that is a time by its word.
    fileprivate mutating func replaceTimes(_ strings: StringSource) {
        // Most strings come again soon, so this cache parses each one once while it stays in its
        // slot.
        var known: [(code: UInt64, word: UInt64)] = []
        for index in words.indices {
            let code = words[index]
            if ISOTime.isWord(code) { continue }
            if known.isEmpty { known = Array(repeating: (.max, 0), count: 64) }
            let slot = Int(truncatingIfNeeded: code & 63)
            if known[slot].code != code {
                known[slot] = (code, strings.withBytes(code) { ISOTime($0)?.word ?? code })
            }
            if known[slot].word != code { words[index] = known[slot].word }
        }
    }
}
