// The result points of a call for one group, and a collector for calls that need every value.

/// The points of one call in time order.
struct PointList {
    var times: [Int64] = []
    var values = ResultVector(type: nil)
    /// The other columns of selected points, one per auxiliary reference of the plan.
    var auxiliary: [ResultVector] = []

    var count: Int { times.count }

    /// The approximate size of the columns. Strings belong to the builders that made them.
    var sizeBytes: Int { count * (17 + 9 * auxiliary.count) }

    var reversed: PointList {
        PointList(
            times: times.reversed(), values: values.reversed,
            auxiliary: auxiliary.map(\.reversed))
    }

    /// Returns the points at these indexes, in this order.
    func selected(_ rows: [Int]) -> PointList {
        PointList(
            times: rows.map { times[$0] }, values: values.filtered(rows),
            auxiliary: auxiliary.map { $0.filtered(rows) })
    }
}

/// A collector for all values of one reference in one group, with times and auxiliary columns.
struct PointCollector {
    /// Values of other times are dropped.
    var range: TimeRange
    private var times: [Int64] = []
    private var values: VectorBuilder
    private var auxiliary: [VectorBuilder]
    private var isSorted = true

    init(type: FieldType?, auxiliaryTypes: [FieldType?], range: TimeRange) {
        self.range = range
        values = VectorBuilder(type: type)
        auxiliary = auxiliaryTypes.map { VectorBuilder(type: $0) }
    }

    /// The approximate size in memory.
    var sizeBytes: Int {
        // There may be many groups of few points and many columns.
        auxiliary.reduce(times.count * 8 + values.sizeBytes) {
            $0 + $1.sizeBytes + MemoryLayout<VectorBuilder>.stride
        }
    }

    /// A collector with the same types and range but no points.
    var emptied: PointCollector {
        PointCollector(type: values.type, auxiliaryTypes: auxiliary.map(\.type), range: range)
    }

    /// Removes all points. Keeps the buffers unless they are unusually large.
    mutating func removeAll() {
        let areUsual = times.count < 1 << 16
        times.removeAll(keepingCapacity: areUsual)
        if areUsual { values.removeAll() } else { values = VectorBuilder(type: values.type) }
        for index in auxiliary.indices {
            auxiliary[index] = VectorBuilder(type: auxiliary[index].type)
        }
        isSorted = true
    }

    /// Appends the rows whose value is present and whose time is in the range.
    mutating func add(times newTimes: [Int64], _ vector: ResultVector, _ others: [ResultVector]) {
        guard let first = newTimes.first, let end = newTimes.last else { return }
        if others.isEmpty, range.contains(first), range.contains(end),
            !vector.isPresent.contains(false)
        {
            // The times of a block are ascending.
            if let last = times.last, first < last { isSorted = false }
            times.append(contentsOf: newTimes)
            values.append(vector)
            return
        }
        for row in 0..<newTimes.count where vector.isPresent[row] {
            let time = newTimes[row]
            guard range.contains(time) else { continue }
            if let last = times.last, time < last { isSorted = false }
            times.append(time)
            values.append(vector, row: row)
            for index in auxiliary.indices { auxiliary[index].append(others[index], row: row) }
        }
    }

    /// Appends values that are all present and in the range, if their times are not needed.
    ///
    /// - Parameter time: the time to store for all of them.
    mutating func add(_ vector: ResultVector, all time: Int64) {
        times.append(contentsOf: repeatElement(time, count: vector.count))
        values.append(vector)
    }

    /// Appends the points of another collector, which hold the next series.
    mutating func add(_ other: PointCollector) {
        guard let first = other.times.first else { return }
        if let last = times.last, first < last { isSorted = false }
        isSorted = isSorted && other.isSorted
        times.append(contentsOf: other.times)
        values.append(other.values.finished())
        for index in auxiliary.indices {
            auxiliary[index].append(other.auxiliary[index].finished())
        }
    }

    /// Returns all points sorted by time. Points with equal times keep the order of their series.
    func finished(_ context: ExecutionContext) throws(DatabaseError) -> PointList {
        let list = PointList(
            times: times, values: values.finished(), auxiliary: auxiliary.map { $0.finished() })
        if isSorted { return list }
        return list.selected(try TimeOrder.rows(times, isAscending: true, context))
    }
}
