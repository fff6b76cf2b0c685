// Binds WHERE to the columns of one source.

/// A binder of conditions to one source.
struct ConditionBinder {
    let plan: SelectPlan
    let source: PlannedSource

    func bind(_ expression: Expression) throws(DatabaseError) -> Evaluation {
        switch expression {
        case .reference(let reference): return self.reference(reference)
        case .parenthesis(let inner): return try bind(inner)
        case .integer(let value), .duration(let value), .time(let value):
            return .constant(.integer(value))
        case .unsigned(let value): return .constant(.float(Double(value)))
        case .number(let value): return .constant(.float(value))
        case .string(let text, _): return .constant(.string(text))
        case .boolean(let flag): return .constant(.boolean(flag))
        case .call(let call):
            guard let function = MathFunction(rawValue: call.name) else { break }
            if function == .delay { return .column(try plan.computed(call)) }
            var arguments: [Evaluation] = []
            for argument in call.arguments { arguments.append(try bind(argument)) }
            return try plan.function(function, arguments, expression, inCondition: true)
        case .binary(let symbol, let left, let right): return try bind(symbol, left, right)
        case .isNull(let inner, let negated):
            let bound = try bind(inner)
            if case .seriesTag = bound {
                return .stringTest(
                    bound, StringTest(.equals("", negated: negated)), missing: !negated)
            }
            return .isNull(bound, negated: negated)
        case .contains(let inner, let list, let negated):
            return try contains(inner, list, negated: negated)
        default: break
        }
        throw DatabaseError(
            .usage, "invalid condition expression: \(expression.text)", offset: expression.offset)
    }

    /// Returns the meaning of a name in WHERE. There a subquery also has the tags by which the
    /// statement around it groups.
    private func binding(_ reference: Reference) -> Binding {
        let binding = source.bindings[plan.reference(reference)]
        guard case .missing = binding, source.groups(by: reference.name, reference.kind) else {
            return binding
        }
        return .tag(reference.name)
    }

    private func reference(_ reference: Reference) -> Evaluation {
        switch binding(reference) {
        case .column, .output, .computed, .null: return .column(plan.reference(reference))
        case .tag(let name): return .seriesTag(name)
        case .missing: return .constant(nil)
        }
    }

    private func bind(
        _ symbol: Operator, _ left: Expression, _ right: Expression
    ) throws(DatabaseError) -> Evaluation {
        switch (symbol, left.bare, right.bare) {
        case (.matches, let side, .regex(let regex)), (.matchesNot, let side, .regex(let regex)):
            let negated = symbol == .matchesNot
            if let text = regex.exactText {
                return try test(side, .equals(text, negated: negated))
            }
            return try test(side, .matches(regex, negated: negated))
        case (.equal, let side, .string(let text, _)),
            (.equal, .string(let text, _), let side):
            return try test(side, .equals(text, negated: false))
        case (.notEqual, let side, .string(let text, _)),
            (.notEqual, .string(let text, _), let side):
            return try test(side, .equals(text, negated: true))
        case (.and, _, _), (.or, _, _):
            return try ConditionChain.bind(symbol, left, right) { side throws(DatabaseError) in
                try bind(side)
            }
        default:
            let sides = (try bind(left), try bind(right))
            if symbol.isComparison, isUnknown(left) || isUnknown(right) {
                return .constant(.boolean(false))
            }
            // Decided by the types in the plan: a batch may lack one of the columns.
            if !symbol.isComparison,
                let left = try? plan.type(of: sides.0, left, inCondition: true),
                let right = try? plan.type(of: sides.1, right, inCondition: true),
                VectorArithmetic.resultType(
                    symbol, left, right, integersDivideToFloat: false) == nil
            {
                return .constant(nil)
            }
            return .binary(
                symbol, operand(left, sides.0, of: symbol, right, sides.1),
                operand(right, sides.1, of: symbol, left, sides.0))
        }
    }

    /// Returns an operand with the empty string for a missing attribute. Next to an integer, a
    /// literal that is too large for one is larger than each.
    private func operand(
        _ side: Expression, _ bound: Evaluation, of symbol: Operator, _ other: Expression,
        _ otherBound: Evaluation
    ) -> Evaluation {
        if case .unsigned(let value) = side.bare, symbol.isComparison,
            (try? plan.type(of: otherBound, other, inCondition: true)) == .integer
        {
            return .constant(.float(aboveIntegers(value)))
        }
        return text(side, bound)
    }

    /// The float of a literal that is larger than each integer. Converted, the largest integers
    /// are 2^63, as the smallest such literal is.
    private func aboveIntegers(_ literal: UInt64) -> Double {
        Swift.max(Double(literal), 0x1p63.nextUp)
    }

    /// Returns an operand with the empty string for a missing attribute.
    private func text(_ side: Expression, _ bound: Evaluation) -> Evaluation {
        guard case .reference(let reference) = side.bare,
            case .column(_, isTag: true) = binding(reference)
        else { return bound }
        return .coalesce([bound, .constant(.string(""))], type: .string)
    }

    /// Returns whether the operand is a name without values in the source. No comparison with it
    /// holds, except with a string if the name may be a tag.
    private func isUnknown(_ side: Expression) -> Bool {
        guard case .reference(let reference) = side.bare else { return false }
        return switch binding(reference) {
        case .null, .missing: true
        default: false
        }
    }

    /// Binds `x IN (...)` or `x NOT IN (...)`. A value that cannot be compared with one of the list
    /// equals none of it.
    private func contains(
        _ inner: Expression, _ list: [Expression], negated: Bool
    ) throws(DatabaseError) -> Evaluation {
        // Bind the operand once: twice would double the cost at each level of a chain.
        let bound = try bind(inner)
        if list.isEmpty, !isTag(inner) {
            return negated ? .isNull(bound, negated: true) : .constant(.boolean(false))
        }
        let type = try? plan.type(of: bound, inner, inCondition: true)
        var values: [FieldValue] = []
        for item in list {
            if case .unsigned(let value) = item, type == .integer {
                values.append(.float(aboveIntegers(value)))
            } else if case .constant(let value?) = try bind(item) {
                values.append(value)
            }
        }
        // A field that the source lacks is the empty string next to a text, as for `=`.
        if isMissing(inner), !isTag(inner), !list.contains(where: \.isText) {
            return .constant(.boolean(false))
        }
        let set = ValueSet(values)
        return type ?? .string == .string
            ? test(inner, bound, .isAmong(set, negated: negated))
            : .contains(bound, set, negated: negated)
    }

    private func isMissing(_ side: Expression) -> Bool {
        guard case .reference(let reference) = side.bare, case .missing = binding(reference) else {
            return false
        }
        return true
    }

    /// Whether an expression has a text in every row: a missing tag is the empty string. A name
    /// that no source has may be a tag.
    private func isTag(_ side: Expression) -> Bool {
        guard case .reference(let reference) = side.bare else { return false }
        switch binding(reference) {
        case .column(_, let isTag): return isTag
        case .tag: return true
        case .missing:
            let index = plan.reference(reference)
            let mayBeTag = reference.kind == .any || reference.kind == .tag
            return plan.isTagEverywhere(index) || mayBeTag && plan.references[index].type == nil
        case .output, .computed, .null: return false
        }
    }

    private func test(
        _ side: Expression, _ rule: StringTest.Rule
    ) throws(DatabaseError) -> Evaluation {
        test(side, try bind(side), rule)
    }

    /// Binds a string test. A missing tag is the empty string; a missing field satisfies no test.
    private func test(
        _ side: Expression, _ bound: Evaluation, _ rule: StringTest.Rule
    ) -> Evaluation {
        let test = StringTest(rule)
        guard case .reference(let reference) = side.bare else {
            return .stringTest(bound, test, missing: false)
        }
        switch binding(reference) {
        case .column(_, isTag: true):
            return .stringTest(bound, test, missing: test.accepts(""))
        case .missing: return .constant(.boolean(test.accepts("")))
        default: return .stringTest(bound, test, missing: false)
        }
    }
}
