// Checks that a commit record agrees with the schemas it is applied to. The engine checks before it
// writes a record, the memtable before it applies one.

/// The schemas while a record is read, and the experiment of the current table.
struct CommitCheck {
    private(set) var schemas: SchemaSet
    private var schema: ExperimentSchema?

    init(_ schemas: SchemaSet) {
        self.schemas = schemas
    }

    mutating func receive(_ change: SchemaChange) throws(FormatError) {
        schemas.apply(change)
        try schemas.checkSize()
        guard case .column(let experiment, let column) = change else { return }
        guard let known = schemas[experiment], column.id < known.columnCount else {
            throw FormatError(.invalid, "a new column has the wrong number", at: 0)
        }
    }

    mutating func beginTable(experiment: Int) throws(FormatError) {
        guard let known = schemas[experiment] else {
            throw FormatError(.invalid, "rows of an unknown experiment \(experiment)", at: 0)
        }
        schema = known
    }

    /// Checks that a column exists. The memtable stores values by column without further checks.
    func column(
        _ column: ColumnID, _ type: FieldType, _ kind: Column.Kind
    ) throws(FormatError) {
        guard let schema, column < schema.columnCount, schema.column(column).type == type,
            schema.column(column).kind == kind
        else { throw FormatError(.invalid, "values of an unknown column \(column)", at: 0) }
    }
}

/// Reads a record like the memtable does, but skips the rows and keeps nothing. The encoder makes
/// the rows from handles that the batch has already checked; to read them again would take 4 % of
/// an import.
struct CommitVerifier: CommitReceiver {
    private var check: CommitCheck

    static var readsRows: Bool { false }

    /// Throws the error that applying the record to these schemas would throw.
    static func verify(_ record: [UInt8], _ schemas: SchemaSet) throws(FormatError) {
        var verifier = CommitVerifier(check: CommitCheck(schemas))
        try CommitRecord.read(record, into: &verifier)
    }

    mutating func receive(_ change: SchemaChange) throws(FormatError) { try check.receive(change) }
    mutating func receive(_ entry: JournalEntry) {}
    mutating func receiveString(_ bytes: Span<UInt8>) -> UInt64 { 0 }
    mutating func beginTable(experiment: Int) throws(FormatError) {
        try check.beginTable(experiment: experiment)
    }
    mutating func receiveTagSet(
        key: Span<UInt8>, attributes: [(column: ColumnID, value: [UInt8])]
    ) throws(FormatError) {
        for attribute in attributes { try check.column(attribute.column, .string, .attribute) }
    }
    mutating func receiveColumn(_ column: ColumnID, type: FieldType) throws(FormatError) {
        try check.column(column, type, .field)
    }
    mutating func receiveLayout(_ columns: Span<UInt32>) {}
    mutating func receiveRow(tagSet: Int, time: Int64, layout: Int, bits: Span<UInt64>) {}
}
