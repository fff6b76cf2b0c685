// Assigns the calls of a statement to accumulators and collectors. Calls with equal inputs share
// one. The assignment is the same for every group, so it is computed once. With thousands of
// columns, a group has few of them and gets an assignment of the calls that read these.

/// The accumulators and collectors of a group.
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
    /// The assigned calls, ascending.
    let calls: [Int]
    /// The place of the values of each of them.
    private let places: [Place]
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
    /// For each argument.
    private let ofArguments: [Indices]
    private let all: Indices
    private let separatesCalls: Bool
    /// Only one thread narrows assignments.
    private lazy var callsByArgument = Dictionary(grouping: calls) { plan.calls[$0].argument }

    struct Indices {
        var fields: [Int] = []
        var collectors: [Int] = []
    }

    /// Assigns all calls of a plan.
    convenience init(_ plan: SelectPlan) {
        self.init(
            plan, Array(plan.calls.indices),
            isMixed: plan.sources.contains(where: \.isSubquery)
                && !plan.sources.allSatisfy(\.isSubquery),
            separatesCalls: plan.sources.contains { $0.extraBuckets != nil })
    }

    private init(
        _ plan: SelectPlan, _ calls: [Int], isMixed: Bool, separatesCalls: Bool
    ) {
        (self.plan, self.calls) = (plan, calls)
        (self.isMixed, self.separatesCalls) = (isMixed, separatesCalls)
        collectorsNeedTimes =
            plan.buckets != nil || plan.singleSelector || !plan.auxiliary.isEmpty
            || !calls.allSatisfy { index in
                let call = plan.calls[index]
                return call.aggregate == .median || call.aggregate == .percentile
                    || call.aggregate?.isSimple == true
            }
        var arguments: [Int] = []
        for argument in calls.map({ plan.calls[$0].argument }).sorted()
        where arguments.last != argument {
            arguments.append(argument)
        }
        self.arguments = arguments
        var gathered = Gathered(plan, arguments, separatesCalls: separatesCalls)
        for index in calls { gathered.add(plan.calls[index], plan.range(of: plan.calls[index])) }
        hasComputed = arguments.contains { plan.references[$0].computation != nil }
        (places, fields, collectors) = (gathered.places, gathered.fields, gathered.collectors)
        ofArguments = gathered.ofArguments
        all = Indices(fields: Array(fields.indices), collectors: Array(collectors.indices))
    }

    /// Returns an assignment of the calls that read some references.
    func narrowed(to references: Set<Int>) -> CallAssignments {
        CallAssignments(
            plan, calls(of: references), isMixed: isMixed, separatesCalls: separatesCalls)
    }

    /// Returns the calls that read some references, ascending. fill() with a number gives all calls
    /// a value.
    func calls(of references: Set<Int>) -> [Int] {
        if case .number = plan.fill { return calls }
        return references.flatMap { callsByArgument[$0] ?? [] }.sorted()
    }

    /// Returns the place of the values of an assigned call.
    func place(of call: Int) -> Place {
        calls.count == plan.calls.count
            ? places[call] : places[calls.partitioningIndex { $0 >= call }]
    }

    /// Returns the fields and collectors of some references that read a source; nil means all.
    func indices(of references: [Int]?, in source: PlannedSource) -> Indices {
        var found = all
        if let references {
            found = Indices()
            for reference in references {
                let place = arguments.partitioningIndex { $0 >= reference }
                guard place < arguments.count, arguments[place] == reference else { continue }
                found.fields += ofArguments[place].fields
                found.collectors += ofArguments[place].collectors
            }
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
    /// The references that calls read, ascending.
    private let arguments: [Int]
    /// The fields and collectors of each of them, one per distinct range. Ranges are few.
    var ofArguments: [CallAssignments.Indices]

    init(_ plan: SelectPlan, _ arguments: [Int], separatesCalls: Bool) {
        (self.plan, self.arguments, self.separatesCalls) = (plan, arguments, separatesCalls)
        ofArguments = Array(repeating: CallAssignments.Indices(), count: arguments.count)
    }

    private func place(of reference: Int) -> Int {
        arguments.partitioningIndex { $0 >= reference }
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
        let place = place(of: reference)
        let known = ofArguments[place].fields.first {
            fields[$0].range == range && fields[$0].extraBuckets == extra
        }
        if let known {
            fields[known].needs.formUnion(BucketNeeds(aggregate))
            fields[known].needsOnlyEnds = fields[known].needsOnlyEnds && isEnd
            return known
        }
        ofArguments[place].fields.append(fields.count)
        fields.append(
            CallAssignments.Field(
                reference: reference, type: type, range: range, extraBuckets: extra,
                needs: BucketNeeds(aggregate), needsOnlyEnds: isEnd && plan.buckets == nil))
        return fields.count - 1
    }

    private mutating func collector(
        _ type: FieldType, _ reference: Int, _ range: TimeRange, _ extra: Int64
    ) -> Int {
        let place = place(of: reference)
        let known = ofArguments[place].collectors.first {
            collectors[$0].range == range && collectors[$0].extraBuckets == extra
        }
        if let known { return known }
        ofArguments[place].collectors.append(collectors.count)
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
