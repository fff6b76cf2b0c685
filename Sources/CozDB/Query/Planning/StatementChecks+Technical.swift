// Checks of forecasts and of technical analysis functions.

extension StatementChecks {
    mutating func checkHoltWinters(
        _ call: Call, _ allowsWildcard: Bool
    ) throws(DatabaseError) {
        try checkCount(call, 3...3)
        guard case .integer(let count) = call.arguments[1] else {
            throw failure("expected integer argument as second arg in \(call.name)", .call(call))
        }
        guard count > 0 else {
            throw failure(
                "second arg to \(call.name) must be greater than 0, got \(count)", .call(call))
        }
        guard case .integer(let season) = call.arguments[2] else {
            throw failure("expected integer argument as third arg in \(call.name)", .call(call))
        }
        guard season >= 0 else {
            throw failure(
                "third arg to \(call.name) cannot be negative, got \(season)", .call(call))
        }
        hasOnlySelectors = false
        guard case .call = call.arguments[0] else {
            throw failure("must use aggregate function with \(call.name)", .call(call))
        }
        try checkInner(call, allowsWildcard)
    }

    mutating func checkTechnical(_ call: Call, _ allowsWildcard: Bool) throws(DatabaseError) {
        guard let kind = TechnicalFunction.Kind(rawValue: call.name) else { return }
        let hasWarmup = kind != .efficiencyRatio && kind != .adaptiveAverage
        try checkCount(call, 2...(hasWarmup ? 4 : 3))
        guard case .integer(let period) = call.arguments[1] else {
            throw failure("\(call.name) period must be an integer", .call(call))
        }
        guard period >= 1 else {
            throw failure("\(call.name) period must be greater than or equal to 1", .call(call))
        }
        if call.arguments.count > 2 {
            try checkHold(call, least: kind == .tripleDerivative ? 1 : 0)
        }
        if call.arguments.count > 3 {
            try checkWarmup(
                call,
                kind == .momentumOscillator
                    ? ["none", "exponential", "simple"] : ["exponential", "simple"])
        }
        hasOnlySelectors = false
        // Unlike in other transformations, InfluxDB counts distinct() here as a column of its own.
        if case .call(let inner) = call.arguments[0], inner.name == "distinct", interval != 0 {
            return try check(.call(inner), allowsWildcard: allowsWildcard)
        }
        try checkInner(call, allowsWildcard)
    }

    private func checkHold(_ call: Call, least: Int64) throws(DatabaseError) {
        guard case .integer(let hold) = call.arguments[2] else {
            throw failure("\(call.name) hold period must be an integer", .call(call))
        }
        guard hold >= least || hold == -1 else {
            throw failure(
                "\(call.name) hold period must be greater than or equal to \(least)", .call(call))
        }
    }

    private func checkWarmup(_ call: Call, _ known: [String]) throws(DatabaseError) {
        guard case .string(let text, _) = call.arguments[3] else {
            throw failure("\(call.name) warmup type must be a string", .call(call))
        }
        guard known.contains(text) else {
            throw failure(
                "\(call.name) warmup type must be one of: "
                    + known.map { "'\($0)'" }.joined(separator: " "), .call(call))
        }
    }
}
