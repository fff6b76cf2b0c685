// Caches of a payload decoder: batch handles of experiments, tag sets and columns, keyed by their
// raw bytes in payloads.

internal import CozDB
internal import CozImport

/// The caches for one batch.
struct PayloadCaches: ~Copyable {
    /// A field name in payloads and its columns in the batch.
    struct Field {
        /// The column for each value type, or `none` before the first value.
        var floatColumn = WriteBatch.ColumnHandle.none
        var integerColumn = WriteBatch.ColumnHandle.none
        var stringColumn = WriteBatch.ColumnHandle.none
        var booleanColumn = WriteBatch.ColumnHandle.none
        /// The field that last followed this one, or -1.
        var next = -1
        /// The index in `CozieEnrichment.fields`, or -1 if the field has no companions.
        var companions = -1
        var isTrigger = false
        /// Why values of this field are refused. Nil if they are not.
        var fault: String?

        subscript(_ type: FieldType) -> WriteBatch.ColumnHandle {
            get {
                switch type {
                case .float: floatColumn
                case .integer: integerColumn
                case .string: stringColumn
                case .boolean: booleanColumn
                }
            }
            set {
                switch type {
                case .float: floatColumn = newValue
                case .integer: integerColumn = newValue
                case .string: stringColumn = newValue
                case .boolean: booleanColumn = newValue
                }
            }
        }
    }

    /// Raw experiment names. The owner is 0.
    var experimentKeys = KeyTable()
    /// Indexed by `experimentKeys`.
    var experiments: [WriteBatch.ExperimentHandle] = []
    /// Raw tag objects, braces included. The owner is the experiment.
    var tagKeys = KeyTable()
    var tagSets: [WriteBatch.TagSetHandle] = []
    /// Raw field names. The owner is the experiment and the part of the item.
    var fieldKeys = KeyTable()
    var fields: [Field] = []
    var companions: [WriteBatch.ExperimentHandle: CompanionColumns] = [:]

    struct CompanionColumns {
        var arrival: WriteBatch.ColumnHandle
        var trigger: WriteBatch.ColumnHandle
        /// Indexed like `CozieEnrichment.fields`. Entries are added when a field first has a value.
        var fields: [Int: (arrival: WriteBatch.ColumnHandle, trigger: WriteBatch.ColumnHandle)] =
            [:]
    }

    mutating func removeAll() {
        experimentKeys.removeAll()
        experiments.removeAll(keepingCapacity: true)
        tagKeys.removeAll()
        tagSets.removeAll(keepingCapacity: true)
        fieldKeys.removeAll()
        fields.removeAll(keepingCapacity: true)
        companions.removeAll(keepingCapacity: true)
    }
}
