// Counts, while segments are merged, the values that met in one cell, the rows that points with
// different attributes met in, and the values replaced there. Costs nothing where no row is in two
// segments.

/// What meets in the rows of one slab.
struct RowMeetings {
    private let schema: ExperimentSchema
    private let isNeeded: Bool
    /// Whether the schema has attributes that could differ.
    private let watchesTags: Bool
    /// Flushes counted all of these as inserted: each that met an older one was not.
    private(set) var counters = WriteCounters()
    /// Per row: whether an attribute was replaced by a different one.
    private var differs: [Bool] = []
    /// Per row: field values that were replaced by a different one.
    private var replaced: [UInt32] = []
    private var example: (row: UInt32, tag: TagSetMerges.TagDifference)?
    private var names: [String] = []

    /// - Parameter isNeeded: whether any row is in two inputs.
    init(isNeeded: Bool, _ schema: ExperimentSchema, _ rowCount: Int) {
        self.schema = schema
        self.isNeeded = isNeeded
        watchesTags = isNeeded && schema.columns.contains { $0.kind == .attribute }
        guard watchesTags else { return }
        differs = [Bool](repeating: false, count: rowCount)
        replaced = [UInt32](repeating: 0, count: rowCount)
    }

    /// Looks at the rows in which both have a value for the column.
    mutating func compare(_ column: Column, _ older: RowValues, _ newer: RowValues) {
        guard isNeeded else { return }
        var left = 0
        for right in newer.rows.indices {
            let row = newer.rows[right]
            while left < older.rows.count, older.rows[left] < row { left += 1 }
            guard left < older.rows.count else { return }
            guard older.rows[left] == row else { continue }
            let isSame =
                column.type == .string
                ? older.strings.text(older.bits[left]).utf8
                    .elementsEqual(newer.strings.text(newer.bits[right]).utf8)
                : older.bits[left] == newer.bits[right]
            if column.kind == .field {
                counters.insertedValues -= 1
                if isSame { counters.identicalValues += 1 } else { counters.replacedValues += 1 }
            }
            if isSame || !watchesTags { continue }
            if column.kind == .field {
                replaced[Int(row)] += 1
                continue
            }
            differs[Int(row)] = true
            if names.last != column.name { names.append(column.name) }
            if example == nil {
                let tag = TagSetMerges.TagDifference(
                    name: column.name, earlier: older.strings.text(older.bits[left]),
                    later: newer.strings.text(newer.bits[right]))
                example = (row, tag)
            }
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
