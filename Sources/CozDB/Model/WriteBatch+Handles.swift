// Handles for the experiments, tag sets, columns and strings of a write batch.
//
// A handle is a number in the batch and a mark: a hash of what the number stands for. A handle is
// valid if the batch has the same thing at that number. So a handle of another batch, or one kept
// across `removeAll`, either means the same thing or is refused. Batches need no generation
// counter.

extension WriteBatch {
    /// An experiment of a batch.
    public struct ExperimentHandle: Hashable, Sendable {
        let number: UInt32
        let mark: UInt32

        /// A handle that is valid in no batch.
        package static let none = ExperimentHandle(number: .max, mark: 0)

        /// Number of the experiment in the batch, from 0 in order of creation.
        package var index: Int { Int(number) }
    }

    /// A tag set of a batch. It determines the experiment.
    public struct TagSetHandle: Hashable, Sendable {
        @usableFromInline let number: UInt32
        @usableFromInline let mark: UInt32

        /// A handle that is valid in no batch.
        package static let none = TagSetHandle(number: .max, mark: 0)
    }

    /// A field of an experiment, for values of one type.
    public struct ColumnHandle: Hashable, Sendable {
        @usableFromInline let number: UInt32
        /// The type in the lowest byte, and a hash of the column above it.
        @usableFromInline let mark: UInt32

        /// A handle that is valid in no batch.
        package static let none = ColumnHandle(number: .max, mark: 0)

        @inlinable var type: UInt8 { UInt8(truncatingIfNeeded: mark) }
    }

    /// A string of a batch.
    public struct StringHandle: Hashable, Sendable {
        /// A packed time, or the number of the string with its mark in the upper half.
        @usableFromInline package let bits: UInt64

        /// Creates a handle from the `bits` of another one.
        @inlinable package init(bits: UInt64) { self.bits = bits }

        @inlinable var isTime: Bool { bits >> 63 == 1 }
        var number: Int { Int(UInt32(truncatingIfNeeded: bits)) }
        var mark: UInt32 { UInt32(truncatingIfNeeded: bits >> 32) }
    }

    /// A tag set between `beginTagSet` and `endTagSet`.
    struct OpenTagSet: Sendable {
        var experiment: UInt32
        /// Position of the last name in `openTags`.
        var lastName = 0..<0
        /// Whether names are in order and unique, and no value is empty.
        var isCanonical = true
        /// Whether a tag was refused.
        var isWrong = false
    }

    // MARK: Experiments

    /// Returns the handle of an experiment.
    ///
    /// - Parameter name: 1 to 65,535 bytes of valid UTF-8.
    public mutating func experiment(_ name: Span<UInt8>) -> ExperimentHandle {
        let known = experiments.count
        let number = experiments.intern(name)
        if number == known { checkName(name, "experiment name") }
        return ExperimentHandle(
            number: UInt32(truncatingIfNeeded: number), mark: experiments.hash(number))
    }

    /// Suggests a preset for one experiment, in case this batch creates it. Takes precedence over
    /// `suggestedPreset`.
    public mutating func suggest(_ preset: SchemaPreset, experiment: ExperimentHandle) {
        guard let number = number(experiment) else { return }
        suggestedPresets[Int(number)] = preset
    }

    /// Returns the number of an experiment; nil if the handle is invalid, which is recorded as a
    /// mistake.
    mutating func number(_ experiment: ExperimentHandle) -> UInt32? {
        if experiments.has(Int(experiment.number), hash: experiment.mark) {
            return experiment.number
        }
        note("an experiment handle", "experiment(_:)")
        return nil
    }

    // MARK: Columns

    /// Returns the handle of a field for values of one type. Each type of a field has its own
    /// handle.
    ///
    /// - Parameters:
    ///   - experiment: The experiment's handle in this batch.
    ///   - name: 1 to 65,535 bytes of valid UTF-8. The commit refuses the name `time`.
    ///   - type: The type of the values to be appended.
    ///   - isTyped: False for input without types, such as JSON and CSV, where the type is inferred
    ///     from the value. Then an integer creates an undeclared field as float. Numbers convert
    ///     between integer and float if lossless, whatever the type rule. An empty or blank string
    ///     counts as missing if the field is declared or stored with another type.
    public mutating func column(
        experiment: ExperimentHandle, name: Span<UInt8>, type: FieldType, isTyped: Bool = true
    ) -> ColumnHandle {
        column(
            experiment: experiment, name: name, type: type, isTyped: isTyped, fieldType: nil)
    }

    /// Returns the handle of a field for values of one type.
    ///
    /// - Parameter fieldType: The type that the input asks for, if the values have another. The
    ///   first value declares it, unless the field has another type. A float that asks for a float
    ///   field was rounded, so no integer field stores it.
    package mutating func column(
        experiment: ExperimentHandle, name: Span<UInt8>, type: FieldType, isTyped: Bool = true,
        fieldType: FieldType?
    ) -> ColumnHandle {
        guard let experiment = number(experiment) else { return .none }
        let kind =
            type.rawValue | (fieldType?.rawValue ?? 0) << WriteBatch.fieldTypeShift
            | (isTyped ? 0 : WriteBatch.untypedMark)
        guard !renaming.isEmpty else {
            let number = storedColumn(experiment: experiment, name: name, kind)
            return handle(number)
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
        renaming.note(column: number, named: asked, experiment: Int(experiment), kind: kind)
        return handle(number)
    }

    static var untypedMark: UInt8 { 0x80 }
    static var renamedMark: UInt8 { 0x40 }
    static var typeMask: UInt8 { 0x07 }
    /// Where the field type begins, which has as many bits as the type.
    static var fieldTypeShift: UInt8 { 3 }

    private func handle(_ column: UInt32) -> ColumnHandle {
        ColumnHandle(number: column, mark: columnMarks[Int(column)])
    }

    /// Returns the number of a column and adds it if it is new.
    ///
    /// - Parameter formerly: The name before a rename. A renamed column has its own number, to
    ///   distinguish its values from those that came under the new name.
    private mutating func storedColumn(
        experiment: UInt32, name: Span<UInt8>, _ kind: UInt8, formerly: Span<UInt8>? = nil
    ) -> UInt32 {
        scratch.removeAll(keepingCapacity: true)
        scratch.append(formerly == nil ? kind : kind | WriteBatch.renamedMark)
        scratch.appendNumber(Int(experiment))
        if let formerly {
            scratch.appendWord(name)
            scratch.append(copying: formerly)
        } else {
            scratch.append(copying: name)
        }
        let number = columns.intern(scratch)
        if number == columnMarks.count {
            checkName(name, "field name")
            if let formerly { checkName(formerly, "field name") }
            let type = UInt32(kind & WriteBatch.typeMask)
            let mark = mark(of: scratch, from: 5, experiment) ^ UInt32(kind) << 24
            columnMarks.append(mark & ~0xFF | type)
        }
        return UInt32(truncatingIfNeeded: number)
    }

    /// Gives values of the open row their old names back if the row also has the new names.
    @usableFromInline
    mutating func resolveRenames() {
        let start = Int(rows.last?.cellEnd ?? 0)
        for (cell, experiment, name, kind) in renaming.settle(cells[start...]) {
            cells[cell].column = storedColumn(
                experiment: UInt32(truncatingIfNeeded: experiment), name: name.utf8.span, kind)
        }
    }

    /// Returns whether renamed fields keep their names in the open row, because it also has a value
    /// under the new name. For readers whose types depend on names.
    package mutating func keepNames(_ names: [Name]) -> [Bool] {
        renaming.keepNames(names, beside: cells[Int(rows.last?.cellEnd ?? 0)...])
    }

    /// Says that a value of the open row was refused before it could be appended: a renamed field
    /// does not take its name.
    package mutating func noteRefused(field name: String) {
        if renaming.isEmpty { return }
        renaming.noteRefused(Name(name))
        hasRenamedColumns = true
    }

    // MARK: Tag sets

    /// Returns the handle of a tag set. Tags with an empty value count as missing.
    ///
    /// - Parameters:
    ///   - experiment: The experiment's handle in this batch.
    ///   - tags: In any order. If a name occurs twice, the later value wins.
    public mutating func tagSet(
        experiment: ExperimentHandle, tags: [(name: String, value: String)]
    ) -> TagSetHandle {
        beginTagSet(experiment: experiment)
        for tag in tags { addTag(name: tag.name.utf8.span, value: tag.value.utf8.span) }
        return endTagSet()
    }

    /// Starts a tag set without a `String` per tag: call this, then `addTag` for each tag, then
    /// `endTagSet`. An unfinished tag set is discarded.
    public mutating func beginTagSet(experiment: ExperimentHandle) {
        guard let number = number(experiment) else {
            openTagSet = OpenTagSet(experiment: 0, isWrong: true)
            return
        }
        openTagSet = OpenTagSet(experiment: number)
        openTags.removeAll(keepingCapacity: true)
        openTags.appendNumber(Int(number))
    }

    /// Adds a tag to the open tag set. Fastest if names come in byte order.
    ///
    /// - Parameters:
    ///   - name: 1 to 65,535 bytes of valid UTF-8.
    ///   - value: 0 to 65,535 bytes of valid UTF-8.
    public mutating func addTag(name: Span<UInt8>, value: Span<UInt8>) {
        guard var tags = openTagSet else {
            return note(
                mistake: "addTag was called without an open tag set; call beginTagSet first")
        }
        if checkName(name, "tag name"), checkName(value, "tag value", atLeast: 0) {
            let start = openTags.count + 4
            openTags.appendWord(name)
            openTags.appendWord(value)
            let range = start..<(start + name.count)
            let isNext =
                tags.lastName.isEmpty
                || openTags[tags.lastName].lexicographicallyPrecedes(openTags[range])
            if !isNext || value.isEmpty { tags.isCanonical = false }
            tags.lastName = range
        } else {
            tags.isWrong = true
        }
        openTagSet = tags
    }

    /// Finishes the open tag set.
    ///
    /// - Returns: Its handle; equal sets of one experiment have equal handles.
    public mutating func endTagSet() -> TagSetHandle {
        guard let tags = openTagSet else {
            note(mistake: "endTagSet was called without an open tag set; call beginTagSet first")
            return .none
        }
        openTagSet = nil
        if tags.isWrong { return .none }
        if !tags.isCanonical { openTags = WriteBatch.canonicalTagSet(openTags) }
        guard !renaming.isEmpty,
            let (renamed, notes) = renaming.renamed(WriteBatch.tagSet(openTags).tags)
        else { return storedTagSet(tags.experiment) }
        openTags.removeLast(openTags.count - 4)
        for (name, value) in renamed {
            checkName(name.utf8.span, "tag name")
            openTags.appendWord(name.utf8.span)
            openTags.appendWord(value.utf8.span)
        }
        let handle = storedTagSet(tags.experiment)
        renaming.note(tagSet: handle.number, notes)
        return handle
    }

    private mutating func storedTagSet(_ experiment: UInt32) -> TagSetHandle {
        let number = tagSets.intern(openTags)
        if number == tagSetMarks.count {
            tagSetMarks.append(mark(of: openTags, from: 4, experiment))
        }
        return TagSetHandle(
            number: UInt32(truncatingIfNeeded: number), mark: tagSetMarks[number])
    }

    /// Returns a hash of a column or tag set by its names and that of its experiment, independent
    /// of numbers in the batch.
    private func mark(of bytes: [UInt8], from start: Int, _ experiment: UInt32) -> UInt32 {
        hashBytes(bytes.span.extracting(start...))
            ^ experiments.hash(Int(experiment)) &* 0x9E37_79B9
    }

    /// Returns a tag set sorted by name. If a name occurs twice, the later value wins. Tags with an
    /// empty value are dropped.
    private static func canonicalTagSet(_ bytes: [UInt8]) -> [UInt8] {
        let words = words(bytes)
        let order = stride(from: 0, to: words.count, by: 2).sorted { left, right in
            let (a, b) = (bytes[words[left]], bytes[words[right]])
            return a.elementsEqual(b) ? left < right : a.lexicographicallyPrecedes(b)
        }
        var result = Array(bytes[..<4])
        for (place, tag) in order.enumerated() where !words[tag + 1].isEmpty {
            let isLast =
                place + 1 == order.count
                || !bytes[words[tag]].elementsEqual(bytes[words[order[place + 1]]])
            // The four bytes before a word hold its length.
            if isLast { result += bytes[(words[tag].lowerBound - 4)..<words[tag + 1].upperBound] }
        }
        return result
    }

    // MARK: Strings

    /// Returns the handle of a string value, which must be valid UTF-8. Equal strings have equal
    /// handles.
    public mutating func string(_ bytes: Span<UInt8>) -> StringHandle {
        if let word = ISOTime.word(of: bytes) { return StringHandle(bits: word) }
        let number = strings.intern(bytes)
        return StringHandle(
            bits: UInt64(strings.hash(number) & WriteBatch.stringMarkMask) << 32
                | UInt64(truncatingIfNeeded: number))
    }

    /// Excludes the highest bit, which marks a packed time.
    private static var stringMarkMask: UInt32 { .max >> 1 }

    // MARK: Points

    /// Appends a float to the open row.
    @inlinable
    public mutating func append(_ value: Double, to column: ColumnHandle) {
        append(column, .float, value.bitPattern)
    }

    /// Appends an integer to the open row.
    @inlinable
    public mutating func append(_ value: Int64, to column: ColumnHandle) {
        append(column, .integer, UInt64(bitPattern: value))
    }

    /// Appends a boolean to the open row.
    @inlinable
    public mutating func append(_ value: Bool, to column: ColumnHandle) {
        append(column, .boolean, value ? 1 : 0)
    }

    /// Appends a string to the open row.
    @inlinable
    public mutating func append(_ value: StringHandle, to column: ColumnHandle) {
        if value.isTime {
            append(column, .string, value.bits)
        } else {
            appendNumbered(value, to: column)
        }
    }

    @inlinable @inline(__always)
    mutating func append(_ column: ColumnHandle, _ type: FieldType, _ bits: UInt64) {
        if column.type == type.rawValue {
            append(checked: column, bits)
        } else {
            refuse(column, type)
        }
    }

    /// Appends a value of the column's type.
    ///
    /// - Parameter bits: Float: bit pattern. Integer: two's complement. Boolean: 0 or 1. String:
    ///   `bits` of its handle.
    @inlinable @inline(__always)
    package mutating func append(column: ColumnHandle, bits: UInt64) {
        if column.type == FieldType.string.rawValue, bits >> 63 == 0 {
            appendNumbered(StringHandle(bits: bits), to: column)
        } else {
            append(checked: column, bits)
        }
    }

    @inlinable @inline(__always)
    mutating func append(checked column: ColumnHandle, _ bits: UInt64) {
        let number = Int(column.number)
        if number < columnMarks.count, columnMarks[number] == column.mark {
            cells.append(BatchCell(bits: bits, column: column.number))
        } else {
            refuse(column, nil)
        }
    }

    @usableFromInline
    mutating func appendNumbered(_ value: StringHandle, to column: ColumnHandle) {
        let number = value.number
        guard number < strings.count,
            strings.hash(number) & WriteBatch.stringMarkMask == value.mark
        else {
            isOpenRowInvalid = true
            return note("a string handle", "string(_:)")
        }
        append(column, .string, UInt64(truncatingIfNeeded: number))
    }

    /// Drops a value and its row.
    ///
    /// - Parameter type: The type of the value; nil if the column handle is invalid.
    @usableFromInline
    mutating func refuse(_ column: ColumnHandle, _ type: FieldType?) {
        isOpenRowInvalid = true
        let number = Int(column.number)
        guard let type, number < columnMarks.count, columnMarks[number] == column.mark else {
            return note("a column handle", "column(experiment:name:type:)")
        }
        let received = receivedColumn(number)
        note(
            mistake: "appended a value of type \(type.name) with a handle of \"\(received.name)\" "
                + "for type \(received.type.name); get a handle of the field for type \(type.name)")
    }

    /// Finishes a row with the values appended since the previous one. A row without values stores
    /// nothing.
    ///
    /// - Parameters:
    ///   - tagSet: The tags of the row, which also determine its experiment.
    ///   - time: Nanoseconds since 1970 UTC.
    ///   - line: Line in `source`, from 1; 0 if unknown.
    @inlinable
    public mutating func endRow(tagSet: TagSetHandle, time: Int64, line: Int) {
        if hasRenamedColumns { resolveRenames() }
        let number = Int(tagSet.number)
        if isOpenRowInvalid || number >= tagSetMarks.count || tagSetMarks[number] != tagSet.mark
            || cells.count > Int(UInt32.max)
        {
            return dropRow()
        }
        rows.append(
            BatchRow(
                time: time, line: max(0, line), tagSet: tagSet.number,
                cellEnd: UInt32(truncatingIfNeeded: cells.count)))
    }

    @usableFromInline
    mutating func dropRow() {
        if cells.count > Int(UInt32.max) {
            note(mistake: "a batch has more than \(UInt32.max) values; split it")
        } else if !isOpenRowInvalid {
            note("a tag set handle", "tagSet(experiment:tags:)")
        }
        abandonRow()
    }

    // MARK: Mistakes

    /// Records the use of an invalid handle.
    private mutating func note(_ what: String, _ call: String) {
        note(
            mistake: "\(what) is invalid: it is from another batch, or from before removeAll; get "
                + "a new one with \(call)")
    }

    /// Records a mistake if it is the first.
    mutating func note(mistake message: String) {
        if mistake == nil { mistake = DatabaseError(.usage, message) }
    }

    @discardableResult
    private mutating func checkName(
        _ name: Span<UInt8>, _ what: String, atLeast least: Int = 1
    ) -> Bool {
        guard (least...DatabaseOptions.nameSizeBytesMax).contains(name.count) else {
            note(
                mistake: "\(what) has \(name.count) bytes; expected \(least) to "
                    + "\(DatabaseOptions.nameSizeBytesMax) bytes of UTF-8")
            return false
        }
        // Repairing the bytes could make two names equal.
        guard (try? UTF8Span(validating: name)) != nil else {
            note(mistake: "\(what) is not valid UTF-8")
            return false
        }
        return true
    }
}

extension [UInt8] {
    mutating func append(copying bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }

    /// Appends a 32-bit number in four bytes.
    fileprivate mutating func appendNumber(_ number: Int) {
        for shift in [0, 8, 16, 24] { append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    /// Appends a length and that many bytes.
    fileprivate mutating func appendWord(_ word: Span<UInt8>) {
        appendNumber(word.count)
        append(copying: word)
    }
}
