// Converts rows of sensor streams to points: a time in milliseconds, and columns of fixed kinds.
// This is the inner loop of such imports. The caller orders rows within a millisecond.

package import CozDB

/// A column of timed rows: its kind and name, and its handles in the batch.
package struct TimedColumn {
    package enum Kind: Sendable {
        /// Milliseconds since 1970 UTC. The first such column is the time of the row.
        case milliseconds
        /// The time of the row as text. Stored only if it differs from the milliseconds.
        case moment
        case float
        case integer
        case text
    }

    package var kind: Kind
    package var name: String
    /// The type of the field if it is new; nil: that of the first value.
    package var fieldType: FieldType?
    /// The kind in rows in which the column gets its new name; nil if that is `kind`.
    package var renamedKind: Kind?
    fileprivate var float = WriteBatch.ColumnHandle.none
    fileprivate var integer = WriteBatch.ColumnHandle.none
    fileprivate var text = WriteBatch.ColumnHandle.none
    /// The range of the last text and the bits of its handle; valid for one block and batch.
    fileprivate var lastText: Range<Int>?
    fileprivate var lastBits: UInt64 = 0

    package init(_ name: String, _ kind: Kind) {
        self.name = name
        self.kind = kind
    }
}

/// Converts the rows of a tokenizer's blocks to points.
package struct TimedRows {
    /// Why `add` returned.
    package enum Pause: Equatable {
        /// All rows were read.
        case end
        /// The batch is full.
        case full
        /// The row is not later than `latest`, or not before `limit`. The caller chooses its place
        /// in the millisecond and passes it to `addRow`.
        case moment(milliseconds: Int64)
    }

    /// The columns of each row. Rows with another number of cells are refused.
    package private(set) var columns: [TimedColumn]
    /// Milliseconds of the latest row so far; nil if none.
    package var latest: Int64?
    /// The caller places all rows from this time on, in milliseconds.
    package var limit = Int64.min
    /// Index in the block of the row that was placed last, stored or not; nil if none.
    package private(set) var lastPlacedRow: Int?

    let timeColumn: Int
    /// A field with the same text in all rows; nil if none.
    let constant: (name: String, value: String)?
    var second = TimeTextMatcher()
    /// The columns whose kind depends on whether they keep their names in a row: their names, and
    /// whether they did so in the last row.
    private var renamed: [(column: Int, name: Name, kind: TimedColumn.Kind, isKept: Bool)] = []
    private var tagSet = WriteBatch.TagSetHandle.none
    private var constantColumn = WriteBatch.ColumnHandle.none
    private var constantBits: UInt64 = 0

    /// - Parameters:
    ///   - columns: the columns in order; at least one has milliseconds.
    ///   - constant: a field with the same text in all rows.
    package init(_ columns: [TimedColumn], constant: (name: String, value: String)? = nil) {
        guard let time = columns.firstIndex(where: { $0.kind == .milliseconds }) else {
            preconditionFailure("no column with the time")
        }
        self.columns = columns
        self.constant = constant
        timeColumn = time
        for (index, column) in columns.enumerated() {
            guard let kind = column.renamedKind, kind != column.kind else { continue }
            renamed.append((index, Name(column.name), kind, true))
        }
    }

    /// Accepted times in milliseconds. One second less at each end keeps a time plus its ordinal in
    /// the range of `Timestamp`.
    package static let range =
        1000 * (Timestamp.min.nanoseconds / 1_000_000_000 + 1)...1000
        * (Timestamp.max.nanoseconds / 1_000_000_000 - 1)

    /// Gets handles from a new or emptied batch.
    package mutating func bind(
        to batch: inout WriteBatch, experiment: WriteBatch.ExperimentHandle,
        tagSet: WriteBatch.TagSetHandle
    ) {
        self.tagSet = tagSet
        for index in columns.indices {
            let name = columns[index].name.utf8.span
            let asked = columns[index].fieldType
            func handle(_ type: FieldType) -> WriteBatch.ColumnHandle {
                batch.column(
                    experiment: experiment, name: name, type: type,
                    fieldType: asked == type ? nil : asked)
            }
            columns[index].float = handle(.float)
            columns[index].integer = handle(.integer)
            columns[index].text = handle(.string)
            columns[index].lastText = nil
        }
        guard let constant else { return }
        constantColumn = batch.column(
            experiment: experiment, name: constant.name.utf8.span, type: .string)
        constantBits = batch.string(constant.value.utf8.span).bits
    }

    /// Begins a block. Text ranges of the previous block are no longer valid.
    package mutating func beginBlock() {
        lastPlacedRow = nil
        for index in columns.indices { columns[index].lastText = nil }
    }

    /// Adds rows until the caller must decide on one.
    ///
    /// - Parameters:
    ///   - next: index of the first row to add; on return, index of the first row not added.
    ///   - points: points in the batch, stored or refused, at which it is full.
    package mutating func add(
        _ block: CSVBlock, from next: inout Int, into batch: inout WriteBatch, points: Int
    ) -> Pause {
        var count = batch.rowCount + batch.refusals.count
        while next < block.rows.count {
            if count >= points { return .full }
            let row = block.rows[next]
            guard let milliseconds = time(of: row, in: block) else {
                refuse(row, of: block, into: &batch)
                count = batch.rowCount + batch.refusals.count
                next += 1
                continue
            }
            if milliseconds >= limit || milliseconds <= latest ?? .min {
                return .moment(milliseconds: milliseconds)
            }
            addRow(next, of: block, milliseconds, ordinal: 0, into: &batch)
            latest = milliseconds
            next += 1
            count += 1
        }
        return .end
    }

    /// Returns the time of a row; nil if it has the wrong number of cells or no valid time.
    @inline(__always) package func time(of row: CSVRow, in block: CSVBlock) -> Int64? {
        guard row.cells.count == columns.count,
            let milliseconds = TimedRows.milliseconds(
                block.bytes, block.cells[row.cells.lowerBound + timeColumn].range),
            TimedRows.range.contains(milliseconds)
        else { return nil }
        return milliseconds
    }

    /// Adds a row at a place in its millisecond.
    ///
    /// - Parameters:
    ///   - milliseconds: the time of the row, as `add` returned it.
    ///   - ordinal: nanoseconds to add, below a million.
    package mutating func addRow(
        _ index: Int, of block: CSVBlock, _ milliseconds: Int64, ordinal: Int,
        into batch: inout WriteBatch
    ) {
        let row = block.rows[index]
        lastPlacedRow = index
        var wrong = addCells(row, block, milliseconds, into: &batch)
        // Only now it is known which columns keep their names.
        if !renamed.isEmpty, wrong == nil, changeKinds(batch.keepNames(renamed.map(\.name))) {
            batch.abandonRow()
            wrong = addCells(row, block, milliseconds, into: &batch)
        }
        if let wrong {
            batch.abandonRow()
            let cell = block.cells[row.cells.lowerBound + wrong].range
            block.refuse(
                row, into: &batch, column: cell.lowerBound - row.text.lowerBound + 1,
                reason: "\"\(columns[wrong].name)\" is not valid UTF-8; expected UTF-8")
            return
        }
        guard batch.hasOpenRow else {
            block.refuse(
                row, into: &batch, reason: "no values except the time; expected at least one")
            return
        }
        if constant != nil { batch.append(column: constantColumn, bits: constantBits) }
        batch.endRow(
            tagSet: tagSet, time: milliseconds * 1_000_000 + Int64(ordinal), line: row.line)
    }

    /// Adds the values of a row's cells. Returns the column of a cell that is not valid UTF-8; nil
    /// if there is none.
    @inline(__always) private mutating func addCells(
        _ row: CSVRow, _ block: CSVBlock, _ milliseconds: Int64, into batch: inout WriteBatch
    ) -> Int? {
        var number = row.cells.lowerBound
        for column in columns.indices {
            let cell = block.cells[number].range
            number += 1
            if cell.isEmpty || column == timeColumn { continue }
            if !addCell(cell, column, block.bytes, milliseconds, into: &batch) { return column }
        }
        return nil
    }

    /// Sets the kinds of renamed columns. Returns whether any changed.
    private mutating func changeKinds(_ keepNames: [Bool]) -> Bool {
        var isChanged = false
        for (index, isKept) in keepNames.enumerated() where isKept != renamed[index].isKept {
            swap(&columns[renamed[index].column].kind, &renamed[index].kind)
            renamed[index].isKept = isKept
            isChanged = true
        }
        return isChanged
    }

    /// Adds the value of a non-empty cell; false if it is not valid UTF-8.
    @inline(__always) private mutating func addCell(
        _ cell: Range<Int>, _ index: Int, _ bytes: PaddedBytes, _ milliseconds: Int64,
        into batch: inout WriteBatch
    ) -> Bool {
        switch columns[index].kind {
        case .float:
            let number = NumberParsing.scan(bytes, at: cell.lowerBound)
            if number.kind == .float && number.end == cell.upperBound {
                batch.append(column: columns[index].float, bits: number.bits)
                return true
            }
            return addNumberSlowPath(cell, index, bytes, into: &batch)
        case .text:
            return addText(cell, index, bytes, into: &batch)
        case .moment:
            if second.agrees(bytes, cell, milliseconds) { return true }
            return addText(cell, index, bytes, into: &batch)
        case .integer, .milliseconds:
            return addNumberSlowPath(cell, index, bytes, into: &batch)
        }
    }

    /// Adds a text. Skips hashing if it equals the last text of the column.
    @inline(__always) private mutating func addText(
        _ cell: Range<Int>, _ index: Int, _ bytes: PaddedBytes, into batch: inout WriteBatch
    ) -> Bool {
        if let last = columns[index].lastText, last.count == cell.count,
            bytes.equals(at: cell.lowerBound, bytes, at: last.lowerBound, size: cell.count)
        {
            batch.append(column: columns[index].text, bits: columns[index].lastBits)
            return true
        }
        if bytes.firstInvalidUTF8(in: cell) != nil { return false }
        let bits = bytes.withSpan(cell) { batch.string($0).bits }
        columns[index].lastText = cell
        columns[index].lastBits = bits
        batch.append(column: columns[index].text, bits: bits)
        return true
    }

    /// Adds an integer, a number with blanks or a plus sign, or a text that is not a number, or not
    /// one that its integer field stores. Such a text is appended as a string, and the database
    /// refuses it because of its type.
    @inline(never) private mutating func addNumberSlowPath(
        _ cell: Range<Int>, _ index: Int, _ bytes: PaddedBytes, into batch: inout WriteBatch
    ) -> Bool {
        let trimmed = TimedRows.trimmed(bytes, cell)
        if trimmed.isEmpty { return true }
        if columns[index].kind != .float, let value = TimedRows.integer(bytes, trimmed) {
            batch.append(column: columns[index].integer, bits: UInt64(bitPattern: value))
            return true
        }
        let start = trimmed.lowerBound + (bytes[trimmed.lowerBound] == UInt8(ascii: "+") ? 1 : 0)
        let number = NumberParsing.scan(bytes, at: start)
        guard number.kind == .float, number.end == trimmed.upperBound else {
            return addText(cell, index, bytes, into: &batch)
        }
        if columns[index].kind != .float,
            NumberParsing.isRounded(
                bytes, start..<trimmed.upperBound, to: Double(bitPattern: number.bits))
        {
            return addText(cell, index, bytes, into: &batch)
        }
        batch.append(column: columns[index].float, bits: number.bits)
        return true
    }

    // MARK: Refusals

    /// Refuses a row that has a fault, the wrong number of cells, or no valid time.
    @inline(never) private func refuse(
        _ row: CSVRow, of block: CSVBlock, into batch: inout WriteBatch
    ) {
        if let fault = block.fault(of: row) {
            block.refuse(row, into: &batch, column: fault.column, reason: fault.reason)
        } else if row.cells.count != columns.count {
            if block.isBlank(row) { return }
            let shown = columns.prefix(12).map { String($0.name.prefix(40)) }
            let names = shown.joined(separator: ",") + (columns.count > 12 ? ",..." : "")
            block.refuse(
                row, into: &batch,
                reason: "\(row.cells.count) cells; expected \(columns.count) as in the header: "
                    + names)
        } else {
            let cell = block.cells[row.cells.lowerBound + timeColumn].range
            let shown = cell.lowerBound..<Swift.min(cell.upperBound, cell.lowerBound + 40)
            let found = String(decoding: block.bytes.copy(shown), as: UTF8.self)
            block.refuse(
                row, into: &batch, column: cell.lowerBound - row.text.lowerBound + 1,
                reason: "\"\(columns[timeColumn].name)\" is \"\(found)\"; expected milliseconds "
                    + "since 1970, from \(TimedRows.range.lowerBound) to "
                    + "\(TimedRows.range.upperBound)")
        }
    }

    // MARK: Cells

    /// Parses digits, optionally with a sign and surrounding blanks; nil for anything else.
    @inline(__always) package static func milliseconds(
        _ bytes: PaddedBytes, _ cell: Range<Int>
    ) -> Int64? {
        // Times from 2001 to 2286 have thirteen digits.
        let start = cell.lowerBound
        if cell.count == 13, NumberParsing.isEightDigits(bytes.word(start)) {
            var value: UInt64 = 0
            let end = NumberParsing.digits(bytes, start, into: &value)
            if end == cell.upperBound { return Int64(truncatingIfNeeded: value) }
        }
        return integer(bytes, trimmed(bytes, cell))
    }

    /// Parses an integer of 64 bits; nil for anything else.
    private static func integer(_ bytes: PaddedBytes, _ cell: Range<Int>) -> Int64? {
        guard let first = cell.first else { return nil }
        let isNegative = bytes[first] == UInt8(ascii: "-")
        let hasSign = isNegative || bytes[first] == UInt8(ascii: "+")
        let digits = (hasSign ? first + 1 : first)..<cell.upperBound
        guard !digits.isEmpty, digits.allSatisfy({ bytes[$0] &- 0x30 < 10 }) else { return nil }
        return NumberParsing.integer(bytes, digits, isNegative: isNegative)
    }

    private static func trimmed(_ bytes: PaddedBytes, _ cell: Range<Int>) -> Range<Int> {
        var (start, end) = (cell.lowerBound, cell.upperBound)
        while start < end, bytes[start] == space || bytes[start] == tab { start += 1 }
        while end > start, bytes[end - 1] == space || bytes[end - 1] == tab { end -= 1 }
        return start..<end
    }
}
