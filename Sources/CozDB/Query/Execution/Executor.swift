// The executor: finds and groups the series of a plan, then reads and emits group after group. If
// all rows of a series share their group, grouping works on whole series. Only groups by
// attributes, fields or computed values are determined row by row.

/// The dimensions of a source that are tags, by the tag's name.
private struct DimensionsByTag {
    let plan: SelectPlan
    let source: Int
    private(set) var places: [Name: [Int]] = [:]

    init(_ plan: SelectPlan, source: Int) {
        self.plan = plan
        self.source = source
        for (index, binding) in plan.sources[source].dimensions.enumerated() {
            if case .tag(let name) = binding { places[Name(name), default: []].append(index) }
        }
    }
}

/// The series of one group, in the order that breaks ties of their points.
struct InputGroup {
    var key: GroupKey
    var inputs: [InputSeries]
}

final class Executor {
    let options: QueryOptions
    let context: ExecutionContext
    /// The approximate memory per series in a statement's lists, without its key.
    private static let seriesSizeBytes = 400
    /// The memory that is reserved at once.
    private static let seriesReservedBytes = 1 << 16
    /// The approximate memory per series that a subquery or a series function adds.
    private static let layerSizeBytes = 150
    let seriesShare: MemoryReservation
    private var knownAssignments: CallAssignments?
    /// The number of dimensions up to which each is looked up in the tags of a series. From there
    /// on, the tags are looked up among the dimensions: a series may have few of them.
    private static let searchedDimensionCountMax = 16
    private var knownDimensions: DimensionsByTag?

    /// - Parameter assignments: of the plan to run, if already computed.
    init(options: QueryOptions, context: ExecutionContext, assignments: CallAssignments? = nil) {
        knownAssignments = assignments
        self.options = options
        self.context = context
        seriesShare = MemoryReservation(context.memory)
    }

    /// Runs a plan and writes all rows of its result.
    func run(_ plan: SelectPlan, into output: any SeriesOutput) throws(DatabaseError) {
        let execution = try start(plan, into: output)
        while try execution.step() {}
    }

    /// Finds the series of a plan, and runs its subqueries that must be complete before it starts.
    func start(
        _ plan: SelectPlan, into output: any SeriesOutput
    ) throws(DatabaseError) -> SelectExecution {
        guard !plan.range.isEmpty else {
            return SelectExecution { () throws(DatabaseError) in nil }
        }
        try seriesShare.grow(plan.bindingCount * MemoryLayout<Binding>.stride)
        let inputs = try self.inputs(plan)
        if plan.isGroupedByRow {
            return SelectExecution(
                plan.isRaw
                    ? try rawGroupsByRow(plan, inputs, output)
                    : try aggregateGroupsByRow(plan, inputs, output))
        }
        let groups = try self.groups(plan, inputs)
        guard plan.isRaw else {
            return SelectExecution(aggregateGroups(plan, groups, output))
        }
        if plan.hasSeriesFunctions { return SelectExecution(seriesGroups(plan, groups, output)) }
        var next = 0
        return SelectExecution { () throws(DatabaseError) in
            guard next < groups.count else { return nil }
            defer { next += 1 }
            try self.context.checkCancelled()
            return try self.rawRows(plan, groups[next], output)
        }
    }

    static func differsByRow(_ binding: Binding) -> Bool {
        switch binding {
        case .column, .output, .computed: true
        case .tag, .null, .missing: false
        }
    }

    // MARK: Series

    /// Returns every series that may have result rows, with tags substituted into its condition.
    func inputs(_ plan: SelectPlan) throws(DatabaseError) -> [InputSeries] {
        var inputs: [InputSeries] = []
        for index in plan.sources.indices where hasRequestedField(plan, index) {
            let source = plan.sources[index]
            switch source.origin {
            case .experiment: inputs += try storedInputs(plan, index)
            case .subquery(let inner) where isStream(inner, in: plan):
                let shown = ShownColumns(plan, source, count: inner.references.count) { column in
                    guard case .column(let reference) = inner.columns[column].evaluation else {
                        return nil
                    }
                    return reference
                }
                for series in try derived(inner) {
                    var input = InputSeries(origin: .derived(series), source: index)
                    if let present = series.input.present {
                        (input.present, input.presentDimensions) = shown.places(of: present)
                    }
                    try seriesShare.grow(input.presentSizeBytes)
                    if let settled = settled(input, source.condition) { inputs.append(settled) }
                }
            case .subquery(let inner):
                let materialized = MaterializedOutput(inner, options, context)
                try run(inner, into: materialized)
                let isWide = plan.bindingCount >= ExperimentView.wideColumnCountMin
                let shown =
                    isWide ? ShownColumns(plan, source, count: inner.columns.count) { $0 } : nil
                for series in materialized.finished() {
                    var input = InputSeries(origin: .materialized(series), source: index)
                    if let shown {
                        (input.present, input.presentDimensions) =
                            shown.places(of: series.columns.references)
                        try seriesShare.grow(input.presentSizeBytes)
                    }
                    if let settled = settled(input, source.condition) { inputs.append(settled) }
                }
            }
        }
        guard plan.hasSeriesFunctions else { return inputs }
        try seriesShare.grow(inputs.count * Executor.layerSizeBytes)
        return inputs.map { input in
            let series = ComputedSeries(plan: plan, input: input)
            var computed = InputSeries(origin: .computed(series), source: input.source)
            computed.present = input.present
            computed.presentDimensions = input.presentDimensions
            return computed
        }
    }

    /// Returns the series of one source if it is an experiment; otherwise none.
    func storedInputs(_ plan: SelectPlan, _ index: Int) throws(DatabaseError) -> [InputSeries] {
        guard case .experiment(let view) = plan.sources[index].origin,
            hasRequestedField(plan, index)
        else {
            return []
        }
        let condition = plan.sources[index].condition
        // A condition that reads no tags is the same for every series.
        let common = condition.flatMap { $0.readsTags ? nil : $0.specialized { _ in nil } }
        if let common, common.neverMatches { return [] }
        var accepts: ((SeriesKey) -> Bool)?
        if let condition, common == nil {
            accepts = condition.acceptsKey
        }
        let prefix = condition?.keyPrefix(view.schema.identity) ?? []
        var inputs: [InputSeries] = []
        // SLIMIT counts series by their first and last row, whatever sources these are in.
        let range = extended(plan)
        let hasLimit = plan.limits.seriesLimit != nil || plan.limits.seriesOffset != nil
        var sizeBytes = 0
        try view.forEachSeries(
            in: hasLimit ? .all : range, prefix: prefix, where: accepts
        ) { series throws(DatabaseError) in
            guard range.overlaps(first: series.firstTime, last: series.lastTime) else { return }
            var input = InputSeries(origin: .stored(view, series), source: index)
            if let common {
                input.condition = common.alwaysMatches ? nil : common
                inputs.append(input)
            } else if let settled = settled(input, condition) {
                inputs.append(settled)
            }
            sizeBytes += Executor.seriesSizeBytes + series.key.bytes.count
            if sizeBytes >= Executor.seriesReservedBytes {
                try seriesShare.grow(sizeBytes)
                sizeBytes = 0
            }
        }
        try findColumns(of: &inputs, plan, plan.sources[index], view)
        return inputs
    }

    /// Finds the columns that each series has, if there are very many columns. Most series then
    /// have few of them, so this avoids testing every pair.
    private func findColumns(
        of inputs: inout [InputSeries], _ plan: SelectPlan, _ source: PlannedSource,
        _ view: ExperimentView
    ) throws(DatabaseError) {
        guard inputs.count > 1 else { return }
        let bindings = source.bindings + source.dimensions
        guard bindings.count >= ExperimentView.wideColumnCountMin else { return }
        let series = inputs.compactMap { input in
            if case .stored(_, let series) = input.origin { series } else { nil }
        }
        var tags: [Name: [Int]] = [:]
        var others: [Int] = []
        let columns = bindings.indices.map { index -> Column? in
            switch bindings[index] {
            case .column(let id, _): return view.schema.column(id)
            case .tag(let name): tags[Name(name), default: []].append(index)
            case .null, .missing: break
            case .output, .computed: others.append(index)
            }
            return nil
        }
        let found = try view.positions(of: columns, in: series)
        for (index, positions) in found.enumerated() {
            var places = positions + others
            if !tags.isEmpty {
                places += Set(inputs[index].tags.flatMap { tags[Name($0.name)] ?? [] })
            }
            places.sort()
            (inputs[index].present, inputs[index].presentDimensions) = plan.split(places)
            try seriesShare.grow(inputs[index].presentSizeBytes)
        }
    }

    /// Returns whether a subquery's rows can be read series by series without materializing them:
    /// no limit counts them, and consumers that need time order merge them.
    private func isStream(_ inner: SelectPlan, in plan: SelectPlan) -> Bool {
        inner.isRaw && !inner.isGroupedByRow && inner.limits == Limits()
            && plan.limits.seriesLimit == nil && plan.limits.seriesOffset == nil
    }

    private func derived(_ inner: SelectPlan) throws(DatabaseError) -> [DerivedSeries] {
        guard !inner.range.isEmpty else { return [] }
        var all: [DerivedSeries] = []
        for group in try groups(inner, try inputs(inner)) {
            let tags = group.key.presentTags(inner)
            try seriesShare.grow(group.inputs.count * Executor.layerSizeBytes)
            for input in group.inputs {
                all.append(DerivedSeries(plan: inner, input: input, tags: tags))
            }
        }
        return all
    }

    /// Returns the input with its condition specialized; nil if WHERE accepts no row of the series.
    private func settled(_ input: InputSeries, _ condition: Evaluation?) -> InputSeries? {
        guard let condition else { return input }
        let specialized = condition.specialized { input.tag($0) }
        if specialized.neverMatches { return nil }
        var input = input
        input.condition = specialized.alwaysMatches ? nil : specialized
        return input
    }

    /// Returns whether a source has rows for the statement: those with a field that it reads. Tags
    /// alone produce no rows. A subquery has its rows even if it does not have the column.
    func hasRequestedField(_ plan: SelectPlan, _ index: Int) -> Bool {
        let source = plan.sources[index]
        if plan.isRaw, source.isSubquery {
            return plan.auxiliary.contains { plan.references[$0].type != nil }
        }
        let wanted = plan.isRaw ? plan.auxiliary : plan.calls.map(\.argument)
        return wanted.contains { plan.isField($0, source) }
    }

    /// Returns the range extended by what transformations and series functions read.
    func extended(_ plan: SelectPlan) -> TimeRange {
        let seen = plan.seriesFunctions.reduce(plan.range) { $1.function.extended($0) }
        return plan.calls.reduce(seen) { range, call in
            let own = plan.range(of: call)
            return TimeRange(
                lower: min(range.lower, own.lower), upper: max(range.upper, own.upper))
        }
    }

    /// Returns the call assignments of a plan, computed once.
    func assignments(of plan: SelectPlan) -> CallAssignments {
        if let knownAssignments, knownAssignments.plan === plan { return knownAssignments }
        let assignments = CallAssignments(plan)
        knownAssignments = assignments
        return assignments
    }

    // MARK: Groups

    /// Returns the groups of a plan in result order, after SLIMIT and SOFFSET.
    func groups(
        _ plan: SelectPlan, _ inputs: [InputSeries]
    ) throws(DatabaseError) -> [InputGroup] {
        limited(try grouped(plan, inputs), plan, \.key.name)
    }

    private func grouped(
        _ plan: SelectPlan, _ inputs: [InputSeries]
    ) throws(DatabaseError) -> [InputGroup] {
        var places: [GroupKey: Int] = [:]
        var groups: [InputGroup] = []
        // With few series, nearly every series is a group.
        groups.reserveCapacity(min(inputs.count, 256))
        // Series are sorted by key, and groups usually are too. Otherwise a map is needed.
        var isSorted = true
        for (number, input) in inputs.enumerated() {
            if number % 256 == 0 { try context.checkCancelled() }
            let key = key(plan, input)
            // `groups.last` would copy the group, and the append below its whole array.
            if let last = groups.indices.last {
                if groups[last].key == key {
                    groups[last].inputs.append(input)
                    continue
                }
                if isSorted, key < groups[last].key {
                    isSorted = false
                    for (place, group) in groups.enumerated() { places[group.key] = place }
                }
            }
            if !isSorted {
                if let place = places[key] {
                    groups[place].inputs.append(input)
                    continue
                }
                places[key] = groups.count
            }
            guard groups.count < options.groupCountMax else { throw tooManyGroups() }
            groups.append(InputGroup(key: key, inputs: [input]))
        }
        if isSorted { return groups }
        let sorted = groups.sortedUnlessCancelled { $0.key < $1.key }
        try context.checkCancelled()
        return sorted
    }

    func tooManyGroups() -> DatabaseError {
        DatabaseError(
            .limitExceeded,
            "GROUP BY yields more than \(options.groupCountMax) groups (groupCountMax); group by "
                + "fewer or coarser dimensions, or raise the limit")
    }

    func key(_ plan: SelectPlan, _ input: InputSeries) -> GroupKey {
        var key = GroupKey(name: Name(input.name))
        let dimensions = plan.sources[input.source].dimensions
        guard dimensions.count > Executor.searchedDimensionCountMax else {
            for (index, binding) in dimensions.enumerated() {
                if case .tag(let name) = binding { key.set(index, input.tag(name)) }
            }
            return key
        }
        if knownDimensions?.plan !== plan || knownDimensions?.source != input.source {
            knownDimensions = DimensionsByTag(plan, source: input.source)
        }
        for tag in input.tags {
            for index in knownDimensions?.places[Name(tag.name)] ?? [] { key.set(index, tag.value) }
        }
        return key
    }

    /// Returns the groups in result order after SLIMIT and SOFFSET. These count in ascending key
    /// order regardless of the result order, separately for each experiment.
    ///
    /// - Parameter groups: the groups in ascending key order.
    func limited<Group>(
        _ groups: [Group], _ plan: SelectPlan, _ name: (Group) -> Name
    ) -> [Group] {
        var groups = groups
        let offset = plan.limits.seriesOffset ?? 0
        let limit = plan.limits.seriesLimit ?? 0
        if offset > 0 || limit > 0 {
            var counts: [Name: Int] = [:]
            groups.removeAll { group in
                let index = counts[name(group), default: 0]
                counts[name(group)] = index + 1
                return index < offset || (limit > 0 && index - offset >= limit)
            }
        }
        if !plan.isAscending { groups.reverse() }
        return groups
    }
}

extension Evaluation {
    /// Returns a prefix of the keys of all series that can satisfy the condition: the first tag of
    /// the keys, if the condition fixes its value; otherwise an empty prefix.
    fileprivate func keyPrefix(_ identity: Identity) -> [UInt8] {
        guard let first = identity.tagNames.map({ Name($0) }).min()?.text else { return [] }
        return requiredTags.first { $0.value(of: first) != nil }?.bytes ?? []
    }
}

extension SelectPlan {
    /// Whether rows of one series may belong to different groups.
    var isGroupedByRow: Bool {
        sources.contains { source in
            source.dimensions.contains { Executor.differsByRow($0) }
        }
    }

    /// Returns the result columns that may have values in some rows.
    ///
    /// - Parameter inputs: the references that are read outside calls, and the calls.
    func evaluatedColumns(_ inputs: RowColumns, count: Int) -> RowColumns {
        var result = RowColumns(count: count)
        // Most columns of a wide series are empty.
        result.reserve(min(columns.count, computedColumns.count + inputs.columnCount))
        func add(_ number: Int, at place: Int) -> Bool {
            // The caller checks for cancellation before using the result.
            if place % 16 == 15, CancellationCheck.isRaised { return false }
            if case .column(let index) = columns[number].evaluation, inputs.column(index) == nil {
                return true
            }
            result[number] = evaluatedColumn(number, inputs, count: count)
            return true
        }
        if inputs.columnCount < columns.count {
            var numbers = computedColumns
            for reference in inputs.references {
                numbers.append(contentsOf: columnsByReference[reference] ?? [])
            }
            for call in inputs.callNumbers {
                numbers.append(contentsOf: columnsByCall[call] ?? [])
            }
            numbers.sort()
            for (place, number) in numbers.enumerated() {
                if !add(number, at: place) { break }
            }
        } else {
            for number in columns.indices { if !add(number, at: number) { break } }
        }
        return result
    }

    func evaluatedColumn(_ number: Int, _ inputs: RowColumns, count: Int) -> ResultVector {
        let column = columns[number]
        var vector = Evaluator().evaluate(column.evaluation, inputs, count: count)
        if case .column(let index) = column.evaluation,
            references[index].computation == nil
        {
            return vector
        }
        if !showsStoredNaN(column.evaluation) { vector.dropNaN() }
        // If an input column has no values, the expression may evaluate to another type.
        return column.type.map { vector.cast(to: $0) } ?? vector
    }
}

extension SelectPlan {
    /// Whether a NaN that an expression yields is a stored one, which is shown. A computed one is
    /// null.
    private func showsStoredNaN(_ evaluation: Evaluation) -> Bool {
        switch evaluation {
        case .column(let index):
            if case .series(let function)? = references[index].computation {
                return function.selectsValues
            }
            return true
        case .call(let index):
            let call = calls[index]
            return call.transformations.isEmpty && call.aggregate?.selectsValues != false
        case .coalesce: return true
        default: return false
        }
    }
}

/// Which references and dimensions of a statement show values of its subquery unchanged. The values
/// are numbered: the references of the subquery if its series are derived, else its columns.
private struct ShownColumns {
    private let plan: SelectPlan
    /// The references that show each value, then the dimensions.
    private var shown: [[Int]]
    /// All other references and dimensions.
    private var others: [Int] = []

    /// - Parameters:
    ///   - count: the number of values.
    ///   - place: the number of a column's value; nil if the column is computed.
    init(_ plan: SelectPlan, _ source: PlannedSource, count: Int, _ place: (Int) -> Int?) {
        self.plan = plan
        shown = Array(repeating: [], count: count)
        for (index, binding) in (source.bindings + source.dimensions).enumerated() {
            if case .output(let column) = binding, let place = place(column) {
                shown[place].append(index)
            } else {
                others.append(index)
            }
        }
    }

    /// Returns the references and dimensions that may not be null if these values may not be;
    /// ascending.
    func places(of present: [Int]) -> (references: [Int], dimensions: [Int]) {
        plan.split((present.flatMap { shown[$0] } + others).sorted())
    }
}

extension SelectPlan {
    /// Separates places in the list of all references and dimensions, ascending.
    fileprivate func split(_ places: [Int]) -> (references: [Int], dimensions: [Int]) {
        let first = places.partitioningIndex { $0 >= references.count }
        return (Array(places[..<first]), places[first...].map { $0 - references.count })
    }

    /// Returns the dimensions whose value may differ from row to row of a series, ascending.
    func changingDimensions(of input: InputSeries) -> [Int] {
        let dimensions = sources[input.source].dimensions
        return (input.presentDimensions ?? Array(dimensions.indices)).filter {
            Executor.differsByRow(dimensions[$0])
        }
    }
}

extension InputSeries {
    /// The approximate memory of the lists of present columns.
    fileprivate var presentSizeBytes: Int {
        8 * ((present?.count ?? 0) + (presentDimensions?.count ?? 0))
    }
}
