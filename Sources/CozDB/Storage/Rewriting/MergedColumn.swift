// One column of a chunk in a merge: the values of all inputs, oldest first, newer values win.
// Consecutive inputs are concatenated. If inputs interleave, a bitmap marks the rows that have a
// value, and a value's place is the number of bits before its own. So a merge of many inputs moves
// each value once, and memory depends on the values, not on the rows.

/// Counts of the cells of one column that several inputs have.
struct ColumnMergeStatistics {
    /// Corrections: flushes counted all these values as inserted, but a value that met an older one
    /// was not.
    var counters = WriteCounters()
    /// The rows of values that were replaced by a different one.
    var replacedRows: [UInt32] = []
    /// The first of them, for attributes.
    var example: (row: UInt32, earlier: String, later: String)?
}

/// The values of one column while inputs are merged.
struct MergedColumn {
    private(set) var values = RowValues()
    private(set) var statistics = ColumnMergeStatistics()

    private let column: Column
    /// The number of rows of the chunk.
    private let rowCount: Int
    /// Whether to record the rows of replaced values, in addition to their number.
    private let watchesRows: Bool
    /// Whether the rows of `values` fail to ascend from one input to the next.
    private var isMixed = false

    init(_ column: Column, rowCount: Int, watchesRows: Bool) {
        self.column = column
        self.rowCount = rowCount
        self.watchesRows = watchesRows
    }

    /// Adds the values of the next input. Takes its memory if that saves a copy.
    mutating func add(_ newer: inout RowValues) {
        guard let first = newer.rows.first else { return }
        guard let last = values.rows.last else {
            swap(&values, &newer)
            return
        }
        if first <= last { isMixed = true }
        let codeOffset = values.adopt(newer.strings)
        if codeOffset > 0 {
            for index in newer.bits.indices {
                newer.bits[index] = ISOTime.moved(newer.bits[index], by: codeOffset)
            }
        }
        let offset = values.bits.count
        for var block in newer.wholeBlocks {
            block.values = (block.values.lowerBound + offset)..<(block.values.upperBound + offset)
            values.wholeBlocks.append(block)
        }
        values.rows.append(contentsOf: newer.rows)
        values.bits.append(contentsOf: newer.bits)
    }

    /// Ends the column. Then `values` has each of its rows once, in ascending order.
    mutating func finish() {
        guard isMixed else { return }
        values.wholeBlocks.removeAll()
        let mixed = values
        let places = RowPositions(mixed.rows.span, rowCount: rowCount)
        values.rows = places.rows()
        values.bits = [UInt64](repeating: 0, count: places.count)
        if places.count == mixed.rows.count {
            put(mixed, places)
        } else {
            putCounting(mixed, places)
        }
    }

    /// Puts values in their places if no row has two.
    private mutating func put(_ mixed: RowValues, _ places: RowPositions) {
        var bits = values.bits.mutableSpan
        let (rows, words) = (mixed.rows.span, mixed.bits.span)
        for index in rows.indices { bits[places.place(of: rows[index])] = words[index] }
    }

    /// The same if rows have several values, of which the newest wins.
    private mutating func putCounting(_ mixed: RowValues, _ places: RowPositions) {
        // Moved out of self, because `countOverlap` changes self too.
        var bits: [UInt64] = []
        swap(&bits, &values.bits)
        var isTaken = [Bool](repeating: false, count: bits.count)
        var target = bits.mutableSpan
        let (rows, words) = (mixed.rows.span, mixed.bits.span)
        for index in rows.indices {
            let place = places.place(of: rows[index])
            if isTaken[place] { countOverlap(Int(rows[index]), target[place], words[index]) }
            isTaken[place] = true
            target[place] = words[index]
        }
        swap(&bits, &values.bits)
    }

    private mutating func countOverlap(_ row: Int, _ older: UInt64, _ newer: UInt64) {
        let strings = values.strings
        let isSame =
            older == newer
            || column.type == .string
                && strings.withBytes(older) { older in
                    strings.withBytes(newer) { newer in older.equals(newer) }
                }
        if column.kind == .field {
            statistics.counters.insertedValues -= 1
            if isSame {
                statistics.counters.identicalValues += 1
            } else {
                statistics.counters.replacedValues += 1
            }
        }
        guard !isSame, watchesRows else { return }
        let row = UInt32(truncatingIfNeeded: row)
        statistics.replacedRows.append(row)
        if statistics.example == nil, column.kind == .attribute {
            statistics.example = (row, strings.text(older), strings.text(newer))
        }
    }
}

/// The rows of a chunk that have a value, and the number of such rows before each.
private struct RowPositions {
    private let isPresent: [UInt64]
    /// For each word of `isPresent`, the number of bits before it.
    private let counts: [UInt32]
    /// The number of rows.
    let count: Int

    init(_ rows: Span<UInt32>, rowCount: Int) {
        var isPresent = [UInt64](repeating: 0, count: (rowCount + 63) / 64)
        var present = isPresent.mutableSpan
        for index in rows.indices {
            present[Int(rows[index] >> 6)] |= 1 << UInt64(rows[index] & 63)
        }
        var count = 0
        counts = isPresent.map { word in
            defer { count += word.nonzeroBitCount }
            return UInt32(truncatingIfNeeded: count)
        }
        self.isPresent = isPresent
        self.count = count
    }

    @inline(__always)
    func place(of row: UInt32) -> Int {
        let word = Int(row >> 6)
        let before = isPresent[word] & (1 << UInt64(row & 63) &- 1)
        return Int(counts[word]) &+ before.nonzeroBitCount
    }

    /// The rows, ascending.
    func rows() -> [UInt32] {
        var rows: [UInt32] = []
        let present = isPresent.span
        rows.append(addingCapacity: count) { rows in
            for index in present.indices {
                var rest = present[index]
                while rest != 0 {
                    rows.append(
                        UInt32(truncatingIfNeeded: index &* 64 &+ rest.trailingZeroBitCount))
                    rest &= rest &- 1
                }
            }
        }
        return rows
    }
}
