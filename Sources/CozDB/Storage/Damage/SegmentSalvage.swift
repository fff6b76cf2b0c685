// Rewrites a damaged segment with everything that can be read. Rows with unreadable times or series
// are dropped. Other rows lose their unreadable cells, and are dropped if no field is left. Blocks
// of which all rows stay are copied.

/// The readable rest of a damaged segment.
struct SegmentSalvage {
    /// Consecutive rows that stay.
    private struct Run {
        var rows: Range<Int>
        /// Number of its first row in the new segment.
        var base: Int
    }

    private let segment: SegmentReader
    private let loss: SegmentLoss
    /// One per field; nil for fields that are lost entirely.
    private var readers: [SegmentColumnReader?] = []
    private var runs: [Run] = []

    /// - Throws: `io` if the system fails to read an intact part.
    init(_ segment: SegmentReader, _ damage: SegmentDamage) throws(DatabaseError) {
        let segment = SegmentReader(quiet: segment)
        self.segment = segment
        for field in segment.footer.fields.indices {
            let isLost = damage.fields.contains(field)
            readers.append(isLost ? nil : try SegmentColumnReader(segment, field: field))
        }
        loss = try SegmentLoss(of: damage, in: segment, searchesAll: true)
        keep(without: loss.rows + loss.emptied)
    }

    /// Text on what is lost in addition to the damaged blocks.
    var consequences: [String] { segment.consequences(loss) }

    var keptRowCount: Int { runs.reduce(0) { $0 + $1.rows.count } }

    private mutating func keep(without lost: [Range<Int>]) {
        var next = 0
        var base = 0
        let end = segment.footer.rowCount
        for rows in SegmentLoss.united(lost) + [end..<end] {
            if rows.lowerBound > next {
                runs.append(Run(rows: next..<rows.lowerBound, base: base))
                base += rows.lowerBound - next
            }
            next = max(next, rows.upperBound)
        }
    }

    // MARK: Writing

    func write(to writer: SegmentWriter) throws(DatabaseError) {
        writer.findsReferences = false
        try writeSeries(to: writer)
        for run in runs { try segment.copyTimes(rows: run.rows, to: writer) }
        for field in readers.indices { try writeValues(of: field, to: writer) }
    }

    private func writeSeries(to writer: SegmentWriter) throws(DatabaseError) {
        let directory = try segment.seriesDirectory()
        for block in 0..<directory.count {
            let blockRows = segment.rows(ofSeriesBlock: block)
            guard runs.contains(where: { $0.rows.overlaps(blockRows) }) else { continue }
            for entry in try segment.series(block: block) { try write(entry, to: writer) }
        }
    }

    private func write(_ entry: SeriesEntry, to writer: SegmentWriter) throws(DatabaseError) {
        let first = runs.partitioningIndex { $0.rows.upperBound > entry.rows.lowerBound }
        var isBegun = false
        for run in runs[first...] {
            if run.rows.lowerBound >= entry.rows.upperBound { break }
            let rows = run.rows.clamped(to: entry.rows)
            if rows.isEmpty { continue }
            if !isBegun {
                try writer.beginSeries(entry.key.bytes)
                isBegun = true
            }
            if rows == entry.rows {
                writer.addRows(count: rows.count, first: entry.firstTime, last: entry.lastTime)
                continue
            }
            let firstTimes = try segment.times(rows: rows.lowerBound..<(rows.lowerBound + 1))
            let lastTimes = try segment.times(rows: (rows.upperBound - 1)..<rows.upperBound)
            guard let firstTime = firstTimes.first, let lastTime = lastTimes.last else { continue }
            writer.addRows(count: rows.count, first: firstTime, last: lastTime)
        }
    }

    private func writeValues(of field: Int, to writer: SegmentWriter) throws(DatabaseError) {
        guard var reader = readers[field] else { return }
        let directory = reader.directory
        let column = segment.footer.fields[field].column
        for run in runs {
            let shift = run.base - run.rows.lowerBound
            for block in directory.blocks(rows: run.rows) {
                if loss.isLost(block, of: field) { continue }
                let rows = directory.rows(ofBlock: block)
                if rows.clamped(to: run.rows) == rows,
                    try canBeCopied(block, of: field, directory)
                {
                    try reader.copy(block, movedBy: shift, to: writer)
                    continue
                }
                var part = try reader.readablePart(block: block, rows: run.rows)
                part.moveRows(by: shift)
                try writer.addValues(column, part)
            }
        }
    }

    /// Whether a block can be copied unchanged.
    private func canBeCopied(
        _ block: Int, of field: Int, _ table: BlockTable
    ) throws(DatabaseError) -> Bool {
        if loss.dependent[field]?.missing[block] != nil { return false }
        // Not if the referenced field lost values, since the new segment may lack that field.
        guard let column = try segment.repeatedColumn(table, block: block) else { return true }
        return segment.field(column).map { loss.all(ofField: $0) == nil } ?? false
    }
}
