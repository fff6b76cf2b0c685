// How the values of one input series reach the calls of a group. The path is chosen once,
// GroupAggregation.add executes it, and EXPLAIN prints it. It depends on all calls of the
// statement, not on those that the group reaches.

enum AccessPath {
    /// Scans each column independently: WHERE does not filter rows. Answers from block statistics,
    /// counts and ends if these suffice.
    case columnScan(ExperimentView, Series)
    /// Reads the columns only at the rows that pass WHERE, which a bitmap marks.
    case filteredScan(ExperimentView, Series, RowPredicate)
    /// Scans the one column that WHERE and all calls read.
    case filteredColumn(ExperimentView, Series, reference: Int)
    /// Scans the first value of several columns without assembling rows: coalesce().
    case firstValues(FirstValueColumns)
    /// Reads rows from an end, up to the first one with a value.
    case firstRow
    /// Reads each column from its ends, up to the first row that passes WHERE.
    case endLookup(ExperimentView, Series)
    /// Assembles all rows in the range.
    case rowScan
}

extension GroupAggregation {
    var allAssignments: CallAssignments { executor.assignments(of: plan) }

    func accessPath(_ input: InputSeries) -> AccessPath {
        if case .stored(let view, let series) = input.origin {
            if isColumnScan(input) { return .columnScan(view, series) }
            if let test = rowTest(input, view), FilteredRows.segment(view, series, test) != nil {
                return .filteredScan(view, series, test)
            }
            if let reference = filteredColumn(input) {
                return .filteredColumn(view, series, reference: reference)
            }
        }
        if let columns = firstValueColumns(input) { return .firstValues(columns) }
        if takesOneRow, input.hasUniqueTimes { return .firstRow }
        if takesEndsOnly, case .stored(let view, let series) = input.origin {
            return .endLookup(view, series)
        }
        return .rowScan
    }

    /// Whether columns are scanned independently: WHERE does not filter rows.
    func isColumnScan(_ input: InputSeries) -> Bool {
        input.isStored && input.condition == nil && !hasAuxiliary && !allAssignments.hasComputed
    }

    /// Whether the answer is the first or last point, with other columns of its row.
    private var takesOneRow: Bool {
        guard plan.buckets == nil, plan.singleSelector, hasAuxiliary else { return false }
        return plan.calls[0].aggregate == .first
            || plan.calls[0].aggregate?.usesOnlyLastPoint == true
    }

    /// Whether the calls need only first and last values of a few fields.
    var takesEndsOnly: Bool {
        let all = allAssignments
        return all.collectors.isEmpty && !all.fields.isEmpty
            && all.fields.count <= GroupAggregation.endsCountMax
            && all.fields.allSatisfy(\.needsOnlyEnds) && !all.hasComputed
    }

    /// Ends are looked up field by field. More fields than this are read in one pass, row by row.
    private static let endsCountMax = 64
}

// MARK: EXPLAIN

extension GroupAggregation {
    /// How a call is answered from an input, as EXPLAIN prints it.
    ///
    /// - Parameter path: of the input; nil if rows are grouped one by one, which assembles them.
    func text(ofCall call: Int, _ path: AccessPath?, _ source: PlannedSource) -> String {
        switch (assignments.place(of: call), path) {
        case (.nowhere, _): "nothing to read"
        case (.field(let index), .columnScan(let view, _)): scanText(ofField: index, view, source)
        case (.collector, .columnScan): "from values, all kept in memory"
        case (_, .filteredScan): "from values of the rows that pass WHERE, by bitmap"
        case (_, .filteredColumn): "from values of one column, filtered while reading"
        case (_, .firstValues): "from values, the first of several columns"
        case (_, .firstRow): "from the first or last row of each series"
        case (_, .endLookup): "from the ends of each series"
        case (.field, .rowScan), (.field, nil): "from rows"
        case (.collector, .rowScan), (.collector, nil): "from rows, all of them kept"
        }
    }

    private func scanText(
        ofField index: Int, _ view: ExperimentView, _ source: PlannedSource
    ) -> String {
        guard let column = source.bindings[assignments.fields[index].reference].field else {
            return "nothing to read"
        }
        guard view.schema.column(column).type == fields[index].type else { return "from values" }
        if assignments.fields[index].needsOnlyEnds { return "from the ends of each series" }
        let takesSummaries = fields[index].summaryWindow.isPossible && !needsPointTimes(index)
        return takesSummaries
            ? "from block statistics if a block lies in one bucket, otherwise from values"
            : "from values"
    }

    /// The distinct paths of the inputs of one source, one for each case.
    func accessPaths(
        _ inputs: [InputSeries], byRow: Bool
    ) throws(DatabaseError) -> [AccessPath?] {
        var known: Set<Int> = []
        var found: [AccessPath?] = []
        for input in inputs {
            try executor.context.checkCancelled()
            let path = byRow ? nil : accessPath(input)
            if known.insert(path?.number ?? -1).inserted { found.append(path) }
        }
        return found
    }
}

extension AccessPath {
    static let subqueryText = "from the rows of the subquery"

    /// Distinguishes the cases.
    fileprivate var number: Int {
        switch self {
        case .columnScan: 0
        case .filteredScan: 1
        case .filteredColumn: 2
        case .firstValues: 3
        case .firstRow: 4
        case .endLookup: 5
        case .rowScan: 6
        }
    }
}
