// What WHERE means to SHOW where it is not about rows: SHOW MEASUREMENTS asks an experiment for the
// values of its tags, SHOW TAG VALUES can ask for the values themselves. The rules are those of
// InfluxDB's index.

/// WHERE of SHOW MEASUREMENTS. `tag = 'x'` holds where some series has that value, `tag != 'x'`
/// where none has; an experiment without the tag fulfils neither. `_name` is the experiment's own
/// name.
struct MeasurementCondition {
    private let condition: Expression

    init(_ condition: Expression) {
        self.condition = condition
    }

    /// - Parameter values: all values of a tag; empty where the experiment does not have it.
    func holds(
        of name: String, values: (String) throws(DatabaseError) -> [String]
    ) throws(DatabaseError) -> Bool {
        try holds(condition, name, values)
    }

    private func holds(
        _ expression: Expression, _ name: String,
        _ values: (String) throws(DatabaseError) -> [String]
    ) throws(DatabaseError) -> Bool {
        switch expression {
        case .parenthesis(let inner): return try holds(inner, name, values)
        // Both sides are asked, so that a wrong one is told whatever the other says.
        case .binary(.and, let left, let right):
            let first = try holds(left, name, values)
            return try holds(right, name, values) && first
        case .binary(.or, let left, let right):
            let first = try holds(left, name, values)
            return try holds(right, name, values) || first
        case .isNull(.reference(let reference), let negated):
            return try values(reference.name).isEmpty != negated
        default: break
        }
        let (tag, test, negated) = try TagTest.parts(of: expression)
        if tag == "_name" { return test(name) != negated }
        let all = try values(tag)
        return !all.isEmpty && all.contains(where: test) != negated
    }
}

/// The part of WHERE that is about `value`, which in SHOW TAG KEYS and SHOW TAG VALUES stands for
/// the value of each tag.
struct TagValueCondition {
    private let condition: Expression

    /// Nil where WHERE does not speak of it.
    init?(_ condition: Expression?) {
        guard let part = condition.flatMap({ TagValueCondition.part(of: $0, isAbout: true) }) else {
            return nil
        }
        self.condition = part
    }

    func accepts(_ value: String) throws(DatabaseError) -> Bool {
        try accepts(condition, value)
    }

    /// WHERE without that part.
    static func rest(of condition: Expression?) -> Expression? {
        condition.flatMap { part(of: $0, isAbout: false) }
    }

    private static func part(of expression: Expression, isAbout: Bool) -> Expression? {
        switch expression {
        case .parenthesis(let inner):
            return part(of: inner, isAbout: isAbout).map { .parenthesis($0) }
        case .binary(let symbol, let left, let right) where symbol == .and || symbol == .or:
            let left = part(of: left, isAbout: isAbout)
            let right = part(of: right, isAbout: isAbout)
            guard let left else { return right }
            guard let right else { return left }
            return .binary(symbol, left, right)
        case .binary(let symbol, .reference(let reference), _) where symbol.isEquality:
            return (reference.name == "value") == isAbout ? expression : nil
        default: return isAbout ? nil : expression
        }
    }

    private func accepts(_ expression: Expression, _ value: String) throws(DatabaseError) -> Bool {
        switch expression {
        case .parenthesis(let inner): return try accepts(inner, value)
        case .binary(.and, let left, let right):
            return try accepts(left, value) ? try accepts(right, value) : false
        case .binary(.or, let left, let right):
            return try accepts(left, value) ? true : try accepts(right, value)
        // A text is no number: not even different from it.
        case .binary(let symbol, _, let right) where !symbol.isRegex && !right.bare.isText:
            return false
        default:
            let (_, test, negated) = try TagTest.parts(of: expression)
            return test(value) != negated
        }
    }
}

/// A comparison of a tag with a text or a regular expression.
enum TagTest {
    /// - Returns: the tag, what its value is to fulfil, and whether it must not.
    /// - Throws: `usage` for anything that is no such comparison.
    static func parts(
        of expression: Expression
    ) throws(DatabaseError) -> (tag: String, test: (String) -> Bool, negated: Bool) {
        if case .contains(.reference(let reference), let list, let negated) = expression {
            let names = list.compactMap { item in
                if case .string(let text, _) = item { Name(text) } else { nil }
            }
            return (reference.name, { names.contains(Name($0)) }, negated)
        }
        guard case .binary(let symbol, let left, let right) = expression, symbol.isEquality else {
            throw failure("invalid tag comparison operator", expression)
        }
        guard case .reference(let reference) = left else {
            throw failure("left side of '\(symbol.rawValue)' must be a tag key", expression)
        }
        switch right.bare {
        case .regex(let regex):
            return (reference.name, { regex.matches($0) }, symbol == .matchesNot)
        case .string(let text, _):
            return (reference.name, { Name($0) == Name(text) }, symbol == .notEqual)
        default:
            throw failure(
                "right side of '\(symbol.rawValue)' must be a tag value string", expression)
        }
    }

    /// SHOW SERIES without bounds of time knows tags only.
    static func checkOperators(_ condition: Expression?) throws(DatabaseError) {
        var wrong: Expression?
        condition?.walk { part in
            if case .binary(let symbol, _, _) = part, !symbol.isEquality, symbol != .and,
                symbol != .or
            {
                wrong = part
            }
        }
        if let wrong { throw failure("invalid tag comparison operator", wrong) }
    }

    private static func failure(_ message: String, _ place: Expression) -> DatabaseError {
        DatabaseError(.usage, message, offset: place.offset)
    }
}

extension Operator {
    /// `=`, `!=`, `=~`, `!~`
    fileprivate var isEquality: Bool { self == .equal || self == .notEqual || isRegex }
}

extension Expression {
    fileprivate var isText: Bool {
        if case .string = self { true } else { false }
    }
}
