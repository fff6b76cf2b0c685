// The rows of one experiment in a commit record: a row is its tag set, its time, the number of its
// layout, and the values that the layout says.

/// One experiment's part of a record.
struct CommitTableWriter {
    let experiment: Int
    var tagSetCount = 0
    var tagSets = ByteWriter()
    private(set) var rowCount = 0

    private var columnCount = 0
    private var columns = ByteWriter()
    private var numberOfColumn: [ColumnID: Int] = [:]
    private var layouts = ByteWriter()
    private var layoutKeys = RowLayouts()
    private var rows = ByteWriter()
    private var lastTime: Int64 = 0
    private var times = CommitTimes()

    /// How a value is written, and as which column of the table.
    struct CellForm {
        var column: UInt32
        var type: FieldType
    }

    init(experiment: Int) {
        self.experiment = experiment
    }

    /// Bytes of the table, roughly.
    var sizeBytes: Int { rows.count + tagSets.count + columns.count + layouts.count }

    /// The place of a column in the list of columns, new or known.
    mutating func column(_ id: ColumnID, type: FieldType) -> Int {
        if let known = numberOfColumn[id] { return known }
        let number = columnCount
        numberOfColumn[id] = number
        columnCount += 1
        columns.appendVarint(id)
        columns.append(type.rawValue)
        times.addColumn()
        return number
    }

    /// The number of the layout that the cells' columns make.
    mutating func layout(_ cells: Span<BatchCell>) -> Int {
        let (number, isNew) = layoutKeys.intern(cells, group: 0)
        if isNew {
            layouts.appendVarint(cells.count)
            for index in cells.indices { layouts.appendVarint(UInt64(cells[index].column)) }
        }
        return number
    }

    /// A row whose cells are of these forms, one by one.
    mutating func appendRow(
        tagSet: Int, time: Int64, layout: Int, cells: Span<BatchCell>,
        forms: Span<CellForm>
    ) {
        // No value takes more than ten bytes; a code and the word behind it nine.
        let sizeMax = 30 + 10 * cells.count
        var step = time &- lastTime
        // Nearly all times are of milliseconds, and the step three bytes shorter.
        let (milliseconds, rest) = step.quotientAndRemainder(dividingBy: 1_000_000)
        if rest == 0 { step = milliseconds }
        let code = UInt64(truncatingIfNeeded: layout) << 1 | (rest == 0 ? 1 : 0)
        lastTime = time
        rowCount += 1
        // Taken out of self: what is changed in there is asked at each change whether it is shared.
        var times = CommitTimes()
        swap(&times, &self.times)
        rows.bytes.append(addingCapacity: sizeMax) { output in
            output.appendVarint(UInt64(truncatingIfNeeded: tagSet))
            output.appendVarint(code)
            output.appendSigned(step)
            for index in cells.indices {
                let bits = cells[index].bits
                switch forms[index].type {
                case .float: output.appendWord(bits)
                case .integer: output.appendSigned(Int64(bitPattern: bits))
                case .boolean: output.append(UInt8(truncatingIfNeeded: bits))
                case .string:
                    let column = Int(forms[index].column)
                    let code = times.code(bits, column: column, time: time)
                    output.appendVarint(code)
                    if code == CommitTimes.wordFollows { output.appendWord(bits) }
                }
            }
        }
        swap(&times, &self.times)
    }

    func append(to writer: inout ByteWriter) {
        writer.appendVarint(experiment)
        writer.appendVarint(tagSetCount)
        writer.append(tagSets.bytes)
        writer.appendVarint(columnCount)
        writer.append(columns.bytes)
        writer.appendVarint(layoutKeys.count)
        writer.append(layouts.bytes)
        writer.appendVarint(rowCount)
        writer.appendVarint(rows.count)
        writer.append(rows.bytes)
    }
}

extension OutputSpan<UInt8> {
    @inline(__always)
    fileprivate mutating func appendVarint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }

    @inline(__always)
    fileprivate mutating func appendSigned(_ value: Int64) {
        appendVarint(UInt64(bitPattern: (value << 1) ^ (value >> 63)))
    }

    @inline(__always)
    fileprivate mutating func appendWord(_ value: UInt64) {
        for index in 0..<8 { append(UInt8(truncatingIfNeeded: value >> (8 * UInt64(index)))) }
    }
}
