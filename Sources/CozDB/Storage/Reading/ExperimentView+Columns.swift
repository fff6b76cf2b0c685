// Reads columns and rows of one series of an experiment.

extension ExperimentView {
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
