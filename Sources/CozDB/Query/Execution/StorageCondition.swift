// Translates conditions into predicates that storage evaluates, so that it can skip blocks.

/// The part of a condition that storage can evaluate.
struct StorageCondition {
    /// A predicate that accepts at least every row that satisfies the condition; nil if unknown.
    var test: RowPredicate?
    /// Whether the predicate accepts only rows that satisfy the condition.
    var isExact: Bool

    fileprivate static let nothing = StorageCondition(test: nil, isExact: false)
}

extension Evaluation {
    func storageCondition(
        _ plan: SelectPlan, _ source: PlannedSource, _ schema: ExperimentSchema
    ) -> StorageCondition {
        func predicate(
            _ reference: Int, isExact: Bool = true, _ test: (FieldType) -> ValuePredicate?
        ) -> StorageCondition {
            guard case .column(let id, _) = source.bindings[reference],
                plan.references[reference].type == schema.column(id).type,
                let test = test(schema.column(id).type)
            else { return .nothing }
            return StorageCondition(
                test: .column(ColumnPredicate(column: id, test: test)), isExact: isExact)
        }
        switch self {
        case .binary(.and, let left, let right):
            return left.storageCondition(plan, source, schema)
                .and(right.storageCondition(plan, source, schema))
        case .binary(.or, let left, let right):
            return left.storageCondition(plan, source, schema)
                .or(right.storageCondition(plan, source, schema))
        case .binary(let symbol, .column(let reference), .constant(let value?)):
            return predicate(reference) { ValuePredicate($0, symbol, value) }
        case .binary(let symbol, .constant(let value?), .column(let reference)):
            return predicate(reference) { ValuePredicate($0, symbol.mirrored, value) }
        case .isNull(.column(let reference), negated: true):
            return predicate(reference) { _ in .isPresent }
        case .stringTest(.column(let reference), let test, missing: false):
            return predicate(reference) { $0 == .string ? .text(test) : nil }
        case .contains(.column(let reference), _, negated: _):
            return predicate(reference, isExact: false) { _ in .isPresent }
        default: return .nothing
        }
    }
}

extension StorageCondition {
    fileprivate func and(_ other: StorageCondition) -> StorageCondition {
        let parts = [test, other.test].compactMap { $0 }
        return StorageCondition(
            test: parts.count == 2 ? .all(parts) : parts.first, isExact: isExact && other.isExact)
    }

    fileprivate func or(_ other: StorageCondition) -> StorageCondition {
        guard let test, let otherTest = other.test else { return .nothing }
        return StorageCondition(
            test: .any([test, otherTest]), isExact: isExact && other.isExact)
    }
}

extension ValuePredicate {
    /// Creates the test for a comparison with a constant; nil if a missing value could satisfy the
    /// comparison or storage has no test for it.
    fileprivate init?(_ type: FieldType, _ symbol: Operator, _ value: FieldValue) {
        switch (type, value) {
        case (.integer, .integer(let number)): self.init(symbol, number)
        case (.integer, .float(let number)):
            self.init(symbol, number) { .integersAsFloats($0, inside: $1) }
        case (.float, .float(let number)): self.init(symbol, number) { .floats($0, inside: $1) }
        case (.float, .integer(let number)):
            self.init(symbol, Double(number)) { .floats($0, inside: $1) }
        case (.boolean, .boolean(let flag)) where symbol == .equal: self = .flag(flag)
        case (.boolean, .boolean(let flag)) where symbol == .notEqual: self = .flag(!flag)
        default: return nil
        }
    }

    private init?(_ symbol: Operator, _ number: Int64) {
        let bounds: ClosedRange<Int64>
        switch symbol {
        case .equal, .notEqual: bounds = number...number
        case .lessOrEqual: bounds = .min...number
        case .greaterOrEqual: bounds = number ... .max
        case .less where number > .min: bounds = .min...(number - 1)
        case .greater where number < .max: bounds = (number + 1) ... .max
        case .less, .greater:
            self = .never
            return
        default: return nil
        }
        self = .number(.integers(bounds, inside: symbol != .notEqual))
    }

    private init?(
        _ symbol: Operator, _ number: Double,
        _ test: (ClosedRange<Double>, Bool) -> NumberPredicate
    ) {
        guard !number.isNaN else {
            // A comparison with NaN holds only for !=.
            switch symbol {
            case .notEqual: self = .isPresent
            case .equal, .less, .lessOrEqual, .greater, .greaterOrEqual: self = .never
            default: return nil
            }
            return
        }
        let bounds: ClosedRange<Double>
        switch symbol {
        case .equal, .notEqual: bounds = number...number
        case .lessOrEqual: bounds = -.infinity...number
        case .greaterOrEqual: bounds = number ... .infinity
        case .less where number > -.infinity: bounds = -.infinity...number.nextDown
        case .greater where number < .infinity: bounds = number.nextUp ... .infinity
        case .less, .greater:
            self = .never
            return
        default: return nil
        }
        self = .number(test(bounds, symbol != .notEqual))
    }
}
