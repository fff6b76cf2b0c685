// Recent rows in memory, stored row by row. Only commit records fill it. Readers use views, which
// later commits do not change.

/// The rows of one experiment that are not in a segment yet.
final class MemtableTable: Sendable {
    /// One point as it was committed. Its values are adjacent in `cells`.
    struct Row: BitwiseCopyable {
        var time: Int64
        /// Number of the series key in `keys`.
        var series: UInt32
        /// Number of the attributes in `attributeSets`.
        var attributes: UInt32
        /// Number of the columns in `layouts`.
        var layout: UInt32
        /// Where its values begin in `cells`.
        var cellStart: UInt32
    }

    let rows = ChunkedArray<Row>()
    /// Values as in `ColumnSlice`. A string is its number in the memtable or a time word.
    let cells = ChunkedArray<UInt64>()
    /// Each layout is a list of 4-byte columns. Most rows share a few layouts.
    let layouts = ByteArena()
    let keys = ByteArena()
    /// Each set is a list of 4-byte columns, each followed by the 8-byte word of its string.
    let attributeSets = ByteArena()
    /// Cached results that make reading faster.
    let known = MemtableCache()

    var sizeBytes: Int {
        rows.sizeBytes + cells.sizeBytes + layouts.sizeBytes + keys.sizeBytes
            + attributeSets.sizeBytes
    }
}

/// Recent rows of all experiments, and new entries of the rejects journal.
///
/// It is not thread-safe. The engine guards it and hands out views.
final class Memtable {
    private(set) var tables: [Int: MemtableTable] = [:]
    /// String values and attribute values of all tables.
    let strings = ByteArena()
    /// Entries of the rejects journal that are not in a file yet.
    fileprivate(set) var journal = RejectsJournal()
    /// Sequence of the last applied commit; 0 if there is none.
    private(set) var lastSequence: UInt64 = 0

    /// Bytes of all tables, and of each. A commit updates only the sizes of its own tables.
    private var tablesSizeBytes = 0
    private var tableSizes: [Int: Int] = [:]

    var sizeBytes: Int { tablesSizeBytes + strings.sizeBytes + journal.sizeBytes }

    var isEmpty: Bool {
        journal.isEmpty && tables.values.allSatisfy { $0.rows.count == 0 }
    }

    /// Applies one commit and its schema changes.
    ///
    /// - Throws: if no encoder writes such a record. The memtable must not be used then.
    func apply(
        _ record: [UInt8], sequence: UInt64, schemas: inout SchemaSet
    ) throws(FormatError) {
        var receiver = MemtableReceiver(memtable: self, schemas: schemas)
        try CommitRecord.read(record, into: &receiver)
        schemas = receiver.schemas
        lastSequence = sequence
        for experiment in receiver.experiments {
            let size = tables[experiment]?.sizeBytes ?? 0
            tablesSizeBytes += size - (tableSizes.updateValue(size, forKey: experiment) ?? 0)
        }
    }

    /// Throws the error that applying a record to these schemas would throw, but for its rows.
    static func verify(_ record: [UInt8], _ schemas: SchemaSet) throws(FormatError) {
        var receiver = MemtableReceiver(memtable: nil, schemas: schemas)
        try CommitRecord.read(record, into: &receiver)
    }

    fileprivate func table(_ experiment: Int) -> MemtableTable {
        if let known = tables[experiment] { return known }
        let table = MemtableTable()
        tables[experiment] = table
        return table
    }

    /// The word that stands for a string in rows and attribute sets.
    fileprivate func word(of text: Span<UInt8>) -> UInt64 {
        ISOTime.word(of: text) ?? UInt64(truncatingIfNeeded: strings.intern(text))
    }
}

/// Checks that a commit record agrees with the schemas it is applied to, and translates its numbers
/// into those of the memtable.
private struct MemtableReceiver: CommitReceiver {
    /// nil if the record is only checked.
    let memtable: Memtable?
    var schemas: SchemaSet

    /// The experiments that the record has rows of.
    var experiments: [Int] = []
    var schema: ExperimentSchema?
    var table: MemtableTable?
    var tagSets: [(series: UInt32, attributes: UInt32)] = []
    var columns: [UInt32] = []
    /// The memtable's number of each layout of the record.
    var layouts: [UInt32] = []

    /// The encoder makes the rows from handles that the batch has already checked; to read them
    /// again would take 4 % of an import.
    var readsRows: Bool { memtable != nil }

    mutating func receive(_ change: SchemaChange) throws(FormatError) {
        schemas.apply(change)
        try schemas.checkSize()
        guard case .column(let experiment, let column) = change else { return }
        guard let known = schemas[experiment], column.id < known.columnCount else {
            throw FormatError(.invalid, "a new column has the wrong number", at: 0)
        }
    }

    mutating func receive(_ entry: JournalEntry) {
        memtable?.journal.append(entry)
    }

    mutating func receiveString(_ bytes: Span<UInt8>) -> UInt64 {
        memtable?.word(of: bytes) ?? 0
    }

    mutating func beginTable(experiment: Int) throws(FormatError) {
        guard let known = schemas[experiment] else {
            throw FormatError(.invalid, "rows of an unknown experiment \(experiment)", at: 0)
        }
        schema = known
        table = memtable?.table(experiment)
        experiments.append(experiment)
        tagSets.removeAll(keepingCapacity: true)
        columns.removeAll(keepingCapacity: true)
        layouts.removeAll(keepingCapacity: true)
    }

    mutating func receiveTagSet(
        key: Span<UInt8>, attributes: [(column: ColumnID, value: [UInt8])]
    ) throws(FormatError) {
        for attribute in attributes { try check(attribute.column, .string, .attribute) }
        guard let memtable, let table else { return }
        var set = ByteWriter()
        for attribute in attributes {
            set.append(UInt32(truncatingIfNeeded: attribute.column))
            set.append(memtable.word(of: attribute.value.span))
        }
        tagSets.append(
            (
                UInt32(truncatingIfNeeded: table.keys.intern(key)),
                UInt32(truncatingIfNeeded: table.attributeSets.intern(set.bytes.span))
            ))
    }

    mutating func receiveColumn(_ column: ColumnID, type: FieldType) throws(FormatError) {
        try check(column, type, .field)
        columns.append(UInt32(truncatingIfNeeded: column))
    }

    mutating func receiveLayout(_ places: Span<UInt32>) {
        guard let table else { return }
        var layout = ByteWriter(capacity: places.count * 4)
        for index in places.indices { layout.append(columns[Int(places[index])]) }
        layouts.append(UInt32(truncatingIfNeeded: table.layouts.intern(layout.bytes.span)))
    }

    mutating func receiveRow(tagSet: Int, time: Int64, layout: Int, bits: Span<UInt64>) {
        guard let table else { return }
        table.rows.append(
            MemtableTable.Row(
                time: time, series: tagSets[tagSet].series,
                attributes: tagSets[tagSet].attributes, layout: layouts[layout],
                cellStart: UInt32(truncatingIfNeeded: table.cells.count)))
        table.cells.append(contentsOf: bits)
    }

    /// Checks that a column exists. The memtable stores values by column without further checks.
    private func check(
        _ column: ColumnID, _ type: FieldType, _ kind: Column.Kind
    ) throws(FormatError) {
        guard let schema, column < schema.columnCount, schema.column(column).type == type,
            schema.column(column).kind == kind
        else { throw FormatError(.invalid, "values of an unknown column \(column)", at: 0) }
    }
}
