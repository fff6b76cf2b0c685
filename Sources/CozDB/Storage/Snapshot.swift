// The immutable view of a database that a query runs on: everything committed up to one moment.
// The only part of Storage that the query layer may name (with ColumnData.swift).

/// Everything committed up to one moment. Stays valid, and keeps its files open, while it lives.
final class Snapshot: Sendable {
    /// Experiments in byte order of their names.
    let experiments: [ExperimentView]

    init(experiments: [ExperimentView]) {
        self.experiments = experiments
    }

    func experiment(_ name: String) -> ExperimentView? {
        experiments.first { Name($0.schema.name) == Name(name) }
    }
}

/// One series as a snapshot sees it.
struct Series: Sendable {
    let key: SeriesKey
    /// Earliest and latest time of its rows, both included.
    let firstTime: Int64
    let lastTime: Int64
    /// Number of the series in each source of the view; -1 where the source does not have it.
    let parts: [Int]
}

/// One experiment of a snapshot.
///
/// All reads merge segments and memtable: each (series, time, column) appears once, newest wins.
/// Safe from any thread; every call does its own reading.
final class ExperimentView: Sendable {
    let schema: ExperimentSchema

    init(schema: ExperimentSchema) {
        self.schema = schema
    }

    /// The series whose key the predicate accepts, in key order; nil accepts all.
    /// A view of a million series takes about a hundred megabytes to list whole.
    ///
    /// - Parameter range: series without any row in this range are left out.
    func series(
        in range: TimeRange = .all, where accepts: ((SeriesKey) -> Bool)? = nil
    ) throws(DatabaseError) -> [Series] {
        []
    }

    /// Whether the series may have a value in this column; false is certain.
    func mayHave(_ column: ColumnID, _ series: Series) throws(DatabaseError) -> Bool {
        false
    }

    /// One column of one series, in pieces of ascending time that do not overlap.
    ///
    /// - Parameters:
    ///   - summarize: for a run of values from first to last time (both included, wholly inside
    ///     `range`): true to be given the summary alone. It is only asked for where a summary is
    ///     exact (no newer value replaces one of the run).
    ///   - body: called for each piece, none of them empty. Return false to stop.
    func scan(
        _ column: ColumnID, of series: Series, in range: TimeRange,
        summarize: (_ first: Int64, _ last: Int64) -> Bool,
        _ body: (ColumnPiece) throws(DatabaseError) -> Bool
    ) throws(DatabaseError) {
    }

    /// The latest value of a column in a range, found from the end without reading the rest.
    func last(
        _ column: ColumnID, of series: Series, in range: TimeRange
    ) throws(DatabaseError) -> (time: Int64, value: FieldValue)? {
        nil
    }

    /// Rows of a series that have a value in at least one of the columns asked for.
    ///
    /// - Parameter blockRows: about how many rows a block shall have.
    func rows(
        of series: Series, columns: [ColumnID], in range: TimeRange, descending: Bool = false,
        blockRows: Int = 4096
    ) -> RowCursor {
        RowCursor()
    }
}

/// Walks the rows of one series block by block; memory is one block.
struct RowCursor {
    /// Fills the block with the next rows; false when there are none left.
    mutating func next(into block: inout RowBlock) throws(DatabaseError) -> Bool {
        false
    }
}
