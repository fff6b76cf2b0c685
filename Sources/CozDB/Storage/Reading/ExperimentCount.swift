// Exact counts of rows and values: from directories if sources do not overlap, otherwise by merging
// times.

/// The number of some values, and the times of the first and the last one.
struct ValueTally {
    var count = 0
    var first = Int64.max
    var last = Int64.min

    mutating func add(_ other: ValueTally) {
        guard other.count > 0 else { return }
        count += other.count
        first = min(first, other.first)
        last = max(last, other.last)
    }
}

extension ExperimentView {
    /// The number of distinct rows of all series.
    func rowCount() throws(DatabaseError) -> Int {
        if let damage { throw damage }
        if sources.count == 1, case .segment(let segment) = sources[0] {
            return segment.footer.rowCount
        }
        var count = 0
        try forEachSeries { series throws(DatabaseError) in count += try rowCount(of: series) }
        return count
    }

    /// The number of distinct times of a series.
    func rowCount(of series: Series) throws(DatabaseError) -> Int {
        var times: [Int64] = []
        var total = 0
        let ordered = series.parts.sorted { $0.firstTime < $1.firstTime }
        var lastTime = Int64.min
        for part in ordered {
            if part.firstTime > lastTime {
                total += times.count
                times = []
            }
            // Merges times only where sources overlap. A single segment needs no times.
            if case .segment = sources[part.source], ordered.count == 1 { return part.rows.count }
            times = RowCursor.unite(times, try self.times(of: part)[...])
            lastTime = max(lastTime, part.lastTime)
        }
        return total + times.count
    }

    /// The number of distinct times of a series in a range.
    func distinctRowCount(of series: Series, in range: TimeRange) throws(DatabaseError) -> Int {
        // The rows of a single segment have different times.
        if series.parts.count == 1, case .segment = sources[series.parts[0].source] {
            return try rowCount(of: series, in: range)
        }
        return try rowTimes(of: series, in: range).count
    }

    /// The distinct times of the rows of a series in a range, ascending.
    func rowTimes(of series: Series, in range: TimeRange) throws(DatabaseError) -> [Int64] {
        var times: [Int64] = []
        for part in series.parts where range.overlaps(first: part.firstTime, last: part.lastTime) {
            let own = try self.times(of: part)
            times = RowCursor.unite(times, own[own.indices(in: range)])
        }
        return times
    }

    /// Counts the values of a column in a range.
    func valueCount(
        of column: ColumnID, in series: Series, range: TimeRange = .all,
        counts: ReadCounts? = nil, pool: ColumnPool? = nil
    ) throws(DatabaseError) -> ValueTally {
        var found = ValueTally()
        try scan(
            column, of: series, in: range, counts: counts, pool: pool, summarize: { _, _ in true }
        ) { piece throws(DatabaseError) -> Bool in
            try CancellationCheck.check()
            switch piece {
            case .buckets: break
            case .summary(let summary):
                found.add(
                    ValueTally(
                        count: summary.count, first: summary.firstTime, last: summary.lastTime))
            case .values(let slice):
                counts?.rows += slice.count
                counts?.bytes += slice.count * 16
                found.add(
                    ValueTally(
                        count: slice.count, first: slice.times[0],
                        last: slice.times[slice.count - 1]))
            }
            return true
        }
        return found
    }

    /// The number of values of all fields of all series. Counts each cell once.
    func fieldValueCount() throws(DatabaseError) -> Int {
        if let damage { throw damage }
        if sources.count == 1, case .segment(let segment) = sources[0] {
            return segment.footer.valueCount
        }
        var count = 0
        try forEachSeries(withFields: { series, fields throws(DatabaseError) in
            for field in fields { count += try valueCount(of: field.id, in: series).count }
        })
        return count
    }

    private func times(of part: Series.Part) throws(DatabaseError) -> [Int64] {
        switch sources[part.source] {
        case .memtable(let view):
            let order = view.order()
            var times: [Int64] = []
            for place in part.rows {
                let time = view.rows[Int(order.rows[place])].time
                if times.last != time { times.append(time) }
            }
            return times
        case .segment(let segment):
            return try segment.times(rows: part.rows)
        }
    }
}

extension SegmentReader {
    /// The times of consecutive rows.
    func times(rows: Range<Int>) throws(DatabaseError) -> [Int64] {
        let directory = try timeBlocks()
        var times: [Int64] = []
        times.reserveCapacity(rows.count)
        var row = rows.lowerBound
        while row < rows.upperBound {
            let (block, blockRows) = directory.timeBlock(row: row)
            let decoded = try self.times(block: block)
            let end = min(rows.upperBound, blockRows.upperBound)
            let first = blockRows.lowerBound
            times.append(contentsOf: decoded[(row - first)..<(end - first)])
            row = end
        }
        return times
    }

    /// The same for rows of one series that are merged with other segments.
    ///
    /// - Throws: `damaged` also if they do not ascend, because then no merge order is right.
    func ascendingTimes(rows: Range<Int>) throws(DatabaseError) -> [Int64] {
        let times = try times(rows: rows)
        guard times.span.ascends else { throw timesOutOfOrder }
        return times
    }
}
