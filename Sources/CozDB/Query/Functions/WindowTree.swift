// Sums, moments and extremes of many overlapping windows: a binary tree over points by time, so
// that a window costs the logarithm of its values. The tree splits time at bit positions. The order
// of float additions therefore depends only on the points of the window.

/// A summary that a tree keeps for ranges of rows.
protocol RangeSummarizer {
    associatedtype Summary

    func summary(ofRow row: Int) -> Summary
    func combined(_ earlier: Summary, _ later: Summary) -> Summary
}

struct WindowTree<Summarizer: RangeSummarizer> {
    typealias Summary = Summarizer.Summary

    private struct Node {
        var rows: Range<Int>
        /// The children; nil for a leaf.
        var children: (earlier: Int, later: Int)?
        var summary: Summary
    }

    /// The maximum number of rows in a leaf, unless more share a time.
    private static var leafCountMax: Int { 32 }

    private let summarizer: Summarizer
    private let times: [Int64]
    private let context: ExecutionContext
    private let share: MemoryReservation
    private var nodes: [Node] = []

    /// - Parameters:
    ///   - times: ascending times.
    ///   - keepsNodes: whether to build the tree, which pays off for many windows.
    init(
        _ summarizer: Summarizer, _ times: [Int64], keepsNodes: Bool, _ context: ExecutionContext
    ) throws(DatabaseError) {
        self.summarizer = summarizer
        self.times = times
        self.context = context
        share = MemoryReservation(context.memory)
        guard keepsNodes, !times.isEmpty else { return }
        _ = try addNode(times.indices)
    }

    /// Returns the summary of a window. A window contains all points of a time or none.
    func summary(of rows: Range<Int>) -> Summary {
        nodes.isEmpty ? folded(rows) : summary(of: rows, in: nodes.count - 1)
    }

    private func summary(of rows: Range<Int>, in index: Int) -> Summary {
        let node = nodes[index]
        context.windowSteps += 1
        let part = rows.clamped(to: node.rows)
        if part == node.rows { return node.summary }
        guard let children = node.children else { return folded(part) }
        let middle = nodes[children.later].rows.lowerBound
        if part.upperBound <= middle { return summary(of: part, in: children.earlier) }
        if part.lowerBound >= middle { return summary(of: part, in: children.later) }
        return summarizer.combined(
            summary(of: part, in: children.earlier), summary(of: part, in: children.later))
    }

    /// Appends a node after its descendants. The recursion is at most as deep as a time has bits.
    private mutating func addNode(_ rows: Range<Int>) throws(DatabaseError) -> Int {
        let last = rows.upperBound - 1
        let difference = times[rows.lowerBound] ^ times[last]
        if rows.count <= Self.leafCountMax || difference == 0 {
            try context.checkCancelled()
            nodes.append(Node(rows: rows, children: nil, summary: folded(rows)))
        } else {
            let shift = Int64.bitWidth - 1 - difference.leadingZeroBitCount
            // For times on both sides of 1970, the differing bit is the sign.
            let start = shift == Int64.bitWidth - 1 ? 0 : (times[last] >> shift) << shift
            let middle = times[rows].partitioningIndex { $0 >= start }
            let earlier = try addNode(rows.lowerBound..<middle)
            let later = try addNode(middle..<rows.upperBound)
            let summary = summarizer.combined(nodes[earlier].summary, nodes[later].summary)
            nodes.append(Node(rows: rows, children: (earlier, later), summary: summary))
        }
        try share.resize(to: nodes.capacity * MemoryLayout<Node>.stride)
        return nodes.count - 1
    }

    /// Returns the summary of rows without nodes, combined in the same order.
    private func folded(_ rows: Range<Int>) -> Summary {
        context.windowSteps += rows.count
        // The summaries before the open splits, with the bit of each split; the bits descend.
        var open: [(level: Int, summary: Summary)] = []
        var current = summarizer.summary(ofRow: rows.lowerBound)
        for row in rows.dropFirst() {
            let level = Int64.bitWidth - (times[row - 1] ^ times[row]).leadingZeroBitCount
            let next = summarizer.summary(ofRow: row)
            if level == 0 {
                current = summarizer.combined(current, next)
                continue
            }
            while let top = open.last, top.level < level {
                current = summarizer.combined(top.summary, current)
                open.removeLast()
            }
            open.append((level, current))
            current = next
        }
        for part in open.reversed() { current = summarizer.combined(part.summary, current) }
        return current
    }
}

/// Sums of numbers; integers wrap.
struct WindowSums: RangeSummarizer {
    let values: ResultVector

    func summary(ofRow row: Int) -> UInt64 { values.bits[row] }

    func combined(_ earlier: UInt64, _ later: UInt64) -> UInt64 {
        guard values.type == .float else { return earlier &+ later }
        return (Double(bitPattern: earlier) + Double(bitPattern: later)).bitPattern
    }
}

/// Means and sums of squared differences from the mean.
struct WindowMoments: RangeSummarizer {
    struct Moments {
        var count: Double
        var mean: Double
        var squares: Double
    }

    let values: ResultVector

    func summary(ofRow row: Int) -> Moments {
        let bits = values.bits[row]
        let value =
            values.type == .float ? Double(bitPattern: bits) : Double(Int64(bitPattern: bits))
        return Moments(count: 1, mean: value, squares: 0)
    }

    func combined(_ earlier: Moments, _ later: Moments) -> Moments {
        let count = earlier.count + later.count
        let difference = later.mean - earlier.mean
        let share = later.count / count
        return Moments(
            count: count, mean: earlier.mean + difference * share,
            squares: earlier.squares + later.squares
                + difference * difference * earlier.count * share)
    }
}

/// The rows of the smallest and the largest value; among equal values the earlier wins.
struct WindowExtremes: RangeSummarizer {
    let points: PointList
    let selection: Selection

    func summary(ofRow row: Int) -> (least: Int, most: Int) { (row, row) }

    func combined(
        _ earlier: (least: Int, most: Int), _ later: (least: Int, most: Int)
    ) -> (least: Int, most: Int) {
        (
            selection.precedes(points, later.least, earlier.least) ? later.least : earlier.least,
            selection.exceeds(points, later.most, earlier.most) ? later.most : earlier.most
        )
    }
}
