// What a commit record must agree with: the schemas it is applied to. The memtable asks before it
// takes anything in, and the engine before anything is written.

/// The schemas while a record is read, and what its tables may name.
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
        guard let known = schemas[experiment], column.id < known.columns.count else {
            throw FormatError(.invalid, "a column that does not follow those known", at: 0)
        }
    }

    mutating func beginTable(experiment: Int) throws(FormatError) {
        guard let known = schemas[experiment] else {
            throw FormatError(.invalid, "rows of an unknown experiment \(experiment)", at: 0)
        }
        schema = known
    }

    /// Rows are put away by column without looking again, so the columns must be there.
    func column(
        _ column: ColumnID, _ type: FieldType, _ kind: Column.Kind
    ) throws(FormatError) {
        guard let known = schema?.columns, column < known.count, known[column].type == type,
            known[column].kind == kind
        else { throw FormatError(.invalid, "values of an unknown column \(column)", at: 0) }
    }
}

/// Reads a record as the memtable does, but for its rows, and keeps nothing. The encoder makes rows
/// of numbers that the batch has checked one by one; reading them again takes 4 % of an import.
struct CommitVerifier: CommitReceiver {
    private var check: CommitCheck

    static var readsRows: Bool { false }

    /// Throws what applying the record to these schemas would throw.
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
