// Reads the researcher API's CSV. Reads each file twice: first for the column types, then for the
// points. A pipe is first copied to a temporary file.

internal import CozDB
internal import CozImport

struct CozieCSVReader: PointReader {
    private let experiment: [UInt8]
    private let participantTag: [UInt8]
    private let options: ImportOptions
    private var types: CozieTypes
    private let tokenizer = CSVTokenizer()
    /// The temporary copy of a pipe.
    private var copy: InputFile?
    private var header: CozieHeader?
    private var fields = CozieFields()
    private var tags = CozieTags()
    private var block: CSVBlock?
    private var nextRow = 0

    init(_ options: ImportOptions) throws(DatabaseError) {
        guard let name = options.experiment, !name.isEmpty else {
            throw DatabaseError(
                .usage,
                "cozie-csv files do not name their experiment, expected an experiment for all "
                    + "rows; give one", remedy: .change([.experiment]))
        }
        if let setting = options.table.firstChange {
            throw DatabaseError(
                .usage,
                "found the table option \(setting.rawValue), expected none: the columns of "
                    + "cozie-csv are fixed; leave it out, or import the file in the format csv "
                    + "with the time column \"index\"", remedy: .change([setting, .format]))
        }
        experiment = Array(name.utf8)
        let schema = options.schemas.first { $0.name.utf8.elementsEqual(name.utf8) }
        types = CozieTypes(schema, options)
        participantTag = Array(options.participantTags.tag(of: experiment).utf8)
        self.options = options
    }

    mutating func begin(_ file: InputFile) throws(DatabaseError) {
        copy = file.isRepeatable ? nil : try file.spooled()
        let source = copy ?? file
        try decideTypes(source)
        try source.rewind()
        tokenizer.begin()
        block = try tokenizer.nextBlock(of: source)
        // Skip the header, which `decideTypes` has checked.
        nextRow = 1
    }

    /// Reads the file a first time: the header and the column types.
    private mutating func decideTypes(_ file: InputFile) throws(DatabaseError) {
        tokenizer.begin()
        guard var block = try tokenizer.nextBlock(of: file) else {
            throw DatabaseError(
                .usage, "found an empty file, expected a header with a column \"index\"",
                file: file.name)
        }
        let header = try CozieHeader(block.rows[0], block, file: file.name)
        let renamed = types.renamed(header)
        let isRenamed = Set(renamed)
        var known = header.names.indices.map { column in
            header.roles[column] == .field
                ? types.type(of: header.names[column], keepsName: isRenamed.contains(column))
                : .string
        }
        var values = [CozieColumnValues](repeating: CozieColumnValues(), count: known.count)
        var first = 1
        while true {
            for row in block.rows[first...] where row.cells.count == known.count {
                CozieCSVReader.look(at: row, block, &values, known)
            }
            first = 0
            let next: CSVBlock?
            do throws(DatabaseError) {
                next = try tokenizer.nextBlock(of: file)
            } catch {
                // The rows before the break are stored; reading them meets the error again.
                guard error.kind == .damaged else { throw error }
                break
            }
            guard let next else { break }
            block = next
        }
        for column in known.indices where known[column] == nil {
            guard let type = values[column].type else { continue }
            known[column] = type
            types.remember(
                type, of: header.names[column], keepsName: isRenamed.contains(column))
        }
        self.header = header
        fields = CozieFields(header.names, known, renamedFields(renamed, header, known))
        tags = CozieTags(header, participantTag, options)
    }

    /// Returns the columns whose names depend on the row, with their types under the new ones: that
    /// of the field, or of the column with this name.
    private mutating func renamedFields(
        _ columns: [Int], _ header: CozieHeader, _ known: [FieldType?]
    ) -> [CozieFields.Renamed] {
        var places: [[UInt8]: Int] = [:]
        for (index, name) in header.names.enumerated() where header.roles[index] == .field {
            places[name] = index
        }
        return columns.map { column in
            let name = header.names[column]
            var type = types.type(of: name, keepsName: false)
            if type == nil {
                type = places[types.newName(of: name)].flatMap { known[$0] } ?? known[column]
                if let type { types.remember(type, of: name, keepsName: false) }
            }
            return CozieFields.Renamed(
                column: column, name: Name(String(decoding: name, as: UTF8.self)), type: type)
        }
    }

    private static func look(
        at row: CSVRow, _ block: CSVBlock, _ values: inout [CozieColumnValues],
        _ known: [FieldType?]
    ) {
        for (column, cell) in zip(known.indices, row.cells)
        where !block.cells[cell].isEmpty && known[column] == nil && !values[column].hasText {
            values[column].add(CozieCell(block.bytes, block.cells[cell].range))
        }
    }

    // MARK: Points

    mutating func read(
        _ file: InputFile, into batch: inout WriteBatch, limits: BatchLimits
    ) throws(DatabaseError) -> Bool {
        let handle = batch.experiment(experiment.span)
        fields.forgetHandles(experiment: handle)
        tags.forgetHandles(experiment: handle)
        let source = copy ?? file
        var size = 0
        while let block {
            while nextRow < block.rows.count {
                let points = batch.rowCount + batch.refusals.count
                if points >= limits.points || size >= limits.sizeBytes && points > 0 {
                    return false
                }
                let row = block.rows[nextRow]
                nextRow += 1
                size += row.text.count + 1
                read(row, block, into: &batch)
            }
            self.block = try tokenizer.nextBlock(of: source)
            nextRow = 0
        }
        copy = nil
        return true
    }

    private mutating func read(
        _ row: CSVRow, _ block: CSVBlock, into batch: inout WriteBatch
    ) {
        if block.isBlank(row) { return }
        guard let problem = readCells(row, block, into: &batch) else { return }
        batch.abandonRow()
        block.refuse(
            row, into: &batch, column: problem.column, reason: problem.reason,
            participant: tags.participant(of: row, in: block))
    }

    private struct Problem {
        var reason: String
        var column = 0
    }

    /// Reads the cells of a row. Returns the problem if the row is not a point, else nil.
    private mutating func readCells(
        _ row: CSVRow, _ block: CSVBlock, into batch: inout WriteBatch
    ) -> Problem? {
        if let fault = block.fault(of: row) {
            return Problem(reason: fault.reason, column: fault.column)
        }
        guard let header, row.cells.count == header.names.count else {
            return Problem(
                reason: "found \(row.cells.count) cells, expected \(header?.names.count ?? 0) as "
                    + "in the header")
        }
        if let place = block.bytes.firstInvalidUTF8(in: row.text) {
            return Problem(reason: "invalid UTF-8", column: place - row.text.lowerBound + 1)
        }
        let timeCell = row.cells.lowerBound + header.timeColumn
        guard let time = CozieTime.read(block.bytes, block.cells[timeCell].range) else {
            let text = block.bytes.copy(block.cells[timeCell].range).prefix(60)
            return Problem(
                reason: "found \"\(String(decoding: text, as: UTF8.self))\" as the time, expected "
                    + "one such as 2025-10-15 02:25:21.570000+0000",
                column: block.column(of: timeCell, in: row))
        }
        let before = batch.valueCount
        fields.append(row, block, header.roles, to: &batch)
        guard batch.valueCount > before else {
            return Problem(reason: "the row has no values, only a time and tags")
        }
        let tagSet: WriteBatch.TagSetHandle
        do throws(DatabaseError) {
            tagSet = try tags.handle(row, block, in: &batch)
        } catch {
            return Problem(reason: error.message)
        }
        batch.endRow(tagSet: tagSet, time: time, line: row.line)
        return nil
    }
}
