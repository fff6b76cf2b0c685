// The WHERE clauses of SHOW that do not concern rows. In SHOW MEASUREMENTS a condition concerns all
// values of an experiment's tags; in SHOW TAG VALUES it may concern the values themselves. The
// rules are those of InfluxDB's index.

/// The WHERE clause of SHOW MEASUREMENTS. `tag = 'x'` holds if any series has that value;
/// `tag != 'x'` holds if no series has it. Neither holds for an experiment without the tag.
/// `_name` is the experiment's name.
struct MeasurementCondition {
    private let condition: Expression

    init(_ condition: Expression) {
        self.condition = condition
    }

    /// Returns whether the condition holds for an experiment.
    ///
    /// - Parameter values: returns all values of a tag; empty if the experiment does not have it.
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
        // Evaluate both sides, so that an error in either is reported.
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

/// The part of WHERE about `value`: the value of each tag in SHOW TAG KEYS and SHOW TAG VALUES.
struct TagValueCondition {
    private let test: (String) throws(DatabaseError) -> Bool

    /// Creates the condition; nil if WHERE does not mention `value`.
    init?(_ condition: Expression?) {
        guard let part = condition.flatMap({ TagValueCondition.part(of: $0, isAbout: true) }) else {
            return nil
        }
        test = TagValueCondition.test(part)
    }

    func accepts(_ value: String) throws(DatabaseError) -> Bool {
        try test(value)
    }

    /// Returns WHERE without the part about `value`.
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
        case .contains(.reference(let reference), _, _):
            return (reference.name == "value") == isAbout ? expression : nil
        default: return isAbout ? nil : expression
        }
    }

    /// Returns the test of a value. A list is hashed once for all values.
    private static func test(
        _ expression: Expression
    ) -> (String) throws(DatabaseError) -> Bool {
        switch expression {
        case .parenthesis(let inner): return test(inner)
        case .binary(.and, let left, let right):
            let (first, second) = (test(left), test(right))
            return { value throws(DatabaseError) in try first(value) ? try second(value) : false }
        case .binary(.or, let left, let right):
            let (first, second) = (test(left), test(right))
            return { value throws(DatabaseError) in try first(value) ? true : try second(value) }
        // A string never compares to a number, not even as unequal.
        case .binary(let symbol, _, let right) where !symbol.isRegex && !right.bare.isText:
            return { _ in false }
        default:
            do throws(DatabaseError) {
                let (_, test, negated) = try TagTest.parts(of: expression)
                return { test($0) != negated }
            } catch {
                return { _ throws(DatabaseError) in throw error }
            }
        }
    }
}

/// A comparison of a tag with a string or a regular expression.
enum TagTest {
    /// Splits a comparison into its parts.
    ///
    /// - Returns: the tag, the test of its value, and whether the test is negated.
    /// - Throws: `usage` if the expression is not such a comparison.
    static func parts(
        of expression: Expression
    ) throws(DatabaseError) -> (tag: String, test: (String) -> Bool, negated: Bool) {
        if case .contains(.reference(let reference), let list, let negated) = expression {
            var names: Set<Name> = []
            for case .string(let text, _) in list { names.insert(Name(text)) }
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

    /// Refuses other operators in SHOW SERIES without time bounds, which accepts only tags.
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
    fileprivate var isEquality: Bool { self == .equal || self == .notEqual || isRegex }
}

extension Evaluation {
    /// The condition where no comparison with a missing attribute holds.
    var matchingNoMissingTag: Evaluation {
        switch self {
        case .stringTest(.column(let index), let test, _):
            .stringTest(.column(index), test, missing: false)
        case .binary(let symbol, let left, let right):
            .binary(symbol, left.matchingNoMissingTag, right.matchingNoMissingTag)
        default: self
        }
    }
}

extension Expression {
    /// The condition for one experiment, where `_name` is its name.
    func naming(_ name: String) throws(DatabaseError) -> Expression {
        switch self {
        case .parenthesis(let inner): return .parenthesis(try inner.naming(name))
        case .binary(let symbol, let left, let right) where symbol == .and || symbol == .or:
            return .binary(symbol, try left.naming(name), try right.naming(name))
        case .binary(_, .reference(let reference), _) where reference.name == "_name",
            .contains(.reference(let reference), _, _) where reference.name == "_name":
            let (_, test, negated) = try TagTest.parts(of: self)
            return .boolean(test(name) != negated)
        default: return self
        }
    }

    /// The condition where no comparison with other names than these holds.
    func comparingOnly(_ isKnown: (String) -> Bool) -> Expression {
        func isUnknown(_ side: Expression) -> Bool {
            guard case .reference(let reference) = side.bare else { return false }
            return !isKnown(reference.name)
        }
        switch self {
        case .parenthesis(let inner): return .parenthesis(inner.comparingOnly(isKnown))
        case .binary(let symbol, let left, let right) where symbol == .and || symbol == .or:
            return .binary(symbol, left.comparingOnly(isKnown), right.comparingOnly(isKnown))
        case .binary(_, let left, let right) where isUnknown(left) || isUnknown(right):
            return .boolean(false)
        case .contains(let inner, _, _) where isUnknown(inner): return .boolean(false)
        default: return self
        }
    }
}
