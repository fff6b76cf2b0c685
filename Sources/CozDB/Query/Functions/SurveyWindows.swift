// Aggregates of the values in windows around anchors. Anchors and values are sorted by time, so
// both ends of the window only move forward. If windows overlap much, they share a structure that
// makes each one cost the logarithm of its values; see WindowTree and SlidingWindows.

struct WindowValues {
    /// The maximum number of values of a window that are added one by one.
    static let directCountMax = 1024
    /// The average number of visits per value above which windows share a structure.
    private static let directFactor = 4

    private enum Answer {
        case null
        /// A stored value.
        case row(Int)
        case computed(UInt64)
    }

    private typealias WindowEvaluator = (_ rows: Range<Int>) throws(DatabaseError) -> Answer

    let window: SurveyWindow
    /// The non-null values by ascending time.
    let points: PointList

    /// - Parameter anchors: times in ascending order.
    func values(
        _ anchors: [Int64], _ context: ExecutionContext
    ) throws(DatabaseError) -> ResultVector {
        var builder = VectorBuilder(type: resultType)
        builder.reserve(anchors.count)
        let share = MemoryReservation(context.memory)
        try share.resize(to: anchors.count * 16)
        let windows = windows(anchors)
        let way = try way(windows, context)
        var workSinceCheck = 0
        for (number, rows) in windows.enumerated() {
            workSinceCheck += 16 + rows.count
            if workSinceCheck > 4096 {
                workSinceCheck = 0
                try context.checkCancelled()
            }
            let answer: Answer
            if case .aggregate(.count) = window.function {
                answer = .computed(UInt64(rows.count))
            } else if rows.isEmpty {
                answer = .null
            } else if aggregate == nil {
                answer = .row(nearest(rows, anchors[number]))
            } else {
                answer = try way(rows)
            }
            switch answer {
            case .null: builder.appendNull()
            case .row(let row): builder.append(points.values, row: row)
            case .computed(let bits): builder.append(resultType ?? .float, bits)
            }
        }
        return builder.finished()
    }

    /// Returns the rows in the window of each anchor.
    private func windows(_ anchors: [Int64]) -> [Range<Int>] {
        let times = points.times
        var (lower, upper) = (0, 0)
        return anchors.map { anchor in
            let start = anchor.addingSaturating(-window.before)
            let end = anchor.addingSaturating(window.after)
            while lower < times.count, times[lower] <= start { lower += 1 }
            while upper < times.count, times[upper] <= end { upper += 1 }
            return min(lower, upper)..<upper
        }
    }

    /// Returns a function that computes windows. It is called for the non-empty windows in order.
    private func way(
        _ windows: [Range<Int>], _ context: ExecutionContext
    ) throws(DatabaseError) -> WindowEvaluator {
        let selection = Selection(
            aggregate: aggregate ?? .first, parameter: window.parameter, buckets: nil, time: nil,
            distinguishing: [])
        let total = windows.reduce(0) { $0 + $1.count }
        let isShared = total > points.count * WindowValues.directFactor
        switch aggregate {
        case .first?: return { rows in .row(rows.lowerBound) }
        case .last?: return { rows in .row(rows.upperBound - 1) }
        case .mode?, .median?, .percentile?:
            if isShared { return try slidingEvaluator(selection, context) }
            return { rows in selected(rows, selection, context) }
        case .min?, .max?, .spread?:
            return try extremesEvaluator(selection, isShared, context)
        case .sum?, .mean?, .stddev?:
            return try sumsEvaluator(isShared, context)
        default: return { _ in .null }
        }
    }

    private var aggregate: Aggregate? {
        if case .aggregate(let aggregate) = window.function { aggregate } else { nil }
    }

    private var resultType: FieldType? {
        aggregate.map { $0.resultType(of: points.values.type) } ?? points.values.type
    }

    // MARK: Stored values

    private func selected(
        _ rows: Range<Int>, _ selection: Selection, _ context: ExecutionContext
    ) -> Answer {
        context.windowSteps += rows.count
        if case .float(let value)? = selection.compute(points, rows) {
            return .computed(value.bitPattern)
        }
        return selection.select(points, rows).first.map { .row($0) } ?? .null
    }

    private func slidingEvaluator(
        _ selection: Selection, _ context: ExecutionContext
    ) throws(DatabaseError) -> WindowEvaluator {
        if aggregate == .mode {
            var counts = try SlidingCounts(points, selection, context)
            return { rows throws(DatabaseError) in
                try counts.slide(to: rows)
                return .row(try counts.mode())
            }
        }
        var ranks = try SlidingRanks(points, selection, context)
        return { rows throws(DatabaseError) in
            try ranks.slide(to: rows)
            if aggregate == .median {
                let median = selection.median(points, count: rows.count) {
                    ranks.row(ofRank: $0)
                }
                return .computed(median.bitPattern)
            }
            return selection.percentileRank(rows.count).map { .row(ranks.row(ofRank: $0)) }
                ?? .null
        }
    }

    /// Returns the row nearest to an anchor; the earlier one of two at the same distance.
    private func nearest(_ rows: Range<Int>, _ anchor: Int64) -> Int {
        let times = points.times[rows]
        let next = times.partitioningIndex { $0 > anchor }
        if next == rows.lowerBound { return next }
        if next == rows.upperBound { return next - 1 }
        // As unsigned numbers, the differences of any two times fit.
        let later = UInt64(bitPattern: times[next] &- anchor)
        let earlier = UInt64(bitPattern: anchor &- times[next - 1])
        return later < earlier ? next : next - 1
    }

    // MARK: Computed values

    private func extremesEvaluator(
        _ selection: Selection, _ isShared: Bool, _ context: ExecutionContext
    ) throws(DatabaseError) -> WindowEvaluator {
        let type = points.values.type ?? .float
        guard isShared else {
            return { rows in
                guard aggregate == .spread else { return selected(rows, selection, context) }
                context.windowSteps += rows.count
                return .computed(spread(points.values.bits.span.extracting(rows), type))
            }
        }
        let tree = try WindowTree(
            WindowExtremes(points: points, selection: selection), points.times, keepsNodes: true,
            context)
        return { rows in
            let (least, most) = tree.summary(of: rows)
            switch aggregate {
            case .min?: return .row(least)
            case .max?: return .row(most)
            default:
                let ends = [points.values.bits[least], points.values.bits[most]]
                return .computed(spread(ends.span, type))
            }
        }
    }

    /// Returns a function for sums. Few values are added in order, many in the order of the tree.
    /// Either way a float sum does not depend on other windows.
    private func sumsEvaluator(
        _ isShared: Bool, _ context: ExecutionContext
    ) throws(DatabaseError) -> WindowEvaluator {
        let type = points.values.type ?? .float
        if aggregate == .stddev {
            let tree = try WindowTree(
                WindowMoments(values: points.values), points.times, keepsNodes: isShared, context)
            return { rows in
                guard rows.count > WindowValues.directCountMax else {
                    context.windowSteps += rows.count
                    let values = points.values.bits.span.extracting(rows)
                    return deviation(values, type).map { .computed($0.bitPattern) } ?? .null
                }
                let moments = tree.summary(of: rows)
                return .computed((moments.squares / (moments.count - 1)).squareRoot().bitPattern)
            }
        }
        let tree = try WindowTree(
            WindowSums(values: points.values), points.times, keepsNodes: isShared, context)
        return { rows in
            let sum: UInt64
            if rows.count > WindowValues.directCountMax {
                sum = tree.summary(of: rows)
            } else {
                context.windowSteps += rows.count
                let values = points.values.bits.span.extracting(rows)
                sum =
                    type == .float
                    ? self.sum(values).bitPattern : UInt64(bitPattern: sumOfIntegers(values))
            }
            guard aggregate == .mean else { return .computed(sum) }
            let total =
                type == .float ? Double(bitPattern: sum) : Double(Int64(bitPattern: sum))
            return .computed((total / Double(rows.count)).bitPattern)
        }
    }

    private func sum(_ values: Span<UInt64>) -> Double {
        var sum = 0.0
        for index in values.indices { sum += Double(bitPattern: values[index]) }
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

    /// Returns the standard deviation by Welford's algorithm; nil for a single value.
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
