// Computes the groups of an aggregating SELECT on all cores. Series are divided into units that run
// in parallel; their results are merged and written in group order.

internal import CozPlatform
internal import Synchronization

extension Executor {
    func aggregateGroups(
        _ plan: SelectPlan, _ groups: [InputGroup], _ output: any SeriesOutput
    ) -> SelectExecution.Groups {
        let weights = plan.sources.map { weight($0, plan) }
        let rounds = AggregationRounds(plan, groups, weights, self, output)
        return { () throws(DatabaseError) in try rounds.next() }
    }

    /// Returns the approximate number of values to read per row of a source.
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

    /// The number of values that take as long as answering a block from its statistics.
    private static let valuesPerSummary = 64.0
}

/// The rounds of a statement. While the groups of one are written, the next is computed.
private final class AggregationRounds {
    private let plan: SelectPlan
    private let groups: [InputGroup]
    private let weights: [Double]
    private let executor: Executor
    private let output: any SeriesOutput
    private var current: AggregationRound?
    private var following: AggregationRound?
    /// Whether the current round is computed.
    private var isComputed = false
    /// The group to be written next, and its first unit in the current round.
    private var group = 0
    private var unit = 0
    /// The unit whose points are being written.
    private var written: AggregationUnit?

    init(
        _ plan: SelectPlan, _ groups: [InputGroup], _ weights: [Double], _ executor: Executor,
        _ output: any SeriesOutput
    ) {
        self.plan = plan
        self.groups = groups
        self.weights = weights
        self.executor = executor
        self.output = output
        current = AggregationRound(plan, groups[...], weights, executor)
    }

    deinit {
        current?.stop()
        following?.stop()
    }

    /// Writes the rows of the next group with points, or returns its steps; nil after the last.
    func next() throws(DatabaseError) -> GroupRows? {
        written?.release()
        while let round = current {
            if !isComputed { try compute(round) }
            while group < round.groups.endIndex {
                let first = try takeUnit(round)
                guard !first.assignments.calls.isEmpty else { continue }
                written = first
                return try executor.rows(
                    plan, groups[group - 1].key, first.assignments.calls, first.lists, output)
            }
            (current, following) = (following, nil)
            (isComputed, unit) = (false, 0)
        }
        return nil
    }

    private func compute(_ round: AggregationRound) throws(DatabaseError) {
        try executor.context.checkCancelled()
        round.wait()
        following = AggregationRound(
            plan, groups[round.groups.endIndex...], weights, executor)
        following?.start()
        for counted in round.contexts { executor.context.add(counted) }
        for unit in round.units {
            if let error = unit.error { throw error }
        }
        isComputed = true
    }

    /// Merges the units of the next group. Returns the one that has its points.
    private func takeUnit(_ round: AggregationRound) throws(DatabaseError) -> AggregationUnit {
        let first = round.units[unit]
        unit += 1
        while unit < round.units.count, round.units[unit].group == group {
            try first.add(round.units[unit])
            unit += 1
        }
        group += 1
        try first.finish(executor)
        return first
    }
}

/// A round of groups that are computed in parallel.
///
/// Unchecked: each unit is used by one thread, and the results are read only after `wait`.
private final class AggregationRound: @unchecked Sendable {
    /// The number of values from which a second thread pays off.
    private static let parallelValueCountMin = 10_000.0
    /// The units of a round. Together with the next round, this bounds memory.
    private static let unitCountMax = 32
    /// The maximum number of consecutive units that a thread takes at once; neighbors share blocks.
    private static let taskUnitCountMax = 4
    /// The minimum number of tasks, so that cores finish at about the same time.
    private static let taskCountMin = 12

    let groups: ArraySlice<InputGroup>
    private(set) var units: [AggregationUnit] = []
    /// The context of each task.
    private(set) var contexts: [ExecutionContext] = []
    private let executor: Executor
    private let assignments: CallAssignments
    private let taskUnitCount: Int
    private let isParallel: Bool
    private var isStarted = false
    /// The number of unfinished tasks. The thread that finishes the last one sets `isDone`.
    private let left: Atomic<Int>
    private let isDone: Monitor<Bool>
    private let nextTask = Atomic(0)

    /// Takes the first groups of the list; nil if it is empty.
    ///
    /// - Parameter weights: for each source, the approximate number of values to read per row.
    init?(
        _ plan: SelectPlan, _ groups: ArraySlice<InputGroup>, _ weights: [Double],
        _ executor: Executor
    ) {
        guard !groups.isEmpty else { return nil }
        assignments = executor.assignments(of: plan)
        var end = groups.startIndex
        while end < groups.endIndex, units.count < AggregationRound.unitCountMax {
            units += AggregationUnit.units(plan, groups[end], number: end, assignments)
            end += 1
        }
        self.groups = groups[..<end]
        self.executor = executor
        let work = units.reduce(0) { $0 + $1.valueCount(weights) }
        isParallel = units.count > 1 && work >= AggregationRound.parallelValueCountMin
        let shared = min(
            units.count / AggregationRound.taskCountMin, AggregationRound.taskUnitCountMax)
        taskUnitCount = isParallel ? max(1, shared) : units.count
        let taskCount = (units.count + taskUnitCount - 1) / taskUnitCount
        contexts = (0..<taskCount).map { _ in executor.context.forAnotherThread }
        left = Atomic(taskCount)
        isDone = Monitor(taskCount == 0)
    }

    /// Starts the work in the background if there is enough for other threads.
    func start() {
        if isStarted { return }
        isStarted = true
        if isParallel { Cores.offer(contexts.count - 1) { self.runTasks() } }
    }

    /// Skips the tasks that have not started. Does not wait for the others.
    func stop() {
        while takeTask() != nil { finishTask() }
    }

    /// Runs tasks and waits for the others. No other thread is required.
    func wait() {
        start()
        runTasks()
        waitUntilDone()
    }

    private func runTasks() {
        while let task = takeTask() {
            run(task)
            finishTask()
        }
    }

    private func finishTask() {
        let left = left.subtract(1, ordering: .acquiringAndReleasing).newValue
        if left == 0 { isDone.withLock { $0 = true } }
    }

    private func waitUntilDone() { isDone.withLock(when: { $0 }) { _ in } }

    private func takeTask() -> Int? {
        let task = nextTask.add(1, ordering: .relaxed).oldValue
        return task < contexts.count ? task : nil
    }

    private func run(_ task: Int) {
        let own = Executor(
            options: executor.options, context: contexts[task],
            assignments: assignments)
        let first = task * taskUnitCount
        CancellationCheck.$current.withValue(own.context.stop) {
            var spare: GroupAggregation?
            for unit in units[first..<min(first + taskUnitCount, units.count)] {
                unit.run(own, &spare)
            }
        }
    }
}

/// A unit of work: some series of one group. The division depends only on the statement and the
/// data, so float sums are identical on every machine.
///
/// Unchecked: only one thread at a time uses a unit, and the data that units share is immutable.
private final class AggregationUnit: @unchecked Sendable {
    private static let inputCountMin = 8
    /// The maximum number of units per group; larger groups have larger units.
    private static let countMax = 256
    /// The maximum number of calls in all units of a group; each takes about a kilobyte.
    private static let callCountMax = 1 << 16
    private static let materialRowCountMin = 4096

    let group: Int
    /// The number of filled points from which `finish` computes them, so that only one group at a
    /// time has them in memory.
    private static let filledCountMin = 16_384.0
    /// The aggregation, if `finish` computes the result.
    private var aggregation: GroupAggregation?
    /// The result points. `run` computes them for the only unit of a group, `finish` otherwise.
    private(set) var lists: [PointList] = []
    /// The memory of the points.
    private var share: MemoryReservation?
    private(set) var error: DatabaseError?
    private let isAlone: Bool
    private let inputs: ArraySlice<InputSeries>
    private let plan: SelectPlan
    /// The calls that the series of the group reach.
    let assignments: CallAssignments

    private init(
        _ plan: SelectPlan, _ assignments: CallAssignments, _ inputs: ArraySlice<InputSeries>,
        group: Int, isAlone: Bool
    ) {
        self.plan = plan
        self.assignments = assignments
        self.inputs = inputs
        self.group = group
        self.isAlone = isAlone
    }

    /// - Parameter all: the assignments of all calls.
    static func units(
        _ plan: SelectPlan, _ group: InputGroup, number: Int, _ all: CallAssignments
    ) -> [AggregationUnit] {
        let inputs = group.inputs
        let assignments = presentReferences(inputs, all).map { all.narrowed(to: $0) } ?? all
        let countMax = max(1, min(countMax, callCountMax / max(1, assignments.calls.count)))
        var size = max(inputCountMin, (inputs.count + countMax - 1) / countMax)
        // A few materialized rows are not worth a second thread.
        if case .materialized? = inputs.first?.origin,
            inputs.reduce(0, { $0 + $1.rowCount }) <= materialRowCountMin
        {
            size = inputs.count
        }
        return stride(from: 0, to: inputs.count, by: size).map { start in
            AggregationUnit(
                plan, assignments, inputs[start..<min(start + size, inputs.count)], group: number,
                isAlone: inputs.count <= size)
        }
    }

    /// Returns the references that may have a value in some series; nil if these may be all, or so
    /// many that assigning their calls would cost more than it saves.
    private static func presentReferences(
        _ inputs: [InputSeries], _ all: CallAssignments
    ) -> Set<Int>? {
        var references: Set<Int> = []
        for input in inputs {
            guard let present = input.present, 2 * present.count < all.arguments.count else {
                return nil
            }
            references.formUnion(present)
        }
        return references
    }

    /// Returns the approximate number of values to read.
    func valueCount(_ weights: [Double]) -> Double {
        inputs.reduce(0) { count, input in
            let first = Double(input.nearestTime(.all, ascending: true))
            let last = Double(input.nearestTime(.all, ascending: false))
            let seen = min(last, Double(plan.range.upper)) - max(first, Double(plan.range.lower))
            let part = last > first ? max(0, seen) / (last - first) : 1
            return count + Double(input.rowCount) * weights[input.source] * min(part, 1)
        }
    }

    /// The time range of the rows, if numbering buckets pays off: several series share buckets, and
    /// the numbers take no more memory than the rows. A single series visits each bucket only once.
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

    /// Merges the aggregation of another unit of the group.
    func add(_ other: AggregationUnit) throws(DatabaseError) {
        if let gathered = other.aggregation { try aggregation?.add(gathered) }
        other.aggregation = nil
    }

    /// Computes the points of all merged units.
    func finish(_ executor: Executor) throws(DatabaseError) {
        guard let gathered = aggregation else { return }
        aggregation = nil
        try complete(gathered, executor)
    }

    private func complete(
        _ gathered: GroupAggregation, _ executor: Executor
    ) throws(DatabaseError) {
        let share = MemoryReservation(executor.context.memory)
        lists = try executor.lists(plan, gathered, assignments.calls, share)
        self.share = share
    }

    /// Frees the points.
    func release() {
        lists = []
        share = nil
    }

    /// Whether empty buckets make the result much larger than the rows.
    private var fillsManyBuckets: Bool {
        guard plan.fill != .none, let buckets = plan.buckets else { return false }
        let first =
            plan.hasLowerBound
            ? plan.range.lower
            : inputs.map { $0.nearestTime(.all, ascending: true) }.min() ?? plan.range.lower
        let count = buckets.count(first: first, last: max(plan.range.upper - 1, first))
        return count * Double(assignments.calls.count) >= AggregationUnit.filledCountMin
    }

    /// - Parameter spare: an aggregation for reuse; set to the unit's own after its last use.
    func run(_ executor: Executor, _ spare: inout GroupAggregation?) {
        let extent = extent
        var gathered: GroupAggregation
        if extent == nil, let known = spare, known.assignments === assignments {
            gathered = known
        } else {
            gathered = GroupAggregation(plan, executor, assignments, extent: extent)
        }
        spare = nil
        do throws(DatabaseError) {
            for input in inputs {
                try executor.context.checkCancelled()
                try gathered.add(input)
            }
            if isAlone, !fillsManyBuckets {
                try complete(gathered, executor)
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
