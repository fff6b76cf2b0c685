// Operators and functions over whole columns with InfluxDB's rules. Integers stay integers except
// under division. Division by zero yields zero. Incompatible types compare as false or yield null.

internal import CozPlatform

/// Which operands of an operator are fields of stored rows. Next to a boolean, no comparison with
/// such a field holds where it is missing. Any other missing value counts as false there.
struct StoredOperands: OptionSet, Sendable {
    let rawValue: UInt8

    static let left = StoredOperands(rawValue: 1)
    static let right = StoredOperands(rawValue: 2)
}

enum VectorArithmetic {
    static func binary(
        _ symbol: Operator, _ left: ResultVector, _ right: ResultVector,
        integersDivideToFloat: Bool, stored: StoredOperands = []
    ) -> ResultVector {
        switch (left.type, right.type) {
        case (.boolean?, .boolean?), (.boolean?, nil), (nil, .boolean?):
            let result = booleans(symbol, left, right)
            return stored.isEmpty || symbol == .and || symbol == .or
                ? result : VectorArithmetic.result(result, symbol, left, right, stored)
        case (.integer?, .integer?):
            return integers(symbol, left, right, integersDivideToFloat: integersDivideToFloat)
        case (.float?, .float?), (.float?, .integer?), (.integer?, .float?):
            return floats(symbol, left.cast(to: .float), right.cast(to: .float))
        case (.string?, .string?): return strings(symbol, left, right)
        default:
            // Incompatible types never compare as true, and other operators yield null.
            if symbol.isCondition, left.type == .boolean || right.type == .boolean {
                return mixed(symbol, left, right, stored)
            }
            if symbol.isCondition {
                return .mask(Array(repeating: false, count: left.count))
            }
            return .constant(nil, count: left.count)
        }
    }

    /// Returns the type of an operator's result; nil if it does not combine the types.
    static func resultType(
        _ symbol: Operator, _ left: FieldType, _ right: FieldType, integersDivideToFloat: Bool
    ) -> FieldType? {
        // Evaluate one row of zeros.
        let zeros = [left, right].map {
            ResultVector(
                type: $0, bits: [0], isPresent: [true],
                strings: StringTable(heap: [], ends: [0]))
        }
        return binary(
            symbol, zeros[0], zeros[1], integersDivideToFloat: integersDivideToFloat
        ).type
    }

    private static func booleans(
        _ symbol: Operator, _ left: ResultVector, _ right: ResultVector
    ) -> ResultVector {
        func flags(_ vector: ResultVector) -> [Bool] {
            zip(vector.bits, vector.isPresent).map { $0 != 0 && $1 }
        }
        let (a, b) = (flags(left), flags(right))
        var mask: [Bool]
        switch symbol {
        case .and, .bitAnd: mask = zip(a, b).map { $0 && $1 }
        case .or, .bitOr: mask = zip(a, b).map { $0 || $1 }
        case .bitXor, .notEqual: mask = zip(a, b).map { $0 != $1 }
        case .equal: mask = zip(a, b).map { $0 == $1 }
        default:
            return symbol.isCondition
                ? .mask(Array(repeating: false, count: left.count))
                : .constant(nil, count: left.count)
        }
        var result = ResultVector.mask(mask)
        // If both values are missing, a condition is false and any other result is null.
        for row in mask.indices where !left.isPresent[row] && !right.isPresent[row] {
            mask[row] = false
            result.bits[row] = 0
            result.isPresent[row] = symbol.precedence <= 3
        }
        return result
    }

    /// Changes the result of an operator on booleans where a stored field is missing. It is false
    /// for comparisons, and if only the right side is missing; otherwise it is null, as in
    /// InfluxDB.
    private static func result(
        _ result: ResultVector, _ symbol: Operator, _ left: ResultVector, _ right: ResultVector,
        _ stored: StoredOperands
    ) -> ResultVector {
        var result = result
        for row in result.bits.indices
        where !left.isPresent[row] && stored.contains(.left)
            || !right.isPresent[row] && stored.contains(.right)
        {
            result.bits[row] = 0
            result.isPresent[row] = symbol.isComparison || left.isPresent[row]
        }
        return result
    }

    /// Compares a boolean with a value of another type. The result is false, except where the other
    /// value is missing: there the boolean is compared with a missing value.
    private static func mixed(
        _ symbol: Operator, _ left: ResultVector, _ right: ResultVector, _ stored: StoredOperands
    ) -> ResultVector {
        let isLeft = left.type == .boolean
        let other = isLeft ? right : left
        guard other.isPresent.contains(false) else {
            return .mask(Array(repeating: false, count: left.count))
        }
        let none = ResultVector.constant(nil, count: left.count)
        var result = binary(
            symbol, isLeft ? left : none, isLeft ? none : right, integersDivideToFloat: true,
            stored: stored)
        for row in result.bits.indices where other.isPresent[row] { result.bits[row] = 0 }
        return result
    }

    private static func presence(_ left: ResultVector, _ right: ResultVector) -> [Bool] {
        var presence = left.isPresent
        for row in presence.indices where !right.isPresent[row] { presence[row] = false }
        return presence
    }

    private static func compare<Value>(
        _ left: ResultVector, _ right: ResultVector, _ read: (UInt64) -> Value,
        _ holds: (Value, Value) -> Bool
    ) -> ResultVector {
        var mask = presence(left, right)
        for row in mask.indices where mask[row] {
            mask[row] = holds(read(left.bits[row]), read(right.bits[row]))
        }
        return .mask(mask)
    }

    private static func compute<Value>(
        _ left: ResultVector, _ right: ResultVector, _ type: FieldType,
        _ read: (UInt64) -> Value, _ operation: (Value, Value) -> UInt64
    ) -> ResultVector {
        var result = ResultVector(
            type: type, bits: left.bits, isPresent: presence(left, right))
        for row in result.bits.indices {
            result.bits[row] = operation(read(left.bits[row]), read(right.bits[row]))
        }
        return result
    }

    private static func integers(
        _ symbol: Operator, _ left: ResultVector, _ right: ResultVector,
        integersDivideToFloat: Bool
    ) -> ResultVector {
        func read(_ bits: UInt64) -> Int64 { Int64(bitPattern: bits) }
        func integers(_ operation: (Int64, Int64) -> Int64) -> ResultVector {
            compute(left, right, .integer, read) { UInt64(bitPattern: operation($0, $1)) }
        }
        switch symbol {
        case .equal: return compare(left, right, read, ==)
        case .notEqual: return compare(left, right, read, !=)
        case .less: return compare(left, right, read, <)
        case .lessOrEqual: return compare(left, right, read, <=)
        case .greater: return compare(left, right, read, >)
        case .greaterOrEqual: return compare(left, right, read, >=)
        case .add: return integers(&+)
        case .subtract: return integers(&-)
        case .multiply: return integers(&*)
        case .bitAnd: return integers(&)
        case .bitOr: return integers(|)
        case .bitXor: return integers(^)
        case .modulo: return integers { $1 == 0 || $1 == -1 ? 0 : $0 % $1 }
        case .divide where integersDivideToFloat:
            return compute(left, right, .float, read) {
                ($1 == 0 ? 0 : Double($0) / Double($1)).bitPattern
            }
        case .divide: return integers { $1 == 0 ? 0 : $1 == -1 ? 0 &- $0 : $0 / $1 }
        default: return .mask(Array(repeating: false, count: left.count))
        }
    }

    private static func floats(
        _ symbol: Operator, _ left: ResultVector, _ right: ResultVector
    ) -> ResultVector {
        func read(_ bits: UInt64) -> Double { Double(bitPattern: bits) }
        func floats(_ operation: (Double, Double) -> Double) -> ResultVector {
            compute(left, right, .float, read) { operation($0, $1).bitPattern }
        }
        switch symbol {
        case .equal: return compare(left, right, read, ==)
        case .notEqual: return compare(left, right, read, !=)
        case .less: return compare(left, right, read, <)
        case .lessOrEqual: return compare(left, right, read, <=)
        case .greater: return compare(left, right, read, >)
        case .greaterOrEqual: return compare(left, right, read, >=)
        case .add: return floats(+)
        case .subtract: return floats(-)
        case .multiply: return floats(*)
        case .divide: return floats { $1 == 0 ? 0 : $0 / $1 }
        case .modulo: return floats { $0.truncatingRemainder(dividingBy: $1) }
        case .and, .or, .matches, .matchesNot:
            return .mask(Array(repeating: false, count: left.count))
        default: return .constant(nil, count: left.count)
        }
    }

    private static func strings(
        _ symbol: Operator, _ left: ResultVector, _ right: ResultVector
    ) -> ResultVector {
        guard symbol == .equal || symbol == .notEqual else {
            return symbol.isCondition
                ? .mask(Array(repeating: false, count: left.count))
                : .constant(nil, count: left.count)
        }
        var mask = presence(left, right)
        for row in mask.indices where mask[row] {
            let isSame = Name(left.text(row)) == Name(right.text(row))
            mask[row] = isSame == (symbol == .equal)
        }
        return .mask(mask)
    }

    // MARK: Functions

    static func math(
        _ function: MathFunction, _ arguments: [ResultVector], count: Int
    ) -> ResultVector {
        switch function {
        case .atan2: return floats(arguments) { Glibc.atan2($0, $1) }
        case .log: return floats(arguments) { Glibc.log($0) / Glibc.log($1) }
        case .pow: return floats(arguments) { Glibc.pow($0, $1) }
        case .abs, .ceil, .floor, .round:
            guard arguments[0].type == .integer else { break }
            if function != .abs { return arguments[0] }
            var result = arguments[0]
            for row in 0..<count {
                let number = Int64(bitPattern: result.bits[row])
                result.bits[row] = UInt64(bitPattern: number < 0 ? 0 &- number : number)
            }
            return result
        default: break
        }
        return floats(arguments, unary(function))
    }

    private static func unary(_ function: MathFunction) -> (Double) -> Double {
        switch function {
        case .abs: { $0.magnitude }
        case .acos: { Glibc.acos($0) }
        case .asin: { Glibc.asin($0) }
        case .atan: { Glibc.atan($0) }
        case .ceil: { $0.rounded(.up) }
        case .cos: { Glibc.cos($0) }
        case .exp: { Glibc.exp($0) }
        case .floor: { $0.rounded(.down) }
        case .ln: { Glibc.log($0) }
        case .log2: { Glibc.log2($0) }
        case .log10: { Glibc.log10($0) }
        case .round: { $0.rounded(.toNearestOrAwayFromZero) }
        case .sin: { Glibc.sin($0) }
        case .sqrt: { $0.squareRoot() }
        case .tan: { Glibc.tan($0) }
        case .atan2, .log, .pow, .coalesce, .delay: { $0 }
        }
    }

    private static func floats(
        _ arguments: [ResultVector], _ operation: (Double) -> Double
    ) -> ResultVector {
        var result = arguments[0].cast(to: .float)
        for row in 0..<result.count where result.isPresent[row] {
            result.bits[row] = operation(Double(bitPattern: result.bits[row])).bitPattern
        }
        return result
    }

    private static func floats(
        _ arguments: [ResultVector], _ operation: (Double, Double) -> Double
    ) -> ResultVector {
        let left = arguments[0].cast(to: .float)
        let right = arguments[1].cast(to: .float)
        let read = { (bits: UInt64) in Double(bitPattern: bits) }
        return compute(left, right, .float, read) { operation($0, $1).bitPattern }
    }

    /// Returns the first value of each row. All vectors have one type, which is not string.
    private static func numbers(_ vectors: [ResultVector], _ type: FieldType?) -> ResultVector {
        var result = vectors[0]
        result.type = type
        for other in vectors.dropFirst() {
            for row in result.isPresent.indices
            where !result.isPresent[row] && other.isPresent[row] {
                result.isPresent[row] = true
                result.bits[row] = other.bits[row]
            }
        }
        return result
    }

    /// Returns the first value of each row. Values of another type that cannot be cast are null.
    static func coalesce(
        _ arguments: [ResultVector], _ type: FieldType?, count: Int
    ) -> ResultVector {
        guard let type else { return .constant(nil, count: count) }
        let vectors = arguments.map { $0.cast(to: type) }.filter { $0.type == type }
        guard let first = vectors.first else { return .constant(nil, count: count) }
        if vectors.count == 1 || !first.isPresent.contains(false) { return first }
        if type != .string { return numbers(vectors, type) }
        var builder = VectorBuilder(type: .string)
        for row in 0..<count {
            if let vector = vectors.first(where: { $0.isPresent[row] }) {
                builder.append(vector, row: row)
            } else {
                builder.appendNull()
            }
        }
        return builder.finished()
    }
}
