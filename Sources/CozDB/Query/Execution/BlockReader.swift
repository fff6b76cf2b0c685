// Rows of one input series, block by block: columns in the order of the plan's references, types as
// the plan wants them, rows that WHERE refuses already gone.

/// Rows of a subquery's series, kept whole, by ascending time.
final class MaterialSeries {
    let name: String
    let tags: [(name: String, value: String)]
    let times: [Int64]
    let columns: [ResultVector]

    init(
        name: String, tags: [(name: String, value: String)], times: [Int64],
        columns: [ResultVector]
    ) {
        self.name = name
        self.tags = tags
        self.times = times
        self.columns = columns
    }
}

/// A series of a subquery that gives rows as they are stored: they are computed as they are read.
final class DerivedSeries {
    let plan: SelectPlan
    let input: InputSeries
    let tags: [(name: String, value: String)]

    init(plan: SelectPlan, input: InputSeries, tags: [(name: String, value: String)]) {
        self.plan = plan
        self.input = input
        self.tags = tags
    }
}

/// A series whose rows say something of the whole of it: computed when they are first asked for.
final class ComputedSeries {
    let plan: SelectPlan
    let input: InputSeries
    /// Computed ahead of time.
    private var prepared: Block?
    /// The memory of the rows, until they have been read.
    private var share: MemoryShare?

    init(plan: SelectPlan, input: InputSeries) {
        self.plan = plan
        self.input = input
    }

    func prepare(_ counters: CounterBox) throws(DatabaseError) {
        prepared = try compute(counters)
    }

    /// The rows, which are not kept here any longer.
    func rows(_ counters: CounterBox) throws(DatabaseError) -> Block {
        guard let prepared else { return try compute(counters) }
        self.prepared = nil
        return prepared
    }

    /// Nobody has use for the rows any more.
    func release() { share = nil }

    private func compute(_ counters: CounterBox) throws(DatabaseError) -> Block {
        let share = MemoryShare(counters.memory)
        self.share = share
        return try SeriesExecution(plan: plan, input: input, counters: counters, share: share)
            .rows()
    }
}

/// One series that a statement reads.
struct InputSeries {
    enum Origin {
        case stored(ExperimentView, Series)
        case material(MaterialSeries)
        case derived(DerivedSeries)
        case computed(ComputedSeries)
    }

    var origin: Origin
    /// Index into the plan's sources.
    var source: Int
    /// WHERE with the tags of this series put in; nil accepts every row.
    var condition: Evaluation?
    /// The references of which it may have a value, ascending; nil is all.
    var present: [Int]?

    var name: String {
        switch origin {
        case .stored(let view, _): view.schema.name
        case .material(let series): series.name
        case .derived(let series): series.input.name
        case .computed(let series): series.input.name
        }
    }

    /// About how many rows storage has of it.
    var rowCount: Int {
        switch origin {
        case .stored(_, let series): series.parts.reduce(0) { $0 + $1.rows.count }
        case .material(let series): series.times.count
        case .derived(let series): series.input.rowCount
        case .computed(let series): series.input.rowCount
        }
    }

    /// A time that none of its rows in the range precedes; descending, that none follows.
    func nearestTime(_ range: TimeRange, ascending: Bool) -> Int64 {
        switch origin {
        case .computed(let series): return series.input.nearestTime(range, ascending: ascending)
        case .derived(let series): return series.input.nearestTime(range, ascending: ascending)
        case .stored, .material: break
        }
        let (first, last) =
            switch origin {
            case .stored(_, let series): (series.firstTime, series.lastTime)
            case .material(let series): (series.times.first ?? .max, series.times.last ?? .min)
            case .derived, .computed: (range.lower, range.upper)
            }
        return ascending ? max(first, range.lower) : min(last, range.upper)
    }

    /// Whether no two of its rows share a time; those of a subquery's answer can.
    var hasOwnTimes: Bool {
        switch origin {
        case .stored: true
        case .material, .computed: false
        case .derived(let series): series.input.hasOwnTimes
        }
    }

    /// The value of a tag; empty where the series does not have it.
    func tag(_ name: String) -> String {
        if case .stored(_, let series) = origin { return series.key.value(of: name) ?? "" }
        return tags.first { Name($0.name) == Name(name) }?.value ?? ""
    }

    /// All of its tags.
    var tags: [(name: String, value: String)] {
        switch origin {
        case .stored(_, let series): series.key.tags
        case .material(let series): series.tags
        case .derived(let series): series.tags
        case .computed(let series): series.input.tags
        }
    }
}

/// Values of the tags of one series, for who asks for one after the other.
struct TagValues {
    /// So many are looked for one by one: most statements ask for few tags, of many series.
    private static let searchedCountMax = 32

    private let input: InputSeries
    private var searchedCount = 0
    private var known: [Name: String] = [:]

    init(_ input: InputSeries) {
        self.input = input
    }

    /// The value of a tag; empty where the series does not have it.
    mutating func value(of name: String) -> String {
        if searchedCount < TagValues.searchedCountMax {
            searchedCount += 1
            return input.tag(name)
        }
        if searchedCount == TagValues.searchedCountMax {
            searchedCount += 1
            // The first of one name, as `tag` finds it.
            for tag in input.tags.reversed() { known[Name(tag.name)] = tag.value }
        }
        return known[Name(name)] ?? ""
    }
}

/// Some rows, as the plan names their columns.
struct Block {
    var times: [Int64] = []
    /// One for each reference of the plan.
    var references: [ResultVector] = []
    /// One for each dimension whose value differs from row to row.
    var dimensions: [ResultVector] = []

    var count: Int { times.count }

    /// The rows at these positions, in this order.
    func filtered(_ rows: [Int]) -> Block {
        Block(
            times: rows.map { times[$0] }, references: references.map { $0.filtered(rows) },
            dimensions: dimensions.map { $0.filtered(rows) })
    }
}

/// The columns that a reader asks its cursor for, each once.
private struct WantedColumns {
    /// So many are looked through: there is a reader for each series, and most want few.
    private static let searchedCountMax = 128

    private(set) var columns: [ColumnID] = []
    /// Of all, once there are more.
    private var places: [ColumnID: Int] = [:]

    mutating func reserve(_ count: Int) { columns.reserveCapacity(count) }

    func known(_ column: ColumnID) -> Int? {
        columns.count <= WantedColumns.searchedCountMax
            ? columns.firstIndex(of: column) : places[column]
    }

    mutating func place(of column: ColumnID) -> Int {
        if let known = known(column) { return known }
        columns.append(column)
        if columns.count > WantedColumns.searchedCountMax {
            let first = places.isEmpty ? 0 : columns.count - 1
            for place in first..<columns.count { places[columns[place]] = place }
        }
        return columns.count - 1
    }
}

struct BlockReader {
    /// Cells of a block: about two and a half megabytes, however many columns there are.
    private static let cellCountMax = 1 << 18

    private static let rowCountMax = 4096

    /// Rows of a block of all the columns of a plan.
    static func rowCountMax(_ plan: SelectPlan, _ counters: CounterBox) -> Int {
        if counters.cutsByValues { return rowCountMax }
        return max(
            1, min(rowCountMax, cellCountMax / max(1, plan.references.count, plan.columns.count)))
    }

    private let plan: SelectPlan
    private let input: InputSeries
    private let counters: CounterBox
    private let counts: ReadCounts
    private let descending: Bool
    /// The references that are more than nothing, ascending.
    private(set) var filled: [(reference: Int, recipe: Recipe)] = []
    /// What each dimension is made of that differs from row to row.
    private var dimensionRecipes: [Recipe] = []
    private var cursor: RowCursor?
    private var rows = RowBlock()
    /// Of a derived series: the one reader of its own series, and its block.
    private var inner: [BlockReader] = []
    private var innerBlock = Block()
    /// Rows of a computed series, and the position in those or in a material series.
    private var computed: Block?
    private var nextRow = 0
    private let blockRows: Int
    /// Positions among the references of those of which a row must have one.
    private var driving: [Int]
    private let referenceCount: Int

    enum Recipe {
        case column(Int, FieldType?)
        case output(Int, FieldType?)
        case constant(FieldValue?)
        case evaluation(Evaluation)
        case dimension(DimensionFunction)
    }

    /// - Parameters:
    ///   - driving: ascending, references of which a row must have at least one to count; with nil,
    ///     every row with any column counts.
    ///   - only: references whose values are of use, and no dimension; nil is all.
    init(
        _ plan: SelectPlan, _ input: InputSeries, driving: [Int]?, only: Set<Int>? = nil,
        in range: TimeRange, descending: Bool, blockRows: Int? = nil, counters: CounterBox
    ) {
        self.plan = plan
        self.input = input
        self.counters = counters
        self.descending = descending
        let blockRows = blockRows ?? BlockReader.rowCountMax(plan, counters)
        self.blockRows = blockRows
        let source = plan.sources[input.source]
        counts = counters.reads(source.number)
        referenceCount = plan.references.count
        self.driving = BlockReader.drivers(driving ?? [], source, input.present)
        var wanted = WantedColumns()
        var tags = TagValues(input)
        let only = only.map { plan.closure($0) }
        let presentCount = input.present?.count ?? plan.references.count
        filled.reserveCapacity(presentCount)
        wanted.reserve(presentCount)
        for number in 0..<presentCount {
            let index = input.present?[number] ?? number
            let reference = plan.references[index]
            if let only, !only.contains(index) { continue }
            // A cast that no value survives.
            if case .type = reference.kind, reference.type == nil { continue }
            if case .row(let evaluation)? = reference.computation {
                filled.append((index, .evaluation(evaluation)))
            } else {
                let binding = source.bindings[index]
                filled.append((index, recipe(binding, reference.type, source, &wanted, &tags)))
            }
        }
        for (index, dimension) in source.dimensions.enumerated() where only == nil {
            switch dimension {
            case .column, .output:
                dimensionRecipes.append(recipe(dimension, nil, source, &wanted, &tags))
            case .computed:
                if let function = plan.dimensions[index].function {
                    dimensionRecipes.append(.dimension(function))
                }
            case .tag, .missing: break
            }
        }
        // Only now: a row can also be read for the column by which it is grouped.
        if drives(wanted, source) { self.driving = [] }
        if case .derived(let series) = input.origin {
            let reader = BlockReader(
                series.plan, series.input, driving: series.plan.auxiliary, in: series.plan.range,
                descending: descending, blockRows: blockRows, counters: counters)
            inner.append(reader)
        }
        if case .stored(let view, let series) = input.origin, !wanted.columns.isEmpty {
            cursor = view.rows(
                of: series, columns: wanted.columns, in: range, descending: descending,
                blockRows: blockRows, cellCountMax: BlockReader.cellCountMax, test: test(source),
                counts: counts, pool: counters.columns)
        }
    }

    private func recipe(
        _ binding: Binding, _ type: FieldType?, _ source: PlannedSource,
        _ wanted: inout WantedColumns, _ tags: inout TagValues
    ) -> Recipe {
        switch binding {
        case .column(let id, _): return .column(wanted.place(of: id), type)
        case .output(let index): return .output(index, type)
        case .tag(let name):
            // Another source has a field of that name, and of another type.
            if let type, type != .string { return .constant(nil) }
            return .constant(plan.value(ofTag: tags.value(of: name), source))
        case .missing, .computed: return .constant(nil)
        }
    }

    /// The references that make rows, of those that the series has where any does.
    private static func drivers(
        _ driving: [Int], _ source: PlannedSource, _ present: [Int]?
    ) -> [Int] {
        let makesRows = { (index: Int) in source.bindings[index].makesRows }
        guard let present else { return driving.filter(makesRows) }
        let own = present.filter { index in
            let place = driving.partitioningIndex { $0 >= index }
            return place < driving.count && driving[place] == index && makesRows(index)
        }
        // One that no row has a value of says that no row counts.
        return own.isEmpty ? driving.first(where: makesRows).map { [$0] } ?? [] : own
    }

    /// What the condition, and the one column of which a row must have a value, ask of rows.
    private func test(_ source: PlannedSource) -> RowTest? {
        guard case .experiment(let view) = source.origin else { return nil }
        var tests: [RowTest] = []
        let condition = input.condition?.storageCondition(plan, source, view.schema)
        if let test = condition?.test { tests.append(test) }
        if driving.count == 1, case .column(let id, _) = source.bindings[driving[0]] {
            tests.append(.column(ColumnDemand(column: id, test: .isPresent)))
        }
        return tests.count < 2 ? tests.first : .all(tests)
    }

    /// Whether each column asked for is one of those of which a row must have one: then there is
    /// no row without.
    private func drives(_ wanted: WantedColumns, _ source: PlannedSource) -> Bool {
        guard case .experiment(let view) = source.origin else { return false }
        var isSure = [Bool](repeating: false, count: wanted.columns.count)
        for index in driving {
            guard case .column(let column, isTag: false) = source.bindings[index],
                // A cast can leave nothing of a value.
                plan.references[index].type == view.schema.columns[column].type,
                let place = wanted.known(column)
            else { continue }
            isSure[place] = true
        }
        return !isSure.contains(false)
    }

    /// The next rows that count; false when there are none left.
    mutating func next(into block: inout Block) throws(DatabaseError) -> Bool {
        while try read(into: &block) {
            try counters.checkCancelled()
            filter(&block)
            // A condition that was left in the middle must not look like an answer.
            try counters.checkCancelled()
            if block.count > 0 { return true }
        }
        return false
    }

    private mutating func read(into block: inout Block) throws(DatabaseError) -> Bool {
        switch input.origin {
        case .stored:
            block = Block()
            guard try cursor?.next(into: &rows) == true else { return false }
            block.times = rows.times
            counts.rows += rows.count
            counts.bytes += rows.count * 8 * (rows.columns.count + 1)
        case .material(let series):
            guard nextRow < series.times.count else { return false }
            nextRow = series.times.count
            block = Block(times: descending ? series.times.reversed() : series.times)
        case .derived:
            guard try inner[0].next(into: &innerBlock) else { return false }
            block = Block(times: innerBlock.times)
        case .computed(let series): return try readComputed(series, into: &block)
        }
        try fill(&block)
        return true
    }

    /// Fills a block whose times are there. It does not mutate the reader: that would copy it for
    /// each vector.
    private func fill(_ block: inout Block) throws(DatabaseError) {
        // One for all that have no value in the block: of many columns few have.
        lazy var nothing = ResultVector.constant(nil, count: block.count)
        block.references.reserveCapacity(referenceCount)
        for (index, recipe) in filled {
            while block.references.count < index { block.references.append(nothing) }
            if index % 64 == 63 { try counters.checkCancelled() }
            block.references.append(vector(recipe, index, block) ?? nothing)
        }
        while block.references.count < referenceCount { block.references.append(nothing) }
        for recipe in dimensionRecipes {
            block.dimensions.append(vector(recipe, referenceCount, block) ?? nothing)
        }
    }

    /// The rows of a computed series count as they are.
    private mutating func readComputed(
        _ series: ComputedSeries, into block: inout Block
    ) throws(DatabaseError) -> Bool {
        if computed == nil {
            computed = try series.rows(counters)
            driving = []
        }
        guard let computed, nextRow < computed.count else {
            computed = Block()
            series.release()
            return false
        }
        let count = computed.count
        let end = min(nextRow + blockRows, count)
        let rows = (nextRow..<end).map { descending ? count - 1 - $0 : $0 }
        nextRow = end
        block = computed.filtered(rows)
        return true
    }

    /// What a recipe makes of the rows of a block; nil where none of them has a value.
    ///
    /// - Parameters:
    ///   - index: of the reference.
    ///   - block: with the references before this one.
    private func vector(_ recipe: Recipe, _ index: Int, _ block: Block) -> ResultVector? {
        let count = block.count
        switch (recipe, input.origin) {
        case (.evaluation(let evaluation), _):
            let vector = Evaluator(times: block.times)
                .evaluate(evaluation, block.references, count: count)
            let type = plan.references[index].type
            return type.map { vector.cast(to: $0) } ?? vector
        case (.dimension(let function), _):
            return function.values(
                times: block.times, references: block.references, zone: plan.zone)
        case (.column(let index, let type), _):
            let column = rows.columns[index]
            // Where no row has a value storage leaves the vectors out.
            guard !column.isEmpty else { return nil }
            let vector = ResultVector(
                type: column.type, bits: column.bits, isPresent: column.isPresent,
                strings: column.strings)
            return type.map { vector.cast(to: $0) } ?? vector
        case (.output(let index, let type), .material(let series)):
            let vector = descending ? series.columns[index].reversed : series.columns[index]
            return type.map { vector.cast(to: $0) } ?? vector
        case (.output(let index, let type), .derived(let series)):
            let vector = series.plan.evaluatedColumn(index, innerBlock.references, count: count)
            return type.map { vector.cast(to: $0) } ?? vector
        case (.constant(let value?), _): return .constant(value, count: count)
        default: return nil
        }
    }

    /// Whether its rows are those of an experiment.
    private var isStored: Bool {
        if case .stored = input.origin { true } else { false }
    }

    private func filter(_ block: inout Block) {
        var mask: [Bool]?
        if let condition = input.condition {
            let evaluator = Evaluator(
                integersDivideToFloat: false, missing: isStored ? .isNothing : .isFalse)
            mask = evaluator.mask(condition, block.references, count: block.count)
        }
        if !driving.isEmpty {
            var isThere = [Bool](repeating: false, count: block.count)
            for index in driving {
                // Nothing has no type.
                guard block.references[index].type != nil else { continue }
                let presence = block.references[index].isPresent
                for row in presence.indices where presence[row] { isThere[row] = true }
            }
            if let accepted = mask {
                for row in accepted.indices where !accepted[row] { isThere[row] = false }
            }
            mask = isThere
        }
        guard let mask, mask.contains(false) else { return }
        block = block.filtered(mask.indices.filter { mask[$0] })
    }
}

extension Binding {
    /// Whether a row is there because it has a value of it.
    fileprivate var makesRows: Bool {
        switch self {
        case .column(_, isTag: false), .computed: true
        default: false
        }
    }
}
