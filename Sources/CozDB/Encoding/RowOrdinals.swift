// The rows that have a value, as a bitmap that knows the ordinal of each.

/// Distinct rows, and the number of rows before each.
struct RowOrdinals {
    private let isPresent: [UInt64]
    /// For each word of `isPresent`, the number of bits before it.
    private let counts: [UInt32]
    /// The number of rows.
    let count: Int

    init(_ rows: Span<UInt32>, rowCount: Int) {
        var isPresent = [UInt64](repeating: 0, count: (rowCount + 63) / 64)
        var present = isPresent.mutableSpan
        for index in rows.indices {
            present[Int(rows[index] >> 6)] |= 1 << UInt64(rows[index] & 63)
        }
        var count = 0
        counts = isPresent.map { word in
            defer { count += word.nonzeroBitCount }
            return UInt32(truncatingIfNeeded: count)
        }
        self.isPresent = isPresent
        self.count = count
    }

    @inline(__always)
    func ordinal(of row: UInt32) -> Int {
        let word = Int(row >> 6)
        let before = isPresent[word] & (1 << UInt64(row & 63) &- 1)
        return Int(counts[word]) &+ before.nonzeroBitCount
    }

    /// The rows, ascending.
    func rows() -> [UInt32] {
        var rows: [UInt32] = []
        let present = isPresent.span
        rows.append(addingCapacity: count) { rows in
            for index in present.indices {
                var rest = present[index]
                while rest != 0 {
                    rows.append(
                        UInt32(truncatingIfNeeded: index &* 64 &+ rest.trailingZeroBitCount))
                    rest &= rest &- 1
                }
            }
        }
        return rows
    }
}
