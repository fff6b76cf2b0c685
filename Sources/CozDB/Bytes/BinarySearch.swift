// Binary search in collections that are in order, and whether they are.

extension RandomAccessCollection where Index == Int {
    /// Returns the first index whose element satisfies a predicate that all later elements satisfy
    /// too; `endIndex` if none does.
    package func partitioningIndex(_ isAtOrBehind: (Element) -> Bool) -> Int {
        var low = startIndex
        var high = endIndex
        while low < high {
            let middle = (low + high) / 2
            if isAtOrBehind(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension RandomAccessCollection<UInt32> where Index == Int {
    /// Returns the indices of the numbers in a range. The numbers ascend.
    func indices(in range: Range<Int>) -> Range<Int> {
        let start = partitioningIndex { Int($0) >= range.lowerBound }
        let end = partitioningIndex { Int($0) >= range.upperBound }
        return start..<Swift.max(start, end)
    }
}

extension [Int] {
    /// Returns whether the array, which is ascending, contains a number.
    func binaryContains(_ number: Int) -> Bool {
        let place = partitioningIndex { $0 >= number }
        return place < count && self[place] == number
    }
}

extension Span<Int64> {
    /// Whether each element is greater than the one before it.
    var ascends: Bool {
        var isOrdered = true
        // Without an early exit the loop vectorizes.
        for index in indices.dropFirst() { isOrdered = isOrdered && self[index - 1] < self[index] }
        return isOrdered
    }

    /// Whether each element is less than the one before it.
    var descends: Bool {
        var isOrdered = true
        for index in indices.dropFirst() { isOrdered = isOrdered && self[index - 1] > self[index] }
        return isOrdered
    }
}
