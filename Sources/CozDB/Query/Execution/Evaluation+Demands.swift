// What a condition asks of single columns whatever else it says: storage leaves blocks alone that
// cannot have it. Only comparisons that every accepted row must fulfil count.

extension Evaluation {
    /// What each row that fulfils the condition must have.
    func demands(
        _ plan: SelectPlan, _ source: PlannedSource, _ schema: ExperimentSchema
    ) -> [ColumnDemand] {
        func column(_ reference: Int) -> Column? {
            guard case .column(let id, _) = source.bindings[reference],
                plan.references[reference].type == schema.columns[id].type
            else { return nil }
            return schema.columns[id]
        }
        switch self {
        case .binary(.and, let left, let right):
            return left.demands(plan, source, schema) + right.demands(plan, source, schema)
        case .binary(let symbol, .column(let reference), .constant(let value?)):
            return column(reference).flatMap { ColumnDemand($0, symbol, value) }.map { [$0] } ?? []
        case .binary(let symbol, .constant(let value?), .column(let reference)):
            return column(reference).flatMap { ColumnDemand($0, symbol.mirrored, value) }
                .map { [$0] } ?? []
        case .isNull(.column(let reference), negated: true),
            .stringTest(.column(let reference), _, missing: false),
            .contains(.column(let reference), _, negated: _):
            return column(reference).map { [ColumnDemand(column: $0.id, bounds: .any)] } ?? []
        default: return []
        }
    }
}

extension ColumnDemand {
    /// What a comparison of a column with a constant asks of it; nil where statistics do not tell.
    ///
    /// A missing number fulfils no comparison. Booleans are left out: a missing one counts as
    /// false.
    fileprivate init?(_ column: Column, _ symbol: Operator, _ value: FieldValue) {
        let bounds: Bounds
        switch (column.type, value) {
        case (.integer, .integer(let number)): bounds = Bounds(symbol, number)
        case (.integer, .float(let number)), (.float, .float(let number)):
            bounds = Bounds(symbol, number)
        case (.float, .integer(let number)): bounds = Bounds(symbol, Double(number))
        default: return nil
        }
        guard symbol.isCondition, symbol != .and, symbol != .or else { return nil }
        self.init(column: column.id, bounds: bounds)
    }
}

extension ColumnDemand.Bounds {
    fileprivate init(_ symbol: Operator, _ number: Int64) {
        switch symbol {
        case .equal: self = .integers(number...number)
        case .lessOrEqual: self = .integers(.min...number)
        case .greaterOrEqual: self = .integers(number ... .max)
        case .less: self = number == .min ? .nothing : .integers(.min...(number - 1))
        case .greater: self = number == .max ? .nothing : .integers((number + 1) ... .max)
        default: self = .any
        }
    }

    fileprivate init(_ symbol: Operator, _ number: Double) {
        if number.isNaN {
            // Only != holds of what is no number.
            self = symbol == .notEqual ? .any : .nothing
            return
        }
        switch symbol {
        case .equal: self = .floats(number...number)
        case .lessOrEqual: self = .floats(-.infinity...number)
        case .greaterOrEqual: self = .floats(number ... .infinity)
        case .less: self = .floats(-.infinity...number.nextDown)
        case .greater: self = .floats(number.nextUp ... .infinity)
        default: self = .any
        }
    }
}
