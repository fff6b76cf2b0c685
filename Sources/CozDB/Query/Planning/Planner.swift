// The planner: turns a parsed SELECT into a plan. It finds sources, expands wildcards, resolves
// names and types, and separates time bounds from other conditions. It reads schemas and, if every
// tag is part of the identity, series keys.

struct Planner {
    /// The properties that a subquery inherits from the outer statement.
    struct OuterQuery {
        var first: Int64?
        var last: Int64?
        var interval: (length: Int64, offset: Int64)
        var isAscending: Bool
        var dimensions: [PlannedDimension]
    }

    let snapshot: Snapshot
    let options: QueryOptions
    /// The tag names of experiments whose identity is all tags, by experiment id.
    private var tagNamesByExperiment: [Int: Set<Name>] = [:]
    /// The tags that the patterns in GROUP BY stand for, by the offset of the statement.
    private var patternTagsByOffset: [Int: Set<Name>] = [:]
    /// The number of FROM items so far, including those of subqueries.
    private var sourceCount = 0
    private var subqueryCount = 0
    /// The bindings of the subqueries so far.
    private(set) var bindingCount = 0
    /// The approximate memory of the columns so far, including those of subqueries.
    var columnsSizeBytes = 0
    /// The approximate memory of the conditions so far.
    var conditionSizeBytes = 0

    init(snapshot: Snapshot, options: QueryOptions) {
        self.snapshot = snapshot
        self.options = options
    }

    mutating func plan(
        _ statement: SelectStatement, inside outer: OuterQuery? = nil
    ) throws(DatabaseError) -> SelectPlan {
        var zone: TimeZoneRules?
        if let name = statement.zone {
            zone = try DatabaseError.located(at: statement.zoneOffset) { () throws(DatabaseError) in
                try TimeZoneRules(named: name)
            }
        }
        var checks = try StatementChecks(statement, now: options.currentTime, zone: zone)
        let hasOwnInterval = checks.interval != 0
        try checks.checkFields(inherited: outer.map { ($0.interval.length, $0.interval.offset) })
        let plan = SelectPlan()
        plan.zone = zone
        plan.timeName = checks.timeName
        plan.limits = statement.limits
        plan.isAscending = outer?.isAscending ?? statement.isAscending ?? true
        if let outer, let own = statement.isAscending, own != outer.isAscending {
            throw DatabaseError(
                .usage,
                "subqueries must be ordered in the same direction as the query itself",
                offset: statement.offset)
        }
        plan.fill = statement.fill
        // The outer statement would discard empty buckets.
        if outer != nil, plan.fill == .null { plan.fill = .none }
        if checks.interval != 0 {
            plan.buckets = TimeBuckets(interval: checks.interval, offset: checks.offset, zone: zone)
        }
        let bounds = bound(plan, checks, hasOwnInterval: hasOwnInterval, outer)
        try findSources(plan, statement, checks, bounds, outer)
        try resolveDimensions(plan, statement, outer)
        try checkDimensions(plan, statement)
        if !options.influxCompatible { try TimeConditionChecks.checkDates(statement.condition) }
        try planColumns(plan, try expanded(plan, statement, checks.fields))
        try resolveConditions(plan, checks.split.rest)
        bindingCount += plan.bindingCount
        return plan
    }

    private func bound(
        _ plan: SelectPlan, _ checks: StatementChecks, hasOwnInterval: Bool,
        _ outer: OuterQuery?
    ) -> (first: Int64?, last: Int64?) {
        var first = checks.split.first
        var last = checks.split.last
        if let bound = outer?.first { first = max(first ?? bound, bound) }
        if let bound = outer?.last { last = min(last ?? bound, bound) }
        // Without an upper bound, buckets end at now(); fill() would never end otherwise.
        if last == nil, hasOwnInterval {
            last = options.currentTime.nanoseconds
            plan.endsAtPlanningTime = true
        }
        plan.hasLowerBound = first != nil
        plan.hasUpperBound = last != nil
        plan.range = TimeRange(
            lower: max(first ?? .min, TimeRange.all.lower),
            upper: min((last ?? .max).addingSaturating(1), TimeRange.all.upper))
        return (first, last)
    }

    // MARK: Sources

    private mutating func findSources(
        _ plan: SelectPlan, _ statement: SelectStatement, _ checks: StatementChecks,
        _ bounds: (first: Int64?, last: Int64?), _ outer: OuterQuery?
    ) throws(DatabaseError) {
        try checkPatterns(statement.sources)
        var names: [PlannedDimension] = outer?.dimensions ?? []
        if statement.sources.contains(where: \.isSubquery) {
            // Each name once: nested subqueries would multiply them.
            var known = Set(names.map { Name($0.name) })
            var own = try patternTags(statement)
            for case .reference(let reference) in statement.dimensions
            // A dimension that is a column of the subquery does not group inside it.
            where reference.kind == .any || reference.kind == .tag {
                own.insert(Name(reference.name))
            }
            for name in own where known.insert(name).inserted {
                names.append(PlannedDimension(name: name.text, kind: .any))
            }
        }
        var extras: Set<Int64> = []
        for field in statement.fields { Planner.collectExtraBuckets(field.expression, &extras) }
        var known: Set<ObjectIdentifier> = []
        for source in statement.sources {
            if case .subquery(let inner) = source {
                // Series functions read beyond the range, which limits only their results.
                let (first, last) = checks.seriesCall == nil ? bounds : (nil, nil)
                let around = OuterQuery(
                    first: first, last: last,
                    interval: (checks.interval, checks.offset), isAscending: plan.isAscending,
                    dimensions: names)
                try append(inner, to: plan, extras.sorted(), around)
                continue
            }
            for view in try experiments(source)
            where known.insert(ObjectIdentifier(view)).inserted {
                append(.experiment(view), to: plan)
            }
        }
    }

    /// Returns the tags by which `*` and regular expressions in GROUP BY group the subqueries of a
    /// statement: those of the experiments next to them, and those that subqueries group by.
    private mutating func patternTags(
        _ statement: SelectStatement
    ) throws(DatabaseError) -> Set<Name> {
        let patterns = statement.dimensions.filter(\.isPattern)
        guard !patterns.isEmpty else { return [] }
        if let known = patternTagsByOffset[statement.offset] { return known }
        try checkPatterns(statement.sources)
        var tags: Set<Name> = []
        for source in statement.sources {
            for view in try experiments(source) { tags.formUnion(try tagNames(view)) }
            guard case .subquery(let inner) = source else { continue }
            tags.formUnion(try patternTags(inner))
            for case .reference(let reference) in inner.dimensions {
                tags.insert(Name(reference.name))
            }
        }
        try Planner.checkPatterns(patterns.count, over: tags.count)
        var grouping: Set<Name> = []
        for pattern in patterns {
            grouping.formUnion(try Planner.filter(tags) { pattern.isPattern(of: $0.text) })
        }
        patternTagsByOffset[statement.offset] = grouping
        return grouping
    }

    /// Appends a subquery. It begins with the buckets that the transformations of the calls around
    /// it need. If they need different numbers, it is planned for each: as in InfluxDB, each call
    /// reads its own range.
    private mutating func append(
        _ statement: SelectStatement, to plan: SelectPlan, _ extras: [Int64], _ outer: OuterQuery
    ) throws(DatabaseError) {
        let isBounded = (plan.isAscending ? outer.first : outer.last) != nil
        guard let buckets = plan.buckets, isBounded, !extras.isEmpty else {
            return append(.subquery(try planSubquery(statement, inside: outer, of: plan)), to: plan)
        }
        for extra in extras {
            var outer = outer
            if plan.isAscending {
                outer.first = outer.first.map { buckets.earlier($0, by: extra) }
            } else {
                outer.last = outer.last.map { buckets.later($0, by: extra) }
            }
            let inner = try planSubquery(statement, inside: outer, of: plan)
            append(.subquery(inner), to: plan, for: extras.count > 1 ? extra : nil)
        }
    }

    private mutating func planSubquery(
        _ statement: SelectStatement, inside outer: OuterQuery, of plan: SelectPlan
    ) throws(DatabaseError) -> SelectPlan {
        subqueryCount += 1
        guard subqueryCount <= Parser.subqueryCountMax else {
            throw DatabaseError(
                .limitExceeded,
                "statement has more than \(Parser.subqueryCountMax) subqueries, of which some are "
                    + "read for calls with and without transformations; select these calls in "
                    + "several statements", offset: statement.offset)
        }
        let inner = try self.plan(statement, inside: outer)
        if inner.endsAtPlanningTime { plan.endsAtPlanningTime = true }
        return inner
    }

    /// Collects the numbers of buckets before the range that the transformations of calls need.
    private static func collectExtraBuckets(_ expression: Expression, _ found: inout Set<Int64>) {
        switch expression {
        case .call(let call) where MathFunction(rawValue: call.name) == nil:
            found.insert(extraBuckets(expression))
        case .distinct: found.insert(0)
        default: for part in expression.parts { collectExtraBuckets(part, &found) }
        }
    }

    /// Returns the number of buckets before the range that nested transformations need.
    private static func extraBuckets(_ expression: Expression) -> Int64 {
        guard case .call(let call) = expression, let argument = call.arguments.first else {
            return 0
        }
        switch argument {
        // A computed field has no buckets.
        case .call(let inner) where MathFunction(rawValue: inner.name) != nil: return 0
        case .call, .distinct: break
        default: return 0
        }
        let isTransformation =
            Transformation.names.contains(call.name)
            || TechnicalFunction.Kind(rawValue: call.name) != nil
        let own: Int64 = isTransformation && call.name != "cumulative_sum" ? 1 : 0
        return own + extraBuckets(argument)
    }

    private mutating func append(
        _ origin: PlannedSource.Origin, to plan: SelectPlan, for extraBuckets: Int64? = nil
    ) {
        plan.sources.append(
            PlannedSource(origin, number: sourceCount, extraBuckets: extraBuckets))
        sourceCount += 1
    }

    /// Returns the experiments that an item of FROM names.
    func experiments(_ source: Source) throws(DatabaseError) -> [ExperimentView] {
        switch source {
        case .subquery: return []
        case .pattern(let regex, _, _):
            return try Planner.filter(snapshot.experiments) { regex.matches($0.schema.name) }
        case .experiment(let name, _, let offset):
            if let view = snapshot.experiment(name) { return [view] }
            if options.influxCompatible { return [] }
            throw DatabaseError(
                .notFound,
                "there is no experiment \"\(name)\""
                    + NameSuggestion.text(name, among: snapshot.experiments.map(\.schema.name)),
                offset: offset)
        }
    }

    /// Returns the names of an experiment's identity tags and attributes.
    mutating func tagNames(_ view: ExperimentView) throws(DatabaseError) -> Set<Name> {
        var names = try identityTags(view)
        for attribute in view.schema.attributes { names.insert(Name(attribute.name)) }
        return names
    }

    mutating func identityTags(_ view: ExperimentView) throws(DatabaseError) -> Set<Name> {
        if view.schema.identity != .allTags {
            return Set(view.schema.identity.tagNames.map { Name($0) })
        }
        if let known = tagNamesByExperiment[view.schema.id] { return known }
        // The tags of segments are in their files.
        if let brief = options.brief, view.sources.contains(where: \.isFile) {
            throw brief.giveUp()
        }
        var names: Set<Name> = []
        // Most series have the same tags as the previous one.
        var last: [UInt8] = []
        var count = 0
        try view.forEachSeries { series throws(DatabaseError) in
            count += 1
            if count % 4096 == 0, options.isCancelled?() == true {
                throw DatabaseError(.cancelled, "the query was cancelled")
            }
            let own = series.key.nameBytes
            if own == last { return }
            last = own
            for tag in series.key.tags { names.insert(Name(tag.name)) }
        }
        tagNamesByExperiment[view.schema.id] = names
        return names
    }

    // MARK: Dimensions and wildcards

    private mutating func resolveDimensions(
        _ plan: SelectPlan, _ statement: SelectStatement, _ outer: OuterQuery?
    ) throws(DatabaseError) {
        var found: [Name: PlannedDimension] = [:]
        let patternCount = statement.dimensions.count { $0.isPattern }
        let tags = patternCount > 0 ? try allTags(plan) : []
        try Planner.checkPatterns(patternCount, over: tags.count)
        for dimension in statement.dimensions {
            switch dimension {
            case .reference(let reference):
                try add(
                    PlannedDimension(
                        name: reference.name, kind: reference.kind, offset: reference.offset),
                    to: &found)
            case .wildcard, .regex:
                for name in try Planner.filter(tags, { dimension.isPattern(of: $0.text) }) {
                    try add(PlannedDimension(name: name.text, kind: .tag), to: &found)
                }
            default: break
            }
        }
        // The number to try next for each function that stands several times.
        var suffixes: [String: Int] = [:]
        for dimension in statement.dimensions {
            guard case .call(let call) = dimension, call.name != "time" else { continue }
            try CancellationCheck.check()
            var planned = try self.dimension(call, plan)
            while found[Name(planned.name)] != nil {
                let suffix = suffixes[call.name, default: 1]
                planned.name = "\(call.name)_\(suffix)"
                suffixes[call.name] = suffix + 1
            }
            found[Name(planned.name)] = planned
        }
        plan.ownDimensions = Set(found.keys)
        for dimension in outer?.dimensions ?? [] where found[Name(dimension.name)] == nil {
            found[Name(dimension.name)] = dimension
        }
        plan.dimensions = found.sorted { $0.key < $1.key }.map(\.value)
        try checkBindingCount(plan)
        for index in plan.sources.indices {
            for dimension in plan.dimensions {
                let binding = try bind(dimension, plan.sources[index])
                plan.sources[index].dimensions.append(binding)
            }
        }
    }

    /// Groups have one value for each name.
    private func add(
        _ dimension: PlannedDimension, to found: inout [Name: PlannedDimension]
    ) throws(DatabaseError) {
        let known = found.updateValue(dimension, forKey: Name(dimension.name))
        guard let known, known.wantsField != dimension.wantsField else { return }
        throw DatabaseError(
            .usage,
            "found the tag and the field \"\(dimension.name)\" in GROUP BY, which have one name in "
                + "the answer; group by one of them",
            offset: max(known.offset, dimension.offset))
    }

    private mutating func allTags(_ plan: SelectPlan) throws(DatabaseError) -> Set<Name> {
        var names: Set<Name> = []
        for source in plan.sources {
            switch source.origin {
            case .experiment(let view): names.formUnion(try tagNames(view))
            case .subquery(let inner): names.formUnion(inner.ownDimensions)
            }
        }
        return names
    }

    /// Expands `*` and regular expressions in the field list, in order of appearance.
    private mutating func expanded(
        _ plan: SelectPlan, _ statement: SelectStatement, _ fields: [SelectField]
    ) throws(DatabaseError) -> [SelectField] {
        let patternCount = fields.count { field in
            var found = false
            field.expression.walk { part in
                if part.isPattern { found = true }
            }
            return found
        }
        guard patternCount > 0 else {
            try charge(fields[...])
            return fields
        }
        let columns = try allColumns(plan, statement)
        try Planner.checkPatterns(patternCount, over: columns.count)
        var result: [SelectField] = []
        for field in fields {
            let start = result.count
            switch field.expression {
            case .wildcard(let kind):
                for column in columns where kind == .any || (kind == .tag) == column.isTag {
                    result.append(SelectField(expression: .reference(column.reference)))
                }
            case .regex(let regex):
                for column in try Planner.filter(columns, { regex.matches($0.reference.name) }) {
                    result.append(SelectField(expression: .reference(column.reference)))
                }
            case .call(let call): result += try expanded(field, call, columns)
            default: result.append(field)
            }
            try charge(result[start...])
        }
        return result
    }

    private struct WildcardColumn {
        var reference: Reference
        var type: FieldType
        var isTag: Bool
    }

    /// Returns all fields and tags by name, without the tags that the statement groups by.
    private mutating func allColumns(
        _ plan: SelectPlan, _ statement: SelectStatement
    ) throws(DatabaseError) -> [WildcardColumn] {
        var fields: [Name: FieldType] = [:]
        // The fields of one experiment are already sorted, so sorting them is cheap.
        var names: [Name] = []
        // Tags selected by subqueries.
        var selected: Set<Name> = []
        for source in plan.sources {
            var own: [(String, FieldType?)]
            switch source.origin {
            case .experiment(let view): own = view.schema.fields.map { ($0.name, $0.type) }
            case .subquery(let inner):
                // A name refers to the first column that has it.
                var known: Set<Name> = []
                let first = inner.columns.filter { known.insert(Name($0.baseName)).inserted }
                own = first.filter { !$0.isTag }.map { ($0.baseName, $0.type) }
                for column in first where column.isTag { selected.insert(Name(column.baseName)) }
            }
            for case (let text, let type?) in own {
                let name = Name(text)
                let known = fields.updateValue(type, forKey: name)
                if known == nil { names.append(name) }
                if let known { fields[name] = Planner.wider(known, type) }
            }
        }
        guard !fields.isEmpty || !selected.isEmpty else { return [] }
        // If GROUP BY has a pattern, its tags are not known yet: no tag becomes a column.
        let isByPattern = statement.dimensions.contains { $0.isPattern }
        let known = try allTags(plan)
        var tags = isByPattern ? [] : known.subtracting(plan.ownDimensions)
        tags.formUnion(selected.filter { fields[$0] == nil })
        var columns: [WildcardColumn] = []
        for name in names {
            guard let type = fields[name] else { continue }
            // Otherwise it would show the tag of a source that lacks the field.
            let kind: ReferenceKind = known.contains(name) ? .field : .any
            columns.append(
                WildcardColumn(
                    reference: Reference(name: name.text, kind: kind), type: type, isTag: false))
        }
        for name in tags {
            let kind: ReferenceKind = fields[name] != nil ? .tag : .any
            columns.append(
                WildcardColumn(
                    reference: Reference(name: name.text, kind: kind), type: .string, isTag: true))
        }
        return columns.sorted {
            let (a, b) = (Name($0.reference.name), Name($1.reference.name))
            return a == b ? !$0.isTag && $1.isTag : a < b
        }
    }

    /// Expands `f(*)` and `f(/x/)`, also inside transformations, to one column per matching field.
    private func expanded(
        _ field: SelectField, _ call: Call, _ columns: [WildcardColumn]
    ) throws(DatabaseError) -> [SelectField] {
        var innermost = call
        while case .call(let inner)? = innermost.arguments.first { innermost = inner }
        var regex: Regex?
        switch innermost.arguments.first {
        case .wildcard(.tag)?:
            throw DatabaseError(
                .usage, "unable to use tag wildcard in \(innermost.name)()",
                offset: innermost.offset)
        case .wildcard?: break
        case .regex(let found)?: regex = found
        default: return [field]
        }
        var fields: [SelectField] = []
        for column in columns where !column.isTag {
            guard Planner.accepts(innermost.name, column.type),
                regex?.matches(column.reference.name) ?? true
            else { continue }
            let name = field.alias ?? call.name
            fields.append(
                SelectField(
                    expression: Planner.replacing(call, with: column.reference),
                    alias: "\(name)_\(column.reference.name)"))
        }
        return fields
    }

    private static func accepts(_ function: String, _ type: FieldType) -> Bool {
        if let aggregate = Aggregate(rawValue: function) { return aggregate.accepts(type) }
        return switch function {
        case "elapsed", "nearest": true
        default: type == .float || type == .integer
        }
    }

    private static func replacing(_ call: Call, with reference: Reference) -> Expression {
        var call = call
        if case .call(let inner)? = call.arguments.first {
            call.arguments[0] = replacing(inner, with: reference)
        } else {
            call.arguments[0] = .reference(reference)
        }
        return .call(call)
    }

    /// Returns the type of a column whose sources disagree, by InfluxDB's precedence.
    static func wider(_ left: FieldType?, _ right: FieldType) -> FieldType {
        guard let left else { return right }
        return left.rawValue <= right.rawValue ? left : right
    }
}
