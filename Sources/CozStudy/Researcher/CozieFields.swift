// Cells of the researcher API's CSV to values of a batch.

internal import CozDB
internal import CozImport

/// The columns of a file as fields, with their handles in the batch being filled.
struct CozieFields {
    private let names: [[UInt8]]
    private let types: [FieldType?]
    private var experiment = WriteBatch.ExperimentHandle.none
    /// Four for each column, one per type; `none` where the batch has not heard of it.
    private var handles: [WriteBatch.ColumnHandle]

    init() { self.init([], []) }

    /// - Parameters:
    ///   - names: of the columns, fields or not.
    ///   - types: of the fields; nil for a column without values.
    init(_ names: [[UInt8]], _ types: [FieldType?]) {
        self.names = names
        self.types = types
        handles = []
    }

    /// Another batch begins.
    mutating func forgetHandles(experiment: WriteBatch.ExperimentHandle) {
        self.experiment = experiment
        handles.removeAll(keepingCapacity: true)
        handles.append(contentsOf: repeatElement(.none, count: 4 * names.count))
    }

    /// Appends the value of a cell that is not empty. What is no value of the field's type comes as
    /// text, so that the database refuses it, and it alone.
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

    /// Integers come as `74`, and as `74.0` from a column that has nulls too. Digits alone are
    /// exact, whatever their number.
    private static func integer(_ bytes: PaddedBytes, _ range: Range<Int>) -> Int64? {
        // No integer is longer, nor a float that is one.
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

/// The tags of the rows. Neighbours mostly have the same ones.
struct CozieTags {
    private struct Tag {
        var name: [UInt8]
        /// The column of the file; -1: the same value for all rows.
        var column: Int
        var value: [UInt8]
        var isParticipant: Bool
    }

    /// In byte order of their names.
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

    /// Another batch begins.
    mutating func forgetHandles(experiment: WriteBatch.ExperimentHandle) {
        self.experiment = experiment
        last = nil
    }

    /// The handle of a row's tags in the batch.
    ///
    /// - Throws: `usage` for a value too long.
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
