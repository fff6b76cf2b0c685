// Recent rows in memory, each as the few values it has. Filled only from commit records, read
// through views that later commits do not disturb.

/// The rows of one experiment that no segment holds yet.
final class MemtableTable: Sendable {
    /// One point as it was committed; its values lie one after the other.
    struct Row: BitwiseCopyable {
        var time: Int64
        /// Number of the series key in `keys`.
        var series: UInt32
        /// Number of the attributes in `attributeSets`.
        var attributes: UInt32
        /// Number of the list of its columns in `layouts`.
        var layout: UInt32
        /// Where its values begin in `cells`.
        var cellStart: UInt32
    }

    let experiment: Int
    let rows = ChunkedArray<Row>()
    /// Values as in `ColumnSlice`; strings by their number in the memtable, or words of times.
    let cells = ChunkedArray<UInt64>()
    /// Each layout is a list of columns of four bytes each. Most rows share a few of them.
    let layouts = ByteArena()
    let keys = ByteArena()
    /// Each set is a list of columns of four bytes, each with its string's word of eight.
    let attributeSets = ByteArena()
    /// Of no use for more than speed.
    let known = MemtableCache()

    init(experiment: Int) {
        self.experiment = experiment
    }

    var sizeBytes: Int {
        rows.sizeBytes + cells.sizeBytes + layouts.sizeBytes + keys.sizeBytes
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
    private(set) var journal = RejectsJournal()
    /// Sequence of the last commit applied; 0 for none.
    private(set) var lastSequence: UInt64 = 0

    /// Bytes of all tables after the last commit, and of each: they are asked for at each commit,
    /// which looks only at its own tables.
    private var tablesSizeBytes = 0
    private var tableSizes: [Int: Int] = [:]

    var sizeBytes: Int { tablesSizeBytes + strings.sizeBytes + journal.sizeBytes }

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
        schemas = receiver.check.schemas
        lastSequence = sequence
        for experiment in receiver.experiments {
            let size = tables[experiment]?.sizeBytes ?? 0
            tablesSizeBytes += size - (tableSizes.updateValue(size, forKey: experiment) ?? 0)
        }
    }

    fileprivate func table(_ experiment: Int) -> MemtableTable {
        if let known = tables[experiment] { return known }
        let table = MemtableTable(experiment: experiment)
        tables[experiment] = table
        return table
    }

    /// What stands for a string in rows and attribute sets: the one place where texts become words.
    fileprivate func word(of text: Span<UInt8>) -> UInt64 {
        ISOTime.word(of: text) ?? UInt64(truncatingIfNeeded: strings.intern(text))
    }

    fileprivate func append(_ entry: JournalEntry) { journal.append(entry) }
}

/// Translates the numbers of a commit record into those of the memtable.
private struct MemtableReceiver: CommitReceiver {
    let memtable: Memtable
    private(set) var check: CommitCheck

    /// Those that the record has rows of.
    private(set) var experiments: [Int] = []
    private var table: MemtableTable?
    private var tagSets: [(series: UInt32, attributes: UInt32)] = []
    private var columns: [UInt32] = []
    /// Number in the table of each layout of the record.
    private var layouts: [UInt32] = []

    init(memtable: Memtable, schemas: SchemaSet) {
        self.memtable = memtable
        check = CommitCheck(schemas)
    }

    mutating func receive(_ change: SchemaChange) throws(FormatError) { try check.receive(change) }

    mutating func receive(_ entry: JournalEntry) {
        memtable.append(entry)
    }

    mutating func receiveString(_ bytes: Span<UInt8>) -> UInt64 {
        memtable.word(of: bytes)
    }

    mutating func beginTable(experiment: Int) throws(FormatError) {
        try check.beginTable(experiment: experiment)
        table = memtable.table(experiment)
        experiments.append(experiment)
        tagSets.removeAll(keepingCapacity: true)
        columns.removeAll(keepingCapacity: true)
        layouts.removeAll(keepingCapacity: true)
    }

    mutating func receiveTagSet(
        key: Span<UInt8>, attributes: [(column: ColumnID, value: [UInt8])]
    ) throws(FormatError) {
        for attribute in attributes { try check.column(attribute.column, .string, .attribute) }
        guard let table else { return }
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
        try check.column(column, type, .field)
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
}
