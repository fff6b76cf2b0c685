// A series of a snapshot, and the sources of its rows; cursors read them.

/// One series of a snapshot.
struct Series: Sendable {
    /// Its rows in one source.
    struct Part: Sendable {
        /// Index in the sources of the view, oldest first.
        var source: Int
        /// For a segment: row numbers. For a memtable: places in the order of its view.
        var rows: Range<Int>
        var firstTime: Int64
        var lastTime: Int64
    }

    let key: SeriesKey
    /// Oldest first, at least one.
    let parts: [Part]

    /// The earliest and the latest time of its rows, both inclusive.
    var firstTime: Int64 { parts.reduce(.max) { min($0, $1.firstTime) } }
    var lastTime: Int64 { parts.reduce(.min) { max($0, $1.lastTime) } }
}

/// A source of rows.
enum RowSource: Sendable {
    case segment(SegmentReader)
    case memtable(MemtableView)

    var isFile: Bool { if case .segment = self { true } else { false } }

    /// Returns the rows of a series' part in this source that lie in a time range. Searches only if
    /// the range ends inside of the part.
    func rows(of part: Series.Part, in range: TimeRange) throws(DatabaseError) -> Range<Int> {
        if range.covers(first: part.firstTime, last: part.lastTime) { return part.rows }
        guard range.overlaps(first: part.firstTime, last: part.lastTime) else {
            return part.rows.lowerBound..<part.rows.lowerBound
        }
        switch self {
        case .segment(let segment): return try segment.rows(in: range, of: part.rows)
        case .memtable(let memtable): return memtable.rows(in: range, of: part.rows)
        }
    }
}
