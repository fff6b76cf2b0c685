// Points collected for one atomic commit, without an allocation per point or value.
//
// A batch stores each distinct tag set, column and string once and refers to it by number. A point
// is a row of 24 bytes, a value a cell of 16. Numbers are validated when they are added
// (WriteBatch+Handles.swift), so readers need not check them.

/// Points collected for one atomic commit.
///
/// To write a few points, call `add(experiment:tags:time:fields:)`. Importers get handles for the
/// experiment, tag sets and columns and keep them; they are valid until `removeAll`. For each point
/// they then call `append` for its values, and `endRow`.
///
/// Using a handle from another batch, or from before `removeAll`, is a mistake. The batch drops the
/// row and records the first mistake (`mistake`); `write` then throws it and stores nothing. A copy
/// of a batch accepts the handles created before the copy.
///
/// A handle without points creates nothing: no experiment, no field, no type. Points are applied in
/// the order in which they were added. The later of two values for one cell wins.
public struct WriteBatch: Sendable {
    /// A column as received. A field received with two types has two columns.
    struct ReceivedColumn: Sendable {
        /// Number of the experiment in the batch.
        var experiment: Int
        var name: String
        var type: FieldType
        /// Whether the input declared this type. False if it was inferred from the values.
        var isTyped: Bool
        /// The type that the input asks for; nil if it is that of the values.
        var fieldType: FieldType?

        /// The type of the field if nothing else is known about it.
        var newFieldType: FieldType {
            fieldType ?? (!isTyped && type == .integer ? .float : type)
        }

        /// Whether the values are floats that are not what was written, but near it.
        var isRounded: Bool { type == .float && fieldType == .float }

        /// Whether a blank string counts as missing in a field of another type.
        var dropsBlanks: Bool { !isTyped && type == .string }

        /// Whether InfluxDB's type rule accepts the values in a field of this type.
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
        /// Sorted by name; no value is empty.
        var tags: [(name: String, value: String)]
    }

    /// Name of the file or stream of the points added from now on. Used in reports and the rejects
    /// journal.
    public var source: String {
        get { sources.last?.name ?? "" }
        set {
            guard !source.utf8.elementsEqual(newValue.utf8) else { return }
            if sources.last?.firstRow == rows.count { sources.removeLast() }
            sources.append((rows.count, newValue))
        }
    }
    /// Settings for experiments that this batch creates. Existing experiments must match them.
    public var settings = ExperimentSettings()
    /// Preset for experiments that this batch creates, if `settings` names none. Existing
    /// experiments need not match it. nil: no preset.
    public var suggestedPreset: SchemaPreset?
    /// Suggested presets by experiment number; they take precedence over `suggestedPreset`.
    var suggestedPresets: [Int: SchemaPreset] = [:]
    /// New names of fields and tags, by their names in the input, compared byte by byte. A point
    /// that has both names keeps both. Must be set before columns or tag sets are added; otherwise
    /// it is a mistake.
    public var renames: [String: String] = [:] {
        didSet {
            if columns.count + tagSets.count > 0 {
                note(
                    mistake: "renames were set after columns or tag sets were added; set renames "
                        + "first")
            }
            renaming = BatchRenames(renames)
        }
    }
    /// Fields that the commit declares, by experiment.
    private(set) var declarations: [(experiment: Int, field: SchemaPreset.Field)] = []
    /// The participant of lines that name none. If that participant was forgotten, their refused
    /// lines are not kept.
    public var assumedParticipant: String?
    /// Whether a single refused point or value refuses the whole commit.
    public var isAllOrNothing = false
    /// The sources of the points, each with its first row.
    var sources: [(firstRow: Int, name: String)] = []
    /// Lines and values that the importer could not read. They are stored in the rejects journal
    /// with this commit.
    public internal(set) var refusals: [Refusal] = []
    /// Number of lines among the refusals.
    public internal(set) var refusedLineCount = 0

    /// The first wrong use of the batch since `removeAll`; nil if there was none.
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
    /// Whether the open row has an invalid value.
    @usableFromInline var isOpenRowInvalid = false
    /// The open tag set; nil if there is none.
    var openTagSet: OpenTagSet?
    /// Its tags as received, encoded as in `tagSets`.
    var openTags: [UInt8] = []
    var scratch: [UInt8] = []
    var renaming = BatchRenames()
    /// Whether rows may have values under both names of a field.
    @usableFromInline var hasRenamedColumns = false

    /// Creates an empty batch.
    public init() {}

    /// Number of points added, without refused lines.
    public var rowCount: Int { rows.count }
    /// Number of values added.
    public var valueCount: Int { cells.count }
    /// Whether there is nothing to commit.
    public var isEmpty: Bool { rows.isEmpty && refusals.isEmpty && declarations.isEmpty }

    /// Names of the experiments that the batch's points belong to.
    public var experimentNames: [String] {
        let numbers = Set(Set(rows.map(\.tagSet)).map { receivedTagSet(Int($0)).experiment })
        return numbers.sorted().map { experiments.text($0) }
    }

    /// Removes points, handles, declarations and refusals. Keeps allocated memory, source and
    /// settings.
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
        isOpenRowInvalid = false
        mistake = nil
    }

    /// What `renames` did in the points added so far. Cost: a pass over the points if tags were
    /// renamed.
    public var appliedRenames: [AppliedRename] { renaming.report(rows) }

    // MARK: Points

    /// Whether values were appended since the last `endRow`.
    public var hasOpenRow: Bool { cells.count > Int(rows.last?.cellEnd ?? 0) }

    /// Drops the values appended since the last `endRow`, for a line that turned out to be invalid.
    public mutating func abandonRow() {
        cells.removeLast(cells.count - Int(rows.last?.cellEnd ?? 0))
        isOpenRowInvalid = false
        renaming.abandonRow()
    }

    /// Adds a refused line or value, to be stored in the rejects journal. The key of a value may
    /// have all tags of its point; those of the identity and those that name participants are
    /// stored. Lines and reasons are truncated to `Refusal.lineSizeBytesMax` and
    /// `reasonSizeBytesMax` bytes.
    public mutating func refuse(_ refusal: Refusal) {
        if case .line = refusal.subject { refusedLineCount += 1 }
        refusals.append(refusal.cut)
    }

    /// Keeps the attributes of refused values, because the rest of their point is not added.
    ///
    /// - Parameter start: The number of refusals before the first of them.
    package mutating func keepAttributes(ofRefusalsFrom start: Int) {
        for index in refusals.indices.dropFirst(start) { refusals[index].keepsAttributes = true }
    }

    /// Declares a field, which need not have values. Its unit, note, question and options are
    /// stored with the experiment, which is created if it does not exist. The type applies from the
    /// first value on. A later declaration of the field replaces an earlier one. A field that
    /// already has another type keeps it, and the write report lists a conflict.
    ///
    /// - Parameters:
    ///   - field: Its name must be that of one field; `*` has no meaning here.
    ///   - experiment: The experiment's handle in this batch.
    public mutating func declare(_ field: SchemaPreset.Field, experiment: ExperimentHandle) {
        guard let experiment = number(experiment) else { return }
        var field = field
        field.name = renaming.newName(of: Name(field.name)) ?? field.name
        declarations.append((Int(experiment), field))
    }

    /// Adds a point. Tags with an empty value count as missing. Fields and tags named `time` are
    /// refused by the commit.
    ///
    /// - Throws: `usage` for an empty or too long name, a point without fields, or an unfinished
    ///   row. The batch is unchanged then.
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
        guard !hasOpenRow, !isOpenRowInvalid else {
            throw DatabaseError(
                .usage, "an unfinished row has values; call endRow or abandonRow before add"
            )
        }
        add(
            experiment: experiment, tags: tags.map { (name: $0.key, value: $0.value) }, time: time,
            fields: fields.sorted { Name($0.key) < Name($1.key) })
    }

    /// Adds a point of one value. The names have been checked.
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
                "\(what) has \(name.utf8.count) bytes; expected \(least) to "
                    + "\(DatabaseOptions.nameSizeBytesMax) bytes of UTF-8")
        }
    }

    private static func number(_ bytes: [UInt8], at offset: Int) -> Int {
        (0..<4).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
    }

    // MARK: Reading back, for the engine

    /// Returns the text of a string cell.
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
            isTyped: bytes[0] & WriteBatch.untypedMark == 0,
            fieldType: FieldType(
                rawValue: bytes[0] >> WriteBatch.fieldTypeShift & WriteBatch.typeMask))
    }

    func experiment(ofColumn index: Int) -> Int {
        WriteBatch.number(columns.heap, at: columns.range(index).lowerBound + 1)
    }

    func experiment(ofTagSet index: Int) -> Int {
        WriteBatch.number(tagSets.heap, at: tagSets.range(index).lowerBound)
    }

    /// Whether a string cell is blank (spaces and tabs only, or empty).
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

    /// Returns the positions of a tag set's words: a name, its value, the next name, and so on.
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
