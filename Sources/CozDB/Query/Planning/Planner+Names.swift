// Resolves names to the columns of each source.

extension Planner {
    /// Returns the meaning of a name in one source.
    mutating func bind(
        _ name: String, _ kind: ReferenceKind, _ source: PlannedSource
    ) throws(DatabaseError) -> Binding {
        switch source.origin {
        case .experiment(let view):
            if kind != .tag, let field = view.schema.field(name) {
                return .column(field.id, isTag: false)
            }
            guard kind == .any || kind == .tag else { return .missing }
            if let attribute = view.schema.attribute(name) {
                return .column(attribute.id, isTag: true)
            }
            return try identityTags(view).contains(Name(name)) ? .tag(name) : .missing
        case .subquery(let inner):
            if let index = inner.column(named: name), kind != .tag || inner.columns[index].isTag {
                return .output(index)
            }
            return inner.ownDimensions.contains(Name(name)) ? .tag(name) : .missing
        }
    }

    /// Returns the meaning of a GROUP BY item in one source: a tag unless it ends with `::field`.
    mutating func bind(
        _ dimension: PlannedDimension, _ source: PlannedSource
    ) throws(DatabaseError) -> Binding {
        if dimension.function != nil { return .computed }
        let name = dimension.name
        switch source.origin {
        case .subquery(let inner):
            if dimension.wantsField { return try bind(name, .field, source) }
            return inner.hasDimension(name) ? .tag(name) : .missing
        case .experiment(let view):
            if dimension.wantsField {
                guard let field = view.schema.field(name) else { return .missing }
                guard field.type == .string || field.type == .boolean else {
                    throw DatabaseError(
                        .usage,
                        "GROUP BY \(dimension.kind.suffix.isEmpty ? name : name + "::field") needs "
                            + "a string or boolean field; \"\(name)\" is \(field.type.name)",
                        offset: dimension.offset)
                }
                return .column(field.id, isTag: false)
            }
            return try bind(name, .tag, source)
        }
    }

    /// Refuses GROUP BY items that no source has. InfluxDB makes one group.
    mutating func checkDimensions(
        _ plan: SelectPlan, _ statement: SelectStatement
    ) throws(DatabaseError) {
        guard !options.influxCompatible, !plan.sources.isEmpty else { return }
        for case .reference(let reference) in statement.dimensions {
            var isKnown = false
            for source in plan.sources where !isKnown {
                isKnown = try knows(reference, source)
            }
            if isKnown { continue }
            let isField = plan.sources.contains { source in
                guard case .experiment(let view) = source.origin else { return false }
                return view.schema.field(reference.name) != nil
            }
            if reference.kind == .any, isField {
                let name = reference.name
                throw DatabaseError(
                    .usage,
                    "found the field \"\(name)\" in GROUP BY, which expects tags; to group by the "
                        + "values of the field, write \(Reference(name: name).text)::field",
                    offset: reference.offset)
            }
            let planned = PlannedReference(
                name: reference.name, kind: reference.kind, type: nil, isTag: false,
                offset: reference.offset)
            try reportUnknown(planned, plan)
        }
    }

    private mutating func knows(
        _ reference: Reference, _ source: PlannedSource
    ) throws(DatabaseError) -> Bool {
        switch source.origin {
        case .experiment(let view):
            // An experiment without data has no known tags yet.
            if view.sources.isEmpty { return true }
            let kind = reference.kind == .any ? .tag : reference.kind
            if case .missing = try bind(reference.name, kind, source) { return false }
            return true
        case .subquery(let inner):
            if inner.column(named: reference.name) != nil {
                return true
            }
            if inner.dimensions.contains(where: {
                $0.function != nil && Name($0.name) == Name(reference.name)
            }) {
                return true
            }
            for source in inner.sources where try knows(reference, source) { return true }
            return false
        }
    }

    /// The number of names times sources, and of patterns times names, that a statement may have: a
    /// hundred times what the experiments of a large study have. Each name is looked up in each
    /// source.
    private static let combinationCountMax = 1 << 22

    func checkBindingCount(_ plan: SelectPlan) throws(DatabaseError) {
        guard bindingCount + plan.bindingCount > Planner.combinationCountMax else { return }
        guard bindingCount == 0 else {
            throw Planner.tooMany(
                "\(bindingCount + plan.bindingCount) columns of subqueries and in experiments",
                "name the columns in place of a wildcard, or nest fewer subqueries")
        }
        throw Planner.tooMany(
            "\(plan.references.count + plan.dimensions.count) columns and tags in "
                + "\(plan.sources.count) experiments or subqueries",
            "name the columns in place of a wildcard, or fewer experiments in FROM")
    }

    /// Refuses columns whose names and expressions would need more memory than a statement may
    /// have. Wildcards of nested subqueries multiply them.
    mutating func charge(_ fields: ArraySlice<SelectField>) throws(DatabaseError) {
        try CancellationCheck.check()
        for field in fields {
            let name = field.alias ?? field.expression.columnName
            columnsSizeBytes += 1024 + 6 * name.utf8.count
        }
        let sizeBytesMax = options.effectiveLimits.memorySizeBytesMax
        guard columnsSizeBytes > max(sizeBytesMax, Planner.uncountedSizeBytesMax) else { return }
        throw DatabaseError(
            .limitExceeded,
            "the columns of the statement need \(columnsSizeBytes) bytes of memory, more than "
                + "\(sizeBytesMax) (memorySizeBytesMax); select fewer columns, or raise the limit")
    }

    /// Not counted: what the columns of any ordinary statement take.
    private static let uncountedSizeBytesMax = 16 << 20

    /// Refuses too many wildcards and regular expressions: each is matched with each name.
    static func checkPatterns(_ count: Int, over names: Int) throws(DatabaseError) {
        guard count > 1, count * names > combinationCountMax else { return }
        throw tooMany(
            "\(count) patterns to match with \(names) names",
            "join regular expressions by |, or write names")
    }

    /// Returns the elements whose name a pattern matches. A match can take long.
    static func filter<Element>(
        _ elements: some Sequence<Element>, _ isMatch: (Element) -> Bool
    ) throws(DatabaseError) -> [Element] {
        var found: [Element] = []
        for element in elements {
            try CancellationCheck.check()
            if isMatch(element) { found.append(element) }
        }
        return found
    }

    /// Refuses too many patterns of experiments.
    func checkPatterns(_ sources: [Source]) throws(DatabaseError) {
        let count = sources.count { if case .pattern = $0 { true } else { false } }
        // One statement must not cost all experiments, which a redacted snapshot masks.
        guard count > 1 else { return }
        try Planner.checkPatterns(count, over: snapshot.experiments.count)
    }

    /// Refuses too many fields of DELETE: each is looked up in each experiment.
    static func checkFields(_ count: Int, in experiments: Int) throws(DatabaseError) {
        guard count * experiments > combinationCountMax else { return }
        throw tooMany(
            "\(count) fields in \(experiments) experiments",
            "delete from fewer experiments at a time")
    }

    /// Refuses a long WHERE of SHOW over very many experiments: each gives its names another
    /// meaning, so WHERE is read for each.
    static func checkCondition(
        _ condition: Expression?, in experiments: Int
    ) throws(DatabaseError) {
        var count = 0
        condition?.walk { _ in count += 1 }
        guard count * experiments > conditionPartCountMax else { return }
        throw DatabaseError(
            .limitExceeded,
            "found \(count) names and values in WHERE and \(experiments) experiments, expected at "
                + "most \(conditionPartCountMax) combinations; shorten WHERE, or name fewer "
                + "experiments")
    }

    /// The number of names and values of WHERE, times experiments, that SHOW may have.
    private static let conditionPartCountMax = 1 << 25

    private static func tooMany(_ found: String, _ advice: String) -> DatabaseError {
        DatabaseError(
            .limitExceeded,
            "found \(found), expected at most \(combinationCountMax) combinations; \(advice)")
    }

    /// Binds the references from an index on in every source and determines their types.
    mutating func bindReferences(
        _ plan: SelectPlan, from start: Int, inCondition: Bool = false
    ) throws(DatabaseError) {
        try checkBindingCount(plan)
        for index in start..<plan.references.count {
            try CancellationCheck.check()
            if plan.references[index].computation != nil {
                for source in plan.sources.indices {
                    plan.sources[source].bindings.append(.computed)
                }
                plan.references[index].type = try plan.type(ofComputed: index)
                continue
            }
            let isKnown = try bindReference(index, plan)
            if !isKnown {
                try reportUnknown(plan.references[index], plan, inCondition: inCondition)
            }
        }
    }

    /// Binds a reference in every source and determines its type, which is one in the whole
    /// statement.
    ///
    /// - Returns: whether a source has the name.
    private mutating func bindReference(
        _ index: Int, _ plan: SelectPlan
    ) throws(DatabaseError) -> Bool {
        let reference = plan.references[index]
        // Tags count only where no source has a field of the name.
        var fieldType: FieldType?
        var hasTag = false
        var isTag = true
        var isKnown = false
        var isConvertible = false
        for source in plan.sources {
            let binding = try bind(reference.name, reference.kind, source)
            source.bindings.append(binding)
            if case .missing = binding { continue }
            isKnown = true
            let own: FieldType?
            switch (binding, source.origin) {
            case (.column(let id, isTag: false), .experiment(let view)):
                own = view.schema.column(id).type
                isTag = false
            case (.output(let column), .subquery(let inner)):
                own = inner.columns[column].isTag ? nil : inner.columns[column].type
                hasTag = hasTag || inner.columns[column].isTag
                isTag = false
            default:
                own = nil
                hasTag = true
            }
            guard let own else { continue }
            fieldType = Planner.wider(fieldType, own)
            if case .type(let wanted) = reference.kind, own.converts(to: wanted) {
                isConvertible = true
            }
        }
        var type = fieldType ?? (hasTag ? .string : nil)
        if case .type(let wanted) = reference.kind {
            // A subquery has rows even where it does not have the column.
            let isOfSubquery = plan.sources.contains { $0.isSubquery }
            type = isConvertible || isOfSubquery ? wanted : nil
        }
        plan.references[index].type = type
        plan.references[index].isTag = isTag && isKnown
        for source in plan.sources
        where source.isNull(index, reference.kind, type, isField: fieldType != nil) {
            source.bindings[index] = .null
        }
        return isKnown
    }

    /// Throws for a name that no source has, which is probably misspelled. InfluxDB ignores it.
    private mutating func reportUnknown(
        _ reference: PlannedReference, _ plan: SelectPlan, inCondition: Bool = false
    ) throws(DatabaseError) {
        guard !options.influxCompatible, !plan.sources.isEmpty, reference.name != "time" else {
            return
        }
        let isGrouped = plan.sources.contains { $0.groups(by: reference.name, reference.kind) }
        if inCondition, isGrouped { return }
        var names: [String] = []
        var places: [String] = []
        for source in plan.sources {
            switch source.origin {
            case .experiment(let view):
                names += view.schema.columns.filter { !$0.isRemoved }.map(\.name)
                names += try identityTags(view).map(\.text)
                places.append("experiment \"\(view.schema.name)\"")
            case .subquery(let inner):
                names += inner.columns.map(\.baseName) + inner.ownDimensions.map(\.text)
                places.append("the subquery")
            }
        }
        let place = places.count == 1 ? places[0] : "any of \(places.count) experiments"
        if names.contains(where: { Name($0) == Name(reference.name) }) {
            let (own, other) = reference.kind == .tag ? ("field", "tag") : ("tag", "field")
            throw DatabaseError(
                .usage, "\"\(reference.name)\" is a \(own) in \(place), not a \(other)",
                offset: reference.offset)
        }
        var hint = NameSuggestion.text(reference.name, among: names)
        if hint.isEmpty, inCondition { hint = "; write a string literal in single quotes" }
        throw DatabaseError(
            .usage, "there is no field or tag \"\(reference.name)\" in \(place)" + hint,
            offset: reference.offset)
    }

    // MARK: Conditions

    mutating func resolveConditions(
        _ plan: SelectPlan, _ condition: Expression?
    ) throws(DatabaseError) {
        guard let condition else { return }
        let start = plan.references.count
        try plan.registerCondition(condition)
        try bindReferences(plan, from: start, inCondition: true)
        // Experiments whose names mean the same share a condition.
        var bound: [BoundNames: Evaluation] = [:]
        for source in plan.sources {
            let names = source.isSubquery ? nil : BoundNames(plan, source)
            if let names, let known = bound[names] {
                source.condition = known
                continue
            }
            try charge(condition)
            let own = try ConditionBinder(plan: plan, source: source).bind(condition)
            source.condition = own
            if let names { bound[names] = own }
        }
    }

    /// Refuses a condition that would need more memory than a statement may have, because names
    /// mean something else in each of many experiments.
    private mutating func charge(_ condition: Expression) throws(DatabaseError) {
        try CancellationCheck.check()
        condition.walk { part in
            conditionSizeBytes += 200
            if case .string(let text, _) = part { conditionSizeBytes += 2 * text.utf8.count }
        }
        let sizeBytesMax = options.effectiveLimits.memorySizeBytesMax
        guard conditionSizeBytes > max(sizeBytesMax, Planner.uncountedSizeBytesMax) else { return }
        throw DatabaseError(
            .limitExceeded,
            "WHERE needs \(conditionSizeBytes) bytes of memory in all experiments, more than "
                + "\(sizeBytesMax) (memorySizeBytesMax); shorten it, name fewer experiments, or "
                + "raise the limit")
    }
}

/// What the names of a statement mean in an experiment. Experiments with equal ones share their
/// conditions.
struct BoundNames: Hashable {
    private let meanings: [NameMeaning]
    private let types: [FieldType?]

    init(_ plan: SelectPlan, _ source: PlannedSource) {
        meanings = source.bindings.map { NameMeaning($0) }
        types = plan.references.map(\.type)
    }
}

/// What a condition makes of a name in an experiment. The column that it names there is no part of
/// the condition.
private enum NameMeaning: Hashable {
    case column, attribute, computed, null, missing
    case tag(Name)
    case output(Int)

    init(_ binding: Binding) {
        switch binding {
        case .column(_, let isTag): self = isTag ? .attribute : .column
        case .tag(let name): self = .tag(Name(name))
        case .output(let column): self = .output(column)
        case .computed: self = .computed
        case .null: self = .null
        case .missing: self = .missing
        }
    }
}

extension SelectPlan {
    /// Returns the index of a reference, adding it if it is new.
    func reference(_ reference: Reference) -> Int {
        let key = ReferenceKey(name: Name(reference.name), kind: reference.kind)
        if let known = numbers[key] { return known }
        numbers[key] = references.count
        references.append(
            PlannedReference(
                name: reference.name, kind: reference.kind, type: nil, isTag: false,
                offset: reference.offset))
        return references.count - 1
    }
}

extension FieldType {
    /// Whether values of this type can be shown as another type.
    fileprivate func converts(to other: FieldType) -> Bool {
        self == other || (isNumber && other.isNumber)
    }

    private var isNumber: Bool { self == .float || self == .integer }
}

extension PlannedSource {
    /// Returns whether a reference is null in every row, because its type in the statement is not
    /// that of the name in this source.
    ///
    /// - Parameters:
    ///   - type: the type of the reference.
    ///   - isField: whether the name is a field in some source.
    func isNull(
        _ reference: Int, _ kind: ReferenceKind, _ type: FieldType?, isField: Bool
    ) -> Bool {
        switch (bindings[reference], origin) {
        case (.column(let id, isTag: false), .experiment(let view)):
            guard let type else { return true }
            return !view.schema.column(id).type.converts(to: type)
        case (.column, _), (.tag, _): return type != .string
        // A missing tag is the empty string, a missing field is null.
        case (.missing, .experiment): return kind == .any ? isField : kind != .tag
        default: return false
        }
    }

    /// Whether it is a subquery that is grouped by a tag of this name, itself or because the
    /// statement around it is.
    func groups(by name: String, _ kind: ReferenceKind) -> Bool {
        guard case .subquery(let inner) = origin else { return false }
        return (kind == .any || kind == .tag) && inner.hasDimension(name)
    }
}
