// Rows of very many columns, most of them empty.

/// Collected rows with the columns that have a value. Of thousands of columns, the rows of one
/// series or group have few.
struct SparseRows {
    private(set) var times: [Int64] = []
    /// The columns of the only call of `add` so far, if they can be taken as they are: most series
    /// of a subquery arrive at once.
    private var whole: RowColumns?
    /// The columns with a value, in order of arrival.
    private var columns: [(index: Int, builder: VectorBuilder)] = []
    /// The place of each column in that list. Unused until the second call of `add`.
    private var places: [Int: Int] = [:]
    /// The approximate memory of the columns' strings.
    private var textSizeBytes = 0

    /// The approximate memory of times and columns, with the nulls that fill each column up.
    var sizeBytes: Int {
        let column =
            2 * MemoryLayout<VectorBuilder>.stride + VectorBuilder.rowSizeBytes * times.count
        let count = columns.count + (whole?.references.count ?? 0)
        return times.count * 8 + count * column + textSizeBytes
    }

    /// Adds rows with the columns of a result.
    ///
    /// - Parameter type: the type of a column; nil if unknown.
    mutating func add(_ times: [Int64], _ columns: RowColumns, type: (Int) -> FieldType?) {
        if self.times.isEmpty, columns.present.allSatisfy({ SparseRows.canBeTaken($1) }) {
            (self.times, whole) = (times, columns)
            return
        }
        if let first = whole.take() {
            let known = self.times
            self.times = []
            add(known, first.present, type: type)
        }
        add(times, columns.present.lazy.filter { $1.isPresent.contains(true) }, type: type)
    }

    /// Whether a column can be taken as it is: it has values, but no strings, whose table may
    /// belong to many columns and is not counted.
    private static func canBeTaken(_ vector: ResultVector) -> Bool {
        vector.type != nil && vector.type != .string && vector.isPresent.contains(true)
    }

    /// Adds rows.
    ///
    /// - Parameters:
    ///   - vectors: the columns that may have a value in the rows.
    ///   - type: the type of a column; nil if unknown.
    mutating func add(
        _ times: [Int64], _ vectors: some Sequence<(Int, ResultVector)>,
        type: (Int) -> FieldType?
    ) {
        let isFirst = columns.isEmpty
        if !isFirst, places.isEmpty {
            for (place, column) in columns.enumerated() { places[column.index] = place }
        }
        for (index, vector) in vectors where vector.type != nil {
            let place = isFirst ? columns.count : places[index] ?? columns.count
            if place == columns.count {
                columns.append((index, VectorBuilder(type: type(index))))
                if !isFirst { places[index] = place }
            }
            textSizeBytes -= columns[place].builder.textSizeBytes
            columns[place].builder.appendNulls(upTo: self.times.count)
            columns[place].builder.append(vector)
            textSizeBytes += columns[place].builder.textSizeBytes
        }
        self.times += times
    }

    /// Adds rows with the references of a plan.
    mutating func add(_ rows: RowBatch, _ plan: SelectPlan) {
        add(rows.times, rows.references.present) { plan.references[$0].type }
    }

    /// Returns the columns with a value, and removes all rows. Frees each column before it makes
    /// the next.
    ///
    /// - Parameter order: the rows in their new order; nil keeps the order.
    mutating func takeColumns(_ order: [Int]? = nil) -> RowColumns {
        if let whole = whole.take() {
            self = SparseRows()
            return order.map { whole.filtered($0) } ?? whole
        }
        var result = RowColumns(count: order?.count ?? times.count)
        result.reserve(columns.count)
        for place in columns.indices.sorted(by: { columns[$0].index < columns[$1].index }) {
            columns[place].builder.appendNulls(upTo: times.count)
            let vector = columns[place].builder.finished()
            columns[place].builder = VectorBuilder(type: nil)
            result[columns[place].index] = order.map { vector.filtered($0) } ?? vector
        }
        self = SparseRows()
        return result
    }
}
