// The columns of a table, as its header defines them.

internal import CozDB

struct TableColumn {
    /// The meaning of the cells.
    enum Role: Equatable {
        case ignored
        /// The name of the experiment.
        case experiment
        case time
        /// A value of the tag with the column's name.
        case tag
        /// All tags in one cell, as `influx` prints them: `host=a,region=b`.
        case tagList
        /// A value of the field with the column's name.
        case field
        /// The name of the field whose value is in the column `fieldValue`.
        case fieldName
        case fieldValue
    }

    /// How a value of the type is written.
    enum Notation: Equatable {
        case plain
        /// Unsigned integers; values up to 2^63 - 1 can be stored.
        case unsigned
        /// A duration such as `1h30m`, stored as integer nanoseconds.
        case duration
        /// Numbers with a decimal comma; points may separate groups of three digits: `1.234,5`.
        case decimalComma
        /// The decimal separator, and bytes to ignore in numbers.
        case number(decimal: UInt8, ignored: [UInt8])
        /// Words for true and false; an empty list stands for all other words.
        case boolean(true: [[UInt8]], false: [[UInt8]])
        /// A boolean as true, t, yes, y or 1, or as false, f, no, n or 0, in any case.
        case words

        /// Whether values of a type can be written like this.
        private func fits(_ type: FieldType) -> Bool {
            switch self {
            case .plain: true
            case .unsigned, .decimalComma, .number: type == .float || type == .integer
            case .duration: type == .integer
            case .boolean, .words: type == .boolean
            }
        }

        /// The notation of the same column if an option gives it another type.
        func of(_ type: FieldType) -> Notation { fits(type) ? self : .plain }
    }

    /// The name of the tag or field, in UTF-8.
    var name: [UInt8]
    var role = Role.field
    /// Whether an option makes the column the participant, whose tag the experiment decides.
    var isParticipant = false
    /// Whether the column is a tag in the experiments that have it as one, although it is a field.
    var mayBeTag = false
    /// The type of a field; nil: the type in the database, else inferred from the values.
    var type: FieldType?
    var notation = Notation.plain
    /// The value of an empty cell; empty: no value.
    var defaultValue: [UInt8] = []
    /// The format of a time column; nil: as in the import's options.
    var timeFormat: TableTimeFormat?

    init(name: [UInt8]) {
        self.name = name
    }

    /// The name for messages.
    var title: String { String(decoding: name, as: UTF8.self) }
}

/// The columns that may name the participant of a row. A refused row can be much shorter than the
/// header, so it must not cost as much as all columns.
struct OwnerColumns {
    private let all: [(index: Int, column: TableColumn)]
    /// Of the columns with a default value, those that may name the participant in every
    /// experiment, and those that do where their name is the participant's tag.
    private var withDefault: [Int] = []
    private var withDefaultByTag: [[UInt8]: [Int]] = [:]

    init(_ columns: [TableColumn], _ lookup: SchemaLookup) {
        all = columns.enumerated().filter { _, column in
            column.isParticipant || column.role == .tag || column.role == .tagList
                || column.role == .field && column.mayBeTag
        }.map { ($0, $1) }
        // A list of tags has no default value.
        for (place, (_, column)) in all.enumerated()
        where !column.defaultValue.isEmpty && column.role != .tagList {
            if column.isParticipant || column.title == "id_participant" {
                withDefault.append(place)
            } else {
                for name in Set([column.name, lookup.stored(column.name)]) {
                    withDefaultByTag[name, default: []].append(place)
                }
            }
        }
    }

    /// Returns the columns that may name the participant of a row of so many cells.
    ///
    /// - Parameter tag: The participant's tag in the experiment of the row.
    func ofRow(cellCount: Int, tag: [UInt8]) -> [(index: Int, column: TableColumn)] {
        let beyond = (withDefault + (withDefaultByTag[tag] ?? [])).sorted()
        return Array(all.prefix { $0.index < cellCount })
            + beyond.map { all[$0] }.filter { $0.index >= cellCount }
    }
}

struct TableLayout {
    var columns: [TableColumn] = []
    /// Values of all rows: columns without cells, whose value is their default.
    var constants: [TableColumn] = []
    /// The column with the time of day, if the time column has only the date.
    var timeOfDay: Int?
    /// The line of the header.
    var line = 0
    /// The time zone of times without an offset; nil: as in the import's options.
    var zone: TimeZoneRules?
    /// Whether the columns come from annotations.
    var isAnnotated = false

    /// Whether the type of some field must be looked up or inferred.
    var hasOpenTypes: Bool {
        columns.contains { $0.type == nil && ($0.role == .field || $0.role == .fieldValue) }
    }

    /// The names of its columns and constants.
    var names: Set<[UInt8]> {
        Set((columns + constants).filter { $0.role != .ignored }.map(\.name))
    }

    func index(of role: TableColumn.Role) -> Int? { columns.firstIndex { $0.role == role } }
}

/// A column that is renamed, in a table with other columns that have, or get, the new name.
struct RenamedColumn {
    let index: Int
    let name: Name
    let newName: [UInt8]
    /// The columns that have the new name, and those before it that get it.
    let others: [Int]
    /// Whether every row has a value under the new name.
    let isAlwaysKept: Bool

    static func all(in layout: TableLayout, _ lookup: SchemaLookup) -> [RenamedColumn] {
        if !lookup.hasRenames { return [] }
        func isData(_ column: TableColumn) -> Bool { column.role == .field || column.role == .tag }
        var places: [[UInt8]: [Int]] = [:]
        for (index, column) in layout.columns.enumerated() where isData(column) {
            places[column.name, default: []].append(index)
        }
        let constants = layout.constants.filter { isData($0) && !$0.defaultValue.isEmpty }
        let constantNames = Set(constants.map(\.name))
        var renamed: [[UInt8]: [Int]] = [:]
        return layout.columns.enumerated().compactMap { index, column in
            let newName = lookup.stored(column.name)
            guard isData(column), !column.isParticipant, newName != column.name else { return nil }
            let before = renamed[newName, default: []]
            renamed[newName] = before + [index]
            let others =
                (places[newName] ?? []) + before.filter { layout.columns[$0].name != column.name }
            let isAlwaysKept =
                constantNames.contains(newName)
                || others.contains { !layout.columns[$0].defaultValue.isEmpty }
            guard isAlwaysKept || !others.isEmpty else { return nil }
            return RenamedColumn(
                index: index, name: Name(String(decoding: column.name, as: UTF8.self)),
                newName: newName, others: others, isAlwaysKept: isAlwaysKept)
        }
    }
}

/// The conventions of a file of tables.
enum TableKind {
    /// A header with names, optionally with annotations above it.
    case plain
    /// Annotated CSV of InfluxDB 2.
    case annotated
    /// Output of `influx -format csv`: several headers, each beginning with `name`.
    case influxShell
}

/// Why a header or an annotation row is invalid.
struct TableProblem: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}
