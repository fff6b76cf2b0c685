// Assigns the calls of a statement to accumulators and collectors. Calls with equal inputs share
// one. The assignment is the same for every group and series, so it is computed once.

/// The accumulators and collectors that each group of a statement has.
final class CallAssignments {
    enum Place {
        case field(Int)
        case collector(Int)
        case nowhere
    }

    /// An accumulator's input: one reference in one range.
    struct Field {
        var reference: Int
        var type: FieldType
        var range: TimeRange
        /// See `PlannedSource`.
        var extraBuckets: Int64
        var needs: BucketNeeds
        /// Whether only the first or the last value is needed.
        var needsOnlyEnds: Bool
    }

    /// A collector's input: a reference and a range whose points are all kept.
    struct Collector {
        var reference: Int
        var type: FieldType
        var range: TimeRange
        /// See `PlannedSource`.
        var extraBuckets: Int64
    }

    let plan: SelectPlan
    /// The place of each call's values.
    let places: [Place]
    let fields: [Field]
    let collectors: [Collector]
    /// The references that calls read, ascending.
    let arguments: [Int]
    /// Whether a call reads a computed reference.
    let hasComputed: Bool
    /// Whether collectors must record times. Outside buckets, median and percentile take the time
    /// of their point only if they are the only call of the statement.
    let collectorsNeedTimes: Bool
    /// Whether FROM has experiments as well as subqueries.
    let isMixed: Bool
    private let ofReferences: [Indices]
    private let all: Indices

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
        var gathered = Gathered(plan)
        var isRead = [Bool](repeating: false, count: plan.references.count)
        for call in plan.calls {
            gathered.add(call, plan.range(of: call))
            isRead[call.argument] = true
        }
        arguments = isRead.indices.filter { isRead[$0] }
        hasComputed = arguments.contains { plan.references[$0].computation != nil }
        (places, fields, collectors) = (gathered.places, gathered.fields, gathered.collectors)
        ofReferences = gathered.ofReferences
        isMixed =
            plan.sources.contains(where: \.isSubquery) && !plan.sources.allSatisfy(\.isSubquery)
        all = Indices(fields: Array(fields.indices), collectors: Array(collectors.indices))
    }

    /// Returns the fields and collectors of some references that read a source; nil means all.
    func indices(of references: [Int]?, in source: PlannedSource) -> Indices {
        var found = all
        if let references {
            found.fields = references.flatMap { ofReferences[$0].fields }
            found.collectors = references.flatMap { ofReferences[$0].collectors }
        }
        if let extra = source.extraBuckets {
            found.fields.removeAll { fields[$0].extraBuckets != extra }
            found.collectors.removeAll { collectors[$0].extraBuckets != extra }
        }
        return found
    }
}

extension PlannedSource {
    /// Returns the times of a call's values in the source. A bucket of a subquery may start before
    /// the range and still counts.
    func times(in range: TimeRange) -> TimeRange {
        isSubquery ? TimeRange(lower: TimeRange.all.lower, upper: range.upper) : range
    }
}

/// A builder that collects the inputs of a plan's calls.
private struct Gathered {
    let plan: SelectPlan
    private let separatesCalls: Bool
    var places: [CallAssignments.Place] = []
    var fields: [CallAssignments.Field] = []
    var collectors: [CallAssignments.Collector] = []
    /// The fields and collectors of each reference, one per distinct range. Ranges are few.
    var ofReferences: [CallAssignments.Indices]

    init(_ plan: SelectPlan) {
        self.plan = plan
        separatesCalls = plan.sources.contains { $0.extraBuckets != nil }
        ofReferences = Array(repeating: CallAssignments.Indices(), count: plan.references.count)
    }

    mutating func add(_ call: PlannedCall, _ range: TimeRange) {
        let reference = call.argument
        // The planner refuses fields of a wrong type, but not the tags of a subquery.
        guard let type = plan.references[reference].type, call.aggregate?.accepts(type) ?? true
        else { return places.append(.nowhere) }
        // Else all calls read the same sources.
        let extra = separatesCalls ? call.extraBuckets : 0
        if let aggregate = call.aggregate, aggregate.isSimple, plan.auxiliary.isEmpty {
            places.append(.field(field(aggregate, type, reference, range, extra)))
        } else {
            places.append(.collector(collector(type, reference, range, extra)))
        }
    }

    private mutating func field(
        _ aggregate: Aggregate, _ type: FieldType, _ reference: Int, _ range: TimeRange,
        _ extra: Int64
    ) -> Int {
        let isEnd = aggregate == .first || aggregate.usesOnlyLastPoint
        let known = ofReferences[reference].fields.first {
            fields[$0].range == range && fields[$0].extraBuckets == extra
        }
        if let known {
            fields[known].needs.formUnion(BucketNeeds(aggregate))
            fields[known].needsOnlyEnds = fields[known].needsOnlyEnds && isEnd
            return known
        }
        ofReferences[reference].fields.append(fields.count)
        fields.append(
            CallAssignments.Field(
                reference: reference, type: type, range: range, extraBuckets: extra,
                needs: BucketNeeds(aggregate), needsOnlyEnds: isEnd && plan.buckets == nil))
        return fields.count - 1
    }

    private mutating func collector(
        _ type: FieldType, _ reference: Int, _ range: TimeRange, _ extra: Int64
    ) -> Int {
        let known = ofReferences[reference].collectors.first {
            collectors[$0].range == range && collectors[$0].extraBuckets == extra
        }
        if let known { return known }
        ofReferences[reference].collectors.append(collectors.count)
        collectors.append(
            CallAssignments.Collector(
                reference: reference, type: type, range: range, extraBuckets: extra))
        return collectors.count - 1
    }
}

extension SelectPlan {
    /// Returns the range extended by the buckets that a call's transformations need.
    func range(of call: PlannedCall) -> TimeRange {
        guard let buckets = buckets, call.aggregate != nil else { return self.range }
        let count = call.extraBuckets
        guard count > 0 else { return self.range }
        var range = self.range
        if isAscending {
            if hasLowerBound { range.lower = buckets.earlier(range.lower, by: count) }
        } else {
            let last = range.upper.addingSaturating(-1)
            range.upper = buckets.later(last, by: count).addingSaturating(1)
        }
        return range.intersection(.all)
    }
}

extension PlannedCall {
    /// The number of buckets before the range that the transformations need.
    fileprivate var extraBuckets: Int64 {
        aggregate == nil ? 0 : transformations.reduce(0) { $0 + $1.extraBuckets }
    }
}
