// The immutable view of a database that a query runs on: everything committed up to one moment.

/// Everything committed up to one moment. Stays valid, and keeps its files open, while it lives.
final class Snapshot: Sendable {
    /// In byte order of their names.
    var experiments: [ExperimentView] { isRedacted ? all.map(\.redacted) : all }
    private let all: [ExperimentView]
    let isRedacted: Bool
    /// The sequence number of the last commit it contains; 0 for an empty database.
    let sequence: UInt64
    /// Data that a client caches with the snapshot.
    let companion = Monitor<(any AnyObject & Sendable)?>(nil)

    init(experiments: [ExperimentView], sequence: UInt64 = 0, isRedacted: Bool = false) {
        all = experiments
        self.sequence = sequence
        self.isRedacted = isRedacted
    }

    /// The same data with credential columns and tags masked when values and keys leave storage.
    var redacted: Snapshot {
        isRedacted ? self : Snapshot(experiments: all, sequence: sequence, isRedacted: true)
    }

    func experiment(_ name: String) -> ExperimentView? {
        let wanted = Name(name)
        let place = all[...].partitioningIndex { Name($0.schema.name) >= wanted }
        guard place < all.count, Name(all[place].schema.name) == wanted else { return nil }
        return isRedacted ? all[place].redacted : all[place]
    }
}

/// One experiment of a snapshot.
///
/// All reads merge segments and memtables: each (series, time, column) appears once, and the newest
/// value wins. Safe from any thread; calls share no mutable state.
final class ExperimentView: Sendable {
    let schema: ExperimentSchema
    /// Oldest first.
    let sources: [RowSource]
    /// Why some of its rows are unreadable. Every read throws it.
    let damage: DatabaseError?
    /// Whether keys are returned with credential tags masked.
    private let masksKeys: Bool

    init(
        schema: ExperimentSchema, sources: [RowSource] = [], damage: DatabaseError? = nil,
        masksKeys: Bool = false
    ) {
        self.schema = schema
        self.sources = sources
        self.damage = damage
        self.masksKeys = masksKeys
    }

    fileprivate var redacted: ExperimentView {
        ExperimentView(
            schema: schema.redacted, sources: sources, damage: damage, masksKeys: true)
    }

    /// Returns the series whose key the predicate accepts, in key order; nil accepts all. A million
    /// series take about a hundred megabytes.
    ///
    /// - Parameter range: leaves out series without a row in it, according to their first and last
    ///   time.
    func series(
        in range: TimeRange = .all, where accepts: ((SeriesKey) -> Bool)? = nil
    ) throws(DatabaseError) -> [Series] {
        var all: [Series] = []
        try forEachSeries(in: range, where: accepts) { all.append($0) }
        return all
    }

    /// Returns the series with a key, without the sources in which it has no row in the range.
    func series(
        of key: SeriesKey, in range: TimeRange
    ) throws(DatabaseError) -> Series? {
        var found: Series?
        try forEachSeries(in: range, prefix: key.bytes, where: { $0 == key }) { found = $0 }
        return found
    }

    /// Calls the body for each of these series, without collecting them.
    ///
    /// - Parameter prefix: the wanted keys start with these bytes.
    func forEachSeries(
        in range: TimeRange = .all, prefix: [UInt8] = [],
        where accepts: ((SeriesKey) -> Bool)? = nil,
        _ body: (Series) throws(DatabaseError) -> Void
    ) throws(DatabaseError) {
        if let damage { throw damage }
        var cursor = try SeriesCursor(sources, range: range, prefix: prefix, where: accepts)
        while let series = try cursor.next() {
            try body(
                masksKeys ? Series(key: series.key.redacted, parts: series.parts) : series)
        }
    }

    /// The number of rows of a series in a range. A row in several sources counts once for each.
    func rowCount(of series: Series, in range: TimeRange) throws(DatabaseError) -> Int {
        var count = 0
        for part in series.parts {
            count += try sources[part.source].rows(of: part, in: range).count
        }
        return count
    }

    /// The approximate share of the rows that have a value in a column, 0 to 1.
    func density(_ column: ColumnID) -> Double {
        var (values, rows) = (0, 0)
        for source in sources {
            switch source {
            case .memtable(let memtable):
                rows += memtable.rows.count
                values += memtable.rows.count
            case .segment(let segment):
                rows += segment.footer.rowCount
                if let field = segment.field(column) {
                    values += segment.footer.fields[field].valueCount
                }
            }
        }
        return rows == 0 ? 0 : Double(values) / Double(rows)
    }

    /// Whether the series may have a value in this column. False is certain.
    func mayHave(_ column: ColumnID, _ series: Series) throws(DatabaseError) -> Bool {
        for part in series.parts {
            switch sources[part.source] {
            case .memtable:
                return true
            case .segment(let segment):
                if let field = segment.field(column),
                    try !segment.directory(field).blocks(rows: part.rows).isEmpty
                {
                    return true
                }
            }
        }
        return false
    }
}
