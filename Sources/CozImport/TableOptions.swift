// What tables leave open and an import can be told: which column is what.

public import CozDB

/// How times are written.
public enum TableTimeFormat: Sendable {
    /// RFC 3339 and its relatives (`Timestamp.init(_:)`), or a number in the import's precision
    /// where that gives a sensible time.
    case automatic
    /// RFC 3339 and its relatives only.
    case rfc3339
    /// A number of such units since 1970, also with a fraction.
    case epoch(TimestampPrecision)
    /// As a pattern says.
    case pattern(TimePattern)
}

/// What the columns of a table, or the keys of rows of JSON, mean where they do not say it
/// themselves. Columns are named by their headers, byte by byte.
public struct TableOptions: Sendable {
    /// The column with the experiment of each row; nil: `ImportOptions.experiment`, or else a
    /// column named measurement, _measurement, experiment or id_experiment.
    public var experimentColumn: String?
    /// The column with the time; nil: the first there is of time, _time, timestamp, datetime,
    /// index_time and index, in any case of letters.
    public var timeColumn: String?
    /// The column with the participant, whatever it is called: stored as the tag that names
    /// participants.
    public var participantColumn: String?
    /// Columns that are tags, beside those that the experiment has as tags already and the one
    /// that names the participant.
    public var tagColumns: [String] = []
    /// Columns to leave out.
    public var ignoredColumns: [String] = []
    /// Types of fields. Those that are not listed have the type of the field in the database, else
    /// what their values look like: float where all are numbers, boolean where all are true or
    /// false, else string.
    public var columnTypes: [(name: String, type: FieldType)] = []
    /// The byte between cells; nil: a comma, or a tab in files whose name ends with `.tsv`.
    public var delimiter: UInt8?
    /// Texts that mean no value, beside nothing at all.
    public var nulls: [String] = []
    /// How times are written.
    public var timeFormat = TableTimeFormat.automatic
    /// The zone of times without an offset; nil: UTC.
    public var timeZone: TimeZoneRules?
    /// Lines above the header.
    public var skippedLines = 0

    /// Everything is found out.
    public init() {}

    /// Whether any of them names a column.
    var namesColumns: Bool {
        !ignoredColumns.isEmpty || !tagColumns.isEmpty || !columnTypes.isEmpty
            || experimentColumn != nil || participantColumn != nil || timeColumn != nil
    }

    /// The option of the command that says something first; nil: none does.
    package var firstSetOption: String? {
        if experimentColumn != nil { return "--experiment-column" }
        if timeColumn != nil { return "--time-column" }
        if participantColumn != nil { return "--participant-column" }
        if !tagColumns.isEmpty { return "--tag-columns" }
        if !ignoredColumns.isEmpty { return "--skip-columns" }
        if !columnTypes.isEmpty { return "--column-types" }
        if delimiter != nil { return "--delimiter" }
        if !nulls.isEmpty { return "--null" }
        if timeZone != nil { return "--time-zone" }
        if skippedLines != 0 { return "--skip-lines" }
        if case .automatic = timeFormat { return nil }
        return "--time-format"
    }
}
