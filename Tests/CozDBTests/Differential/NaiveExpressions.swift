// Expressions over one row, as the language's description has them.

internal import Glibc

@testable internal import CozDB

/// What a statement does that the naive executor was not written for.
struct NaiveUnsupported: Error {
    var what: String
}

enum NaiveValue {
    static func number(_ value: FieldValue?) -> Double? {
        switch value {
        case .float(let number)?: number
        case .integer(let number)?: Double(number)
        default: nil
        }
    }

    static func isSame(_ left: FieldValue, _ right: FieldValue) -> Bool {
        switch (left, right) {
        case (.string(let a), .string(let b)): Array(a.utf8) == Array(b.utf8)
        case (.boolean(let a), .boolean(let b)): a == b
        case (.integer(let a), .integer(let b)): a == b
        default:
            if let a = number(left), let b = number(right) { a == b } else { false }
        }
    }

    static func precedes(_ left: FieldValue, _ right: FieldValue) -> Bool {
        switch (left, right) {
        case (.string(let a), .string(let b)): NaiveKey([a]) < NaiveKey([b])
        case (.boolean(let a), .boolean(let b)): !a && b
        case (.integer(let a), .integer(let b)): a < b
        default:
            if let a = number(left), let b = number(right) { a < b } else { false }
        }
    }

    /// The order of ranks, in which -0 comes before 0.
    static func ranksBefore(_ left: FieldValue, _ right: FieldValue) -> Bool {
        if case .float(let a) = left, case .float(let b) = right, a == 0, b == 0 {
            return a.sign == .minus && b.sign == .plus
        }
        return precedes(left, right)
    }

    /// Integers and floats convert into each other, nothing else does.
    static func cast(_ value: FieldValue?, _ type: FieldType) -> FieldValue? {
        switch (value, type) {
        case (.integer(let number)?, .float): .float(Double(number))
        case (.float(let number)?, .integer): .integer(whole(number))
        default: value?.type == type ? value : nil
        }
    }

    static func whole(_ number: Double) -> Int64 {
        if number.isNaN { return 0 }
        return Int64(exactly: number.rounded(.towardZero)) ?? (number < 0 ? .min : .max)
    }

    /// `+ - * / % & | ^`; dividing by zero gives zero.
    static func compute(
        _ symbol: Operator, _ left: FieldValue?, _ right: FieldValue?, isCondition: Bool
    ) throws -> FieldValue? {
        guard let left, let right else { return nil }
        if case (.integer(let a), .integer(let b)) = (left, right) {
            switch symbol {
            case .add: return .integer(a &+ b)
            case .subtract: return .integer(a &- b)
            case .multiply: return .integer(a &* b)
            case .modulo: return .integer(b == 0 || b == -1 ? 0 : a % b)
            case .bitAnd: return .integer(a & b)
            case .bitOr: return .integer(a | b)
            case .bitXor: return .integer(a ^ b)
            case .divide where isCondition:
                return .integer(b == 0 ? 0 : b == -1 ? 0 &- a : a / b)
            case .divide: return .float(b == 0 ? 0 : Double(a) / Double(b))
            default: break
            }
        }
        guard let a = number(left), let b = number(right) else {
            throw NaiveUnsupported(what: "\(left) \(symbol) \(right)")
        }
        switch symbol {
        case .add: return .float(a + b)
        case .subtract: return .float(a - b)
        case .multiply: return .float(a * b)
        case .divide: return .float(b == 0 ? 0 : a / b)
        case .modulo: return .float(fmod(a, b))
        default: throw NaiveUnsupported(what: "\(symbol) of floats")
        }
    }

    /// A computed value that is no number is null where it is shown, counted or tested for null.
    static func shown(_ value: FieldValue?) -> FieldValue? {
        if case .float(let number)? = value, number.isNaN { return nil }
        return value
    }

    static func math(_ name: String, _ arguments: [FieldValue?]) throws -> FieldValue? {
        if name == "coalesce" { return arguments.compactMap { shown($0) }.first }
        if case .integer(let whole)?? = arguments.first {
            if name == "abs" { return .integer(whole < 0 ? 0 &- whole : whole) }
            if ["ceil", "floor", "round"].contains(name) { return .integer(whole) }
        }
        guard let x = number(arguments[0]) else { return nil }
        if arguments.count == 2 {
            guard let y = number(arguments[1]) else { return nil }
            switch name {
            case "atan2": return .float(atan2(x, y))
            case "log": return .float(log(x) / log(y))
            case "pow": return .float(pow(x, y))
            default: throw NaiveUnsupported(what: name)
            }
        }
        switch name {
        case "abs": return .float(abs(x))
        case "ceil": return .float(ceil(x))
        case "floor": return .float(floor(x))
        case "round": return .float(round(x))
        case "sqrt": return .float(sqrt(x))
        case "exp": return .float(exp(x))
        case "ln": return .float(log(x))
        case "log2": return .float(log2(x))
        case "log10": return .float(log10(x))
        case "sin": return .float(sin(x))
        case "cos": return .float(cos(x))
        case "tan": return .float(tan(x))
        case "asin": return .float(asin(x))
        case "acos": return .float(acos(x))
        case "atan": return .float(atan(x))
        default: throw NaiveUnsupported(what: name)
        }
    }

    static let mathNames: Set<String> = [
        "abs", "acos", "asin", "atan", "atan2", "ceil", "cos", "exp", "floor", "ln", "log",
        "log2", "log10", "pow", "round", "sin", "sqrt", "tan", "coalesce",
    ]
}

/// Whether a row fulfils WHERE, its bounds of time left aside.
struct NaiveCondition {
    let table: NaiveTable
    /// Names that are fields in any source: where one is missing it is no tag.
    let fieldNames: Set<String>
    let type: (Reference) -> FieldType?

    func holds(_ expression: Expression?, _ row: NaiveRow) throws -> Bool {
        guard let expression else { return true }
        switch expression {
        case .parenthesis(let inner): return try holds(inner, row)
        case .binary(.and, let left, let right):
            let (a, b) = (try holds(left, row), try holds(right, row))
            return a && b
        case .binary(.or, let left, let right):
            let (a, b) = (try holds(left, row), try holds(right, row))
            return a || b
        case .binary(let symbol, let left, let right):
            return try compare(symbol, left.bare, right.bare, row)
        case .isNull(let inner, let negated):
            let value = try value(inner, row, missingTagIsEmpty: false)
            return (NaiveValue.shown(value) == nil) != negated
        case .contains(let inner, let list, let negated):
            guard let value = NaiveValue.shown(try value(inner, row)) else { return false }
            var isThere = false
            for item in list {
                if let other = try self.value(item, row), NaiveValue.isSame(value, other) {
                    isThere = true
                }
            }
            return isThere != negated
        case .boolean(let flag): return flag
        default: throw NaiveUnsupported(what: "condition \(expression)")
        }
    }

    /// A missing field fulfils no comparison. A missing column of a subquery, and an expression
    /// over a missing field, count as false next to a boolean.
    private func compare(
        _ symbol: Operator, _ left: Expression, _ right: Expression, _ row: NaiveRow
    ) throws -> Bool {
        let a = try value(left, row)
        if case .regex(let regex) = right {
            guard case .string(let text)? = a else { return false }
            return NaiveRegex.matches(regex.pattern, text) == (symbol == .matches)
        }
        let b = try value(right, row)
        if case (nil, .boolean(let flag)?) = (a, b), !isStored(left) {
            return boolean(symbol, false, flag)
        }
        if case (.boolean(let flag)?, nil) = (a, b), !isStored(right) {
            return boolean(symbol, flag, false)
        }
        guard let a, let b else { return false }
        switch (a, b) {
        case (.string, .string):
            // Texts are only ever equal or not.
            if symbol == .equal { return NaiveValue.isSame(a, b) }
            return symbol == .notEqual && !NaiveValue.isSame(a, b)
        case (.boolean(let left), .boolean(let right)): return boolean(symbol, left, right)
        case (.integer, .integer), (.integer, .float), (.float, .integer), (.float, .float): break
        default: return false
        }
        switch symbol {
        case .equal: return NaiveValue.isSame(a, b)
        case .notEqual: return !NaiveValue.isSame(a, b)
        case .less: return NaiveValue.precedes(a, b)
        case .greater: return NaiveValue.precedes(b, a)
        case .lessOrEqual: return NaiveValue.precedes(a, b) || NaiveValue.isSame(a, b)
        case .greaterOrEqual: return NaiveValue.precedes(b, a) || NaiveValue.isSame(a, b)
        default: throw NaiveUnsupported(what: "\(symbol)")
        }
    }

    private func isStored(_ operand: Expression) -> Bool {
        guard !table.isSubquery, case .reference = operand else { return false }
        return true
    }

    private func boolean(_ symbol: Operator, _ left: Bool, _ right: Bool) -> Bool {
        switch symbol {
        case .equal: left == right
        case .notEqual: left != right
        default: false
        }
    }

    private func value(
        _ expression: Expression, _ row: NaiveRow, missingTagIsEmpty: Bool = true
    ) throws -> FieldValue? {
        switch expression {
        case .parenthesis(let inner):
            return try value(inner, row, missingTagIsEmpty: missingTagIsEmpty)
        case .reference(let reference):
            let isField =
                reference.kind == .any && fieldNames.contains(reference.name)
                && (table.fields[reference.name] != nil || !table.tags.contains(reference.name))
            if !isField, reference.kind == .any || reference.kind == .tag, missingTagIsEmpty {
                return .string(row.tags[reference.name] ?? "")
            }
            // To IS NULL the empty text that a missing tag is around a subquery is none.
            let mayBeTag = reference.kind == .any || reference.kind == .tag
            if !isField, mayBeTag, table.isSubquery, row.tags[reference.name] == nil {
                return nil
            }
            return table.value(reference, row, type(reference))
        case .number(let number): return .float(number)
        case .integer(let number): return .integer(number)
        case .string(let text, _): return .string(text)
        case .boolean(let flag): return .boolean(flag)
        case .binary(let symbol, let left, let right):
            return try NaiveValue.compute(
                symbol, try value(left, row), try value(right, row), isCondition: true)
        case .call(let call):
            return try NaiveValue.math(call.name, try call.arguments.map { try value($0, row) })
        default: throw NaiveUnsupported(what: "value \(expression)")
        }
    }
}

extension NaiveTable {
    /// In SELECT and WHERE a name is the field, else the tag.
    func value(_ reference: Reference, _ row: NaiveRow, _ type: FieldType?) -> FieldValue? {
        let field = row.values[reference.name]
        // Among what a subquery groups by a missing tag is a text without letters.
        let text = row.tags[reference.name] ?? (isSubquery ? "" : nil)
        let tag = text.map { FieldValue.string($0) }
        switch reference.kind {
        case .any:
            if fields[reference.name] != nil {
                return type.flatMap { NaiveValue.cast(field, $0) }
            }
            // A tag beside a field of the name elsewhere is null where that field is no string.
            return tags.contains(reference.name) && type == .string ? tag : nil
        case .field: return type.flatMap { NaiveValue.cast(field, $0) }
        case .tag: return tags.contains(reference.name) ? tag : nil
        case .type(let wanted): return NaiveValue.cast(field, wanted)
        }
    }

    func isField(_ reference: Reference) -> Bool {
        reference.kind != .tag && fields[reference.name] != nil
    }
}
