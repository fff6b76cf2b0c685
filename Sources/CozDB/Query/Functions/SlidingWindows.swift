// Ranks and modes of many overlapping windows that only move forward. Each value is added once and
// removed once, in time logarithmic in the number of all values.

/// The rows of a window by rank, for median and percentile.
struct SlidingRanks {
    /// All rows sorted by value; among equal values the earlier comes first.
    private let order: [Int]
    /// The position of each row in `order`.
    private var places: [Int]
    /// A binary indexed tree with the number of window rows in ranges of `order`.
    private var counts: [Int]
    private var rows = 0..<0
    private let context: ExecutionContext
    private let share: MemoryReservation

    /// - Parameter points: non-null numbers by ascending time.
    init(
        _ points: PointList, _ selection: Selection, _ context: ExecutionContext
    ) throws(DatabaseError) {
        self.context = context
        share = MemoryReservation(context.memory)
        try share.resize(to: points.count * 5 * 8)
        let keys = Ranking.keys(points.values, 0..<points.count)
        order = Array(keys.indices).sortedUnlessCancelled { (keys[$0], $0) < (keys[$1], $1) }
        try context.checkCancelled()
        places = Array(repeating: 0, count: order.count)
        for (place, row) in order.enumerated() { places[row] = place }
        counts = Array(repeating: 0, count: order.count + 1)
    }

    mutating func slide(to next: Range<Int>) throws(DatabaseError) {
        try slideWindow(from: rows, to: next, context) { row, change in
            var index = places[row] + 1
            while index < counts.count {
                counts[index] += change
                index += index & -index
                context.windowSteps += 1
            }
        }
        rows = next
    }

    func row(ofRank rank: Int) -> Int {
        var (index, rest) = (0, rank)
        var step = 1 << (Int.bitWidth - 1 - counts.count.leadingZeroBitCount)
        while step > 0 {
            if index + step < counts.count, counts[index + step] <= rest {
                index += step
                rest -= counts[index]
            }
            step >>= 1
            context.windowSteps += 1
        }
        return order[index]
    }
}

/// The frequencies of the values in a window, for mode.
struct SlidingCounts {
    /// The maximum average number of steps per window to choose among equally frequent values.
    /// Series from studies need fewer than ten.
    private static let tieStepCountMax = 256

    /// The most frequent values below a node.
    private struct Node {
        var count = 0
        /// The first row of the one that occurs first.
        var first = Int.max
    }

    private let points: PointList
    private let context: ExecutionContext
    private let share: MemoryReservation
    /// The value number of each row. Values are numbered in sort order.
    private var numbers: [Int] = []
    /// The next row with the same value.
    private var following: [Int] = []
    /// The last row of each value in the window.
    private var last: [Int]
    /// A binary tree in an array: the root is at 1, the values are leaves from `leafStart` on.
    private var nodes: [Node]
    private let leafStart: Int
    private var rows = 0..<0
    private var choiceCount = 0
    private var tieStepCountMax = 0

    /// - Parameter points: non-null values by ascending time.
    init(
        _ points: PointList, _ selection: Selection, _ context: ExecutionContext
    ) throws(DatabaseError) {
        self.points = points
        self.context = context
        share = MemoryReservation(context.memory)
        try share.resize(to: points.count * 12 * 8)
        let isFloat = points.values.type == .float
        func key(_ row: Int) -> UInt64 {
            let bits = points.values.bits[row]
            guard isFloat else { return bits }
            let number = Double(bitPattern: bits)
            // -0 equals 0, and all NaNs count as one value.
            return number.isNaN ? Double.nan.bitPattern : number == 0 ? 0 : bits
        }
        var known: [UInt64: Int] = [:]
        var firstRows: [Int] = []
        for row in 0..<points.count {
            if known.updateValue(0, forKey: key(row)) == nil { firstRows.append(row) }
        }
        let ordered = firstRows.sortedUnlessCancelled { selection.precedes(points, $0, $1) }
        try context.checkCancelled()
        for (number, row) in ordered.enumerated() { known[key(row)] = number }
        numbers = (0..<points.count).map { known[key($0)] ?? 0 }
        var next = Array(repeating: Int.max, count: ordered.count)
        following = Array(repeating: Int.max, count: points.count)
        for row in (0..<points.count).reversed() {
            following[row] = next[numbers[row]]
            next[numbers[row]] = row
        }
        last = Array(repeating: 0, count: ordered.count)
        var leafStart = 1
        while leafStart < ordered.count { leafStart *= 2 }
        self.leafStart = leafStart
        nodes = Array(repeating: Node(), count: 2 * leafStart)
    }

    mutating func slide(to next: Range<Int>) throws(DatabaseError) {
        try slideWindow(from: rows, to: next, context) { row, change in
            var index = leafStart + numbers[row]
            nodes[index].count += change
            if change > 0 {
                last[numbers[row]] = row
                nodes[index].first = min(nodes[index].first, row)
            } else {
                nodes[index].first = nodes[index].count == 0 ? .max : following[row]
            }
            while index > 1 {
                index /= 2
                let (left, right) = (nodes[2 * index], nodes[2 * index + 1])
                nodes[index] = left.count >= right.count ? left : right
                if left.count == right.count {
                    nodes[index].first = min(left.first, right.first)
                }
                context.windowSteps += 1
            }
        }
        rows = next
        tieStepCountMax += SlidingCounts.tieStepCountMax
    }

    /// Returns a row of the most frequent value of a non-empty window, breaking ties like mode().
    mutating func mode() throws(DatabaseError) -> Int {
        let count = nodes[1].count
        var leaf = self.leaf(in: 1) { $0.count == count }
        while count > 1 || points.values.type == .boolean, let next = self.next(leaf, count) {
            leaf = next
            choiceCount += 1
            guard choiceCount <= tieStepCountMax else {
                throw DatabaseError(
                    .limitExceeded,
                    "mode() OVER (...) found more than \(SlidingCounts.tieStepCountMax) equally "
                        + "frequent values per window on average; use a shorter window or fewer "
                        + "distinct values")
            }
        }
        return last[leaf - leafStart]
    }

    /// Returns the next larger value with the same count that first occurs no later than the last
    /// row of this one. For booleans it is true.
    private func next(_ leaf: Int, _ count: Int) -> Int? {
        let time = points.times[last[leaf - leafStart]]
        let isBoolean = points.values.type == .boolean
        func wins(_ node: Node) -> Bool {
            node.count == count && (isBoolean || points.times[node.first] <= time)
        }
        var index = leaf
        while index > 1 {
            context.windowSteps += 1
            if index % 2 == 0, wins(nodes[index + 1]) { return self.leaf(in: index + 1, wins) }
            index /= 2
        }
        return nil
    }

    /// Returns the first leaf below a node that satisfies a condition, which the node satisfies.
    private func leaf(in node: Int, _ isWanted: (Node) -> Bool) -> Int {
        var index = node
        while index < leafStart {
            context.windowSteps += 1
            index = isWanted(nodes[2 * index]) ? 2 * index : 2 * index + 1
        }
        return index
    }
}

/// Calls the body for each row that leaves the window, then for each row that enters it.
private func slideWindow(
    from old: Range<Int>, to new: Range<Int>, _ context: ExecutionContext,
    _ change: (_ row: Int, _ change: Int) -> Void
) throws(DatabaseError) {
    for row in old.lowerBound..<max(old.lowerBound, min(new.lowerBound, old.upperBound)) {
        if row % 4096 == 0 { try context.checkCancelled() }
        change(row, -1)
    }
    for row in max(
        old.upperBound, new.lowerBound)..<max(
            old.upperBound, new.lowerBound, new.upperBound)
    {
        if row % 4096 == 0 { try context.checkCancelled() }
        change(row, 1)
    }
}
