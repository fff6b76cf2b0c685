// Validates a batch against the schemas, converts its values and encodes it as a commit record. It
// reads no stored row, and nothing is changed before the whole batch is validated.

/// Encodes one batch.
struct CommitEncoder {
    /// The schemas, including the changes of this commit.
    private(set) var schemas: SchemaSet
    var report = WriteReport()
    private(set) var changes: [SchemaChange] = []
    var journal: CommitJournal
    /// The conflicts of values that the report already has.
    var conflicts: Set<TypeConflict> = []
    /// The received columns with these conflicts, by the locked type.
    var conflictingColumns: [Int: FieldType] = [:]
    /// The tags that name participants; nil until they are needed.
    var tagsOfParticipants: Set<Name>?
    var refusedPoint = RefusedPoint()
    /// The series of the last refused value: building a key for each value would be quadratic.
    var refusedTagSet: (number: Int, isStored: Bool, experiment: String, key: SeriesKey)?
    /// The same for values that the importer refused.
    var refusedKey: (experiment: Name, received: SeriesKey, key: SeriesKey)?

    /// The last key in which forgotten participants were looked for, and whether it names the owner
    /// of its row.
    var searchedKey: (tagSet: Int, source: Name, hasOwner: Bool, isForgotten: Bool)?
    /// What is refused of these participants is not kept.
    var forgotten: ForgottenNames

    let options: DatabaseOptions
    /// Whether an experiment of the batch refuses whole points for a type conflict.
    private var hasStrict = false
    private var experiments: [Int?]
    /// Of new experiments, before their first point is stored.
    private var newDeclarations: [Int: FieldDeclarations?] = [:]
    /// The experiment of each tag set, as numbered in the batch.
    private var tagSetExperiments: [Int]
    private var tagSets: [TagSetPlan?]
    private var columns: [ColumnPlan?]
    /// The plans of columns whose field does not exist yet, with the number of columns that their
    /// experiment had then.
    private var openColumns: [Int: (plan: ColumnPlan, columnCount: Int)] = [:]
    /// The distinct lists of received columns.
    private var layoutKeys = RowLayouts()
    /// The plan for each list; nil before its first row was stored.
    private var layouts: [LayoutPlan?] = []
    /// The cell forms of all layouts that are stored unchanged.
    private var forms: [CommitTableWriter.CellForm] = []
    /// The stored values of the current row.
    private var accepted: [BatchCell] = []
    private var acceptedForms: [CommitTableWriter.CellForm] = []
    private var refused: [Int] = []
    private var tables: [CommitTableWriter] = []
    private var tableOfExperiment: [Int: Int] = [:]
    /// The source of the current row.
    private(set) var source = ""

    /// How points with a tag set are stored.
    private enum TagSetPlan {
        case accepted(table: Int, number: Int)
        case refused(reason: String)
    }

    /// How values of a received column are stored.
    struct ColumnPlan {
        /// Index in the table's list of columns.
        var number: Int
        var conversion: Conversion
        var locked: FieldType
        /// Whether empty strings count as missing rather than as values of the wrong type.
        var dropsBlanks = false
        /// Whether conversions are counted; false for untyped input.
        var isTyped = true
        /// Why no value can be stored, whatever its type; nil if values can be.
        var fault: String?

        /// The plan for a value that is refused.
        fileprivate var refused: ColumnPlan {
            var plan = self
            plan.conversion = .refused
            return plan
        }
    }

    enum Conversion {
        case none
        case integerToFloat
        case floatToInteger
        case refused
    }

    /// How rows with one list of received columns are stored.
    private struct LayoutPlan {
        /// Number of the layout in the record; nil if each value has to be checked.
        var number: Int?
        /// Its cell forms, as a range of `forms`.
        var forms = 0..<0
    }

    /// - Parameter journal: an empty journal that receives the refusals of the batch.
    init(
        _ batch: borrowing WriteBatch, schemas: SchemaSet, options: DatabaseOptions,
        journal: CommitJournal, forgotten: ForgottenList
    ) {
        self.schemas = schemas
        self.forgotten = ForgottenNames(forgotten)
        self.options = options
        self.journal = journal
        experiments = Array(repeating: nil, count: batch.experiments.count)
        tagSets = Array(repeating: nil, count: batch.tagSets.count)
        tagSetExperiments = (0..<batch.tagSets.count).map { batch.experiment(ofTagSet: $0) }
        columns = Array(repeating: nil, count: batch.columns.count)
    }

    /// The record of the whole batch; nil if it changes nothing.
    ///
    /// - Throws: `usage` if the batch has a mistake, or if its settings contradict the stored ones.
    ///   Then nothing is changed.
    mutating func encode(_ batch: borrowing WriteBatch) throws(DatabaseError) -> [UInt8]? {
        if let mistake = batch.mistake { throw mistake }
        try checkStrings(batch)
        try checkSettings(batch)
        try checkExperiments(batch)
        report.points = batch.rowCount + batch.refusedLineCount
        for refusal in batch.refusals { refuse(refusal, of: batch) }
        declare(batch)
        var cellStart = 0
        var sources = batch.sources[...]
        let rows = batch.rows
        for index in rows.indices {
            let row = rows[index]
            if sources.first?.firstRow == index { source = sources.removeFirst().name }
            let cellEnd = Int(row.cellEnd)
            if journal.isReplay { journal.beginReplay(ofRow: Int(row.line)) }
            try encode(row, cells: cellStart..<cellEnd, of: batch)
            cellStart = cellEnd
        }
        endRefusedPoint()
        try checkWhole(batch)
        try checkLimits(journalCount: journal.count)
        report.unkeptRefusals = journal.droppedCount
        if report.values == 0, journal.count == 0, changes.isEmpty { return nil }
        return record(of: batch)
    }

    // MARK: Settings and schemas

    private mutating func checkSettings(_ batch: borrowing WriteBatch) throws(DatabaseError) {
        try batch.settings.identity?.check()
        for index in 0..<batch.experiments.count {
            if let schema = schemas.named(batch.experiments.text(index)) {
                try schema.check(batch.settings)
                if schema.typeRule == .strict { hasStrict = true }
            } else if let name = batch.settings.preset {
                _ = try preset(name)
            } else if let preset = batch.suggestedPresets[index] ?? batch.suggestedPreset {
                try check(preset)
            }
        }
        for declaration in batch.declarations {
            try check(declaration.field)
        }
    }

    /// The preset with this name: the stored one, else the registered one.
    private func preset(_ name: String) throws(DatabaseError) -> SchemaPreset? {
        if Name(name) == Name(SchemaPreset.none) { return nil }
        if let stored = schemas.preset(name) { return stored }
        if let preset = options.presets.first(where: { Name($0.name) == Name(name) }) {
            try check(preset)
            return preset
        }
        let known = options.presets.map(\.name) + [SchemaPreset.none]
        throw DatabaseError(
            .usage,
            "found the unknown preset \"\(name)\", expected one of "
                + "\(known.joined(separator: ", ")). Nothing was stored",
            remedy: .change([.preset]))
    }

    /// The id of an experiment, which is created if it is new.
    private mutating func experiment(_ index: Int, of batch: borrowing WriteBatch) -> Int {
        if let known = experiments[index] { return known }
        let name = batch.experiments.text(index)
        if let schema = schemas.named(name) {
            experiments[index] = schema.id
            return schema.id
        }
        let settings = batch.settings
        let preset = preset(ofNew: index, in: batch)
        if let preset, schemas.preset(preset.name) == nil { add(.preset(preset)) }
        let schema = ExperimentSchema(
            id: schemas.nextID, name: name, identity: settings.identity ?? .standard,
            typeRule: settings.typeRule ?? .lossless, preset: preset?.name ?? SchemaPreset.none)
        add(.experiment(schema))
        experiments[index] = schema.id
        return schema.id
    }

    /// The preset of an experiment that is new; nil if it has none.
    private func preset(ofNew index: Int, in batch: borrowing WriteBatch) -> SchemaPreset? {
        guard let name = batch.settings.preset else {
            return (batch.suggestedPresets[index] ?? batch.suggestedPreset)
                .flatMap { schemas.preset($0.name) ?? $0 }
        }
        // Cannot fail: `checkSettings` has checked it.
        return (try? preset(name)).flatMap(\.self)
    }

    /// Adds the new declarations of the batch. An existing field keeps its type; the report names
    /// the conflict.
    private mutating func declare(_ batch: borrowing WriteBatch) {
        for (index, field) in batch.declarations {
            let id = experiment(index, of: batch)
            guard let schema = schemas[id] else { continue }
            if schema.ownDeclaration(of: field.name) == field { continue }
            if let column = schema.field(field.name), column.type != field.type {
                report.conflicts.append(
                    TypeConflict(
                        experiment: schema.name, field: field.name, locked: column.type,
                        received: field.type))
            }
            add(.declaration(experiment: id, field))
        }
    }

    private mutating func add(_ change: SchemaChange) {
        schemas.apply(change)
        changes.append(change)
    }

    /// The index of the table of an experiment in this record.
    private mutating func table(_ experiment: Int) -> Int {
        if let known = tableOfExperiment[experiment] { return known }
        tables.append(CommitTableWriter(experiment: experiment))
        tableOfExperiment[experiment] = tables.count - 1
        return tables.count - 1
    }

    // MARK: Tag sets

    /// Why points with this tag set cannot be stored; nil if they can. Creates nothing.
    private func refusalReason(_ tagSet: WriteBatch.ReceivedTagSet, in batch: borrowing WriteBatch)
        -> String?
    {
        let schema = schemas.named(batch.experiments.text(tagSet.experiment))
        let identity = schema?.identity ?? batch.settings.identity ?? .standard
        for name in identity.tagNames
        where !tagSet.tags.contains(where: { Name($0.name) == Name(name) }) {
            return "missing identity tag \(name); use another tag as the participant tag, "
                + "assume one participant for all lines, or use all tags as the identity"
        }
        return limitReason(tagSet, schema, identity)
    }

    private mutating func plan(tagSet index: Int, of batch: borrowing WriteBatch) -> TagSetPlan {
        if let known = tagSets[index] { return known }
        let tagSet = batch.receivedTagSet(index)
        if let reason = refusalReason(tagSet, in: batch) {
            tagSets[index] = .refused(reason: reason)
            return .refused(reason: reason)
        }
        let experiment = experiment(tagSet.experiment, of: batch)
        let table = table(experiment)
        let identity = schemas[experiment]?.identity ?? .standard
        let key = SeriesKey(tags: tagSet.tags.filter { identity.contains($0.name) })
        let attributes = tagSet.tags.filter { !identity.contains($0.name) }
        tables[table].tagSets.appendBlob(key.bytes)
        tables[table].tagSets.appendVarint(attributes.count)
        for attribute in attributes {
            let id = attributeID(attribute.name, in: experiment)
            tables[table].tagSets.appendVarint(id)
            tables[table].tagSets.appendText(attribute.value)
        }
        let plan = TagSetPlan.accepted(table: table, number: tables[table].tagSetCount)
        tables[table].tagSetCount += 1
        tagSets[index] = plan
        return plan
    }

    private mutating func attributeID(_ name: String, in experiment: Int) -> ColumnID {
        if let known = schemas[experiment]?.attribute(name) { return known.id }
        let id = schemas[experiment]?.columnCount ?? 0
        add(
            .column(
                experiment: experiment, Column(id: id, name: name, kind: .attribute, type: .string))
        )
        return id
    }

    // MARK: Columns

    /// How values of a received column are stored. Does not create a new field.
    private func conversion(
        _ received: WriteBatch.ReceivedColumn, in schema: ExperimentSchema?
    ) -> (conversion: Conversion, locked: FieldType, id: ColumnID?) {
        let column = schema?.field(received.name)
        let locked =
            column?.type ?? schema?.declaration(of: received.name)?.type ?? received.newFieldType
        let conversion: Conversion
        if locked == received.type {
            conversion = .none
        } else if schema?.typeRule == .strict, received.isTyped {
            conversion = .refused
        } else if locked == .float, received.type == .integer {
            conversion = .integerToFloat
        } else if locked == .integer, received.type == .float, !received.isRounded {
            conversion = .floatToInteger
        } else {
            conversion = .refused
        }
        return (conversion, locked, column?.id)
    }

    private mutating func plan(
        column index: Int, for cell: BatchCell, table: Int, of batch: borrowing WriteBatch
    ) -> ColumnPlan {
        if let known = columns[index] { return known }
        let experiment = tables[table].experiment
        let columnCount = schemas[experiment]?.columnCount ?? 0
        if let open = openColumns[index], open.columnCount == columnCount,
            CommitEncoder.storedBits(cell.bits, open.plan.conversion) == nil
        {
            return open.plan.refused
        }
        let received = batch.receivedColumn(index)
        var (conversion, locked, id) = conversion(received, in: schemas[experiment])
        let fault = id == nil ? fault(ofField: received.name, in: schemas[experiment]) : nil
        if fault != nil { conversion = .refused }
        if let type = received.fieldType, type == locked, type != received.type, fault == nil,
            schemas[experiment]?.declaration(of: received.name) == nil
        {
            add(.declaration(experiment: experiment, SchemaPreset.Field(received.name, type)))
            openColumns.removeAll()
        }
        var plan = ColumnPlan(
            number: 0, conversion: conversion, locked: locked,
            dropsBlanks: received.dropsBlanks, isTyped: received.isTyped, fault: fault)
        if id == nil, CommitEncoder.storedBits(cell.bits, conversion) == nil {
            // A refused value creates no field. The next value may be accepted.
            openColumns[index] = (plan, columnCount)
            return plan.refused
        }
        if id == nil {
            let declared = schemas[experiment]?.declaration(of: received.name)
            let column = Column(
                id: columnCount, name: received.name, kind: .field,
                type: locked, unit: declared?.unit ?? "", note: declared?.note ?? "")
            add(.column(experiment: experiment, column))
            id = column.id
        }
        if conversion != .refused, let id {
            plan.number = tables[table].column(id, type: locked)
        }
        columns[index] = plan
        return plan
    }

    // MARK: Rows

    private mutating func encode(
        _ row: BatchRow, cells: Range<Int>, of batch: borrowing WriteBatch
    ) throws(DatabaseError) {
        // It stores nothing, not even its experiment.
        if cells.isEmpty { return }
        let tagSet = Int(row.tagSet)
        let rowCells = batch.cells.span.extracting(cells)
        let (layout, isNew) = layoutKeys.intern(rowCells, group: tagSetExperiments[tagSet])
        if isNew {
            try check(row, rowCells, of: batch)
            layouts.append(nil)
        }
        let range = Timestamp.min.nanoseconds...Timestamp.max.nanoseconds
        let conflict =
            range.contains(row.time)
            ? strictConflict(row, cells, of: batch) : "the time is out of range"
        if let conflict { return refuseLine(row, cells, of: batch, reason: conflict) }
        guard case .accepted(let table, let number) = plan(tagSet: tagSet, of: batch) else {
            if case .refused(let reason) = tagSets[tagSet] {
                refuseLine(row, cells, of: batch, reason: reason)
            }
            return
        }
        if let plan = layouts[layout], let plain = plan.number {
            // A span of a property would access all of self.
            let forms = forms
            report.values += cells.count
            tables[table].appendRow(
                tagSet: number, time: row.time, layout: plain, cells: rowCells,
                forms: forms.span.extracting(plan.forms))
            return
        }
        accept(row, cells, table: table, of: batch)
        if !accepted.isEmpty {
            let (cells, forms) = (accepted, acceptedForms)
            report.values += cells.count
            let layout = tables[table].layout(cells.span)
            tables[table].appendRow(
                tagSet: number, time: row.time, layout: layout, cells: cells.span,
                forms: forms.span)
        }
        if layouts[layout] == nil { layouts[layout] = plan(layout: layout, table: table) }
    }

    /// Plans a layout after its first row was stored. If no column needs a conversion, later rows
    /// of it are stored without checking each value.
    private mutating func plan(layout: Int, table: Int) -> LayoutPlan {
        var cells: [BatchCell] = []
        let formStart = forms.count
        // The last number is the group.
        for index in layoutKeys.range(layout).dropLast() {
            guard let plan = columns[Int(layoutKeys[index])], plan.conversion == .none else {
                forms.removeLast(forms.count - formStart)
                return LayoutPlan()
            }
            let number = UInt32(truncatingIfNeeded: plan.number)
            forms.append(CommitTableWriter.CellForm(column: number, type: plan.locked))
            cells.append(BatchCell(bits: 0, column: number))
        }
        return LayoutPlan(
            number: tables[table].layout(cells.span), forms: formStart..<forms.count)
    }

    /// Collects the values of a row that can be stored, converted to their columns' types, and
    /// refuses the others.
    private mutating func accept(
        _ row: BatchRow, _ cells: Range<Int>, table: Int, of batch: borrowing WriteBatch
    ) {
        accepted.removeAll(keepingCapacity: true)
        acceptedForms.removeAll(keepingCapacity: true)
        refused.removeAll(keepingCapacity: true)
        for index in cells {
            let cell = batch.cells[index]
            let plan = plan(column: Int(cell.column), for: cell, table: table, of: batch)
            var bits = cell.bits
            if plan.conversion != .none {
                guard let stored = CommitEncoder.storedBits(bits, plan.conversion) else {
                    if plan.dropsBlanks, batch.isBlank(cell) { continue }
                    refused.append(index)
                    continue
                }
                bits = stored
                if plan.isTyped { report.convertedValues += 1 }
            }
            let number = UInt32(truncatingIfNeeded: plan.number)
            accepted.append(BatchCell(bits: bits, column: number))
            acceptedForms.append(CommitTableWriter.CellForm(column: number, type: plan.locked))
        }
        for index in refused {
            let cell = batch.cells[index]
            let plan = plan(column: Int(cell.column), for: cell, table: table, of: batch)
            refuseValue(cell, plan, row, of: batch, isStored: !accepted.isEmpty)
        }
    }

    /// The bits in the stored type; nil if the conversion would change the number.
    private static func storedBits(_ bits: UInt64, _ conversion: Conversion) -> UInt64? {
        switch conversion {
        case .none: return bits
        case .refused: return nil
        case .integerToFloat:
            let value = Int64(bitPattern: bits)
            return value.magnitude <= 1 << 53 ? Double(value).bitPattern : nil
        case .floatToInteger:
            return Int64(exact: Double(bitPattern: bits)).map { UInt64(bitPattern: $0) }
        }
    }

    // MARK: Refusals

    /// InfluxDB's reason for refusing a whole point under `strict`; nil if all types agree.
    private mutating func strictConflict(
        _ row: BatchRow, _ cells: Range<Int>, of batch: borrowing WriteBatch
    ) -> String? {
        let rule = batch.settings.typeRule
        // Skips the work below unless an experiment is strict.
        guard rule == .strict || hasStrict else { return nil }
        let experiment = batch.experiment(ofTagSet: Int(row.tagSet))
        let name = batch.experiments.text(experiment)
        let schema = schemas.named(name)
        guard (schema?.typeRule ?? rule) == .strict else { return nil }
        let preset = schema == nil ? declarations(ofNew: experiment, in: batch) : nil
        var seen: [Name: FieldType] = [:]
        for index in cells {
            let received = batch.receivedColumn(Int(batch.cells[index].column))
            if received.dropsBlanks, batch.isBlank(batch.cells[index]) { continue }
            let locked =
                schema?.field(received.name)?.type ?? schema?.declaration(of: received.name)?.type
                ?? preset?.declaration(of: received.name)?.type ?? seen[Name(received.name)]
                ?? received.fieldType
            if let locked, !received.mayBecome(locked) {
                return "partial write: field type conflict: input field \"\(received.name)\" on "
                    + "measurement \"\(name)\" is type \(received.type.name), already exists as "
                    + "type \(locked.name)"
            }
            seen[Name(received.name)] = locked ?? received.newFieldType
        }
        return nil
    }

    /// What the preset of an experiment declares that gets its first point.
    private mutating func declarations(
        ofNew experiment: Int, in batch: borrowing WriteBatch
    ) -> FieldDeclarations? {
        if let known = newDeclarations[experiment] { return known }
        let declarations = preset(ofNew: experiment, in: batch).map { FieldDeclarations($0) }
        newDeclarations[experiment] = .some(declarations)
        return declarations
    }

    // MARK: Bytes

    private func record(of batch: borrowing WriteBatch) -> [UInt8] {
        let rowsSize = tables.reduce(0) { $0 + $1.sizeBytes }
        var writer = ByteWriter(capacity: rowsSize + batch.strings.heapSizeBytes + 4096)
        writer.append(CommitRecord.version)
        writer.appendVarint(changes.count)
        for change in changes { writer.append(change) }
        journal.append(to: &writer)
        writer.appendVarint(batch.strings.count)
        for number in 0..<batch.strings.count {
            let range = batch.strings.range(number)
            writer.appendVarint(range.count)
            writer.append(batch.strings.heap.span.extracting(range))
        }
        writer.appendVarint(tables.count)
        for table in tables { table.append(to: &writer) }
        return writer.bytes
    }
}
