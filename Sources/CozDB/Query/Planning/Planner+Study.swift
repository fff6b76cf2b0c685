// Computed references: row functions used by aggregates, series functions, and bins. Each one has a
// higher index than the references it reads, so one pass in index order determines all types.

extension SelectPlan {
    /// Registers every name and computed value of a SELECT item.
    func register(_ expression: Expression) throws(DatabaseError) {
        switch expression {
        case .reference(let reference), .distinct(let reference): _ = self.reference(reference)
        case .call(let call) where call.isSeriesFunction || call.name == "delay":
            _ = try computed(call)
        case .call(let call) where MathFunction(rawValue: call.name) == nil:
            // The argument of an aggregate is one reference, even if it is computed.
            if case .call(let inner)? = call.arguments.first,
                MathFunction(rawValue: inner.name)?.isExtension == true
            {
                _ = try computed(inner, isArgument: true)
            }
            for argument in call.arguments where !isExtensionFunction(argument) {
                try register(argument)
            }
        default:
            for part in expression.parts { try register(part) }
        }
    }

    /// Registers every name and computed value of WHERE.
    func registerCondition(_ condition: Expression) throws(DatabaseError) {
        switch condition {
        case .reference(let reference): _ = self.reference(reference)
        case .call(let call) where call.name == "delay": _ = try computed(call)
        default:
            for part in condition.parts { try registerCondition(part) }
        }
    }

    private func isExtensionFunction(_ expression: Expression) -> Bool {
        if case .call(let call) = expression {
            return MathFunction(rawValue: call.name)?.isExtension == true
        }
        return false
    }

    /// Returns the reference that an aggregate or a group reads; nil unless it is a name or row
    /// function.
    func argument(
        _ expression: Expression, ofGroup: Bool = false
    ) throws(DatabaseError) -> Int? {
        switch expression {
        case .reference(let reference): return self.reference(reference)
        case .call(let call) where MathFunction(rawValue: call.name)?.isExtension == true:
            return try computed(call, isArgument: !ofGroup)
        default: return nil
        }
    }

    /// Returns the index of a computed value, adding it if it is new.
    func computed(_ call: Call, isArgument: Bool = false) throws(DatabaseError) -> Int {
        let text = Expression.call(call).text
        let key = Name(isArgument ? "argument " + text : text)
        if let known = computedIndices[key] { return known }
        let computation = try self.computation(call)
        references.append(
            PlannedReference(
                name: text, kind: .field, type: nil, isTag: false, offset: call.offset,
                computation: computation, isArgument: isArgument))
        computedIndices[key] = references.count - 1
        return references.count - 1
    }

    private func computation(
        _ call: Call
    ) throws(DatabaseError) -> PlannedReference.Computation {
        if let window = call.window { return .series(.window(try self.window(call, window))) }
        var arguments: [Int] = []
        if call.isSeriesFunction {
            for case .reference(let reference) in call.arguments {
                arguments.append(self.reference(reference))
            }
        }
        switch (call.name, arguments.count, call.arguments.last) {
        case ("previous", 1, _): return .series(.previous(arguments[0]))
        case ("distance", 2, _):
            return .series(.distance(latitude: arguments[0], longitude: arguments[1]))
        case ("valid_votes", 1, .duration(let gap)?):
            return .series(.validVotes(arguments[0], gap: gap))
        default: return .row(try row(.call(call)))
        }
    }

    private func window(
        _ call: Call, _ clause: WindowClause
    ) throws(DatabaseError) -> SurveyWindow {
        guard let first = call.arguments.first, let argument = try self.argument(first) else {
            throw DatabaseError(
                .usage, "expected field argument in \(call.name)()", offset: call.offset)
        }
        var window = SurveyWindow(
            function: Aggregate(rawValue: call.name).map { .aggregate($0) } ?? .nearest,
            argument: argument, before: 0, after: 0, anchor: reference(clause.anchor))
        switch call.arguments.last {
        case .integer(let value)?: window.parameter = Double(value)
        case .number(let value)?: window.parameter = value
        default: break
        }
        if clause.side != .after { window.before = clause.width }
        if clause.side != .before { window.after = clause.width }
        return window
    }

    /// Binds an expression that reads a single row.
    private func row(_ expression: Expression) throws(DatabaseError) -> Evaluation {
        switch expression {
        case .reference(let reference): return .column(self.reference(reference))
        case .parenthesis(let inner): return try row(inner)
        case .integer(let value), .duration(let value), .time(let value):
            return .constant(.integer(value))
        case .unsigned(let value): return .constant(.float(Double(value)))
        case .number(let value): return .constant(.float(value))
        case .string(let text, _): return .constant(.string(text))
        case .boolean(let flag): return .constant(.boolean(flag))
        case .binary(let symbol, let left, let right):
            return .binary(symbol, try row(left), try row(right))
        case .call(let call):
            guard let function = MathFunction(rawValue: call.name) else { break }
            if function == .delay {
                var unit: Int64 = 1_000_000_000
                if case .duration(let wanted)? = call.arguments.last { unit = wanted }
                return .delay(try row(call.arguments[0]), unit: unit)
            }
            var arguments: [Evaluation] = []
            for argument in call.arguments { arguments.append(try row(argument)) }
            return function == .coalesce
                ? .coalesce(arguments, type: nil) : .math(function, arguments)
        default: break
        }
        throw DatabaseError(
            .usage, "expected an expression over the fields of one row; found \(expression.text)",
            offset: expression.offset)
    }

    // MARK: Types

    /// Returns the type of a computed reference, given the types of the references it reads.
    func type(ofComputed index: Int) throws(DatabaseError) -> FieldType? {
        let reference = references[index]
        let place = Expression.reference(
            Reference(name: reference.name, offset: reference.offset))
        switch reference.computation {
        case .row(let evaluation)?:
            references[index].computation = .row(try typed(evaluation, place))
            return try type(of: evaluation, place)
        case .series(.previous(let argument))?, .series(.validVotes(let argument, _))?:
            try checkIsField(argument, place)
            return references[argument].type
        case .series(.distance(let latitude, let longitude))?:
            for argument in [latitude, longitude] {
                try checkIsField(argument, place)
                try checkIsNumber(argument, "distance() takes", place)
            }
            return .float
        case .series(.window(let window))?:
            try checkIsField(window.anchor, place)
            try checkIsField(window.argument, place)
            let type = references[window.argument].type
            guard case .aggregate(let aggregate) = window.function else { return type }
            if let type, !aggregate.accepts(type) {
                try checkIsNumber(window.argument, "\(aggregate.rawValue)() takes", place)
            }
            return aggregate.resultType(of: type)
        case nil: return reference.type
        }
    }

    /// Checks that the argument of `delay()` can hold times, and returns the result type.
    func checkDelay(_ type: FieldType?, _ place: Expression) throws(DatabaseError) -> FieldType {
        if type == .boolean {
            throw DatabaseError(
                .usage,
                "delay() takes text with ISO 8601 times or numbers of milliseconds since 1970; "
                    + "found boolean in \(place.shownText)", offset: place.offset)
        }
        return .float
    }

    private func checkIsField(_ index: Int, _ place: Expression) throws(DatabaseError) {
        let reference = references[index]
        guard reference.isTag else { return }
        throw DatabaseError(
            .usage,
            "\(place.shownText) takes fields; \"\(reference.name)\" is a tag",
            offset: place.offset)
    }

    func checkIsNumber(
        _ index: Int, _ what: String, _ place: Expression
    ) throws(DatabaseError) {
        guard let type = references[index].type, type != .float, type != .integer else { return }
        throw DatabaseError(
            .usage, "\(what) numbers; \"\(references[index].name)\" is \(type.name)",
            offset: place.offset)
    }
}

extension Planner {
    /// Plans a dimension that is computed for each row, from a call that is already checked.
    func dimension(
        _ call: Call, _ plan: SelectPlan
    ) throws(DatabaseError) -> PlannedDimension {
        var dimension = PlannedDimension(name: call.name, kind: .any, offset: call.offset)
        if let part = CalendarPart(rawValue: call.name) {
            dimension.function = .calendar(part)
        } else if let first = call.arguments.first,
            let argument = try plan.argument(first, ofGroup: true),
            let last = call.arguments.last
        {
            let literal = try ConstantFolder(now: options.currentTime, zone: nil).reduced(last)
            dimension.function = BinWidth(literal).map { .bin(argument, $0) }
        }
        return dimension
    }

    func checkDimensions(_ plan: SelectPlan) throws(DatabaseError) {
        for dimension in plan.dimensions {
            guard case .bin(let argument, _)? = dimension.function else { continue }
            let place = Expression.reference(Reference(name: "bin", offset: dimension.offset))
            try plan.checkIsNumber(argument, "bin() takes", place)
        }
    }
}

extension Expression {
    /// The computed value as written in the statement.
    fileprivate var shownText: String {
        if case .reference(let reference) = self { return reference.name }
        return text
    }
}
