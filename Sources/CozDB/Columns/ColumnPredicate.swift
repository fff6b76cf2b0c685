// Predicates on rows in terms of storage, for pushdown: blocks are skipped by their statistics,
// rows by the encoded values of other columns.

/// A predicate on one value. A missing value never passes.
enum ValuePredicate: Sendable {
    case isPresent
    case number(NumberPredicate)
    /// A boolean that equals the flag.
    case flag(Bool)
    case text(any StringPredicate)
    case never

    /// Returns whether all values of a block pass or fail by its statistics; nil if undecided.
    func verdict(on summary: ColumnSummary) -> Bool? {
        switch self {
        case .isPresent: true
        case .never: false
        case .number(let test): test.verdict(on: summary)
        case .flag(let flag): ValuePredicate.verdict(flag, on: summary)
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
protocol StringPredicate: AnyObject, Sendable {
    func accepts(_ text: String) -> Bool
}

/// A predicate on one column. Rows without a value in it are filtered out.
struct ColumnPredicate: Sendable {
    var column: ColumnID
    var test: ValuePredicate

    /// Whether a block with these statistics may have a matching value. False is certain.
    func allows(_ summary: ColumnSummary) -> Bool { test.verdict(on: summary) != false }

    /// Whether block statistics can decide it.
    var usesStatistics: Bool {
        switch test {
        case .isPresent, .text: false
        case .number, .flag, .never: true
        }
    }
}

/// A predicate on rows, over several columns.
indirect enum RowPredicate: Sendable {
    case column(ColumnPredicate)
    case all([RowPredicate])
    case any([RowPredicate])

    /// The column predicates that every matching row satisfies.
    var requiredPredicates: [ColumnPredicate] {
        switch self {
        case .column(let predicate): [predicate]
        case .all(let parts): parts.flatMap(\.requiredPredicates)
        case .any: []
        }
    }

    var columns: [ColumnID] {
        switch self {
        case .column(let predicate): [predicate.column]
        case .all(let parts), .any(let parts): parts.flatMap(\.columns)
        }
    }
}

/// The time spans that may have matching rows: ascending and disjoint.
struct TimeSpans: Equatable, Sendable {
    /// First and last time of each span, both inclusive.
    var spans: [ClosedRange<Int64>]

    /// Returns the times that are in both.
    func intersection(_ other: TimeSpans) -> TimeSpans {
        var result: [ClosedRange<Int64>] = []
        var (left, right) = (0, 0)
        while left < spans.count, right < other.spans.count {
            let (a, b) = (spans[left], other.spans[right])
            let lower = max(a.lowerBound, b.lowerBound)
            let upper = min(a.upperBound, b.upperBound)
            if lower <= upper { result.append(lower...upper) }
            if a.upperBound < b.upperBound { left += 1 } else { right += 1 }
        }
        return TimeSpans(spans: result)
    }

    /// Whether any time from `first` through `last` is included.
    func overlaps(first: Int64, last: Int64) -> Bool {
        let index = spans.partitioningIndex { $0.upperBound >= first }
        return index < spans.count && spans[index].lowerBound <= last
    }
}
