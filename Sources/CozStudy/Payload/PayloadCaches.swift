// What a decoder knows of the batch that it fills: handles of experiments, tag sets and columns by
// the bytes that stand for them in payloads.

internal import CozDB
internal import CozImport

/// Belongs to one batch.
struct PayloadCaches: ~Copyable {
    /// A field as it is named in payloads, and what is known of it in the batch.
    struct Field {
        /// Handle of the column by what its values look like; `none` before the first.
        var floatColumn = WriteBatch.ColumnHandle.none
        var integerColumn = WriteBatch.ColumnHandle.none
        var stringColumn = WriteBatch.ColumnHandle.none
        var booleanColumn = WriteBatch.ColumnHandle.none
        /// The field that followed it last time; -1 where unknown.
        var next = -1
        /// Its place in the list of the fields with companions; -1: it has none.
        var companions = -1
        var isTrigger = false
        /// Why its values cannot be stored; nil: they can.
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

    /// Raw names of experiments; the owner is 0.
    var experimentKeys = KeyTable()
    /// By key.
    var experiments: [WriteBatch.ExperimentHandle] = []
    /// Raw tags from brace to brace; the owner is the experiment.
    var tagKeys = KeyTable()
    var tagSets: [WriteBatch.TagSetHandle] = []
    /// Raw names of fields; the owner is the experiment and the part they stand in.
    var fieldKeys = KeyTable()
    var fields: [Field] = []
    /// Columns that enrichment fills, by experiment of the batch.
    var companions: [WriteBatch.ExperimentHandle: CompanionColumns] = [:]

    /// The columns that enrichment fills in one experiment.
    struct CompanionColumns {
        var arrival: WriteBatch.ColumnHandle
        var trigger: WriteBatch.ColumnHandle
        /// Of the fields with companions, as far as they came: arrival and trigger.
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
