// Rows of very many columns, most of them empty.

/// Collected rows with a column for each reference that has a value. Of thousands of references,
/// the rows of one series or group have few.
struct SparseRows {
    private let plan: SelectPlan
    private(set) var times: [Int64] = []
    private var builders: [Int: VectorBuilder] = [:]
    /// The approximate memory of times and columns.
    private(set) var sizeBytes = 0

    init(_ plan: SelectPlan) {
        self.plan = plan
    }

    /// Adds rows.
    ///
    /// - Parameter present: the references that may have a value in the rows.
    mutating func add(_ rows: Block, _ present: some Sequence<Int>) {
        for index in present where rows.references[index].type != nil {
            let isNew = builders[index] == nil
            var builder =
                builders.removeValue(forKey: index)
                ?? VectorBuilder(type: plan.references[index].type)
            sizeBytes += isNew ? 2 * MemoryLayout<VectorBuilder>.stride : -builder.sizeBytes
            builder.appendNulls(upTo: times.count)
            builder.append(rows.references[index])
            sizeBytes += builder.sizeBytes
            builders[index] = builder
        }
        times += rows.times
        sizeBytes += rows.count * 8
    }

    /// Returns all references of the plan; those without a value have no type.
    ///
    /// - Parameter order: the rows in their new order; nil keeps the order.
    mutating func references(_ order: [Int]? = nil) -> [ResultVector] {
        let nothing = ResultVector.constant(nil, count: order?.count ?? times.count)
        return plan.references.indices.map { index in
            guard var builder = builders[index] else { return nothing }
            builder.appendNulls(upTo: times.count)
            let column = builder.finished()
            return order.map { column.filtered($0) } ?? column
        }
    }
}
