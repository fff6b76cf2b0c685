// Where the values of each call of a statement go: equal demands share a field or a collector. The
// same for every group and series, so it is found once for each thread.

/// What each group of a statement gathers.
final class CallPlaces {
    enum Place {
        case field(Int)
        case collector(Int)
        case nowhere
    }

    /// What is asked of one reference in one range that an accumulator can say.
    struct Field {
        var reference: Int
        var type: FieldType
        var range: TimeRange
        var needs: BucketNeeds
        /// Whether nothing but its first and last value is asked for.
        var isEndEnough: Bool
    }

    /// A reference and a range of which all points are kept.
    struct Collector {
        var reference: Int
        var type: FieldType
        var range: TimeRange
    }

    private struct Demand: Hashable {
        var reference: Int
        var range: TimeRange
    }

    let plan: SelectPlan
    /// For each call.
    private(set) var places: [Place] = []
    private(set) var fields: [Field] = []
    private(set) var collectors: [Collector] = []
    /// References that calls read, those of equal calls once.
    private(set) var arguments: [Int] = []
    /// Whether a call is of something that is computed from the columns of a row.
    private(set) var hasComputed = false
    /// Whether it matters when the values were that collectors keep. A rank outside buckets is
    /// dated with its own point only where it is the one call of the statement.
    let collectorsNeedTimes: Bool
    /// By reference.
    private var fieldsOfReferences: [[Int]] = []
    private var collectorsOfReferences: [[Int]] = []
    private var fieldNumbers: [Demand: Int] = [:]
    private var collectorNumbers: [Demand: Int] = [:]

    init(_ plan: SelectPlan) {
        self.plan = plan
        collectorsNeedTimes =
            plan.buckets != nil || plan.singleSelector || !plan.auxiliary.isEmpty
            || !plan.calls.allSatisfy { call in
                call.aggregate == .median || call.aggregate == .percentile
                    || call.aggregate?.isSimple == true
            }
        let areSubqueries = plan.sources.allSatisfy { source in
            if case .subquery = source.origin { true } else { false }
        }
        for call in plan.calls {
            // A bucket of a subquery that begins before the range counts.
            var range = plan.range(of: call)
            if areSubqueries { range.lower = TimeRange.all.lower }
            places.append(place(for: call, range))
            if plan.references[call.argument].computation != nil { hasComputed = true }
        }
        arguments = Set(plan.calls.map(\.argument)).sorted()
        fieldsOfReferences = plan.references.map { _ in [] }
        collectorsOfReferences = fieldsOfReferences
        for (index, field) in fields.enumerated() {
            fieldsOfReferences[field.reference].append(index)
        }
        for (index, collector) in collectors.enumerated() {
            collectorsOfReferences[collector.reference].append(index)
        }
    }

    /// The fields and collectors of some references; nil is all.
    func indices(of references: [Int]?) -> (fields: [Int], collectors: [Int]) {
        guard let references else { return (Array(fields.indices), Array(collectors.indices)) }
        return (
            references.flatMap { fieldsOfReferences[$0] },
            references.flatMap { collectorsOfReferences[$0] }
        )
    }

    private func place(for call: PlannedCall, _ range: TimeRange) -> Place {
        guard let type = plan.references[call.argument].type else { return .nowhere }
        let demand = Demand(reference: call.argument, range: range)
        guard let aggregate = call.aggregate, aggregate.isSimple, plan.auxiliary.isEmpty else {
            if let known = collectorNumbers[demand] { return .collector(known) }
            collectorNumbers[demand] = collectors.count
            collectors.append(Collector(reference: call.argument, type: type, range: range))
            return .collector(collectors.count - 1)
        }
        let isEnd = aggregate == .first || aggregate.isOfLast
        if let known = fieldNumbers[demand] {
            fields[known].needs.formUnion(BucketNeeds(aggregate))
            fields[known].isEndEnough = fields[known].isEndEnough && isEnd
            return .field(known)
        }
        fieldNumbers[demand] = fields.count
        fields.append(
            Field(
                reference: call.argument, type: type, range: range, needs: BucketNeeds(aggregate),
                isEndEnough: isEnd && plan.buckets == nil))
        return .field(fields.count - 1)
    }
}

extension SelectPlan {
    /// The range with the buckets beside it that transformations of a call need.
    func range(of call: PlannedCall) -> TimeRange {
        guard let buckets = buckets, call.aggregate != nil else { return self.range }
        let count = call.transformations.reduce(0) { $0 + $1.extraBuckets }
        let (span, isOver) = buckets.interval.multipliedReportingOverflow(by: count)
        guard count > 0, !isOver else { return self.range }
        var range = self.range
        if isAscending {
            if hasLowerBound { range.lower = range.lower.addingSaturating(-span) }
        } else {
            range.upper = range.upper.addingSaturating(span)
        }
        return range.intersection(.all)
    }
}
