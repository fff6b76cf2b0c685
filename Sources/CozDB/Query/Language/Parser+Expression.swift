// Parses expressions: operators by precedence, calls, names, literals and bound parameters.

extension Parser {
    mutating func expression() throws(DatabaseError) -> Expression {
        try expression(precedence: 1)
    }

    /// Parses an expression whose operators all have at least this precedence.
    private mutating func expression(precedence: Int) throws(DatabaseError) -> Expression {
        try enter()
        defer { leave() }
        var left = try unary()
        var chain = 0
        while true {
            if precedence <= 3, let condition = try conditionSuffix(left) {
                left = condition
                chain += 1
                try checkDepth(chain)
                continue
            }
            guard let symbol = operatorAhead(), symbol.precedence >= precedence else { return left }
            _ = next()
            chain += 1
            try checkDepth(chain)
            if symbol.isRegex {
                guard let regex = try regexIfAhead() else {
                    // Report the position of the preceding blank, as InfluxDB does.
                    throw failure("found \(peek().token.text), expected regex", at: offset)
                }
                left = .binary(symbol, left, .regex(regex))
            } else {
                left = .binary(symbol, left, try expression(precedence: symbol.precedence + 1))
            }
        }
    }

    private mutating func operatorAhead() -> Operator? {
        switch peek().token {
        case .symbol(let symbol): symbol
        case .keyword(.and): .and
        case .keyword(.or): .or
        default: nil
        }
    }

    /// Parses `IS [NOT] NULL` and `[NOT] IN (...)` or `[NOT] IN $list`, which are extensions to
    /// InfluxQL.
    private mutating func conditionSuffix(_ left: Expression) throws(DatabaseError) -> Expression? {
        if takeWord("IS") {
            let negated = takeWord("NOT")
            guard takeWord("NULL") else { throw unexpected(negated ? ["NULL"] : ["NOT", "NULL"]) }
            return .isNull(left, negated: negated)
        }
        let negated = takeWord("NOT")
        guard take(.inList) else {
            if negated { throw unexpected(["IN"]) }
            return nil
        }
        if let list = try takeList() { return .contains(left, list, negated: negated) }
        guard take(.leftParenthesis) else {
            if case .parameter(let name) = peek().token { throw missing(name, at: peek().start) }
            throw unexpected(["(", "a list as a bound parameter"])
        }
        var list = try listItems()
        while take(.comma) { list += try listItems() }
        try expect(.rightParenthesis)
        return .contains(left, list, negated: negated)
    }

    /// Takes a bound list if there is one.
    private mutating func takeList() throws(DatabaseError) -> [Expression]? {
        guard case .list(_, let values) = peek().token else { return nil }
        try countListValues(values.count)
        let place = next().start
        return values.map { $0.literal(at: place) }
    }

    private mutating func listItems() throws(DatabaseError) -> [Expression] {
        if let list = try takeList() { return list }
        let item = try unary()
        guard item.isLiteral else { throw unexpected(["string", "number", "bool"]) }
        return [item]
    }

    /// Parses an operand, with its sign if it has one.
    private mutating func unary() throws(DatabaseError) -> Expression {
        let place = peek()
        switch place.token {
        case .leftParenthesis:
            _ = next()
            let inner = try expression()
            try expect(.rightParenthesis)
            return .parenthesis(inner)
        case .identifier(let name):
            _ = next()
            if adjacent() == .leftParenthesis { return .call(try call(name, at: place.start)) }
            rewind(to: place.start)
            return .reference(try reference())
        case .keyword(.distinct): return try distinct()
        case .string(let text):
            _ = next()
            return .string(text, offset: place.start)
        case .keyword(.trueWord), .keyword(.falseWord):
            return .boolean(next().token == .keyword(.trueWord))
        case .symbol(.multiply): return try wildcard()
        case .regex(let pattern):
            _ = next()
            return .regex(try compile(pattern, at: place.start))
        case .symbol(.add), .symbol(.subtract): return try signed()
        case .number, .integer, .duration: return try number()
        case .parameter(let name):
            throw missing(name, at: place.start)
        case .list(let name, _):
            throw failure(
                "found a list as parameter \"\(name)\", expected a value; a list follows IN in "
                    + "a condition", at: place.start)
        default: throw unexpected(["identifier", "string", "number", "bool"])
        }
    }

    private func missing(_ parameter: String, at start: Int) -> DatabaseError {
        failure(
            parameter.isEmpty ? "empty bound parameter" : "missing parameter: \(parameter)",
            at: start)
    }

    private mutating func number() throws(DatabaseError) -> Expression {
        let place = next()
        switch place.token {
        case .number(let text):
            // Swift does not parse a number that ends with a decimal point.
            if let value = Double(text.utf8.last == UInt8(ascii: ".") ? text + "0" : text) {
                return .number(value)
            }
            throw failure("unable to parse number", at: place.start)
        case .integer(let text):
            if let value = Int64(text) { return .integer(value) }
            if let value = UInt64(text) { return .unsigned(value) }
            throw failure("unable to parse integer", at: place.start)
        default:
            if let nanoseconds = DurationText.nanoseconds(place.token.text) {
                return .duration(nanoseconds)
            }
            throw failure("invalid duration", at: place.start)
        }
    }

    /// Parses a sign. Before a number the sign is part of the literal; otherwise it multiplies.
    private mutating func signed() throws(DatabaseError) -> Expression {
        let isNegative = next().token == .symbol(.subtract)
        let place = peek()
        switch place.token {
        case .number, .integer, .duration, .leftParenthesis, .identifier: break
        default: throw unexpected(["identifier", "number", "duration", "("])
        }
        let operand = try unary()
        switch operand {
        case .number(let value): return .number(isNegative ? -value : value)
        // Wrapping: a parameter may be the minimum integer, which cannot be negated.
        case .integer(let value): return .integer(isNegative ? 0 &- value : value)
        case .duration(let value): return .duration(isNegative ? 0 &- value : value)
        case .unsigned(let value) where isNegative:
            guard value == UInt64(Int64.max) + 1 else {
                throw failure("constant -\(value) underflows int64", at: place.start)
            }
            return .integer(Int64.min)
        case .unsigned: return operand
        default: return .binary(.multiply, .integer(isNegative ? -1 : 1), operand)
        }
    }

    /// Parses a call after its name.
    private mutating func call(_ name: String, at start: Int) throws(DatabaseError) -> Call {
        try enter()
        defer { leave() }
        _ = next()
        var call = Call(name: name.lowercased(), arguments: [], offset: start)
        if take(.rightParenthesis) {
            call.window = try window()
            return call
        }
        repeat {
            if let regex = try regexIfAhead() {
                call.arguments.append(.regex(regex))
            } else {
                call.arguments.append(try expression())
            }
        } while take(.comma)
        guard take(.rightParenthesis) else { throw unexpected([")"]) }
        call.window = try window()
        return call
    }

    /// Parses `OVER (10m BEFORE anchor)`, an extension to InfluxQL. Its words are not reserved,
    /// because a name never follows a call.
    private mutating func window() throws(DatabaseError) -> WindowClause? {
        let start = peek().start
        guard takeWord("OVER") else { return nil }
        try expect(.leftParenthesis)
        guard case .duration(let text) = peek().token else { throw unexpected(["duration"]) }
        let place = next().start
        guard let width = DurationText.nanoseconds(text) else {
            throw failure("invalid duration", at: place)
        }
        let sides = WindowClause.Side.allCases
        guard let side = sides.first(where: { takeWord($0.rawValue) }) else {
            throw unexpected(sides.map(\.rawValue))
        }
        let anchor = try reference()
        try expect(.rightParenthesis)
        return WindowClause(width: width, side: side, anchor: anchor, offset: start)
    }

    private mutating func distinct() throws(DatabaseError) -> Expression {
        let start = next()
        if adjacent() == .leftParenthesis { return .call(try call("distinct", at: start.start)) }
        let place = peek()
        guard case .identifier(let name) = place.token, place.start > offset else {
            throw unexpected(place.start > offset ? ["identifier"] : ["(", "identifier"])
        }
        _ = next()
        return .distinct(Reference(name: name, offset: place.start))
    }

    private mutating func wildcard() throws(DatabaseError) -> Expression {
        _ = next()
        guard adjacent() == .doubleColon else { return .wildcard(.any) }
        rewind(to: offset + 2)
        if take(.field) { return .wildcard(.field) }
        if take(.tag) { return .wildcard(.tag) }
        throw unexpected(["field", "tag"])
    }

    /// Parses a dotted name and its `::` suffix. Dots are part of the name.
    mutating func reference() throws(DatabaseError) -> Reference {
        let start = peek().start
        let name = try segments().joined(separator: ".")
        var reference = Reference(name: name, offset: start)
        guard adjacent() == .doubleColon else { return reference }
        rewind(to: offset + 2)
        if take(.field) {
            reference.kind = .field
        } else if take(.tag) {
            reference.kind = .tag
        } else if case .identifier(let type) = peek().token,
            let type = FieldType(
                name: type.lowercased() == "unsigned" ? "integer" : type.lowercased())
        {
            _ = next()
            reference.kind = .type(type)
        } else {
            throw unexpected(["float", "integer", "string", "boolean", "field", "tag"])
        }
        return reference
    }
}

extension FieldValue {
    /// The value as a literal of a statement.
    fileprivate func literal(at offset: Int) -> Expression {
        switch self {
        case .float(let value): .number(value)
        case .integer(let value): .integer(value)
        case .boolean(let flag): .boolean(flag)
        case .string(let text): .string(text, offset: offset)
        }
    }
}
