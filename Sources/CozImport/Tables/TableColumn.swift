// What one column of a table is, once its header was understood.

internal import CozDB

/// One column.
struct TableColumn {
    /// What the cells mean.
    enum Role: Equatable {
        case ignored
        /// The name of the experiment.
        case experiment
        case time
        /// The value of the tag that is called as the column.
        case tag
        /// All tags, as `influx` prints them: `host=a,region=b`.
        case tagList
        /// A value of the field that is called as the column.
        case field
        /// The name of the field whose value is in the column `fieldValue`.
        case fieldName
        case fieldValue
    }

    /// How the text of a value is written, where that is more than its type.
    enum Notation: Equatable {
        case plain
        /// Whole numbers up to 2^64, of which those up to 2^63 can be stored.
        case unsigned
        /// `1h30m`: an integer of nanoseconds.
        case duration
        /// The decimal sign, and bytes to be left out of numbers.
        case number(decimal: UInt8, ignored: [UInt8])
        /// Words for true and false; an empty list means all other words.
        case boolean(true: [[UInt8]], false: [[UInt8]])
        /// A boolean by its first letter: t, y, 1 or f, n, 0.
        case initial
    }

    /// Name of the tag or field, as UTF-8.
    var name: [UInt8]
    var role = Role.field
    /// Of a field; nil: as in the database, else as its values look.
    var type: FieldType?
    var notation = Notation.plain
    /// What an empty cell means; empty: no value.
    var defaultValue: [UInt8] = []
    /// How a time column is written; nil: as the import's options say.
    var timeFormat: TableTimeFormat?

    init(name: [UInt8]) {
        self.name = name
    }

    /// For messages.
    var title: String { String(decoding: name, as: UTF8.self) }
}

/// The columns of a table.
struct TableLayout {
    var columns: [TableColumn] = []
    /// Values that all rows have: columns without cells, with the value as their default.
    var constants: [TableColumn] = []
    /// Line of the header.
    var line = 0
    /// Where times without an offset were written; nil: as the import's options say.
    var zone: TimeZoneRules?
    /// Whether the types come from the table itself.
    var isAnnotated = false

    /// Whether the type of a field is to be found out by looking at all its values.
    var hasOpenTypes: Bool {
        columns.contains { $0.type == nil && ($0.role == .field || $0.role == .fieldValue) }
    }

    func index(of role: TableColumn.Role) -> Int? { columns.firstIndex { $0.role == role } }
}

/// The conventions a file of tables follows.
enum TableKind {
    /// A header with names; also with annotations above it.
    case plain
    /// InfluxDB 2.
    case annotated
    /// `influx -format csv`: many headers, each beginning with `name`.
    case influxShell
}

/// Why a row of annotations or a header cannot be understood.
struct TableProblem: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}
