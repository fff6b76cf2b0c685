// Converts cells of the researcher API's CSV to batch values.

internal import CozDB
internal import CozImport

/// The columns of a file as fields, and their handles in the current batch.
struct CozieFields {
    private let names: [[UInt8]]
    private let types: [FieldType?]
    private var experiment = WriteBatch.ExperimentHandle.none
    /// Four per column, one for each type. `none` if not yet created.
    private var handles: [WriteBatch.ColumnHandle]

    init() { self.init([], []) }

    /// - Parameters:
    ///   - names: of all columns, including those that are not fields.
    ///   - types: of the fields. Nil for a column without values.
    init(_ names: [[UInt8]], _ types: [FieldType?]) {
        self.names = names
        self.types = types
        handles = []
    }

    mutating func forgetHandles(experiment: WriteBatch.ExperimentHandle) {
        self.experiment = experiment
        handles.removeAll(keepingCapacity: true)
        handles.append(contentsOf: repeatElement(.none, count: 4 * names.count))
    }

    /// Appends the value of a cell that is not empty. A value that does not fit the field type is
    /// appended as text, so that the database refuses only this value.
    mutating func append(
        _ column: Int, _ bytes: PaddedBytes, _ range: Range<Int>, to batch: inout WriteBatch
    ) {
        let type = types[column] ?? .string
        if type == .integer, let integer = CozieFields.integer(bytes, range) {
            let bits = UInt64(bitPattern: integer)
            return batch.append(column: handle(column, .integer, &batch), bits: bits)
        }
        if type != .string {
            switch (type, CozieCell(bytes, range)) {
            case (.float, .number(let bits)), (.integer, .number(let bits)):
                return batch.append(column: handle(column, .float, &batch), bits: bits)
            case (.boolean, .boolean(let flag)):
                return batch.append(column: handle(column, .boolean, &batch), bits: flag ? 1 : 0)
            case (.float, .notANumber), (.integer, .notANumber): return
            default: break
            }
        }
        let bits = bytes.withSpan(range) { batch.string($0).bits }
        batch.append(column: handle(column, .string, &batch), bits: bits)
    }

    /// Parses an integer. pandas prints `74`, or `74.0` if the column also has nulls. Plain digits
    /// are parsed exactly, not as a float.
    private static func integer(_ bytes: PaddedBytes, _ range: Range<Int>) -> Int64? {
        // No integer is longer, in either form.
        guard range.count <= 32 else { return nil }
        if let digits = Int64(String(decoding: bytes.copy(range), as: UTF8.self)) { return digits }
        guard case .number(let bits) = CozieCell(bytes, range) else { return nil }
        return Int64(exactly: Double(bitPattern: bits))
    }

    private mutating func handle(
        _ column: Int, _ type: FieldType, _ batch: inout WriteBatch
    ) -> WriteBatch.ColumnHandle {
        let slot = 4 * column + Int(type.rawValue) - 1
        if handles[slot] != .none { return handles[slot] }
        let name = names[column]
        let handle = batch.column(experiment: experiment, name: name.span, type: type)
        handles[slot] = handle
        return handle
    }
}

/// The tags of the rows. Adjacent rows mostly have the same tags.
struct CozieTags {
    private struct Tag {
        var name: [UInt8]
        /// The column in the file, or -1 for a constant.
        var column: Int
        var value: [UInt8]
        var isParticipant: Bool
    }

    /// Sorted by name in byte order.
    private var tags: [Tag] = []
    private var fallback: [UInt8] = []
    private var experiment = WriteBatch.ExperimentHandle.none
    private var last: WriteBatch.TagSetHandle?

    init() {}

    init(_ header: CozieHeader, _ participantTag: [UInt8], _ participant: [UInt8]) {
        fallback = participant
        for (column, role) in header.roles.enumerated() where role == .tag {
            let isParticipant = header.names[column].elementsEqual("id_participant".utf8)
            tags.append(
                Tag(
                    name: isParticipant ? participantTag : header.names[column], column: column,
                    value: [], isParticipant: isParticipant))
        }
        if !participant.isEmpty, !tags.contains(where: \.isParticipant) {
            tags.append(
                Tag(name: participantTag, column: -1, value: participant, isParticipant: true))
        }
        tags.sort { $0.name.lexicographicallyPrecedes($1.name) }
    }

    mutating func forgetHandles(experiment: WriteBatch.ExperimentHandle) {
        self.experiment = experiment
        last = nil
    }

    /// Returns whose row it is; nil if the row does not say so.
    func participant(of row: CSVRow, in block: CSVBlock) -> String? {
        guard let tag = tags.first(where: \.isParticipant), tag.column < row.cells.count else {
            return nil
        }
        let range =
            tag.column < 0 ? 0..<0 : block.cells[row.cells.lowerBound + tag.column].range
        let value = range.isEmpty ? fallback : block.bytes.copy(range)
        return value.isEmpty ? nil : String(decoding: value, as: UTF8.self)
    }

    /// - Throws: `usage` for a tag value that is too long.
    mutating func handle(
        _ row: CSVRow, _ block: CSVBlock, in batch: inout WriteBatch
    ) throws(DatabaseError) -> WriteBatch.TagSetHandle {
        var isSame = last != nil
        for index in tags.indices where tags[index].column >= 0 {
            let range = block.cells[row.cells.lowerBound + tags[index].column].range
            let usesFallback = range.isEmpty && tags[index].isParticipant
            if usesFallback
                ? tags[index].value == fallback
                : CozieTags.isEqual(tags[index].value, block.bytes, range)
            {
                continue
            }
            guard range.count <= DatabaseOptions.nameSizeBytesMax else {
                throw DatabaseError(
                    .usage,
                    "found a tag of \(range.count) bytes, expected at most "
                        + "\(DatabaseOptions.nameSizeBytesMax)")
            }
            tags[index].value = usesFallback ? fallback : block.bytes.copy(range)
            isSame = false
        }
        if isSame, let last { return last }
        batch.beginTagSet(experiment: experiment)
        for tag in tags where !tag.value.isEmpty {
            batch.addTag(name: tag.name.span, value: tag.value.span)
        }
        let handle = batch.endTagSet()
        last = handle
        return handle
    }

    private static func isEqual(
        _ value: [UInt8], _ bytes: PaddedBytes, _ range: Range<Int>
    ) -> Bool {
        guard value.count == range.count else { return false }
        for index in value.indices where value[index] != bytes[range.lowerBound + index] {
            return false
        }
        return true
    }
}
