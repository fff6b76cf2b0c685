// The field list: wildcards, names of columns, types, calls.

@testable internal import CozDB

/// One column of the answer.
struct NaiveField {
    var alias: String?
    /// Its name before names are made unique.
    var name: String
    var expression: Expression
    var type: FieldType?
}

/// A function of many rows, with the functions of neighbouring points around it.
struct NaiveCall {
    /// Equal calls have equal texts.
    var text: String
    /// Nil where points themselves are transformed.
    var aggregate: String?
    var argument: Reference
    var parameter = 0.0
    /// Tags by which top() and bottom() tell points apart.
    var tags: [Reference] = []
    /// Innermost first.
    var transformations: [(name: String, parameter: Int64?)] = []

    static let transformationNames: Set<String> = [
        "derivative", "non_negative_derivative", "difference", "non_negative_difference",
        "elapsed", "moving_average", "cumulative_sum",
    ]

    var isSelector: Bool {
        let selectors = ["first", "last", "min", "max", "percentile", "top", "bottom"]
        return selectors.contains(aggregate ?? "") && transformations.isEmpty
    }

    init(_ expression: Expression) throws {
        text = expression.naiveText
        switch expression {
        case .distinct(let reference):
            (aggregate, argument) = ("distinct", reference)
        case .call(let call):
            guard let first = call.arguments.first else { throw NaiveUnsupported(what: text) }
            if Self.transformationNames.contains(call.name) {
                if case .reference(let reference) = first {
                    (aggregate, argument) = (nil, reference)
                } else {
                    self = try NaiveCall(first)
                    text = expression.naiveText
                }
                transformations.append((call.name, call.arguments.dropFirst().first?.naiveWhole))
                return
            }
            switch (call.name, first) {
            case ("count", .distinct(let reference)):
                (aggregate, argument) = ("count_distinct", reference)
            case ("count", .call(let inner)):
                guard case .reference(let reference)? = inner.arguments.first else {
                    throw NaiveUnsupported(what: text)
                }
                (aggregate, argument) = ("count_distinct", reference)
            case (_, .reference(let reference)): (aggregate, argument) = (call.name, reference)
            default: throw NaiveUnsupported(what: text)
            }
            if case .number(let number)? = call.arguments.last { parameter = number }
            if let whole = call.arguments.last?.naiveWhole { parameter = Double(whole) }
            if call.name == "integral", call.arguments.count == 1 { parameter = 1e9 }
            for case .reference(let reference) in call.arguments.dropFirst() {
                tags.append(reference)
            }
        default: throw NaiveUnsupported(what: text)
        }
    }

    /// The type of an aggregate's value.
    static func type(of aggregate: String?, _ argument: FieldType?) -> FieldType? {
        switch aggregate {
        case "count"?, "count_distinct"?: .integer
        case "mean"?, "median"?, "stddev"?, "integral"?: .float
        default: argument
        }
    }

    func type(_ argument: FieldType?) -> FieldType? {
        guard let argument else { return nil }
        return transformations.reduce(Self.type(of: aggregate, argument)) { type, step in
            switch step.name {
            case "elapsed": .integer
            case "derivative", "non_negative_derivative", "moving_average": .float
            default: type
            }
        }
    }
}

extension Expression {
    var naiveWhole: Int64? {
        switch self {
        case .integer(let value), .duration(let value): value
        default: nil
        }
    }

    /// The names that an expression reads itself, not through a call.
    var naiveReferences: [Reference] {
        switch self {
        case .reference(let reference): [reference]
        case .binary(_, let left, let right): left.naiveReferences + right.naiveReferences
        case .parenthesis(let inner): inner.naiveReferences
        case .call(let call) where NaiveValue.mathNames.contains(call.name):
            call.arguments.flatMap(\.naiveReferences)
        default: []
        }
    }

    /// The functions of many rows in it.
    var naiveCalls: [Expression] {
        switch self {
        case .distinct: [self]
        case .binary(_, let left, let right): left.naiveCalls + right.naiveCalls
        case .parenthesis(let inner): inner.naiveCalls
        case .call(let call):
            NaiveValue.mathNames.contains(call.name)
                ? call.arguments.flatMap(\.naiveCalls) : [self]
        default: []
        }
    }

    /// What tells calls apart.
    var naiveText: String {
        switch self {
        case .reference(let reference): "\(Array(reference.name.utf8)) \(reference.kind)"
        case .distinct(let reference): "distinct(" + Expression.reference(reference).naiveText + ")"
        case .call(let call):
            "\(call.name)(" + call.arguments.map(\.naiveText).joined(separator: ", ") + ")"
        case .parenthesis(let inner): inner.naiveText
        case .binary(let symbol, let left, let right):
            "\(left.naiveText) \(symbol) \(right.naiveText)"
        default: "\(self)"
        }
    }

    /// The name of a column without alias.
    var naiveName: String {
        switch self {
        case .reference(let reference): reference.name
        case .distinct: "distinct"
        case .call(let call): call.name
        case .parenthesis(let inner): inner.naiveName
        case .binary: naiveNames.joined(separator: "_")
        default: ""
        }
    }

    private var naiveNames: [String] {
        switch self {
        case .binary(_, let left, let right): left.naiveNames + right.naiveNames
        case .parenthesis(let inner): inner.naiveNames
        case .reference, .call, .distinct: [naiveName]
        default: []
        }
    }
}

extension NaiveQuery {
    // MARK: Wildcards

    mutating func expandFields() throws {
        for field in statement.fields {
            switch field.expression {
            case .wildcard(let kind):
                for (reference, _, isTag) in columns()
                where kind == .any || (kind == .tag) == isTag {
                    add(.reference(reference), alias: nil)
                }
            case .regex(let regex):
                for (reference, _, _) in columns()
                where NaiveRegex.matches(regex.pattern, reference.name) {
                    add(.reference(reference), alias: nil)
                }
            case .call(let call): try expand(call, field)
            default: add(field.expression, alias: field.alias)
            }
        }
        for field in fields {
            for call in field.expression.naiveCalls {
                let call = try NaiveCall(call)
                if !calls.contains(where: { $0.text == call.text }) { calls.append(call) }
            }
        }
        for index in fields.indices { fields[index].type = type(of: fields[index].expression) }
    }

    private mutating func add(_ expression: Expression, alias: String?) {
        fields.append(
            NaiveField(
                alias: alias, name: alias ?? expression.naiveName, expression: expression,
                type: nil))
        // top() and bottom() show the tags by which they tell points apart.
        if case .call(let call) = expression, call.name == "top" || call.name == "bottom" {
            for case .reference(let reference) in call.arguments.dropFirst() {
                let shown = Expression.reference(reference)
                fields.append(
                    NaiveField(alias: nil, name: reference.name, expression: shown, type: nil))
            }
        }
    }

    /// `f(*)`, `f(/x/)`, `g(f(*))`: a column for each field that suits the innermost function.
    private mutating func expand(_ call: Call, _ field: SelectField) throws {
        var inner = call
        while case .call(let next)? = inner.arguments.first { inner = next }
        var pattern: String?
        switch inner.arguments.first {
        case .wildcard?: break
        case .regex(let regex)?: pattern = regex.pattern
        default: return add(field.expression, alias: field.alias)
        }
        for (reference, type, isTag) in columns() where !isTag {
            if let pattern, !NaiveRegex.matches(pattern, reference.name) { continue }
            switch inner.name {
            case "count", "first", "last", "mode", "elapsed", "count_distinct": break
            case "min", "max": if type == .string { continue }
            default: if type == .string || type == .boolean { continue }
            }
            add(
                .call(Self.replaced(call, reference)),
                alias: (field.alias ?? call.name) + "_" + reference.name)
        }
    }

    private static func replaced(_ call: Call, _ reference: Reference) -> Call {
        var call = call
        if case .call(let inner)? = call.arguments.first {
            call.arguments[0] = .call(replaced(inner, reference))
        } else {
            call.arguments[0] = .reference(reference)
        }
        return call
    }

    /// Whether an expression is a name that means a tag in every source that has it.
    func isTag(_ expression: Expression) -> Bool {
        guard case .reference(let reference) = expression.bare else { return false }
        var isKnown = false
        for table in tables {
            if table.isField(reference) {
                guard table.selectedTags.contains(reference.name) else { return false }
                isKnown = true
            } else if reference.kind == .any || reference.kind == .tag,
                table.tags.contains(reference.name)
            {
                isKnown = true
            }
        }
        return isKnown
    }

    /// What `*` means: fields and tags by name, without the tags of GROUP BY; no tags at all where
    /// GROUP BY has `*` or a regular expression.
    private func columns() -> [(reference: Reference, type: FieldType, isTag: Bool)] {
        let fieldNames = Set(
            tables.flatMap { table in
                table.fields.keys.filter { !table.selectedTags.contains($0) }
            })
        let selected = Set(tables.flatMap(\.selectedTags)).subtracting(fieldNames)
        guard !fieldNames.isEmpty || !selected.isEmpty else { return [] }
        var tagNames = Set(tables.flatMap(\.tags)).subtracting(ownTags)
        for dimension in statement.dimensions {
            switch dimension {
            case .wildcard, .regex: tagNames = []
            default: break
            }
        }
        tagNames.formUnion(selected)
        let names = fieldNames.union(tagNames).sorted { NaiveKey([$0]) < NaiveKey([$1]) }
        return names.flatMap { name -> [(Reference, FieldType, Bool)] in
            let isBoth = fieldNames.contains(name) && tagNames.contains(name)
            var found: [(Reference, FieldType, Bool)] = []
            if fieldNames.contains(name) {
                let reference = Reference(name: name, kind: isBoth ? .field : .any)
                found.append((reference, type(of: reference) ?? .float, false))
            }
            if tagNames.contains(name) {
                found.append((Reference(name: name, kind: isBoth ? .tag : .any), .string, true))
            }
            return found
        }
    }

    /// Aliases stay; every other name that is taken gets a number behind it.
    func columnNames() -> [String] {
        var names: [String: Int] = [:]
        for field in fields { if let alias = field.alias { names[alias] = 1 } }
        return fields.map { field in
            if let alias = field.alias { return alias }
            guard var number = names[field.name] else {
                names[field.name] = 1
                return field.name
            }
            while names["\(field.name)_\(number)"] != nil { number += 1 }
            names[field.name] = number + 1
            names["\(field.name)_\(number)"] = 1
            return "\(field.name)_\(number)"
        }
    }

    // MARK: Types

    /// The type that a name has in all sources together: a float beside an integer is a float.
    func type(of reference: Reference) -> FieldType? {
        var found: [FieldType] = []
        for table in tables {
            if reference.kind != .tag, let type = table.fields[reference.name] {
                found.append(type)
            }
        }
        let ranks: [FieldType] = [.float, .integer, .string, .boolean]
        var type = ranks.first { found.contains($0) }
        if type == nil, reference.kind == .any || reference.kind == .tag,
            tables.contains(where: { $0.tags.contains(reference.name) })
        {
            type = .string
        }
        guard case .type(let wanted) = reference.kind, let own = type else { return type }
        let numbers: [FieldType] = [.float, .integer]
        let fits = own == wanted || (numbers.contains(own) && numbers.contains(wanted))
        return fits ? wanted : nil
    }

    func type(of expression: Expression) -> FieldType? {
        switch expression {
        case .reference(let reference): return type(of: reference)
        case .parenthesis(let inner): return type(of: inner)
        case .integer, .duration: return .integer
        case .number: return .float
        case .string: return .string
        case .boolean: return .boolean
        case .binary(let symbol, let left, let right):
            guard let a = type(of: left) else { return type(of: right) }
            guard let b = type(of: right) else { return a }
            if a == .integer, b == .integer { return symbol == .divide ? .float : .integer }
            return a == .boolean ? .boolean : .float
        case .call(let call) where NaiveValue.mathNames.contains(call.name):
            let types = call.arguments.compactMap { type(of: $0) }
            switch call.name {
            case "coalesce":
                return types.contains(.float) ? .float : types.first
            case "abs", "ceil", "floor", "round": return types.first
            default: return types.isEmpty ? nil : .float
            }
        case .call, .distinct:
            guard let call = try? NaiveCall(expression) else { return nil }
            return call.type(type(of: call.argument))
        default: return nil
        }
    }

    // MARK: Values

    /// A field of one row; a computed value that is no number is null.
    func evaluate(
        _ field: NaiveField, reference: (Reference) -> FieldValue?,
        call: (String) -> FieldValue?
    ) throws -> FieldValue? {
        NaiveValue.shown(try evaluate(field.expression, reference, call))
    }

    private func evaluate(
        _ expression: Expression, _ reference: (Reference) -> FieldValue?,
        _ value: (String) -> FieldValue?
    ) throws -> FieldValue? {
        switch expression {
        case .reference(let name): return reference(name)
        case .parenthesis(let inner): return try evaluate(inner, reference, value)
        case .integer(let number), .duration(let number): return .integer(number)
        case .number(let number): return .float(number)
        case .string(let text, _): return .string(text)
        case .boolean(let flag): return .boolean(flag)
        case .binary(let symbol, let left, let right):
            return try NaiveValue.compute(
                symbol, try evaluate(left, reference, value),
                try evaluate(right, reference, value), isCondition: false)
        case .call(let call) where NaiveValue.mathNames.contains(call.name):
            let arguments = try call.arguments.map { try evaluate($0, reference, value) }
            let result = try NaiveValue.math(call.name, arguments)
            // A float beside an integer makes a float.
            if call.name == "coalesce", let type = type(of: expression) {
                return NaiveValue.cast(result, type)
            }
            return result
        case .call, .distinct: return value(expression.naiveText)
        default: throw NaiveUnsupported(what: "\(expression)")
        }
    }
}
