// Functions of adjacent points, and fill(), which runs before them, both in result order.

extension Transformation {
    /// Applies the function.
    ///
    /// - Parameters:
    ///   - points: the points in result order; null values are ignored.
    ///   - bucketsMax: the maximum number of buckets of a forecast.
    ///   - checkCancelled: a cancellation check, called often during long computations.
    func apply(
        to points: PointList, isAscending: Bool, bucketsMax: Int,
        checkCancelled: () throws(DatabaseError) -> Void
    ) throws(DatabaseError) -> PointList {
        let rows = points.values.isPresent.indices.filter { points.values.isPresent[$0] }
        let points = points.values.isPresent.contains(false) ? points.selected(rows) : points
        var list = PointList()
        var builder = VectorBuilder(type: resultType(of: points.values.type))
        switch self {
        case .derivative(let unit, let nonNegative):
            Transformation.pairs(points) { previous, row in
                let difference = points.change(previous, row)
                if nonNegative, difference < 0 { return }
                let elapsed = points.times[row].nanoseconds(since: points.times[previous])
                let duration = (isAscending ? elapsed : -elapsed) / Double(unit)
                list.times.append(points.times[row])
                builder.append(.float, (difference / duration).bitPattern)
            }
        case .difference(let nonNegative):
            Transformation.pairs(points) { previous, row in
                if let bits = points.difference(row, previous, nonNegative: nonNegative) {
                    list.times.append(points.times[row])
                    builder.append(points.values.type ?? .float, bits)
                }
            }
        case .elapsed(let unit):
            for row in points.times.indices.dropFirst() {
                let (time, previous) = (points.times[row], points.times[row - 1])
                let units = time.units(of: unit, since: previous)
                list.times.append(points.times[row])
                builder.append(.integer, UInt64(bitPattern: units))
            }
        case .movingAverage(let count):
            if points.count >= count { list.times = Array(points.times[(count - 1)...]) }
            points.addAverages(over: count, to: &builder)
        case .cumulativeSum:
            list.times = points.times
            points.addSums(to: &builder)
        case .technical(let function):
            for (row, value) in function.results(of: points.numbers) {
                list.times.append(points.times[row])
                builder.append(.float, value.bitPattern)
            }
        case .holtWinters(let method):
            let predictions = try method.predictions(
                (points.times, points.numbers), bucketsMax: bucketsMax,
                checkCancelled: checkCancelled)
            list.times = predictions.times
            for value in predictions.values { builder.append(.float, value.bitPattern) }
        }
        list.values = builder.finished()
        return list
    }

    /// Calls the body for adjacent points with different times. Only the first point of a time
    /// counts.
    private static func pairs(_ points: PointList, _ body: (Int, Int) -> Void) {
        var previous: Int?
        for row in points.times.indices {
            if let last = previous {
                if points.times[row] == points.times[last] { continue }
                body(last, row)
            }
            previous = row
        }
    }
}

extension PointList {
    fileprivate func number(_ row: Int) -> Double {
        values.type == .integer
            ? Double(Int64(bitPattern: values.bits[row])) : Double(bitPattern: values.bits[row])
    }

    fileprivate func addSums(to builder: inout VectorBuilder) {
        var (float, integer) = (0.0, Int64(0))
        for row in times.indices {
            if values.type == .integer {
                integer &+= Int64(bitPattern: values.bits[row])
                builder.append(.integer, UInt64(bitPattern: integer))
            } else {
                float += number(row)
                builder.append(.float, float.bitPattern)
            }
        }
    }

    /// Returns the change between two values. Integer subtraction wraps.
    fileprivate func change(_ previous: Int, _ row: Int) -> Double {
        guard values.type == .integer else { return number(row) - number(previous) }
        return Double(
            Int64(bitPattern: values.bits[row]) &- Int64(bitPattern: values.bits[previous]))
    }

    /// Appends the moving averages over `count` values. Integer sums wrap. Float sums avoid
    /// subtraction, which would leave rounding errors behind: the rows are split into stretches of
    /// `count`, and each window adds the end of one stretch to the start of the next.
    fileprivate func addAverages(over count: Int, to builder: inout VectorBuilder) {
        guard values.type == .float else {
            var sum: Int64 = 0
            for row in times.indices {
                sum &+= Int64(bitPattern: values.bits[row])
                if row >= count { sum &-= Int64(bitPattern: values.bits[row - count]) }
                guard row >= count - 1 else { continue }
                builder.append(.float, (Double(sum) / Double(count)).bitPattern)
            }
            return
        }
        var sum = 0.0
        var sumsToEnd: [Double] = []
        for row in times.indices {
            let place = row % count
            if place == 0 {
                sum = 0
                if row > 0 { sumsToEnd = self.sumsToEnd(of: (row - count)..<row) }
            }
            sum += number(row)
            guard row >= count - 1 else { continue }
            let earlier = place == count - 1 ? 0 : sumsToEnd[place + 1]
            builder.append(.float, ((earlier + sum) / Double(count)).bitPattern)
        }
    }

    /// Returns, for each row, the sum of the values from that row to the last one.
    private func sumsToEnd(of rows: Range<Int>) -> [Double] {
        var sums = Array(repeating: 0.0, count: rows.count)
        var sum = 0.0
        for row in rows.reversed() {
            sum += number(row)
            sums[row - rows.lowerBound] = sum
        }
        return sums
    }

    fileprivate var numbers: [Double] { times.indices.map { number($0) } }

    fileprivate func difference(_ row: Int, _ previous: Int, nonNegative: Bool) -> UInt64? {
        if values.type == .integer {
            let difference =
                Int64(bitPattern: values.bits[row]) &- Int64(bitPattern: values.bits[previous])
            return nonNegative && difference < 0 ? nil : UInt64(bitPattern: difference)
        }
        let difference = number(row) - number(previous)
        return nonNegative && difference < 0 ? nil : difference.bitPattern
    }
}

/// Applies fill() to the buckets of one call.
struct BucketFiller {
    let fill: Fill
    let buckets: TimeBuckets
    /// The starts of all buckets of the result, in result order.
    let starts: [Int64]
    /// Whether transformations follow, for which NaN is a value.
    let keepsNaN: Bool

    /// Returns the points with the empty buckets filled.
    ///
    /// - Parameter points: one point per bucket that has one, in result order.
    func apply(
        to points: PointList, checkCancelled: () throws(DatabaseError) -> Void
    ) throws(DatabaseError) -> PointList {
        guard points.count > 0, let type = points.values.type else { return points }
        var list = PointList()
        list.times.reserveCapacity(starts.count)
        var values = VectorBuilder(type: type)
        values.reserve(starts.count)
        var others = points.auxiliary.map { VectorBuilder(type: $0.type) }
        let isAscending = starts.count < 2 || starts[0] < starts[1]
        var (row, place) = (0, 0)
        while place < starts.count || row < points.count {
            if place % 8192 == 8191 { try checkCancelled() }
            let isPoint =
                row < points.count
                && (place == starts.count
                    || (isAscending
                        ? points.times[row] <= starts[place]
                        : points.times[row] >= starts[place]))
            // A point before the first bucket, possible in a subquery, takes the place of a bucket,
            // as in InfluxDB.
            list.times.append(isPoint ? points.times[row] : starts[place])
            place = min(place + 1, starts.count)
            for index in others.indices {
                if isPoint {
                    others[index].append(points.auxiliary[index], row: row)
                } else {
                    others[index].appendNull()
                }
            }
            if isPoint {
                values.append(points.values, row: row)
                row += 1
            } else {
                let previous = row > 0 ? row - 1 : nil
                append(list.times[list.times.count - 1], points, previous, row, to: &values)
            }
        }
        list.values = values.finished()
        list.auxiliary = others.map { $0.finished() }
        return list
    }

    private func append(
        _ start: Int64, _ points: PointList, _ previous: Int?, _ next: Int,
        to values: inout VectorBuilder
    ) {
        switch fill {
        case .null, .none: values.appendNull()
        case .number(let number): values.append(BucketFiller.cast(number, to: points.values.type))
        case .previous:
            guard let previous else { return values.appendNull() }
            values.append(points.values, row: previous)
        case .linear:
            guard let previous, next < points.count, let type = points.values.type,
                type == .float || type == .integer, points.values.isPresent[previous],
                points.values.isPresent[next]
            else { return values.appendNull() }
            let from = number(points.times[previous])
            let slope =
                (points.number(next) - points.number(previous))
                / (number(points.times[next]) - from)
            let value = slope * (number(start) - from) + points.number(previous)
            // What is computed and not a number is null.
            if value.isNaN, !keepsNaN { return values.appendNull() }
            values.append(
                type,
                type == .integer
                    ? UInt64(bitPattern: Int64(saturating: value)) : value.bitPattern)
        }
    }

    /// Returns the number of a bucket. Neighbors differ by one: numbers are rounded down, also
    /// around 1970, and buckets of a zone, which differ in length, are counted.
    private func number(_ start: Int64) -> Double {
        guard buckets.zone == nil else {
            let isAscending = starts.count < 2 || starts[0] < starts[1]
            // The first bucket of a subquery may begin before.
            if isAscending, let first = starts.first, start < first {
                let distance = Int128(first) - Int128(buckets.bounds(start).start)
                return -(Double(distance) / Double(buckets.interval)).rounded()
            }
            return Double(starts.partitioningIndex { isAscending ? $0 >= start : $0 <= start })
        }
        let (quotient, remainder) = start.quotientAndRemainder(dividingBy: buckets.interval)
        return Double(remainder < 0 ? quotient - 1 : quotient)
    }

    /// Converts the number of fill() to a column type.
    static func cast(_ number: FieldValue, to type: FieldType?) -> FieldValue? {
        switch (number, type) {
        case (.integer(let value), .float?): .float(Double(value))
        case (.float(let value), .integer?): .integer(Int64(saturating: value))
        case (_, .float?), (_, .integer?): number
        default: nil
        }
    }
}
