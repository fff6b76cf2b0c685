// Where the rows of one experiment come from at one moment: what the cursors walk.

/// One series as a snapshot sees it.
struct Series: Sendable {
    /// Its rows in one source.
    struct Part: Sendable {
        /// Index in the sources of the view, oldest first.
        var source: Int
        /// Segment: row numbers. Memtable: places in the order of its view.
        var rows: Range<Int>
        var firstTime: Int64
        var lastTime: Int64
    }

    let key: SeriesKey
    /// Oldest first, at least one.
    let parts: [Part]

    /// Earliest and latest time of its rows, both included.
    var firstTime: Int64 { parts.reduce(.max) { min($0, $1.firstTime) } }
    var lastTime: Int64 { parts.reduce(.min) { max($0, $1.lastTime) } }
}

/// Where rows come from.
enum RowSource: Sendable {
    case segment(SegmentReader)
    case memtable(MemtableView)
}

/// The rows of one experiment: segments and memtables with the schema that reads them. A class, so
/// that a cursor per series and column holds one reference, whatever the schema is made of.
final class RowSources: Sendable {
    let schema: ExperimentSchema
    /// Oldest first.
    let sources: [RowSource]

    init(schema: ExperimentSchema, sources: [RowSource]) {
        self.schema = schema
        self.sources = sources
    }
}
