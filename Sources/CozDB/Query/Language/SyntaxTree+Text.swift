// Formats expressions as text: for error messages, for column names, and as keys that let equal
// calls of a statement be computed once.

extension Expression {
    /// The expression in InfluxQL syntax.
    var text: String {
        switch self {
        case .reference(let reference): reference.text
        case .call(let call):
            call.name + "(" + call.arguments.map(\.text).joined(separator: ", ") + ")"
                + (call.window.map { " \($0.text)" } ?? "")
        case .binary(let symbol, let left, let right):
            "\(left.text) \(symbol.rawValue) \(right.text)"
        case .parenthesis(let inner): "(\(inner.text))"
        case .number(let value): Expression.fixedPoint(value)
        case .integer(let value): String(value)
        case .unsigned(let value): String(value)
        case .string(let text, _): Expression.quoted(text, with: "'")
        case .boolean(let flag): flag ? "true" : "false"
        case .duration(let nanoseconds): DurationText.text(nanoseconds)
        case .time(let time):
            "'" + Timestamp(nanoseconds: time).text() + "'"
        case .regex(let regex): regex.literal
        case .wildcard(let kind): "*" + kind.suffix
        case .distinct(let reference): "DISTINCT " + reference.text
        case .isNull(let inner, let negated):
            inner.text + (negated ? " IS NOT NULL" : " IS NULL")
        case .contains(let inner, let list, let negated):
            inner.text + (negated ? " NOT IN (" : " IN (")
                + list.map(\.text).joined(separator: ", ") + ")"
        }
    }

    /// The name of the result column, without a suffix that makes it unique.
    var columnName: String {
        switch self {
        case .reference(let reference): return reference.name
        case .distinct: return "distinct"
        case .call(let call): return call.name
        case .parenthesis(let inner): return inner.columnName
        case .binary:
            var names: [String] = []
            collectNames(&names)
            return names.joined(separator: "_")
        default: return ""
        }
    }

    private func collectNames(_ names: inout [String]) {
        switch self {
        case .reference(let reference): names.append(reference.name)
        case .call(let call): names.append(call.name)
        case .distinct: names.append("distinct")
        default: for part in parts { part.collectNames(&names) }
        }
    }

    /// What the expression is, for error messages.
    var kindName: String {
        switch self {
        case .reference: "a name"
        case .call, .distinct: "a call"
        case .binary, .parenthesis: "an expression"
        case .number: "a float"
        case .integer, .unsigned: "an integer"
        case .string: "a string"
        case .boolean: "a boolean"
        case .duration: "a duration"
        case .time: "a time"
        case .regex: "a regular expression"
        case .wildcard: "*"
        case .isNull, .contains: "a condition"
        }
    }

    static func quoted(_ text: String, with quote: Unicode.Scalar) -> String {
        var result = String(quote)
        for scalar in text.unicodeScalars {
            if scalar == "\n" {
                result += "\\n"
                continue
            }
            if scalar == quote || scalar == "\\" { result += "\\" }
            result.unicodeScalars.append(scalar)
        }
        result.unicodeScalars.append(quote)
        return result
    }

    /// Formats a number with three decimal places, as InfluxDB does.
    private static func fixedPoint(_ value: Double) -> String {
        guard value.magnitude < 1e15 else { return value.description }
        let thousandths = Int64((value.magnitude * 1000).rounded())
        let fraction = String(thousandths % 1000)
        let zeros = String(repeating: "0", count: 3 - fraction.count)
        return (value < 0 ? "-" : "") + "\(thousandths / 1000).\(zeros)\(fraction)"
    }
}

extension WindowClause {
    var text: String { "OVER (\(DurationText.text(width)) \(side.rawValue) \(anchor.text))" }
}

extension Reference {
    var text: String {
        let isPlain =
            name.utf8.first.map { $0.isWordStart } == true
            && name.utf8.allSatisfy { $0.isWord }
            && Keyword(word: name) == nil
        return (isPlain ? name : Expression.quoted(name, with: "\"")) + kind.suffix
    }
}

extension ReferenceKind {
    var suffix: String {
        switch self {
        case .any: ""
        case .field: "::field"
        case .tag: "::tag"
        case .type(let type): "::" + type.name
        }
    }
}
