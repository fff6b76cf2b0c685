// Counts the cells that several merged segments have, the rows in which points with different
// attributes met, and the values replaced there. Free unless segments overlap.

/// The statistics of one chunk.
struct MergeStatistics {
    private(set) var counters = WriteCounters()
    /// Per row: whether an attribute was replaced by a different one.
    private var differs: [Bool]
    /// Per row: the number of field values replaced by a different one.
    private var replaced: [UInt32]
    private var example: (row: UInt32, tag: TagSetMerges.TagDifference)?
    private var names: [String] = []

    /// - Parameter rowCount: 0 if the rows of replaced values are not recorded.
    init(rowCount: Int) {
        differs = [Bool](repeating: false, count: rowCount)
        replaced = [UInt32](repeating: 0, count: rowCount)
    }

    /// Adds the statistics of one column. Columns come in the order of the schema.
    mutating func add(_ column: Column, _ statistics: ColumnMergeStatistics) {
        counters.add(statistics.counters)
        guard !statistics.replacedRows.isEmpty else { return }
        if column.kind == .field {
            for row in statistics.replacedRows { replaced[Int(row)] += 1 }
            return
        }
        for row in statistics.replacedRows { differs[Int(row)] = true }
        names.append(column.name)
        if example == nil, let found = statistics.example {
            let tag = TagSetMerges.TagDifference(
                name: column.name, earlier: found.earlier, later: found.later)
            example = (found.row, tag)
        }
    }

    /// The rows with different attributes, and the number of values replaced in them.
    func found(_ times: [Int64], _ key: SeriesKey, experiment: String) -> TagSetMerges {
        var merges = TagSetMerges()
        guard let example else { return merges }
        for row in differs.indices where differs[row] {
            merges.rows += 1
            merges.replacedValues += Int(replaced[row])
        }
        merges.names = Set(names.map { Name($0) })
        merges.example = TagSetMerges.Example(
            experiment: experiment, key: key,
            time: Timestamp(nanoseconds: times[Int(example.row)]), tags: [example.tag])
        return merges
    }
}
