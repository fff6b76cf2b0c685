// Points collected for one atomic write, in a form that costs no allocation per point or value.
//
// A batch holds each distinct tag set, column and string once and refers to them by number; a
// point is a row of twenty-four bytes, a value a cell of sixteen. Every number in rows and cells is
// checked when it comes in (WriteBatch+Handles.swift), so that whoever reads them need not.

/// Points collected for one atomic commit.
///
/// Programs that write a few points call `add(experiment:tags:time:fields:)`. Importers get handles
/// for the experiment, tag sets and columns, and keep them: they stay valid until `removeAll`. Then
/// for each point they `append` its values and call `endRow`.
///
/// A handle that the batch did not give, or gave before `removeAll`, is a mistake. The batch drops
/// the row that has it and remembers the first one (`mistake`); `write` then throws it and stores
/// nothing. A copy of a batch knows the handles that were given before it was made.
///
/// A handle that no point uses creates nothing: neither an experiment, nor a field, nor a lock.
/// Points are applied in the order they were added; the later of two values for one cell wins.
public struct WriteBatch: Sendable {
    /// A column as received: the same field with two types is two columns.
    struct ReceivedColumn: Sendable {
        /// Number of the experiment in the batch.
        var experiment: Int
        /// Name of the field.
        var name: String
        /// Type of the values.
        var type: FieldType
        /// Whether the input said that they have this type; false: they only look like it.
        var isTyped: Bool

        /// The type of a field of which nothing is known before.
        var newFieldType: FieldType { !isTyped && type == .integer ? .float : type }

        /// Whether an empty string is no value where the field is something else.
        var dropsBlanks: Bool { !isTyped && type == .string }

        /// Whether InfluxDB's rule for types lets a value into a field of a type.
        func mayBecome(_ locked: FieldType) -> Bool {
            let numbers: Set<FieldType> = [.float, .integer]
            return type == locked
                || !isTyped && numbers.contains(type) && numbers.contains(locked)
        }
    }

    /// The tags of points, as received.
    struct ReceivedTagSet: Sendable {
        /// Number of the experiment in the batch.
        var experiment: Int
        /// Sorted by name, values not empty.
        var tags: [(name: String, value: String)]
    }

    /// Name of the file or stream that points come from which are added from now on; used in
    /// reports and the rejects journal.
    public var source: String {
        get { sources.last?.name ?? "" }
        set {
            guard !source.utf8.elementsEqual(newValue.utf8) else { return }
            if sources.last?.firstRow == rows.count { sources.removeLast() }
            sources.append((rows.count, newValue))
        }
    }
    /// Settings for experiments that this batch creates, and a check for those that exist.
    public var settings = ExperimentSettings()
    /// Preset of experiments that this batch creates where `settings` names none; unlike that it
    /// is no check of those that exist. nil: no preset.
    public var suggestedPreset: SchemaPreset?
    /// The same for single experiments, which it counts for before `suggestedPreset`; by number.
    var suggestedPresets: [Int: SchemaPreset] = [:]
    /// Fields and tags to store under another name, by the name they come with; compared byte by
    /// byte. A point that has both names keeps both as they came. To be set while the batch has
    /// neither points nor handles: else it is a mistake.
    public var renames: [String: String] = [:] {
        didSet {
            if columns.count + tagSets.count > 0 {
                note(mistake: "renames were set after columns or tag sets; set them before")
            }
            renaming = BatchRenames(renames)
        }
    }
    /// What the commit declares of fields, by experiment.
    private(set) var declarations: [(experiment: Int, field: SchemaPreset.Field)] = []
    /// The participant of lines that name none: once he was forgotten, refused lines of his are
    /// not kept.
    public var assumedParticipant: String?
    /// Whether the commit is refused, with nothing stored, where a point or value of it is.
    public var isAllOrNothing = false
    /// Where points come from: each source from one row to the next one's.
    var sources: [(firstRow: Int, name: String)] = []
    /// Lines and values that the importer could not read; stored in the journal with this commit.
    public internal(set) var refusals: [Refusal] = []
    /// Lines among the refusals.
    public internal(set) var refusedLineCount = 0

    /// The first wrong use of the batch since `removeAll`; nil while there is none.
    public internal(set) var mistake: DatabaseError?

    @usableFromInline var rows: [BatchRow] = []
    @usableFromInline var cells: [BatchCell] = []
    var experiments = BytePool()
    var tagSets = BytePool()
    var columns = BytePool()
    var strings = BytePool()
    /// `ColumnHandle.mark` of each column.
    @usableFromInline var columnMarks: [UInt32] = []
    /// `TagSetHandle.mark` of each tag set.
    @usableFromInline var tagSetMarks: [UInt32] = []
    /// Whether the row that `endRow` will finish has a value that is none.
    @usableFromInline var isOpenRowWrong = false
    /// The tag set that was begun; nil where none was.
    var openTagSet: OpenTagSet?
    /// Its tags as they came, spelled as in `tagSets`.
    var openTags: [UInt8] = []
    var scratch: [UInt8] = []
    var renaming = BatchRenames()
    /// Whether rows may have values under both names of a field.
    @usableFromInline var hasRenamedColumns = false

    /// An empty batch.
    public init() {}

    /// Points added, not counting refused lines.
    public var rowCount: Int { rows.count }
    /// Values added.
    public var valueCount: Int { cells.count }
    /// Whether there is nothing to commit.
    public var isEmpty: Bool { rows.isEmpty && refusals.isEmpty && declarations.isEmpty }

    /// The names of the experiments that points of the batch belong to.
    public var experimentNames: [String] {
        let numbers = Set(Set(rows.map(\.tagSet)).map { receivedTagSet(Int($0)).experiment })
        return numbers.sorted().map { experiments.text($0) }
    }

    /// Forgets points, numbers and refusals, keeps memory, source and settings.
    public mutating func removeAll() {
        rows.removeAll(keepingCapacity: true)
        cells.removeAll(keepingCapacity: true)
        refusals.removeAll(keepingCapacity: true)
        refusedLineCount = 0
        declarations.removeAll()
        suggestedPresets.removeAll()
        sources = [(0, source)]
        experiments.removeAll()
        tagSets.removeAll()
        columns.removeAll()
        strings.removeAll()
        columnMarks.removeAll(keepingCapacity: true)
        tagSetMarks.removeAll(keepingCapacity: true)
        renaming.removeAll()
        hasRenamedColumns = false
        openTagSet = nil
        isOpenRowWrong = false
        mistake = nil
    }

    /// What `renames` did in the points added so far. Cost: one pass over them where tags were
    /// renamed.
    public var appliedRenames: [AppliedRename] { renaming.report(rows) }

    // MARK: Points

    /// Whether cells were appended since the last `endRow`.
    public var hasOpenRow: Bool { cells.count > Int(rows.last?.cellEnd ?? 0) }

    /// Drops the cells appended since the last `endRow`, for a line that turned out bad.
    public mutating func abandonRow() {
        cells.removeLast(cells.count - Int(rows.last?.cellEnd ?? 0))
        isOpenRowWrong = false
    }

    /// Adds a refused line or value to what the commit stores in the rejects journal. The key of
    /// a value may have all tags of its point: those of the identity are kept. Of a line and of a
    /// reason `Refusal.lineSizeBytesMax` and `reasonSizeBytesMax` bytes are.
    public mutating func refuse(_ refusal: Refusal) {
        if case .line = refusal.subject { refusedLineCount += 1 }
        refusals.append(refusal.cut)
    }

    /// Declares a field, written or not: unit, note, question and options are kept with the
    /// experiment, which is created where it is new; the type holds from the first value on. A
    /// later declaration of the field replaces an earlier one. A field that has another type
    /// already keeps it; the report of the write lists it among the conflicts.
    ///
    /// - Parameters:
    ///   - field: its name is one field's; `*` has no meaning here.
    ///   - experiment: its handle in the batch.
    public mutating func declare(_ field: SchemaPreset.Field, experiment: ExperimentHandle) {
        guard let experiment = number(experiment) else { return }
        var field = field
        field.name = renaming.newName(of: Name(field.name)) ?? field.name
        declarations.append((Int(experiment), field))
    }

    /// Adds one point. Tags with an empty value count as missing.
    ///
    /// - Throws: `usage` for an empty or overlong name, a field called `time`, a point without
    ///   fields, or a row that was begun and not finished. The batch is as it was before.
    public mutating func add(
        experiment: String, tags: [String: String], time: Timestamp,
        fields: [String: FieldValue]
    ) throws(DatabaseError) {
        try WriteBatch.check(experiment, "experiment name")
        for (name, value) in tags {
            try WriteBatch.check(name, "tag name")
            try WriteBatch.check(value, "tag value", atLeast: 0)
        }
        for (name, _) in fields { try WriteBatch.check(name, "field name") }
        guard !fields.isEmpty else {
            throw DatabaseError(.usage, "a point of experiment \"\(experiment)\" has no fields")
        }
        guard !hasOpenRow, !isOpenRowWrong else {
            throw DatabaseError(
                .usage, "a row has values and is not finished; call endRow or abandonRow before add"
            )
        }
        add(
            experiment: experiment, tags: tags.map { (name: $0.key, value: $0.value) }, time: time,
            fields: fields.sorted { Name($0.key) < Name($1.key) })
    }

    /// Adds a point of one value, with names that were checked before.
    mutating func add(
        experiment: String, key: SeriesKey, time: Timestamp, field: String, value: FieldValue
    ) {
        add(
            experiment: experiment, tags: key.tags, time: time, fields: [(key: field, value: value)]
        )
    }

    private mutating func add(
        experiment: String, tags: [(name: String, value: String)], time: Timestamp,
        fields: [(key: String, value: FieldValue)]
    ) {
        let experiment = self.experiment(experiment.utf8.span)
        let tagSet = self.tagSet(experiment: experiment, tags: tags)
        for (name, value) in fields {
            let column = column(experiment: experiment, name: name.utf8.span, type: value.type)
            switch value {
            case .float(let number): append(number, to: column)
            case .integer(let number): append(number, to: column)
            case .boolean(let flag): append(flag, to: column)
            case .string(let text): append(string(text.utf8.span), to: column)
            }
        }
        endRow(tagSet: tagSet, time: time.nanoseconds, line: rows.count + 1)
    }

    private static func check(
        _ name: String, _ what: String, atLeast least: Int = 1
    ) throws(DatabaseError) {
        guard (least...DatabaseOptions.nameSizeBytesMax).contains(name.utf8.count) else {
            throw DatabaseError(
                .usage,
                "\(what) of \(name.utf8.count) bytes; expected \(least) to "
                    + "\(DatabaseOptions.nameSizeBytesMax) bytes of UTF-8")
        }
    }

    private static func number(_ bytes: [UInt8], at offset: Int) -> Int {
        (0..<4).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
    }

    // MARK: Reading back, for the engine

    /// The text of a string's cell.
    func text(_ bits: UInt64) -> String {
        if ISOTime.isWord(bits) { return ISOTime.withBytes(bits) { String(validating: $0) ?? "" } }
        return strings.text(Int(truncatingIfNeeded: bits))
    }

    func receivedColumn(_ index: Int) -> ReceivedColumn {
        let bytes = columns.copy(index)
        var name = bytes[5...]
        if bytes[0] & WriteBatch.renamedMark != 0 {
            name = bytes[9..<(9 + WriteBatch.number(bytes, at: 5))]
        }
        return ReceivedColumn(
            experiment: WriteBatch.number(bytes, at: 1),
            name: String(decoding: name, as: UTF8.self),
            type: FieldType(rawValue: bytes[0] & WriteBatch.typeMask) ?? .string,
            isTyped: bytes[0] & WriteBatch.untypedMark == 0)
    }

    func experiment(ofColumn index: Int) -> Int {
        WriteBatch.number(columns.heap, at: columns.range(index).lowerBound + 1)
    }

    func experiment(ofTagSet index: Int) -> Int {
        WriteBatch.number(tagSets.heap, at: tagSets.range(index).lowerBound)
    }

    /// Whether a cell of a string column has nothing but blanks.
    func isBlank(_ cell: BatchCell) -> Bool {
        !ISOTime.isWord(cell.bits)
            && strings.copy(Int(truncatingIfNeeded: cell.bits))
                .allSatisfy { $0 == 0x20 || $0 == 0x09 }
    }

    func receivedTagSet(_ index: Int) -> ReceivedTagSet { WriteBatch.tagSet(tagSets.copy(index)) }

    static func tagSet(_ bytes: [UInt8]) -> ReceivedTagSet {
        let words = words(bytes).map { String(decoding: bytes[$0], as: UTF8.self) }
        let tags = stride(from: 0, to: words.count, by: 2).map { (words[$0], words[$0 + 1]) }
        return ReceivedTagSet(experiment: WriteBatch.number(bytes, at: 0), tags: tags)
    }

    /// Where the words of a tag set lie: a name, its value, the next name.
    static func words(_ bytes: [UInt8]) -> [Range<Int>] {
        var words: [Range<Int>] = []
        var offset = 4
        while offset < bytes.count {
            let start = offset + 4
            offset = start + WriteBatch.number(bytes, at: offset)
            words.append(start..<offset)
        }
        return words
    }
}
