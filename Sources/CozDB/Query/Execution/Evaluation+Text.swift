// Formats bound conditions for EXPLAIN: the part of WHERE that remains once tags are substituted.

extension Evaluation {
    /// The number of IN items to show; the rest is counted.
    private static let listCountMax = 8

    /// Returns the condition in InfluxQL syntax.
    func text(_ plan: SelectPlan) -> String {
        switch self {
        case .column(let index):
            let reference = plan.references[index]
            return Reference(name: reference.name, kind: reference.kind).text
        case .call(let index): return plan.calls[index].text
        case .seriesTag(let name): return Reference(name: name, kind: .tag).text
        case .constant(let value): return Evaluation.literal(value)
        case .binary(let symbol, let left, let right):
            return left.operand(of: symbol, plan) + " \(symbol.rawValue) "
                + right.operand(of: symbol, plan)
        case .math(let function, let arguments):
            return function.rawValue + "("
                + arguments.map { $0.text(plan) }.joined(separator: ", ") + ")"
        case .coalesce(let arguments, _): return Evaluation.math(.coalesce, arguments).text(plan)
        case .isNull(let inner, let negated):
            return inner.text(plan) + (negated ? " IS NOT NULL" : " IS NULL")
        case .stringTest(let inner, let test, _): return inner.text(plan) + " " + test.text
        case .contains(let inner, let values, let negated):
            return inner.text(plan) + (negated ? " NOT IN (" : " IN (")
                + Evaluation.list(values.values.map { Evaluation.literal($0) }) + ")"
        case .delay(let inner, let unit):
            return "delay(\(inner.text(plan)), \(DurationText.text(unit)))"
        }
    }

    private func operand(of symbol: Operator, _ plan: SelectPlan) -> String {
        guard case .binary(let own, _, _) = self, own.precedence <= symbol.precedence,
            own != symbol
        else { return text(plan) }
        return "(\(text(plan)))"
    }

    fileprivate static func literal(_ value: FieldValue?) -> String {
        switch value {
        case .string(let text)?: Expression.quoted(text, with: "'")
        case let value?: value.plainText
        case nil: "null"
        }
    }

    fileprivate static func list(_ items: [String]) -> String {
        let shown = items.prefix(listCountMax).joined(separator: ", ")
        let rest = items.count - listCountMax
        return rest > 0 ? shown + " and \(rest) more" : shown
    }
}

extension StringTest {
    fileprivate var text: String {
        switch rule {
        case .equals(let text, let negated):
            (negated ? "!= " : "= ") + Expression.quoted(text, with: "'")
        case .matches(let regex, let negated): (negated ? "!~ " : "=~ ") + regex.literal
        case .isAmong(let values, let negated):
            (negated ? "NOT IN (" : "IN (")
                + Evaluation.list(values.values.map { Evaluation.literal($0) }) + ")"
        }
    }
}
