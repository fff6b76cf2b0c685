// Lists the series of one source in key order, and merges such lists.

enum SeriesList {
    /// The series of a source whose key is accepted and that may have rows in the range.
    static func list(
        _ source: RowSource, index: Int, range: TimeRange, where accepts: ((SeriesKey) -> Bool)?
    ) throws(DatabaseError) -> [Series] {
        switch source {
        case .segment(let segment):
            guard range.overlaps(first: segment.footer.firstTime, last: segment.footer.lastTime)
            else { return [] }
            return try list(segment, index: index, range: range, where: accepts)
        case .memtable(let view):
            return list(view, index: index, range: range, where: accepts)
        }
    }

    private static func list(
        _ segment: SegmentReader, index: Int, range: TimeRange,
        where accepts: ((SeriesKey) -> Bool)?
    ) throws(DatabaseError) -> [Series] {
        var series: [Series] = []
        if let kept = try segment.keptSeries() {
            for entry in kept
            where range.overlaps(first: entry.firstTime, last: entry.lastTime)
                && accepts?(entry.key) ?? true
            {
                let part = Series.Part(
                    source: index, rows: entry.rows, firstTime: entry.firstTime,
                    lastTime: entry.lastTime)
                series.append(Series(key: entry.key, parts: [part]))
            }
            return series
        }
        try segment.forEachSeries { key, rows, first, last in
            guard range.overlaps(first: first, last: last) else { return }
            let key = SeriesKey(canonical: [UInt8](copying: key))
            guard accepts?(key) ?? true else { return }
            let part = Series.Part(source: index, rows: rows, firstTime: first, lastTime: last)
            series.append(Series(key: key, parts: [part]))
        }
        return series
    }

    private static func list(
        _ view: MemtableView, index: Int, range: TimeRange, where accepts: ((SeriesKey) -> Bool)?
    ) -> [Series] {
        let order = view.order()
        var series: [Series] = []
        for place in order.series.indices {
            let rows = order.range(place)
            guard !rows.isEmpty else { continue }
            let first = view.rows[Int(order.rows[rows.lowerBound])].time
            let last = view.rows[Int(order.rows[rows.upperBound - 1])].time
            guard range.overlaps(first: first, last: last) else { continue }
            let key = SeriesKey(canonical: view.keys.copy(Int(order.series[place])))
            guard accepts?(key) ?? true else { continue }
            let part = Series.Part(source: index, rows: rows, firstTime: first, lastTime: last)
            series.append(Series(key: key, parts: [part]))
        }
        return series
    }

    /// Two lists in key order as one; parts of the first come before those of the second.
    static func merge(_ older: [Series], _ newer: [Series]) -> [Series] {
        if older.isEmpty { return newer }
        if newer.isEmpty { return older }
        var merged: [Series] = []
        merged.reserveCapacity(older.count + newer.count)
        var left = 0
        var right = 0
        while left < older.count, right < newer.count {
            if older[left].key < newer[right].key {
                merged.append(older[left])
                left += 1
            } else if newer[right].key < older[left].key {
                merged.append(newer[right])
                right += 1
            } else {
                merged.append(
                    Series(key: older[left].key, parts: older[left].parts + newer[right].parts))
                left += 1
                right += 1
            }
        }
        merged.append(contentsOf: older[left...])
        merged.append(contentsOf: newer[right...])
        return merged
    }
}

extension SegmentReader {
    /// Calls the body for each series in key order with its rows, first and last time.
    func forEachSeries(
        _ body: (_ key: Span<UInt8>, _ rows: Range<Int>, _ first: Int64, _ last: Int64) -> Void
    ) throws(DatabaseError) {
        guard footer.seriesCount > 0 else { return }
        let directory = try seriesDirectory()
        for block in 0..<directory.count {
            try forEachSeries(directory, block: block, body)
        }
    }

    /// The directory of the blocks of the series table.
    func seriesDirectory() throws(DatabaseError) -> IntegerTable {
        let seriesCount = footer.seriesCount
        return try read(footer.seriesDirectory) { bytes throws(FormatError) in
            var reader = ByteReader(bytes)
            let table = try reader.readBlob(limit: reader.remaining)
            return try IntegerTable(decoding: table, columnCount: 5, countMax: seriesCount)
        }
    }

    private func forEachSeries(
        _ directory: IntegerTable, block: Int,
        _ body: (_ key: Span<UInt8>, _ rows: Range<Int>, _ first: Int64, _ last: Int64) -> Void
    ) throws(DatabaseError) {
        let place = SeriesColumn.place(directory, block)
        let count = directory.int(SeriesColumn.count, block)
        let rowCount = footer.rowCount
        try read(place) { bytes throws(FormatError) in
            var reader = ByteReader(bytes)
            let entries = try IntegerTable(
                decoding: reader.readBlob(limit: reader.remaining), columnCount: 3,
                countMax: SegmentFormat.seriesBlockCount)
            var heap: [UInt8] = []
            var ends: [Int] = []
            try decodeStrings(
                reader.readBytes(reader.remaining), count: count,
                sizeBytesMax: SegmentFormat.blockSizeBytesMax, heap: &heap, ends: &ends)
            guard entries.count == count else {
                throw FormatError(
                    .invalid, "found \(entries.count) series, expected \(count)", at: 0)
            }
            var row = directory.int(SeriesColumn.firstRow, block)
            var start = 0
            for index in 0..<count {
                let size = entries.int(0, index)
                guard size >= 0, row >= 0, size <= rowCount - row else {
                    throw FormatError(.invalid, "a series of more rows than the segment", at: 0)
                }
                body(
                    heap.span.extracting(start..<ends[index]), row..<(row + size),
                    Int64(bitPattern: entries.columns[1][index]),
                    Int64(bitPattern: entries.columns[2][index]))
                row += size
                start = ends[index]
            }
        }
    }
}
