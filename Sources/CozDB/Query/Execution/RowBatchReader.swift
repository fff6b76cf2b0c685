// Reads the rows of one input series batch by batch. Columns are in the order of the plan's
// references and have the plan's types; rows that fail WHERE are already removed.

/// A series of a raw subquery, whose rows are computed while they are read.
struct DerivedSeries {
    let plan: SelectPlan
    let input: InputSeries
    /// Tags without a value are left out.
    let tags: [(name: String, value: String)]
}

/// A series with series functions, whose rows are computed as a whole on first use.
///
/// Unchecked: only one thread at a time uses a series, and the data that series share is immutable.
final class ComputedSeries: @unchecked Sendable {
    let plan: SelectPlan
    let input: InputSeries
    /// The rows, if computed ahead of time.
    private var prepared: Result<RowBatch, DatabaseError>?
    private var share: MemoryReservation?

    init(plan: SelectPlan, input: InputSeries) {
        self.plan = plan
        self.input = input
    }

    /// Computes the rows ahead of time, on any thread. `rows` throws its error.
    func prepare(_ context: ExecutionContext) {
        prepared = CancellationCheck.$current.withValue(context.stop) {
            Result { () throws(DatabaseError) in try compute(context) }
        }
    }

    /// Returns the rows and drops the copy that was computed ahead.
    func rows(_ context: ExecutionContext) throws(DatabaseError) -> RowBatch {
        guard let prepared else { return try compute(context) }
        self.prepared = nil
        return try prepared.get()
    }

    /// Releases the memory of the rows.
    func release() { share = nil }

    private func compute(_ context: ExecutionContext) throws(DatabaseError) -> RowBatch {
        let share = MemoryReservation(context.memory)
        self.share = share
        return try SeriesExecution(plan: plan, input: input, context: context, share: share)
            .rows()
    }
}

/// One series that a statement reads.
struct InputSeries {
    enum Origin {
        case stored(ExperimentView, Series)
        case materialized(MaterializedSeries)
        indirect case derived(DerivedSeries)
        case computed(ComputedSeries)
    }

    var origin: Origin
    /// The index of the plan's source.
    var source: Int
    /// The WHERE clause with the tags of this series substituted; nil accepts every row.
    var condition: Evaluation?
    /// The references that may have a value in the series, ascending; nil means all.
    var present: [Int]?
    /// The dimensions that may have a value in the series, ascending; nil means all.
    var presentDimensions: [Int]?

    var name: String {
        switch origin {
        case .stored(let view, _): view.schema.name
        case .materialized(let series): series.name
        case .derived(let series): series.input.name
        case .computed(let series): series.input.name
        }
    }

    /// Whether the rows come directly from an experiment.
    var isStored: Bool {
        if case .stored = origin { true } else { false }
    }

    /// The approximate number of stored rows.
    var rowCount: Int {
        switch origin {
        case .stored(_, let series): series.parts.reduce(0) { $0 + $1.rows.count }
        case .materialized(let series): series.times.count
        case .derived(let series): series.input.rowCount
        case .computed(let series): series.input.rowCount
        }
    }

    /// Returns a lower bound of the rows' times in a range, or an upper bound if descending.
    func nearestTime(_ range: TimeRange, ascending: Bool) -> Int64 {
        switch origin {
        case .stored(_, let series):
            return ascending
                ? max(series.firstTime, range.lower) : min(series.lastTime, range.upper)
        case .materialized(let series):
            // The first bucket of a subquery may begin before the range.
            return ascending ? series.times.first ?? .max : series.times.last ?? .min
        case .derived(let series): return series.input.nearestTime(range, ascending: ascending)
        case .computed(let series): return series.input.nearestTime(range, ascending: ascending)
        }
    }

    /// Whether no two rows share a time. Rows of a subquery may.
    var hasUniqueTimes: Bool {
        switch origin {
        case .stored: true
        case .materialized, .computed: false
        case .derived(let series): series.input.hasUniqueTimes
        }
    }

    /// Returns the value of a tag; empty if the series does not have it.
    func tag(_ name: String) -> String {
        if case .stored(_, let series) = origin { return series.key.value(of: name) ?? "" }
        return tags.first { Name($0.name) == Name(name) }?.value ?? ""
    }

    var tags: [(name: String, value: String)] {
        switch origin {
        case .stored(_, let series): series.key.tags
        case .materialized(let series): series.tags
        case .derived(let series): series.tags
        case .computed(let series): series.input.tags
        }
    }
}

extension InputSeries: SeriesTags {}

/// The distinct columns that a reader requests from its cursor.
private struct RequestedColumns {
    /// The number of columns up to which a linear search is used. Each series has a reader, and
    /// most readers have few columns.
    private static let searchedCountMax = 128

    private(set) var columns: [ColumnID] = []
    /// The position of each column once there are more than that.
    private var places: [ColumnID: Int] = [:]

    mutating func reserve(_ count: Int) { columns.reserveCapacity(count) }

    func known(_ column: ColumnID) -> Int? {
        columns.count <= RequestedColumns.searchedCountMax
            ? columns.firstIndex(of: column) : places[column]
    }

    mutating func place(of column: ColumnID) -> Int {
        if let known = known(column) { return known }
        columns.append(column)
        if columns.count > RequestedColumns.searchedCountMax {
            let first = places.isEmpty ? 0 : columns.count - 1
            for place in first..<columns.count { places[columns[place]] = place }
        }
        return columns.count - 1
    }
}

struct RowBatchReader {
    /// The maximum number of cells in a batch: about 2.5 MB. Columns without values have none.
    private static let cellCountMax = 1 << 18

    /// Returns the number of rows per batch of so many columns.
    static func rowCountMax(columnCount: Int) -> Int {
        max(1, min(4096, cellCountMax / max(1, columnCount)))
    }

    private let plan: SelectPlan
    private let input: InputSeries
    private let context: ExecutionContext
    private let counts: ReadCounts
    private let descending: Bool
    /// The references that can have values, ascending, with the source of their values.
    private(set) var filled: [(reference: Int, values: ValueSource)] = []
    /// The sources of the dimensions whose value differs from row to row.
    private var changing: [ValueSource] = []
    private var cursor: RowCursor?
    private var rows = ColumnBatch()
    /// The reader and batch of the inner series, if the series is derived.
    private var inner: [RowBatchReader] = []
    private var innerBatch = RowBatch()
    /// The rows of a computed series; `nextRow` is the position in these or in materialized rows.
    private var computed: RowBatch?
    private var nextRow = 0
    /// The current rows of a materialized series.
    private var slice = 0..<0
    private var batchRows: Int
    /// The references of which a row must have at least one value. Empty if every row qualifies.
    private var driving: [Int]

    /// Where the values of a reference or dimension come from.
    struct ValueSource {
        let recipe: Recipe
        /// The position among the requested columns; nil if the values are not stored.
        let column: Int?

        init(_ recipe: Recipe) {
            self.recipe = recipe
            column = if case .column(let place, _) = recipe { place } else { nil }
        }
    }

    enum Recipe {
        case column(Int, FieldType?)
        case output(Int, FieldType?)
        case constant(FieldValue?)
        /// An expression, in rows with a value of one of some references; nil means all rows.
        case evaluation(Evaluation, among: [Int]?)
        case dimension(DimensionFunction)
    }

    /// - Parameters:
    ///   - driving: ascending references of which a row must have at least one value; nil accepts
    ///     every row that has any of the columns.
    ///   - only: the references to read, without dimensions; nil reads everything.
    init(
        _ plan: SelectPlan, _ input: InputSeries, driving: [Int]?, only: Set<Int>? = nil,
        in range: TimeRange, descending: Bool, batchRows: Int = .max, context: ExecutionContext
    ) {
        self.plan = plan
        self.input = input
        self.context = context
        self.descending = descending
        let source = plan.sources[input.source]
        counts = context.reads(source.number)
        self.batchRows = batchRows
        self.driving = RowBatchReader.drivers(driving ?? [], source, input.present)
        var wanted = RequestedColumns()
        var tags = TagCache(input)
        let present =
            only.map { only in
                plan.closure(only).sorted().filter { input.present?.binaryContains($0) ?? true }
            } ?? input.present ?? Array(plan.references.indices)
        filled.reserveCapacity(present.count)
        wanted.reserve(present.count)
        for index in present {
            let reference = plan.references[index]
            if case .row(let evaluation)? = reference.computation {
                let fields =
                    input.isStored && reference.isArgument
                    ? evaluation.fieldsToHave(source) : nil
                filled.append((index, ValueSource(.evaluation(evaluation, among: fields))))
            } else {
                let binding = source.bindings[index]
                let recipe = recipe(binding, reference.type, source, &wanted, &tags)
                filled.append((index, ValueSource(recipe)))
            }
        }
        for index in only == nil ? plan.changingDimensions(of: input) : [] {
            if let function = plan.dimensions[index].function {
                changing.append(ValueSource(.dimension(function)))
            } else {
                let binding = source.dimensions[index]
                let recipe = recipe(binding, nil, source, &wanted, &tags)
                changing.append(ValueSource(recipe))
            }
        }
        // Checked only now: a row may also be read because of a grouping column.
        if drives(wanted, source) { self.driving = [] }
        let fullCount = RowBatchReader.fullCount(filled, input)
        self.batchRows = min(batchRows, RowBatchReader.rowCountMax(columnCount: fullCount))
        if case .derived(let series) = input.origin {
            let reader = RowBatchReader(
                series.plan, series.input, driving: series.plan.auxiliary,
                in: series.plan.range.intersection(range), descending: descending,
                batchRows: self.batchRows, context: context)
            inner.append(reader)
        }
        if case .stored(let view, let series) = input.origin, !wanted.columns.isEmpty {
            cursor = view.rows(
                of: series, columns: wanted.columns, in: range, descending: descending,
                batchRows: self.batchRows, cellCountMax: RowBatchReader.cellCountMax,
                test: test(source), counts: counts, pool: context.columns)
        }
    }

    /// The approximate memory of what is known of the columns, those of subqueries included.
    var columnsSizeBytes: Int {
        inner.reduce(filled.count * 2 * MemoryLayout<ValueSource>.stride) {
            $0 + $1.columnsSizeBytes
        }
    }

    /// The number of references that may take memory in each batch. Storage cuts its batches by the
    /// columns that have values in them.
    private static func fullCount(
        _ filled: [(reference: Int, values: ValueSource)], _ input: InputSeries
    ) -> Int {
        filled.count { item in
            switch (item.values.recipe, input.origin) {
            case (.column, _), (.constant(nil), _): return false
            case (.output(let index, _), .materialized(let series)):
                return series.columns.column(index) != nil
            case (.output(let index, _), .derived(let series)):
                if case .column = series.plan.columns[index].evaluation { return false }
                return true
            default: return true
            }
        }
    }

    private func recipe(
        _ binding: Binding, _ type: FieldType?, _ source: PlannedSource,
        _ wanted: inout RequestedColumns, _ tags: inout TagCache<InputSeries>
    ) -> Recipe {
        switch binding {
        case .column(let id, _): return .column(wanted.place(of: id), type)
        case .output(let index): return .output(index, type)
        case .tag(let name):
            return .constant(plan.value(ofTag: tags.value(of: name), source))
        case .null, .missing, .computed: return .constant(nil)
        }
    }

    /// Returns the driving references that can produce rows of the series; empty if all rows
    /// qualify. The rows of a subquery do as soon as one of its columns is driving.
    private static func drivers(
        _ driving: [Int], _ source: PlannedSource, _ present: [Int]?
    ) -> [Int] {
        if case .subquery = source.origin {
            let readsOutput = driving.contains { index in
                if case .output = source.bindings[index] { true } else { false }
            }
            if readsOutput { return [] }
        }
        let producesRows = { (index: Int) in source.bindings[index].producesRows }
        guard let present else { return driving.filter(producesRows) }
        // A window has one driving reference, a series few of many columns.
        let own =
            (driving.count < present.count
            ? driving.filter { present.binaryContains($0) }
            : present.filter { driving.binaryContains($0) })
            .filter(producesRows)
        // The series has none of them. Keep one that is always null, so that no row qualifies.
        return own.isEmpty ? driving.first(where: producesRows).map { [$0] } ?? [] : own
    }

    /// Returns what storage can test: the condition, and the presence of a single driving column.
    private func test(_ source: PlannedSource) -> RowPredicate? {
        guard case .experiment(let view) = source.origin else { return nil }
        var tests: [RowPredicate] = []
        let condition = input.condition?.storageCondition(plan, source, view.schema)
        if let test = condition?.test { tests.append(test) }
        if driving.count == 1, case .column(let id, _) = source.bindings[driving[0]] {
            tests.append(.column(ColumnPredicate(column: id, test: .isPresent)))
        }
        return tests.count < 2 ? tests.first : .all(tests)
    }

    /// Returns whether every requested column is driving. Then every stored row qualifies.
    private func drives(_ wanted: RequestedColumns, _ source: PlannedSource) -> Bool {
        guard case .experiment(let view) = source.origin else { return false }
        var isSure = [Bool].filled(with: false, count: wanted.columns.count)
        for index in driving {
            guard let column = source.bindings[index].field,
                // A cast may turn a value into null.
                plan.references[index].type == view.schema.column(column).type,
                let place = wanted.known(column)
            else { continue }
            isSure[place] = true
        }
        return !isSure.contains(false)
    }

    /// Reads the next qualifying rows. Returns false at the end.
    mutating func next(into batch: inout RowBatch) throws(DatabaseError) -> Bool {
        while try read(into: &batch) {
            try context.checkCancelled()
            filter(&batch)
            // A cancelled condition must not pass as a result.
            try context.checkCancelled()
            if batch.count > 0 { return true }
        }
        return false
    }

    private mutating func read(into batch: inout RowBatch) throws(DatabaseError) -> Bool {
        switch input.origin {
        case .stored:
            batch = RowBatch()
            guard try cursor?.next(into: &rows) == true else { return false }
            batch = RowBatch(times: rows.times)
            counts.rows += rows.count
            counts.bytes += rows.count * 8 * (rows.columns.count + 1)
        case .materialized(let series):
            let count = series.times.count
            guard nextRow < count else { return false }
            let rows = nextRow..<min(nextRow + batchRows, count)
            nextRow = rows.upperBound
            slice = descending ? (count - rows.upperBound)..<(count - rows.lowerBound) : rows
            let times = series.times[slice]
            batch = RowBatch(times: descending ? times.reversed() : Array(times))
        case .derived:
            guard try inner[0].next(into: &innerBatch) else { return false }
            batch = RowBatch(times: innerBatch.times)
        case .computed(let series): return try readComputed(series, into: &batch)
        }
        try fill(&batch)
        return true
    }

    /// Fills the columns of a batch that has its times. Not mutating, because that would copy the
    /// reader for each vector.
    private func fill(_ batch: inout RowBatch) throws(DatabaseError) {
        for place in filled.indices {
            let index = filled[place].reference
            if place % 64 == 63 { try context.checkCancelled() }
            // Most columns of a wide series are empty, and a recipe is costly to copy.
            guard !isEmpty(filled[place].values.column),
                let vector = vector(filled[place].values.recipe, index, batch), vector.type != nil
            else { continue }
            batch.references[index] = vector
        }
        if changing.isEmpty { return }
        // Shared by all dimensions without a value.
        let nothing = ResultVector.constant(nil, count: batch.count)
        batch.dimensions.reserveCapacity(changing.count)
        for place in changing.indices {
            let vector =
                isEmpty(changing[place].column)
                ? nil : vector(changing[place].recipe, 0, batch)
            batch.dimensions.append(vector ?? nothing)
        }
    }

    /// Returns whether no row of the batch has a value in a requested column.
    private func isEmpty(_ column: Int?) -> Bool {
        column.map { rows.columns[$0].isEmpty } ?? false
    }

    /// Reads rows of a computed series, which all qualify.
    private mutating func readComputed(
        _ series: ComputedSeries, into batch: inout RowBatch
    ) throws(DatabaseError) -> Bool {
        if computed == nil {
            computed = try series.rows(context)
            driving = []
        }
        guard let computed, nextRow < computed.count else {
            computed = RowBatch()
            series.release()
            return false
        }
        let count = computed.count
        let columnCount = computed.references.references.count
        let batchRows = RowBatchReader.rowCountMax(columnCount: columnCount)
        let end = min(nextRow + min(self.batchRows, batchRows), count)
        let rows = (nextRow..<end).map { descending ? count - 1 - $0 : $0 }
        nextRow = end
        batch = computed.filtered(rows)
        return true
    }

    /// Returns the values of a recipe for the rows of a batch; nil if no row has one.
    ///
    /// - Parameters:
    ///   - index: the index of the reference; not used for a dimension.
    ///   - batch: a batch with all references of lower indexes.
    private func vector(_ recipe: Recipe, _ index: Int, _ batch: RowBatch) -> ResultVector? {
        let count = batch.count
        switch (recipe, input.origin) {
        case (.evaluation(let evaluation, let fields), _):
            var vector = Evaluator(times: batch.times)
                .shownValues(of: evaluation, batch.references, count: count)
            if let fields {
                let present = fields.compactMap { batch.references.column($0)?.isPresent }
                for row in 0..<count where !present.contains(where: { $0[row] }) {
                    vector.isPresent[row] = false
                }
            }
            let type = plan.references[index].type
            return type.map { vector.cast(to: $0) } ?? vector
        case (.dimension(let function), _):
            return function.values(
                times: batch.times, references: batch.references, zone: plan.zone)
        case (.column(let index, let type), _):
            let column = rows.columns[index]
            // Storage leaves the vectors empty if no row has a value.
            guard !column.isEmpty else { return nil }
            let vector = ResultVector(
                type: column.type, bits: column.bits, isPresent: column.isPresent,
                strings: column.strings)
            return type.map { vector.cast(to: $0) } ?? vector
        case (.output(let index, let type), .materialized(let series)):
            guard let column = series.columns.column(index)?.part(slice) else { return nil }
            let vector = descending ? column.reversed : column
            return type.map { vector.cast(to: $0) } ?? vector
        case (.output(let index, let type), .derived(let series)):
            let vector = series.plan.evaluatedColumn(index, innerBatch.references, count: count)
            return type.map { vector.cast(to: $0) } ?? vector
        case (.constant(let value?), _): return .constant(value, count: count)
        default: return nil
        }
    }

    private func filter(_ batch: inout RowBatch) {
        var mask: [Bool]?
        if let condition = input.condition {
            let evaluator = Evaluator(
                integersDivideToFloat: false, readsStoredRows: input.isStored)
            mask = evaluator.mask(condition, batch.references, count: batch.count)
        }
        if !driving.isEmpty {
            var isThere = [Bool].filled(with: false, count: batch.count)
            for index in driving {
                guard let presence = batch.references.column(index)?.isPresent else { continue }
                for row in presence.indices where presence[row] { isThere[row] = true }
            }
            if let accepted = mask {
                for row in accepted.indices where !accepted[row] { isThere[row] = false }
            }
            mask = isThere
        }
        guard let mask, mask.contains(false) else { return }
        batch.keep(mask.indices.filter { mask[$0] })
    }
}

extension Binding {
    /// Whether a row exists because it has a value of this column.
    fileprivate var producesRows: Bool {
        switch self {
        case .column(_, isTag: false), .computed: true
        default: false
        }
    }
}

extension Evaluation {
    /// The references to fields, if the expression has a value even where all of them are null:
    /// `coalesce(f, 0)`. Nil for any other expression. An argument of an aggregate counts only
    /// rows with one of them, because stored rows without them are those of other fields.
    fileprivate func fieldsToHave(_ source: PlannedSource) -> [Int]? {
        let fields = referencesRead.filter { source.bindings[$0].producesRows }
        return mayHaveValue(without: fields) ? fields.sorted() : nil
    }

    /// Whether the expression may have a value where some references are null.
    private func mayHaveValue(without fields: Set<Int>) -> Bool {
        switch self {
        case .constant(let value): value != nil
        case .column(let index): !fields.contains(index)
        case .coalesce(let arguments, _):
            arguments.contains { $0.mayHaveValue(without: fields) }
        case .math(_, let arguments): arguments.allSatisfy { $0.mayHaveValue(without: fields) }
        case .binary(_, let left, let right):
            left.mayHaveValue(without: fields) && right.mayHaveValue(without: fields)
        case .delay(let inner, _): inner.mayHaveValue(without: fields)
        case .call: false
        case .seriesTag, .isNull, .stringTest, .contains: true
        }
    }
}
