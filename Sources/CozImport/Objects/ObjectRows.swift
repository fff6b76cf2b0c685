// Converts rows of JSON values to points of a batch.

internal import CozDB

struct ObjectRows {
    enum Outcome {
        case point
        case empty
        case refused(String)
    }

    /// The common properties of all rows of a series.
    struct Series {
        /// Nil if each row names its experiment.
        var experiment: [UInt8]?
        var tags: [(name: String, value: String)] = []
    }

    /// The tags of a series, looked up once for all of its rows.
    private struct SeriesTags {
        var names: Set<[UInt8]> = []
        /// The values by the names under which they are stored.
        var values: [[UInt8]: String] = [:]
    }

    /// The number of tags of a series whose rows have tags, too, since each different row then has
    /// a tag set of all of them.
    private static let seriesTagCountMax = 256

    /// The state of an experiment in one batch.
    private struct Plan {
        var name: [UInt8]
        var handle: WriteBatch.ExperimentHandle
        /// The fields that have values, by column. A dictionary, because an array per experiment
        /// would need memory for experiments times columns.
        var fields: [Int: Field] = [:]
        /// Tag sets of the series with number `series`, by the row's tag cells.
        var tagSets: [[UInt8]: WriteBatch.TagSetHandle] = [:]
        var series = 0
        var mismatched = MismatchedColumns()
        /// Whether columns that may be tags are tags in this experiment, for those of its rows.
        var areTags: [Int: Bool] = [:]
    }

    /// The field of a column in one experiment.
    private struct Field {
        var type: FieldType?
        /// Whether a value of this import has decided the type. The database may have refused it.
        var isInferred = false
        /// The batch's handle for that type; nil before its first use.
        var handle: WriteBatch.ColumnHandle?
    }

    /// The cells that are the time and the experiment of a row, and their columns.
    private struct Chosen {
        var time: Int?
        var experiment: Int?
        var timeColumn: Int?
        var experimentColumn: Int?
    }

    /// The last field of a column, and its plan.
    private struct LastField {
        var plan = -1
        var field = Field()
    }

    private let options: ImportOptions
    let lookup: SchemaLookup
    private let nulls: NullTexts
    private let time: CellTime
    var columns: ObjectColumns
    var series = Series() {
        didSet {
            current = -1
            seriesNumber += 1
            knownSeriesTags = nil
        }
    }
    private var seriesNumber = 0
    private var knownSeriesTags: SeriesTags?
    private var plans: [Plan] = []
    private var planOfName: [[UInt8]: Int] = [:]
    /// Indexed by column.
    private var lastFields: [LastField] = []
    private var current = -1
    /// Whether the current plan is that of rows that do not name their experiment.
    private var isDefault = false
    private var tagKey: [UInt8] = []
    /// The types of fields that are new in this import.
    private var found: [[UInt8]: FieldType] = [:]

    init(_ options: ImportOptions) {
        self.options = options
        lookup = SchemaLookup(options)
        nulls = NullTexts(options)
        time = CellTime(
            format: options.table.timeFormat, precision: options.precision,
            zone: options.table.timeZone)
        columns = ObjectColumns(options, lookup)
    }

    /// Forgets the handles of the previous batch.
    mutating func forgetNumbers() {
        plans.removeAll(keepingCapacity: true)
        planOfName.removeAll(keepingCapacity: true)
        lastFields.removeAll(keepingCapacity: true)
        current = -1
    }

    // MARK: Rows

    /// Lets renamed columns keep their names if the row has the new name, too.
    mutating func keepNames(_ row: inout ObjectRow) {
        if options.renames.isEmpty { return }
        var names: Set<[UInt8]>?
        for (index, cell) in row.cells.enumerated() {
            guard let newName = columns.all[cell.column].newName else { continue }
            let present = names ?? presentFields(row)
            names = present
            guard present.contains(newName) || seriesTags().names.contains(newName) else {
                continue
            }
            row.move(index, to: columns.column(cell.column, keepingNameBeside: newName))
        }
    }

    private mutating func seriesTags() -> SeriesTags {
        if let knownSeriesTags { return knownSeriesTags }
        var tags = SeriesTags()
        for (name, value) in series.tags {
            let name = Array(name.utf8)
            tags.names.insert(name)
            tags.values[lookup.stored(name)] = value
        }
        knownSeriesTags = tags
        return tags
    }

    /// Returns the participant whom the tags of the series name; nil if they do not.
    mutating func participant(in experiment: [UInt8]?) -> String? {
        seriesTags().values[lookup.participantTag(of: experiment)]
    }

    /// The names of the cells of a row that are not left out. An empty tag is none.
    private func presentFields(_ row: borrowing ObjectRow) -> Set<[UInt8]> {
        var names: Set<[UInt8]> = []
        for cell in row.cells where !isNull(cell, row.texts) {
            let column = columns.all[cell.column]
            let isTag = column.role == .tag || column.isParticipant || column.mayBeTag
            if column.role == .ignored || isTag && cell.text.isEmpty { continue }
            names.insert(column.name)
        }
        return names
    }

    /// Adds one row.
    ///
    /// - Throws: `usage` for a time that is implausible in the import's precision.
    mutating func add(
        _ row: borrowing ObjectRow, line: Int, to batch: inout WriteBatch
    ) throws(DatabaseError) -> Outcome {
        if let problem = row.problem { return .refused(problem) }
        let timeCell = best(.time, row)
        let experimentCell = best(.experiment, row)
        var nanoseconds = options.now?.nanoseconds
        if let timeCell {
            let cell = row.cells[timeCell]
            guard cell.kind != .boolean, !cell.text.isEmpty else {
                return .refused("the time is empty or a boolean, expected a time")
            }
            switch time.read(row.texts, cell.text) {
            case .time(let value): nanoseconds = value
            case .unreadable(let reason):
                let found = CellValue.excerpt(row.texts, cell.text)
                return .refused("the time \(found): \(reason)")
            case .implausible(let reason):
                throw DatabaseError(
                    .usage, "line \(line): \(reason)", file: batch.source,
                    remedy: .change([.precision, .timeFormat]))
            }
        }
        guard let nanoseconds else {
            return .refused(
                "no time found, expected a key such as \"time\"; name the key with the time, or "
                    + "give all rows one time")
        }
        if let problem = select(experimentCell, row, &batch) { return .refused(problem) }
        findTagColumns(row)
        let chosen = Chosen(
            time: timeCell, experiment: experimentCell,
            timeColumn: timeCell.map { row.cells[$0].column },
            experimentColumn: experimentCell.map { row.cells[$0].column })
        // A refused row must not decide the type of a new field.
        var hasFields = false
        for (index, cell) in row.cells.enumerated() where role(cell, index, chosen) == .field {
            if isNull(cell, row.texts) { continue }
            if let problem = problem(cell) { return .refused(problem) }
            hasFields = true
        }
        guard hasFields else { return .empty }
        switch tagSet(row, chosen, &batch) {
        case .failure(let problem): return .refused(problem.reason)
        case .success(let tagSet):
            for (index, cell) in row.cells.enumerated()
            where role(cell, index, chosen) == .field && !isNull(cell, row.texts) {
                append(cell, row.texts, &batch)
            }
            batch.endRow(tagSet: tagSet, time: nanoseconds, line: line)
            return .point
        }
    }

    /// Refuses a row.
    ///
    /// - Parameter participant: whose row it is, if that is known.
    func refuse(
        _ text: [UInt8], _ place: JSONPlace, _ reason: String, _ participant: String?,
        _ batch: inout WriteBatch
    ) {
        var refusal = Refusal(
            subject: .line(text), reason: reason, source: batch.source, line: place.line,
            column: place.column)
        refusal.participant = participant
        batch.refuse(refusal)
    }

    /// Returns whose row it is, as far as its cells say so, also if it cannot be stored.
    mutating func participant(of row: borrowing ObjectRow) -> String? {
        let experiment =
            best(.experiment, row).map { row.texts.copy(row.cells[$0].text) } ?? series.experiment
            ?? options.experiment.map { Array($0.utf8) }
        let tag = lookup.participantTag(of: experiment)
        // `id_participant` names a participant in every experiment.
        var (owner, standard) = (participant(in: experiment), String?.none)
        for cell in row.cells where !cell.text.isEmpty && !isNull(cell, row.texts) {
            let column = columns.all[cell.column]
            let mayBeTag = column.role == .tag || column.role == .field && column.mayBeTag
            let isOwner =
                column.isParticipant
                || mayBeTag && (lookup.isStored(column.name, as: tag) || column.name == tag)
            guard isOwner || mayBeTag && column.name.elementsEqual("id_participant".utf8) else {
                continue
            }
            let text = String(decoding: row.texts.copy(cell.text), as: UTF8.self)
            if isOwner { owner = text } else { standard = text }
        }
        return owner ?? standard ?? options.participant
    }

    /// Returns the cell of the best column for a role; the last one if the key is duplicated.
    private func best(_ role: ObjectColumn.Role, _ row: borrowing ObjectRow) -> Int? {
        var best: Int?
        for (index, cell) in row.cells.enumerated()
        where columns.all[cell.column].role == role && !isNull(cell, row.texts) {
            let rank = columns.all[cell.column].rank
            if let known = best, columns.all[row.cells[known].column].rank < rank { continue }
            best = index
        }
        return best
    }

    /// Finds out which columns of a row are tags in the current experiment.
    private mutating func findTagColumns(_ row: borrowing ObjectRow) {
        for cell in row.cells where columns.all[cell.column].mayBeTag {
            if plans[current].areTags[cell.column] != nil { continue }
            let column = columns.all[cell.column]
            // A column that is renamed, and has no new name here, keeps its own.
            let stored = lookup.stored(column.name)
            plans[current].areTags[cell.column] = lookup.isTag(
                column.name, in: plans[current].name,
                beside: column.newName == nil ? [stored] : [])
        }
    }

    /// Returns the role of a cell in its row.
    ///
    /// - Parameter chosen: the cells that are the time and the experiment of the row.
    private func role(
        _ cell: ObjectCell, _ index: Int, _ chosen: Chosen
    ) -> ObjectColumn.Role {
        let column = columns.all[cell.column]
        var role = column.role
        if role == .time || role == .experiment {
            if index == chosen.time || index == chosen.experiment { return role }
            // Of two equal keys the last one counts.
            if cell.column == chosen.timeColumn || cell.column == chosen.experimentColumn {
                return .ignored
            }
            role = column.otherRole
        }
        guard role == .field, column.mayBeTag else { return role }
        return plans[current].areTags[cell.column] == true ? .tag : .field
    }

    /// Makes the plan of the row's experiment current; returns an error if there is no valid name.
    private mutating func select(
        _ cell: Int?, _ row: borrowing ObjectRow, _ batch: inout WriteBatch
    ) -> String? {
        if current >= 0, cell == nil, isDefault { return nil }
        var name = series.experiment ?? Array((options.experiment ?? "").utf8)
        if let cell { name = row.texts.copy(row.cells[cell].text) }
        guard (1...DatabaseOptions.nameSizeBytesMax).contains(name.count) else {
            return name.isEmpty
                ? "no experiment found, expected a key such as \"measurement\" or an experiment "
                    + "for all rows"
                : "the name of the experiment has \(name.count) bytes, expected at most "
                    + "\(DatabaseOptions.nameSizeBytesMax)"
        }
        isDefault = cell == nil
        if current >= 0, plans[current].name == name { return nil }
        if let known = planOfName[name] {
            current = known
        } else {
            current = plans.count
            planOfName[name] = current
            plans.append(Plan(name: name, handle: batch.experiment(name.span)))
        }
        return nil
    }

    /// Whether a cell has a text that stands for no value.
    private func isNull(_ cell: ObjectCell, _ texts: PaddedBytes) -> Bool {
        cell.kind == .string && nulls.contains(texts, cell.text)
    }

    // MARK: Fields

    /// Returns why a row with this field is refused; nil if it is not.
    private func problem(_ cell: ObjectCell) -> String? {
        if cell.kind == .string, cell.text.count > TableRows.stringSizeBytesMax {
            return "a string of \(cell.text.count) bytes, expected at most "
                + "\(TableRows.stringSizeBytesMax)"
        }
        let column = columns.all[cell.column]
        guard (1...DatabaseOptions.nameSizeBytesMax).contains(column.name.count) else {
            return "the name of the field has \(column.name.count) bytes, expected 1 to "
                + "\(DatabaseOptions.nameSizeBytesMax)"
        }
        if column.name.elementsEqual("time".utf8) {
            return "a field is named \"time\", which is reserved; rename it"
        }
        return nil
    }

    private mutating func append(
        _ cell: ObjectCell, _ texts: PaddedBytes, _ batch: inout WriteBatch
    ) {
        let column = columns.all[cell.column]
        let field = resolve(cell, column)
        let (type, bits) = value(cell, texts, as: field.type)
        let experiment = plans[current].handle
        let isLarge = type == .integer && Int64(bitPattern: bits).magnitude > 1 << 53
        // A smaller number is an integer only if the field is one.
        let hasFieldType = field.type == type && !(field.isInferred && isLarge)
        let handle: WriteBatch.ColumnHandle
        if hasFieldType, let known = field.handle {
            handle = known
        } else if hasFieldType {
            handle = batch.column(
                experiment: experiment, name: column.name.span, type: type,
                isTyped: !(field.isInferred && type == .integer))
            var field = field
            field.handle = handle
            keep(field, of: cell.column)
        } else {
            // A type that was only inferred is that of the field once a value is stored.
            handle = plans[current].mismatched.handle(
                column.name, cell.column, type, asked: column.askedType, experiment, &batch)
        }
        let stored =
            type == .string ? texts.withSpan(cell.text) { batch.string($0).bits } : bits
        batch.append(column: handle, bits: stored)
    }

    /// Returns the field of a column in the current experiment; infers its type once.
    private mutating func resolve(_ cell: ObjectCell, _ column: ObjectColumn) -> Field {
        if cell.column < lastFields.count, lastFields[cell.column].plan == current {
            return lastFields[cell.column].field
        }
        if let known = plans[current].fields[cell.column] {
            remember(known, of: cell.column)
            return known
        }
        let name = plans[current].name
        let stored = lookup.stored(column.name, keepsName: column.keepsName)
        let key = SchemaLookup.key(stored, of: name)
        let known = lookup.type(ofStored: stored, in: name)
        var type = column.type ?? known ?? found[key]
        if type == nil {
            switch cell.kind {
            case _ where column.place == .integerFields: type = .integer
            case .integer:
                // A float holds few larger numbers.
                type = Int64(bitPattern: cell.bits).magnitude > 1 << 53 ? .integer : .float
            case .float: type = .float
            case .boolean: type = .boolean
            case .string: type = .string
            }
            found[key] = type
        }
        let field = Field(type: type, isInferred: known == nil && column.askedType == nil)
        keep(field, of: cell.column)
        return field
    }

    private mutating func keep(_ field: Field, of column: Int) {
        plans[current].fields[column] = field
        remember(field, of: column)
    }

    private mutating func remember(_ field: Field, of column: Int) {
        while lastFields.count <= column { lastFields.append(LastField()) }
        lastFields[column] = LastField(plan: current, field: field)
    }

    /// Returns the type and bits to store. JSON does not distinguish 74 from 74.0, so a whole
    /// number is an integer only if the field is one or the key asks for it.
    private func value(
        _ cell: ObjectCell, _ texts: PaddedBytes, as type: FieldType?
    ) -> (FieldType, UInt64) {
        switch cell.kind {
        case .string: return (.string, 0)
        case .boolean: return (.boolean, cell.bits)
        case .float:
            let digits = cell.text.dropFirst(
                texts[cell.text.lowerBound] == NumberParsing.minus ? 1 : 0)
            guard type == .integer else { return (.float, cell.bits) }
            let number = Double(bitPattern: cell.bits)
            let isWhole = CellValue.isDigits(texts, digits)
            if isWhole, number == 0 { return (.integer, 0) }
            // Only the text is exact, as that of an integer of more than 64 bits.
            if isWhole || NumberParsing.isRounded(texts, cell.text, to: number) {
                return (.string, 0)
            }
            return (.float, cell.bits)
        case .integer:
            let number = Int64(bitPattern: cell.bits)
            let isWanted =
                type == .integer || columns.all[cell.column].place == .integerFields
            if isWanted { return (.integer, cell.bits) }
            let float = Double(number)
            if number.magnitude <= 1 << 53 { return (.float, float.bitPattern) }
            let isFloat = type == .float && Int64(exactly: float) == number
            return isFloat ? (.float, float.bitPattern) : (.integer, cell.bits)
        }
    }

    // MARK: Tags

    private mutating func tagSet(
        _ row: borrowing ObjectRow, _ chosen: Chosen,
        _ batch: inout WriteBatch
    ) -> Result<WriteBatch.TagSetHandle, TableProblem> {
        tagKey.removeAll(keepingCapacity: true)
        for (index, cell) in row.cells.enumerated()
        where role(cell, index, chosen) == .tag && !isNull(cell, row.texts) {
            for shift in [0, 8, 16, 24] {
                tagKey.append(UInt8(truncatingIfNeeded: cell.column >> shift))
                tagKey.append(UInt8(truncatingIfNeeded: cell.text.count >> shift))
            }
            row.texts.append(cell.text, to: &tagKey)
        }
        if plans[current].series != seriesNumber {
            plans[current].series = seriesNumber
            plans[current].tagSets = [:]
        }
        if let known = plans[current].tagSets[tagKey] { return .success(known) }
        if !tagKey.isEmpty || !isDefault, series.tags.count > ObjectRows.seriesTagCountMax {
            return .failure(
                TableProblem(
                    "its series has \(series.tags.count) tags, expected at most "
                        + "\(ObjectRows.seriesTagCountMax) where rows have tags or experiments"))
        }
        let participantTag = lookup.participantTag(of: plans[current].name)
        var tags = series.tags
        for (index, cell) in row.cells.enumerated() where role(cell, index, chosen) == .tag {
            // An empty tag counts as no tag and replaces nothing.
            if cell.text.isEmpty || isNull(cell, row.texts) { continue }
            let column = columns.all[cell.column]
            let name = column.isParticipant ? participantTag : column.name
            tags.append(
                (
                    String(decoding: name, as: UTF8.self),
                    String(decoding: row.texts.copy(cell.text), as: UTF8.self)
                ))
        }
        if let problem = TagList.settleParticipant(&tags, participantTag, options)
            ?? TagList.problem(tags)
        {
            return .failure(TableProblem(problem))
        }
        let handle = batch.tagSet(experiment: plans[current].handle, tags: tags)
        plans[current].tagSets[tagKey] = handle
        return .success(handle)
    }
}
