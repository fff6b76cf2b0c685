// Classifies the rows of a file as headers, annotations or data.

internal import CozDB

struct TableRowClassifier {
    enum Step {
        case nothing
        case table(TableLayout)
        case data
    }

    let kind: TableKind
    private let header: TableHeader
    private let skippedLines: Int
    private let file: String
    private var annotations = TableAnnotations()
    private var layout: TableLayout?
    /// The name of the time column in the header, to recognize a repeated header.
    private var timeName: [UInt8] = []
    private var isAfterBlankLine = false
    private var isErrorTable = false

    init(_ kind: TableKind, _ options: ImportOptions, _ lookup: SchemaLookup, file: String) {
        self.kind = kind
        self.file = file
        header = TableHeader(kind: kind, options: options, lookup: lookup, file: file)
        skippedLines = options.table.skippedLines
    }

    /// Whether a header was read.
    var hasTable: Bool { layout != nil }

    /// Ends the file.
    ///
    /// - Throws: `usage` for annotations without a header.
    func finish() throws(DatabaseError) {
        guard layout == nil, !annotations.isEmpty else { return }
        throw DatabaseError(
            .usage, "found annotations without a table, expected a header and rows after them",
            file: file)
    }

    /// Classifies a row without a fault.
    ///
    /// - Throws: `usage` for an invalid header or annotation.
    mutating func take(_ row: CSVRow, of block: CSVBlock) throws(DatabaseError) -> Step {
        if row.line <= skippedLines { return .nothing }
        // Fast path for rows of data.
        if layout != nil, !isAfterBlankLine, !mayBeHeader(row, block) {
            if isErrorTable { throw failedQuery(row, block) }
            return .data
        }
        if block.isBlank(row) {
            isAfterBlankLine = true
            return .nothing
        }
        if layout == nil, block.hasBareCarriageReturn(row) {
            throw DatabaseError(
                .usage, "line \(row.line): \(CSVBlock.bareCarriageReturnMessage)", file: file)
        }
        if block.bytes[row.text.lowerBound] == UInt8(ascii: "#"),
            layout == nil || isAfterBlankLine || kind == .annotated || layout?.isAnnotated == true
        {
            let cells = row.cells.map { block.bytes.copy(block.cells[$0].range) }
            if let (word, rest) = TableAnnotations.Word.read(cells[0]) {
                try annotate(word, [rest] + cells.dropFirst(), line: row.line)
                return .nothing
            }
            // A comment. A cell of its own is the name of a column with row numbers.
            let isName = cells.count > 1 && cells[0].elementsEqual("#".utf8)
            if kind == .annotated || layout == nil && !isName { return .nothing }
        }
        if layout == nil || isHeader(row, block) { return .table(try beginTable(row, block)) }
        isAfterBlankLine = false
        if isErrorTable { throw failedQuery(row, block) }
        return .data
    }

    /// Whether a row may be something other than data, judged by its first byte.
    @inline(__always) private func mayBeHeader(_ row: CSVRow, _ block: CSVBlock) -> Bool {
        if row.text.isEmpty { return true }
        switch block.bytes[row.text.lowerBound] {
        case UInt8(ascii: "#"): return kind == .annotated || layout?.isAnnotated == true
        case UInt8(ascii: "n"): return kind == .influxShell
        case space, tab: return block.isBlank(row)
        default: return false
        }
    }

    /// Whether a row after the first header is another header.
    private func isHeader(_ row: CSVRow, _ block: CSVBlock) -> Bool {
        func equals(_ place: Int, _ name: String) -> Bool {
            place < row.cells.count
                && CellValue.equals(
                    block.bytes, block.cells[row.cells.lowerBound + place].range,
                    Array(name.utf8))
        }
        if kind == .influxShell {
            return equals(0, "name") && (equals(1, "time") || equals(1, "tags"))
        }
        guard isAfterBlankLine, !timeName.isEmpty else { return false }
        return row.cells.contains {
            CellValue.equals(block.bytes, block.cells[$0].range, timeName)
        }
    }

    private mutating func annotate(
        _ word: TableAnnotations.Word, _ cells: [[UInt8]], line: Int
    ) throws(DatabaseError) {
        if layout != nil {
            // Annotations after data belong to the next table.
            layout = nil
            annotations = TableAnnotations()
        }
        isAfterBlankLine = false
        do throws(TableProblem) {
            try annotations.add(word, cells)
        } catch {
            throw DatabaseError(
                .usage, "line \(line): #\(word.rawValue): \(error.reason)", file: file)
        }
    }

    private mutating func beginTable(
        _ row: CSVRow, _ block: CSVBlock
    ) throws(DatabaseError) -> TableLayout {
        isAfterBlankLine = false
        let names = row.cells.map { block.bytes.copy(block.cells[$0].range) }
        let titles = names.filter { !$0.isEmpty }.map { String(decoding: $0, as: UTF8.self) }
        isErrorTable = titles == ["error", "reference"] || titles == ["error"]
        guard !isErrorTable else {
            let layout = TableLayout(columns: names.map { TableColumn(name: $0) }, line: row.line)
            self.layout = layout
            return layout
        }
        let layout =
            annotations.isEmpty
            ? try header.layout(names, line: row.line)
            : try annotations.layout(names, line: row.line, header: header)
        timeName = layout.index(of: .time).map { names[$0] } ?? []
        self.layout = layout
        return layout
    }

    private func failedQuery(_ row: CSVRow, _ block: CSVBlock) -> DatabaseError {
        let texts = row.cells.map {
            String(decoding: block.bytes.copy(block.cells[$0].range), as: UTF8.self)
        }
        let message = texts.filter { !$0.isEmpty }.joined(separator: ", ")
        return DatabaseError(
            .usage,
            "line \(row.line): found the error message of a failed query, expected data: "
                + message,
            file: file)
    }
}
