// Expressions bound to columns and evaluated block by block: one dispatch per block and operation,
// then a plain loop over 64-bit values.

/// An expression whose names are resolved to column indexes.
indirect enum Evaluation: Sendable {
    /// A column of the block, by the index of the plan's reference.
    case column(Int)
    /// The values of one of the plan's calls. Calls follow the references in the columns.
    case call(Int)
    /// An identity tag. It becomes a constant once the series is known.
    case seriesTag(String)
    case constant(FieldValue?)
    case binary(Operator, Evaluation, Evaluation)
    case math(MathFunction, [Evaluation])
    /// The first value that is not null. It is cast to the type, because a batch may lack the
    /// column that makes it a float.
    case coalesce([Evaluation], type: FieldType?)
    case isNull(Evaluation, negated: Bool)
    /// A test of a string; `missing` is the result for a missing value.
    case stringTest(Evaluation, StringTest, missing: Bool)
    case contains(Evaluation, ValueSet, negated: Bool)
    /// `delay()`, which also depends on the time of the row.
    case delay(Evaluation, unit: Int64)
}

/// A test that depends only on the text, so each distinct string is tested once.
final class StringTest: StringPredicate {
    enum Rule: Sendable {
        case equals(String, negated: Bool)
        case matches(Regex, negated: Bool)
        case isAmong(ValueSet, negated: Bool)
    }

    let rule: Rule

    init(_ rule: Rule) {
        self.rule = rule
    }

    func accepts(_ text: String) -> Bool {
        switch rule {
        case .equals(let other, let negated): Name(text) == Name(other) ? !negated : negated
        case .matches(let regex, let negated): regex.matches(text) != negated
        case .isAmong(let values, let negated): values.contains(.string(text)) != negated
        }
    }
}

/// An evaluator of expressions over blocks.
struct Evaluator {
    /// Whether integer division yields a float. As in InfluxDB, it does in SELECT but not in WHERE.
    var integersDivideToFloat = true
    /// Whether columns are fields of stored rows. If so, no comparison with a missing one holds, as
    /// in InfluxDB. Otherwise it counts as false next to a boolean.
    var readsStoredRows = false
    /// The times of the rows, if the expression needs them.
    var times: [Int64] = []

    /// Evaluates an expression over a block. The caller must check for cancellation.
    func evaluate(_ node: Evaluation, _ columns: RowColumns, count: Int) -> ResultVector {
        if !node.isColumn, count > 256, CancellationCheck.isRaised {
            return .constant(nil, count: count)
        }
        switch node {
        case .column(let index): return columns[index]
        case .call(let index): return columns.call(index)
        case .seriesTag: return .constant(nil, count: count)
        case .constant(let value): return .constant(value, count: count)
        case .binary(let symbol, let left, let right):
            var stored: StoredOperands = []
            if readsStoredRows, left.isColumn { stored.insert(.left) }
            if readsStoredRows, right.isColumn { stored.insert(.right) }
            let left = evaluate(left, columns, count: count)
            let right = evaluate(right, columns, count: count)
            return VectorArithmetic.binary(
                symbol, left, right, integersDivideToFloat: integersDivideToFloat, stored: stored)
        case .coalesce(let arguments, let type):
            let vectors = arguments.map { shownValues(of: $0, columns, count: count) }
            return VectorArithmetic.coalesce(vectors, type, count: count)
        case .math(let function, let arguments):
            let vectors = arguments.map { evaluate($0, columns, count: count) }
            return VectorArithmetic.math(function, vectors, count: count)
        case .isNull(let inner, let negated):
            let vector = shownValues(of: inner, columns, count: count)
            return .mask((0..<count).map { vector.isPresent[$0] == negated })
        case .stringTest(let inner, let test, let missing):
            return strings(
                evaluate(inner, columns, count: count), test, missing: missing, count: count)
        case .contains(let inner, let values, let negated):
            let vector = shownValues(of: inner, columns, count: count)
            return .mask(
                (0..<count).map { row in
                    guard let value = vector.value(row) else { return false }
                    return values.contains(value) != negated
                })
        case .delay(let inner, let unit):
            let vector = evaluate(inner, columns, count: count)
            return times.count == count
                ? DelayFunction.values(vector, times: times, unit: unit)
                : .constant(nil, count: count)
        }
    }

    /// Evaluates an expression whose result is shown, counted or tested for null. A NaN that it
    /// computes is null; a stored NaN stays. Operators take a NaN as it is, as InfluxDB does.
    func shownValues(of node: Evaluation, _ columns: RowColumns, count: Int) -> ResultVector {
        var vector = evaluate(node, columns, count: count)
        switch node {
        case .column, .coalesce: break
        default: vector.dropNaN()
        }
        return vector
    }

    /// Returns which rows satisfy a condition.
    func mask(_ node: Evaluation, _ columns: RowColumns, count: Int) -> [Bool] {
        let vector = evaluate(node, columns, count: count)
        guard vector.type == .boolean else { return Array(repeating: false, count: count) }
        return (0..<count).map { vector.isPresent[$0] && vector.bits[$0] != 0 }
    }

    private func strings(
        _ vector: ResultVector, _ test: StringTest, missing: Bool, count: Int
    ) -> ResultVector {
        guard vector.type == .string else {
            return .mask((0..<count).map { !vector.isPresent[$0] && missing })
        }
        // Test each distinct string of the block only once.
        var known = [UInt8].filled(with: 2, count: vector.strings.count)
        var mask = [Bool].filled(with: missing, count: count)
        for row in 0..<count where vector.isPresent[row] {
            if ISOTime.isWord(vector.bits[row]) {
                mask[row] = test.accepts(vector.strings.text(vector.bits[row]))
                continue
            }
            let code = Int(vector.bits[row])
            if known[code] == 2 {
                if row & 0x1F == 0, CancellationCheck.isRaised { break }
                known[code] = test.accepts(vector.strings.text(vector.bits[row])) ? 1 : 0
            }
            mask[row] = known[code] == 1
        }
        return .mask(mask)
    }
}

extension Evaluation {
    /// Returns the condition with the tags of a series substituted and constant parts folded.
    ///
    /// `.constant(true)` accepts the whole series; any other constant rejects it.
    ///
    /// - Parameter tag: returns the value of a tag. For a missing tag it returns an empty string,
    ///   or nil if the tag should act like a missing field, which satisfies no condition.
    func specialized(_ tag: (String) -> String?) -> Evaluation {
        switch self {
        case .column, .call, .constant: return self
        case .seriesTag(let name): return .constant(tag(name).map { .string($0) })
        case .binary(let symbol, let left, let right):
            let left = left.specialized(tag)
            let right = right.specialized(tag)
            if let short = Evaluation.shortcut(symbol, left, right)
                ?? Evaluation.comparison(symbol, left, right)
            {
                return short
            }
            return Evaluation.binary(symbol, left, right).folded([left, right])
        case .math(let function, let arguments):
            let parts = arguments.map { $0.specialized(tag) }
            return Evaluation.math(function, parts).folded(parts)
        case .coalesce(let arguments, let type):
            let parts = arguments.map { argument in
                // A missing tag of the series is null here, as a missing attribute is.
                if case .seriesTag(let name) = argument, (tag(name) ?? "").isEmpty {
                    return Evaluation.constant(nil)
                }
                return argument.specialized(tag)
            }
            let first = parts.first { if case .constant(nil) = $0 { false } else { true } }
            if case .constant(.string)? = first, type == .string, let first { return first }
            return Evaluation.coalesce(parts, type: type).folded(parts)
        case .isNull(let inner, let negated):
            let part = inner.specialized(tag)
            return Evaluation.isNull(part, negated: negated).folded([part])
        case .stringTest(let inner, let test, let missing):
            let part = inner.specialized(tag)
            if case .constant(.string(let text)?) = part {
                // Each series tests its tags: no vectors of one row are made for that.
                return .constant(.boolean(test.accepts(text)))
            }
            return Evaluation.stringTest(part, test, missing: missing).folded([part])
        case .contains(let inner, let values, let negated):
            let part = inner.specialized(tag)
            return Evaluation.contains(part, values, negated: negated).folded([part])
        case .delay(let inner, let unit): return .delay(inner.specialized(tag), unit: unit)
        }
    }

    var isColumn: Bool {
        if case .column = self { true } else { false }
    }

    /// The expressions that this one is computed from.
    private var parts: [Evaluation] {
        switch self {
        case .column, .call, .seriesTag, .constant: []
        case .binary(_, let left, let right): [left, right]
        case .math(_, let arguments), .coalesce(let arguments, _): arguments
        case .isNull(let inner, _), .stringTest(let inner, _, _), .contains(let inner, _, _),
            .delay(let inner, _):
            [inner]
        }
    }

    /// The references that the expression reads.
    var referencesRead: Set<Int> {
        if case .column(let index) = self { return [index] }
        return parts.reduce(into: []) { $0.formUnion($1.referencesRead) }
    }

    /// Whether the result depends on the tags of the series.
    var readsTags: Bool {
        if case .seriesTag = self { return true }
        return parts.contains { $0.readsTags }
    }

    /// Whether the result depends on the time of the row.
    var readsTimes: Bool {
        if case .delay = self { return true }
        return parts.contains { $0.readsTimes }
    }

    /// Tags that a series must have for any of its rows to satisfy the condition.
    var requiredTags: [SeriesKey] {
        var tags: [SeriesKey] = []
        appendRequiredTags(to: &tags)
        return tags
    }

    private func appendRequiredTags(to tags: inout [SeriesKey]) {
        switch self {
        case .binary(.and, let left, let right):
            left.appendRequiredTags(to: &tags)
            right.appendRequiredTags(to: &tags)
        case .stringTest(.seriesTag(let name), let test, _):
            if case .equals(let text, negated: false) = test.rule, !text.isEmpty {
                tags.append(SeriesKey(tags: [(name, text)]))
            }
        default: break
        }
    }

    /// Tells of a series key whether rows of the series can satisfy the condition.
    var acceptsKey: (SeriesKey) -> Bool {
        // Most series fail this check, which creates no strings.
        let required = requiredTags.prefix(4)
        return { key in
            guard required.allSatisfy({ key.contains($0) }) else { return false }
            var tags = TagCache(key)
            return !self.specialized { tags.value(of: $0) }.neverMatches
        }
    }

    private func folded(_ parts: [Evaluation]) -> Evaluation {
        for part in parts {
            guard case .constant = part else { return self }
        }
        let evaluator = Evaluator(integersDivideToFloat: false)
        return .constant(evaluator.evaluate(self, RowColumns(count: 1), count: 1).value(0))
    }

    /// Simplifies AND and OR if one side is a constant.
    private static func shortcut(
        _ symbol: Operator, _ left: Evaluation, _ right: Evaluation
    ) -> Evaluation? {
        guard symbol == .and || symbol == .or else { return nil }
        for (side, other) in [(left, right), (right, left)] {
            guard case .constant(let value) = side else { continue }
            let isTrue = value == .boolean(true)
            if isTrue == (symbol == .and) { return other }
            return .constant(.boolean(isTrue))
        }
        return nil
    }

    /// Compares two constants of which one is a text. Conditions do so for each series: no vectors
    /// of one row are made for that.
    private static func comparison(
        _ symbol: Operator, _ left: Evaluation, _ right: Evaluation
    ) -> Evaluation? {
        guard symbol.isComparison, case .constant(let left?) = left,
            case .constant(let right?) = right
        else { return nil }
        switch (left, right) {
        case (.string(let left), .string(let right)) where symbol == .equal || symbol == .notEqual:
            return .constant(.boolean((Name(left) == Name(right)) == (symbol == .equal)))
        case (.string, _), (_, .string): return .constant(.boolean(false))
        default: return nil
        }
    }

    /// Whether the condition is a constant other than true.
    var neverMatches: Bool {
        guard case .constant(let value) = self else { return false }
        return value != .boolean(true)
    }

    /// Returns whether the condition, without tags, accepts a stored row without values.
    var matchesEmptyRow: Bool {
        Evaluator(integersDivideToFloat: false, readsStoredRows: true)
            .mask(self, RowColumns(count: 1), count: 1)[0]
    }

    /// Whether the condition is the constant true.
    var alwaysMatches: Bool {
        guard case .constant(let value) = self else { return false }
        return value == .boolean(true)
    }
}

extension ResultVector {
    static func constant(_ value: FieldValue?, count: Int) -> ResultVector {
        guard let value else {
            return ResultVector(
                type: nil, bits: .filled(with: 0, count: count),
                isPresent: .filled(with: false, count: count))
        }
        var bits: UInt64 = 0
        var strings = StringTable.empty
        switch value {
        case .float(let number): bits = number.bitPattern
        case .integer(let number): bits = UInt64(bitPattern: number)
        case .boolean(let flag): bits = flag ? 1 : 0
        case .string(let text):
            let heap = Array(text.utf8)
            strings = StringTable(heap: heap, ends: [heap.count])
        }
        return ResultVector(
            type: value.type, bits: .filled(with: bits, count: count),
            isPresent: .filled(with: true, count: count), strings: strings)
    }

    static func mask(_ flags: [Bool]) -> ResultVector {
        ResultVector(
            type: .boolean, bits: flags.map { $0 ? 1 : 0 },
            isPresent: .filled(with: true, count: flags.count))
    }

    static func times(_ times: [Int64]) -> ResultVector {
        ResultVector(
            type: .integer, bits: times.map { UInt64(bitPattern: $0) },
            isPresent: times.count == 1 ? onePresent : .filled(with: true, count: times.count))
    }

    /// The presence of a single row, shared because most groups without buckets have one row.
    static let onePresent = [true]

    func filtered(_ rows: [Int]) -> ResultVector {
        ResultVector(
            type: type, bits: rows.map { bits[$0] }, isPresent: rows.map { isPresent[$0] },
            strings: strings)
    }

    /// Converts integers to floats and floats to integers (truncating); otherwise yields nulls.
    func cast(to target: FieldType) -> ResultVector {
        switch (type, target) {
        case (.integer?, .float):
            var result = self
            result.type = .float
            for row in 0..<count {
                result.bits[row] = Double(Int64(bitPattern: bits[row])).bitPattern
            }
            return result
        case (.float?, .integer):
            var result = self
            result.type = .integer
            for row in 0..<count {
                let number = Int64(saturating: Double(bitPattern: bits[row]))
                result.bits[row] = UInt64(bitPattern: number)
            }
            return result
        case (let own, _) where own == target || own == nil: return self
        default: return .constant(nil, count: count)
        }
    }

    var reversed: ResultVector {
        ResultVector(
            type: type, bits: bits.reversed(), isPresent: isPresent.reversed(), strings: strings)
    }
}

extension ResultVector {
    /// Makes floats that are not a number null.
    mutating func dropNaN() {
        guard type == .float, bits.contains(where: { Double(bitPattern: $0).isNaN }) else {
            return
        }
        for row in bits.indices where Double(bitPattern: bits[row]).isNaN { isPresent[row] = false }
    }
}
