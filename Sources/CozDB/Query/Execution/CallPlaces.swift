// Where the values of each call of a statement go: equal demands share a field or a collector. The
// same for every group and series, so it is found once.

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

    let plan: SelectPlan
    /// For each call.
    let places: [Place]
    let fields: [Field]
    let collectors: [Collector]
    /// References that calls read, ascending.
    let arguments: [Int]
    /// Whether a call is of something that is computed from the columns of a row.
    let hasComputed: Bool
    /// Whether it matters when the values were that collectors keep. A rank outside buckets is
    /// dated with its own point only where it is the one call of the statement.
    let collectorsNeedTimes: Bool
    private let ofReferences: [Indices]
    private let all: Indices

    /// Numbers of fields and of collectors.
    struct Indices {
        var fields: [Int] = []
        var collectors: [Int] = []
    }

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
        var gathered = Gathered(plan)
        var isRead = [Bool](repeating: false, count: plan.references.count)
        for call in plan.calls {
            // A bucket of a subquery that begins before the range counts.
            var range = plan.range(of: call)
            if areSubqueries { range.lower = TimeRange.all.lower }
            gathered.add(call, range)
            isRead[call.argument] = true
        }
        arguments = isRead.indices.filter { isRead[$0] }
        hasComputed = arguments.contains { plan.references[$0].computation != nil }
        (places, fields, collectors) = (gathered.places, gathered.fields, gathered.collectors)
        ofReferences = gathered.ofReferences
        all = Indices(fields: Array(fields.indices), collectors: Array(collectors.indices))
    }

    /// The fields and collectors of some references; nil is all.
    func indices(of references: [Int]?) -> Indices {
        guard let references else { return all }
        return Indices(
            fields: references.flatMap { ofReferences[$0].fields },
            collectors: references.flatMap { ofReferences[$0].collectors })
    }
}

/// What the calls of a plan ask, as far as they are known.
private struct Gathered {
    let plan: SelectPlan
    var places: [CallPlaces.Place] = []
    var fields: [CallPlaces.Field] = []
    var collectors: [CallPlaces.Collector] = []
    /// By reference: one each for few different ranges.
    var ofReferences: [CallPlaces.Indices]

    init(_ plan: SelectPlan) {
        self.plan = plan
        ofReferences = Array(repeating: CallPlaces.Indices(), count: plan.references.count)
    }

    mutating func add(_ call: PlannedCall, _ range: TimeRange) {
        let reference = call.argument
        guard let type = plan.references[reference].type else { return places.append(.nowhere) }
        if let aggregate = call.aggregate, aggregate.isSimple, plan.auxiliary.isEmpty {
            places.append(.field(field(aggregate, type, reference, range)))
        } else {
            places.append(.collector(collector(type, reference, range)))
        }
    }

    private mutating func field(
        _ aggregate: Aggregate, _ type: FieldType, _ reference: Int, _ range: TimeRange
    ) -> Int {
        let isEnd = aggregate == .first || aggregate.isOfLast
        let known = ofReferences[reference].fields.first { fields[$0].range == range }
        if let known {
            fields[known].needs.formUnion(BucketNeeds(aggregate))
            fields[known].isEndEnough = fields[known].isEndEnough && isEnd
            return known
        }
        ofReferences[reference].fields.append(fields.count)
        fields.append(
            CallPlaces.Field(
                reference: reference, type: type, range: range, needs: BucketNeeds(aggregate),
                isEndEnough: isEnd && plan.buckets == nil))
        return fields.count - 1
    }

    private mutating func collector(
        _ type: FieldType, _ reference: Int, _ range: TimeRange
    ) -> Int {
        let known = ofReferences[reference].collectors.first { collectors[$0].range == range }
        if let known { return known }
        ofReferences[reference].collectors.append(collectors.count)
        collectors.append(CallPlaces.Collector(reference: reference, type: type, range: range))
        return collectors.count - 1
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
