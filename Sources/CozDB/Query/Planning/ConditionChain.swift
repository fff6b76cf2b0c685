// Chains of ANDs or ORs, as clients without IN write them: `t = 'a' OR t = 'b'`.

/// A binder for the operands of one chain.
enum ConditionChain {
    /// The tag or column that a string test reads.
    private enum Target: Hashable {
        case tag(Name)
        case column(Int)

        init?(_ evaluation: Evaluation) {
            switch evaluation {
            case .seriesTag(let name): self = .tag(Name(name))
            case .column(let index): self = .column(index)
            default: return nil
            }
        }
    }

    /// String tests of one tag or column, combined into one.
    private struct List {
        var place: Int
        var values: [FieldValue]
        var missing: Bool
        var isJoined = false

        mutating func join(_ more: [FieldValue], missing other: Bool, negated: Bool) {
            values += more
            missing = negated ? missing && other : missing || other
            isJoined = true
        }
    }

    /// Binds a chain and combines its equality tests (under OR) or inequality tests (under AND) of
    /// one tag or column into a hashed set. The cost for many series becomes the sum, not the
    /// product, of series and operands.
    static func bind(
        _ symbol: Operator, _ left: Expression, _ right: Expression,
        _ bind: (Expression) throws(DatabaseError) -> Evaluation
    ) throws(DatabaseError) -> Evaluation {
        let negated = symbol == .and
        var bound: [Evaluation] = []
        var lists: [Target: List] = [:]
        for expression in operands(symbol, left, right) {
            let operand = try bind(expression)
            guard case .stringTest(let inner, let test, let missing) = operand,
                let target = Target(inner), let values = test.listed(negated: negated)
            else {
                bound.append(operand)
                continue
            }
            if lists[target] == nil {
                lists[target] = List(place: bound.count, values: values, missing: missing)
                bound.append(operand)
            } else {
                lists[target]?.join(values, missing: missing, negated: negated)
            }
        }
        for list in lists.values where list.isJoined {
            guard case .stringTest(let inner, _, _) = bound[list.place] else { continue }
            let test = StringTest(.isAmong(ValueSet(list.values), negated: negated))
            bound[list.place] = .stringTest(inner, test, missing: list.missing)
        }
        return bound.dropFirst().reduce(bound[0]) { .binary(symbol, $0, $1) }
    }

    /// Returns the operands of a chain of one operator, in order.
    private static func operands(
        _ symbol: Operator, _ left: Expression, _ right: Expression
    ) -> [Expression] {
        var operands = [right]
        var rest = left.bare
        while case .binary(let other, let left, let right) = rest, other == symbol {
            operands.append(right)
            rest = left.bare
        }
        operands.append(rest)
        return operands.reversed()
    }
}

extension StringTest {
    /// Returns the values of an equality or membership test; nil for other tests.
    fileprivate func listed(negated: Bool) -> [FieldValue]? {
        switch rule {
        case .equals(let text, let isNegated) where isNegated == negated: [.string(text)]
        case .isAmong(let values, let isNegated) where isNegated == negated: values.values
        default: nil
        }
    }
}
