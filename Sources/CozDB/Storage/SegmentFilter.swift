// Writes a segment again without the rows and values that a deletion takes away. Strings are
// written anew from those that are left, so that no dictionary keeps one that is gone.
//
// Memory: one slab of rows of one series and one decoded block per column.

/// One segment on its way through a deletion.
struct SegmentFilter {
    private let segment: SegmentReader
    /// Index of the segment in the sources of the view.
    private let source: Int
    private let deletion: ExperimentDeletion
    private var readers: [SegmentColumnReader] = []
    /// For each field of the segment: whether its values go where cells do.
    private let isDeleted: [Bool]

    private static let slabRowCount = 65_536

    init(
        _ segment: SegmentReader, source: Int, of deletion: ExperimentDeletion
    ) throws(DatabaseError) {
        self.segment = segment
        self.source = source
        self.deletion = deletion
        isDeleted = segment.footer.fields.map { deletion.columns.contains($0.column.id) }
        for field in segment.footer.fields.indices {
            readers.append(
                SegmentColumnReader(
                    segment, field: field, directory: try segment.directory(field)))
        }
    }

    /// Writes what is left; nothing may be.
    ///
    /// - Parameter known: what goes of a series, where that was found out before.
    mutating func write(
        to writer: SegmentWriter, known: (SeriesKey) -> SeriesDeletion?,
        checkCancelled: () throws(DatabaseError) -> Void
    ) throws(DatabaseError) {
        var cursor = try SeriesCursor(deletion.view.sources, range: .all, where: nil)
        while let series = try cursor.next() {
            guard let part = series.parts.first(where: { $0.source == source }) else { continue }
            try checkCancelled()
            var gone = SeriesDeletion(rows: .none)
            if deletion.accepts?(series.key) ?? true {
                if let known = known(series.key) {
                    gone = known
                } else {
                    gone = try deletion.deletion(of: series)
                }
            }
            try write(part.rows, of: series.key, without: gone, to: writer)
        }
    }

    private mutating func write(
        _ rows: Range<Int>, of key: SeriesKey, without gone: SeriesDeletion,
        to writer: SegmentWriter
    ) throws(DatabaseError) {
        var isBegun = false
        for start in stride(from: rows.lowerBound, to: rows.upperBound, by: Self.slabRowCount) {
            let slab = start..<min(start + Self.slabRowCount, rows.upperBound)
            let times = try segment.times(rows: slab)
            let cells = gone.cells.mask(times)
            var dropped = gone.rows.mask(times)
            if let cells { try addEmptied(slab, cells, to: &dropped) }
            var left = times
            var places: [UInt32]?
            if let dropped {
                let kept = times.indices.filter { !dropped[$0] }
                if kept.isEmpty { continue }
                left = kept.map { times[$0] }
                places = SegmentFilter.places(dropped)
            }
            let isFirst = !isBegun
            try calling("writing a segment") { () throws(FileError) in
                if isFirst { try writer.beginSeries(key.bytes) }
                try writer.addRows(left)
            }
            isBegun = true
            try writeValues(slab, places, cells, to: writer)
        }
    }

    /// Where each row goes among those that are left; `max` for those that go away.
    private static func places(_ dropped: [Bool]) -> [UInt32] {
        var next: UInt32 = 0
        return dropped.map { isDropped in
            if isDropped { return .max }
            defer { next += 1 }
            return next
        }
    }

    /// Drops rows that have nothing left here; whether they exist is up to other segments.
    private func addEmptied(
        _ slab: Range<Int>, _ cells: [Bool], to dropped: inout [Bool]?
    ) throws(DatabaseError) {
        var hasValue = [Bool](repeating: false, count: cells.count)
        var seen: Set<Int> = []
        for (field, description) in segment.footer.fields.enumerated() {
            // Fields of one group have values in the same rows.
            if !isDeleted[field], !seen.insert(description.group).inserted { continue }
            for row in try segment.presentRows(ofField: field, in: slab) {
                let index = Int(row) - slab.lowerBound
                if !isDeleted[field] || !cells[index] { hasValue[index] = true }
            }
        }
        for index in cells.indices where cells[index] && !hasValue[index] {
            if dropped == nil { dropped = [Bool](repeating: false, count: cells.count) }
            dropped?[index] = true
        }
    }

    private mutating func writeValues(
        _ slab: Range<Int>, _ places: [UInt32]?, _ cells: [Bool]?, to writer: SegmentWriter
    ) throws(DatabaseError) {
        var values = RowValues()
        for (field, description) in segment.footer.fields.enumerated() {
            values.removeAll()
            try readers[field].append(rows: slab, to: &values)
            if places != nil || isDeleted[field] && cells != nil {
                values.keep(places, without: isDeleted[field] ? cells : nil)
            }
            guard !values.rows.isEmpty else { continue }
            let column = description.column
            let strings: StringSource = column.type == .string ? .table(values.strings) : .none
            try calling("writing a segment") { () throws(FileError) in
                try writer.addValues(
                    column, rows: values.rows.span, bits: values.bits.span, strings: strings)
            }
        }
    }
}

extension RowValues {
    /// Moves values to the new places of their rows; drops those of rows that have none, and of
    /// rows whose cell goes.
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
}

extension SegmentReader {
    /// The rows among these that have a value of a field, ascending.
    func presentRows(ofField field: Int, in rows: Range<Int>) throws(DatabaseError) -> [UInt32] {
        let vector = try presence(ofField: field)
        var present: [UInt32] = []
        for index in 0..<vector.chunkCount {
            let first = vector.chunk(index).number * SegmentFormat.presenceChunkRows
            if first >= rows.upperBound { break }
            if first + SegmentFormat.presenceChunkRows <= rows.lowerBound { continue }
            let all = try presenceRows(vector, ofField: field, chunk: index)
            let start = all.partitioningIndex { Int($0) >= rows.lowerBound }
            let end = all.partitioningIndex { Int($0) >= rows.upperBound }
            present.append(contentsOf: all[start..<max(start, end)])
        }
        return present
    }
}
