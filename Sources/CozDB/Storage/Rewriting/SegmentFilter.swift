// Rewrites a segment without the rows and values of a deletion. Copies blocks that are kept whole.
// The new dictionary has only strings that are still used, so a block of codes is copied only if
// its codes stay the same.
//
// Memory: one chunk of rows of one series and one decoded block per column.

/// The rewriting of one segment by a deletion.
struct SegmentFilter {
    private let segment: SegmentReader
    /// Index of the segment in the sources of the view.
    private let source: Int
    private let deletion: ExperimentDeletion
    private var readers: [ColumnPool.OpenColumn] = []
    /// For each field of the segment: whether it loses values where cells are deleted.
    private let isDeleted: [Bool]
    private var run = Run()
    /// Fields, queued by their next possible row: with many fields and many runs of rows, few
    /// fields have values in a run.
    private var waiting = IndexHeap()
    /// The same for rows that lose cells.
    private var waitingForCells = IndexHeap()

    /// Consecutive kept rows, of one series or several, that are not written yet.
    private struct Run {
        var rows = 0..<0
        /// The number of its first row in the new segment.
        var base = 0
        /// Rows of series that lose cells, with the cells they lose.
        var cells: [(rows: Range<Int>, selection: RowSelection)] = []
        var cellTimes = 0
    }

    private static let chunkRowCount = 65_536
    /// The most times of cells in a run.
    private static let cellTimesMax = 1 << 20
    /// A gap in the kept rows starts a new run if there is at most one per this many rows.
    private static let rowsPerGap = 512

    init(
        _ segment: SegmentReader, source: Int, of deletion: ExperimentDeletion
    ) throws(DatabaseError) {
        self.segment = segment
        self.source = source
        self.deletion = deletion
        isDeleted = segment.footer.fields.map { deletion.columns.contains($0.column.id) }
        readers = try segment.footer.fields.indices.map { (field) throws(DatabaseError) in
            ColumnPool.OpenColumn(try SegmentColumnReader(segment, field: field))
        }
        for field in readers.indices { wait(field, from: 0) }
        if !deletion.columns.isEmpty { waitingForCells = waiting }
    }

    /// Queues a field by its first possible row from `row` on.
    private mutating func wait(_ field: Int, from row: Int) {
        if let row = readers[field].reader.nextRow(from: row, before: .max) {
            waiting.push(field, Int64(row))
        }
    }

    /// Writes the kept rows, if any.
    ///
    /// - Parameter known: returns what a series loses, if the caller already knows it.
    mutating func write(
        to writer: SegmentWriter, known: (SeriesKey) -> SeriesDeletion?,
        checkCancelled: () throws(DatabaseError) -> Void
    ) throws(DatabaseError) {
        writer.findsReferences = false
        var cursor = try SeriesCursor(deletion.view.sources, range: .all, where: nil)
        while let series = try cursor.next() {
            guard let part = series.parts.first(where: { $0.source == source }) else { continue }
            try checkCancelled()
            let gone: SeriesDeletion
            if let known = known(series.key) {
                gone = known
            } else {
                gone = try deletion.deletion(of: series)
            }
            if gone.isEmpty {
                try begin(series.key, part.rows, to: writer)
                writer.addRows(
                    count: part.rows.count, first: part.firstTime, last: part.lastTime)
            } else {
                try write(part.rows, of: series.key, without: gone, to: writer)
            }
        }
        try writeRun(to: writer)
    }

    private mutating func write(
        _ rows: Range<Int>, of key: SeriesKey, without gone: SeriesDeletion,
        to writer: SegmentWriter
    ) throws(DatabaseError) {
        var isBegun = false
        for start in stride(from: rows.lowerBound, to: rows.upperBound, by: Self.chunkRowCount) {
            let chunk = start..<min(start + Self.chunkRowCount, rows.upperBound)
            let times = try segment.ascendingTimes(rows: chunk)
            let cells = gone.cells.mask(times)
            var dropped = gone.rows.mask(times)
            if let cells { try addEmptied(chunk, cells, to: &dropped) }
            let stretches = SegmentFilter.stretches(dropped, count: times.count)
            if stretches.isEmpty { continue }
            let key = isBegun ? nil : key
            isBegun = true
            guard stretches.count <= 1 + times.count / Self.rowsPerGap else {
                try writeChunk(chunk, of: key, times, dropped, cells, to: writer)
                continue
            }
            for (index, stretch) in stretches.enumerated() {
                let kept = (start + stretch.lowerBound)..<(start + stretch.upperBound)
                try begin(index == 0 ? key : nil, kept, to: writer)
                writer.addRows(
                    count: kept.count, first: times[stretch.lowerBound],
                    last: times[stretch.upperBound - 1])
                guard let cells else { continue }
                let lost = stretch.filter { cells[$0] }.map { times[$0] }
                run.cells.append((kept, .times(lost)))
                run.cellTimes += lost.count
            }
        }
    }

    /// The ranges of consecutive kept rows.
    private static func stretches(_ dropped: [Bool]?, count: Int) -> [Range<Int>] {
        guard let dropped else { return [0..<count] }
        var stretches: [Range<Int>] = []
        for index in 0..<count where !dropped[index] {
            if let last = stretches.last, last.upperBound == index {
                stretches[stretches.count - 1] = last.lowerBound..<(index + 1)
            } else {
                stretches.append(index..<(index + 1))
            }
        }
        return stretches
    }

    /// Writes row by row if too many gaps separate the kept rows.
    private mutating func writeChunk(
        _ chunk: Range<Int>, of key: SeriesKey?, _ times: [Int64], _ dropped: [Bool]?,
        _ cells: [Bool]?, to writer: SegmentWriter
    ) throws(DatabaseError) {
        try writeRun(to: writer)
        if let key { try writer.beginSeries(key.bytes) }
        let fields = waiting.take(below: Int64(chunk.upperBound)).sorted()
        var rest = chunk
        while !rest.isEmpty {
            var sizes = StringSizes(rows: rest, sizeBytesMax: SegmentMerge.stringSizeBytesMax)
            for field in fields { sizes.add(readers[field]) }
            let rows = rest.lowerBound..<sizes.end()
            let own = (rows.lowerBound - chunk.lowerBound)..<(rows.upperBound - chunk.lowerBound)
            try writeRows(
                rows, fields, Array(times[own]), dropped.map { Array($0[own]) },
                cells.map { Array($0[own]) }, to: writer)
            rest = rows.upperBound..<chunk.upperBound
        }
        for field in fields { wait(field, from: chunk.upperBound) }
    }

    private mutating func writeRows(
        _ rows: Range<Int>, _ fields: [Int], _ times: [Int64], _ dropped: [Bool]?,
        _ cells: [Bool]?, to writer: SegmentWriter
    ) throws(DatabaseError) {
        try writer.addRows(times.indices.filter { dropped?[$0] != true }.map { times[$0] })
        let places = dropped.map { SegmentFilter.places($0) }
        var values = RowValues()
        for field in fields {
            values.removeAll()
            try readers[field].reader.append(rows: rows, to: &values)
            if places != nil || isDeleted[field] && cells != nil {
                values.keep(places, without: isDeleted[field] ? cells : nil)
            }
            guard !values.rows.isEmpty else { continue }
            try writer.addValues(
                segment.footer.fields[field].column, rows: values.rows, bits: values.bits,
                strings: .table(values.strings))
        }
    }

    // MARK: Runs

    /// Adds rows to the run, or starts a new run with them.
    ///
    /// - Parameter key: of the series that starts with these rows; nil if it continues.
    private mutating func begin(
        _ key: SeriesKey?, _ rows: Range<Int>, to writer: SegmentWriter
    ) throws(DatabaseError) {
        if run.rows.upperBound != rows.lowerBound || run.cellTimes > Self.cellTimesMax {
            try writeRun(to: writer)
        }
        if run.rows.isEmpty {
            run.rows = rows
            run.base = writer.rowCount
        } else {
            run.rows = run.rows.lowerBound..<rows.upperBound
        }
        if let key { try writer.beginSeries(key.bytes) }
    }

    private mutating func writeRun(to writer: SegmentWriter) throws(DatabaseError) {
        let run = run
        self.run = Run()
        guard !run.rows.isEmpty else { return }
        try segment.copyTimes(rows: run.rows, to: writer)
        for field in waiting.take(below: Int64(run.rows.upperBound)).sorted() {
            let isChanged = isDeleted[field] && !run.cells.isEmpty
            for block in readers[field].reader.directory.blocks(rows: run.rows) {
                let rows = readers[field].reader.directory.rows(ofBlock: block)
                var isCopied = !isChanged && rows.clamped(to: run.rows) == rows
                if isCopied, !run.cells.isEmpty {
                    // Not if the block refers to a field that loses values.
                    let directory = readers[field].reader.directory
                    let column = try segment.repeatedColumn(directory, block: block)
                    isCopied = column.flatMap(segment.field).map { !isDeleted[$0] } ?? true
                }
                if isCopied {
                    try readers[field].reader.copy(
                        block, movedBy: run.base - run.rows.lowerBound, to: writer)
                } else {
                    try add(block, of: field, run, to: writer)
                }
            }
            wait(field, from: run.rows.upperBound)
        }
    }

    /// Adds the kept values of a block that lie in the run.
    private mutating func add(
        _ block: Int, of field: Int, _ run: Run, to writer: SegmentWriter
    ) throws(DatabaseError) {
        var part = try readers[field].reader.part(block: block, rows: run.rows)
        if isDeleted[field], let first = part.rows.first, let last = part.rows.last {
            let start = run.cells.partitioningIndex { $0.rows.upperBound > Int(first) }
            for cells in run.cells[start...] {
                if cells.rows.lowerBound > Int(last) { break }
                part.remove(rows: cells.rows, cells.selection)
            }
        }
        part.moveRows(by: run.base - run.rows.lowerBound)
        try writer.addValues(segment.footer.fields[field].column, part)
    }

    // MARK: Row by row

    /// The place of each row among the kept ones; `max` for deleted rows.
    private static func places(_ dropped: [Bool]) -> [UInt32] {
        var next: UInt32 = 0
        return dropped.map { isDropped in
            if isDropped { return .max }
            defer { next += 1 }
            return next
        }
    }

    /// Drops rows without a value left in this segment. Other segments may still have them.
    private mutating func addEmptied(
        _ chunk: Range<Int>, _ cells: [Bool], to dropped: inout [Bool]?
    ) throws(DatabaseError) {
        var hasValue = [Bool](repeating: false, count: cells.count)
        var seen: Set<Int> = []
        for field in waitingForCells.take(below: Int64(chunk.upperBound)) {
            if let row = readers[field].reader.nextRow(from: chunk.upperBound, before: .max) {
                waitingForCells.push(field, Int64(row))
            }
            // Fields of one presence group have values in the same rows.
            let group = segment.footer.fields[field].group
            if !isDeleted[field], !seen.insert(group).inserted { continue }
            for row in try segment.presentRows(ofField: field, in: chunk) {
                let index = Int(row) - chunk.lowerBound
                if !isDeleted[field] || !cells[index] { hasValue[index] = true }
            }
        }
        for index in cells.indices where cells[index] && !hasValue[index] {
            if dropped == nil { dropped = [Bool](repeating: false, count: cells.count) }
            dropped?[index] = true
        }
    }
}

extension RowValues {
    /// Moves values to the new places of their rows. Drops values of deleted rows and cells.
    fileprivate mutating func keep(_ places: [UInt32]?, without cells: [Bool]?) {
        var count = 0
        for index in rows.indices {
            let row = Int(rows[index])
            if let cells, cells[row] { continue }
            let place = places?[row] ?? rows[index]
            if place == .max { continue }
            rows[count] = place
            bits[count] = bits[index]
            count += 1
        }
        rows.removeLast(rows.count - count)
        bits.removeLast(bits.count - count)
    }

    mutating func moveRows(by shift: Int) {
        for index in rows.indices {
            rows[index] = UInt32(truncatingIfNeeded: Int(rows[index]) + shift)
        }
    }

    /// Drops the values in these rows whose time is selected.
    fileprivate mutating func remove(rows gone: Range<Int>, _ selection: RowSelection) {
        let own = rows.indices(in: gone)
        guard let mask = selection.mask(Array(times[own])) else { return }
        let kept = rows.indices.filter { !(own.contains($0) && mask[$0 - own.lowerBound]) }
        rows = kept.map { rows[$0] }
        times = kept.map { times[$0] }
        bits = kept.map { bits[$0] }
    }
}

extension SegmentColumnReader {
    /// Copies a whole block to a new segment.
    ///
    /// - Parameter shift: added to the row numbers.
    mutating func copy(
        _ block: Int, movedBy shift: Int, to writer: SegmentWriter
    ) throws(DatabaseError) {
        let column = segment.footer.fields[field].column
        let bytes = try segment.read(directory.handle(block)) { [UInt8](copying: $0) }
        var part = RowValues()
        let encoding = directory.encoding(block)
        let isCoded = column.type == .string && !SegmentFormat.holdsStrings(encoding)
        if isCoded {
            part = try self.part(block: block, rows: directory.rows(ofBlock: block))
        } else {
            part.rows = Array(try rows(block: block))
        }
        part.moveRows(by: shift)
        try writer.copyValues(
            column, bytes, entry: directory.entry(block, type: column.type), rows: part.rows,
            codes: isCoded ? part : nil)
    }
}

extension SegmentReader {
    /// Writes the times of rows to a new segment. Copies the blocks that have no other rows.
    func copyTimes(rows: Range<Int>, to writer: SegmentWriter) throws(DatabaseError) {
        let table = try timeBlocks()
        for block in table.blocks(rows: rows) {
            let own = table.rows(ofBlock: block)
            if own.clamped(to: rows) == own {
                let bytes = try read(table.handle(block)) { [UInt8](copying: $0) }
                try writer.copyTimes(bytes, entry: table.entry(block, type: .integer))
            } else {
                try writer.addTimes(times(rows: own.clamped(to: rows)))
            }
        }
    }

    /// The rows in a range that have a value of a field, ascending.
    func presentRows(ofField field: Int, in rows: Range<Int>) throws(DatabaseError) -> [UInt32] {
        let vector = try presence(ofField: field)
        var present: [UInt32] = []
        for (index, chunk) in vector.chunks.enumerated() where chunk.rows.overlaps(rows) {
            let all = try presenceRows(vector, ofField: field, chunk: index)
            present.append(contentsOf: all[all.indices(in: rows)])
        }
        return present
    }
}
