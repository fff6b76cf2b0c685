// Points collected for one atomic write, in a form that costs no allocation per point or value.
//
// A batch holds each distinct tag set, column and string once and refers to them by number; a
// point is a row of twenty-four bytes, a value a cell of sixteen.

/// Points collected for one atomic commit.
///
/// Programs that write a few points call `add(experiment:tags:time:fields:)`. Importers use the
/// numbered form: get numbers for the experiment, tag set and columns (and keep them, they stay
/// valid until `removeAll`), then for each point `append` its values and `endRow`.
///
/// A number that no point uses creates nothing: neither an experiment, nor a field, nor a lock.
/// Points are applied in the order they were added; the later of two values for one cell wins.
public struct WriteBatch: Sendable {
    /// One point: where its cells end, and where it came from.
    @frozen public struct Row: Sendable {
        public var time: Int64
        /// Line in `source`, from 1; 0 if unknown.
        public var line: Int
        /// Number of its tag set in the batch.
        public var tagSet: UInt32
        /// Index after the last of its cells; they begin where those of the row before end.
        public var cellEnd: UInt32

        @inlinable init(time: Int64, line: Int, tagSet: UInt32, cellEnd: UInt32) {
            self.time = time
            self.line = line
            self.tagSet = tagSet
            self.cellEnd = cellEnd
        }
    }

    /// One value: 64 bits whose meaning is the type of the column.
    @frozen public struct Cell: Sendable {
        /// Float: bit pattern; integer: two's complement; boolean: 0 or 1; string: what
        /// `WriteBatch.string` gave for it.
        public var bits: UInt64
        /// Number of the column in the batch.
        public var column: UInt32

        @inlinable init(bits: UInt64, column: UInt32) {
            self.bits = bits
            self.column = column
        }
    }

    /// A column as received: the same field with two types is two columns.
    public struct ReceivedColumn: Sendable {
        /// Number of the experiment in the batch.
        public var experiment: Int
        /// Name of the field.
        public var name: String
        /// Type of the values.
        public var type: FieldType
        /// Whether the input said that they have this type; false: they only look like it.
        public var isTyped: Bool

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
    public struct TagSet: Sendable {
        /// Number of the experiment in the batch.
        public var experiment: Int
        /// Sorted by name, values not empty.
        public var tags: [(name: String, value: String)]
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
    private(set) var suggestedPresets: [Int: SchemaPreset] = [:]
    /// Fields and tags to store under another name, by the name they come with; compared byte by
    /// byte. A point that has both names keeps both as they came. To be set while the batch is
    /// empty.
    public var renames: [String: String] = [:] {
        didSet { renaming = BatchRenames(renames) }
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

    @usableFromInline var rows: [Row] = []
    @usableFromInline var cells: [Cell] = []
    var experiments = BytePool()
    var tagSets = BytePool()
    var columns = BytePool()
    var strings = BytePool()
    private var scratch: [UInt8] = []
    private var renaming = BatchRenames()
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
        renaming.removeAll()
        hasRenamedColumns = false
    }

    /// What `renames` did in the points added so far. Cost: one pass over them where tags were
    /// renamed.
    public var appliedRenames: [AppliedRename] { renaming.report(rows) }

    /// Suggests a preset for one experiment, should this batch create it, as `suggestedPreset` does
    /// for all.
    ///
    /// - Parameter experiment: its number in the batch.
    public mutating func suggest(_ preset: SchemaPreset, experiment: Int) {
        suggestedPresets[experiment] = preset
    }

    // MARK: Numbers

    /// The number of an experiment in this batch. Name: 1 to 65,535 bytes of valid UTF-8.
    public mutating func experiment(_ name: Span<UInt8>) -> Int {
        experiments.intern(name)
    }

    /// The number of a field with this type. The same field with another type has another number.
    ///
    /// - Parameter isTyped: false for input that has no types, such as JSON and CSV, where a type
    ///   is only what a value looks like. Then an integer locks a field that nothing is known of
    ///   as float; a number is no type conflict whatever the type rule, as long as it stays the
    ///   same number; and a string that is empty or blank is no value where the field is declared
    ///   or stored as something else.
    public mutating func column(
        experiment: Int, name: Span<UInt8>, type: FieldType, isTyped: Bool = true
    ) -> UInt32 {
        let kind = type.rawValue | (isTyped ? 0 : WriteBatch.untypedMark)
        guard !renaming.isEmpty else {
            return storedColumn(experiment: experiment, name: name, kind)
        }
        let asked = Name(String(decoding: [UInt8](copying: name), as: UTF8.self))
        let number: UInt32
        if let other = renaming.newName(of: asked) {
            number = storedColumn(
                experiment: experiment, name: other.utf8.span, kind, formerly: name)
            hasRenamedColumns = true
        } else {
            number = storedColumn(experiment: experiment, name: name, kind)
        }
        renaming.note(column: number, named: asked, experiment: experiment, kind: kind)
        return number
    }

    private static var untypedMark: UInt8 { 0x80 }
    private static var typeMask: UInt8 { 0x3F }

    private mutating func storedColumn(
        experiment: Int, name: Span<UInt8>, _ kind: UInt8
    ) -> UInt32 {
        scratch.removeAll(keepingCapacity: true)
        scratch.append(kind)
        appendNumber(experiment)
        scratch.append(copying: name)
        return UInt32(truncatingIfNeeded: columns.intern(scratch))
    }

    /// A renamed column has a number of its own, which tells its values from those that came
    /// under the new name.
    private mutating func storedColumn(
        experiment: Int, name: Span<UInt8>, _ kind: UInt8, formerly: Span<UInt8>
    ) -> UInt32 {
        scratch.removeAll(keepingCapacity: true)
        scratch.append(kind | WriteBatch.renamedMark)
        appendNumber(experiment)
        appendWord(name)
        scratch.append(copying: formerly)
        return UInt32(truncatingIfNeeded: columns.intern(scratch))
    }

    private static var renamedMark: UInt8 { 0x40 }

    /// Gives values of the row that `endRow` finishes their old names again where the row has
    /// the new ones as well.
    @usableFromInline
    mutating func settleRenames() {
        let start = Int(rows.last?.cellEnd ?? 0)
        for (cell, experiment, name, kind) in renaming.settle(cells[start...]) {
            cells[cell].column = storedColumn(
                experiment: experiment, name: name.utf8.span, kind)
        }
    }

    /// The number of a tag set. Tags with an empty value count as missing.
    ///
    /// - Parameter tags: in any order; of two with the same name the later one counts.
    public mutating func tagSet(
        experiment: Int, tags: [(name: String, value: String)]
    ) -> UInt32 {
        var byName: [Name: String] = [:]
        for tag in tags { byName[Name(tag.name)] = tag.value }
        beginTagSet(experiment: experiment)
        for (name, value) in byName.sorted(by: { $0.key < $1.key }) where !value.isEmpty {
            appendWord(name.text.utf8.span)
            appendWord(value.utf8.span)
        }
        return endTagSet()
    }

    /// The same without a String per tag: `beginTagSet`, then `addTag` in byte order of the
    /// names, each name once and no empty value, then `endTagSet`.
    public mutating func beginTagSet(experiment: Int) {
        scratch.removeAll(keepingCapacity: true)
        appendNumber(experiment)
    }

    /// Adds a tag to the set begun last: name and value of at most 65,535 bytes of valid UTF-8, or
    /// the write of the batch throws `usage`.
    public mutating func addTag(name: Span<UInt8>, value: Span<UInt8>) {
        appendWord(name)
        appendWord(value)
    }

    /// Finishes the set begun last.
    ///
    /// - Returns: its number, the same for equal sets of one experiment.
    public mutating func endTagSet() -> UInt32 {
        guard !renaming.isEmpty else {
            return UInt32(truncatingIfNeeded: tagSets.intern(scratch))
        }
        let came = WriteBatch.tagSet(scratch)
        guard let (tags, notes) = renaming.renamed(came.tags) else {
            return UInt32(truncatingIfNeeded: tagSets.intern(scratch))
        }
        beginTagSet(experiment: came.experiment)
        for (name, value) in tags { addTag(name: name.utf8.span, value: value.utf8.span) }
        let number = UInt32(truncatingIfNeeded: tagSets.intern(scratch))
        renaming.note(tagSet: number, notes)
        return number
    }

    /// The cell bits for a string value: the word of a time for texts that are one, else a number
    /// in this batch. Valid UTF-8; equal strings get equal bits.
    public mutating func string(_ bytes: Span<UInt8>) -> UInt64 {
        ISOTime.word(of: bytes) ?? UInt64(truncatingIfNeeded: strings.intern(bytes))
    }

    /// The text of a string's cell bits.
    func text(_ bits: UInt64) -> String {
        if ISOTime.isWord(bits) { return ISOTime.withBytes(bits) { String(validating: $0) ?? "" } }
        return strings.text(Int(truncatingIfNeeded: bits))
    }

    // MARK: Points

    /// Adds one value to the row that `endRow` will finish.
    @inlinable
    public mutating func append(column: UInt32, bits: UInt64) {
        cells.append(Cell(bits: bits, column: column))
    }

    /// Finishes a row: the cells appended since the last one belong to it.
    @inlinable
    public mutating func endRow(tagSet: UInt32, time: Int64, line: Int) {
        if hasRenamedColumns { settleRenames() }
        rows.append(
            Row(
                time: time, line: line, tagSet: tagSet,
                cellEnd: UInt32(truncatingIfNeeded: cells.count)))
    }

    /// Whether cells were appended since the last `endRow`.
    public var hasOpenRow: Bool { cells.count > Int(rows.last?.cellEnd ?? 0) }

    /// Drops the cells appended since the last `endRow`, for a line that turned out bad.
    public mutating func abandonRow() {
        cells.removeLast(cells.count - Int(rows.last?.cellEnd ?? 0))
    }

    /// Adds a refused line or value to what the commit stores in the rejects journal. The key of
    /// a value may have all tags of its point: those of the identity are kept.
    public mutating func refuse(_ refusal: Refusal) {
        if case .line = refusal.subject { refusedLineCount += 1 }
        refusals.append(refusal)
    }

    /// Declares a field, written or not: unit, note, question and options are kept with the
    /// experiment, which is created where it is new; the type holds from the first value on. A
    /// later declaration of the field replaces an earlier one. A field that has another type
    /// already keeps it; the report of the write lists it among the conflicts.
    ///
    /// - Parameters:
    ///   - field: its name is one field's; `*` has no meaning here.
    ///   - experiment: number of the experiment in the batch.
    public mutating func declare(_ field: SchemaPreset.Field, experiment: Int) {
        var field = field
        field.name = renaming.newName(of: Name(field.name)) ?? field.name
        declarations.append((experiment, field))
    }

    /// Adds one point. Tags with an empty value count as missing.
    ///
    /// - Throws: `usage` for an empty or overlong name, or a point without fields.
    public mutating func add(
        experiment: String, tags: [String: String], time: Timestamp,
        fields: [String: FieldValue]
    ) throws(DatabaseError) {
        try WriteBatch.check(experiment, "experiment name")
        for (name, _) in tags { try WriteBatch.check(name, "tag name") }
        for (name, _) in fields { try WriteBatch.check(name, "field name") }
        guard !fields.isEmpty else {
            throw DatabaseError(.usage, "a point of experiment \"\(experiment)\" has no fields")
        }
        let number = self.experiment(experiment.utf8.span)
        let tagSet = self.tagSet(
            experiment: number, tags: tags.map { (name: $0.key, value: $0.value) })
        for (name, value) in fields.sorted(by: { Name($0.key) < Name($1.key) }) {
            let column = column(experiment: number, name: name.utf8.span, type: value.type)
            append(column: column, bits: bits(of: value))
        }
        endRow(tagSet: tagSet, time: time.nanoseconds, line: rows.count + 1)
    }

    /// Adds a point of one value, with names that were checked before.
    mutating func add(
        experiment: String, key: SeriesKey, time: Timestamp, field: String, value: FieldValue
    ) {
        let number = self.experiment(experiment.utf8.span)
        let tagSet = self.tagSet(experiment: number, tags: key.tags)
        let column = column(experiment: number, name: field.utf8.span, type: value.type)
        append(column: column, bits: bits(of: value))
        endRow(tagSet: tagSet, time: time.nanoseconds, line: rows.count + 1)
    }

    private mutating func bits(of value: FieldValue) -> UInt64 {
        switch value {
        case .float(let number): number.bitPattern
        case .integer(let number): UInt64(bitPattern: number)
        case .boolean(let flag): flag ? 1 : 0
        case .string(let text): string(text.utf8.span)
        }
    }

    private static func check(_ name: String, _ what: String) throws(DatabaseError) {
        guard (1...DatabaseOptions.nameSizeBytesMax).contains(name.utf8.count) else {
            throw DatabaseError(
                .usage,
                "\(what) of \(name.utf8.count) bytes; expected 1 to "
                    + "\(DatabaseOptions.nameSizeBytesMax) bytes of UTF-8")
        }
    }

    private mutating func appendNumber(_ number: Int) {
        let value = UInt32(truncatingIfNeeded: number)
        scratch.append(UInt8(truncatingIfNeeded: value))
        scratch.append(UInt8(truncatingIfNeeded: value >> 8))
        scratch.append(UInt8(truncatingIfNeeded: value >> 16))
        scratch.append(UInt8(truncatingIfNeeded: value >> 24))
    }

    private mutating func appendWord(_ word: Span<UInt8>) {
        appendNumber(word.count)
        scratch.append(copying: word)
    }

    private static func number(_ bytes: [UInt8], at offset: Int) -> Int {
        (0..<4).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
    }

    // MARK: Reading back, for the engine

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

    /// Whether a cell of a string column has nothing but blanks.
    func isBlank(_ cell: Cell) -> Bool {
        !ISOTime.isWord(cell.bits)
            && strings.copy(Int(truncatingIfNeeded: cell.bits))
                .allSatisfy { $0 == 0x20 || $0 == 0x09 }
    }

    func receivedTagSet(_ index: Int) -> TagSet { WriteBatch.tagSet(tagSets.copy(index)) }

    private static func tagSet(_ bytes: [UInt8]) -> TagSet {
        let words = words(bytes).map { String(decoding: bytes[$0], as: UTF8.self) }
        let tags = stride(from: 0, to: words.count, by: 2).map { (words[$0], words[$0 + 1]) }
        return TagSet(experiment: WriteBatch.number(bytes, at: 0), tags: tags)
    }

    /// Where the words of a tag set lie: a name, its value, the next name.
    private static func words(_ bytes: [UInt8]) -> [Range<Int>] {
        var words: [Range<Int>] = []
        var offset = 4
        while offset < bytes.count {
            let start = offset + 4
            offset = start + WriteBatch.number(bytes, at: offset)
            words.append(start..<offset)
        }
        return words
    }

    /// Calls the body with the bytes of the name and the value of each tag.
    func forEachTag(
        of tagSet: Int, _ body: (Span<UInt8>, Span<UInt8>) throws(DatabaseError) -> Void
    ) throws(DatabaseError) {
        let bytes = tagSets.copy(tagSet)
        let words = WriteBatch.words(bytes)
        let span = bytes.span
        for index in stride(from: 0, to: words.count, by: 2) {
            try body(span.extracting(words[index]), span.extracting(words[index + 1]))
        }
    }

    /// Calls the body with the bytes of the name, and with those it had when it came.
    func forEachName(
        ofColumn index: Int, _ body: (Span<UInt8>) throws(DatabaseError) -> Void
    ) throws(DatabaseError) {
        let bytes = columns.copy(index)
        let span = bytes.span
        guard bytes[0] & WriteBatch.renamedMark != 0 else { return try body(span.extracting(5...)) }
        let end = 9 + WriteBatch.number(bytes, at: 5)
        try body(span.extracting(9..<end))
        try body(span.extracting(end...))
    }
}

extension [UInt8] {
    mutating func append(copying bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }
}
