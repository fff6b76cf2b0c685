// GROUP BY attributes, fields and computed values, where the group may change from row to row. Rows
// are assigned to groups as they are read, so all groups are in memory before output starts.

extension Executor {
    func aggregateGroupsByRow(
        _ plan: SelectPlan, _ inputs: [InputSeries], _ output: any SeriesOutput
    ) throws(DatabaseError) -> SelectExecution.Groups {
        var met = GroupTable<SparseAggregation>(self)
        var empty = GroupAggregation(plan, self)
        for input in inputs {
            empty.setRanges(of: input)
            var seen: [Int] = []
            try forEachGroup(plan, input, driving: empty.assignments.arguments, descending: false) {
                key, part throws(DatabaseError) in
                let place = try met.place(of: key, sizeBytes: 200) { SparseAggregation() }
                try met.groups[place].add(part, plan.sources[input.source], empty)
                seen.append(place)
            }
            for place in seen { met.groups[place].endSeries() }
        }
        var whole = empty
        var places = limited(try met.sortedPlaces(), plan, { met.keys[$0].name })[...]
        return { () throws(DatabaseError) in
            while let place = places.popFirst() {
                met.groups[place].move(to: &whole)
                let share = MemoryReservation(self.context.memory)
                let calls = met.groups[place].calls(whole.assignments)
                let lists = try self.lists(plan, whole, calls, share)
                met.groups[place].restore(&whole, from: empty)
                if calls.isEmpty { continue }
                let rows = try self.rows(plan, met.keys[place], calls, lists, output)
                guard case .steps(let steps) = rows else { return rows }
                return .steps { () throws(DatabaseError) in
                    defer { withExtendedLifetime(share) {} }
                    return try steps()
                }
            }
            return nil
        }
    }

    func rawGroupsByRow(
        _ plan: SelectPlan, _ inputs: [InputSeries], _ output: any SeriesOutput
    ) throws(DatabaseError) -> SelectExecution.Groups {
        var met = GroupTable<SparseRows>(self)
        for input in plan.isAscending ? inputs : inputs.reversed() {
            try forEachGroup(plan, input, driving: plan.auxiliary, descending: !plan.isAscending) {
                key, part throws(DatabaseError) in
                let place = try met.place(of: key, sizeBytes: 200) { SparseRows() }
                let before = met.groups[place].sizeBytes
                met.groups[place].add(part, plan)
                try met.share.grow(met.groups[place].sizeBytes - before)
            }
        }
        var places = limited(try met.sortedPlaces(), plan, { met.keys[$0].name })[...]
        var writtenSizeBytes = 0
        return { () throws(DatabaseError) in
            try met.share.grow(-writtenSizeBytes)
            guard let place = places.popFirst() else { return nil }
            let times = met.groups[place].times
            writtenSizeBytes = met.groups[place].sizeBytes
            let order = try TimeOrder.rows(times, isAscending: plan.isAscending, self.context)
            return try RowWriter(plan, met.keys[place], output).rows(
                times: order.map { times[$0] }, met.groups[place].takeColumns(order))
        }
    }

    /// Reads a series and passes the rows of each group in each batch to the body. They have only
    /// references with a value.
    func forEachGroup(
        _ plan: SelectPlan, _ input: InputSeries, driving: [Int], descending: Bool,
        _ body: (GroupKey, RowBatch) throws(DatabaseError) -> Void
    ) throws(DatabaseError) {
        let shared = key(plan, input)
        let changing = plan.changingDimensions(of: input)
        var reader = RowBatchReader(
            plan, input, driving: driving, in: extended(plan), descending: descending,
            context: context)
        var batch = RowBatch()
        while try reader.next(into: &batch) {
            var grouping = BatchGrouping(plan, shared: shared, changing: changing)
            try grouping.add(batch)
            for (key, rows) in zip(grouping.keys, grouping.rows) {
                try context.checkCancelled()
                var part = RowBatch(times: rows.map { batch.times[$0] })
                for (index, vector) in batch.references.present {
                    guard rows.contains(where: { vector.isPresent[$0] }) else { continue }
                    part.references[index] = vector.filtered(rows)
                }
                try body(key, part)
            }
        }
    }
}

/// The accumulators of one group that have values. With thousands of columns and groups, each group
/// has values of few columns.
private struct SparseAggregation {
    private var fields: [Int: FieldAccumulator] = [:]
    private var collectors: [Int: PointCollector] = [:]
    /// The fields with values of the current series.
    private var current: Set<Int> = []

    /// Adds rows of the group.
    ///
    /// - Parameter empty: the accumulators of a group without rows.
    mutating func add(
        _ rows: RowBatch, _ source: PlannedSource, _ empty: GroupAggregation
    ) throws(DatabaseError) {
        let indices = empty.assignments.indices(
            of: rows.references.references, in: source)
        var grown = 0
        if empty.assignments.isMixed { setRanges(indices, empty) }
        for index in indices.fields {
            let reference = empty.assignments.fields[index].reference
            guard empty.plan.isField(reference, source) else { continue }
            current.insert(index)
            grown -= fields[index].map(SparseAggregation.sizeBytes) ?? 0
            fields[index, default: empty.fields[index]].add(
                times: rows.times, rows.references[reference])
            grown += fields[index].map(SparseAggregation.sizeBytes) ?? 0
        }
        let others =
            indices.collectors.isEmpty ? [] : rows.references.columns(empty.plan.auxiliary)
        for index in indices.collectors {
            let reference = empty.assignments.collectors[index].reference
            guard empty.plan.isField(reference, source) else { continue }
            grown -= collectors[index].map(SparseAggregation.sizeBytes) ?? 0
            collectors[index, default: empty.collectors[index]].add(
                times: rows.times, rows.references[reference], others)
            grown += collectors[index].map(SparseAggregation.sizeBytes) ?? 0
        }
        try empty.share.grow(grown)
    }

    private mutating func setRanges(
        _ indices: CallAssignments.Indices, _ empty: GroupAggregation
    ) {
        for index in indices.fields { fields[index]?.range = empty.fields[index].range }
        for index in indices.collectors {
            collectors[index]?.range = empty.collectors[index].range
        }
    }

    private static func sizeBytes(_ field: FieldAccumulator) -> Int {
        2 * MemoryLayout<FieldAccumulator>.stride + field.sizeBytes
    }

    private static func sizeBytes(_ collector: PointCollector) -> Int {
        2 * MemoryLayout<PointCollector>.stride + collector.sizeBytes
    }

    mutating func endSeries() {
        for index in current { fields[index]?.endSeries() }
        current.removeAll(keepingCapacity: true)
    }

    /// Returns the calls that may have points, ascending.
    func calls(_ assignments: CallAssignments) -> [Int] {
        assignments.calls(
            of: Set(fields.keys.map { assignments.fields[$0].reference })
                .union(collectors.keys.map { assignments.collectors[$0].reference }))
    }

    /// Moves the values into the accumulators of a group without rows.
    func move(to whole: inout GroupAggregation) {
        for (index, field) in fields { whole.fields[index] = field }
        for (index, collector) in collectors { whole.collectors[index] = collector }
    }

    /// Undoes `move`.
    func restore(_ whole: inout GroupAggregation, from empty: GroupAggregation) {
        for index in fields.keys { whole.fields[index] = empty.fields[index] }
        for index in collectors.keys { whole.collectors[index] = empty.collectors[index] }
    }
}

/// Groups in the order of their first row.
struct GroupTable<Group> {
    private(set) var keys: [GroupKey] = []
    var groups: [Group] = []
    private var places: [GroupKey: Int] = [:]
    private let executor: Executor
    /// The memory of the groups.
    let share: MemoryReservation

    init(_ executor: Executor) {
        self.executor = executor
        share = MemoryReservation(executor.context.memory)
    }

    /// Returns the index of a group, creating it if it is new.
    ///
    /// - Parameter sizeBytes: the approximate size of a new group without its key.
    mutating func place(
        of key: GroupKey, sizeBytes: Int, _ make: () -> Group
    ) throws(DatabaseError) -> Int {
        if let known = places[key] { return known }
        guard groups.count < executor.options.groupCountMax else { throw executor.tooManyGroups() }
        try share.grow(key.sizeBytes + sizeBytes)
        places[key] = groups.count
        keys.append(key)
        groups.append(make())
        return groups.count - 1
    }

    /// Returns the indexes of the groups in ascending key order.
    func sortedPlaces() throws(DatabaseError) -> [Int] {
        let sorted = keys.indices.sortedUnlessCancelled { keys[$0] < keys[$1] }
        try executor.context.checkCancelled()
        return sorted
    }
}

extension PlannedDimension {
    /// Whether the groups sort by number rather than by text.
    fileprivate var isByNumber: Bool {
        if case .bin? = function { true } else { false }
    }
}

/// Groups the rows of one batch, comparing codes before strings.
private struct BatchGrouping {
    private struct CodePair: Hashable {
        var place: Int
        var code: UInt64
    }

    private let plan: SelectPlan
    private let shared: GroupKey
    /// The indexes of the key values that differ from row to row.
    private let changing: [Int]
    /// The dimensions of the batch that have a value. Those without have no type.
    private var filled: [Int] = []
    private(set) var keys: [GroupKey] = []
    private(set) var rows: [[Int]] = []
    /// Equal strings may have different codes. Places are found by key, then remembered by code.
    private var placeByKey: [GroupKey: Int] = [:]

    init(_ plan: SelectPlan, shared: GroupKey, changing: [Int]) {
        self.plan = plan
        self.shared = shared
        self.changing = changing
    }

    /// - Throws: `cancelled`.
    mutating func add(_ batch: RowBatch) throws(DatabaseError) {
        filled = batch.dimensions.indices.filter { batch.dimensions[$0].type != nil }
        if batch.dimensions.count == 1, batch.dimensions[0].type == .string {
            try addByCode(batch, batch.dimensions[0])
        } else {
            try addByCodes(batch)
        }
    }

    /// Groups by one string dimension. Codes index a table; encoded times are grouped by their
    /// text.
    private mutating func addByCode(
        _ batch: RowBatch, _ dimension: ResultVector
    ) throws(DatabaseError) {
        var places = [Int](repeating: -1, count: dimension.strings.count + 1)
        for row in 0..<batch.count {
            if dimension.isPresent[row], ISOTime.isWord(dimension.bits[row]) {
                rows[try place(batch, row)].append(row)
                continue
            }
            let code = dimension.isPresent[row] ? Int(dimension.bits[row]) + 1 : 0
            if places[code] < 0 { places[code] = try place(batch, row) }
            rows[places[code]].append(row)
        }
    }

    /// Groups by several dimensions, numbering the combinations one dimension at a time. A row
    /// without a value in a dimension keeps the number of its combination.
    private mutating func addByCodes(_ batch: RowBatch) throws(DatabaseError) {
        var combined = [Int](repeating: 0, count: batch.count)
        var count = 1
        for dimension in filled.map({ batch.dimensions[$0] }) {
            var numbers: [CodePair: Int] = [:]
            // Adjacent rows often belong to the same group.
            var last: (pair: CodePair, number: Int)?
            for row in 0..<batch.count where dimension.isPresent[row] {
                let pair = CodePair(place: combined[row], code: dimension.bits[row])
                if last?.pair != pair {
                    let number = numbers[pair] ?? count
                    if number == count {
                        numbers[pair] = number
                        count += 1
                    }
                    last = (pair, number)
                }
                combined[row] = last?.number ?? 0
            }
        }
        var places = [Int](repeating: -1, count: count)
        for row in 0..<batch.count {
            if places[combined[row]] < 0 { places[combined[row]] = try place(batch, row) }
            rows[places[combined[row]]].append(row)
        }
    }

    private mutating func place(_ batch: RowBatch, _ row: Int) throws(DatabaseError) -> Int {
        if keys.count & 255 == 0 { try CancellationCheck.check() }
        var key = shared
        for place in filled where batch.dimensions[place].isPresent[row] {
            let dimension = batch.dimensions[place]
            let index = changing[place]
            if plan.dimensions[index].isByNumber {
                key.set(index, dimension.edgeText(row), number: dimension.number(row))
            } else {
                key.set(index, dimension.groupText(row))
            }
        }
        if let known = placeByKey[key] { return known }
        placeByKey[key] = keys.count
        keys.append(key)
        rows.append([])
        return keys.count - 1
    }
}

extension ResultVector {
    /// Returns the value as text for a group name.
    fileprivate func groupText(_ row: Int) -> String {
        switch value(row) {
        case .string(let text)?: text
        case .boolean(let flag)?: flag ? "true" : "false"
        case .integer(let number)?: String(number)
        case .float(let number)?: number.description
        case nil: ""
        }
    }

    /// Returns the edge of a bin as text, without a fraction if it is integral.
    fileprivate func edgeText(_ row: Int) -> String {
        let text = groupText(row)
        return text.hasByteSuffix(".0") ? String(text.dropLast(2)) : text
    }

    fileprivate func number(_ row: Int) -> Double? {
        switch value(row) {
        case .integer(let number)?: Double(number)
        case .float(let number)?: number
        default: nil
        }
    }
}
