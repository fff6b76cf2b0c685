// What a batch and a database must hold after any calls, said without handles, records or files.

@testable internal import CozDB

/// A batch as its caller means it.
struct BatchModel {
    /// A handle: what the batch had at a number when it gave it.
    struct Handle<Content: Equatable>: Equatable {
        var number: Int
        var content: Content
    }

    struct Column: Equatable {
        var experiment: String
        var name: [UInt8]
        var type: FieldType
        var isTyped: Bool
        /// The name in the input; nil if it is the same.
        var formerly: [UInt8]?
    }

    struct TagSet: Equatable {
        var experiment: String
        /// Sorted by name.
        var tags: [[String]]
    }

    struct Row {
        var tagSet: TagSet
        var time: Int64
        var values: [(column: Column, value: FieldValue)]
    }

    var experiments: [String] = []
    var columns: [Column] = []
    var tagSets: [TagSet] = []
    var strings: [[UInt8]] = []
    var rows: [Row] = []
    var openRow: [(column: Column, value: FieldValue)] = []
    var isOpenRowInvalid = false
    var refusedLines = 0
    var isWrong = false
    var isAllOrNothing = false
    var typeRule: TypeRule?
    /// No two names have the same new name.
    var renames: [String: String] = [:]
    /// Experiments with a declaration.
    var declared: [String] = []

    mutating func removeAll() {
        let before = self
        self = BatchModel()
        isAllOrNothing = before.isAllOrNothing
        typeRule = before.typeRule
        renames = before.renames
    }

    /// A field as the batch stores it, if its row does not have the new name, too.
    func column(
        _ experiment: String, _ name: [UInt8], _ type: FieldType, isTyped: Bool
    ) -> Column {
        let new = renames[String(decoding: name, as: UTF8.self)].map { Array($0.utf8) }
        return Column(
            experiment: experiment, name: new ?? name, type: type, isTyped: isTyped,
            formerly: new == nil ? nil : name)
    }

    /// Tags under their new names, except where the point has both.
    func renamed(_ tags: [[String]]) -> [[String]] {
        tags.map { tag in
            guard let new = renames[tag[0]], !tags.contains(where: { $0[0] == new }) else {
                return tag
            }
            return [new, tag[1]]
        }.sorted { $0[0] < $1[0] }
    }

    /// Adds the open row. A value keeps its old name if the row has one under the new name.
    mutating func addRow(_ tagSet: TagSet, time: Int64) {
        var row = Row(tagSet: tagSet, time: time, values: openRow)
        for index in row.values.indices {
            let column = row.values[index].column
            let hasBoth = openRow.contains { other, _ in
                other.formerly == nil && other.name == column.name
            }
            guard let old = column.formerly, hasBoth else { continue }
            row.values[index].column.name = old
            row.values[index].column.formerly = nil
            _ = BatchModel.intern(row.values[index].column, in: &columns)
        }
        rows.append(row)
    }

    static func intern<Content: Equatable>(
        _ content: Content, in list: inout [Content]
    ) -> Handle<Content> {
        if let number = list.firstIndex(of: content) {
            return Handle(number: number, content: content)
        }
        list.append(content)
        return Handle(number: list.count - 1, content: content)
    }

    /// Whether a handle means in this batch what it meant where it was given.
    static func has<Content: Equatable>(_ handle: Handle<Content>, _ list: [Content]) -> Bool {
        list.indices.contains(handle.number) && list[handle.number] == handle.content
    }

    static func isName(_ bytes: [UInt8]) -> Bool {
        (1...DatabaseOptions.nameSizeBytesMax).contains(bytes.count)
            && String(validating: bytes.span) != nil
    }
}

/// A database as its writer means it.
struct DatabaseModel {
    struct Cell: Hashable {
        var experiment: String
        var participant: String
        var time: Int64
        var column: String
        var isAttribute: Bool
    }

    var cells: [Cell: FieldValue] = [:]
    private var types: [String: [String: FieldType]] = [:]
    /// Of each experiment.
    private var typeRules: [String: TypeRule] = [:]

    /// What a write does, or why it must throw `usage`.
    struct Outcome {
        var refusedPoints = 0
        var refusedValues = 0
        var isRefused = false
    }

    mutating func write(_ batch: BatchModel) -> Outcome {
        var outcome = Outcome(refusedPoints: batch.refusedLines)
        let isWrong =
            batch.isWrong
            || batch.rows.contains { row in
                row.values.contains { $0.column.experiment != row.tagSet.experiment }
            }
        let differs = batch.experiments.contains { name in
            typeRules[name].map { batch.typeRule ?? $0 != $0 } ?? false
        }
        if isWrong || differs { return Outcome(isRefused: true) }
        var after = self
        for name in batch.declared { after.add(name, batch.typeRule) }
        for row in batch.rows { after.store(row, batch.typeRule, &outcome) }
        let refused = outcome.refusedPoints + outcome.refusedValues
        if batch.isAllOrNothing, refused > 0 { return Outcome(isRefused: true) }
        self = after
        return outcome
    }

    private mutating func add(_ experiment: String, _ typeRule: TypeRule?) {
        typeRules[experiment] = typeRules[experiment] ?? typeRule ?? .lossless
    }

    private mutating func store(
        _ row: BatchModel.Row, _ typeRule: TypeRule?, _ outcome: inout Outcome
    ) {
        // A row without values stores nothing and is refused for nothing.
        if row.values.isEmpty { return }
        let experiment = row.tagSet.experiment
        let participant = row.tagSet.tags.first { $0[0] == "id_participant" }?[1]
        let times = Timestamp.min.nanoseconds...Timestamp.max.nanoseconds
        guard let participant, times.contains(row.time),
            !row.tagSet.tags.contains(where: { $0[0] == "time" }),
            (typeRules[experiment] ?? typeRule) != .strict || isStrict(row)
        else {
            outcome.refusedPoints += 1
            return
        }
        func cell(_ name: String, isAttribute: Bool) -> Cell {
            Cell(
                experiment: experiment, participant: participant, time: row.time, column: name,
                isAttribute: isAttribute)
        }
        // Even if each of its values is refused.
        add(experiment, typeRule)
        var isStored = false
        for (column, value) in row.values {
            let name = String(decoding: column.name, as: UTF8.self)
            let isNumber = column.type == .integer && !column.isTyped
            let locked = types[experiment]?[name] ?? (isNumber ? .float : column.type)
            let isBlank = value == .string("") || value == .string(" ")
            if name != "time", let stored = DatabaseModel.converted(value, to: locked) {
                types[experiment, default: [:]][name] = locked
                cells[cell(name, isAttribute: false)] = stored
                isStored = true
            } else if !(isBlank && !column.isTyped) {
                outcome.refusedValues += 1
            }
        }
        guard isStored else { return }
        for tag in row.tagSet.tags where tag[0] != "id_participant" {
            cells[cell(tag[0], isAttribute: true)] = .string(tag[1])
        }
    }

    /// Whether all values of a row have the types of their fields.
    private func isStrict(_ row: BatchModel.Row) -> Bool {
        var locked = types[row.tagSet.experiment] ?? [:]
        return row.values.allSatisfy { column, value in
            if !column.isTyped, value == .string("") || value == .string(" ") { return true }
            let name = String(decoding: column.name, as: UTF8.self)
            let isNumber = column.type == .integer || column.type == .float
            let type = locked[name] ?? (!column.isTyped && isNumber ? .float : column.type)
            locked[name] = type
            return type == column.type
                || !column.isTyped && isNumber && (type == .float || type == .integer)
        }
    }

    // MARK: Statements

    func has(_ experiment: String) -> Bool { typeRules[experiment] != nil }

    func type(_ experiment: String, _ field: String) -> FieldType? { types[experiment]?[field] }

    mutating func drop(_ experiment: String) {
        (types[experiment], typeRules[experiment]) = (nil, nil)
        cells = cells.filter { $0.key.experiment != experiment }
    }

    /// Deletes the values of a field. A row goes with its last field.
    mutating func delete(_ experiment: String, field: String) {
        cells = cells.filter {
            $0.key.experiment != experiment || $0.key.isAttribute || $0.key.column != field
        }
        var left: Set<Cell> = []
        func row(_ cell: Cell) -> Cell {
            var row = cell
            (row.column, row.isAttribute) = ("", false)
            return row
        }
        for cell in cells.keys where !cell.isAttribute { left.insert(row(cell)) }
        cells = cells.filter { left.contains(row($0.key)) }
    }

    /// Returns false, and changes nothing, if a value would be lost.
    mutating func alter(_ experiment: String, field: String, to type: FieldType) -> Bool {
        guard let before = self.type(experiment, field) else { return false }
        var after = self
        for (cell, value) in cells
        where cell.experiment == experiment && !cell.isAttribute && cell.column == field {
            let cast =
                type == .string
                ? .string(DatabaseModel.text(value))
                : DatabaseModel.converted(value, to: type)
            guard let cast else { return false }
            after.cells[cell] = cast
        }
        guard before == type || type == .string || before == .integer else { return false }
        after.types[experiment]?[field] = type
        self = after
        return true
    }

    private static func text(_ value: FieldValue) -> String {
        switch value {
        case .string(let text): return text
        case .boolean(let flag): return flag ? "true" : "false"
        case .integer(let number): return "\(number)"
        case .float(let number):
            let isWhole = abs(number) <= 0x1p53 && number == number.rounded(.towardZero)
            return isWhole && (number != 0 || number.sign == .plus)
                ? "\(Int64(number))" : "\(number)"
        }
    }

    /// The same number in another type; nil where there is none.
    private static func converted(_ value: FieldValue, to type: FieldType) -> FieldValue? {
        switch (value, type) {
        case (.integer(let number), .float):
            return number.magnitude <= 1 << 53 ? .float(Double(number)) : nil
        case (.float(let number), .integer):
            guard let whole = Int64(exactly: number), whole != .min,
                number.sign == .plus || number != 0
            else { return nil }
            return .integer(whole)
        default: return value.type == type ? value : nil
        }
    }
}
