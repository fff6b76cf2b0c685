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

    mutating func removeAll() {
        let isAllOrNothing = isAllOrNothing
        self = BatchModel()
        self.isAllOrNothing = isAllOrNothing
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
        if isWrong { return Outcome(isRefused: true) }
        var after = self
        for row in batch.rows { after.store(row, &outcome) }
        let refused = outcome.refusedPoints + outcome.refusedValues
        if batch.isAllOrNothing, refused > 0 { return Outcome(isRefused: true) }
        self = after
        return outcome
    }

    private mutating func store(_ row: BatchModel.Row, _ outcome: inout Outcome) {
        // A row without values stores nothing and is refused for nothing.
        if row.values.isEmpty { return }
        let experiment = row.tagSet.experiment
        let participant = row.tagSet.tags.first { $0[0] == "id_participant" }?[1]
        let times = Timestamp.min.nanoseconds...Timestamp.max.nanoseconds
        guard let participant, times.contains(row.time),
            !row.tagSet.tags.contains(where: { $0[0] == "time" })
        else {
            outcome.refusedPoints += 1
            return
        }
        func cell(_ name: String, isAttribute: Bool) -> Cell {
            Cell(
                experiment: experiment, participant: participant, time: row.time, column: name,
                isAttribute: isAttribute)
        }
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
