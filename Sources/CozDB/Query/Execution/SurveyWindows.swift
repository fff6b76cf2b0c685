// Aggregates of the values in windows around anchors. Anchors and values go by time, so both ends
// of the window only ever move on; a value is looked at once for each window that it lies in.

struct WindowValues {
    let window: SurveyWindow
    /// By ascending time, none of them null.
    let points: PointList

    /// - Parameter anchors: by ascending time.
    func values(
        _ anchors: [Int64], _ counters: CounterBox
    ) throws(DatabaseError) -> ResultVector {
        let type = points.values.type
        var builder = VectorBuilder(type: resultType)
        builder.reserve(anchors.count)
        let selection = Selection(
            aggregate: aggregate ?? .first, parameter: window.parameter, buckets: nil, time: nil,
            distinguishing: [])
        let times = points.times
        var (lower, upper) = (0, 0)
        for (number, anchor) in anchors.enumerated() {
            if number % 256 == 0 { try counters.checkCancelled() }
            let start = anchor.addingSaturating(-window.before)
            let end = anchor.addingSaturating(window.after)
            while lower < times.count, times[lower] <= start { lower += 1 }
            while upper < times.count, times[upper] <= end { upper += 1 }
            let rows = min(lower, upper)..<upper
            if case .aggregate(.count) = window.function {
                builder.append(.integer, UInt64(rows.count))
            } else if rows.isEmpty {
                builder.appendNull()
            } else if let row = selected(rows, anchor, selection) {
                builder.append(points.values, row: row)
            } else if let type, let bits = computed(rows, type, selection) {
                builder.append(resultType ?? type, bits)
            } else {
                builder.appendNull()
            }
        }
        return builder.finished()
    }

    private var aggregate: Aggregate? {
        if case .aggregate(let aggregate) = window.function { aggregate } else { nil }
    }

    private var resultType: FieldType? {
        aggregate.map { $0.resultType(of: points.values.type) } ?? points.values.type
    }

    // MARK: Values that were stored

    private func selected(_ rows: Range<Int>, _ anchor: Int64, _ selection: Selection) -> Int? {
        switch aggregate {
        case nil: return nearest(rows, anchor)
        case .first?: return rows.lowerBound
        case .last?: return rows.upperBound - 1
        case .mode?, .percentile?, .min?, .max?: return selection.select(points, rows).first
        default: return nil
        }
    }

    /// Of two that are equally near the earlier.
    private func nearest(_ rows: Range<Int>, _ anchor: Int64) -> Int {
        let times = points.times[rows]
        let next = times.partitioningIndex { $0 > anchor }
        if next == rows.lowerBound { return next }
        if next == rows.upperBound { return next - 1 }
        // As numbers without a sign, differences of any two times fit.
        let later = UInt64(bitPattern: times[next] &- anchor)
        let earlier = UInt64(bitPattern: anchor &- times[next - 1])
        return later < earlier ? next : next - 1
    }

    // MARK: Values that are computed

    /// The values of a window are added in their order, whatever windows came before: what is
    /// carried along would make sums of floats depend on it.
    private func computed(
        _ rows: Range<Int>, _ type: FieldType, _ selection: Selection
    ) -> UInt64? {
        let values = points.values.bits.span.extracting(rows)
        switch aggregate {
        case .sum?: return type == .float ? sum(values).bitPattern : wrappingSum(values)
        case .mean?:
            let total =
                type == .float
                ? sum(values) : Double(Int64(bitPattern: wrappingSum(values)))
            return (total / Double(rows.count)).bitPattern
        case .median?:
            guard case .float(let median)? = selection.compute(points, rows) else { return nil }
            return median.bitPattern
        case .spread?: return spread(values, type)
        case .stddev?: return deviation(values, type)?.bitPattern
        default: return nil
        }
    }

    private func sum(_ values: Span<UInt64>) -> Double {
        var sum = 0.0
        for index in values.indices { sum += Double(bitPattern: values[index]) }
        return sum
    }

    private func wrappingSum(_ values: Span<UInt64>) -> UInt64 {
        var sum: UInt64 = 0
        for index in values.indices { sum &+= values[index] }
        return sum
    }

    private func spread(_ values: Span<UInt64>, _ type: FieldType) -> UInt64 {
        if type == .integer {
            var (least, most) = (Int64.max, Int64.min)
            for index in values.indices {
                least = min(least, Int64(bitPattern: values[index]))
                most = max(most, Int64(bitPattern: values[index]))
            }
            return UInt64(bitPattern: most &- least)
        }
        var (least, most) = (Double.infinity, -Double.infinity)
        for index in values.indices {
            least = min(least, Double(bitPattern: values[index]))
            most = max(most, Double(bitPattern: values[index]))
        }
        return (most - least).bitPattern
    }

    /// Welford's running mean and sum of squares; of one value there is no deviation.
    private func deviation(_ values: Span<UInt64>, _ type: FieldType) -> Double? {
        guard values.count > 1 else { return nil }
        var (mean, squares, count) = (0.0, 0.0, 0.0)
        for index in values.indices {
            let value =
                type == .float
                ? Double(bitPattern: values[index]) : Double(Int64(bitPattern: values[index]))
            count += 1
            let difference = value - mean
            mean += difference / count
            squares += difference * (value - mean)
        }
        return (squares / (count - 1)).squareRoot()
    }
}
