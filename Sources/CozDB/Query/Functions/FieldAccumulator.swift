// Accumulates count, sum, extremes, first and last of one field per bucket. One pass serves all
// simple aggregates of the field. Whole runs of values are added as summaries if storage has them.

/// The number of values in a bucket and their sum.
struct BucketSums {
    var start: Int64
    var count = 0
    var floatSum = 0.0
    var integerSum: Int64 = 0
}

/// The other statistics of one bucket.
struct BucketDetails {
    /// Values are 64 bits as in `ColumnSlice`; strings are codes of the accumulator's table.
    var minimum: UInt64 = 0
    var minimumTime: Int64 = 0
    var maximum: UInt64 = 0
    var maximumTime: Int64 = 0
    var first: UInt64 = 0
    var firstTime: Int64 = 0
    var last: UInt64 = 0
    var lastTime: Int64 = 0
    /// Running mean and sum of squared differences (Welford's algorithm).
    var mean = 0.0
    var squares = 0.0
}

/// All statistics of one bucket.
struct BucketState {
    var sums: BucketSums
    var details = BucketDetails()
}

/// The statistics that the aggregates of a field need.
struct BucketNeeds: OptionSet {
    let rawValue: UInt8

    static let sum = BucketNeeds(rawValue: 1)
    static let extremes = BucketNeeds(rawValue: 2)
    static let first = BucketNeeds(rawValue: 4)
    static let last = BucketNeeds(rawValue: 8)
    static let moments = BucketNeeds(rawValue: 16)
    /// The count, which is always available. With this option, first and last are not enough.
    static let count = BucketNeeds(rawValue: 32)
    static let ends: BucketNeeds = [.first, .last]
    /// What the statistics of a block suffice for.
    static let ofBlocks: BucketNeeds = [.sum, .extremes, .first, .last, .count]

    init(_ aggregate: Aggregate) {
        switch aggregate {
        case .count: self = .count
        case .sum, .mean: self = .sum
        case .min, .max, .spread: self = .extremes
        case .stddev: self = .moments
        case .first: self = .first
        case .last, .age: self = .last
        default: self = .ends
        }
    }

    init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Whether counts and sums suffice.
    var sumsSuffice: Bool { isSubset(of: [.sum, .count]) }

    var isCount: Bool { isSubset(of: .count) }
}

/// Decides which runs of values an accumulator can add as summaries.
struct SummaryWindow {
    let range: TimeRange
    let buckets: TimeBuckets?
    let isPossible: Bool

    /// Returns whether a run of values lies in one bucket, so that its summary suffices.
    func accepts(_ first: Int64, _ last: Int64) -> Bool {
        guard isPossible, range.covers(first: first, last: last) else { return false }
        guard let buckets else { return true }
        return last < buckets.bounds(first).end
    }
}

/// An accumulator for one field of one group.
struct FieldAccumulator {
    let type: FieldType
    /// Values of other times are dropped.
    var range: TimeRange
    private let buckets: TimeBuckets?
    var needs: BucketNeeds
    /// The buckets. With `numbering` they are in order of appearance. Otherwise the first
    /// `sortedCount` are sorted, and so is the tail that the current series adds.
    private var sums: [BucketSums] = []
    /// The details of the buckets; empty if sums suffice. A bucket then takes half a cache line.
    private var details: [BucketDetails] = []
    private var numbering: BucketMap?
    private var sortedCount = 0
    private var current = 0
    private var currentRange: (start: Int64, end: Int64) = (1, 0)
    private var strings = VectorBuilder(type: .string)
    /// The size of `strings` from which unused ones are dropped.
    private var stringSizeBytesMax = 1 << 20

    /// - Parameter extent: the range of all values that will be added, if known.
    init(
        type: FieldType, range: TimeRange, buckets: TimeBuckets?, needs: BucketNeeds,
        extent: TimeRange? = nil
    ) {
        self.type = type
        self.range = range
        self.buckets = buckets
        self.needs = needs
        if let buckets, let extent {
            numbering = BucketMap(buckets, extent: extent.intersection(range))
        }
    }

    /// The approximate size in memory.
    var sizeBytes: Int {
        sums.count * MemoryLayout<BucketSums>.stride
            + details.count * MemoryLayout<BucketDetails>.stride + strings.sizeBytes
            + (numbering?.sizeBytes ?? 0)
    }

    // MARK: Input, by ascending time within a series

    var summaryWindow: SummaryWindow {
        // A summary of strings has only their count.
        SummaryWindow(
            range: range, buckets: buckets,
            isPossible: type == .string ? needs.isCount : needs.isSubset(of: .ofBlocks))
    }

    /// Removes all values but keeps the buffers. Drops the numbering of buckets.
    mutating func removeAll() {
        sums.removeAll(keepingCapacity: true)
        details.removeAll(keepingCapacity: true)
        strings.removeAll()
        sortedCount = 0
        current = 0
        currentRange = (1, 0)
        numbering = nil
    }

    /// Adds the values of another accumulator for other series of the same field.
    mutating func add(_ other: FieldAccumulator) {
        for place in other.orderedPlaces where other.sums[place].count > 0 {
            let index = index(start: other.sums[place].start)
            guard !needs.sumsSuffice else {
                add(other.sums[place], to: index)
                continue
            }
            var state = other.state(place)
            if type == .string, !needs.isDisjoint(with: .ends) {
                state.details.first = strings.code(other.text(state.details.first))
                state.details.last = strings.code(other.text(state.details.last))
            }
            merge(state, into: index)
            if type == .string { dropUnusedStrings() }
        }
        endSeries()
    }

    mutating func add(_ summary: ColumnSummary) {
        let index = bucket(at: summary.firstTime)
        var part = BucketState(sums: BucketSums(start: sums[index].start, count: summary.count))
        if type == .float {
            part.sums.floatSum = Double(bitPattern: summary.sum)
        } else {
            part.sums.integerSum = Int64(bitPattern: summary.sum)
        }
        if needs.sumsSuffice { return add(part.sums, to: index) }
        // Not the times of the points; `needsPointTimes` excludes summaries where these count.
        (part.details.minimum, part.details.minimumTime) = (summary.min, summary.firstTime)
        (part.details.maximum, part.details.maximumTime) = (summary.max, summary.firstTime)
        (part.details.first, part.details.firstTime) = (summary.first, summary.firstTime)
        (part.details.last, part.details.lastTime) = (summary.last, summary.lastTime)
        merge(part, into: index)
    }

    /// Adds values of one bucket of which only the count is needed.
    mutating func add(count: Int, at time: Int64) {
        guard count > 0 else { return }
        sums[bucket(at: time)].count += count
    }

    /// Whether values can be added without their times and buckets.
    var takesUntimed: Bool { buckets == nil && needs.sumsSuffice }

    /// The form in which storage should return values.
    var shape: ColumnShape {
        guard needs.sumsSuffice else { return .timed }
        guard let buckets else { return .untimed }
        return buckets.even.map { .buckets($0, withValues: !needs.isCount) } ?? .timed
    }

    /// Adds values grouped by bucket. Only counts and sums are updated.
    mutating func add(_ slice: BucketedSlice) {
        let bits = slice.bits
        let words = bits.span
        slice.forEachRun { start, values in
            let index = index(start: start)
            current = index
            sums[index].count += values.count
            if !needs.isCount { addSum(words.extracting(values), to: index) }
        }
        // The end of the last bucket is unknown here.
        if let last = slice.runs.starts.last { currentRange = (last, last) }
    }

    /// Adds a slice of values.
    ///
    /// - Parameter slice: if it has no times, all its values lie in the range.
    mutating func add(_ slice: ColumnSlice) {
        if slice.times.isEmpty, slice.count > 0 {
            let index = bucket(at: range.lower)
            sums[index].count += slice.count
            if !needs.isCount { addSum(slice.bits.span, to: index) }
            return
        }
        add(times: slice.times, bits: slice.bits, strings: slice.strings)
    }

    /// Adds the non-null values of a column.
    mutating func add(times: [Int64], _ vector: ResultVector) {
        guard vector.type == type else { return }
        if !vector.isPresent.contains(false) {
            return add(times: times, bits: vector.bits, strings: vector.strings)
        }
        let rows = vector.isPresent.indices.filter { vector.isPresent[$0] }
        add(
            times: rows.map { times[$0] }, bits: rows.map { vector.bits[$0] },
            strings: vector.strings)
    }

    private mutating func add(times: [Int64], bits: [UInt64], strings table: StringTable) {
        guard let first = times.first, let last = times.last else { return }
        var row = first >= range.lower ? 0 : times.partitioningIndex { $0 >= range.lower }
        let rowEnd =
            last < range.upper ? times.count : times.partitioningIndex { $0 >= range.upper }
        while row < rowEnd {
            let index = bucket(at: times[row])
            let start = row
            row = firstIndex(in: times.span, notBefore: currentRange.end, in: row..<rowEnd)
            if needs.sumsSuffice {
                sums[index].count += row - start
                if needs.isCount { continue }
                addSum(bits.span.extracting(start..<row), to: index)
            } else {
                merge(part(times, bits, start..<row, table), into: index)
                dropUnusedStrings()
            }
        }
    }

    /// Drops strings that are no longer the first or last of a bucket, once they are many: a string
    /// is copied once on average, and a bucket visited once for some hundred bytes.
    private mutating func dropUnusedStrings() {
        let size = strings.textSizeBytes
        guard size > stringSizeBytesMax, size > 256 * details.count else { return }
        var used = VectorBuilder(type: .string)
        for index in details.indices where sums[index].count > 0 {
            details[index].first = used.code(strings.text(details[index].first))
            details[index].last = used.code(strings.text(details[index].last))
        }
        strings = used
        stringSizeBytesMax = max(1 << 20, 2 * used.textSizeBytes)
    }

    private mutating func addSum(_ bits: Span<UInt64>, to index: Int) {
        if type == .float {
            sums[index].floatSum += sumOfFloats(bits)
        } else {
            sums[index].integerSum &+= sumOfIntegers(bits)
        }
    }

    /// Ends a series. The next one may start at an earlier time.
    mutating func endSeries() {
        current = 0
        currentRange = (1, 0)
        guard numbering == nil, sortedCount < sums.count else { return }
        if sortedCount > 0, sums[sortedCount - 1].start > sums[sortedCount].start {
            mergeTail()
        }
        sortedCount = sums.count
    }

    private mutating func mergeTail() {
        var places: [Int] = []
        places.reserveCapacity(sums.count)
        var (left, right) = (0, sortedCount)
        while left < sortedCount || right < sums.count {
            let takesLeft =
                right == sums.count
                || (left < sortedCount && sums[left].start < sums[right].start)
            places.append(takesLeft ? left : right)
            if takesLeft { left += 1 } else { right += 1 }
        }
        order(by: places)
    }

    private mutating func order(by places: [Int]) {
        sums = places.map { sums[$0] }
        if !details.isEmpty { details = places.map { details[$0] } }
    }

    // MARK: Buckets

    private mutating func bucket(at time: Int64) -> Int {
        if time >= currentRange.start, time < currentRange.end { return current }
        currentRange = buckets?.bounds(time, after: currentRange) ?? (.min, .max)
        current = index(start: currentRange.start)
        return current
    }

    private mutating func index(start: Int64) -> Int {
        if numbering != nil {
            if let known = numbering?.place(start, next: sums.count) {
                return known == sums.count ? append(start) : known
            }
            // The value lies outside the extent: continue without numbering.
            order(by: orderedPlaces)
            sortedCount = sums.count
            numbering = nil
        }
        if let last = sums.last, sums.count > sortedCount, last.start == start {
            return sums.count - 1
        }
        // The bucket is usually the next one of earlier series; otherwise search for it.
        if current + 1 < sortedCount, sums[current + 1].start == start { return current + 1 }
        let place = sums[..<sortedCount].partitioningIndex { $0.start >= start }
        if place < sortedCount, sums[place].start == start { return place }
        return append(start)
    }

    /// Appends a bucket and returns its place.
    private mutating func append(_ start: Int64) -> Int {
        sums.append(BucketSums(start: start))
        if !needs.sumsSuffice { details.append(BucketDetails()) }
        return sums.count - 1
    }

    private func state(_ place: Int) -> BucketState {
        details.isEmpty
            ? BucketState(sums: sums[place])
            : BucketState(sums: sums[place], details: details[place])
    }

    /// The places of the buckets by ascending time.
    private var orderedPlaces: [Int] { numbering?.places ?? Array(sums.indices) }

    private mutating func part(
        _ times: [Int64], _ bits: [UInt64], _ rows: Range<Int>, _ table: StringTable
    ) -> BucketState {
        let (first, last) = (rows.lowerBound, rows.upperBound - 1)
        var part = BucketState(sums: BucketSums(start: 0, count: rows.count))
        (part.details.first, part.details.firstTime) = (bits[first], times[first])
        (part.details.last, part.details.lastTime) = (bits[last], times[last])
        (part.details.minimumTime, part.details.maximumTime) = (times[first], times[first])
        switch type {
        case .float: FieldAccumulator.floats(&part, times, bits, rows)
        case .integer, .boolean: FieldAccumulator.integers(&part, times, bits, rows)
        case .string:
            part.details.first = strings.code(bits[first], in: table)
            part.details.last =
                first == last ? part.details.first : strings.code(bits[last], in: table)
        }
        if needs.contains(.moments) { moments(&part.details, bits, rows) }
        if !needs.isDisjoint(with: .ends), rows.count > 1 {
            breakTies(&part.details, times, bits, rows, table)
        }
        return part
    }

    /// Breaks ties of first and last, which only rows of a subquery can have.
    private mutating func breakTies(
        _ part: inout BucketDetails, _ times: [Int64], _ bits: [UInt64], _ rows: Range<Int>,
        _ table: StringTable
    ) {
        var row = rows.lowerBound + 1
        while row < rows.upperBound, times[row] == part.firstTime {
            let value = type == .string ? strings.code(bits[row], in: table) : bits[row]
            if wins(value, over: part.first, isFirst: true) { part.first = value }
            row += 1
        }
        row = rows.upperBound - 2
        while row >= rows.lowerBound, times[row] == part.lastTime {
            let value = type == .string ? strings.code(bits[row], in: table) : bits[row]
            if wins(value, over: part.last, isFirst: false) { part.last = value }
            row -= 1
        }
    }

    private static func floats(
        _ part: inout BucketState, _ times: [Int64], _ bits: [UInt64], _ rows: Range<Int>
    ) {
        var sum = 0.0
        var minimum = Double.nan
        var maximum = Double.nan
        for row in rows {
            let value = Double(bitPattern: bits[row])
            sum += value
            // Written so that the first value, and any value after NaN, is taken.
            if !(value >= minimum), !value.isNaN {
                minimum = value
                part.details.minimumTime = times[row]
            }
            if !(value <= maximum), !value.isNaN {
                maximum = value
                part.details.maximumTime = times[row]
            }
        }
        part.sums.floatSum = sum
        part.details.minimum = minimum.bitPattern
        part.details.maximum = maximum.bitPattern
    }

    private static func integers(
        _ part: inout BucketState, _ times: [Int64], _ bits: [UInt64], _ rows: Range<Int>
    ) {
        var sum: Int64 = 0
        var minimum = Int64(bitPattern: bits[rows.lowerBound])
        var maximum = minimum
        for row in rows {
            let value = Int64(bitPattern: bits[row])
            sum &+= value
            if value < minimum {
                minimum = value
                part.details.minimumTime = times[row]
            }
            if value > maximum {
                maximum = value
                part.details.maximumTime = times[row]
            }
        }
        part.sums.integerSum = sum
        part.details.minimum = UInt64(bitPattern: minimum)
        part.details.maximum = UInt64(bitPattern: maximum)
    }

    private func moments(_ part: inout BucketDetails, _ bits: [UInt64], _ rows: Range<Int>) {
        var count = 0.0
        for row in rows {
            let value =
                type == .float
                ? Double(bitPattern: bits[row]) : Double(Int64(bitPattern: bits[row]))
            count += 1
            let difference = value - part.mean
            part.mean += difference / count
            part.squares += difference * (value - part.mean)
        }
    }

    // MARK: Merging

    private mutating func add(_ part: BucketSums, to index: Int) {
        sums[index].count += part.count
        sums[index].floatSum += part.floatSum
        sums[index].integerSum &+= part.integerSum
    }

    private mutating func merge(_ part: BucketState, into index: Int) {
        let ownCount = sums[index].count
        add(part.sums, to: index)
        let part = (count: part.sums.count, details: part.details)
        guard ownCount > 0 else {
            details[index] = part.details
            return
        }
        var own = details[index]
        let new = part.details
        let (left, right) = (Double(ownCount), Double(part.count))
        let difference = new.mean - own.mean
        own.squares += new.squares + difference * difference * left * right / (left + right)
        own.mean += difference * right / (left + right)
        // 0 and -0 are equal, though their bits differ.
        let isEarlierMinimum = new.minimumTime < own.minimumTime
        if type.precedes(new.minimum, own.minimum)
            || (isEarlierMinimum && !type.precedes(own.minimum, new.minimum))
        {
            (own.minimum, own.minimumTime) = (new.minimum, new.minimumTime)
        }
        let isEarlierMaximum = new.maximumTime < own.maximumTime
        if type.exceeds(new.maximum, own.maximum)
            || (isEarlierMaximum && !type.exceeds(own.maximum, new.maximum))
        {
            (own.maximum, own.maximumTime) = (new.maximum, new.maximumTime)
        }
        if new.firstTime < own.firstTime
            || (new.firstTime == own.firstTime && wins(new.first, over: own.first, isFirst: true))
        {
            (own.first, own.firstTime) = (new.first, new.firstTime)
        }
        if new.lastTime > own.lastTime
            || (new.lastTime == own.lastTime && wins(new.last, over: own.last, isFirst: false))
        {
            (own.last, own.lastTime) = (new.last, new.lastTime)
        }
        details[index] = own
    }

    /// Returns whether a value wins against another at the same time. As in InfluxDB the larger
    /// value wins, except that first() prefers false to true.
    private func wins(_ candidate: UInt64, over other: UInt64, isFirst: Bool) -> Bool {
        switch type {
        case .string:
            return Name(text(other)) < Name(text(candidate))
        case .boolean:
            return isFirst ? candidate < other : candidate > other
        case .float, .integer: return type.precedes(other, candidate)
        }
    }

    private func text(_ code: UInt64) -> String { strings.text(code) }

    // MARK: Output

    /// Returns the points of one aggregate by ascending time.
    ///
    /// - Parameter time: the time of the row without buckets; nil means that of the selected point.
    func points(_ aggregate: Aggregate, time: Int64?, age: Age) -> PointList {
        var list = PointList()
        let resultType = aggregate.resultType(of: type)
        if sums.count == 1, numbering == nil, sums[0].count > 0, resultType != .string {
            let value = value(aggregate, 0, age)
            list.times = [buckets != nil ? sums[0].start : time ?? value.time]
            list.values = ResultVector(
                type: resultType, bits: [value.bits ?? 0],
                isPresent: value.bits == nil ? [false] : ResultVector.onePresent)
            return list
        }
        var builder = VectorBuilder(type: resultType)
        let places = orderedPlaces
        list.times.reserveCapacity(places.count)
        builder.reserve(places.count)
        for (number, place) in places.enumerated() where sums[place].count > 0 {
            if number & (CancellationCheck.stepCount - 1) == 0, CancellationCheck.isRaised { break }
            let value = value(aggregate, place, age)
            list.times.append(buckets != nil ? sums[place].start : time ?? value.time)
            append(value.bits, to: &builder)
        }
        list.values = builder.finished()
        return list
    }

    private func append(_ bits: UInt64?, to builder: inout VectorBuilder) {
        guard let bits, let resultType = builder.type else { return builder.appendNull() }
        if resultType == .string {
            builder.append(.string(text(bits)))
        } else {
            builder.append(resultType, bits)
        }
    }

    private func value(
        _ aggregate: Aggregate, _ place: Int, _ age: Age
    ) -> (bits: UInt64?, time: Int64) {
        let sums = sums[place]
        switch aggregate {
        case .count: return (UInt64(sums.count), 0)
        case .sum:
            return type == .float
                ? (sums.floatSum.bitPattern, 0) : (UInt64(bitPattern: sums.integerSum), 0)
        case .mean:
            let sum = type == .float ? sums.floatSum : Double(sums.integerSum)
            return ((sum / Double(sums.count)).bitPattern, 0)
        default: return value(aggregate, details[place], count: sums.count, age)
        }
    }

    private func value(
        _ aggregate: Aggregate, _ details: BucketDetails, count: Int, _ age: Age
    ) -> (bits: UInt64?, time: Int64) {
        switch aggregate {
        case .min: return (details.minimum, details.minimumTime)
        case .max: return (details.maximum, details.maximumTime)
        case .first: return (details.first, details.firstTime)
        case .last: return (details.last, details.lastTime)
        case .age: return (UInt64(bitPattern: age.value(details.lastTime)), details.lastTime)
        case .spread:
            if type == .integer { return (details.maximum &- details.minimum, 0) }
            let spread =
                Double(bitPattern: details.maximum) - Double(bitPattern: details.minimum)
            return (spread.bitPattern, 0)
        case .stddev:
            // NaN for one value, as in InfluxDB: fill() replaces only empty buckets.
            guard count > 1 else { return (Double.nan.bitPattern, 0) }
            return ((details.squares / Double(count - 1)).squareRoot().bitPattern, 0)
        default: return (nil, 0)
        }
    }
}
