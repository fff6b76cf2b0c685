// Copies a write batch without some of its points. All their strings must go too, because a commit
// record includes every string of its batch.

extension WriteBatch {
    /// Returns the batch without the points of some tag sets and without some refusals.
    ///
    /// - Parameters:
    ///   - tagSets: Numbers of the excluded tag sets.
    ///   - areExcluded: For each refusal, whether it is excluded.
    func excluding(
        tagSets excluded: Set<Int>, refusals areExcluded: [Bool]
    ) -> WriteBatch {
        var batch = self
        batch.refusals = zip(refusals, areExcluded).filter { !$0.1 }.map(\.0)
        batch.refusedLineCount = batch.refusals.reduce(0) { count, refusal in
            if case .line = refusal.subject { count + 1 } else { count }
        }
        let isText = (0..<columns.count).map { receivedColumn($0).type == .string }
        batch.rows.removeAll(keepingCapacity: true)
        batch.cells.removeAll(keepingCapacity: true)
        batch.strings.removeAll()
        // Experiments, tag sets and columns keep their numbers. Unused names stay in the batch, but
        // a commit record does not include them.
        var sources = sources[...]
        batch.sources = []
        var cellStart = 0
        for (index, row) in rows.enumerated() {
            while let source = sources.first, source.firstRow <= index {
                // Replaces a source that has no points left. A row begins at most one source.
                batch.source = sources.removeFirst().name
            }
            let range = cellStart..<Int(row.cellEnd)
            cellStart = range.upperBound
            if excluded.contains(Int(row.tagSet)) { continue }
            for var cell in cells[range] {
                if isText[Int(cell.column)], !ISOTime.isWord(cell.bits) {
                    let text = strings.copy(Int(truncatingIfNeeded: cell.bits))
                    cell.bits = UInt64(truncatingIfNeeded: batch.strings.intern(text))
                }
                batch.cells.append(cell)
            }
            var row = row
            row.cellEnd = UInt32(truncatingIfNeeded: batch.cells.count)
            batch.rows.append(row)
        }
        for source in sources { batch.source = source.name }
        return batch
    }
}
