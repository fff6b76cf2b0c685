// Reads several columns of one series as one: for each row, the value of the first column that has
// one. Evaluates coalesce() without assembling rows.

struct FirstValueCursor {
    /// One column and the unused rest of its current slice.
    fileprivate struct Walk {
        var cursor: ColumnCursor
        var slice = ColumnSlice()
        var start = 0
    }

    /// In order of precedence: the first column wins.
    private var walks: [Walk] = []

    /// - Parameter columns: of one stored type, in order of precedence.
    init(
        _ view: ExperimentView, columns: [ColumnID], series: Series, range: TimeRange,
        counts: ReadCounts, pool: ColumnPool
    ) throws(DatabaseError) {
        for column in columns {
            let cursor = try ColumnCursor(
                view, column: column, series: series, range: range, counts: counts, pool: pool)
            if !cursor.isEmpty { walks.append(Walk(cursor: cursor)) }
        }
    }

    /// The next values; nil at the end.
    mutating func next() throws(DatabaseError) -> ColumnSlice? {
        try refill()
        // The time up to which every column with more values is loaded.
        var limit = Int64.max
        for walk in walks where !walk.cursor.isEmpty {
            limit = min(limit, walk.slice.times[walk.slice.count - 1])
        }
        var merged: ColumnSlice?
        for index in walks.indices.reversed() {
            let part = walks[index].take(upTo: limit)
            guard part.count > 0 else { continue }
            merged = merged.map { $0.merged(withNewer: part) } ?? part
        }
        return merged
    }

    /// Gives every walk values. Removes walks without any.
    private mutating func refill() throws(DatabaseError) {
        for index in walks.indices where walks[index].start == walks[index].slice.count {
            walks[index].start = 0
            walks[index].slice = try walks[index].cursor.nextValues() ?? ColumnSlice()
        }
        walks.removeAll { $0.slice.count == 0 }
    }
}

extension FirstValueCursor.Walk {
    /// Takes the unused values up to a time.
    fileprivate mutating func take(upTo limit: Int64) -> ColumnSlice {
        let slice = slice
        let rest = start..<slice.count
        let end =
            limit == .max
            ? slice.count : firstIndex(in: slice.times.span, notBefore: limit + 1, in: rest)
        let taken = start..<end
        start = end
        if taken.count == slice.count { return slice }
        var part = ColumnSlice(type: slice.type, strings: slice.strings)
        part.times = Array(slice.times[taken])
        part.bits = Array(slice.bits[taken])
        return part
    }
}
