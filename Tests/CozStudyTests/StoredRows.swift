// Everything that a database holds, as the tests compare it.

internal import CozTestSupport

@testable internal import CozDB

/// The values of one row.
struct StoredRow: Hashable {
    var experiment: String
    /// Values of the identity tags.
    var key: [String]
    var time: Int64
    var fields: [String: FieldValue] = [:]
    var attributes: [String: FieldValue] = [:]

    static func all(_ database: Database) throws -> [StoredRow] {
        var rows: [StoredRow] = []
        for view in try database.takeSnapshot().experiments {
            let columns = view.schema.columns
            for series in try view.series() {
                var cursor = view.rows(of: series, columns: columns.map(\.id), in: .all)
                var block = ColumnBatch()
                while try cursor.next(into: &block) {
                    for index in 0..<block.count {
                        var row = StoredRow(
                            experiment: view.schema.name, key: series.key.tags.map(\.value),
                            time: block.times[index])
                        for (column, values) in zip(columns, block.columns) {
                            guard let value = values.value(index) else { continue }
                            if column.kind == .field {
                                row.fields[column.name] = value
                            } else {
                                row.attributes[column.name] = value
                            }
                        }
                        rows.append(row)
                    }
                }
            }
        }
        return rows
    }

    /// The reasons in the rejects journal.
    static func refusals(_ database: Database) throws -> [Refusal] {
        var refusals: [Refusal] = []
        try database.rejects { entry throws(DatabaseError) in
            refusals.append(entry.refusal)
            return true
        }
        return refusals
    }
}
