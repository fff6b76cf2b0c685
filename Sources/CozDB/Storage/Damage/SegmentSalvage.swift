// Writes a segment again with all that can be read of it. Rows whose times or series cannot be read
// go whole, other rows lose the cells that cannot be read, and rows that lose their last field go.
// Blocks that lie wholly in what stays are copied.

/// What is left of a damaged segment.
struct SegmentSalvage {
    /// Consecutive rows that stay.
    private struct Run {
        var rows: Range<Int>
        /// Number of its first row in the new segment.
        var base: Int
    }

    private let segment: SegmentReader
    private let damage: SegmentDamage
    /// nil for fields that are lost whole.
    private var readers: [SegmentColumnReader?] = []
    /// All blocks that are lost: those that are damaged and those that need one.
    private var lostBlocks: Set<SegmentDamage.Block> = []
    private var runs: [Run] = []
    /// What is lost besides what the damaged blocks held, in words.
    private(set) var consequences: [String] = []

    /// - Throws: `io` where the system fails to read what is whole.
    init(_ segment: SegmentReader, _ damage: SegmentDamage) throws(DatabaseError) {
        self.segment = segment
        self.damage = damage
        for field in segment.footer.fields.indices {
            if damage.fields.contains(field) {
                readers.append(nil)
            } else {
                readers.append(
                    SegmentColumnReader(
                        segment, field: field, directory: try segment.directory(field)))
            }
        }
        for field in readers.indices { try findLostBlocks(of: field) }
        let lost = damage.rows
        let emptied = try emptiedRows()
        keep(without: lost + emptied)
    }

    var keptRowCount: Int { runs.reduce(0) { $0 + $1.rows.count } }

    // MARK: What is lost

    private mutating func findLostBlocks(of field: Int) throws(DatabaseError) {
        guard let directory = readers[field]?.directory else { return }
        let isString = segment.footer.fields[field].column.type == .string
        for block in 0..<directory.table.count {
            let name = SegmentDamage.Block(field: field, block: block)
            let encoding = directory.table.int(BlockColumn.encoding, block)
            if damage.blocks.contains(name) {
                lostBlocks.insert(name)
            } else if isString, damage.dictionaries.contains(field),
                !SegmentFormat.holdsStrings(encoding)
            {
                lostBlocks.insert(name)
            } else if BlockEncoding(rawValue: UInt8(truncatingIfNeeded: encoding))?.isReference
                ?? false, try !isDecodable(block, of: field)
            {
                lostBlocks.insert(name)
                consequences.append(segment.lost(.values(field: field, block: block)))
            }
        }
    }

    /// Whether a block that refers to others can be read.
    private mutating func isDecodable(_ block: Int, of field: Int) throws(DatabaseError) -> Bool {
        do throws(DatabaseError) {
            try readers[field]?.check(block: block)
            return true
        } catch {
            if error.isFailedCall { throw error }
            return false
        }
    }

    /// Rows that have no field left.
    private mutating func emptiedRows() throws(DatabaseError) -> [Range<Int>] {
        var affected: [Range<Int>] = []
        if readers.contains(where: { $0 == nil }) { affected = [0..<segment.footer.rowCount] }
        for name in lostBlocks {
            guard let reader = readers[name.field] else { continue }
            affected.append(reader.directory.rows(ofBlock: name.block))
        }
        guard !affected.isEmpty else { return [] }
        var hasField = [Bool](repeating: false, count: segment.footer.rowCount)
        for field in readers.indices where segment.footer.fields[field].column.kind == .field {
            for block in 0..<(readers[field]?.directory.table.count ?? 0) {
                let name = SegmentDamage.Block(field: field, block: block)
                guard !lostBlocks.contains(name), let rows = try readers[field]?.rows(block: block)
                else { continue }
                for row in rows { hasField[Int(row)] = true }
            }
        }
        var emptied: [Range<Int>] = []
        for rows in SegmentSalvage.united(affected) {
            for row in rows where !hasField[row] {
                if let last = emptied.last, last.upperBound == row {
                    emptied[emptied.count - 1] = last.lowerBound..<(row + 1)
                } else {
                    emptied.append(row..<(row + 1))
                }
            }
        }
        return emptied
    }

    private mutating func keep(without lost: [Range<Int>]) {
        var next = 0
        var base = 0
        let end = segment.footer.rowCount
        for rows in SegmentSalvage.united(lost) + [end..<end] {
            if rows.lowerBound > next {
                runs.append(Run(rows: next..<rows.lowerBound, base: base))
                base += rows.lowerBound - next
            }
            next = max(next, rows.upperBound)
        }
    }

    /// The same rows in ascending ranges that do not touch.
    private static func united(_ ranges: [Range<Int>]) -> [Range<Int>] {
        var united: [Range<Int>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) where !range.isEmpty {
            if let last = united.last, last.upperBound >= range.lowerBound {
                united[united.count - 1] =
                    last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                united.append(range)
            }
        }
        return united
    }

    // MARK: Writing

    mutating func write(to writer: SegmentWriter) throws(DatabaseError) {
        writer.findsPartners = false
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
                    let bytes = try segment.read(SegmentReader.place(times.table, block)) {
                        [UInt8](copying: $0)
                    }
                    try calling("writing a segment") { () throws(FileError) in
                        try writer.copyTimes(bytes, entry: times.table.entry(block))
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
                if lostBlocks.contains(SegmentDamage.Block(field: field, block: block)) {
                    continue
                }
                let rows = directory.rows(ofBlock: block)
                if rows.clamped(to: run.rows) == rows {
                    try copy(block, of: field, run, to: writer)
                } else {
                    try add(block, of: field, run, to: writer)
                }
            }
        }
    }

    private mutating func copy(
        _ block: Int, of field: Int, _ run: Run, to writer: SegmentWriter
    ) throws(DatabaseError) {
        guard let table = readers[field]?.directory.table else { return }
        let column = segment.footer.fields[field].column
        let bytes = try segment.read(SegmentReader.place(table, block)) { [UInt8](copying: $0) }
        let isCoded =
            column.type == .string
            && !SegmentFormat.holdsStrings(table.int(BlockColumn.encoding, block))
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
                column, bytes, entry: table.entry(block), rows: moved, codes: newCodes)
        }
    }

    private mutating func add(
        _ block: Int, of field: Int, _ run: Run, to writer: SegmentWriter
    ) throws(DatabaseError) {
        guard var part = try readers[field]?.part(block: block, rows: run.rows) else { return }
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
