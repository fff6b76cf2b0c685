// The groups of an aggregating SELECT on all cores: series are dealt out to units of work, which
// run side by side; their results are joined and written in the order of the groups.

internal import Dispatch

extension Executor {
    /// Values from which on a second thread is worth waking.
    private static let parallelValueCountMin = 20_000.0
    /// Units that are worked on before their groups are written: bounds what is in memory.
    private static let unitCountMax = 64

    func runAggregates(
        _ plan: SelectPlan, _ groups: [InputGroup], into output: any SeriesOutput
    ) throws(DatabaseError) {
        let weights = plan.sources.map { weight($0, plan) }
        var current = AggregationRound(plan, groups[...], weights, self)
        while let round = current {
            try counters.checkCancelled()
            round.wait()
            // What comes next is computed while these groups are written.
            let next = AggregationRound(
                plan, groups[round.groups.endIndex...], weights, self)
            next?.start()
            defer { next?.finish() }
            try write(plan, round, into: output)
            current = next
        }
    }

    /// About how many values are looked at for a row of a source.
    private func weight(_ source: PlannedSource, _ plan: SelectPlan) -> Double {
        guard case .experiment(let view) = source.origin else { return 1 }
        var wanted = Set(plan.calls.map(\.argument)).union(plan.auxiliary)
        wanted.formUnion(source.condition?.referencesRead ?? [])
        var weight = 0.0
        for reference in plan.closure(wanted) {
            guard case .column(let column, _) = source.bindings[reference] else { continue }
            weight += view.density(column)
        }
        let areStatistics =
            plan.buckets == nil && source.condition == nil && plan.auxiliary.isEmpty
            && plan.calls.allSatisfy { $0.aggregate?.isSimple == true }
        return areStatistics ? weight / Executor.valuesPerSummary : weight
    }

    /// Statistics answer for a block in the time of about so many values.
    private static let valuesPerSummary = 64.0

    private func write(
        _ plan: SelectPlan, _ round: AggregationRound, into output: any SeriesOutput
    ) throws(DatabaseError) {
        let units = round.units
        for unit in units {
            if let error = unit.error { throw error }
            counters.add(unit.counters)
        }
        var next = 0
        for number in round.groups.indices {
            let first = units[next]
            next += 1
            while next < units.count, units[next].group == number {
                try first.add(units[next])
                next += 1
            }
            try first.finish()
            try write(plan, round.groups[number].key, first.lists, into: output)
        }
    }
}

/// Groups that are worked on side by side.
///
/// Unchecked: units are worked on by one thread each, and nobody looks at them before `wait`.
private final class AggregationRound: @unchecked Sendable {
    /// Values from which on a second thread is worth waking.
    private static let parallelValueCountMin = 20_000.0
    /// Units of a round: with those of the next, a bound of what is in memory.
    private static let unitCountMax = 32
    /// Units that one thread works on before it looks for more: neighbours share blocks.
    private static let shareUnitCount = 4

    let groups: ArraySlice<InputGroup>
    private(set) var units: [AggregationUnit] = []
    private let isParallel: Bool
    private var isDone = false
    private let work = DispatchGroup()

    /// The first of the groups; nil where there are none.
    ///
    /// - Parameter weights: for each source about how many values are looked at for a row.
    init?(
        _ plan: SelectPlan, _ groups: ArraySlice<InputGroup>, _ weights: [Double],
        _ executor: Executor
    ) {
        guard !groups.isEmpty else { return nil }
        var end = groups.startIndex
        while end < groups.endIndex, units.count < AggregationRound.unitCountMax {
            units += AggregationUnit.units(plan, groups[end], number: end, executor)
            end += 1
        }
        self.groups = groups[..<end]
        let work = units.reduce(0) { $0 + $1.valueCount(weights) }
        isParallel = units.count > 1 && work >= AggregationRound.parallelValueCountMin
    }

    /// Begins to work, where there is enough to do for other threads.
    func start() {
        guard isParallel else { return }
        DispatchQueue.global(qos: .userInitiated).async(group: work) { self.runSideBySide() }
        isDone = true
    }

    /// Returns when nobody works on it any more.
    func finish() { work.wait() }

    /// Returns when all is done.
    func wait() {
        if isDone { return work.wait() }
        isDone = true
        if isParallel { return runSideBySide() }
        run(units.indices)
    }

    private func runSideBySide() {
        let size = AggregationRound.shareUnitCount
        let shareCount = (units.count + size - 1) / size
        DispatchQueue.concurrentPerform(iterations: shareCount) { share in
            run(share * size..<min(share * size + size, units.count))
        }
    }

    private func run(_ numbers: Range<Int>) {
        let columns = ColumnPool()
        for number in numbers { units[number].run(columns) }
    }
}

/// Some series of one group. How series are dealt out depends on nothing but their number, so that
/// sums of floats are the same whatever the machine.
///
/// Unchecked: one thread runs a unit while no other looks at it, and what units share (the plan,
/// the snapshot, series) nobody changes; there is nothing a lock would guard.
private final class AggregationUnit: @unchecked Sendable {
    private static let inputCountMax = 16

    let group: Int
    let counters: CounterBox
    private(set) var aggregation: GroupAggregation
    /// The points: made by `run` where no other unit adds to them, else by `finish`.
    private(set) var lists: [PointList] = []
    private(set) var error: DatabaseError?
    private let isAlone: Bool
    private let inputs: ArraySlice<InputSeries>
    private let plan: SelectPlan
    private let executor: Executor

    private init(
        _ plan: SelectPlan, _ inputs: ArraySlice<InputSeries>, group: Int, isAlone: Bool,
        _ parent: Executor
    ) {
        self.plan = plan
        self.inputs = inputs
        self.group = group
        self.isAlone = isAlone
        counters = parent.counters.emptied
        executor = Executor(options: parent.options, counters: counters)
        aggregation = GroupAggregation(plan, executor, extent: AggregationUnit.extent(inputs))
    }

    static func units(
        _ plan: SelectPlan, _ group: InputGroup, number: Int, _ parent: Executor
    ) -> [AggregationUnit] {
        stride(from: 0, to: group.inputs.count, by: inputCountMax).map { start in
            let end = min(start + inputCountMax, group.inputs.count)
            return AggregationUnit(
                plan, group.inputs[start..<end], group: number,
                isAlone: group.inputs.count <= inputCountMax, parent)
        }
    }

    /// About how many values are looked at.
    func valueCount(_ weights: [Double]) -> Double {
        inputs.reduce(0) { count, input in
            let first = Double(input.nearestTime(.all, ascending: true))
            let last = Double(input.nearestTime(.all, ascending: false))
            let seen = min(last, Double(plan.range.upper)) - max(first, Double(plan.range.lower))
            let part = last > first ? max(0, seen) / (last - first) : 1
            return count + Double(input.rowCount) * weights[input.source] * min(part, 1)
        }
    }

    /// Where all rows of some series lie.
    private static func extent(_ inputs: ArraySlice<InputSeries>) -> TimeRange {
        var (first, last) = (Int64.max, Int64.min)
        for input in inputs {
            first = min(first, input.nearestTime(.all, ascending: true))
            last = max(last, input.nearestTime(.all, ascending: false))
        }
        return TimeRange(lower: first, upper: last.addingSaturating(1))
    }

    func add(_ other: AggregationUnit) throws(DatabaseError) {
        try aggregation.add(other.aggregation)
    }

    /// Makes the points of all units that were added.
    func finish() throws(DatabaseError) {
        if !isAlone { lists = try executor.lists(plan, aggregation) }
    }

    func run(_ columns: ColumnPool) {
        counters.columns = columns
        do throws(DatabaseError) {
            for input in inputs {
                try counters.checkCancelled()
                try aggregation.add(input)
            }
            if isAlone { lists = try executor.lists(plan, aggregation) }
        } catch {
            self.error = error
        }
    }
}
