// Describes what a statement deletes: rows or values of series. The query layer builds it for
// storage. Rows are named by series and time in all segments, so no older value reappears.

/// Rows of one series, by time.
enum RowSelection: Sendable {
    case range(TimeRange)
    /// Ascending; each is the time of a row of the series.
    case times([Int64])

    static let none = RowSelection.times([])

    var isEmpty: Bool {
        switch self {
        case .range(let range): range.isEmpty
        case .times(let times): times.isEmpty
        }
    }

    /// The smallest range that contains all of them.
    var bounds: TimeRange {
        switch self {
        case .range(let range): return range
        case .times(let times):
            guard let first = times.first, let last = times.last else {
                return TimeRange(lower: 0, upper: 0)
            }
            return TimeRange(lower: first, upper: last + 1)
        }
    }

    /// Marks the selected ones of some ascending times; nil if there are none.
    func mask(_ times: [Int64]) -> [Bool]? {
        var mask: [Bool]?
        forEachSelected(times) { index in
            if mask == nil { mask = [Bool](repeating: false, count: times.count) }
            mask?[index] = true
        }
        return mask
    }

    /// Calls the body with the indices of the selected ones of some ascending times.
    func forEachSelected(_ times: [Int64], _ body: (Int) -> Void) {
        switch self {
        case .range(let range):
            for index in times.indices(in: range) { body(index) }
        case .times(let wanted):
            guard let first = times.first else { return }
            var next = wanted.partitioningIndex { $0 >= first }
            for (index, time) in times.enumerated() {
                while next < wanted.count, wanted[next] < time { next += 1 }
                guard next < wanted.count else { return }
                if wanted[next] == time { body(index) }
            }
        }
    }
}

/// The rows and cells that one series loses.
struct SeriesDeletion: Sendable {
    /// Rows that are deleted whole, with attributes.
    var rows: RowSelection
    /// Rows that lose the columns of the deletion and keep the others.
    var cells = RowSelection.none

    var isEmpty: Bool { rows.isEmpty && cells.isEmpty }
}

/// The part of one experiment to delete.
struct ExperimentDeletion {
    /// At the moment of the statement.
    let view: ExperimentView
    /// Whether to delete the experiment with its schema.
    var dropsSchema = false
    /// The fields that lose values; empty if whole rows are deleted.
    var columns: Set<ColumnID> = []
    /// Only rows in this range are deleted.
    var range = TimeRange.all
    /// The series that may lose data; nil accepts all.
    var accepts: ((SeriesKey) -> Bool)?
    /// Selects the rows of a series that match the statement; nil selects all in the range.
    var select: ((Series) throws(DatabaseError) -> RowSelection)?
}

/// Everything that one statement deletes.
struct Deletion {
    var experiments: [ExperimentDeletion] = []
    /// The entries of the rejects journal to delete; nil for none.
    var refusals: ((Refusal) throws(DatabaseError) -> Bool)?
    /// Whether to delete the counts of refusals that were not stored, too.
    var dropsRefusalCounts = false
    /// Called between series; throws to cancel.
    var checkCancelled: () throws(DatabaseError) -> Void = {}
}

/// The counts of what one series loses.
struct SeriesLoss: Sendable {
    struct Field: Sendable {
        var column: ColumnID
        var count: Int
        var firstTime: Int64
        var lastTime: Int64
    }

    /// The number of rows that are deleted whole.
    var rows = 0
    /// Of the deleted rows and values.
    var firstTime = Int64.max
    var lastTime = Int64.min
    /// The fields that lose values.
    var fields: [Field] = []

    var values: Int { fields.reduce(0) { $0 + $1.count } }
}

extension ExperimentDeletion {
    /// Calls the body for each series that loses data.
    func forEachSeries(
        _ body: (Series, SeriesDeletion, SeriesLoss) throws(DatabaseError) -> Void
    ) throws(DatabaseError) {
        guard !range.isEmpty else { return }
        try view.forEachSeries(
            in: range, where: accepts,
            withFields: { series, fields throws(DatabaseError) in
                let deletion = try self.deletion(of: series, fields)
                if deletion.isEmpty { return }
                let loss = try loss(deletion, of: series, fields)
                if loss.rows > 0 || !loss.fields.isEmpty { try body(series, deletion, loss) }
            })
    }

    /// What a series loses. Deterministic, so that callers may compute it again instead of keeping
    /// it.
    ///
    /// - Parameter fields: those that the series may have; nil if not known.
    func deletion(
        of series: Series, _ fields: [Column]? = nil
    ) throws(DatabaseError) -> SeriesDeletion {
        guard accepts?(series.key) ?? true else { return SeriesDeletion(rows: .none) }
        let meant = try select?(series) ?? .range(range)
        guard !columns.isEmpty, !meant.isEmpty else { return SeriesDeletion(rows: meant) }
        var times: [Int64] = []
        // Of very many columns those that the series may have.
        let own = fields.map { $0.map(\.id).filter(columns.contains) } ?? columns.sorted()
        for column in own {
            let found = try self.times(of: column, in: series, among: meant)
            times = RowCursor.unite(times, found[...])
        }
        if times.isEmpty { return SeriesDeletion(rows: .none) }
        let emptied = try withoutOtherFields(times, of: series, fields ?? view.schema.fields)
        return SeriesDeletion(rows: .times(emptied), cells: .times(times))
    }

    /// The rows among these without other fields. A row exists through its fields, so it is deleted
    /// with the last one, including attributes.
    private func withoutOtherFields(
        _ times: [Int64], of series: Series, _ fields: [Column]
    ) throws(DatabaseError) -> [Int64] {
        var left = times
        for column in fields where !columns.contains(column.id) && !left.isEmpty {
            let others = try self.times(of: column.id, in: series, among: .times(left))
            guard !others.isEmpty, let mask = RowSelection.times(others).mask(left) else {
                continue
            }
            left = left.indices.filter { !mask[$0] }.map { left[$0] }
        }
        return left
    }

    /// The selected times at which a column has a value.
    private func times(
        of column: ColumnID, in series: Series, among selection: RowSelection
    ) throws(DatabaseError) -> [Int64] {
        var times: [Int64] = []
        try view.scan(
            column, of: series, in: selection.bounds, summarize: { _, _ in false }
        ) { piece in
            if case .values(let slice) = piece {
                selection.forEachSelected(slice.times) { times.append(slice.times[$0]) }
            }
            return true
        }
        return times
    }

    // MARK: Counting

    /// Counts what a series loses. Reads summaries of blocks that are deleted whole, and decodes
    /// the others.
    private func loss(
        _ deletion: SeriesDeletion, of series: Series, _ fields: [Column]
    ) throws(DatabaseError) -> SeriesLoss {
        var loss = SeriesLoss()
        if !deletion.rows.isEmpty { try countRows(deletion.rows, series, into: &loss) }
        let selection = columns.isEmpty ? deletion.rows : deletion.cells
        for column in fields where columns.isEmpty || columns.contains(column.id) {
            let found = try count(column.id, series, selection)
            guard found.count > 0 else { continue }
            loss.fields.append(found)
            loss.firstTime = min(loss.firstTime, found.firstTime)
            loss.lastTime = max(loss.lastTime, found.lastTime)
        }
        return loss
    }

    private func countRows(
        _ rows: RowSelection, _ series: Series, into loss: inout SeriesLoss
    ) throws(DatabaseError) {
        var bounds = rows.bounds
        switch rows {
        case .times(let times): loss.rows = times.count
        case .range(let range) where range.covers(first: series.firstTime, last: series.lastTime):
            loss.rows = try view.rowCount(of: series)
            bounds = TimeRange(lower: series.firstTime, upper: series.lastTime + 1)
        case .range(let range):
            let times = try view.rowTimes(of: series, in: range)
            loss.rows = times.count
            bounds = RowSelection.times(times).bounds
        }
        guard loss.rows > 0 else { return }
        loss.firstTime = min(loss.firstTime, bounds.lower)
        loss.lastTime = max(loss.lastTime, bounds.upper - 1)
    }

    private func count(
        _ column: ColumnID, _ series: Series, _ selection: RowSelection
    ) throws(DatabaseError) -> SeriesLoss.Field {
        let found: ValueTally
        switch selection {
        case .range(let range): found = try view.valueCount(of: column, in: series, range: range)
        case .times:
            let times = try times(of: column, in: series, among: selection)
            found = ValueTally(
                count: times.count, first: times.first ?? .max, last: times.last ?? .min)
        }
        return SeriesLoss.Field(
            column: column, count: found.count, firstTime: found.first, lastTime: found.last)
    }
}
