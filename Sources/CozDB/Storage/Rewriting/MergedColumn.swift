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
        let ordinals = RowOrdinals(mixed.rows.span, rowCount: rowCount)
        values.rows = ordinals.rows()
        values.bits = [UInt64](repeating: 0, count: ordinals.count)
        if ordinals.count == mixed.rows.count {
            put(mixed, ordinals)
        } else {
            putCounting(mixed, ordinals)
        }
    }

    /// Puts values in their places if no row has two.
    private mutating func put(_ mixed: RowValues, _ ordinals: RowOrdinals) {
        var bits = values.bits.mutableSpan
        let (rows, words) = (mixed.rows.span, mixed.bits.span)
        for index in rows.indices { bits[ordinals.ordinal(of: rows[index])] = words[index] }
    }

    /// The same if rows have several values, of which the newest wins.
    private mutating func putCounting(_ mixed: RowValues, _ ordinals: RowOrdinals) {
        // Moved out of self, because `countOverlap` changes self too.
        var bits: [UInt64] = []
        swap(&bits, &values.bits)
        var isTaken = [Bool](repeating: false, count: bits.count)
        var target = bits.mutableSpan
        let (rows, words) = (mixed.rows.span, mixed.bits.span)
        for index in rows.indices {
            let place = ordinals.ordinal(of: rows[index])
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
