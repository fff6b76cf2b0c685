// Columns with values that do not have the type of their field.

internal import CozDB

/// Handles of such columns for one experiment and batch. A column is looked up by its number rather
/// than by its name, which may be long. Rows that name their fields have no numbers.
struct MismatchedColumns {
    private struct Key: Hashable {
        var column: Int
        var type: FieldType
    }

    private var handles: [Key: WriteBatch.ColumnHandle] = [:]

    /// Returns the batch's handle of a column for the type of a value.
    ///
    /// - Parameter asked: the type that the input asks for; nil if it asks for none. It is that of
    ///   the column, whatever the value.
    mutating func handle(
        _ name: [UInt8], _ column: Int?, _ type: FieldType, asked: FieldType?,
        _ experiment: WriteBatch.ExperimentHandle, _ batch: inout WriteBatch
    ) -> WriteBatch.ColumnHandle {
        let key = column.map { Key(column: $0, type: type) }
        if let key, let known = handles[key] { return known }
        let handle = batch.column(
            experiment: experiment, name: name.span, type: type,
            fieldType: asked == type ? nil : asked)
        if let key { handles[key] = handle }
        return handle
    }
}
