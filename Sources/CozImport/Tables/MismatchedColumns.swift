// Columns with values that do not have the type of their field.

internal import CozDB

/// Handles and declarations of such columns for one experiment and batch. A column is looked up by
/// its number rather than by its name, which may be long. Rows that name their fields have no
/// numbers.
struct MismatchedColumns {
    private struct Key: Hashable {
        var column: Int
        var type: FieldType
    }

    private var handles: [Key: WriteBatch.ColumnHandle] = [:]
    private var declaredNames: Set<[UInt8]> = []
    private var declaredColumns: Set<Int> = []

    /// Returns the batch's handle of a column for the type of a value.
    mutating func handle(
        _ name: [UInt8], _ column: Int?, _ type: FieldType,
        _ experiment: WriteBatch.ExperimentHandle, _ batch: inout WriteBatch
    ) -> WriteBatch.ColumnHandle {
        let key = column.map { Key(column: $0, type: type) }
        if let key, let known = handles[key] { return known }
        let handle = batch.column(experiment: experiment, name: name.span, type: type)
        if let key { handles[key] = handle }
        return handle
    }

    /// Declares the type of a new field once. Otherwise a value of another type would set it.
    mutating func declare(
        _ name: [UInt8], _ column: Int?, _ type: FieldType,
        _ experiment: (name: [UInt8], handle: WriteBatch.ExperimentHandle), _ lookup: SchemaLookup,
        _ batch: inout WriteBatch
    ) {
        if let column, !declaredColumns.insert(column).inserted { return }
        guard declaredNames.insert(name).inserted,
            lookup.type(of: name, in: experiment.name) == nil
        else { return }
        batch.declareType(
            String(decoding: name, as: UTF8.self), type, experiment: experiment.handle)
    }
}
