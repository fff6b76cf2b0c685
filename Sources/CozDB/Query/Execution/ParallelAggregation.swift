// The groups of an aggregating SELECT on all cores: series are dealt out to units of work, which
// run side by side; their results are joined and written in the order of the groups.

internal import Dispatch

extension Executor {
    /// Rows from which on a second thread is worth waking.
    private static let parallelRowCountMin = 20_000
    /// Units that are worked on before their groups are written: bounds what is in memory.
    private static let unitCountMax = 64

    func runAggregates(
        _ plan: SelectPlan, _ groups: [InputGroup], into output: any SeriesOutput
    ) throws(DatabaseError) {
        var start = 0
        while start < groups.count {
            try counters.checkCancelled()
            var units: [AggregationUnit] = []
            var end = start
            while end < groups.count, units.count < Executor.unitCountMax {
                units += AggregationUnit.units(plan, groups[end], number: end, self)
                end += 1
            }
            try run(units)
            var next = 0
            for number in start..<end {
                let first = units[next]
                next += 1
                while next < units.count, units[next].group == number {
                    try first.add(units[next])
                    next += 1
                }
                try first.finish()
                try write(plan, groups[number].key, first.lists, into: output)
            }
            start = end
        }
    }

    private func run(_ units: [AggregationUnit]) throws(DatabaseError) {
        let rowCount = units.reduce(0) { $0 + $1.rowCount }
        if units.count > 1, rowCount >= Executor.parallelRowCountMin {
            // Each unit belongs to the one thread that runs it until all have returned.
            DispatchQueue.concurrentPerform(iterations: units.count) { units[$0].run() }
        } else {
            for unit in units { unit.run() }
        }
        for unit in units {
            if let error = unit.error { throw error }
            counters.add(unit.counters)
        }
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
    let rowCount: Int
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
        aggregation = GroupAggregation(plan, executor)
        rowCount = inputs.reduce(0) { $0 + $1.rowCount }
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

    func add(_ other: AggregationUnit) throws(DatabaseError) {
        try aggregation.add(other.aggregation)
    }

    /// Makes the points of all units that were added.
    func finish() throws(DatabaseError) {
        if !isAlone { lists = try executor.lists(plan, aggregation) }
    }

    func run() {
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
