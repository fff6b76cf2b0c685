// What a reader of rows says of one column, so that blocks can be left alone whose statistics tell
// that no row of theirs is wanted.

/// Rows are wanted only where this column has a value, and one within these bounds.
struct ColumnDemand: Equatable, Sendable {
    /// Bounds of values, both included.
    enum Bounds: Equatable, Sendable {
        case any
        case integers(ClosedRange<Int64>)
        /// Integers are compared as the doubles they are nearest to.
        case floats(ClosedRange<Double>)
        /// No value at all can be wanted.
        case nothing
    }

    var column: ColumnID
    var bounds: Bounds

    /// Whether a block with these statistics may hold a value that is wanted; false is certain.
    func allows(_ summary: ColumnSummary) -> Bool {
        switch (bounds, summary.type) {
        case (.any, _): return true
        case (.nothing, _): return false
        case (.integers(let wanted), .integer):
            return Int64(bitPattern: summary.min) <= wanted.upperBound
                && Int64(bitPattern: summary.max) >= wanted.lowerBound
        case (.floats(let wanted), .integer):
            return Double(Int64(bitPattern: summary.min)) <= wanted.upperBound
                && Double(Int64(bitPattern: summary.max)) >= wanted.lowerBound
        case (.floats(let wanted), .float):
            // A block of nothing but NaN has NaN here, and nothing that a bound is true of.
            return Double(bitPattern: summary.min) <= wanted.upperBound
                && Double(bitPattern: summary.max) >= wanted.lowerBound
        default: return true
        }
    }
}

/// Spans of time outside of which no row is wanted: ascending, apart from each other.
struct WantedTimes: Equatable, Sendable {
    /// First and last time, both included.
    var spans: [ClosedRange<Int64>]

    /// The times that are in both.
    func intersection(_ other: WantedTimes) -> WantedTimes {
        var result: [ClosedRange<Int64>] = []
        var (left, right) = (0, 0)
        while left < spans.count, right < other.spans.count {
            let (a, b) = (spans[left], other.spans[right])
            let lower = max(a.lowerBound, b.lowerBound)
            let upper = min(a.upperBound, b.upperBound)
            if lower <= upper { result.append(lower...upper) }
            if a.upperBound < b.upperBound { left += 1 } else { right += 1 }
        }
        return WantedTimes(spans: result)
    }

    /// Whether any time from first to last is wanted.
    func overlaps(first: Int64, last: Int64) -> Bool {
        let index = spans.partitioningIndex { $0.upperBound >= first }
        return index < spans.count && spans[index].lowerBound <= last
    }
}
