// Sorts the rows of several series by time. Each series is already sorted, so this merges sorted
// runs. It checks for cancellation between pieces.

enum TimeOrder {
    /// The number of rows between two cancellation checks.
    private static let pieceRows = 1 << 16

    /// Returns row indexes sorted by time. The sort is stable.
    static func rows(
        _ times: [Int64], isAscending: Bool, _ context: ExecutionContext
    ) throws(DatabaseError) -> [Int] {
        let share = MemoryReservation(context.memory)
        try share.grow(times.count * 16)
        var order = Array(times.indices)
        var ends = runEnds(times, isAscending)
        guard ends.count > 1 else { return order }
        var merged = order
        while ends.count > 1 {
            var next: [Int] = []
            var start = 0
            for index in stride(from: 0, to: ends.count, by: 2) {
                let middle = ends[index]
                let end = index + 1 < ends.count ? ends[index + 1] : middle
                var merge = Merge(left: start, middle: middle, right: middle, end: end)
                for place in start..<end {
                    if place % pieceRows == 0 { try context.checkCancelled() }
                    merged[place] = order[merge.next(order, times, isAscending)]
                }
                next.append(end)
                start = end
            }
            swap(&order, &merged)
            ends = next
        }
        return order
    }

    private static func runEnds(_ times: [Int64], _ isAscending: Bool) -> [Int] {
        var ends: [Int] = []
        for row in times.indices.dropFirst() {
            let isBefore = isAscending ? times[row] < times[row - 1] : times[row] > times[row - 1]
            if isBefore { ends.append(row) }
        }
        if !times.isEmpty { ends.append(times.count) }
        return ends
    }

    private struct Merge {
        var left: Int
        let middle: Int
        var right: Int
        let end: Int

        /// Returns the position of the next row in the runs.
        mutating func next(_ order: [Int], _ times: [Int64], _ isAscending: Bool) -> Int {
            var takesLeft = right == end
            if !takesLeft, left < middle {
                let (a, b) = (times[order[left]], times[order[right]])
                takesLeft = isAscending ? a <= b : a >= b
            }
            if takesLeft {
                left += 1
                return left - 1
            }
            right += 1
            return right - 1
        }
    }
}
