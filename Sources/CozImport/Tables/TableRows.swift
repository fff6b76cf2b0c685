// Converts rows of a table to points of a batch. Allocates nothing for a row whose experiment and
// tags are already in the batch.

internal import CozDB

struct TableRows {
    enum Outcome {
        case point
        /// No field has a value.
        case empty
        /// What was found and expected, and the index of the cell in the row.
        case refused(String, cell: Int?)
    }

    /// The state of an experiment in one batch.
    struct Plan {
        var name: [UInt8]
        /// For each of `renamed`, whether it keeps its name.
        var kept: [Bool]
        /// The indices in `renamed` of those that are fields, as are the others of their new names.
        var renamedFields: [Int]
        var handle: WriteBatch.ExperimentHandle
        /// The tag that names participants.
        var participantTag: [UInt8]
        /// The type of each column of the layout; nil if it is unknown before the first value.
        var types: [FieldType?]
        /// The handle of each column for that type; nil before its first use.
        var handles: [WriteBatch.ColumnHandle?]
        /// Tag sets by the texts of all tag cells.
        var tagSets: [[UInt8]: WriteBatch.TagSetHandle] = [:]
        var mismatched = MismatchedColumns()
        /// The columns that are fields and tags of the experiment.
        var fields: [Int]
        var tags: [Int]
    }

    let options: ImportOptions
    let lookup: SchemaLookup
    private let nulls: NullTexts
    /// The tag that names participants in rows without an experiment of their own.
    private var participantTag: [UInt8] = []
    var layout = TableLayout()
    private var inferredTypes: [FieldType?] = []
    /// The columns that are fields and tags of the current experiment.
    private var fields: [Int] = []
    var tags: [Int] = []
    private var fieldName: Int?
    private var fieldValue: Int?
    private var time = CellTime(format: .automatic, precision: .nanoseconds, zone: nil)
    private var timeIndex: Int?
    private var experimentIndex: Int?
    private var constantTime: Int64?
    private var constantExperiment: [UInt8] = []
    var constantTags: [TableColumn] = []
    private var ownerColumns: OwnerColumns?
    private var constantFields: [TableColumn] = []
    /// Renamed columns beside one of the new name. They keep their names in rows that have both.
    private var renamed: [RenamedColumn] = []
    /// About the size of what a row gets from annotations, whatever its own size.
    private(set) var constantSizeBytes = 0
    /// Types inferred in this import, so that later files use the same types.
    private var found: [[UInt8]: FieldType] = [:]

    // The state that belongs to one batch.
    var plans: [Plan] = []
    private var planOfName: [[UInt8]: Int] = [:]
    var current = -1
    var tagKey: [UInt8] = []
    var lastTagKey: [UInt8] = []
    var lastTagSet = WriteBatch.TagSetHandle.none

    init(_ options: ImportOptions, lookup: SchemaLookup) {
        self.options = options
        self.lookup = lookup
        nulls = NullTexts(options)
    }

    /// Begins a table.
    ///
    /// - Parameter types: the types inferred from the file's cells; empty if they are not needed.
    /// - Throws: `usage` for a constant time that cannot be parsed.
    mutating func begin(
        _ layout: TableLayout, types: [FieldType?], file: String
    ) throws(DatabaseError) {
        self.layout = layout
        inferredTypes = types
        let columns = layout.columns
        fieldName = layout.index(of: .fieldName)
        fieldValue = layout.index(of: .fieldValue)
        timeIndex = layout.index(of: .time)
        experimentIndex = layout.index(of: .experiment)
        ownerColumns = OwnerColumns(columns, lookup)
        time = CellTime(
            format: timeFormat(timeIndex.flatMap { columns[$0].timeFormat }),
            precision: options.precision, zone: layout.zone ?? options.table.timeZone)
        constantTags = layout.constants.filter { $0.role == .tag }
        constantFields = layout.constants.filter { $0.role == .field }
        renamed = RenamedColumn.all(in: layout, lookup)
        constantExperiment =
            layout.constants.last { $0.role == .experiment }?.defaultValue
            ?? Array((options.experiment ?? "").utf8)
        participantTag = lookup.participantTag(of: constantExperiment)
        constantSizeBytes = (layout.constants + columns).reduce(0) { size, column in
            column.defaultValue.isEmpty
                ? size : size + column.name.count + column.defaultValue.count
        }
        constantTime = options.now?.nanoseconds
        for column in layout.constants + columns
        where column.role == .time && !column.defaultValue.isEmpty {
            constantTime = try timeOf(column, file: file)
        }
        forgetNumbers()
    }

    /// Returns the time format. The option overrides the format declared in the table.
    private func timeFormat(_ own: TableTimeFormat?) -> TableTimeFormat {
        if case .automatic = options.table.timeFormat { return own ?? .automatic }
        return options.table.timeFormat
    }

    private func timeOf(_ column: TableColumn, file: String) throws(DatabaseError) -> Int64 {
        var reader = time
        reader.format = timeFormat(column.timeFormat)
        var buffer = PaddedBuffer()
        buffer.append(column.defaultValue.span)
        if case .time(let nanoseconds) = reader.read(buffer.bytes, 0..<buffer.count) {
            return nanoseconds
        }
        let text = String(decoding: column.defaultValue, as: UTF8.self)
        throw DatabaseError(
            .usage,
            "found \"\(text)\" as the constant time, expected RFC 3339, a number or a time in the "
                + "given format", file: file, remedy: .change([.timeFormat]))
    }

    /// Forgets the handles of the previous batch.
    mutating func forgetNumbers() {
        plans.removeAll(keepingCapacity: true)
        planOfName.removeAll(keepingCapacity: true)
        current = -1
    }

    // MARK: Rows

    /// Adds one row.
    ///
    /// - Throws: `usage` for a time that is implausible in the import's precision.
    mutating func add(
        _ row: CSVRow, of block: CSVBlock, to batch: inout WriteBatch
    ) throws(DatabaseError) -> Outcome {
        if let problem = checkCells(row, of: block) { return problem }
        let cells = row.cells.lowerBound
        var nanoseconds = constantTime
        if let timeIndex {
            let cell = block.cells[cells + timeIndex]
            let text = block.bytes
            if !cell.isEmpty, !isNull(text, cell.range) {
                let clock = layout.timeOfDay.map { block.cells[cells + $0].range }
                switch time.read(text, cell.range, clock: clock) {
                case .time(let value): nanoseconds = value
                case .unreadable(let reason):
                    let found = CellValue.excerpt(text, cell.range)
                    return .refused("the time \(found): \(reason)", cell: timeIndex)
                case .implausible(let reason):
                    throw DatabaseError(
                        .usage, "line \(row.line): \(reason)", file: batch.source,
                        remedy: .change([.precision, .timeFormat]))
                }
            }
        }
        guard let nanoseconds else {
            return .refused("the time is empty, expected a time", cell: timeIndex)
        }
        if let problem = selectExperiment(cells, block, &batch) { return problem }
        if let problem = appendRenamedFields(cells, block, &batch) {
            batch.abandonRow()
            return problem
        }
        guard batch.hasOpenRow else { return .empty }
        switch tagSet(cells, block, &batch) {
        case .success(let tagSet): batch.endRow(tagSet: tagSet, time: nanoseconds, line: row.line)
        case .failure(let problem):
            batch.abandonRow()
            return .refused(problem.reason, cell: problem.cell)
        }
        return .point
    }

    /// Returns whose row it is, as far as the table says so, also if it cannot be stored.
    func participant(of row: CSVRow, in block: CSVBlock) -> String? {
        func text(_ index: Int?) -> [UInt8] {
            guard let index, index < row.cells.count else { return [] }
            let cell = block.cells[row.cells.lowerBound + index].range
            return isNull(block.bytes, cell) ? [] : block.bytes.copy(cell)
        }
        let name = text(experimentIndex)
        let tag = lookup.participantTag(of: name.isEmpty ? constantExperiment : name)
        // `id_participant` names a participant in every experiment.
        var (owner, standard) = ([UInt8](), options.participant.map { Array($0.utf8) } ?? [])
        for column in constantTags where lookup.isStored(column.name, as: tag) {
            owner = column.defaultValue
        }
        var hasOwn = false
        for (index, column) in ownerColumns?.ofRow(cellCount: row.cells.count, tag: tag) ?? [] {
            var value: [UInt8]
            var isRenamed = false
            if column.role == .tagList {
                let pairs = TagList.pairs(String(decoding: text(index), as: UTF8.self)) ?? []
                value = Array((pairs.last { tag.elementsEqual($0.name.utf8) }?.value ?? "").utf8)
            } else {
                let mayBeTag = column.role == .tag || column.role == .field && column.mayBeTag
                let isOwner =
                    column.isParticipant
                    || mayBeTag && (lookup.isStored(column.name, as: tag) || column.name == tag)
                guard isOwner || mayBeTag && column.title == "id_participant" else { continue }
                value = text(index)
                if value.isEmpty { value = column.defaultValue }
                if !isOwner {
                    if !value.isEmpty { standard = value }
                    continue
                }
                isRenamed = !column.isParticipant && column.name != tag
            }
            // A renamed column keeps its name beside one that has the name of the tag.
            if value.isEmpty || isRenamed && hasOwn { continue }
            owner = value
            hasOwn = !isRenamed
        }
        let found = owner.isEmpty ? standard : owner
        return found.isEmpty ? nil : String(decoding: found, as: UTF8.self)
    }

    /// Returns a refusal if the row has the wrong number of cells or invalid UTF-8.
    private func checkCells(_ row: CSVRow, of block: CSVBlock) -> Outcome? {
        let expected = layout.columns.count
        guard block.fits(row, columnCount: expected) else {
            return .refused(
                "\(row.cells.count) cells, expected \(expected) as in the header in line "
                    + "\(layout.line)", cell: nil)
        }
        if let place = block.bytes.firstInvalidUTF8(in: row.text) {
            let cell = row.cells.first { block.cells[$0].range.upperBound >= place }
            return .refused(
                "invalid UTF-8, expected UTF-8", cell: cell.map { $0 - row.cells.lowerBound })
        }
        return nil
    }

    func isNull(_ text: PaddedBytes, _ range: Range<Int>) -> Bool {
        nulls.contains(text, range)
    }

    // MARK: Experiments

    /// Makes the plan of the row's experiment current; returns a refusal if it has no valid name.
    private mutating func selectExperiment(
        _ cells: Int, _ block: CSVBlock, _ batch: inout WriteBatch
    ) -> Outcome? {
        let kept = renamed.isEmpty ? [] : renamed.map { keepsName($0, cells, block) }
        let isKnown = current >= 0 && plans[current].kept == kept
        guard let experimentIndex else {
            if !isKnown { selectPlan(constantExperiment, kept, &batch) }
            return nil
        }
        let cell = block.cells[cells + experimentIndex]
        let text = block.bytes
        if isKnown, CellValue.equals(text, cell.range, plans[current].name) { return nil }
        if !cell.isEmpty, !isNull(text, cell.range) {
            guard cell.range.count <= DatabaseOptions.nameSizeBytesMax else {
                return .refused(
                    "the name of the experiment has \(cell.range.count) bytes, expected at most "
                        + "\(DatabaseOptions.nameSizeBytesMax)", cell: experimentIndex)
            }
            selectPlan(text.copy(cell.range), kept, &batch)
            return nil
        }
        let own = layout.columns[experimentIndex].defaultValue
        let name = own.isEmpty ? constantExperiment : own
        if name.isEmpty {
            return .refused("the experiment is empty, expected a name", cell: experimentIndex)
        }
        selectPlan(name, kept, &batch)
        return nil
    }

    /// Whether the row has a value under the new name of a column, too.
    private func keepsName(_ column: RenamedColumn, _ cells: Int, _ block: CSVBlock) -> Bool {
        column.isAlwaysKept
            || column.others.contains { other in
                let cell = block.cells[cells + other]
                return !cell.isEmpty && !isNull(block.bytes, cell.range)
            }
    }

    private mutating func selectPlan(
        _ name: [UInt8], _ kept: [Bool], _ batch: inout WriteBatch
    ) {
        lastTagKey.removeAll(keepingCapacity: true)
        let key = kept.isEmpty ? name : kept.map { $0 ? 1 : 0 } + name
        if let known = planOfName[key] {
            current = known
            (fields, tags) = (plans[known].fields, plans[known].tags)
            return
        }
        current = plans.count
        planOfName[key] = current
        let columns = layout.columns
        var keeping: [Int: Set<[UInt8]>] = [:]
        for (column, isKept) in zip(renamed, kept) where isKept {
            keeping[column.index] = [column.newName]
        }
        let types = columns.indices.map { index -> FieldType? in
            guard columns[index].role == .field else { return nil }
            return type(
                of: columns[index].name, in: name, column: columns[index], at: index,
                keepsName: keeping[index] != nil)
        }
        (fields, tags) = ([], [])
        for (index, column) in columns.enumerated() {
            let others = keeping[index] ?? []
            switch column.role {
            case .tag, .tagList: tags.append(index)
            case .field
            where column.mayBeTag
                && (lookup.isTagOfAll(column.name, beside: others)
                    || lookup.isTag(column.name, in: name, beside: others)):
                tags.append(index)
            case .field: fields.append(index)
            default: break
            }
        }
        let fieldSet = Set(fields)
        let renamedFields = renamed.indices.filter {
            fieldSet.contains(renamed[$0].index) && fieldSet.isSuperset(of: renamed[$0].others)
        }
        plans.append(
            Plan(
                name: name, kept: kept, renamedFields: renamedFields,
                handle: batch.experiment(name.span),
                participantTag: lookup.participantTag(of: name), types: types,
                handles: Array(repeating: nil, count: columns.count), fields: fields, tags: tags))
    }

    /// Returns the type of a field. Order of precedence: the table or options, the database, types
    /// inferred earlier in the import, types inferred from this file.
    private mutating func type(
        of field: [UInt8], in experiment: [UInt8], column: TableColumn, at index: Int,
        keepsName: Bool = false
    ) -> FieldType? {
        let stored = lookup.stored(field, keepsName: keepsName)
        let known = lookup.type(ofStored: stored, in: experiment)
        if let type = column.type ?? known { return type }
        let key = SchemaLookup.key(stored, of: experiment)
        if let type = found[key] { return type }
        guard index < inferredTypes.count, let type = inferredTypes[index] else { return nil }
        found[key] = type
        return type
    }

    // MARK: Fields

    /// Appends the fields of a row. Which renamed fields keep their names, and so have another
    /// type, is known only then: a cell beside them may have no value, as `NaN` among numbers.
    private mutating func appendRenamedFields(
        _ cells: Int, _ block: CSVBlock, _ batch: inout WriteBatch
    ) -> Outcome? {
        if let problem = appendFields(cells, block, &batch) { return problem }
        let places = plans[current].renamedFields
        if places.isEmpty || !batch.hasOpenRow { return nil }
        var kept = plans[current].kept
        let answers = batch.keepNames(places.map { renamed[$0].name })
        for (place, answer) in zip(places, answers) {
            kept[place] = answer || renamed[place].isAlwaysKept
        }
        if kept == plans[current].kept { return nil }
        batch.abandonRow()
        selectPlan(plans[current].name, kept, &batch)
        return appendFields(cells, block, &batch)
    }

    private mutating func appendFields(
        _ cells: Int, _ block: CSVBlock, _ batch: inout WriteBatch
    ) -> Outcome? {
        let text = block.bytes
        for index in fields {
            let cell = block.cells[cells + index]
            if cell.isEmpty {
                if cell.isQuoted, plans[current].types[index] ?? .string == .string {
                    append(text, cell.range, index, .string, &batch)
                } else if !layout.columns[index].defaultValue.isEmpty {
                    appendDefault(of: layout.columns[index], index, &batch)
                }
                continue
            }
            if !nulls.isEmpty && isNull(text, cell.range) { continue }
            guard cell.range.count <= TableRows.stringSizeBytesMax else {
                return .refused(
                    "a string of \(cell.range.count) bytes, expected at most "
                        + "\(TableRows.stringSizeBytesMax)", cell: index)
            }
            append(text, cell.range, index, nil, &batch)
        }
        for column in constantFields { appendDefault(of: column, nil, &batch) }
        if let fieldName, let fieldValue {
            return appendPair(cells, block, fieldName, fieldValue, &batch)
        }
        return nil
    }

    /// The same limit as in the database and in line protocol.
    static let stringSizeBytesMax = 1 << 20

    /// Appends the value of a cell to the open row.
    @inline(__always) private mutating func append(
        _ text: PaddedBytes, _ range: Range<Int>, _ index: Int, _ forced: FieldType?,
        _ batch: inout WriteBatch
    ) {
        guard let type = forced ?? plans[current].types[index] else {
            return appendFirst(text, range, index, &batch)
        }
        let value =
            forced == nil
            ? CellValue.read(text, range, as: type, layout.columns[index].notation)
            : .value(.string, bits: 0)
        guard case .value(type, let bits) = value else {
            let column = layout.columns[index]
            return appendMismatch(value, text, range, column.name, type, column, index, &batch)
        }
        let column: WriteBatch.ColumnHandle
        if let known = plans[current].handles[index] {
            column = known
        } else {
            let name = layout.columns[index].name
            column = batch.column(
                experiment: plans[current].handle, name: name.span, type: type)
            plans[current].handles[index] = column
        }
        let stored = type == .string ? TableRows.string(text, range, &batch) : bits
        batch.append(column: column, bits: stored)
    }

    private static func string(
        _ text: PaddedBytes, _ range: Range<Int>, _ batch: inout WriteBatch
    ) -> UInt64 {
        text.withSpan(range) { batch.string($0).bits }
    }

    /// Appends the first value of a column of unknown type, which sets the type.
    private mutating func appendFirst(
        _ text: PaddedBytes, _ range: Range<Int>, _ index: Int, _ batch: inout WriteBatch
    ) {
        var evidence = ColumnTypeInference()
        evidence.add(text, range, layout.columns[index].notation)
        let type = evidence.type ?? .string
        plans[current].types[index] = type
        let name = layout.columns[index].name
        let keepsName = zip(renamed, plans[current].kept).contains { $0.index == index && $1 }
        let stored = lookup.stored(name, keepsName: keepsName)
        found[SchemaLookup.key(stored, of: plans[current].name)] = type
        append(text, range, index, nil, &batch)
    }

    /// Appends a value whose type may not be that of its field. The database converts or refuses
    /// it. A type that was only inferred is that of the field once a value is stored.
    ///
    /// - Parameter index: the column of the layout that has the name; nil if rows have names.
    private mutating func appendMismatch(
        _ value: CellValue, _ text: PaddedBytes, _ range: Range<Int>, _ name: [UInt8],
        _ type: FieldType, _ source: TableColumn, _ index: Int?, _ batch: inout WriteBatch
    ) {
        let handle = plans[current].handle
        var (other, bits) = (FieldType.string, UInt64(0))
        switch value {
        case .null: return
        case .value(let type, let found): (other, bits) = (type, found)
        case .mismatch: break
        }
        let column = plans[current].mismatched.handle(
            name, index, other, asked: source.type, handle, &batch)
        if other == .string { bits = TableRows.string(text, range, &batch) }
        batch.append(column: column, bits: bits)
    }

    /// Appends the column's default value, if any.
    private mutating func appendDefault(
        of column: TableColumn, _ index: Int?, _ batch: inout WriteBatch
    ) {
        if column.defaultValue.isEmpty { return }
        var buffer = PaddedBuffer()
        buffer.append(column.defaultValue.span)
        appendNamed(
            buffer.bytes, 0..<buffer.count, column.name, column, index ?? Int.max, &batch)
    }

    /// Appends the value of a row that names its field in a cell.
    private mutating func appendPair(
        _ cells: Int, _ block: CSVBlock, _ nameIndex: Int, _ valueIndex: Int,
        _ batch: inout WriteBatch
    ) -> Outcome? {
        let text = block.bytes
        let nameCell = block.cells[cells + nameIndex]
        let cell = block.cells[cells + valueIndex]
        var column = layout.columns[valueIndex]
        var name = text.copy(nameCell.range)
        if name.isEmpty { name = layout.columns[nameIndex].defaultValue }
        if lookup.named.skipped.contains(name) { return nil }
        if let type = lookup.named.types[name] {
            (column.type, column.notation) = (type, column.notation.of(type))
        }
        guard (1...DatabaseOptions.nameSizeBytesMax).contains(name.count) else {
            return .refused(
                "the name of the field has \(name.count) bytes, expected 1 to "
                    + "\(DatabaseOptions.nameSizeBytesMax)", cell: nameIndex)
        }
        guard cell.range.count <= TableRows.stringSizeBytesMax else {
            return .refused(
                "a string of \(cell.range.count) bytes, expected at most "
                    + "\(TableRows.stringSizeBytesMax)", cell: valueIndex)
        }
        if cell.isEmpty && !cell.isQuoted {
            column.name = name
            appendDefault(of: column, valueIndex, &batch)
        } else if !isNull(text, cell.range) {
            appendNamed(text, cell.range, name, column, valueIndex, &batch)
        }
        return nil
    }

    private mutating func appendNamed(
        _ text: PaddedBytes, _ range: Range<Int>, _ name: [UInt8], _ column: TableColumn,
        _ index: Int, _ batch: inout WriteBatch
    ) {
        var evidence = ColumnTypeInference()
        if !range.isEmpty { evidence.add(text, range, column.notation) }
        let type =
            type(of: name, in: plans[current].name, column: column, at: index) ?? evidence.type
            ?? .string
        let value =
            range.isEmpty
            ? (type == .string ? .value(.string, bits: 0) : .null)
            : CellValue.read(text, range, as: type, column.notation)
        appendMismatch(value, text, range, name, type, column, nil, &batch)
    }
}
