// Rows on their way through the executor.

/// A batch of rows with the columns of a plan.
struct RowBatch {
    private(set) var times: [Int64]
    var references: RowColumns
    /// One vector for each dimension whose value differs from row to row.
    var dimensions: [ResultVector] = []

    init(times: [Int64] = []) {
        self.times = times
        references = RowColumns(count: times.count)
    }

    init(times: [Int64], references: RowColumns, dimensions: [ResultVector] = []) {
        self.times = times
        self.references = references
        self.dimensions = dimensions
    }

    var count: Int { times.count }

    /// Keeps the rows at these indexes, in this order.
    mutating func keep(_ rows: [Int]) {
        times = rows.map { times[$0] }
        references.keep(rows)
        // Shared by all dimensions without a value, which have no type.
        let nothing = ResultVector.constant(nil, count: rows.count)
        dimensions = dimensions.map { $0.type == nil ? nothing : $0.filtered(rows) }
    }

    /// Returns the rows at these indexes, in this order.
    func filtered(_ rows: [Int]) -> RowBatch {
        var result = self
        result.keep(rows)
        return result
    }
}
