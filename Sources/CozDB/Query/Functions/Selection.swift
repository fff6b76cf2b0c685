// Aggregates that need all values of a bucket: median, mode, percentile, distinct, top, bottom,
// sample, integral, and single selectors that also return other columns of their point.

struct Selection {
    let aggregate: Aggregate
    let parameter: Double
    let buckets: TimeBuckets?
    /// The time of the row without buckets; nil selects the time of the point.
    let time: Int64?
    /// Indexes of the auxiliary columns by which top and bottom distinguish points.
    let distinguishing: [Int]
    var age = Age(now: 0, unit: 1)
    /// Cached rankings, shared by all calls on the same points.
    var rankings = RankingCache()

    /// - Parameter points: the points by ascending time.
    func apply(
        to points: PointList, _ context: ExecutionContext
    ) throws(DatabaseError) -> PointList {
        if aggregate == .integral {
            let list = integral(points)
            try context.checkCancelled()
            return list
        }
        var rows: [Int] = []
        var times: [Int64] = []
        var computed = VectorBuilder(type: aggregate.resultType(of: points.values.type))
        var isComputed = false
        var row = 0
        var rowsSinceCheck = 0
        while row < points.count {
            if rowsSinceCheck >= 4096 {
                rowsSinceCheck = 0
                try context.checkCancelled()
            }
            let bounds = buckets?.bounds(points.times[row]) ?? (.min, .max)
            let start = row
            row =
                buckets == nil
                ? points.count
                : firstIndex(in: points.times.span, notBefore: bounds.1, in: row..<points.count)
            let rowTime = buckets != nil ? bounds.0 : time
            rowsSinceCheck += row - start
            if let value = compute(points, start..<row) {
                isComputed = true
                computed.append(value)
                times.append(rowTime ?? points.times[start])
                continue
            }
            for selected in select(points, start..<row) {
                rows.append(selected)
                let keepsTime = aggregate == .top || aggregate == .bottom || aggregate == .sample
                times.append(keepsTime ? points.times[selected] : rowTime ?? points.times[selected])
            }
        }
        // A cancelled sort must not pass as a complete one.
        try context.checkCancelled()
        if isComputed { return PointList(times: times, values: computed.finished()) }
        var list = points.selected(rows)
        if aggregate == .age {
            var ages = VectorBuilder(type: .integer)
            for time in list.times { ages.append(.integer(age.value(time))) }
            list.values = ages.finished()
        }
        list.times = times
        return list
    }

    /// Checks for cancellation every few rows. `apply` checks again and discards partial results.
    private func isStopping(_ row: Int) -> Bool {
        row & (CancellationCheck.stepCount - 1) == 0 && CancellationCheck.isRaised
    }

    // MARK: Computed values

    func compute(_ points: PointList, _ rows: Range<Int>) -> FieldValue? {
        switch aggregate {
        case .median:
            return .float(median(points, rows))
        case .countDistinct: return .integer(Int64(distinct(points, rows).count))
        default: return nil
        }
    }

    private func median(_ points: PointList, _ rows: Range<Int>) -> Double {
        let ranking = rankings.ranking(points.values, rows)
        return median(points, count: rows.count) { rows.lowerBound + ranking.place(ofRank: $0) }
    }

    func median(_ points: PointList, count: Int, _ row: (_ rank: Int) -> Int) -> Double {
        let upper = number(points, row(count / 2))
        if count % 2 == 1 { return upper }
        let lower = number(points, row(count / 2 - 1))
        return lower + (upper - lower) / 2
    }

    private func number(_ points: PointList, _ row: Int) -> Double {
        let bits = points.values.bits[row]
        if points.values.type == .integer { return Double(Int64(bitPattern: bits)) }
        // -0 and 0 are equal.
        return bits == 1 << 63 ? 0 : Double(bitPattern: bits)
    }

    /// Returns the first row of each distinct value in time order.
    private func distinct(_ points: PointList, _ rows: Range<Int>) -> [Int] {
        var seen: Set<UInt64> = []
        // Equal strings have one code, because the collector's builder merges them. -0 equals 0.
        var isStopping = false
        return rows.filter { row in
            if self.isStopping(row) { isStopping = true }
            if isStopping { return false }
            var bits = points.values.bits[row]
            if points.values.type == .float, bits == 1 << 63 { bits = 0 }
            return seen.insert(bits).inserted
        }
    }

    // MARK: Selected rows

    func select(_ points: PointList, _ rows: Range<Int>) -> [Int] {
        switch aggregate {
        case .distinct:
            // If several series have new values at the same time, InfluxDB lists the smaller first.
            return distinct(points, rows).sortedUnlessCancelled {
                points.times[$0] == points.times[$1]
                    ? precedes(points, $0, $1) : points.times[$0] < points.times[$1]
            }
        case .percentile:
            guard let rank = percentileRank(rows.count) else { return [] }
            let ranking = rankings.ranking(points.values, rows)
            return [rows.lowerBound + ranking.place(ofRank: rank)]
        case .mode: return [mode(points, rows)]
        case .sample: return sample(rows)
        case .top, .bottom: return extremes(points, rows)
        default: return [best(points, rows)]
        }
    }

    /// Returns the rank of the percentile; nil if there are too few values.
    func percentileRank(_ count: Int) -> Int? {
        let rank = (Double(count) * parameter / 100 + 0.5).rounded(.down) - 1
        return rank >= 0 && rank < Double(count) ? Int(rank) : nil
    }

    private func sortedByValue(_ points: PointList, _ rows: [Int]) -> [Int] {
        rows.sortedUnlessCancelled {
            if precedes(points, $0, $1) { return true }
            if precedes(points, $1, $0) { return false }
            return $0 < $1
        }
    }

    func precedes(_ points: PointList, _ left: Int, _ right: Int) -> Bool {
        let type = points.values.type ?? .integer
        if type == .string {
            return Name(points.values.text(left)) < Name(points.values.text(right))
        }
        return type.precedes(points.values.bits[left], points.values.bits[right])
    }

    func exceeds(_ points: PointList, _ left: Int, _ right: Int) -> Bool {
        guard points.values.type == .float else { return precedes(points, right, left) }
        return Double(bitPattern: points.values.bits[left])
            .exceeds(Double(bitPattern: points.values.bits[right]))
    }

    /// Returns a row of the most frequent value. Ties go to the value seen first; if every value
    /// occurs once, the smallest wins.
    private func mode(_ points: PointList, _ rows: Range<Int>) -> Int {
        if points.values.type == .boolean { return booleanMode(points, rows) }
        let sorted = sortedByValue(points, Array(rows))
        var best = sorted[0]
        var (bestCount, bestTime) = (0, points.times[best])
        var (count, time) = (0, points.times[best])
        var current = best
        for (index, row) in sorted.enumerated() {
            if isStopping(index) { break }
            if precedes(points, current, row) {
                (count, time, current) = (1, points.times[row], row)
                continue
            }
            count += 1
            if bestCount > count || (bestCount == count && time > bestTime) { continue }
            (best, bestCount, bestTime) = (row, count, points.times[row])
        }
        return best
    }

    /// Returns a row of the more frequent boolean; true wins a tie.
    private func booleanMode(_ points: PointList, _ rows: Range<Int>) -> Int {
        let trueCount = rows.count { points.values.bits[$0] != 0 }
        let mode: UInt64 = 2 * trueCount >= rows.count ? 1 : 0
        return rows.first { points.values.bits[$0] == mode } ?? rows.lowerBound
    }

    /// Returns the row of min, max, first or last if other columns of the point are selected.
    private func best(_ points: PointList, _ rows: Range<Int>) -> Int {
        var best = rows.lowerBound
        for row in rows.dropFirst() {
            if isStopping(row) { break }
            let isSameTime = points.times[row] == points.times[best]
            let wins =
                switch aggregate {
                case .min: precedes(points, row, best)
                case .max: exceeds(points, row, best)
                case .first: isSameTime && ties(points, row, best)
                default: !isSameTime || ties(points, row, best)
                }
            if wins { best = row }
        }
        return best
    }

    private func ties(_ points: PointList, _ row: Int, _ best: Int) -> Bool {
        points.values.type == .boolean && aggregate == .first
            ? precedes(points, row, best) : precedes(points, best, row)
    }

    /// Returns a reservoir sample of the rows. It is deterministic.
    private func sample(_ rows: Range<Int>) -> [Int] {
        let size = Int(min(parameter, 1e9))
        var chosen = Array(rows.prefix(size))
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15
        for row in rows.dropFirst(size) {
            if isStopping(row) { break }
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let place = Int(state >> 33) % (row - rows.lowerBound + 1)
            if place < size { chosen[place] = row }
        }
        return chosen.sorted()
    }

    /// Returns the largest or smallest values in time order. Among equal values the earlier wins.
    private func extremes(_ points: PointList, _ rows: Range<Int>) -> [Int] {
        let isTop = aggregate == .top
        func wins(_ left: Int, _ right: Int) -> Bool {
            isTop ? exceeds(points, left, right) : precedes(points, left, right)
        }
        /// The best row of each key.
        func best<Key: Hashable>(_ key: (Int) -> Key) -> [Int] {
            var bestByKey: [Key: Int] = [:]
            for row in rows {
                if isStopping(row) { break }
                let key = key(row)
                if let best = bestByKey[key], !wins(row, best) { continue }
                bestByKey[key] = row
            }
            return bestByKey.values.sorted()
        }
        let candidates: [Int]
        if let codes = distinguishingCodes(points) {
            candidates = best { codes.isPresent[$0] ? codes.bits[$0] : nil }
        } else if !distinguishing.isEmpty {
            candidates = best { row in distinguishing.map { points.auxiliary[$0].value(row) } }
        } else {
            candidates = Array(rows)
        }
        let ordered = candidates.sortedUnlessCancelled {
            wins($0, $1) || (!wins($1, $0) && $0 < $1)
        }
        let chosen = ordered.prefix(Int(min(parameter, 1e9)))
        // Sort by time; equal times keep the order of their rank.
        return chosen.enumerated().sortedUnlessCancelled {
            let (a, b) = (points.times[$0.element], points.times[$1.element])
            return a == b ? $0.offset < $1.offset : a < b
        }.map(\.element)
    }

    /// Returns the only string column that distinguishes points, if there is exactly one. Equal
    /// strings have one code, because the collector's builder merges them.
    private func distinguishingCodes(_ points: PointList) -> ResultVector? {
        guard distinguishing.count == 1, points.auxiliary[distinguishing[0]].type == .string else {
            return nil
        }
        return points.auxiliary[distinguishing[0]]
    }

    // MARK: Integral

    /// Returns the area under the line through the points, split at bucket boundaries.
    private func integral(_ points: PointList) -> PointList {
        var list = PointList()
        var builder = VectorBuilder(type: .float)
        guard points.count > 0 else { return list }
        func emit(_ start: Int64, _ sum: Double) {
            list.times.append(start)
            builder.append(.float, sum.bitPattern)
        }
        var (previousTime, previous) = (points.times[0], number(points, 0))
        var bounds = buckets?.bounds(previousTime) ?? (time ?? 0, .max)
        var sum = 0.0
        for row in 1..<max(points.count, 1) {
            if isStopping(row) { break }
            let (now, value) = (points.times[row], number(points, row))
            if now == previousTime {
                previous = value
                continue
            }
            if now >= bounds.1 {
                if previousTime != bounds.1 {
                    let slope = (value - previous) / now.nanoseconds(since: previousTime)
                    let edge = previous + slope * bounds.1.nanoseconds(since: previousTime)
                    let width = bounds.1.nanoseconds(since: previousTime)
                    sum += 0.5 * (edge + previous) * width / parameter
                    (previousTime, previous) = (bounds.1, edge)
                }
                emit(bounds.0, sum)
                bounds = buckets?.bounds(now) ?? bounds
                sum = 0
            }
            sum += 0.5 * (value + previous) * now.nanoseconds(since: previousTime) / parameter
            (previousTime, previous) = (now, value)
        }
        if buckets == nil || previousTime != bounds.0 { emit(bounds.0, sum) }
        list.values = builder.finished()
        return list
    }
}
