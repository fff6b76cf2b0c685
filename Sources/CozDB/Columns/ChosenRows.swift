// The rows that pass a predicate, as bits.

/// A subset of the rows of a segment, in a range that starts at `firstRow`.
struct ChosenRows {
    var firstRow = 0
    var bits = BitVector()

    var range: Range<Int> { firstRow..<(firstRow + bits.count) }

    /// An empty bitmap of the same range.
    var emptied: ChosenRows { ChosenRows(firstRow: firstRow, bits: BitVector(count: bits.count)) }

    /// Whether any of these rows is selected.
    func hasAny(of rows: Range<Int>) -> Bool { bits.hasOnes(in: bitRange(rows)) }

    mutating func choose(_ rows: Range<Int>) { bits.formOnes(in: bitRange(rows)) }

    private func bitRange(_ rows: Range<Int>) -> Range<Int> {
        let common = rows.clamped(to: range)
        return (common.lowerBound - firstRow)..<(common.upperBound - firstRow)
    }
}
