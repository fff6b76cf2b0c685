// Ranks and modes of many overlapping windows whose ends only move on: a value is added once and
// removed once, each at the cost of the logarithm of all values.

/// Rows of a window by the rank of their value: median and percentile.
struct SlidingRanks {
    /// All rows by value; of equal ones the earlier come first.
    private let order: [Int]
    /// Where each row is in `order`.
    private var places: [Int]
    /// A binary indexed tree: how many rows of the window lie in a range of `order`.
    private var counts: [Int]
    private var rows = 0..<0
    private let counters: CounterBox
    private let share: MemoryShare

    /// - Parameter points: numbers by ascending time, none of them null.
    init(
        _ points: PointList, _ selection: Selection, _ counters: CounterBox
    ) throws(DatabaseError) {
        self.counters = counters
        share = MemoryShare(counters.memory)
        try share.resize(to: points.count * 5 * 8)
        let keys = Ranking.keys(points.values, 0..<points.count)
        order = Array(keys.indices).sortedUnlessStopped { (keys[$0], $0) < (keys[$1], $1) }
        try counters.checkCancelled()
        places = Array(repeating: 0, count: order.count)
        for (place, row) in order.enumerated() { places[row] = place }
        counts = Array(repeating: 0, count: order.count + 1)
    }

    mutating func slide(to next: Range<Int>) throws(DatabaseError) {
        try slideWindow(from: rows, to: next, counters) { row, change in
            var index = places[row] + 1
            while index < counts.count {
                counts[index] += change
                index += index & -index
                counters.windowSteps += 1
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
            counters.windowSteps += 1
        }
        return order[index]
    }
}

/// How often each value comes in a window: mode.
struct SlidingCounts {
    /// Steps from value to value that the choice among equally frequent ones may take for a window,
    /// on the average. Series met in studies take less than ten.
    private static let choiceCountMax = 256

    /// The most frequent values of a part of all.
    private struct Node {
        var count = 0
        /// The first row of the one seen first.
        var first = Int.max
    }

    private let points: PointList
    private let counters: CounterBox
    private let share: MemoryShare
    /// The number of the value of each row; values are numbered as they are ordered.
    private var numbers: [Int] = []
    /// The next row of the same value.
    private var following: [Int] = []
    /// The last row in the window of each value.
    private var last: [Int]
    /// A binary tree as an array, the root at 1; the values are the leaves, from `leafStart` on.
    private var nodes: [Node]
    private let leafStart: Int
    private var rows = 0..<0
    private var choiceCount = 0
    private var choiceCountMax = 0

    /// - Parameter points: by ascending time, none of them null.
    init(
        _ points: PointList, _ selection: Selection, _ counters: CounterBox
    ) throws(DatabaseError) {
        self.points = points
        self.counters = counters
        share = MemoryShare(counters.memory)
        try share.resize(to: points.count * 12 * 8)
        let isFloat = points.values.type == .float
        func key(_ row: Int) -> UInt64 {
            let bits = points.values.bits[row]
            guard isFloat else { return bits }
            let number = Double(bitPattern: bits)
            // -0 and 0 are one value, and so are all that are no number.
            return number.isNaN ? Double.nan.bitPattern : number == 0 ? 0 : bits
        }
        var known: [UInt64: Int] = [:]
        var firstRows: [Int] = []
        for row in 0..<points.count {
            if known.updateValue(0, forKey: key(row)) == nil { firstRows.append(row) }
        }
        let ordered = firstRows.sortedUnlessStopped { selection.precedes(points, $0, $1) }
        try counters.checkCancelled()
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
        try slideWindow(from: rows, to: next, counters) { row, change in
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
                counters.windowSteps += 1
            }
        }
        rows = next
        choiceCountMax += SlidingCounts.choiceCountMax
    }

    /// A row of the most frequent value of a window that has some; which of equally frequent ones
    /// is as mode() has it.
    mutating func mode() throws(DatabaseError) -> Int {
        let count = nodes[1].count
        var leaf = self.leaf(in: 1) { $0.count == count }
        while count > 1 || points.values.type == .boolean, let next = self.next(leaf, count) {
            leaf = next
            choiceCount += 1
            guard choiceCount <= choiceCountMax else {
                throw DatabaseError(
                    .limitExceeded,
                    "mode() OVER (...) found too many values that are equally frequent in a "
                        + "window, more than \(SlidingCounts.choiceCountMax) to choose among for "
                        + "each; take a shorter window or fewer distinct values")
            }
        }
        return last[leaf - leafStart]
    }

    /// The next larger value as frequent that was first seen before this one was last seen; of
    /// booleans true.
    private func next(_ leaf: Int, _ count: Int) -> Int? {
        let time = points.times[last[leaf - leafStart]]
        let isBoolean = points.values.type == .boolean
        func wins(_ node: Node) -> Bool {
            node.count == count && (isBoolean || points.times[node.first] <= time)
        }
        var index = leaf
        while index > 1 {
            counters.windowSteps += 1
            if index % 2 == 0, wins(nodes[index + 1]) { return self.leaf(in: index + 1, wins) }
            index /= 2
        }
        return nil
    }

    /// The first leaf below a node that fulfils what the node does.
    private func leaf(in node: Int, _ isWanted: (Node) -> Bool) -> Int {
        var index = node
        while index < leafStart {
            counters.windowSteps += 1
            index = isWanted(nodes[2 * index]) ? 2 * index : 2 * index + 1
        }
        return index
    }
}

/// Calls the body for each row that leaves a window, then for each that comes in.
private func slideWindow(
    from old: Range<Int>, to new: Range<Int>, _ counters: CounterBox,
    _ change: (_ row: Int, _ change: Int) -> Void
) throws(DatabaseError) {
    for row in old.lowerBound..<max(old.lowerBound, min(new.lowerBound, old.upperBound)) {
        if row % 4096 == 0 { try counters.checkCancelled() }
        change(row, -1)
    }
    for row in max(
        old.upperBound, new.lowerBound)..<max(
            old.upperBound, new.lowerBound, new.upperBound)
    {
        if row % 4096 == 0 { try counters.checkCancelled() }
        change(row, 1)
    }
}
