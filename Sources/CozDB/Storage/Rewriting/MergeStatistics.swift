// Counts, while segments are merged, the values that met in one cell, the rows that points with
// different attributes met in, and the values replaced there. Costs nothing where no row is in two
// segments.

/// What meets in the rows of one slab.
struct MergeStatistics {
    private let schema: ExperimentSchema
    /// Whether rows have to be told apart.
    let watchesRows: Bool
    private(set) var counters = WriteCounters()
    /// Per row: whether an attribute was replaced by a different one.
    private var differs: [Bool] = []
    /// Per row: field values that were replaced by a different one.
    private var replaced: [UInt32] = []
    private var example: (row: UInt32, tag: TagSetMerges.TagDifference)?
    private var names: [String] = []

    /// - Parameter watchesRows: whether some row is in two inputs, and the schema has attributes
    ///   that could differ.
    init(watchesRows: Bool, _ schema: ExperimentSchema, _ rowCount: Int) {
        self.schema = schema
        self.watchesRows = watchesRows
        guard watchesRows else { return }
        differs = [Bool](repeating: false, count: rowCount)
        replaced = [UInt32](repeating: 0, count: rowCount)
    }

    /// Takes in what one column met; columns come in the order of the schema.
    mutating func add(_ column: Column, _ met: ColumnMergeStatistics) {
        counters.add(met.counters)
        guard !met.replacedRows.isEmpty else { return }
        if column.kind == .field {
            for row in met.replacedRows { replaced[Int(row)] += 1 }
            return
        }
        for row in met.replacedRows { differs[Int(row)] = true }
        names.append(column.name)
        if example == nil, let found = met.example {
            let tag = TagSetMerges.TagDifference(
                name: column.name, earlier: found.earlier, later: found.later)
            example = (found.row, tag)
        }
    }

    /// The rows with different attributes, and what was replaced in them.
    func found(_ times: [Int64], _ key: SeriesKey) -> TagSetMerges {
        var merges = TagSetMerges()
        guard let example else { return merges }
        for row in differs.indices where differs[row] {
            merges.rows += 1
            merges.replacedValues += Int(replaced[row])
        }
        merges.tags = names
        merges.example = TagSetMerges.Example(
            experiment: schema.name, key: key,
            time: Timestamp(nanoseconds: times[Int(example.row)]), tags: [example.tag])
        return merges
    }
}
