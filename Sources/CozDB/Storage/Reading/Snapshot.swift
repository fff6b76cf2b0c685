// The immutable view of a database that a query runs on: everything committed up to one moment.

internal import Synchronization

/// Everything committed up to one moment. Stays valid, and keeps its files open, while it lives.
final class Snapshot: Sendable {
    /// In byte order of their names.
    var experiments: [ExperimentView] { isRedacted ? all.map(\.redacted) : all }
    private let all: [ExperimentView]
    let isRedacted: Bool
    /// The sequence number of the last commit it contains; 0 for an empty database.
    let sequence: UInt64
    /// Data that a client caches with the snapshot.
    let companion = Mutex<(any AnyObject & Sendable)?>(nil)

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

    /// Reads one column of one series, in pieces of ascending time that do not overlap.
    ///
    /// - Parameters:
    ///   - predicates: conditions on columns. Values that fail one may be left out.
    ///   - pool: the thread's open columns.
    ///   - shape: whether values come with times, with buckets, or with neither.
    ///   - summarize: whether the summary of the values between two times (inclusive, inside
    ///     `range`) is enough. Called only if the summary is exact, that is, if no newer value
    ///     replaces one of them.
    ///   - body: called for each piece; pieces are not empty. Returns false to stop.
    func scan(
        _ column: ColumnID, of series: Series, in range: TimeRange,
        predicates: [ColumnPredicate] = [], counts: ReadCounts? = nil, pool: ColumnPool? = nil,
        shape: ColumnShape = .timed, summarize: (_ first: Int64, _ last: Int64) -> Bool,
        _ body: (ColumnPiece) throws(DatabaseError) -> Bool
    ) throws(DatabaseError) {
        let predicates = predicates.filter(\.usesStatistics)
        if series.parts.count == 1, predicates.isEmpty,
            case .segment = sources[series.parts[0].source]
        {
            let walk = try SingleSegmentCursor(
                self, column: column, part: series.parts[0], range: range, counts: counts,
                pool: pool ?? ColumnPool(), shape: shape)
            try walk?.run(summarize, body)
            return
        }
        var cursor = try ColumnCursor(
            self, column: column, series: series, range: range, counts: counts, pool: pool)
        for predicate in predicates where predicate.column == column {
            cursor.keep(cursor.wantedTimes(predicate))
        }
        while let piece = try cursor.next(summarize: summarize) {
            guard try body(piece) else { return }
        }
    }

    /// The earliest or the latest value of a column in a range. Reads from that end only.
    func end(
        _ column: ColumnID, of series: Series, in range: TimeRange, last: Bool,
        counts: ReadCounts? = nil, pool: ColumnPool? = nil
    ) throws(DatabaseError) -> (time: Int64, value: FieldValue)? {
        var cursor = try ColumnCursor(
            self, column: column, series: series, range: range, descending: last, counts: counts,
            pool: pool)
        return try cursor.end()
    }

    /// The rows of a series that have a value in at least one of the columns.
    ///
    /// - Parameters:
    ///   - batchRows: the most rows in a batch.
    ///   - cellCountMax: the most cells in a batch, counting columns with a value in it. A batch
    ///     has at least one row.
    ///   - test: rows that fail it may be left out or lack values, so the caller must still test
    ///     each row.
    func rows(
        of series: Series, columns: [ColumnID], in range: TimeRange, descending: Bool = false,
        batchRows: Int = 4096, cellCountMax: Int = .max, test: RowPredicate? = nil,
        counts: ReadCounts? = nil,
        pool: ColumnPool? = nil
    ) -> RowCursor {
        RowCursor(
            view: self, series: series, columns: columns, range: range, descending: descending,
            batchRows: batchRows, cellCountMax: cellCountMax, test: test, counts: counts, pool: pool
        )
    }

    /// The number of values of a column in a series and range; nil if several sources have rows of
    /// the series. Reads no values, and times only for the ends of the range.
    func count(
        _ column: ColumnID, of series: Series, in range: TimeRange, counts: ReadCounts,
        pool: ColumnPool
    ) throws(DatabaseError) -> Int? {
        guard series.parts.count == 1, case .segment(let segment) = sources[series.parts[0].source]
        else { return nil }
        let part = series.parts[0]
        guard let field = segment.field(column),
            let open = try pool.column(column, source: part.source, of: self)
        else { return 0 }
        let rows = try sources[part.source].rows(of: part, in: range)
        let directory = open.reader.directory
        let blocks = directory.blocks(rows: rows)
        counts.blocksInRange += blocks.count
        counts.blocksSummarized += blocks.count
        counts.blocksOutOfRange += directory.blocks(rows: part.rows).count - blocks.count
        guard let first = blocks.first, let last = blocks.last else { return 0 }
        // The directory knows the count unless another series shares the block, which is rare;
        // otherwise presence does.
        let begins = directory.firstRow(first) >= rows.lowerBound
        let ends = directory.lastRow(last) < rows.upperBound
        let before =
            try begins
            ? directory.ordinals[first] : segment.ordinal(ofRow: rows.lowerBound, field: field)
        let upTo =
            try ends
            ? directory.ordinals[last] + directory.valueCount(last)
            : segment.ordinal(ofRow: rows.upperBound, field: field)
        return upTo - before
    }

    /// The one of some columns that has a value in every row where any of them has one. nil if the
    /// stored form of presence does not tell.
    ///
    /// - Parameter columns: in order of precedence.
    func only(of columns: [ColumnID], _ series: Series) throws(DatabaseError) -> ColumnID? {
        if columns.count == 1 { return columns[0] }
        guard series.parts.count == 1, case .segment(let segment) = sources[series.parts[0].source]
        else { return nil }
        let fields = columns.map { segment.field($0) }
        guard let first = fields.first, let first else { return nil }
        for case let other? in fields.dropFirst() {
            guard try segment.isPart(other, of: first, rows: series.parts[0].rows) else {
                return nil
            }
        }
        return columns[0]
    }
}
