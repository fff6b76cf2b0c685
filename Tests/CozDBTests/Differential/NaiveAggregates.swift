// Functions of many rows: what each gives for the points of one bucket, empty buckets, and the
// functions of neighbouring points.

@testable internal import CozDB

/// One point of a call.
struct NaivePoint {
    var time: Int64
    var value: FieldValue?
    /// Where a stored point was selected: its row.
    var source: (row: NaiveRow, table: Int)?
}

extension NaiveQuery {
    /// Buckets before the range that the functions of neighbouring buckets need.
    func extraBuckets() throws -> [Int64] {
        var counts: Set<Int64> = []
        for field in statement.fields {
            for expression in field.expression.naiveCalls {
                var count: Int64 = 0
                var current = expression
                while case .call(let call) = current,
                    NaiveCall.transformationNames.contains(call.name),
                    let inner = call.arguments.first
                {
                    if call.name != "cumulative_sum" { count += 1 }
                    current = inner
                }
                if case .call = current { counts.insert(count) } else { counts.insert(0) }
            }
        }
        return counts.isEmpty ? [0] : counts.sorted()
    }

    private func extraBuckets(_ call: NaiveCall) -> Int64 {
        guard call.aggregate != nil else { return 0 }
        return Int64(call.transformations.filter { $0.name != "cumulative_sum" }.count)
    }

    func aggregated() throws -> [NaiveAnswer] {
        let range = extended(by: calls.map { extraBuckets($0) }.max() ?? 0)
        var answers: [NaiveAnswer] = []
        for group in try groups(first: range.first, last: range.last) {
            let lists = try calls.map { try points($0, group) }
            append(group, try rows(joined(lists)), to: &answers)
        }
        return limitedSeries(answers)
    }

    /// The points of a call in the order of the answer.
    private func points(_ call: NaiveCall, _ group: Group) throws -> [NaivePoint] {
        let range = extended(by: extraBuckets(call))
        let type = type(of: call.argument)
        let extra = extraBuckets(call)
        let accepted = group.rows.filter { row, table in
            // A bucket of a subquery that begins before the range counts.
            let isFirst = tables[table].isSubquery || row.time >= range.first ?? .min
            let isRead = !tables[table].isSubquery || tables[table].extraBuckets == extra
            return isFirst && isRead && row.time <= range.last ?? .max
        }
        var points: [NaivePoint] = []
        for (row, table) in stablySorted(accepted) {
            let mayBeTag =
                tables[table].isSubquery && tables[table].tags.contains(call.argument.name)
            guard tables[table].isField(call.argument) || mayBeTag,
                let value = tables[table].value(call.argument, row, type)
            else { continue }
            points.append(NaivePoint(time: row.time, value: value, source: (row, table)))
        }
        guard !points.isEmpty else { return [] }
        if call.aggregate != nil { points = try aggregate(call, points) }
        if !isAscending { points.reverse() }
        points = try filled(call, points, range)
        for step in call.transformations {
            points = try transformed(step.name, step.parameter, points)
        }
        return points
    }

    // MARK: Aggregates

    private func aggregate(_ call: NaiveCall, _ points: [NaivePoint]) throws -> [NaivePoint] {
        if call.aggregate == "integral" { return integral(points, unit: call.parameter) }
        var result: [NaivePoint] = []
        var rest = points[...]
        while let head = rest.first {
            let start = buckets?.start(head.time)
            let bucket = Array(rest.prefix { buckets?.start($0.time) == start })
            rest = rest.dropFirst(bucket.count)
            let keepsTime = call.aggregate == "top" || call.aggregate == "bottom"
            for var point in try compute(call, bucket) {
                if !keepsTime {
                    if let start {
                        point.time = start
                    } else if calls.count > 1 || !call.isSelector {
                        // A row that is no single point is dated with the lower bound.
                        point.time = first ?? 0
                    }
                }
                result.append(point)
            }
        }
        return result
    }

    private func compute(_ call: NaiveCall, _ points: [NaivePoint]) throws -> [NaivePoint] {
        let values = points.compactMap(\.value)
        let numbers = values.compactMap { NaiveValue.number($0) }
        var wholes: [Int64] = []
        for case .integer(let whole) in values { wholes.append(whole) }
        let count = Double(values.count)
        func computed(_ value: FieldValue?) -> [NaivePoint] {
            [NaivePoint(time: points[0].time, value: value, source: nil)]
        }
        switch call.aggregate {
        case "count": return computed(.integer(Int64(values.count)))
        case "count_distinct":
            return computed(.integer(Int64(distinct(points).count)))
        case "sum":
            if wholes.isEmpty { return computed(.float(numbers.reduce(0, +))) }
            return computed(.integer(wholes.reduce(0, &+)))
        case "mean":
            // The sum of integers wraps, as InfluxDB's does.
            let sum = wholes.isEmpty ? numbers.reduce(0, +) : Double(wholes.reduce(0, &+))
            return computed(.float(sum / count))
        case "median":
            let sorted = numbers.sorted()
            let middle = sorted.count / 2
            if sorted.count % 2 == 1 { return computed(.float(sorted[middle])) }
            let (low, high) = (sorted[middle - 1], sorted[middle])
            return computed(.float(low + (high - low) / 2))
        case "stddev":
            if values.count == 1 { return computed(.float(.nan)) }
            let mean = numbers.reduce(0, +) / count
            let squares = numbers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
            return computed(.float((squares / (count - 1)).squareRoot()))
        case "spread":
            if let low = wholes.min(), let high = wholes.max() {
                return computed(.integer(high &- low))
            }
            return computed(.float((numbers.max() ?? 0) - (numbers.min() ?? 0)))
        case "mode": return computed(mode(points))
        case "min": return [best(points) { NaiveValue.precedes($0, $1) }]
        case "max": return [best(points) { NaiveValue.precedes($1, $0) }]
        case "first": return [end(points.filter { $0.time == points[0].time }, isFirst: true)]
        case "last":
            let time = points[points.count - 1].time
            return [end(points.filter { $0.time == time }, isFirst: false)]
        case "percentile":
            let rank = (count * call.parameter / 100 + 0.5).rounded(.down) - 1
            guard rank >= 0, rank < count else { return [] }
            return [sorted(points, NaiveValue.ranksBefore)[Int(rank)]]
        case "distinct": return distinct(points)
        case "top": return top(call, points) { NaiveValue.precedes($1, $0) }
        case "bottom": return top(call, points) { NaiveValue.precedes($0, $1) }
        default: throw NaiveUnsupported(what: call.text)
        }
    }

    /// By value; of equal ones the earlier first.
    private func sorted(
        _ points: [NaivePoint], _ precedes: (FieldValue, FieldValue) -> Bool
    ) -> [NaivePoint] {
        points.enumerated().sorted { left, right in
            guard let a = left.element.value, let b = right.element.value else { return false }
            if precedes(a, b) { return true }
            return !precedes(b, a) && left.offset < right.offset
        }.map(\.element)
    }

    private func best(
        _ points: [NaivePoint], _ precedes: (FieldValue, FieldValue) -> Bool
    ) -> NaivePoint { sorted(points, precedes)[0] }

    /// Of several points at one time the largest; of booleans false is the first, true the last.
    private func end(_ points: [NaivePoint], isFirst: Bool) -> NaivePoint {
        if isFirst, case .boolean? = points[0].value {
            return best(points) { NaiveValue.precedes($0, $1) }
        }
        return best(points) { NaiveValue.precedes($1, $0) }
    }

    /// Each value once, by the time of its first point; at one time by value.
    private func distinct(_ points: [NaivePoint]) -> [NaivePoint] {
        var kept: [NaivePoint] = []
        for point in points {
            let isKnown = kept.contains {
                if let a = $0.value, let b = point.value { NaiveValue.isSame(a, b) } else { false }
            }
            if !isKnown { kept.append(point) }
        }
        return sorted(kept) { NaiveValue.precedes($0, $1) }.enumerated().sorted {
            $0.element.time == $1.element.time
                ? $0.offset < $1.offset : $0.element.time < $1.element.time
        }.map { NaivePoint(time: $0.element.time, value: $0.element.value, source: nil) }
    }

    /// InfluxDB's walk through the sorted values (query/functions.go, FloatModeReduceSlice): of
    /// values that come once each the smallest.
    private func mode(_ points: [NaivePoint]) -> FieldValue? {
        if case .boolean? = points[0].value {
            // As many of both kinds: true.
            let count = points.count { if case .boolean(true)? = $0.value { true } else { false } }
            return .boolean(count * 2 >= points.count)
        }
        let sorted = sorted(points) { NaiveValue.precedes($0, $1) }
        var (best, bestCount, bestTime) = (sorted[0], 0, sorted[0].time)
        var (current, count, time) = (sorted[0], 0, sorted[0].time)
        for point in sorted {
            guard let a = current.value, let b = point.value else { continue }
            if !NaiveValue.isSame(a, b) {
                (current, count, time) = (point, 1, point.time)
                continue
            }
            count += 1
            if bestCount > count || (bestCount == count && time > bestTime) { continue }
            (best, bestCount, bestTime) = (point, count, point.time)
        }
        return best.value
    }

    /// The first of the sorted values, with tags one for each combination; shown by time.
    private func top(
        _ call: NaiveCall, _ points: [NaivePoint], _ precedes: (FieldValue, FieldValue) -> Bool
    ) -> [NaivePoint] {
        var chosen: [NaivePoint] = []
        var seen: Set<NaiveKey> = []
        for point in sorted(points, precedes) where chosen.count < Int(call.parameter) {
            guard let (row, table) = point.source else { continue }
            let values = call.tags.map { tables[table].value($0, row, type(of: $0)) }
            let key = NaiveKey(values.map { "\($0, default: "")" })
            if !call.tags.isEmpty, !seen.insert(key).inserted { continue }
            chosen.append(point)
        }
        return chosen.enumerated().sorted {
            $0.element.time == $1.element.time
                ? $0.offset < $1.offset : $0.element.time < $1.element.time
        }.map(\.element)
    }

    /// The area under the line through the points. Between two points that lie in different
    /// buckets the line is cut where the earlier one's ends; what follows counts to the later
    /// one's (InfluxDB: query/functions.go, FloatIntegralReducer).
    private func integral(_ points: [NaivePoint], unit: Double) -> [NaivePoint] {
        var result: [NaivePoint] = []
        var (time, value) = (points[0].time, NaiveValue.number(points[0].value) ?? 0)
        var start = buckets?.start(time)
        var sum = 0.0
        func area(_ to: Int64, _ other: Double) -> Double {
            0.5 * (other + value) * between(time, to) / unit
        }
        for point in points.dropFirst() {
            let number = NaiveValue.number(point.value) ?? 0
            if point.time == time {
                value = number
                continue
            }
            if let buckets, let known = start, point.time >= buckets.next(known) {
                let end = buckets.next(known)
                let slope = (number - value) / between(time, point.time)
                let edge = value + slope * between(time, end)
                sum += area(end, edge)
                (time, value) = (end, edge)
                result.append(NaivePoint(time: known, value: .float(sum), source: nil))
                start = buckets.start(point.time)
                sum = 0
            }
            sum += area(point.time, number)
            (time, value) = (point.time, number)
        }
        if start == nil || time != start {
            result.append(NaivePoint(time: start ?? first ?? 0, value: .float(sum), source: nil))
        }
        return result
    }

    // MARK: Empty buckets

    private func filled(
        _ call: NaiveCall, _ points: [NaivePoint], _ range: (first: Int64?, last: Int64?)
    ) throws -> [NaivePoint] {
        let manyRows: [String?] = [nil, "distinct", "top", "bottom", "integral"]
        guard let buckets, !manyRows.contains(call.aggregate), !points.isEmpty else {
            return points
        }
        var fill = statement.fill
        // A subquery's empty buckets are left out unless it says how to fill them.
        if surroundings != nil, fill == .null { fill = .none }
        if fill == .null, call.aggregate == "count" || call.aggregate == "count_distinct" {
            fill = .number(.integer(0))
        }
        if fill == .none { return points }
        guard let last = range.last else { throw NaiveUnsupported(what: "buckets without end") }
        var grid: [Int64] = []
        let times = points.map(\.time)
        let earliest = times.min() ?? 0
        let lower = range.first.map { buckets.start($0) } ?? earliest
        var start = min(lower, earliest)
        while start <= max(last, times.max() ?? last) {
            grid.append(start)
            start = buckets.next(start)
            if grid.count > 100_000 { throw NaiveUnsupported(what: "so many buckets") }
        }
        let starts = isAscending ? grid.filter { $0 >= lower } : grid.reversed()
        let type = NaiveCall.type(of: call.aggregate, type(of: call.argument))
        var result: [NaivePoint] = []
        var rest = points[...]
        for start in starts {
            // A point of a subquery that lies before the first bucket takes the place of one.
            if let point = rest.first, !precedes(start, point.time) {
                result.append(point)
                rest = rest.dropFirst()
                continue
            }
            var value: FieldValue?
            switch fill {
            case .number(let number): value = type.flatMap { NaiveValue.cast(number, $0) }
            case .previous: value = points.last { precedes($0.time, start) }?.value
            case .linear:
                value = linear(
                    grid, start, points.last { precedes($0.time, start) },
                    points.first { precedes(start, $0.time) })
            default: break
            }
            result.append(NaivePoint(time: start, value: value, source: nil))
        }
        return result + rest
    }

    private func precedes(_ left: Int64, _ right: Int64) -> Bool {
        isAscending ? left < right : left > right
    }

    private func linear(
        _ grid: [Int64], _ start: Int64, _ previous: NaivePoint?, _ next: NaivePoint?
    ) -> FieldValue? {
        guard let previous, let next, let from = NaiveValue.number(previous.value),
            let to = NaiveValue.number(next.value), let index = grid.firstIndex(of: start),
            let a = grid.firstIndex(of: previous.time), let b = grid.firstIndex(of: next.time)
        else { return nil }
        let value = from + (to - from) / Double(b - a) * Double(index - a)
        if case .integer? = previous.value { return .integer(NaiveValue.whole(value)) }
        return .float(value)
    }

    // MARK: Neighbouring points

    private func transformed(
        _ name: String, _ parameter: Int64?, _ points: [NaivePoint]
    ) throws -> [NaivePoint] {
        let points = points.filter { $0.value != nil }
        var result: [NaivePoint] = []
        func append(_ point: NaivePoint, _ value: FieldValue) {
            result.append(NaivePoint(time: point.time, value: value, source: nil))
        }
        switch name {
        case "elapsed":
            for (previous, point) in zip(points, points.dropFirst()) {
                let units =
                    (Int128(point.time) - Int128(previous.time)) / Int128(parameter ?? 1)
                append(point, .integer(Int64(clamping: units)))
            }
        case "cumulative_sum":
            var sum: FieldValue?
            for point in points {
                guard let value = point.value else { continue }
                sum =
                    try sum.flatMap {
                        try NaiveValue.compute(.add, $0, value, isCondition: false)
                    } ?? value
                if let sum { append(point, sum) }
            }
        case "moving_average":
            let width = Int(parameter ?? 1)
            for index in points.indices where index + 1 >= width {
                let window = points[(index + 1 - width)...index]
                var wholes: [Int64] = []
                for case .integer(let whole)? in window.map(\.value) { wholes.append(whole) }
                let sum =
                    wholes.isEmpty
                    ? window.compactMap { NaiveValue.number($0.value) }.reduce(0, +)
                    : Double(wholes.reduce(0, &+))
                append(points[index], .float(sum / Double(width)))
            }
        case "difference", "non_negative_difference", "derivative", "non_negative_derivative":
            var previous: NaivePoint?
            for point in points {
                // Of several points at one time only the first counts.
                if let previous, previous.time == point.time { continue }
                if let previous {
                    if let value = try change(name, parameter, previous, point) {
                        append(point, value)
                    }
                }
                previous = point
            }
        default: throw NaiveUnsupported(what: name)
        }
        return result
    }

    private func change(
        _ name: String, _ parameter: Int64?, _ previous: NaivePoint, _ point: NaivePoint
    ) throws -> FieldValue? {
        let difference = try NaiveValue.compute(
            .subtract, point.value, previous.value, isCondition: false)
        let isNegative = name.hasPrefix("non_negative")
        if name.hasSuffix("difference") {
            if isNegative, let number = NaiveValue.number(difference), number < 0 { return nil }
            return difference
        }
        // Integers wrap before they become a float.
        guard let change = NaiveValue.number(difference) else { return nil }
        if isNegative, change < 0 { return nil }
        let unit = parameter ?? buckets?.interval ?? 1_000_000_000
        let elapsed = between(previous.time, point.time)
        return .float(change / ((isAscending ? elapsed : -elapsed) / Double(unit)))
    }

    /// Nanoseconds, more than 64 bits hold.
    private func between(_ earlier: Int64, _ later: Int64) -> Double {
        Double(Int128(later) - Int128(earlier))
    }

    // MARK: Rows

    /// Points of one time are one row.
    private func joined(
        _ lists: [[NaivePoint]]
    ) -> [(time: Int64, points: [NaivePoint?])] {
        var rest = lists.map { $0[...] }
        var rows: [(time: Int64, points: [NaivePoint?])] = []
        while let time = rest.compactMap(\.first?.time).min(by: precedes) {
            rows.append((time, rest.map { $0.first?.time == time ? $0.first : nil }))
            for index in rest.indices where rest[index].first?.time == time {
                rest[index].removeFirst()
            }
        }
        return rows
    }

    private func rows(
        _ joined: [(time: Int64, points: [NaivePoint?])]
    ) throws -> [(time: Int64, values: [FieldValue?])] {
        var previous: [String: FieldValue] = [:]
        return try joined.map { time, points in
            var values: [String: FieldValue] = [:]
            for (call, point) in zip(calls, points) {
                var value = point?.value
                // fill() also stands in for a value that a function does not give.
                switch statement.fill {
                case .number(let number) where value == nil:
                    let type = call.type(type(of: call.argument))
                    value = type.flatMap { NaiveValue.cast(number, $0) }
                case .previous where value == nil: value = previous[call.text]
                default: break
                }
                values[call.text] = value
                previous[call.text] = value
            }
            let row = try fields.map { field in
                try evaluate(
                    field,
                    reference: { name in
                        guard calls.count == 1, let (row, table) = points[0]?.source else {
                            return nil
                        }
                        return tables[table].value(name, row, type(of: name))
                    }, call: { values[$0] })
            }
            return (time, row)
        }
    }
}
