// Encodes the rows of one experiment for a commit record. A row is its tag set, its time, the
// number of its layout, and one value for each column of the layout.

/// The part of a record that belongs to one experiment.
struct CommitTableWriter {
    let experiment: Int
    var tagSetCount = 0
    var tagSets = ByteWriter()
    private(set) var rowCount = 0

    private var columns = ByteWriter()
    private var numberOfColumn: [ColumnID: Int] = [:]
    private var layouts = ByteWriter()
    private var layoutKeys = RowLayouts()
    private var rows = ByteWriter()
    private var lastTime: Int64 = 0
    private var times = CommitTimes()

    /// The column of the table that a value belongs to, and its stored type.
    struct CellForm {
        var column: UInt32
        var type: FieldType
    }

    init(experiment: Int) {
        self.experiment = experiment
    }

    /// Approximate size of the table.
    var sizeBytes: Int { rows.count + tagSets.count + columns.count + layouts.count }

    /// The position of a column in the table's list, which it may extend.
    mutating func column(_ id: ColumnID, type: FieldType) -> Int {
        if let known = numberOfColumn[id] { return known }
        let number = numberOfColumn.count
        numberOfColumn[id] = number
        columns.appendVarint(id)
        columns.append(type.rawValue)
        times.addColumn()
        return number
    }

    /// The number of the layout that these cells have.
    mutating func layout(_ cells: Span<BatchCell>) -> Int {
        let (number, isNew) = layoutKeys.intern(cells, group: 0)
        if isNew {
            layouts.appendVarint(cells.count)
            for index in cells.indices { layouts.appendVarint(UInt64(cells[index].column)) }
        }
        return number
    }

    /// Appends a row. Each cell has one form.
    mutating func appendRow(
        tagSet: Int, time: Int64, layout: Int, cells: Span<BatchCell>,
        forms: Span<CellForm>
    ) {
        // A value takes at most ten bytes; a time code with its word takes nine.
        let sizeMax = 30 + 10 * cells.count
        var step = time &- lastTime
        // Nearly all times are whole milliseconds, which makes the difference three bytes shorter.
        let (milliseconds, rest) = step.quotientAndRemainder(dividingBy: 1_000_000)
        if rest == 0 { step = milliseconds }
        let code = UInt64(truncatingIfNeeded: layout) << 1 | (rest == 0 ? 1 : 0)
        lastTime = time
        rowCount += 1
        // Moved out of self to avoid a uniqueness check at each change.
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
        writer.appendVarint(numberOfColumn.count)
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
