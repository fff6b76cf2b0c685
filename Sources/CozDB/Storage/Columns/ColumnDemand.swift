// What a reader of rows says of them in words that storage understands, so that it can leave alone
// what is not wanted: blocks by their statistics, rows by the encoded values of other columns.

/// What is asked of a value; one that is not there never passes.
enum ValueTest: Sendable {
    case isPresent
    case number(NumberTest)
    /// A boolean that is the one or the other.
    case flag(Bool)
    case text(any TextTest)
    case never

    /// What statistics say of all values of a block; nil where they pass in part, as far as is
    /// known.
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
        // The sum counts those that are true.
        if summary.sum == 0 { return !flag }
        return summary.sum == UInt64(summary.count) ? flag : nil
    }
}

/// A test that depends on a text alone. A class, so that what it says of the strings of a
/// dictionary can be remembered.
protocol TextTest: AnyObject, Sendable {
    func accepts(_ text: String) -> Bool
}

/// Rows are wanted only where this column has a value, and one that passes.
struct ColumnDemand: Sendable {
    var column: ColumnID
    var test: ValueTest

    /// Whether a block with these statistics may hold a value that is wanted; false is certain.
    func allows(_ summary: ColumnSummary) -> Bool { test.verdict(on: summary) != false }

    /// Whether statistics can tell blocks apart by it.
    var isOfStatistics: Bool {
        switch test {
        case .isPresent, .text: false
        case .number, .flag, .never: true
        }
    }
}

/// What rows must have in several columns.
indirect enum RowTest: Sendable {
    case column(ColumnDemand)
    case all([RowTest])
    case any([RowTest])

    /// What each wanted row must have, whatever else is asked of it.
    var demands: [ColumnDemand] {
        switch self {
        case .column(let demand): [demand]
        case .all(let parts): parts.flatMap(\.demands)
        case .any: []
        }
    }

    /// The columns that are looked at.
    var columns: [ColumnID] {
        switch self {
        case .column(let demand): [demand.column]
        case .all(let parts), .any(let parts): parts.flatMap(\.columns)
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
