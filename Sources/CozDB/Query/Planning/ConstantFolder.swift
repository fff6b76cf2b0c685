// Constant folding, such as `now() - 7d`, `(1 - 0)` and `'2025-01-01' + 1h`, and the separation of
// time bounds from the rest of WHERE.

/// Folds operations on literals.
struct ConstantFolder {
    let now: Timestamp
    /// The zone of time literals without an offset.
    let zone: TimeZoneRules?

    /// Returns the expression with all operations on literals folded.
    func reduced(_ expression: Expression) throws(DatabaseError) -> Expression {
        switch expression {
        case .parenthesis(let inner):
            let inner = try reduced(inner)
            if inner.isLiteral { return inner }
            return .parenthesis(inner)
        case .call(var call):
            if call.name == "now", call.arguments.isEmpty { return .time(now.nanoseconds) }
            var arguments: [Expression] = []
            for argument in call.arguments { arguments.append(try reduced(argument)) }
            call.arguments = arguments
            return constant(call) ?? .call(call)
        case .binary(let symbol, let left, let right):
            let left = try reduced(left)
            let right = try reduced(right)
            return try fold(symbol, left, right) ?? .binary(symbol, left, right)
        case .isNull(let inner, let negated): return .isNull(try reduced(inner), negated: negated)
        case .contains(let inner, let list, let negated):
            return .contains(try reduced(inner), list, negated: negated)
        default: return expression
        }
    }

    /// Returns the value of a scalar function of numeric literals; nil for other calls.
    private func constant(_ call: Call) -> Expression? {
        guard let function = MathFunction(rawValue: call.name), function != .coalesce,
            function.argumentCount.contains(call.arguments.count)
        else { return nil }
        var vectors: [ResultVector] = []
        for argument in call.arguments {
            switch argument {
            case .integer(let value): vectors.append(.constant(.integer(value), count: 1))
            case .number(let value): vectors.append(.constant(.float(value), count: 1))
            default: return nil
            }
        }
        switch VectorArithmetic.math(function, vectors, count: 1).value(0) {
        case .integer(let value)?: return .integer(value)
        case .float(let value)?: return .number(value)
        default: return nil
        }
    }

    private func fold(
        _ symbol: Operator, _ left: Expression, _ right: Expression
    ) throws(DatabaseError) -> Expression? {
        switch (left, right) {
        case (.integer(let a), .integer(let b)): return integers(symbol, a, b)
        case (.integer(let a), .number(let b)): return numbers(symbol, Double(a), b)
        case (.number(let a), .integer(let b)): return numbers(symbol, a, Double(b))
        case (.number(let a), .number(let b)): return numbers(symbol, a, b)
        case (.boolean(let a), .boolean(let b)): return booleans(symbol, a, b)
        case (.duration(let a), .duration(let b)):
            switch symbol {
            case .add: return .duration(a &+ b)
            case .subtract: return .duration(a &- b)
            default: return nil
            }
        case (.duration(let a), .integer(let b)): return durations(symbol, a, Double(b), b)
        case (.duration(let a), .number(let b)): return durations(symbol, a, b, nil)
        case (.integer(let a), .duration(let b)) where symbol == .multiply:
            return .duration(a &* b)
        // An integer is a time in nanoseconds, as in InfluxDB.
        case (.integer(let a), .duration(let b)): return shifted(symbol, a, by: b)
        case (.integer(let a), .time(let b)) where symbol == .add: return shifted(symbol, b, by: a)
        case (.time(let a), .duration(let b)): return shifted(symbol, a, by: b)
        case (.time(let a), .integer(let b)): return shifted(symbol, a, by: b)
        case (.duration(let a), .time(let b)) where symbol == .add: return .time(a &+ b)
        case (.time(let a), .time(let b)) where symbol == .subtract: return .duration(a &- b)
        case (.string(let text, let offset), .duration(let b)):
            let time = try DatabaseError.located(at: offset) { () throws(DatabaseError) in
                try self.time(text)
            }
            guard let time else { return nil }
            return shifted(symbol, time, by: b)
        default: return nil
        }
    }

    private func integers(_ symbol: Operator, _ a: Int64, _ b: Int64) -> Expression? {
        switch symbol {
        case .add: .integer(a &+ b)
        case .subtract: .integer(a &- b)
        case .multiply: .integer(a &* b)
        case .divide: .number(b == 0 ? 0 : Double(a) / Double(b))
        case .modulo: .integer(b == 0 || b == -1 ? 0 : a % b)
        case .bitAnd: .integer(a & b)
        case .bitOr: .integer(a | b)
        case .bitXor: .integer(a ^ b)
        default: comparison(symbol, a, b)
        }
    }

    private func numbers(_ symbol: Operator, _ a: Double, _ b: Double) -> Expression? {
        switch symbol {
        case .add: .number(a + b)
        case .subtract: .number(a - b)
        case .multiply: .number(a * b)
        case .divide: .number(b == 0 ? 0 : a / b)
        case .modulo: .number(a.truncatingRemainder(dividingBy: b))
        default: comparison(symbol, a, b)
        }
    }

    private func comparison<Value: Comparable>(
        _ symbol: Operator, _ a: Value, _ b: Value
    ) -> Expression? {
        switch symbol {
        case .equal: .boolean(a == b)
        case .notEqual: .boolean(a != b)
        case .less: .boolean(a < b)
        case .lessOrEqual: .boolean(a <= b)
        case .greater: .boolean(a > b)
        case .greaterOrEqual: .boolean(a >= b)
        default: nil
        }
    }

    private func booleans(_ symbol: Operator, _ a: Bool, _ b: Bool) -> Expression? {
        switch symbol {
        case .and, .bitAnd: .boolean(a && b)
        case .or, .bitOr: .boolean(a || b)
        case .equal: .boolean(a == b)
        case .notEqual, .bitXor: .boolean(a != b)
        default: nil
        }
    }

    private func durations(
        _ symbol: Operator, _ a: Int64, _ b: Double, _ whole: Int64?
    ) -> Expression? {
        switch symbol {
        case .multiply: .duration(whole.map { a &* $0 } ?? Int64(saturating: Double(a) * b))
        case .divide: .duration(b == 0 ? 0 : Int64(saturating: Double(a) / b))
        case .add: whole.map { .duration(a &+ $0) }
        case .subtract: whole.map { .duration(a &- $0) }
        default: nil
        }
    }

    private func shifted(_ symbol: Operator, _ time: Int64, by duration: Int64) -> Expression? {
        switch symbol {
        case .add: .time(time.addingSaturating(duration))
        case .subtract: .time(time.addingSaturating(duration == .min ? .max : -duration))
        default: nil
        }
    }

    /// Parses a time literal. Returns nil if the string does not start like a date.
    func time(_ text: String) throws(DatabaseError) -> Int64? {
        let bytes = Array(text.utf8.prefix(10))
        guard bytes.count == 10, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
            [0, 1, 2, 3, 5, 6, 8, 9].allSatisfy({ bytes[$0].isDigit })
        else { return nil }
        guard let civil = CivilTime(text) else {
            throw DatabaseError(.usage, "invalid timestamp string: '\(text)'")
        }
        let time: Timestamp?
        if civil.offsetSeconds == nil, let zone {
            time = zone.timestamp(of: civil)
        } else {
            time = civil.timestamp(offsetSeconds: civil.offsetSeconds ?? 0)
        }
        guard let time else {
            let what = civil.day < 0 ? "underflows" : "overflows"
            throw DatabaseError(.usage, "time \(text) \(what) time literal")
        }
        return time.nanoseconds
    }
}

extension Int64 {
    init(saturating value: Double) {
        if value.isNaN {
            self = 0
        } else if value >= 9.223372036854775e18 {
            self = .max
        } else if value <= -9.223372036854775e18 {
            self = .min
        } else {
            self = Int64(value)
        }
    }

    /// Returns the nanoseconds since another time. The full range of times exceeds Int64.
    func nanoseconds(since other: Int64) -> Double {
        let (distance, isOver) = subtractingReportingOverflow(other)
        return isOver ? Double(self) - Double(other) : Double(distance)
    }

    /// Returns the whole units since another time, saturating.
    func units(of unit: Int64, since other: Int64) -> Int64 {
        let (distance, isOver) = subtractingReportingOverflow(other)
        guard isOver else { return distance / unit }
        return Int64(clamping: (Int128(self) - Int128(other)) / Int128(unit))
    }

    func addingSaturating(_ other: Int64) -> Int64 {
        let (sum, isOver) = addingReportingOverflow(other)
        return isOver ? (other < 0 ? .min : .max) : sum
    }
}

/// A WHERE clause split into time bounds and the remaining condition.
struct SplitCondition: Sendable {
    /// The first and last time, both inclusive; nil if the statement has no such bound.
    var first: Int64?
    var last: Int64?
    /// The remaining condition; nil if it accepts every row.
    var rest: Expression?

    init(_ condition: Expression?, _ reduction: ConstantFolder) throws(DatabaseError) {
        guard let condition else { return }
        rest = try split(condition, reduction)
        if case .boolean(true)? = rest?.bare { rest = nil }
    }

    /// Removes comparisons with time. They bound the range even under OR, as in InfluxDB.
    private mutating func split(
        _ condition: Expression, _ reduction: ConstantFolder
    ) throws(DatabaseError) -> Expression? {
        switch condition {
        case .binary(let symbol, let left, let right) where symbol == .and || symbol == .or:
            let left = try split(left, reduction)
            let right = try split(right, reduction)
            guard let left else { return right }
            guard let right else { return left }
            return .binary(symbol, left, right)
        case .binary(let symbol, .reference(let name), let value) where name.isTime:
            try DatabaseError.located(at: name.offset) { () throws(DatabaseError) in
                try bound(symbol, value, reduction)
            }
            return nil
        case .binary(let symbol, let value, .reference(let name)) where name.isTime:
            try DatabaseError.located(at: name.offset) { () throws(DatabaseError) in
                try bound(symbol.mirrored, value, reduction)
            }
            return nil
        case .parenthesis(let inner):
            return try split(inner, reduction).map { .parenthesis($0) }
        case .isNull(let inner, _), .contains(let inner, _, _):
            if case .reference(let name) = inner.bare, name.isTime {
                throw DatabaseError(
                    .usage,
                    "time supports only =, <, <=, > and >=; every row has a time",
                    offset: name.offset)
            }
            return try reduction.reduced(condition)
        case .binary: return try reduction.reduced(condition)
        case .boolean: return condition
        default:
            throw DatabaseError(
                .usage, "invalid condition expression: \(condition.text)",
                offset: condition.offset)
        }
    }

    private mutating func bound(
        _ symbol: Operator, _ value: Expression, _ reduction: ConstantFolder
    ) throws(DatabaseError) {
        var reduced = try reduction.reduced(value)
        if case .string(let text, let offset) = reduced {
            let time = try DatabaseError.located(at: offset) { () throws(DatabaseError) in
                try reduction.time(text)
            }
            if let time { reduced = .time(time) }
        }
        let time: Int64
        switch reduced {
        case .time(let value), .duration(let value), .integer(let value): time = value
        case .number(let value) where !value.isNaN: time = Int64(saturating: value)
        default:
            let found: String =
                if case .number = reduced { "NaN" } else { reduced.kindName }
            throw DatabaseError(
                .usage,
                "invalid operation: time and \(found) are not compatible; write a "
                    + "time as '2025-10-15', '2025-10-15T02:25:21Z', now() - 7d, or nanoseconds",
                offset: value.offset)
        }
        switch symbol {
        case .greater: raise(time.addingSaturating(1))
        case .greaterOrEqual: raise(time)
        case .less: lower(time.addingSaturating(-1))
        case .lessOrEqual: lower(time)
        case .equal:
            raise(time)
            lower(time)
        default:
            throw DatabaseError(
                .usage, "invalid time comparison operator: \(symbol.rawValue)")
        }
    }

    private mutating func raise(_ time: Int64) { first = max(first ?? time, time) }
    private mutating func lower(_ time: Int64) { last = min(last ?? time, time) }
}
