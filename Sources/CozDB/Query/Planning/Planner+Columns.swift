// Plans the SELECT list: finds and shares calls, computes types, and names columns.

extension Planner {
    mutating func planColumns(
        _ plan: SelectPlan, _ fields: [SelectField]
    ) throws(DatabaseError) {
        // Register references first, because the types of calls depend on them.
        for (number, field) in fields.enumerated() {
            if number % 256 == 0 { try CancellationCheck.check() }
            try plan.register(field.expression)
        }
        try bindReferences(plan, from: 0)
        try CancellationCheck.check()
        try checkDimensions(plan)
        plan.seriesFunctions = plan.references.indices.compactMap { index in
            guard case .series(let function)? = plan.references[index].computation else {
                return nil
            }
            return (index, function)
        }
        var callTexts: [Name: Int] = [:]
        for (number, field) in fields.enumerated() {
            if number % 256 == 0 { try CancellationCheck.check() }
            let (evaluation, type) = try DatabaseError.located(at: field.offset) {
                () throws(DatabaseError) in
                let evaluation = try self.evaluation(field.expression, plan, &callTexts)
                return (evaluation, try plan.type(of: evaluation, field.expression))
            }
            plan.columns.append(
                PlannedColumn(
                    name: field.alias ?? "",
                    baseName: field.alias ?? field.expression.columnName, type: type,
                    isTag: plan.isTag(evaluation), evaluation: evaluation))
            try addDistinguishing(field.expression, plan)
        }
        plan.collectAuxiliary()
        plan.nameColumns()
    }

    /// Appends the columns by which top() and bottom() distinguish points.
    private func addDistinguishing(
        _ expression: Expression, _ plan: SelectPlan
    ) throws(DatabaseError) {
        guard case .call(let call) = expression, call.name == "top" || call.name == "bottom" else {
            return
        }
        for case .reference(let reference) in call.arguments.dropFirst() {
            let index = plan.reference(reference)
            plan.columns.append(
                PlannedColumn(
                    name: "", baseName: reference.name, type: plan.references[index].type,
                    isTag: plan.isTag(.column(index)), evaluation: .column(index)))
        }
    }

    private func evaluation(
        _ expression: Expression, _ plan: SelectPlan, _ callTexts: inout [Name: Int]
    ) throws(DatabaseError) -> Evaluation {
        switch expression {
        case .reference(let reference): return .column(plan.reference(reference))
        case .parenthesis(let inner): return try evaluation(inner, plan, &callTexts)
        case .integer(let value), .duration(let value), .time(let value):
            return .constant(.integer(value))
        case .unsigned(let value): return .constant(.float(Double(value)))
        case .number(let value): return .constant(.float(value))
        case .string(let text, _): return .constant(.string(text))
        case .boolean(let flag): return .constant(.boolean(flag))
        case .binary(let symbol, let left, let right):
            let sides = (
                try evaluation(left, plan, &callTexts), try evaluation(right, plan, &callTexts)
            )
            for (literal, other) in [(left, sides.1), (right, sides.0)] {
                guard case .unsigned = literal.bare else { continue }
                if try plan.type(of: other, expression) == .integer {
                    throw DatabaseError(
                        .usage,
                        "type error: \(expression.text): cannot use \(symbol.rawValue) with an "
                            + "integer and unsigned literal; write the literal with a decimal "
                            + "point to compute with floats", offset: expression.offset)
                }
            }
            return .binary(symbol, sides.0, sides.1)
        case .call(let call):
            if call.isSeriesFunction || call.name == "delay" {
                return .column(try plan.computed(call))
            }
            if let function = MathFunction(rawValue: call.name) {
                var arguments: [Evaluation] = []
                for argument in call.arguments {
                    arguments.append(try evaluation(argument, plan, &callTexts))
                }
                return try plan.function(function, arguments, expression)
            }
            return .call(try self.call(expression, plan, &callTexts))
        case .distinct: return .call(try call(expression, plan, &callTexts))
        default:
            throw DatabaseError(.usage, "field must contain at least one variable")
        }
    }

    /// Returns the index of a call; equal calls share one.
    private func call(
        _ expression: Expression, _ plan: SelectPlan, _ callTexts: inout [Name: Int]
    ) throws(DatabaseError) -> Int {
        let text = expression.text
        if let known = callTexts[Name(text)] { return known }
        var call = try planned(expression, plan)
        let type = plan.references[call.argument].type
        if let aggregate = call.aggregate, let type, !plan.references[call.argument].isTag,
            !aggregate.accepts(type)
        {
            throw DatabaseError(
                .usage,
                "unsupported \(aggregate.rawValue) iterator type: \(type.name); "
                    + "\(aggregate.rawValue)() takes numbers"
                    + (aggregate.accepts(.boolean) ? " and booleans" : ""),
                offset: expression.offset)
        }
        call.type = call.aggregate.map { $0.resultType(of: type) } ?? type
        for transformation in call.transformations {
            if let type = call.type, type == .string || type == .boolean,
                !transformation.takesAnyType
            {
                throw DatabaseError(
                    .usage,
                    "\(expression.columnName)() takes numbers; "
                        + "\"\(plan.references[call.argument].name)\" is \(type.name)",
                    offset: expression.offset)
            }
            call.type = call.type == nil ? nil : transformation.resultType(of: call.type)
        }
        call.text = text
        callTexts[Name(text)] = plan.calls.count
        plan.calls.append(call)
        return plan.calls.count - 1
    }

    private func planned(
        _ expression: Expression, _ plan: SelectPlan
    ) throws(DatabaseError) -> PlannedCall {
        switch expression {
        case .reference(let reference):
            return PlannedCall(aggregate: nil, argument: plan.reference(reference))
        case .distinct(let reference):
            return PlannedCall(aggregate: .distinct, argument: plan.reference(reference))
        case .call(let call):
            guard let first = call.arguments.first else { break }
            if MathFunction(rawValue: call.name)?.isExtension == true {
                return PlannedCall(
                    aggregate: nil, argument: try plan.computed(call, isArgument: true))
            }
            if let transformation = transformation(call, plan) {
                var inner = try planned(first, plan)
                inner.transformations.append(transformation)
                return inner
            }
            return try aggregate(call, first, plan)
        default: break
        }
        throw DatabaseError(.usage, "unimplemented: \(expression.text)", offset: expression.offset)
    }

    private func aggregate(
        _ call: Call, _ first: Expression, _ plan: SelectPlan
    ) throws(DatabaseError) -> PlannedCall {
        guard let aggregate = Aggregate(rawValue: call.name) else {
            throw DatabaseError(.usage, "undefined function \(call.name)()", offset: call.offset)
        }
        switch (aggregate, first) {
        case (.count, .distinct(let reference)):
            return PlannedCall(aggregate: .countDistinct, argument: plan.reference(reference))
        case (.count, .call(let inner)) where inner.name == "distinct":
            if let first = inner.arguments.first, let argument = try plan.argument(first) {
                return PlannedCall(aggregate: .countDistinct, argument: argument)
            }
        default:
            guard let argument = try plan.argument(first) else { break }
            var planned = PlannedCall(aggregate: aggregate, argument: argument)
            if aggregate == .integral || aggregate == .age { planned.parameter = 1e9 }
            switch call.arguments.last {
            case .integer(let value)?: planned.parameter = Double(value)
            case .number(let value)?: planned.parameter = value
            case .duration(let value)?: planned.parameter = Double(value)
            default: break
            }
            if aggregate == .top || aggregate == .bottom {
                for case .reference(let reference) in call.arguments.dropFirst() {
                    planned.distinguishing.append(plan.reference(reference))
                }
            }
            return planned
        }
        throw DatabaseError(
            .usage, "expected field argument in \(call.name)()", offset: call.offset)
    }

    private func transformation(_ call: Call, _ plan: SelectPlan) -> Transformation? {
        var unit: Int64?
        if call.arguments.count > 1, case .duration(let value) = call.arguments[1] { unit = value }
        let slope = unit ?? plan.buckets?.interval ?? 1_000_000_000
        switch call.name {
        case "derivative": return .derivative(unit: slope, nonNegative: false)
        case "non_negative_derivative": return .derivative(unit: slope, nonNegative: true)
        case "difference": return .difference(nonNegative: false)
        case "non_negative_difference": return .difference(nonNegative: true)
        case "elapsed": return .elapsed(unit: unit ?? 1)
        case "cumulative_sum": return .cumulativeSum
        case "moving_average":
            guard case .integer(let count)? = call.arguments.last else { return nil }
            return .movingAverage(Int(count))
        case "holt_winters", "holt_winters_with_fit":
            guard case .integer(let count) = call.arguments[1],
                case .integer(let season) = call.arguments[2], let buckets = plan.buckets
            else { return nil }
            return .holtWinters(
                HoltWinters(
                    count: count, season: season, includesFit: call.name != "holt_winters",
                    buckets: buckets))
        default: return TechnicalFunction(call).map { .technical($0) }
        }
    }
}

extension SelectPlan {
    /// Returns the type of a column's values; nil if there can be none.
    ///
    /// - Parameter inCondition: whether the expression is in WHERE, where integers divide to
    ///   integers.
    func type(
        of node: Evaluation, _ place: Expression, inCondition: Bool = false
    ) throws(DatabaseError) -> FieldType? {
        switch node {
        case .column(let index): return references[index].type
        case .call(let index): return calls[index].type
        case .constant(let value): return value?.type
        case .seriesTag: return .string
        case .isNull, .stringTest, .contains: return .boolean
        case .delay(let inner, _):
            return try checkDelay(try type(of: inner, place, inCondition: inCondition), place)
        case .math(let function, let arguments):
            var types: [FieldType] = []
            for argument in arguments {
                if let type = try type(of: argument, place, inCondition: inCondition) {
                    types.append(type)
                }
            }
            return try type(of: function, types, place)
        // The type is known once it has been determined. Otherwise nested ones would be visited
        // again on each level.
        case .coalesce(_, let type?): return type
        case .coalesce(let arguments, nil):
            return try type(of: .math(.coalesce, arguments), place, inCondition: inCondition)
        case .binary(let symbol, let left, let right):
            let left = try type(of: left, place, inCondition: inCondition)
            let right = try type(of: right, place, inCondition: inCondition)
            guard let left, let right else { return left ?? right }
            guard
                let type = VectorArithmetic.resultType(
                    symbol, left, right, integersDivideToFloat: !inCondition)
            else {
                throw DatabaseError(
                    .usage,
                    "type error: \(place.text): incompatible types: \(left.name) and "
                        + right.name, offset: place.offset)
            }
            return type
        }
    }

    /// Returns a function of one row. The types of its arguments must be known.
    func function(
        _ function: MathFunction, _ arguments: [Evaluation], _ place: Expression,
        inCondition: Bool = false
    ) throws(DatabaseError) -> Evaluation {
        let call = Evaluation.math(function, arguments)
        guard function == .coalesce else { return call }
        return .coalesce(arguments, type: try type(of: call, place, inCondition: inCondition))
    }

    /// Returns a computed expression with the types of `coalesce`, once those of the references are
    /// known.
    func typed(_ node: Evaluation, _ place: Expression) throws(DatabaseError) -> Evaluation {
        func typed(_ nodes: [Evaluation]) throws(DatabaseError) -> [Evaluation] {
            var parts: [Evaluation] = []
            for node in nodes { parts.append(try self.typed(node, place)) }
            return parts
        }
        switch node {
        case .column, .call, .constant, .seriesTag, .isNull, .stringTest, .contains: return node
        case .delay(let inner, let unit): return .delay(try self.typed(inner, place), unit: unit)
        case .binary(let symbol, let left, let right):
            return .binary(symbol, try self.typed(left, place), try self.typed(right, place))
        case .math(let function, let arguments): return .math(function, try typed(arguments))
        case .coalesce(let arguments, _):
            return try function(.coalesce, typed(arguments), place)
        }
    }

    private func type(
        of function: MathFunction, _ types: [FieldType], _ place: Expression
    ) throws(DatabaseError) -> FieldType? {
        guard let first = types.first else { return nil }
        let areNumbers = types.allSatisfy { $0 == .float || $0 == .integer }
        if function == .coalesce {
            if types.allSatisfy({ $0 == first }) { return first }
            if areNumbers { return .float }
            throw DatabaseError(
                .usage,
                "coalesce() found arguments of different types: "
                    + types.map(\.name).joined(separator: " and ")
                    + "; expected one type, or numbers only", offset: place.offset)
        }
        // InfluxDB refuses integers here.
        let isRefused = (function == .asin || function == .acos) && first == .integer
        guard areNumbers, !isRefused else {
            throw DatabaseError(
                .usage,
                "type error: \(place.text): invalid argument type for the first argument in "
                    + "\(function.rawValue)(): \(first.name)", offset: place.offset)
        }
        switch function {
        case .abs, .ceil, .floor, .round: return first
        default: return .float
        }
    }

    fileprivate func isTag(_ evaluation: Evaluation) -> Bool {
        if case .column(let index) = evaluation { isTagEverywhere(index) } else { false }
    }

    /// Collects the references that columns read directly rather than through a call.
    func collectAuxiliary() {
        var found: Set<Int> = []
        for (number, column) in columns.enumerated() {
            switch column.evaluation {
            case .column(let index):
                columnsByReference[index, default: []].append(number)
                found.insert(index)
            case .call(let index): columnsByCall[index, default: []].append(number)
            default:
                computedColumns.append(number)
                found.formUnion(column.evaluation.referencesRead)
            }
        }
        auxiliary = found.sorted()
    }

    /// Makes column names unique by adding a number; aliases stay unchanged.
    func nameColumns() {
        var counts: [Name: Int] = [:]
        for column in columns where !column.name.isEmpty { counts[Name(column.name)] = 1 }
        for index in columns.indices where columns[index].name.isEmpty {
            var name = columns[index].baseName
            if var count = counts[Name(name)] {
                while counts[Name("\(name)_\(count)")] != nil { count += 1 }
                counts[Name(name)] = count + 1
                name = "\(name)_\(count)"
            }
            counts[Name(name), default: 0] += 1
            columns[index].name = name
        }
    }
}

extension TechnicalFunction {
    /// Creates the function of a call whose arguments are already checked.
    fileprivate init?(_ call: Call) {
        guard let kind = Kind(rawValue: call.name), call.arguments.count > 1,
            case .integer(let period) = call.arguments[1]
        else { return nil }
        var hold: Int64?
        // -1 selects the default.
        if call.arguments.count > 2, case .integer(let count) = call.arguments[2], count >= 0 {
            hold = count
        }
        var warmup: Warmup = kind == .momentumOscillator ? .none : .exponential
        if call.arguments.count > 3, case .string(let text, _) = call.arguments[3] {
            warmup = Warmup(rawValue: text) ?? warmup
        }
        self.init(kind: kind, period: period, hold: hold, warmup: warmup)
    }
}
