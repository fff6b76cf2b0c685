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
            if damage.fields.contains(field) {
                readers.append(nil)
            } else {
                readers.append(
                    SegmentColumnReader(
                        segment, field: field, directory: try segment.directory(field)))
            }
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

    mutating func write(to writer: SegmentWriter) throws(DatabaseError) {
        writer.findsReferences = false
        try writeSeries(to: writer)
        try writeTimes(to: writer)
        for field in readers.indices { try writeValues(of: field, to: writer) }
    }

    private func writeSeries(to writer: SegmentWriter) throws(DatabaseError) {
        let directory = try segment.seriesDirectory()
        for block in 0..<directory.count {
            let blockRows = segment.rows(ofSeriesBlock: block)
            guard runs.contains(where: { $0.rows.overlaps(blockRows) }) else { continue }
            var entries: [SeriesEntry] = []
            try segment.forEachSeries(directory, block: block) { key, rows, first, last in
                entries.append(
                    SeriesEntry(
                        key: SeriesKey(canonical: [UInt8](copying: key)), rows: rows,
                        firstTime: first, lastTime: last))
            }
            for entry in entries { try write(entry, to: writer) }
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
                try calling("writing a segment") { () throws(FileError) in
                    try writer.beginSeries(entry.key.bytes)
                }
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

    private func writeTimes(to writer: SegmentWriter) throws(DatabaseError) {
        let times = try segment.timeBlocks()
        for run in runs {
            for block in times.blocks(rows: run.rows) {
                let rows = times.rows(ofBlock: block)
                if rows.clamped(to: run.rows) == rows {
                    let bytes = try segment.read(times.table.place(block)) {
                        [UInt8](copying: $0)
                    }
                    try calling("writing a segment") { () throws(FileError) in
                        try writer.copyTimes(bytes, entry: times.table.entry(block, type: .integer))
                    }
                    continue
                }
                let part = try segment.times(rows: rows.clamped(to: run.rows))
                try calling("writing a segment") { () throws(FileError) in
                    try writer.addTimes(part)
                }
            }
        }
    }

    private mutating func writeValues(
        of field: Int, to writer: SegmentWriter
    ) throws(DatabaseError) {
        guard let directory = readers[field]?.directory else { return }
        for run in runs {
            for block in directory.blocks(rows: run.rows) {
                if loss.isLost(block, of: field) { continue }
                let rows = directory.rows(ofBlock: block)
                if rows.clamped(to: run.rows) == rows,
                    try canBeCopied(block, of: field, directory.table)
                {
                    try copy(block, of: field, run, to: writer)
                } else {
                    try add(block, of: field, run, to: writer)
                }
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

    private mutating func copy(
        _ block: Int, of field: Int, _ run: Run, to writer: SegmentWriter
    ) throws(DatabaseError) {
        guard let table = readers[field]?.directory.table else { return }
        let column = segment.footer.fields[field].column
        let bytes = try segment.read(table.place(block)) { [UInt8](copying: $0) }
        let isCoded =
            column.type == .string
            && !SegmentFormat.holdsStrings(table.encoding(block))
        var codes: BlockPart?
        if isCoded { codes = try readers[field]?.part(block: block, rows: run.rows) }
        var rows: [UInt32] = []
        if let codes {
            rows = codes.rows
        } else if let own = try readers[field]?.rows(block: block) {
            rows = Array(own)
        }
        let moved = SegmentSalvage.moved(rows, run)
        codes?.rows = moved
        let newCodes = codes
        try calling("writing a segment") { () throws(FileError) in
            try writer.copyValues(
                column, bytes, entry: table.entry(block, type: column.type), rows: moved,
                codes: newCodes)
        }
    }

    private mutating func add(
        _ block: Int, of field: Int, _ run: Run, to writer: SegmentWriter
    ) throws(DatabaseError) {
        let readable = try readers[field]?.readablePart(block: block, rows: run.rows)
        guard var part = readable, !part.rows.isEmpty else { return }
        part.rows = SegmentSalvage.moved(part.rows, run)
        let column = segment.footer.fields[field].column
        let left = part
        try calling("writing a segment") { () throws(FileError) in
            try writer.addValues(column, left)
        }
    }

    private static func moved(_ rows: [UInt32], _ run: Run) -> [UInt32] {
        rows.map { UInt32(truncatingIfNeeded: Int($0) - run.rows.lowerBound + run.base) }
    }
}
