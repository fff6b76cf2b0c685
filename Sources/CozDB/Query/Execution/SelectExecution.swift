// A SELECT that runs in steps, each of which writes some rows. A cursor whose rows nobody takes
// needs no thread: it pauses between two steps.

/// Writes the next rows of a group. Returns false after the last.
typealias GroupSteps = () throws(DatabaseError) -> Bool

/// The execution of a SELECT. Each step may run on another thread.
final class SelectExecution {
    /// Returns the steps of the next group; nil after the last.
    typealias Groups = () throws(DatabaseError) -> GroupSteps?

    private let groups: Groups
    private var group: GroupSteps?

    init(_ groups: @escaping Groups) {
        self.groups = groups
    }

    /// Writes the next rows to the output. Returns false after the last.
    func step() throws(DatabaseError) -> Bool {
        while true {
            if let group {
                if try group() { return true }
                // What the group held is free before the next one begins.
                self.group = nil
            }
            group = try groups()
            if group == nil { return false }
        }
    }
}

extension Executor {
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
            return self.rawSteps(plan, groups[next], output)
        }
    }
}
