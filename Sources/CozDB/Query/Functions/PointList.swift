// The points that a call makes of one group, and those collected for calls that need every value.

/// Points of one call, by time.
struct PointList {
    var times: [Int64] = []
    var values = ResultVector(type: nil)
    /// Other columns of the points selected: one for each auxiliary reference of the plan; empty
    /// where the statement has none.
    var auxiliary: [ResultVector] = []

    var count: Int { times.count }

    /// About what its columns take; strings are those of the builders they came from.
    var sizeBytes: Int { count * (17 + 9 * auxiliary.count) }

    var reversed: PointList {
        PointList(
            times: times.reversed(), values: values.reversed,
            auxiliary: auxiliary.map(\.reversed))
    }

    /// The points at these positions, in this order.
    func selected(_ rows: [Int]) -> PointList {
        PointList(
            times: rows.map { times[$0] }, values: values.filtered(rows),
            auxiliary: auxiliary.map { $0.filtered(rows) })
    }
}

/// Values of one reference of one group with their times and other columns, all of them kept.
struct PointCollector {
    let range: TimeRange
    private var times: [Int64] = []
    private var values: VectorBuilder
    private var auxiliary: [VectorBuilder]
    private var isSorted = true

    init(type: FieldType?, auxiliaryTypes: [FieldType?], range: TimeRange) {
        self.range = range
        values = VectorBuilder(type: type)
        auxiliary = auxiliaryTypes.map { VectorBuilder(type: $0) }
    }

    /// About what it takes.
    var sizeBytes: Int {
        auxiliary.reduce(times.count * 8 + values.sizeBytes) { $0 + $1.sizeBytes }
    }

    /// The same without anything collected yet.
    var emptied: PointCollector {
        PointCollector(type: values.type, auxiliaryTypes: auxiliary.map(\.type), range: range)
    }

    /// Forgets what was collected; buffers of a usual size are kept.
    mutating func removeAll() {
        let areUsual = times.count < 1 << 16
        times.removeAll(keepingCapacity: areUsual)
        if areUsual { values.removeAll() } else { values = VectorBuilder(type: values.type) }
        for index in auxiliary.indices {
            auxiliary[index] = VectorBuilder(type: auxiliary[index].type)
        }
        isSorted = true
    }

    /// Adds the rows in which the value is there.
    mutating func add(times newTimes: [Int64], _ vector: ResultVector, _ others: [ResultVector]) {
        guard let first = newTimes.first, let end = newTimes.last else { return }
        if others.isEmpty, range.contains(first), range.contains(end),
            !vector.isPresent.contains(false)
        {
            // Times of a block ascend.
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

    /// Adds values that are all there and in the range, whose times nobody asks for.
    ///
    /// - Parameter time: what stands for all of them.
    mutating func add(_ vector: ResultVector, all time: Int64) {
        times.append(contentsOf: repeatElement(time, count: vector.count))
        values.append(vector)
    }

    /// Adds what another collected of the series that come next.
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

    /// All points by time; at one time in the order they came, which is that of their series.
    func finished(_ counters: CounterBox) throws(DatabaseError) -> PointList {
        let list = PointList(
            times: times, values: values.finished(), auxiliary: auxiliary.map { $0.finished() })
        if isSorted { return list }
        return list.selected(try TimeOrder.rows(times, isAscending: true, counters))
    }
}
