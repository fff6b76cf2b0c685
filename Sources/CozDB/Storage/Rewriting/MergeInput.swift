// The rows of a series that one segment contributes to a merge, and their places in the output.

/// One input's rows of a series.
struct MergeInput: Sendable {
    var source: Int
    /// The rows that are not written yet.
    var rows: Range<Int>
    /// The rows of the chunk, their times, and their places in the merged chunk.
    var chunk: Range<Int> = 0..<0
    var times: [Int64] = []
    var places: [UInt32] = []

    /// The end of the run that starts at an index: the first time that is not below the limit.
    func runEnd(_ start: Int, _ limit: Int64) -> Int {
        if limit == .max { return times.count }
        var end = start + 1
        while end < times.count, times[end] < limit { end += 1 }
        return end
    }

    /// Assigns places from `first` on to rows, and appends the times that are new.
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
