// The options for tables: what each column means and how values are written.

public import CozDB

/// The format of times.
public enum TableTimeFormat: Sendable {
    /// RFC 3339 and similar forms (`Timestamp.init(_:)`), or a number in the import's precision if
    /// that gives a plausible time.
    case automatic
    /// RFC 3339 and similar forms only.
    case rfc3339
    /// A number of these units since 1970, optionally with a fraction.
    case epoch(TimestampPrecision)
    /// A time that matches a pattern.
    case pattern(TimePattern)
}

/// The meaning of the columns of a table, or of the keys of JSON rows, where the input does not
/// define it. Names must match the header byte by byte.
public struct TableOptions: Sendable {
    /// The column with the experiment of each row; nil: none if `ImportOptions.experiment` is set,
    /// else a column named _measurement, measurement, experiment or id_experiment.
    public var experimentColumn: String?
    /// The column with the time; nil: the first of time, _time, timestamp, datetime, index_time and
    /// index that exists. Case is ignored in tables, not in JSON.
    public var timeColumn: String?
    /// The column with the time of day, if the time column has only the date. The two are read as
    /// one text with a space between them.
    public var timeOfDayColumn: String?
    /// The column with the participant. It is stored as the participant tag, whatever its name.
    public var participantColumn: String?
    /// Columns to store as tags, in addition to the participant and the experiment's existing tags.
    public var tagColumns: [String] = []
    /// Columns to leave out.
    public var ignoredColumns: [String] = []
    /// Types of fields. A field not listed has its type in the database. A new field gets its type
    /// from its values: float if all are numbers, boolean if all are true or false, else string.
    public var columnTypes: [(name: String, type: FieldType)] = []
    /// The byte between cells; nil: a comma, a tab or a semicolon, whichever is in the header, but
    /// a tab in `.tsv` files.
    public var delimiter: UInt8?
    /// Whether numbers have a decimal comma, and optionally a point between groups of three digits:
    /// `1.234,5`. Columns of a table with a row `#datatype`, columns whose header gives a notation
    /// (`x|double:,.`), and JSON are read as they are.
    public var hasDecimalComma = false
    /// Texts that mean no value, in addition to empty cells.
    public var nulls: [String] = []
    /// The format of times.
    public var timeFormat = TableTimeFormat.automatic
    /// The time zone of times without an offset; nil: UTC.
    public var timeZone: TimeZoneRules?
    /// The number of lines above the header.
    public var skippedLines = 0

    /// Creates options that detect everything.
    public init() {}

    /// Whether any option names a column.
    var namesColumns: Bool {
        !ignoredColumns.isEmpty || !tagColumns.isEmpty || !columnTypes.isEmpty
            || experimentColumn != nil || participantColumn != nil || timeColumn != nil
            || timeOfDayColumn != nil
    }

    /// The first setting that is not a default; nil if all are.
    package var firstChange: Remedy.Setting? {
        if experimentColumn != nil { return .experimentColumn }
        if timeColumn != nil { return .timeColumn }
        if timeOfDayColumn != nil { return .timeOfDayColumn }
        if participantColumn != nil { return .participantColumn }
        if !tagColumns.isEmpty { return .tagColumns }
        if !ignoredColumns.isEmpty { return .skippedColumns }
        if !columnTypes.isEmpty { return .columnTypes }
        if delimiter != nil { return .delimiter }
        if hasDecimalComma { return .decimalComma }
        if !nulls.isEmpty { return .nulls }
        if timeZone != nil { return .timeZone }
        if skippedLines != 0 { return .skippedLines }
        if case .automatic = timeFormat { return nil }
        return .timeFormat
    }
}

extension TableOptions {
    /// Whether a column has no name, or one that pandas gives to such a column: `Unnamed: 0`,
    /// `Unnamed: 0.1`. It usually holds row numbers.
    package static func isRowNumber(_ name: [UInt8]) -> Bool {
        let prefix = Array("Unnamed: ".utf8)
        guard name.starts(with: prefix) else { return name.isEmpty }
        let parts = name.dropFirst(prefix.count)
            .split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        return parts.count <= 2
            && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy { digits.contains($0) } }
    }
}
