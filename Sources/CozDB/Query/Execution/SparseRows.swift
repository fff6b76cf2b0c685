// Rows of very many columns, most of them empty.

/// Collected rows with the columns that have a value. Of thousands of columns, the rows of one
/// series or group have few.
struct SparseRows {
    private(set) var times: [Int64] = []
    private var builders: [Int: VectorBuilder] = [:]
    /// The approximate memory of times and columns.
    private(set) var sizeBytes = 0

    /// Adds rows.
    ///
    /// - Parameters:
    ///   - present: the columns that may have a value in the rows.
    ///   - type: the type of a column; nil if unknown.
    mutating func add(
        _ times: [Int64], _ columns: [ResultVector], _ present: some Sequence<Int>,
        type: (Int) -> FieldType?
    ) {
        for index in present where columns[index].type != nil {
            let isNew = builders[index] == nil
            var builder = builders.removeValue(forKey: index) ?? VectorBuilder(type: type(index))
            sizeBytes += isNew ? 2 * MemoryLayout<VectorBuilder>.stride : -builder.sizeBytes
            builder.appendNulls(upTo: self.times.count)
            builder.append(columns[index])
            sizeBytes += builder.sizeBytes
            builders[index] = builder
        }
        self.times += times
        sizeBytes += times.count * 8
    }

    /// Adds rows with the references of a plan.
    mutating func add(_ rows: Block, _ present: some Sequence<Int>, _ plan: SelectPlan) {
        add(rows.times, rows.references, present) { plan.references[$0].type }
    }

    /// Returns all columns. Those without a value have no type and share their memory.
    ///
    /// - Parameter order: the rows in their new order; nil keeps the order.
    mutating func columns(_ count: Int, _ order: [Int]? = nil) -> [ResultVector] {
        let nothing = ResultVector.constant(nil, count: order?.count ?? times.count)
        return (0..<count).map { index in
            guard var builder = builders[index] else { return nothing }
            builder.appendNulls(upTo: times.count)
            let column = builder.finished()
            return order.map { column.filtered($0) } ?? column
        }
    }
}
