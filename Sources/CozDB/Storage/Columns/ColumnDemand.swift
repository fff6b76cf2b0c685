// Predicates on rows in terms of storage, for pushdown: blocks are skipped by their statistics,
// rows by the encoded values of other columns.

/// A predicate on one value. A missing value never passes.
enum ValueTest: Sendable {
    case isPresent
    case number(NumberTest)
    /// A boolean that equals the flag.
    case flag(Bool)
    case text(any TextTest)
    case never

    /// Returns whether all values of a block pass or fail by its statistics; nil if undecided.
    func verdict(on summary: ColumnSummary) -> Bool? {
        switch self {
        case .isPresent: true
        case .never: false
        case .number(let test): test.verdict(on: summary)
        case .flag(let flag): ValueTest.verdict(flag, on: summary)
        case .text: nil
        }
    }

    private static func verdict(_ flag: Bool, on summary: ColumnSummary) -> Bool? {
        guard summary.type == .boolean else { return nil }
        // The sum is the number of true values.
        if summary.sum == 0 { return !flag }
        return summary.sum == UInt64(summary.count) ? flag : nil
    }
}

/// A predicate on a string. A class, so that its results for dictionary strings can be cached.
protocol TextTest: AnyObject, Sendable {
    func accepts(_ text: String) -> Bool
}

/// A predicate on one column. Rows without a value in it are filtered out.
struct ColumnDemand: Sendable {
    var column: ColumnID
    var test: ValueTest

    /// Whether a block with these statistics may have a matching value. False is certain.
    func allows(_ summary: ColumnSummary) -> Bool { test.verdict(on: summary) != false }

    /// Whether block statistics can decide it.
    var isOfStatistics: Bool {
        switch test {
        case .isPresent, .text: false
        case .number, .flag, .never: true
        }
    }
}

/// A predicate on rows, over several columns.
indirect enum RowTest: Sendable {
    case column(ColumnDemand)
    case all([RowTest])
    case any([RowTest])

    /// The column predicates that every matching row satisfies.
    var demands: [ColumnDemand] {
        switch self {
        case .column(let demand): [demand]
        case .all(let parts): parts.flatMap(\.demands)
        case .any: []
        }
    }

    var columns: [ColumnID] {
        switch self {
        case .column(let demand): [demand.column]
        case .all(let parts), .any(let parts): parts.flatMap(\.columns)
        }
    }
}

/// The time spans that may have matching rows: ascending and disjoint.
struct WantedTimes: Equatable, Sendable {
    /// First and last time of each span, both inclusive.
    var spans: [ClosedRange<Int64>]

    /// Returns the times that are in both.
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

    /// Whether any time from `first` through `last` is included.
    func overlaps(first: Int64, last: Int64) -> Bool {
        let index = spans.partitioningIndex { $0.upperBound >= first }
        return index < spans.count && spans[index].lowerBound <= last
    }
}
