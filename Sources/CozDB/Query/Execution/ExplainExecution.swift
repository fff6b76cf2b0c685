// EXPLAIN: a plan as lines of text, from the same code that executes statements. Reads only
// directories and lists of series, and runs no subquery.

struct ExplainExecution {
    let snapshot: Snapshot
    let options: QueryOptions
    let context: ExecutionContext

    private let executor: Executor
    private var lines: [String] = []
    /// The counters of each item of FROM, if the statement was run.
    private var analyzed: ExecutionContext?

    init(snapshot: Snapshot, options: QueryOptions, context: ExecutionContext) {
        self.snapshot = snapshot
        self.options = options
        self.context = context
        executor = Executor(options: options, context: context)
    }

    /// Answers with one column of text. With `analyze`, runs the statement and discards its rows.
    mutating func run<Sink: QueryResultSink>(
        _ select: SelectStatement, analyze: Bool, into output: SinkOutput<Sink>
    ) throws(DatabaseError) {
        let clock = ContinuousClock()
        let start = clock.now
        var planner = Planner(snapshot: snapshot, options: options)
        let plan = try planner.plan(select)
        let planned = clock.now
        context.counters.plan += planned - start
        var returned: RowCounter?
        if analyze {
            let own = context.forAnotherThread
            let rows = RowCounter()
            try Executor(options: options, context: own).run(plan, into: rows)
            own.counters.parse = context.counters.parse
            own.counters.plan = planned - start
            own.counters.execute = clock.now - planned
            context.add(own)
            analyzed = own
            returned = rows
        }
        try explain(plan, depth: 0)
        if let analyzed, let returned { append(analyzed.total, returned) }
        var table = ResultTable([(analyze ? "EXPLAIN ANALYZE" : "QUERY PLAN", .string)])
        for line in lines { table.append([.string(line)]) }
        try output.end(&table)
    }

    // MARK: One SELECT

    private mutating func explain(_ plan: SelectPlan, depth: Int) throws(DatabaseError) {
        func line(_ text: String) -> String { String(repeating: "  ", count: depth) + text }
        let names = plan.columns.map { Reference(name: $0.name).text + " " + $0.typeText }
        lines.append(line("columns: " + ([plan.timeName] + names).joined(separator: ", ")))
        lines.append(line("time: " + plan.rangeText))
        if let text = plan.bucketText { lines.append(line("buckets: " + text)) }
        if plan.range.isEmpty {
            lines.append(line("nothing is read: no time satisfies WHERE"))
            return
        }
        var sources: [SourceInputs] = []
        for index in plan.sources.indices {
            sources.append(
                SourceInputs(index: index, inputs: try executor.storedInputs(plan, index)))
        }
        if !plan.dimensions.isEmpty { lines.append(line("groups: " + groups(plan, sources))) }
        if plan.isRaw {
            let direction = plan.isAscending ? "" : ", read from the end"
            lines.append(
                line(
                    plan.hasSeriesFunctions
                        ? "rows: computed per series over its whole range"
                        : "rows: as stored" + direction))
        }
        let aggregation = GroupAggregation(plan, executor)
        let paths = try sources.map { (source) throws(DatabaseError) in
            try aggregation.accessPaths(source.inputs, byRow: plan.isGroupedByRow)
        }
        for index in plan.calls.indices {
            let text = try accessText(ofCall: index, aggregation, paths)
            lines.append(line("call: \(plan.calls[index].text): \(text)"))
        }
        lines.append(line("order: time " + (plan.isAscending ? "ascending" : "descending")))
        if let text = plan.limits.text { lines.append(line("limits: " + text)) }
        for source in sources { try explain(plan, source, depth) }
    }

    private func groups(_ plan: SelectPlan, _ sources: [SourceInputs]) -> String {
        let names = plan.dimensions.map { Reference(name: $0.name, kind: $0.kind).text }
            .joined(separator: ", ")
        if plan.isGroupedByRow { return "by \(names), per row" }
        let isStored = plan.sources.allSatisfy {
            if case .experiment = $0.origin { true } else { false }
        }
        guard isStored else { return "by \(names)" }
        var keys: Set<GroupKey> = []
        for source in sources {
            for input in source.inputs { keys.insert(executor.key(plan, input)) }
        }
        return "\(keys.count) by \(names)"
    }

    /// How a call is answered, which may differ between sources and series.
    ///
    /// - Parameter paths: the distinct paths of each source.
    private func accessText(
        ofCall call: Int, _ aggregation: GroupAggregation, _ paths: [[AccessPath?]]
    ) throws(DatabaseError) -> String {
        var texts: [String] = []
        func note(_ text: String) { if !texts.contains(text) { texts.append(text) } }
        for (source, paths) in zip(aggregation.plan.sources, paths) {
            try context.checkCancelled()
            for path in paths { note(aggregation.text(ofCall: call, path, source)) }
            if case .subquery = source.origin { note(AccessPath.subqueryText) }
        }
        return texts.isEmpty ? "nothing to read" : texts.joined(separator: "; ")
    }

    // MARK: One source

    private struct SourceInputs {
        let index: Int
        let inputs: [InputSeries]
    }

    private mutating func explain(
        _ plan: SelectPlan, _ source: SourceInputs, _ depth: Int
    ) throws(DatabaseError) {
        let indent = String(repeating: "  ", count: depth)
        let planned = plan.sources[source.index]
        switch planned.origin {
        case .subquery(let inner):
            let readers = planned.extraBuckets.map {
                ", for calls that read \($0) buckets before the range"
            }
            lines.append(indent + "source: subquery" + (readers ?? ""))
            if let condition = planned.condition {
                lines.append(indent + "  condition: " + condition.text(plan))
            }
            try explain(inner, depth: depth + 1)
        case .experiment(let view):
            lines.append(indent + "source: experiment " + Reference(name: view.schema.name).text)
            try explain(plan, source, planned, view, indent + "  ")
        }
    }

    private mutating func explain(
        _ plan: SelectPlan, _ source: SourceInputs, _ planned: PlannedSource,
        _ view: ExperimentView, _ indent: String
    ) throws(DatabaseError) {
        guard executor.hasRequestedField(plan, source.index) else {
            lines.append(indent + "nothing is read: the experiment has none of the fields")
            return
        }
        let estimate = try ReadEstimate(plan, planned, view, source.inputs, executor)
        lines.append(
            indent + "series: \(source.inputs.count) of \(estimate.seriesCount) match")
        let columns = planned.columns(planned.bindings + planned.dimensions).map {
            Reference(name: $0.name, kind: $0.kind == .attribute ? .tag : .any).text + " "
                + $0.type.name
        }
        let list = columns.isEmpty ? "none" : columns.joined(separator: ", ")
        lines.append(indent + "reads: " + list)
        if let condition = planned.condition {
            lines.append(indent + "condition: " + left(of: condition, source.inputs, plan))
            let test = condition.storageCondition(plan, planned, view.schema).test
            let predicates = (test?.requiredPredicates ?? []).filter(\.usesStatistics).map {
                view.schema.column($0.column).name
            }
            if !predicates.isEmpty {
                let names = Set(predicates).sorted().map { Reference(name: $0).text }
                lines.append(
                    indent + "skips blocks by statistics of: " + names.joined(separator: ", "))
            }
        }
        lines.append(indent + estimate.sourcesText)
        lines.append(
            indent + "blocks: \(estimate.blocks.blocksInRange) in the time range, "
                + "\(estimate.blocks.blocksOutOfRange) outside")
        lines.append(indent + "rows: about \(estimate.rowCount)")
        if let analyzed { lines.append(indent + "read: " + analyzed.reads(planned.number).text) }
    }

    /// The part of WHERE that rows must be tested for.
    private func left(
        of condition: Evaluation, _ inputs: [InputSeries], _ plan: SelectPlan
    ) -> String {
        var texts: [String] = []
        for input in inputs {
            let text = input.condition?.text(plan) ?? "decided by tags"
            if !texts.contains(text) { texts.append(text) }
            if texts.count > 3 { return condition.text(plan) }
        }
        return texts.isEmpty ? "no series satisfies it" : texts.joined(separator: "; ")
    }

    // MARK: Results of a run

    private mutating func append(_ total: QueryCounters, _ returned: RowCounter) {
        func text(_ duration: Duration) -> String {
            let microseconds = Int(duration / .microseconds(1))
            let fraction = String(1000 + microseconds % 1000).dropFirst()
            return "\(microseconds / 1000).\(fraction) ms"
        }
        lines += [
            "total:",
            "  returned: \(returned.rowCount) rows in \(returned.seriesCount) series",
            "  read: \(total.rowsRead) rows or values (\(total.bytesRead) bytes decoded, "
                + "\(total.storedBytesRead) bytes stored)",
            "  blocks: \(total.blocksInRange) in the time range, "
                + "\(total.blocksOutOfRange) outside, "
                + "\(total.blocksSkipped) skipped by statistics, "
                + "\(total.blocksSummarized) answered from statistics, "
                + "\(total.blocksRead) decoded",
            "  time: parse \(text(total.parse)), plan \(text(total.plan)), "
                + "execute \(text(total.execute))",
        ]
    }
}

/// Counts and discards the rows of an answer.
private final class RowCounter: SeriesOutput {
    private(set) var rowCount = 0
    private(set) var seriesCount = 0

    func beginSeries(_ key: GroupKey) { seriesCount += 1 }
    func rows(times: [Int64], columns: RowColumns) { rowCount += times.count }
    func endSeries() {}
}

/// Estimates the cost of reading the series of one experiment, from lists and directories alone.
private struct ReadEstimate {
    private(set) var seriesCount = 0
    private(set) var rowCount = 0
    let blocks = ReadCounts()
    let sourcesText: String

    init(
        _ plan: SelectPlan, _ source: PlannedSource, _ view: ExperimentView,
        _ inputs: [InputSeries], _ executor: Executor
    ) throws(DatabaseError) {
        var count = 0
        try view.forEachSeries { _ in count += 1 }
        seriesCount = count
        let range = executor.extended(plan)
        let columns = source.columns(source.bindings + source.dimensions)
        var used: Set<Int> = []
        for input in inputs {
            try executor.context.checkCancelled()
            guard case .stored(let view, let series) = input.origin else { continue }
            rowCount += try view.rowCount(of: series, in: range)
            for part in series.parts
            where range.overlaps(first: part.firstTime, last: part.lastTime) {
                used.insert(part.source)
            }
            // With very many columns, only those that the series has.
            var own = columns
            if input.present != nil || input.presentDimensions != nil {
                let references = input.present ?? Array(source.bindings.indices)
                let dimensions = input.presentDimensions ?? Array(source.dimensions.indices)
                own = source.columns(
                    references.map { source.bindings[$0] }
                        + dimensions.map { source.dimensions[$0] })
            }
            for column in own {
                // Counts blocks without reading them.
                _ = try ColumnCursor(
                    view, column: column.id, series: series, range: range, counts: blocks)
            }
        }
        var (segments, memtables, usedSegments, usedMemtables) = (0, 0, 0, 0)
        for (index, origin) in view.sources.enumerated() {
            switch origin {
            case .segment:
                segments += 1
                usedSegments += used.contains(index) ? 1 : 0
            case .memtable:
                memtables += 1
                usedMemtables += used.contains(index) ? 1 : 0
            }
        }
        sourcesText =
            "segments: \(usedSegments) of \(segments), memtables: \(usedMemtables) of \(memtables)"
    }
}

extension PlannedSource {
    /// The columns of an experiment among some bindings.
    fileprivate func columns(_ bindings: [Binding]) -> [Column] {
        guard case .experiment(let view) = origin else { return [] }
        var columns: [Column] = []
        var known: Set<ColumnID> = []
        for binding in bindings {
            guard case .column(let id, _) = binding, known.insert(id).inserted else { continue }
            columns.append(view.schema.column(id))
        }
        return columns
    }
}

extension PlannedColumn {
    fileprivate var typeText: String { type?.name ?? "null" }
}

extension SelectPlan {
    fileprivate var rangeText: String {
        func text(_ time: Int64) -> String {
            let offset = zone?.offsetSeconds(at: Timestamp(nanoseconds: time)) ?? 0
            return Timestamp(nanoseconds: time).text(offsetSeconds: offset)
        }
        switch (hasLowerBound, hasUpperBound) {
        case (true, true): return "from \(text(range.lower)) to before \(text(range.upper))"
        case (true, false): return "from \(text(range.lower)) on"
        case (false, true): return "before \(text(range.upper))"
        case (false, false): return "all"
        }
    }

    fileprivate var bucketText: String? {
        guard let buckets else { return nil }
        var parts = [DurationText.text(buckets.interval)]
        if buckets.offset != 0 { parts.append("offset " + DurationText.text(buckets.offset)) }
        if let zone { parts.append("in " + zone.name) }
        if hasLowerBound, hasUpperBound, !range.isEmpty {
            let span = Double(range.upper - 1) - Double(buckets.bounds(range.lower).start)
            let count = Int64(saturating: (span / Double(buckets.interval)).rounded(.down))
            parts.append("about \(count.addingSaturating(1))")
        }
        parts.append("fill(\(fill.text))")
        return parts.joined(separator: ", ")
    }
}

extension Fill {
    fileprivate var text: String {
        switch self {
        case .null: "null"
        case .none: "none"
        case .previous: "previous"
        case .linear: "linear"
        case .number(let value): value.plainText
        }
    }
}

extension Limits {
    fileprivate var text: String? {
        let parts = [
            ("LIMIT", limit), ("OFFSET", offset), ("SLIMIT", seriesLimit),
            ("SOFFSET", seriesOffset),
        ]
        let texts = parts.compactMap { word, number in number.map { "\(word) \($0)" } }
        return texts.isEmpty ? nil : texts.joined(separator: " ")
    }
}

extension ReadCounts {
    /// The counters of one item of FROM, for EXPLAIN ANALYZE.
    fileprivate var text: String {
        "\(rows) rows or values, \(blocksExcluded) blocks skipped by statistics, "
            + "\(blocksSummarized) answered from statistics, \(blocksDecoded) decoded, "
            + "\(storedBytes) bytes as stored"
    }
}
