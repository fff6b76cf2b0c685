// Infers column types from all cells of a file, for fields without a declared type.

internal import CozDB

/// The kinds of values seen in one column.
struct ColumnTypeInference {
    private var hasNumber = false
    private var hasBoolean = false
    private var hasText = false
    private var hasNaN = false

    /// Adds a non-empty cell.
    mutating func add(
        _ text: PaddedBytes, _ range: Range<Int>, _ notation: TableColumn.Notation
    ) {
        if hasText { return }
        let first = text[range.lowerBound]
        if notation == .decimalComma, first | 0x20 < UInt8(ascii: "a") {
            guard let plain = CellValue.plainNumber(text, range) else { return hasText = true }
            return add(plain.bytes, 0..<plain.count, .plain)
        }
        switch text[range.lowerBound] {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), NumberParsing.minus, NumberParsing.plus,
            NumberParsing.point:
            if ColumnTypeInference.isPlainNumber(text, range) {
                hasNumber = true
            } else {
                hasText = true
            }
        default:
            if CellValue.isNaN(text, range) {
                hasNaN = true
            } else if CellValue.boolean(text, range, .plain) != .mismatch {
                hasBoolean = true
            } else {
                hasText = true
            }
        }
    }

    /// The type that represents all values as they are; nil if there are none.
    var type: FieldType? {
        if hasText || hasNumber && hasBoolean { return .string }
        if hasBoolean { return hasNaN ? .string : .boolean }
        return hasNumber || hasNaN ? .float : nil
    }

    /// Whether a text is a number that a float represents as written: no leading zeros such as
    /// "007", and no integers beyond 2^53.
    private static func isPlainNumber(_ text: PaddedBytes, _ range: Range<Int>) -> Bool {
        guard case .value(.float, _) = CellValue.number(text, range, isInteger: false) else {
            return false
        }
        var first = range.lowerBound
        if text[first] == NumberParsing.minus || text[first] == NumberParsing.plus { first += 1 }
        let digits = first..<range.upperBound
        if digits.count > 1, text[first] == 0x30, text[first + 1] &- 0x30 < 10 { return false }
        if digits.count > 15, CellValue.isDigits(text, digits) {
            let value = NumberParsing.integer(text, digits, isNegative: false)
            return value.map { $0 <= 1 << 53 } ?? false
        }
        return true
    }
}

/// The values seen in the columns of all tables of a file, in file order.
struct FileTypeInference {
    private var evidence: [[ColumnTypeInference]] = []
    var isComplete = false

    mutating func beginTable(columns: Int) {
        evidence.append(Array(repeating: ColumnTypeInference(), count: columns))
    }

    /// Adds the cells of a row. One that does not fit the header is refused and does not count.
    mutating func add(_ row: CSVRow, of block: CSVBlock, _ layout: TableLayout, nulls: NullTexts) {
        guard let table = evidence.indices.last,
            block.fits(row, columnCount: layout.columns.count)
        else { return }
        for index in layout.columns.indices {
            let column = layout.columns[index]
            guard column.type == nil, column.role == .field || column.role == .fieldValue else {
                continue
            }
            let cell = block.cells[row.cells.lowerBound + index]
            if cell.isEmpty { continue }
            if nulls.contains(block.bytes, cell.range) { continue }
            evidence[table][index].add(block.bytes, cell.range, column.notation)
        }
    }

    /// Returns the inferred types of a table's columns; nil for columns without values.
    func types(table: Int) -> [FieldType?] {
        table < evidence.count ? evidence[table].map(\.type) : []
    }
}
