// Checks of CozDB's extensions to InfluxQL. Their messages suggest a valid statement.

extension StatementChecks {
    // MARK: Row functions

    /// Checks `delay(x)` and `delay(x, 1m)`.
    func checkDelay(_ call: Call) throws(DatabaseError) {
        let example = "such as delay(ws_survey_count_lambda, 1m)"
        guard (1...2).contains(call.arguments.count) else {
            throw failure(
                "delay() takes a field with times and an optional unit, \(example)",
                .call(call))
        }
        if call.arguments.count == 2 {
            guard case .duration(let unit) = call.arguments[1], unit > 0 else {
                throw failure(
                    "expected a positive duration as the unit of delay(), \(example); found "
                        + call.arguments[1].text, .call(call))
            }
        }
        if readsSingleRow(call.arguments[0]), !call.arguments[0].isLiteral { return }
        throw failure(
            "delay() takes a field with times, \(example); found \(call.arguments[0].text)",
            .call(call))
    }

    /// Returns whether an expression reads a single row, without aggregates and series functions.
    func readsSingleRow(_ expression: Expression) -> Bool {
        var readsSingleRow = true
        expression.walk { part in
            switch part {
            case .call(let call):
                if MathFunction(rawValue: call.name) == nil || call.window != nil {
                    readsSingleRow = false
                }
            case .reference(let reference): if reference.isTime { readsSingleRow = false }
            case .wildcard, .regex, .distinct: readsSingleRow = false
            default: break
            }
        }
        return readsSingleRow
    }

    /// Checks an extension row function as the argument of an aggregate; false for other calls.
    ///
    /// - Parameter call: the aggregate.
    mutating func checkExtensionArgument(
        _ call: Call, _ inner: Call
    ) throws(DatabaseError) -> Bool {
        if inner.isSeriesFunction {
            throw failure(
                "\(inner.shownName) returns a value for each row and cannot be an argument of "
                    + "\(call.name)(); use a subquery: SELECT \(call.name)(x) FROM (SELECT "
                    + "\(Expression.call(inner).text) AS x FROM ...)", .call(inner))
        }
        guard let function = MathFunction(rawValue: inner.name), function.isExtension else {
            return false
        }
        guard readsSingleRow(.call(inner)) else {
            throw failure(
                "\(call.name)() takes a field or a scalar function of fields; found "
                    + Expression.call(inner).text, .call(inner))
        }
        try checkRow(.call(inner))
        return true
    }

    private mutating func checkRow(_ expression: Expression) throws(DatabaseError) {
        if case .call(let call) = expression, let function = MathFunction(rawValue: call.name) {
            if function == .delay { try checkDelay(call) } else { try checkCount(function, call) }
        }
        for part in expression.parts { try checkRow(part) }
    }

    // MARK: Series functions

    mutating func checkSeriesFunction(
        _ call: Call, allowsWildcard: Bool
    ) throws(DatabaseError) {
        hasColumns = true
        if seriesCall == nil { seriesCall = call }
        if let window = call.window {
            return try check(window, of: call, allowsWildcard: allowsWildcard)
        }
        let example = SeriesFunction.examples[call.name] ?? ""
        let count = call.name == "previous" ? 1 : 2
        guard call.arguments.count == count else {
            let what =
                switch call.name {
                case "valid_votes": "a field and the minimum time between two votes"
                case "distance": "the latitude and longitude fields"
                default: "one field"
                }
            throw failure("\(call.name)() takes \(what), as in \(example)", .call(call))
        }
        for argument in call.arguments.prefix(call.name == "distance" ? 2 : 1) {
            try checkIsField(argument, call, example)
        }
        guard call.name == "valid_votes" else { return }
        guard case .duration(let gap) = call.arguments[1], gap >= 0 else {
            throw failure(
                "valid_votes() takes a duration as its second argument, as in \(example); found "
                    + call.arguments[1].text, .call(call))
        }
    }

    private func checkIsField(
        _ argument: Expression, _ call: Call, _ example: String
    ) throws(DatabaseError) {
        if case .reference(let reference) = argument, !reference.isTime { return }
        throw failure(
            "\(call.name)() takes a field, as in \(example); found \(argument.text); to use a "
                + "computed value, name it in a subquery: SELECT \(call.name)(x) FROM (SELECT ... "
                + "AS x FROM ...)", .call(call))
    }

    private mutating func check(
        _ window: WindowClause, of call: Call, allowsWildcard: Bool
    ) throws(DatabaseError) {
        let place = Expression.reference(Reference(name: "", offset: window.offset))
        guard SurveyWindow.functions.contains(call.name) else {
            throw failure(
                "found OVER after \(call.name)(); expected it after one of "
                    + "\(SurveyWindow.functions.joined(separator: ", "))", place)
        }
        guard window.width > 0 else {
            throw failure("expected a window longer than 0; found \(window.text)", place)
        }
        guard !window.anchor.isTime else {
            throw failure(
                "expected a field as the anchor of the window, as in OVER (10m BEFORE "
                    + "ws_survey_count); found \(window.text)", place)
        }
        if let anchor, anchor != window.anchor {
            throw failure(
                "all windows of a statement must have the same anchor field; found \(anchor.text) "
                    + "and \(window.anchor.text); use a separate statement for each", place)
        }
        anchor = window.anchor
        let count = call.name == "percentile" ? 2 : 1
        try checkCount(call, count...count)
        if count == 2 {
            switch call.arguments[1] {
            case .integer, .number: break
            default: throw failure("expected float argument in percentile()", .call(call))
            }
        }
        // Only plain aggregates count towards `hasOnlySelectors`.
        let hadOnlySelectors = hasOnlySelectors
        try checkSymbol(call, call.arguments[0], allowsWildcard)
        hasOnlySelectors = hadOnlySelectors
    }

    /// Checks what the statement combines with series functions.
    func checkSeriesCombination() throws(DatabaseError) {
        guard let seriesCall else { return }
        let inner = "SELECT \(Expression.call(seriesCall).text) AS x FROM ..."
        if let plainCall {
            throw failure(
                "\(seriesCall.shownName) returns a value for each row and cannot be combined with "
                    + "the aggregate \(plainCall.columnName)(); use a subquery: SELECT "
                    + "\(plainCall.columnName)(x) FROM (\(inner))", .call(seriesCall))
        }
        if interval != 0, !isIntervalInherited {
            throw failure(
                "\(seriesCall.shownName) returns a value for each row and cannot be grouped by "
                    + "time; use a subquery and group outside it: SELECT count(x) FROM (\(inner)) "
                    + "GROUP BY time(\(DurationText.text(interval)))", .call(seriesCall))
        }
    }

    /// Refuses series functions in WHERE, where functions see a single row.
    func checkIsNoSeriesFunction(_ call: Call) throws(DatabaseError) {
        guard call.isSeriesFunction || call.name == "nearest" else { return }
        throw failure(
            "\(call.shownName) is not allowed in WHERE; use a subquery: SELECT ... FROM (SELECT "
                + "\(Expression.call(call).text) AS x FROM ...) WHERE x > 0", .call(call))
    }

    // MARK: Dimensions

    /// Checks `hour_of_day(time)`, its relatives and `bin(x, 10)`. Returns false for other calls.
    func checkDimensionFunction(_ call: Call) throws(DatabaseError) -> Bool {
        if CalendarPart(rawValue: call.name) != nil {
            if call.arguments.count == 1, case .reference(let reference) = call.arguments[0],
                reference.isTime
            {
                return true
            }
            throw failure(
                "\(call.name)() takes the time of the row, as in GROUP BY \(call.name)(time); "
                    + "tz() sets the zone", .call(call))
        }
        guard call.name == "bin" else { return false }
        guard call.arguments.count == 2 else {
            throw failure(
                "bin() takes a numeric field and a bin width, as in bin(dt, 10)",
                .call(call))
        }
        switch call.arguments[0] {
        case .reference(let reference) where !reference.isTime: break
        case .call(let inner)
        where MathFunction(rawValue: inner.name)?.isExtension == true
            && readsSingleRow(.call(inner)):
            break
        default:
            throw failure(
                "bin() takes a numeric field or a column of a subquery; found "
                    + "\(call.arguments[0].text); name the value in a subquery: SELECT ... FROM "
                    + "(SELECT ... AS x FROM ...) GROUP BY bin(x, 10)", .call(call))
        }
        guard BinWidth(try reduction.reduced(call.arguments[1])) != nil else {
            throw failure(
                "expected a positive number as the bin width, as in bin(dt, 10); found "
                    + call.arguments[1].text, .call(call))
        }
        return true
    }
}
