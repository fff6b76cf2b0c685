// Tables as an input format: reads blocks of rows into batches.

internal import CozDB

struct TableReader: PointReader {
    private let reading: Reading

    /// State shared by the copies of a reader.
    private final class Reading {
        var state: TableDecoder

        init(_ state: TableDecoder) { self.state = state }
    }

    init(_ kind: TableKind, _ options: ImportOptions) throws(DatabaseError) {
        reading = Reading(try TableDecoder(kind, options))
    }

    mutating func begin(_ file: InputFile) throws(DatabaseError) {
        try reading.state.begin(file)
    }

    mutating func read(
        _ file: InputFile, into batch: inout WriteBatch, limits: BatchLimits
    ) throws(DatabaseError) -> Bool {
        try reading.state.read(file, into: &batch, limits)
    }
}

private struct TableDecoder {
    private let kind: TableKind
    private let options: ImportOptions
    private let lookup: SchemaLookup
    private let nulls: NullTexts
    private let tokenizer = CSVTokenizer()
    private var session: TableRowClassifier
    private var rows: TableRows
    private var survey: FileTypeInference?
    /// A copy of input that cannot be read twice; nil: the file itself is read.
    private var copy: InputFile?
    private var tableCount = 0
    private var block: CSVBlock?
    private var rowIndex = 0

    init(_ kind: TableKind, _ options: ImportOptions) throws(DatabaseError) {
        if kind == .influxShell, options.experiment != nil {
            throw DatabaseError(
                .usage,
                "influx-csv takes the experiment from the column \"name\", but an experiment was "
                    + "given; leave it out, or use the format csv if \"name\" is another column",
                remedy: .change([.experiment, .format]))
        }
        if kind == .influxShell, options.table.experimentColumn != nil {
            throw DatabaseError(
                .usage,
                "influx-csv takes the experiment from the column \"name\", but an experiment "
                    + "column was given; leave it out, or use the format csv",
                remedy: .change([.experimentColumn, .format]))
        }
        self.kind = kind
        self.options = options
        lookup = SchemaLookup(options)
        nulls = NullTexts(options)
        session = TableRowClassifier(kind, options, lookup, file: "")
        rows = TableRows(options, lookup: lookup)
    }

    mutating func begin(_ file: InputFile) throws(DatabaseError) {
        session = TableRowClassifier(kind, options, lookup, file: file.name)
        // Types are inferred in a first pass, also for annotated tables, which may declare none.
        copy = file.isRepeatable ? nil : try file.spooled()
        let source = copy ?? file
        survey = nil
        if source.isRepeatable && !source.hasPath {
            survey = try look(through: source)
            try source.rewind()
        }
        tokenizer.begin(dialect: try dialect(of: source))
        tableCount = 0
        block = nil
        rowIndex = 0
    }

    mutating func read(
        _ file: InputFile, into batch: inout WriteBatch, _ limits: BatchLimits
    ) throws(DatabaseError) -> Bool {
        rows.forgetNumbers()
        var size = 0
        var points = 0
        var constantSize = 0
        while true {
            guard let block else {
                if size >= limits.sizeBytes { return false }
                self.block = try tokenizer.nextBlock(of: copy ?? file)
                rowIndex = 0
                guard let read = self.block else {
                    try session.finish()
                    return true
                }
                size += read.bytes.count
                continue
            }
            while rowIndex < block.rows.count {
                if points >= limits.points || constantSize >= limits.sizeBytes { return false }
                let row = block.rows[rowIndex]
                rowIndex += 1
                if try take(row, of: block, file, &batch) {
                    points += 1
                    constantSize += rows.constantSizeBytes
                }
            }
            self.block = nil
        }
    }

    /// Reads one row.
    ///
    /// - Returns: whether it is a point, stored or refused.
    private mutating func take(
        _ row: CSVRow, of block: CSVBlock, _ file: InputFile, _ batch: inout WriteBatch
    ) throws(DatabaseError) -> Bool {
        if let fault = block.fault(of: row) {
            guard session.hasTable || row.line <= options.table.skippedLines else {
                throw DatabaseError(
                    .usage, "line \(row.line), column \(fault.column): \(fault.reason)",
                    file: file.name)
            }
            if !session.hasTable { return false }
            refuse(row, of: block, into: &batch, column: fault.column, reason: fault.reason)
            return true
        }
        switch try session.take(row, of: block) {
        case .nothing: return false
        case .table(let layout):
            try beginTable(layout, block, file)
            return false
        case .data: break
        }
        switch try rows.add(row, of: block, to: &batch) {
        case .empty: return false
        case .point: return true
        case .refused(let reason, let cell):
            let name = cell.map { "column \(columnName($0)): " } ?? ""
            let column = cell.map { block.column(of: row.cells.lowerBound + $0, in: row) } ?? 0
            refuse(row, of: block, into: &batch, column: column, reason: name + reason)
            return true
        }
    }

    private func refuse(
        _ row: CSVRow, of block: CSVBlock, into batch: inout WriteBatch, column: Int,
        reason: String
    ) {
        block.refuse(
            row, into: &batch, column: column, reason: reason,
            participant: rows.participant(of: row, in: block))
    }

    private func columnName(_ index: Int) -> String { "\(index + 1)" }

    // MARK: Types

    private mutating func beginTable(
        _ layout: TableLayout, _ block: CSVBlock, _ file: InputFile
    ) throws(DatabaseError) {
        defer { tableCount += 1 }
        var types: [FieldType?] = []
        if needsTypeInference(layout) {
            if survey == nil { survey = try inferTypes(file) }
            types = survey?.types(table: tableCount) ?? sample(layout, block)
        }
        try rows.begin(layout, types: types, file: file.name)
    }

    /// Whether neither the table nor the database knows the type of some field.
    private func needsTypeInference(_ layout: TableLayout) -> Bool {
        guard layout.hasOpenTypes else { return false }
        guard let name = options.experiment, layout.index(of: .fieldValue) == nil else {
            return true
        }
        return layout.columns.contains { column in
            column.role == .field && column.type == nil
                && lookup.type(of: column.name, in: Array(name.utf8)) == nil
        }
    }

    /// Infers types from all cells of a file; nil if it cannot be opened again.
    private func inferTypes(_ file: InputFile) throws(DatabaseError) -> FileTypeInference? {
        guard let again = try file.reopened() else { return nil }
        return try look(through: again)
    }

    /// Infers types from all cells of all tables of a file.
    private func look(through file: InputFile) throws(DatabaseError) -> FileTypeInference {
        let tokenizer = CSVTokenizer()
        tokenizer.begin(dialect: try dialect(of: file))
        var session = TableRowClassifier(kind, options, lookup, file: file.name)
        var survey = FileTypeInference()
        var layout = TableLayout()
        while true {
            let next: CSVBlock?
            do throws(DatabaseError) {
                next = try tokenizer.nextBlock(of: file)
            } catch {
                // The rows before the break are stored; reading them meets the error again.
                guard error.kind == .damaged else { throw error }
                return survey
            }
            guard let block = next else { return survey }
            if options.isCancelled?() == true { return survey }
            for row in block.rows where block.fault(of: row) == nil {
                switch try session.take(row, of: block) {
                case .nothing: break
                case .table(let next):
                    layout = next
                    survey.beginTable(columns: layout.columns.count)
                case .data: survey.add(row, of: block, layout, nulls: nulls)
                }
            }
        }
    }

    /// Infers types from the rows after the header that are in the current block.
    private func sample(_ layout: TableLayout, _ block: CSVBlock) -> [FieldType?] {
        var survey = FileTypeInference()
        survey.beginTable(columns: layout.columns.count)
        for row in block.rows[rowIndex...] {
            if block.isBlank(row) { break }
            if block.fault(of: row) == nil { survey.add(row, of: block, layout, nulls: nulls) }
        }
        return survey.types(table: 0)
    }

    // MARK: Delimiters

    /// Returns the requested delimiter, or a tab for `.tsv`. Else the first of comma, tab and
    /// semicolon that the header contains, if possible outside of quotes.
    private func dialect(of file: InputFile) throws(DatabaseError) -> CSVDialect {
        if let delimiter = options.table.delimiter { return CSVDialect(delimiter: delimiter) }
        if kind != .plain { return CSVDialect() }
        if TableFormats.hasExtension(file.name, ".tsv") { return CSVDialect(delimiter: tab) }
        let (header, unquoted) = Self.header(
            try file.peek(), skippedLines: options.table.skippedLines)
        let delimiters = Self.delimiters
        let found =
            delimiters.first { unquoted.contains($0) } ?? delimiters.first { header.contains($0) }
        return CSVDialect(delimiter: found ?? UInt8(ascii: ","))
    }

    private static let delimiters = [UInt8(ascii: ","), tab, UInt8(ascii: ";")]

    /// The bytes of the header, and those outside of quotes.
    private static func header(
        _ bytes: [UInt8], skippedLines: Int
    ) -> (all: ArraySlice<UInt8>, unquoted: [UInt8]) {
        var rest = bytes[...]
        for _ in 0..<skippedLines {
            guard let end = rest.firstIndex(of: newline) else { return ([], []) }
            rest = rest[(end + 1)...]
        }
        rest = rest.drop { $0 == newline || $0 == carriageReturn }
        var (isQuoted, isCellStart) = (false, true)
        var unquoted: [UInt8] = []
        var index = rest.startIndex
        while index < rest.endIndex {
            let byte = rest[index]
            index += 1
            if isQuoted {
                guard byte == quote else { continue }
                // Two quotes are a character of the name.
                if index < rest.endIndex, rest[index] == quote {
                    index += 1
                } else {
                    isQuoted = false
                }
                continue
            }
            // A quoted name may have line breaks.
            if byte == newline { return (rest[..<(index - 1)], unquoted) }
            // Inside an unquoted cell, a quote is a character like any other.
            isQuoted = byte == quote && isCellStart
            isCellStart = delimiters.contains(byte)
            if !isQuoted { unquoted.append(byte) }
        }
        return (rest.prefix { $0 != newline }, unquoted)
    }
}
