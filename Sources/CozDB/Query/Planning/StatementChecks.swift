// The checks that InfluxDB makes before it reads data: invalid arguments, aggregates mixed with raw
// columns, fill() without buckets. The order of the checks and their messages are InfluxDB's.

/// Checks one SELECT without its subqueries, and collects information for the planner.
struct StatementChecks {
    let now: Timestamp
    let reduction: ConstantFolder
    let statement: SelectStatement
    private(set) var split: SplitCondition
    /// The interval of GROUP BY time; 0 without one.
    private(set) var interval: Int64 = 0
    private(set) var offset: Int64 = 0
    /// Whether the interval comes from the outer statement.
    var isIntervalInherited = false

    var callCount = 0
    var hasOnlySelectors = true
    var hasDistinct = false
    var hasColumns = false
    var topBottom = ""
    var fieldCount = 0
    /// The first series function, the first aggregate, and the anchor field of all windows.
    var seriesCall: Call?
    var plainCall: Expression?
    var anchor: Reference?
    /// The fields with folded literals and without `time`.
    private(set) var fields: [SelectField] = []
    /// The name of the time column.
    private(set) var timeName = "time"

    init(
        _ statement: SelectStatement, now: Timestamp, zone: TimeZoneRules?
    ) throws(DatabaseError) {
        self.statement = statement
        self.now = now
        reduction = ConstantFolder(now: now, zone: zone)
        let reduction = reduction
        split = try DatabaseError.located(at: statement.conditionOffset) {
            () throws(DatabaseError) in try SplitCondition(statement.condition, reduction)
        }
        if let rest = split.rest { try check(condition: rest) }
        try checkDimensions()
    }

    /// - Parameter inherited: interval and offset of the outer statement of a subquery.
    mutating func checkFields(inherited: (interval: Int64, offset: Int64)?) throws(DatabaseError) {
        if interval == 0, let inherited, inherited.interval != 0 {
            (interval, offset) = inherited
            isIntervalInherited = true
        }
        for var field in statement.fields {
            if case .reference(let reference) = field.expression, reference.name == "time" {
                if let alias = field.alias { timeName = alias }
                continue
            }
            try DatabaseError.located(at: field.offset) { () throws(DatabaseError) in
                field.expression = try reduction.reduced(field.expression)
                try check(field.expression, allowsWildcard: true)
            }
            fieldCount += 1
            fields.append(field)
        }
        let first = statement.fields.first?.offset ?? 0
        try DatabaseError.located(at: first) { () throws(DatabaseError) in try checkCombination() }
    }

    // MARK: Conditions and dimensions

    private func check(condition: Expression) throws(DatabaseError) {
        if case .call(let call) = condition {
            try checkIsNoSeriesFunction(call)
            if call.name == "delay" { return try checkDelay(call) }
            guard let function = MathFunction(rawValue: call.name) else {
                throw failure("invalid function call in condition: \(condition.text)", condition)
            }
            try checkCount(function, call)
        }
        for part in condition.parts { try check(condition: part) }
    }

    private mutating func checkDimensions() throws(DatabaseError) {
        for (dimension, place) in zip(statement.dimensions, statement.dimensionOffsets) {
            try DatabaseError.located(at: place) { () throws(DatabaseError) in
                try check(dimension: dimension)
            }
        }
    }

    private mutating func check(dimension: Expression) throws(DatabaseError) {
        switch dimension {
        case .reference(let reference):
            if reference.isTime {
                throw failure("time() is a function and expects at least one argument", dimension)
            }
        case .call(let call):
            if try checkDimensionFunction(call) { return }
            try checkTimeDimension(call)
        case .wildcard, .regex: break
        default: throw failure("only time and tag dimensions allowed", dimension)
        }
    }

    private mutating func checkTimeDimension(_ call: Call) throws(DatabaseError) {
        let place = Expression.call(call)
        guard call.name == "time" else {
            let hint = call.name == "tz" ? "; tz() follows without a comma" : ""
            throw failure("only time() calls allowed in dimensions" + hint, place)
        }
        guard (1...2).contains(call.arguments.count) else {
            throw failure("time dimension expected 1 or 2 arguments", place)
        }
        guard case .duration(let length) = try reduction.reduced(call.arguments[0]) else {
            throw failure("time dimension must have duration argument", place)
        }
        guard interval == 0 else {
            throw failure("multiple time dimensions not allowed", place)
        }
        guard length > 0 else {
            throw failure("time dimension must be longer than 0, got \(length)", place)
        }
        interval = length
        guard call.arguments.count == 2 else { return }
        if case .call(let inner) = call.arguments[1] {
            guard inner.name == "now" else {
                throw failure("time dimension offset function must be now()", place)
            }
            guard inner.arguments.isEmpty else {
                throw failure("time dimension offset now() function requires no arguments", place)
            }
        }
        switch try reduction.reduced(call.arguments[1]) {
        case .duration(let duration), .time(let duration): offset = duration % length
        case .string(let text, let textOffset):
            let time = try DatabaseError.located(at: textOffset) { () throws(DatabaseError) in
                try reduction.time(text)
            }
            guard let time else {
                throw failure("time dimension offset must be duration or now()", place)
            }
            offset = time % length
        default: throw failure("time dimension offset must be duration or now()", place)
        }
    }

    // MARK: Whole statement

    private func checkCombination() throws(DatabaseError) {
        guard fieldCount > 0 else {
            throw DatabaseError(.usage, "at least 1 non-time field must be queried")
        }
        try checkSeriesCombination()
        if callCount > 1, !topBottom.isEmpty {
            throw DatabaseError(
                .usage,
                "selector function \(topBottom)() cannot be combined with other functions")
        }
        if callCount == 0 {
            switch statement.fill {
            case .none, .linear:
                throw DatabaseError(
                    .usage, "fill(\(statement.fill)) must be used with a function",
                    offset: statement.fillOffset)
            default: break
            }
            if interval != 0, !isIntervalInherited {
                throw DatabaseError(
                    .usage, "GROUP BY requires at least one aggregate function")
            }
        }
        if hasDistinct, callCount != 1 || hasColumns {
            throw DatabaseError(
                .usage,
                "aggregate function distinct() cannot be combined with other functions or fields")
        }
        guard hasColumns else { return }
        if !hasOnlySelectors {
            throw DatabaseError(
                .usage, "mixing aggregate and non-aggregate queries is not supported")
        }
        if callCount > 1 {
            throw DatabaseError(
                .usage,
                "mixing multiple selector functions with tags or fields is not supported")
        }
    }

    func checkCount(_ function: MathFunction, _ call: Call) throws(DatabaseError) {
        try checkCount(call, function.argumentCount)
    }

    func failure(_ message: String, _ place: Expression) -> DatabaseError {
        DatabaseError(.usage, message, offset: place.offset)
    }
}
