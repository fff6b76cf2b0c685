// Rows on their way through the executor.

/// A batch of rows with the columns of a plan.
struct RowBatch {
    var times: [Int64] = []
    /// One vector for each reference of the plan.
    var references: [ResultVector] = []
    /// One vector for each dimension whose value differs from row to row.
    var dimensions: [ResultVector] = []

    var count: Int { times.count }

    /// Returns the rows at these indexes, in this order.
    func filtered(_ rows: [Int]) -> RowBatch {
        // Shared by all columns without a value, which have no type.
        let nothing = ResultVector.constant(nil, count: rows.count)
        let filter = { (column: ResultVector) in
            column.type == nil ? nothing : column.filtered(rows)
        }
        return RowBatch(
            times: rows.map { times[$0] }, references: references.map(filter),
            dimensions: dimensions.map(filter))
    }
}
