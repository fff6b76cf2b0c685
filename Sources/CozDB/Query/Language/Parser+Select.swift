// Parses SELECT and its clauses.

extension Parser {
    /// Parses a SELECT statement after the `SELECT` keyword.
    mutating func selectStatement(
        isSubquery: Bool = false
    ) throws(DatabaseError) -> SelectStatement {
        try enter()
        defer { leave() }
        if isSubquery { try countSubquery() }
        var statement = SelectStatement(offset: offset)
        statement.fields = try selectFields()
        if !isSubquery, take(.into) { statement.targetOffset = try target() }
        try expect(.from)
        statement.sources = try sources(allowSubqueries: true)
        statement.conditionOffset = lexer.lexeme(after: peek().end).start
        statement.condition = try condition()
        (statement.dimensions, statement.dimensionOffsets) = try dimensions()
        statement.fillOffset = peek().start
        statement.fill = try fill()
        statement.isAscending = try order()
        statement.limits = try limits(series: true)
        statement.zoneOffset = peek().start
        statement.zone = try zone()
        return statement
    }

    /// Parses `name`, `policy.name` or `policy.:MEASUREMENT` after `INTO` and returns its position.
    private mutating func target() throws(DatabaseError) -> Int {
        let start = peek().start
        _ = try segments()
        if adjacent() == .colon {
            rewind(to: offset + 1)
            try expect(.measurement)
        }
        return start
    }

    private mutating func selectFields() throws(DatabaseError) -> [SelectField] {
        var fields = [try selectField()]
        while take(.comma) { fields.append(try selectField()) }
        return fields
    }

    private mutating func selectField() throws(DatabaseError) -> SelectField {
        let start = peek().start
        let expression: Expression
        if let regex = try regexIfAhead() {
            expression = .regex(regex)
        } else {
            expression = try self.expression()
            try checkNoCondition(expression, at: start)
        }
        return SelectField(
            expression: expression, alias: take(.alias) ? try identifier() : nil, offset: start)
    }

    private func checkNoCondition(_ expression: Expression, at start: Int) throws(DatabaseError) {
        var found: String?
        expression.walk { part in
            switch part {
            case .binary(let symbol, _, _) where symbol.isCondition: found = symbol.rawValue
            case .isNull: found = "IS"
            case .contains: found = "IN"
            default: break
            }
        }
        guard let found else { return }
        let message = failure("invalid operator \(found) in SELECT clause", at: start)
        throw DatabaseError(
            .usage, message.message + "; operator is intended for WHERE clause", offset: start)
    }

    mutating func sources(allowSubqueries: Bool) throws(DatabaseError) -> [Source] {
        var sources = [try source(allowSubqueries: allowSubqueries)]
        while take(.comma) { sources.append(try source(allowSubqueries: allowSubqueries)) }
        return sources
    }

    mutating func source(allowSubqueries: Bool) throws(DatabaseError) -> Source {
        let start = peek().start
        if let regex = try regexIfAhead() { return .pattern(regex, qualifiers: [], offset: start) }
        if allowSubqueries, take(.leftParenthesis) {
            try expect(.select)
            let statement = try selectStatement(isSubquery: true)
            try expect(.rightParenthesis)
            return .subquery(statement)
        }
        var names = try segments()
        // After a trailing dot, the last part is a regular expression.
        if names.count < 3, lexer.bytes[offset - 1] == UInt8(ascii: "."),
            let regex = try regexIfAhead()
        {
            return .pattern(regex, qualifiers: names, offset: start)
        }
        let name = names.removeLast()
        return .experiment(name, qualifiers: names, offset: start)
    }

    /// Parses `name`, `policy.name`, `database.policy.name` or `database..name`. Stops after a dot
    /// that precedes a regular expression.
    mutating func segments() throws(DatabaseError) -> [String] {
        let start = peek().start
        var names = [try identifier()]
        while adjacent() == .dot {
            rewind(to: offset + 1)
            if adjacent() == .symbol(.divide) || adjacent() == .colon { break }
            if adjacent() == .dot {
                names.append("")
                continue
            }
            names.append(try identifier())
        }
        guard names.count <= 3 else {
            let text = names.map { Reference(name: $0).text }.joined(separator: ".")
            throw failure("too many segments in \(text)", at: start)
        }
        return names
    }

    /// Parses an optional `WHERE ...`.
    mutating func condition() throws(DatabaseError) -> Expression? {
        take(.whereClause) ? try expression() : nil
    }

    mutating func dimensions() throws(DatabaseError) -> ([Expression], offsets: [Int]) {
        guard take(.group) else { return ([], []) }
        try expect(.by)
        var dimensions: [Expression] = []
        var offsets: [Int] = []
        repeat {
            offsets.append(peek().start)
            dimensions.append(try dimension())
        } while take(.comma)
        return (dimensions, offsets)
    }

    private mutating func dimension() throws(DatabaseError) -> Expression {
        if let regex = try regexIfAhead() { return .regex(regex) }
        return try expression()
    }

    private mutating func fill() throws(DatabaseError) -> Fill {
        let place = peek()
        guard case .identifier(let word) = place.token, word.lowercased() == "fill" else {
            return .null
        }
        guard case .call(let call) = try expression() else {
            throw failure("fill must be a function call", at: place.start)
        }
        guard call.arguments.count == 1 else {
            throw failure(
                "fill requires an argument, e.g.: 0, null, none, previous, linear",
                at: place.start)
        }
        switch (call.arguments[0], call.arguments[0].text) {
        case (_, "null"): return .null
        case (_, "none"): return .none
        case (_, "previous"): return .previous
        case (_, "linear"): return .linear
        case (.integer(let value), _): return .number(.integer(value))
        case (.number(let value), _): return .number(.float(value))
        default: throw failure("expected number argument in fill()", at: place.start)
        }
    }

    /// Parses ORDER BY. Returns true for ascending; nil without ORDER BY.
    mutating func order() throws(DatabaseError) -> Bool? {
        guard take(.order) else { return nil }
        try expect(.by)
        let isAscending: Bool
        let place = peek()
        switch place.token {
        case .keyword(.asc), .keyword(.desc):
            isAscending = next().token == .keyword(.asc)
        case .identifier(let name):
            guard name == "time" else {
                throw failure("only ORDER BY time supported at this time", at: place.start)
            }
            _ = next()
            isAscending = !take(.desc)
            if isAscending { _ = take(.asc) }
        default: throw unexpected(["identifier", "ASC", "DESC"])
        }
        if peek().token == .comma {
            let place = offset
            while take(.comma) {
                _ = try identifier()
                if !take(.asc) { _ = take(.desc) }
            }
            throw failure("only ORDER BY time supported at this time", at: place)
        }
        return isAscending
    }

    mutating func limits(series: Bool) throws(DatabaseError) -> Limits {
        var limits = Limits()
        limits.limit = try count(after: .limit)
        limits.offset = try count(after: .offset)
        if series {
            limits.seriesLimit = try count(after: .slimit)
            limits.seriesOffset = try count(after: .soffset)
        }
        return limits
    }

    private mutating func count(after keyword: Keyword) throws(DatabaseError) -> Int? {
        guard take(keyword) else { return nil }
        let place = peek()
        guard case .integer(let text) = place.token else { throw unexpected(["integer"]) }
        guard let count = Int(text), count >= 0 else {
            throw failure("\(keyword.rawValue) must be >= 0", at: place.start)
        }
        _ = next()
        return count
    }

    private mutating func zone() throws(DatabaseError) -> String? {
        let place = peek()
        guard case .identifier(let word) = place.token, word.lowercased() == "tz" else {
            return nil
        }
        guard case .call(let call) = try expression() else {
            throw failure("tz must be a function call", at: place.start)
        }
        guard call.arguments.count == 1 else {
            throw failure("tz requires exactly one argument", at: place.start)
        }
        guard case .string(let name, _) = call.arguments[0] else {
            throw failure("expected string argument in tz()", at: place.start)
        }
        return name
    }
}
