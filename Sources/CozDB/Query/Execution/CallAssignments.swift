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
        var range: CallRange
        var needs: BucketNeeds
        /// Whether only the first or the last value is needed.
        var needsOnlyEnds: Bool
    }

    /// A collector's input: a reference and a range whose points are all kept.
    struct Collector {
        var reference: Int
        var type: FieldType
        var range: CallRange
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
    /// Whether the ranges of experiments and of subqueries differ and FROM has both.
    let rangesDiffer: Bool
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
        // Calls have few distinct ranges, and subqueries many calls.
        var ranges: [TimeRange: CallRange] = [:]
        for call in plan.calls {
            let stored = plan.range(of: call)
            let range = ranges[stored] ?? CallRange(stored: stored, of: plan)
            ranges[stored] = range
            gathered.add(call, range)
            isRead[call.argument] = true
        }
        arguments = isRead.indices.filter { isRead[$0] }
        hasComputed = arguments.contains { plan.references[$0].computation != nil }
        (places, fields, collectors) = (gathered.places, gathered.fields, gathered.collectors)
        ofReferences = gathered.ofReferences
        rangesDiffer =
            plan.sources.contains { !$0.isSubquery }
            && (fields.contains { $0.range.differs } || collectors.contains { $0.range.differs })
        all = Indices(fields: Array(fields.indices), collectors: Array(collectors.indices))
    }

    /// Returns the fields and collectors of some references; nil means all.
    func indices(of references: [Int]?) -> Indices {
        guard let references else { return all }
        return Indices(
            fields: references.flatMap { ofReferences[$0].fields },
            collectors: references.flatMap { ofReferences[$0].collectors })
    }
}

/// The times of the values that a call reads.
struct CallRange: Equatable {
    /// The range in experiments.
    let stored: TimeRange
    /// The range in subqueries. A bucket of a subquery may start before the range and still counts.
    let ofSubqueries: TimeRange

    var differs: Bool { stored != ofSubqueries }

    fileprivate init(stored: TimeRange, of plan: SelectPlan) {
        self.stored = stored
        ofSubqueries = TimeRange(
            lower: plan.earliestRow(from: stored.lower), upper: stored.upper)
    }
}

/// A builder that collects the inputs of a plan's calls.
private struct Gathered {
    let plan: SelectPlan
    var places: [CallAssignments.Place] = []
    var fields: [CallAssignments.Field] = []
    var collectors: [CallAssignments.Collector] = []
    /// The fields and collectors of each reference, one per distinct range. Ranges are few.
    var ofReferences: [CallAssignments.Indices]

    init(_ plan: SelectPlan) {
        self.plan = plan
        ofReferences = Array(repeating: CallAssignments.Indices(), count: plan.references.count)
    }

    mutating func add(_ call: PlannedCall, _ range: CallRange) {
        let reference = call.argument
        // The planner refuses fields of a wrong type, but not the tags of a subquery.
        guard let type = plan.references[reference].type, call.aggregate?.accepts(type) ?? true
        else { return places.append(.nowhere) }
        if let aggregate = call.aggregate, aggregate.isSimple, plan.auxiliary.isEmpty {
            places.append(.field(field(aggregate, type, reference, range)))
        } else {
            places.append(.collector(collector(type, reference, range)))
        }
    }

    private mutating func field(
        _ aggregate: Aggregate, _ type: FieldType, _ reference: Int, _ range: CallRange
    ) -> Int {
        let isEnd = aggregate == .first || aggregate.usesOnlyLastPoint
        let known = ofReferences[reference].fields.first { fields[$0].range == range }
        if let known {
            fields[known].needs.formUnion(BucketNeeds(aggregate))
            fields[known].needsOnlyEnds = fields[known].needsOnlyEnds && isEnd
            return known
        }
        ofReferences[reference].fields.append(fields.count)
        fields.append(
            CallAssignments.Field(
                reference: reference, type: type, range: range, needs: BucketNeeds(aggregate),
                needsOnlyEnds: isEnd && plan.buckets == nil))
        return fields.count - 1
    }

    private mutating func collector(
        _ type: FieldType, _ reference: Int, _ range: CallRange
    ) -> Int {
        let known = ofReferences[reference].collectors.first { collectors[$0].range == range }
        if let known { return known }
        ofReferences[reference].collectors.append(collectors.count)
        collectors.append(CallAssignments.Collector(reference: reference, type: type, range: range))
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

    /// Returns a lower bound of the times of a subquery's rows that stored rows of the time `lower`
    /// or later have a part in.
    fileprivate func earliestTime(from lower: Int64) -> Int64 {
        if isRaw { return earliestRow(from: lower) }
        guard let buckets else { return TimeRange.all.lower }
        // A transformation may have results in the buckets that it reads before the range.
        let extra = calls.map(\.extraBuckets).max() ?? 0
        let first = isAscending ? buckets.earlier(lower, by: extra) : lower
        return max(buckets.bounds(first).start, TimeRange.all.lower)
    }

    /// Returns a lower bound of the times of all rows that the sources have from a time on.
    fileprivate func earliestRow(from lower: Int64) -> Int64 {
        sources.reduce(lower) { earliest, source in
            guard case .subquery(let inner) = source.origin else { return earliest }
            return min(earliest, inner.earliestTime(from: lower))
        }
    }
}

extension PlannedCall {
    /// The number of buckets before the range that the transformations need.
    fileprivate var extraBuckets: Int64 { transformations.reduce(0) { $0 + $1.extraBuckets } }
}
