// Validation of options when a database is opened.

extension DatabaseOptions {
    /// Throws `usage` for the first option out of range.
    func check() throws(DatabaseError) {
        try check("memtableSizeBytesMax", memtableSizeBytesMax, 1...(1 << 30))
        try check("compactionSegmentCount", compactionSegmentCount, 2...64)
        try check("retireSeconds", retireSeconds, 0...86_400)
        try check("stringSizeBytesMax", stringSizeBytesMax, 1...(16 << 20))
        try check("columnCountMax", columnCountMax, 1...1_000_000)
        try check("experimentCountMax", experimentCountMax, 1...100_000)
        try check("rejectsSizeBytesMax", rejectsSizeBytesMax, 0...(1 << 40))
        try check("batchSizeBytesMax", batchSizeBytesMax, 1...(1 << 30))
        try check("changeThreadCountMax", changeThreadCountMax, 1...10_000)
        try check("queryThreadCountMax", queryThreadCountMax, 1...10_000)
        try check("waitingCallCountMax", waitingCallCountMax, 0...Int.max)
        let limits = queryLimits
        try check(
            "queryLimits.textSizeBytesMax", limits.textSizeBytesMax,
            1...QueryLimits.textSizeBytesBound)
        try check("queryLimits.nestingDepthMax", limits.nestingDepthMax, 1...Int.max)
        try check("queryLimits.rowCountMax", limits.rowCountMax, 0...Int.max)
        try check("queryLimits.groupCountMax", limits.groupCountMax, 0...Int.max)
        try check("queryLimits.bucketCountMax", limits.bucketCountMax, 0...Int.max)
        try check("queryLimits.memorySizeBytesMax", limits.memorySizeBytesMax, 0...Int.max)
        if case .relaxed(let milliseconds) = durability {
            try check("durability: relaxed(milliseconds:)", milliseconds, 0...3_600_000)
        }
    }

    private func check(
        _ name: String, _ value: Int, _ range: ClosedRange<Int>
    ) throws(DatabaseError) {
        if range.contains(value) { return }
        throw DatabaseError(
            .usage,
            "\(name) is \(value); expected \(range.lowerBound) to \(range.upperBound)")
    }
}
