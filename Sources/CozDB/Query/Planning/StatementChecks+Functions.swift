// Checks of single expressions and calls.

extension StatementChecks {
    mutating func check(_ expression: Expression, allowsWildcard: Bool) throws(DatabaseError) {
        switch expression {
        case .reference: hasColumns = true
        case .wildcard, .regex:
            guard allowsWildcard else {
                let what = if case .regex = expression { "regex" } else { "wildcard" }
                throw failure("unable to use \(what) in a binary expression", expression)
            }
            hasColumns = true
        case .call(let call): try check(call, allowsWildcard: allowsWildcard)
        case .distinct:
            callCount += 1
            if plainCall == nil { plainCall = expression }
            hasDistinct = true
            hasOnlySelectors = false
        case .binary(_, let left, let right):
            if left.isLiteral, right.isLiteral {
                throw failure(
                    "cannot perform a binary expression on two literals", expression)
            }
            for side in [left, right] where !side.isLiteral {
                try check(side, allowsWildcard: false)
            }
        case .parenthesis(let inner): try check(inner, allowsWildcard: allowsWildcard)
        default: throw failure("field must contain at least one variable", expression)
        }
    }

    private mutating func check(_ call: Call, allowsWildcard: Bool) throws(DatabaseError) {
        if call.isSeriesFunction {
            return try checkSeriesFunction(call, allowsWildcard: allowsWildcard)
        }
        if let function = MathFunction(rawValue: call.name) {
            if function == .delay {
                hasColumns = true
                return try checkDelay(call)
            }
            try checkCount(function, call)
            for argument in call.arguments where !argument.isLiteral {
                try check(argument, allowsWildcard: allowsWildcard)
            }
            return
        }
        callCount += 1
        if plainCall == nil { plainCall = .call(call) }
        switch call.name {
        case "percentile": try checkPercentile(call, allowsWildcard)
        case "sample": try checkSample(call, allowsWildcard)
        case "distinct": try checkDistinct(call.arguments, isNested: false)
        case "top", "bottom": try checkTopBottom(call)
        case "integral": try checkIntegral(call, allowsWildcard)
        case _ where Transformation.names.contains(call.name):
            try checkTransformation(call, allowsWildcard)
        case "holt_winters", "holt_winters_with_fit": try checkHoltWinters(call, allowsWildcard)
        case _ where TechnicalFunction.Kind(rawValue: call.name) != nil:
            try checkTechnical(call, allowsWildcard)
        default: try checkAggregate(call, allowsWildcard)
        }
    }

    private mutating func checkAggregate(
        _ call: Call, _ allowsWildcard: Bool
    ) throws(DatabaseError) {
        switch call.name {
        case "max", "min", "first", "last": break
        case "count", "sum", "mean", "median", "mode", "stddev", "spread", "count_distinct":
            hasOnlySelectors = false
        case "age":
            try checkCount(call, 1...2)
            if call.arguments.count == 2 {
                try checkUnit(call, "the unit of age() must be a duration, as in age(x, 1h)")
            }
            return try checkSymbol(call, call.arguments[0], allowsWildcard)
        case "nearest":
            throw failure(
                "nearest() needs a window: nearest(x) OVER (15m AROUND ws_survey_count)",
                .call(call))
        default:
            throw failure(
                "undefined function \(call.name)()"
                    + NameSuggestion.text(call.name, among: QueryLanguage.functions), .call(call))
        }
        try checkCount(call, 1...1)
        if call.name == "count" {
            switch call.arguments[0] {
            case .call(let inner) where inner.name == "distinct":
                return try checkDistinct(inner.arguments, isNested: true)
            case .distinct: return
            default: break
            }
        }
        try checkSymbol(call, call.arguments[0], allowsWildcard)
    }

    /// Checks that an argument is a name, a pattern, or an extension row function.
    mutating func checkSymbol(
        _ call: Call, _ argument: Expression, _ allowsWildcard: Bool
    ) throws(DatabaseError) {
        switch argument {
        case .reference: return
        case .wildcard, .regex:
            guard allowsWildcard else {
                let what = if case .regex = argument { "regex field" } else { "wildcard" }
                throw failure("unsupported expression with \(what): \(call.name)()", .call(call))
            }
            hasOnlySelectors = false
        case .call(let inner) where try checkExtensionArgument(call, inner): return
        default: throw failure("expected field argument in \(call.name)()", .call(call))
        }
    }

    private mutating func checkPercentile(
        _ call: Call, _ allowsWildcard: Bool
    ) throws(DatabaseError) {
        try checkCount(call, 2...2)
        switch call.arguments[1] {
        case .integer, .number: break
        default: throw failure("expected float argument in percentile()", .call(call))
        }
        try checkSymbol(call, call.arguments[0], allowsWildcard)
    }

    private mutating func checkSample(_ call: Call, _ allowsWildcard: Bool) throws(DatabaseError) {
        try checkCount(call, 2...2)
        guard case .integer(let size) = call.arguments[1] else {
            throw failure("expected integer argument in sample()", .call(call))
        }
        guard size > 0 else {
            throw failure("sample window must be greater than 1, got \(size)", .call(call))
        }
        try checkSymbol(call, call.arguments[0], allowsWildcard)
    }

    private mutating func checkDistinct(
        _ arguments: [Expression], isNested: Bool
    ) throws(DatabaseError) {
        guard let argument = arguments.first else {
            throw DatabaseError(.usage, "distinct function requires at least one argument")
        }
        guard arguments.count == 1 else {
            throw failure("distinct function can only have one argument", argument)
        }
        switch argument {
        case .reference: break
        case .call(let inner)
        where try checkExtensionArgument(Call(name: "distinct", arguments: []), inner): break
        default: throw failure("expected field argument in distinct()", argument)
        }
        if !isNested { hasDistinct = true }
        hasOnlySelectors = false
    }

    /// The most fields and tags by which top() and bottom() distinguish points: each point has a
    /// key of all their values.
    private static let distinguishingCountMax = 100

    private mutating func checkTopBottom(_ call: Call) throws(DatabaseError) {
        let place = Expression.call(call)
        guard topBottom.isEmpty else {
            throw failure(
                "selector function \(topBottom)() cannot be combined with other functions", place)
        }
        guard call.arguments.count >= 2, let last = call.arguments.last else {
            throw failure(
                "invalid number of arguments for \(call.name), expected at least 2, got "
                    + "\(call.arguments.count)", place)
        }
        guard case .integer(let limit) = last else {
            throw failure(
                "expected integer as last argument in \(call.name)(), found \(last.text)", place)
        }
        guard limit > 0 else {
            throw failure("limit (\(limit)) in \(call.name) function must be at least 1", place)
        }
        if let most = statement.limits.limit, most > 0, limit > most {
            throw failure(
                "limit (\(limit)) in \(call.name) function can not be larger than the LIMIT "
                    + "(\(most)) in the select statement", place)
        }
        switch call.arguments[0] {
        case .reference: break
        case .call(let inner) where try checkExtensionArgument(call, inner): break
        default:
            throw failure(
                "expected first argument to be a field in \(call.name)(), found "
                    + call.arguments[0].text, place)
        }
        let names = call.arguments[1..<(call.arguments.count - 1)]
        guard names.count <= StatementChecks.distinguishingCountMax else {
            throw DatabaseError(
                .limitExceeded,
                "found \(names.count) fields and tags in \(call.name)(), expected at most "
                    + "\(StatementChecks.distinguishingCountMax); select the others beside it",
                offset: place.offset)
        }
        for argument in names {
            guard case .reference = argument else {
                throw failure(
                    "only fields or tags are allowed in \(call.name)(), found \(argument.text)",
                    place)
            }
            hasColumns = true
        }
        topBottom = call.name
    }

    private mutating func checkIntegral(
        _ call: Call, _ allowsWildcard: Bool
    ) throws(DatabaseError) {
        try checkCount(call, 1...2)
        if call.arguments.count == 2 { try checkUnit(call, "second argument must be a duration") }
        hasOnlySelectors = false
        try checkSymbol(call, call.arguments[0], allowsWildcard)
    }

    private mutating func checkTransformation(
        _ call: Call, _ allowsWildcard: Bool
    ) throws(DatabaseError) {
        switch call.name {
        case "derivative", "non_negative_derivative", "elapsed":
            try checkCount(call, 1...2)
            if call.arguments.count == 2 {
                try checkUnit(
                    call,
                    "second argument to \(call.name) must be a duration, got "
                        + call.arguments[1].kindName)
            }
        case "moving_average":
            try checkCount(call, 2...2)
            guard case .integer(let window) = call.arguments[1] else {
                throw failure(
                    "second argument for moving_average must be an integer, got "
                        + call.arguments[1].kindName, .call(call))
            }
            guard window > 1 else {
                throw failure(
                    "moving_average window must be greater than 1, got \(window)", .call(call))
            }
        default: try checkCount(call, 1...1)
        }
        hasOnlySelectors = false
        try checkInner(call, allowsWildcard)
    }

    /// Checks the argument of a transformation: an aggregate with buckets, or a field.
    mutating func checkInner(_ call: Call, _ allowsWildcard: Bool) throws(DatabaseError) {
        switch call.arguments[0] {
        case .call(let inner)
        where inner.isSeriesFunction || MathFunction(rawValue: inner.name)?.isExtension == true:
            if interval != 0, !isIntervalInherited {
                throw failure(
                    "aggregate function required inside the call to \(call.name)", .call(call))
            }
            _ = try checkExtensionArgument(call, inner)
        case .call(let inner):
            guard interval != 0 else {
                throw failure(
                    "\(call.name) aggregate requires a GROUP BY interval", .call(call))
            }
            if inner.name == "distinct" {
                return try checkDistinct(inner.arguments, isNested: true)
            }
            guard MathFunction(rawValue: inner.name) == nil else {
                throw failure("expected field argument in \(call.name)()", .call(call))
            }
            try check(inner, allowsWildcard: allowsWildcard)
        default:
            if interval != 0, !isIntervalInherited {
                throw failure(
                    "aggregate function required inside the call to \(call.name)", .call(call))
            }
            try checkSymbol(call, call.arguments[0], allowsWildcard)
        }
    }

    private func checkUnit(_ call: Call, _ message: String) throws(DatabaseError) {
        guard case .duration(let unit) = call.arguments[1] else {
            throw failure(message, .call(call))
        }
        guard unit > 0 else {
            throw failure(
                "duration argument must be positive, got \(DurationText.text(unit))", .call(call))
        }
    }

    func checkCount(_ call: Call, _ expected: ClosedRange<Int>) throws(DatabaseError) {
        guard !expected.contains(call.arguments.count) else { return }
        let words =
            expected.count == 1
            ? "\(expected.lowerBound)"
            : "at least \(expected.lowerBound) but no more than \(expected.upperBound)"
        throw failure(
            "invalid number of arguments for \(call.name), expected \(words), got "
                + "\(call.arguments.count)", .call(call))
    }
}
