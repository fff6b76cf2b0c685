// Converts cells of the researcher API's CSV to batch values.

internal import CozDB
internal import CozImport

/// The columns of a file as fields, and their handles in the current batch.
struct CozieFields {
    /// A column whose type depends on whether it keeps its name in a row.
    struct Renamed {
        let column: Int
        let name: Name
        /// The type in rows in which it gets the new name.
        let type: FieldType?
    }

    private let names: [[UInt8]]
    private let ownTypes: [FieldType?]
    /// The types in the current row.
    private var types: [FieldType?]
    private let renamed: [Renamed]
    /// For each of `renamed`, whether it keeps its name in the current row.
    private var kept: [Bool]
    private var experiment = WriteBatch.ExperimentHandle.none
    /// Four per column, one for each type. `none` if not yet created.
    private var handles: [WriteBatch.ColumnHandle]

    init() { self.init([], [], []) }

    /// - Parameters:
    ///   - names: of all columns, including those that are not fields.
    ///   - types: of the fields. Nil for a column without values.
    init(_ names: [[UInt8]], _ types: [FieldType?], _ renamed: [Renamed]) {
        self.names = names
        ownTypes = types
        self.types = types
        self.renamed = renamed
        kept = Array(repeating: true, count: renamed.count)
        handles = []
    }

    mutating func forgetHandles(experiment: WriteBatch.ExperimentHandle) {
        self.experiment = experiment
        handles.removeAll(keepingCapacity: true)
        handles.append(contentsOf: repeatElement(.none, count: 4 * names.count))
    }

    /// Appends the values of a row.
    mutating func append(
        _ row: CSVRow, _ block: CSVBlock, _ roles: [CozieColumnRole], to batch: inout WriteBatch
    ) {
        appendCells(row, block, roles, to: &batch)
        if renamed.isEmpty { return }
        // Only now it is known which columns keep their names.
        let answers = batch.keepNames(renamed.map(\.name))
        if answers == kept { return }
        kept = answers
        for (column, isKept) in zip(renamed, kept) {
            types[column.column] = isKept ? ownTypes[column.column] : column.type
            for slot in 0..<4 { handles[4 * column.column + slot] = .none }
        }
        batch.abandonRow()
        appendCells(row, block, roles, to: &batch)
    }

    private mutating func appendCells(
        _ row: CSVRow, _ block: CSVBlock, _ roles: [CozieColumnRole], to batch: inout WriteBatch
    ) {
        for (column, cell) in zip(roles.indices, row.cells)
        where !block.cells[cell].isEmpty && roles[column] == .field {
            append(column, block.bytes, block.cells[cell].range, to: &batch)
        }
    }

    /// Appends the value of a cell that is not empty. A value that does not fit the field type is
    /// appended as text, so that the database refuses only this value.
    private mutating func append(
        _ column: Int, _ bytes: PaddedBytes, _ range: Range<Int>, to batch: inout WriteBatch
    ) {
        let type = types[column] ?? .string
        if type == .integer, let integer = CozieFields.integer(bytes, range) {
            let bits = UInt64(bitPattern: integer)
            return batch.append(column: handle(column, .integer, &batch), bits: bits)
        }
        if type != .string {
            switch (type, CozieCell(bytes, range)) {
            case (.float, .number(let bits)):
                return batch.append(column: handle(column, .float, &batch), bits: bits)
            case (.integer, .number(let bits))
            where Int64(exactly: Double(bitPattern: bits)) == nil:
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
        if let digits = Int64(String(decoding: bytes.copy(range), as: UTF8.self)) { return digits }
        guard case .number(let bits) = CozieCell(bytes, range) else { return nil }
        let value = Double(bitPattern: bits)
        return NumberParsing.isRounded(bytes, range, to: value) ? nil : Int64(exactly: value)
    }

    private mutating func handle(
        _ column: Int, _ type: FieldType, _ batch: inout WriteBatch
    ) -> WriteBatch.ColumnHandle {
        let slot = 4 * column + Int(type.rawValue) - 1
        if handles[slot] != .none { return handles[slot] }
        let name = names[column]
        let fieldType = types[column]
        let handle = batch.column(
            experiment: experiment, name: name.span, type: type,
            fieldType: fieldType == type ? nil : fieldType)
        handles[slot] = handle
        return handle
    }
}
