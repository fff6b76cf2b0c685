// One column of a slab in a merge: the values of all inputs, oldest first, the newer laid over.
// Inputs that follow each other are strung together; where they mix, each value is put at its row
// and they are read back by ascending row. So a merge of many inputs moves each value twice.

/// What the values of one column met in the rows of a slab.
struct ColumnMeetings {
    /// Flushes counted all of these as inserted: each that met an older one was not.
    var counters = WriteCounters()
    /// Ascending rows, one entry for each value that was replaced by a different one.
    var replacedRows: [UInt32] = []
    /// The first of them, where texts are wanted for it.
    var example: (row: UInt32, earlier: String, later: String)?
}

/// Values of one column by row, while inputs are laid over each other.
struct MergedColumn {
    private(set) var values = RowValues()
    private(set) var meetings = ColumnMeetings()

    private let column: Column
    /// Rows of the slab.
    private let rowCount: Int
    /// Whether it matters which values are replaced, beside their number.
    private let watchesRows: Bool
    /// Values at their rows, and a bit for each row that has one; empty while `values` has them.
    private var bitsByRow: [UInt64] = []
    private var isPresent: [UInt64] = []

    init(_ column: Column, rowCount: Int, watchesRows: Bool) {
        self.column = column
        self.rowCount = rowCount
        self.watchesRows = watchesRows
    }

    /// Adds the values of the next input. Its memory is taken where that saves a copy.
    mutating func add(_ newer: inout RowValues) {
        guard let first = newer.rows.first else { return }
        guard let last = values.rows.last else {
            swap(&values, &newer)
            return
        }
        adopt(&newer)
        if isPresent.isEmpty, first > last {
            values.rows.append(contentsOf: newer.rows)
            values.bits.append(contentsOf: newer.bits)
            return
        }
        if isPresent.isEmpty { spread() }
        put(newer)
    }

    /// Ends the column: `values` has its rows in ascending order.
    mutating func finish() {
        guard !isPresent.isEmpty else { return }
        let count = isPresent.reduce(0) { $0 + $1.nonzeroBitCount }
        let (isPresent, bitsByRow) = (isPresent, bitsByRow)
        let (present, bits) = (isPresent.span, bitsByRow.span)
        var rows: [UInt32] = []
        var words: [UInt64] = []
        rows.append(addingCapacity: count) { rows in
            words.append(addingCapacity: count) { words in
                for index in present.indices {
                    var rest = present[index]
                    while rest != 0 {
                        let row = index &* 64 &+ rest.trailingZeroBitCount
                        rows.append(UInt32(truncatingIfNeeded: row))
                        words.append(bits[row])
                        rest &= rest &- 1
                    }
                }
            }
        }
        (values.rows, values.bits) = (rows, words)
    }

    /// Makes the strings of both ones of this column.
    private mutating func adopt(_ newer: inout RowValues) {
        guard column.type == .string, newer.strings !== values.strings,
            newer.strings.count > 0
        else { return }
        let offset = UInt64(values.strings.count)
        values.strings =
            offset == 0 ? newer.strings : StringTable(values.strings, newer.strings)
        guard offset > 0 else { return }
        for index in newer.bits.indices {
            newer.bits[index] = ISOTime.moved(newer.bits[index], by: offset)
        }
    }

    /// Puts the values so far at their rows.
    private mutating func spread() {
        bitsByRow = [UInt64](repeating: 0, count: rowCount)
        isPresent = [UInt64](repeating: 0, count: (rowCount + 63) / 64)
        for index in values.rows.indices {
            let row = Int(values.rows[index])
            bitsByRow[row] = values.bits[index]
            isPresent[row >> 6] |= 1 << UInt64(row & 63)
        }
    }

    private mutating func put(_ newer: RowValues) {
        // Taken out of self: what is met in between changes self too.
        var (present, bits) = ([UInt64](), [UInt64]())
        swap(&present, &isPresent)
        swap(&bits, &bitsByRow)
        var presentSpan = present.mutableSpan
        var bitSpan = bits.mutableSpan
        let rows = newer.rows.span
        let words = newer.bits.span
        for index in rows.indices {
            let row = Int(rows[index])
            let mask: UInt64 = 1 << UInt64(row & 63)
            if presentSpan[row >> 6] & mask != 0 {
                meet(row, bitSpan[row], words[index])
            } else {
                presentSpan[row >> 6] |= mask
            }
            bitSpan[row] = words[index]
        }
        swap(&present, &isPresent)
        swap(&bits, &bitsByRow)
    }

    private mutating func meet(_ row: Int, _ older: UInt64, _ newer: UInt64) {
        let strings = values.strings
        let isSame =
            older == newer
            || column.type == .string
                && strings.withBytes(older) { older in
                    strings.withBytes(newer) { newer in older.equals(newer) }
                }
        if column.kind == .field {
            meetings.counters.insertedValues -= 1
            if isSame {
                meetings.counters.identicalValues += 1
            } else {
                meetings.counters.replacedValues += 1
            }
        }
        guard !isSame, watchesRows else { return }
        let row = UInt32(truncatingIfNeeded: row)
        meetings.replacedRows.append(row)
        if meetings.example == nil, column.kind == .attribute {
            meetings.example = (row, strings.text(older), strings.text(newer))
        }
    }
}
