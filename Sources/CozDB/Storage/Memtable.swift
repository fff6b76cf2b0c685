// Recent rows in memory, each as the few values it has. Filled only from commit records, read
// through views that later commits do not disturb.

/// The rows of one experiment that no segment holds yet.
final class MemtableTable: Sendable {
    /// One point as it was committed; its cells lie one after the other.
    struct Row: BitwiseCopyable {
        var time: Int64
        /// Number of the series key in `keys`.
        var series: UInt32
        /// Number of the attributes in `attributeSets`.
        var attributes: UInt32
        var cellStart: UInt32
        var cellEnd: UInt32
    }

    let experiment: Int
    let rows = ChunkedArray<Row>()
    /// Column of each cell, and its value as in `ColumnSlice`; strings by their number in the
    /// memtable. Two arrays, because a struct of both would be a third padding.
    let cellColumns = ChunkedArray<UInt32>()
    let cellBits = ChunkedArray<UInt64>()
    let keys = ByteArena()
    /// Each set is a list of (column, string) pairs of four bytes each.
    let attributeSets = ByteArena()

    init(experiment: Int) {
        self.experiment = experiment
    }

    var sizeBytes: Int {
        rows.sizeBytes + cellColumns.sizeBytes + cellBits.sizeBytes + keys.sizeBytes
            + attributeSets.sizeBytes
    }
}

/// Recent rows of all experiments, and what is new in the rejects journal.
///
/// Not thread-safe; the engine guards it and hands out views.
final class Memtable {
    private(set) var tables: [Int: MemtableTable] = [:]
    /// String values and attribute values of all tables.
    let strings = ByteArena()
    /// Entries of the rejects journal that no file holds yet.
    private(set) var journal: [JournalEntry] = []
    private var journalSizeBytes = 0
    /// Sequence of the last commit applied; 0 for none.
    private(set) var lastSequence: UInt64 = 0

    var sizeBytes: Int {
        tables.values.reduce(strings.sizeBytes + journalSizeBytes) { $0 + $1.sizeBytes }
    }

    var isEmpty: Bool {
        journal.isEmpty && tables.values.allSatisfy { $0.rows.count == 0 }
    }

    /// Takes in one commit and its schema changes.
    ///
    /// - Throws: where the record is not what an encoder writes; the memtable is of no use then.
    func apply(
        _ record: [UInt8], sequence: UInt64, schemas: inout SchemaSet
    ) throws(FormatError) {
        var receiver = MemtableReceiver(memtable: self, schemas: schemas)
        try CommitRecord.read(record, into: &receiver)
        schemas = receiver.schemas
        lastSequence = sequence
    }

    fileprivate func table(_ experiment: Int) -> MemtableTable {
        if let known = tables[experiment] { return known }
        let table = MemtableTable(experiment: experiment)
        tables[experiment] = table
        return table
    }

    fileprivate func append(_ entry: JournalEntry) {
        journal.append(entry)
        journalSizeBytes += entry.sizeBytes
    }

    /// Drops the rows of an experiment that is no more.
    func removeTable(_ experiment: Int) {
        tables[experiment] = nil
    }
}

/// Translates the numbers of a commit record into those of the memtable.
private struct MemtableReceiver: CommitReceiver {
    let memtable: Memtable
    var schemas: SchemaSet

    private var strings: [UInt32] = []
    private var table: MemtableTable?
    private var schema: ExperimentSchema?
    private var tagSets: [(series: UInt32, attributes: UInt32)] = []
    private var columns: [UInt32] = []
    private var isString: [Bool] = []
    private var row = MemtableTable.Row(
        time: 0, series: 0, attributes: 0, cellStart: 0, cellEnd: 0)

    init(memtable: Memtable, schemas: SchemaSet) {
        self.memtable = memtable
        self.schemas = schemas
    }

    mutating func receive(_ change: SchemaChange) throws(FormatError) {
        schemas.apply(change)
        guard case .column(let experiment, let column) = change else { return }
        guard let known = schemas[experiment], column.id < known.columns.count else {
            throw FormatError(.invalid, "a column that does not follow those known", at: 0)
        }
    }

    mutating func receive(_ entry: JournalEntry) {
        memtable.append(entry)
    }

    mutating func receiveString(_ bytes: Span<UInt8>) {
        strings.append(UInt32(truncatingIfNeeded: memtable.strings.intern(bytes)))
    }

    mutating func beginTable(experiment: Int) throws(FormatError) {
        guard let known = schemas[experiment] else {
            throw FormatError(.invalid, "rows of an unknown experiment \(experiment)", at: 0)
        }
        schema = known
        table = memtable.table(experiment)
        tagSets.removeAll(keepingCapacity: true)
        columns.removeAll(keepingCapacity: true)
        isString.removeAll(keepingCapacity: true)
    }

    mutating func receiveTagSet(
        key: Span<UInt8>, attributes: [(column: ColumnID, value: [UInt8])]
    ) throws(FormatError) {
        for attribute in attributes { try check(attribute.column, .string, .attribute) }
        guard let table else { return }
        var set = ByteWriter()
        for attribute in attributes {
            set.append(UInt32(truncatingIfNeeded: attribute.column))
            set.append(
                UInt32(truncatingIfNeeded: memtable.strings.intern(attribute.value.span)))
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
        isString.append(type == .string)
    }

    /// Rows are put away by column without looking again, so the columns must be there.
    private func check(
        _ column: ColumnID, _ type: FieldType, _ kind: Column.Kind
    ) throws(FormatError) {
        guard let known = schema?.columns, column < known.count, known[column].type == type,
            known[column].kind == kind
        else { throw FormatError(.invalid, "values of an unknown column \(column)", at: 0) }
    }

    mutating func beginRow(tagSet: Int, time: Int64) {
        row.time = time
        row.series = tagSets[tagSet].series
        row.attributes = tagSets[tagSet].attributes
        row.cellStart = UInt32(truncatingIfNeeded: table?.cellBits.count ?? 0)
    }

    mutating func receiveCell(column: Int, bits: UInt64) {
        let stored = isString[column] ? UInt64(strings[Int(bits)]) : bits
        table?.cellColumns.append(columns[column])
        table?.cellBits.append(stored)
    }

    mutating func endRow() {
        row.cellEnd = UInt32(truncatingIfNeeded: table?.cellBits.count ?? 0)
        table?.rows.append(row)
    }
}
