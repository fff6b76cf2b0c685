// What one segment gives to a merge: the rows of a series, and where they go.

/// One input's share of a series.
struct MergeInput: Sendable {
    var source: Int
    /// Rows that are not written yet.
    var rows: Range<Int>
    /// Rows of the slab, their times, and where they went in the merged slab.
    var slab: Range<Int> = 0..<0
    var times: [Int64] = []
    var places: [UInt32] = []

    /// Where the run that begins at an index ends: at the first time that is not below the limit.
    func runEnd(_ start: Int, _ limit: Int64) -> Int {
        if limit == .max { return times.count }
        var end = start + 1
        while end < times.count, times[end] < limit { end += 1 }
        return end
    }

    /// Gives rows the places from `first` on, and adds the times that are not there yet.
    mutating func place(_ run: Range<Int>, at first: Int, in united: inout [Int64]) {
        places.append(addingCapacity: run.count) { output in
            for offset in 0..<run.count {
                output.append(UInt32(truncatingIfNeeded: first &+ offset))
            }
        }
        let known = united.count - first
        if known < run.count { united.append(contentsOf: times[run.dropFirst(known)]) }
    }
}
