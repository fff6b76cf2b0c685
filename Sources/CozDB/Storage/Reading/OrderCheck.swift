// Checks the order of times that readers return. Only a wrongly written segment has times out of
// order, but the executor could trap or loop on them.

/// The last time of a series that was read.
struct OrderCheck {
    private let descending: Bool
    private var last: Int64?

    init(descending: Bool = false) {
        self.descending = descending
    }

    /// Returns whether the times are in order among themselves and with those before.
    mutating func accepts(_ times: Span<Int64>) -> Bool {
        guard !times.isEmpty else { return true }
        let (first, end) = (times[0], times[times.count - 1])
        let isLater = last.map { descending ? first < $0 : first > $0 } ?? true
        last = end
        return isLater && (descending ? times.descends : times.ascends)
    }
}

extension SegmentReader {
    /// The error for rows of a series that are out of order.
    var timesOutOfOrder: DatabaseError {
        DatabaseError(
            .damaged, "the times of a series do not ascend", file: path,
            offset: footer.timeDirectory.offset)
    }
}

extension ExperimentView {
    /// The same for a series in one of its segments.
    func timesOutOfOrder(in series: Series) -> DatabaseError {
        for part in series.parts {
            if case .segment(let segment) = sources[part.source] { return segment.timesOutOfOrder }
        }
        return DatabaseError(.damaged, "the times of a series do not ascend")
    }
}
