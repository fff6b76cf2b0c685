// The groups of an aggregating SELECT on all cores: series are dealt out to units of work, which
// run side by side; their results are joined and written in the order of the groups.

internal import Glibc
internal import Synchronization

extension Executor {
    func runAggregates(
        _ plan: SelectPlan, _ groups: [InputGroup], into output: any SeriesOutput
    ) throws(DatabaseError) {
        let weights = plan.sources.map { weight($0, plan) }
        var current = AggregationRound(plan, groups[...], weights, self)
        var next: AggregationRound?
        do throws(DatabaseError) {
            while let round = current {
                try counters.checkCancelled()
                round.wait()
                // What comes next is computed while these groups are written.
                next = AggregationRound(
                    plan, groups[round.groups.endIndex...], weights, self)
                next?.start()
                try write(plan, round, into: output)
                (current, next) = (next, nil)
            }
        } catch {
            current?.stop()
            next?.stop()
            throw error
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
        for counted in round.counters { counters.add(counted) }
        for unit in units {
            if let error = unit.error { throw error }
        }
        var next = 0
        for number in round.groups.indices {
            let first = units[next]
            next += 1
            while next < units.count, units[next].group == number {
                try first.add(units[next])
                next += 1
            }
            try first.finish(self)
            try write(plan, round.groups[number].key, first.lists, into: output)
        }
    }
}

/// Groups that are worked on side by side.
///
/// Unchecked: units are worked on by one thread each, and nobody looks at them before `wait`.
private final class AggregationRound: @unchecked Sendable {
    /// Values from which on a second thread is worth waking.
    private static let parallelValueCountMin = 10_000.0
    /// Units of a round: with those of the next, a bound of what is in memory.
    private static let unitCountMax = 32
    /// Units that one thread works on before it looks for more: neighbours share blocks.
    private static let shareUnitCountMax = 4
    /// Shares that there are at least, where there are units enough: cores end at the same time.
    private static let shareCountMin = 12

    let groups: ArraySlice<InputGroup>
    private(set) var units: [AggregationUnit] = []
    /// Of each share of the units, what was read.
    private(set) var counters: [CounterBox] = []
    private let executor: Executor
    private let places: CallPlaces
    private let shareUnitCount: Int
    private let isParallel: Bool
    private var isStarted = false
    /// Shares that are left to do; whoever does the last says so.
    private let left: Atomic<Int>
    private let isDone: Monitor<Bool>
    private let nextShare = Atomic(0)

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
            units += AggregationUnit.units(plan, groups[end], number: end)
            end += 1
        }
        self.groups = groups[..<end]
        self.executor = executor
        let work = units.reduce(0) { $0 + $1.valueCount(weights) }
        isParallel = units.count > 1 && work >= AggregationRound.parallelValueCountMin
        let shared = min(
            units.count / AggregationRound.shareCountMin, AggregationRound.shareUnitCountMax)
        shareUnitCount = isParallel ? max(1, shared) : units.count
        let shareCount = (units.count + shareUnitCount - 1) / shareUnitCount
        counters = (0..<shareCount).map { _ in executor.counters.emptied }
        left = Atomic(shareCount)
        isDone = Monitor(shareCount == 0)
        places = executor.places(of: plan)
    }

    /// Begins to work, where there is enough to do for other threads.
    func start() {
        if isStarted { return }
        isStarted = true
        if isParallel { Cores.offer(counters.count - 1) { self.runShares() } }
    }

    /// Returns when nobody works on it any more; what nobody has begun is not done.
    func stop() {
        guard isStarted else { return }
        while takeShare() != nil { finishShare() }
        waitUntilDone()
    }

    /// Returns when all is done, some of it by the caller: no thread of others has to be there.
    func wait() {
        start()
        runShares()
        waitUntilDone()
    }

    private func runShares() {
        while let share = takeShare() {
            run(share: share)
            finishShare()
        }
    }

    private func finishShare() {
        let left = left.subtract(1, ordering: .acquiringAndReleasing).newValue
        if left == 0 { isDone.withLock { $0 = true } }
    }

    private func waitUntilDone() { isDone.withLock(when: { $0 }) { _ in } }

    private func takeShare() -> Int? {
        let share = nextShare.add(1, ordering: .relaxed).oldValue
        return share < counters.count ? share : nil
    }

    private func run(share: Int) {
        let own = Executor(
            options: executor.options, counters: counters[share], places: places)
        let first = share * shareUnitCount
        StopSign.$current.withValue(own.counters.stop) {
            var spare: GroupAggregation?
            for unit in units[first..<min(first + shareUnitCount, units.count)] {
                unit.run(own, &spare)
            }
        }
    }
}

/// Some series of one group. How series are dealt out depends on nothing but their number, so that
/// sums of floats are the same whatever the machine.
///
/// Unchecked: one thread runs a unit while no other looks at it, and what units share (the plan,
/// the snapshot, series) nobody changes; there is nothing a lock would guard.
private final class AggregationUnit: @unchecked Sendable {
    private static let inputCountMin = 8
    /// Units of one group: with more series each has more of them.
    private static let countMax = 256
    /// Calls of all units of a group together, each of which takes about a kilobyte.
    private static let callCountMax = 1 << 16
    private static let materialRowCountMin = 4096

    let group: Int
    /// Where other units add to it.
    private var aggregation: GroupAggregation?
    /// The points: made by `run` where no other unit adds to them, else by `finish`.
    private(set) var lists: [PointList] = []
    private(set) var error: DatabaseError?
    private let isAlone: Bool
    private let inputs: ArraySlice<InputSeries>
    private let plan: SelectPlan

    private init(
        _ plan: SelectPlan, _ inputs: ArraySlice<InputSeries>, group: Int, isAlone: Bool
    ) {
        self.plan = plan
        self.inputs = inputs
        self.group = group
        self.isAlone = isAlone
    }

    static func units(
        _ plan: SelectPlan, _ group: InputGroup, number: Int
    ) -> [AggregationUnit] {
        let inputs = group.inputs
        let countMax = max(1, min(countMax, callCountMax / max(1, plan.calls.count)))
        var size = max(inputCountMin, (inputs.count + countMax - 1) / countMax)
        // Rows that are there already are not worth a second thread where they are few.
        if case .material? = inputs.first?.origin,
            inputs.reduce(0, { $0 + $1.rowCount }) <= materialRowCountMin
        {
            size = inputs.count
        }
        return stride(from: 0, to: inputs.count, by: size).map { start in
            AggregationUnit(
                plan, inputs[start..<min(start + size, inputs.count)], group: number,
                isAlone: inputs.count <= size)
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

    /// Where all rows of the series lie, where buckets are met again by a second series, and
    /// numbers of buckets take no more room than rows do. One series alone comes to each bucket
    /// once.
    private var extent: TimeRange? {
        guard inputs.count > 1, let buckets = plan.buckets else { return nil }
        var (first, last) = (Int64.max, Int64.min)
        var rowCount = 0
        for input in inputs {
            first = min(first, input.nearestTime(.all, ascending: true))
            last = max(last, input.nearestTime(.all, ascending: false))
            rowCount += input.rowCount
        }
        let extent = TimeRange(lower: first, upper: last.addingSaturating(1))
            .intersection(plan.range)
        let bucketCount = (Double(extent.upper) - Double(extent.lower)) / Double(buckets.interval)
        return bucketCount < Double(2 * rowCount + 64) ? extent : nil
    }

    /// Takes over what another unit of the group gathered.
    func add(_ other: AggregationUnit) throws(DatabaseError) {
        if let gathered = other.aggregation { try aggregation?.add(gathered) }
        other.aggregation = nil
    }

    /// Makes the points of all units that were added.
    func finish(_ executor: Executor) throws(DatabaseError) {
        guard let gathered = aggregation else { return }
        aggregation = nil
        lists = try executor.lists(plan, gathered)
    }

    /// - Parameter spare: of a unit before, to be filled again; what this one has no use for.
    func run(_ executor: Executor, _ spare: inout GroupAggregation?) {
        let extent = extent
        var gathered: GroupAggregation
        if extent == nil, let known = spare {
            gathered = known
        } else {
            gathered = GroupAggregation(plan, executor, extent: extent)
        }
        spare = nil
        do throws(DatabaseError) {
            for input in inputs {
                try executor.counters.checkCancelled()
                try gathered.add(input)
            }
            if isAlone {
                lists = try executor.lists(plan, gathered)
                guard extent == nil else { return }
                gathered.removeAll()
                spare = gathered
            } else {
                aggregation = gathered
            }
        } catch {
            self.error = error
        }
    }
}
