// The parser of the query language, with one function per rule of docs/query-language.md. Each
// function starts before the first word of its rule unless its comment says otherwise. A syntax
// error rejects the whole text, with InfluxDB's message and position.

/// A parser for all statements of a text.
struct Parser {
    let lexer: Lexer
    let nestingDepthMax: Int
    /// The maximum number of values that bound lists put into the text.
    private let listValueCountMax: Int
    private var listValueCount = 0
    /// The byte offset of the first unconsumed byte.
    private(set) var offset = 0
    private var ahead: Lexeme?
    private var depth = 0
    private var lexemeCount = 0
    /// The subqueries of the current statement so far.
    private var subqueryCount = 0

    /// The maximum number of subqueries per statement. Each one is planned and executed separately,
    /// including siblings on the same level.
    static let subqueryCountMax = 200

    /// Parses all statements of a text.
    ///
    /// - Throws: `limitExceeded` if the text is longer than the options allow; `usage` if invalid.
    static func parse(_ text: String, options: QueryOptions) throws(DatabaseError) -> [Statement] {
        try parseWithOffsets(text, options: options).map(\.statement)
    }

    /// Parses all statements and returns each with the byte offset of its start.
    static func parseWithOffsets(
        _ text: String, options: QueryOptions
    ) throws(DatabaseError) -> [(statement: Statement, offset: Int)] {
        guard text.utf8.count <= options.textSizeBytesMax else {
            throw DatabaseError(
                .limitExceeded,
                "statement of \(text.utf8.count) bytes; expected at most "
                    + "\(options.textSizeBytesMax) (textSizeBytesMax); run fewer statements at a "
                    + "time, or raise the limit")
        }
        try CancellationCheck.check()
        var parser = Parser(
            lexer: Lexer(text, parameters: options.parameters),
            nestingDepthMax: nestingDepthMax(options),
            listValueCountMax: options.textSizeBytesMax)
        do throws(DatabaseError) {
            let statements = try parser.statements()
            try CancellationCheck.check()
            return statements
        } catch {
            // A parse that was cancelled midway is not a syntax error.
            try CancellationCheck.check()
            throw error
        }
    }

    /// Returns the maximum nesting depth of a statement.
    static func nestingDepthMax(_ options: QueryOptions) -> Int {
        min(options.nestingDepthMax, 500)
    }

    private init(lexer: Lexer, nestingDepthMax: Int, listValueCountMax: Int) {
        self.lexer = lexer
        self.nestingDepthMax = nestingDepthMax
        self.listValueCountMax = listValueCountMax
    }

    private mutating func statements() throws(DatabaseError) -> [(
        statement: Statement, offset: Int
    )] {
        var statements: [(statement: Statement, offset: Int)] = []
        while true {
            while take(.semicolon) {}
            let start = peek()
            if start.token == .end { return statements }
            statements.append((try statement(), start.start))
            switch peek().token {
            case .semicolon, .end: continue
            default: throw unexpected([";"])
            }
        }
    }

    private mutating func statement() throws(DatabaseError) -> Statement {
        let first = peek()
        subqueryCount = 0
        guard case .keyword(let keyword) = first.token else { throw unknownStatement(first) }
        switch keyword {
        case .select:
            _ = next()
            return .select(try selectStatement())
        case .explain: return try explainStatement()
        case .show: return try showStatement()
        case .delete:
            _ = next()
            return .delete(try deleteStatement(isSeries: false))
        case .drop: return try dropStatement()
        case .alter: return try alterStatement()
        case .create, .grant, .revoke, .set, .kill: return administrationStatement()
        default: throw unknownStatement(first)
        }
    }

    private static let statementWords = [
        "SELECT", "DELETE", "SHOW", "CREATE", "DROP", "EXPLAIN", "GRANT", "REVOKE", "ALTER", "SET",
        "KILL",
    ]

    private mutating func unknownStatement(_ first: Lexeme) -> DatabaseError {
        let word = first.token.text
        // Users of SQL look for these.
        guard ["UPDATE", "INSERT", "REPLACE", "UPSERT"].contains(word.uppercased()) else {
            return unexpected(Parser.statementWords)
        }
        return DatabaseError(
            .usage,
            "found \(word), which does not exist; to add or change values, write or import points "
                + "that have them: a newer value replaces an older one of the same time",
            offset: first.start)
    }

    private mutating func explainStatement() throws(DatabaseError) -> Statement {
        _ = next()
        let analyze = take(.analyze)
        _ = take(.verbose)
        try expect(.select)
        return .explain(try selectStatement(), analyze: analyze)
    }

    private mutating func deleteStatement(isSeries: Bool) throws(DatabaseError) -> DeleteStatement {
        var statement = DeleteStatement()
        let first = peek()
        if !isSeries, case .identifier = first.token {
            statement.fields = try deletedFields()
            guard peek().token == .keyword(.from) else { throw unexpected(["FROM"]) }
        }
        if take(.from) {
            statement.sources = try sources(allowSubqueries: false)
            for source in statement.sources { try checkQualifiers(source, first) }
        }
        statement.condition = try condition()
        if statement.sources.isEmpty, statement.condition == nil {
            throw unexpected(["FROM", "WHERE"], at: first)
        }
        return statement
    }

    private mutating func deletedFields() throws(DatabaseError) -> [Reference] {
        var fields: [Reference] = []
        repeat {
            let start = peek().start
            fields.append(Reference(name: try identifier(), offset: start))
        } while take(.comma)
        return fields
    }

    /// Refuses qualifiers as InfluxDB does: DELETE affects all retention policies of the database.
    private func checkQualifiers(_ source: Source, _ place: Lexeme) throws(DatabaseError) {
        let qualifiers: [String]
        switch source {
        case .experiment(_, let names, _), .pattern(_, let names, _): qualifiers = names
        case .subquery: qualifiers = []
        }
        if qualifiers.count > 1 { throw failure("database not supported", at: place.start) }
        if qualifiers.count == 1 {
            throw failure("retention policy not supported", at: place.start)
        }
    }

    private mutating func dropStatement() throws(DatabaseError) -> Statement {
        let start = next()
        if take(.series) { return .dropSeries(try deleteStatement(isSeries: true)) }
        if take(.measurement) {
            let offset = peek().start
            return .dropMeasurement(try identifier(), offset: offset)
        }
        switch peek().token {
        case .keyword(.continuous), .keyword(.database), .keyword(.retention), .keyword(.shard),
            .keyword(.subscription), .keyword(.user):
            rewind(to: start.start)
            return administrationStatement()
        default:
            throw unexpected([
                "CONTINUOUS", "DATABASE", "MEASUREMENT", "RETENTION", "SERIES", "SHARD",
                "SUBSCRIPTION", "USER",
            ])
        }
    }

    /// Parses `ALTER EXPERIMENT name FIELD field TYPE float`.
    private mutating func alterStatement() throws(DatabaseError) -> Statement {
        let start = next()
        if case .keyword(.retention) = peek().token {
            rewind(to: start.start)
            return administrationStatement()
        }
        guard takeWord("EXPERIMENT") || take(.measurement) else {
            throw unexpected(["EXPERIMENT", "RETENTION"])
        }
        let experiment = try identifier()
        try expect(.field)
        let field = try identifier()
        guard takeWord("TYPE") else { throw unexpected(["TYPE"]) }
        guard case .identifier(let name) = peek().token,
            let type = FieldType(name: name.lowercased())
        else { throw unexpected(["float", "string"]) }
        _ = next()
        return .alter(experiment: experiment, field: field, type: type)
    }

    /// Skips a statement that only a server can run and records its first keywords.
    mutating func administrationStatement() -> Statement {
        var words: [String] = []
        while peek().token != .semicolon, peek().token != .end {
            let lexeme = next()
            if case .keyword(let keyword) = lexeme.token, words.count < 3 {
                words.append(keyword.rawValue)
            }
        }
        return .administration(words.joined(separator: " "))
    }

    // MARK: Tokens

    /// Returns the next token without consuming it, skipping whitespace and comments.
    mutating func peek() -> Lexeme {
        if let ahead { return ahead }
        lexemeCount &+= 1
        if lexemeCount & 0x3FF == 0, CancellationCheck.isRaised { offset = lexer.bytes.count }
        let lexeme = lexer.lexeme(after: offset)
        ahead = lexeme
        return lexeme
    }

    mutating func next() -> Lexeme {
        let lexeme = peek()
        rewind(to: lexeme.end)
        return lexeme
    }

    /// Returns the token that follows without whitespace, without consuming it.
    func adjacent() -> Token { lexer.lexeme(at: offset).token }

    mutating func rewind(to offset: Int) {
        self.offset = offset
        ahead = nil
    }

    mutating func take(_ token: Token) -> Bool {
        guard peek().token == token else { return false }
        _ = next()
        return true
    }

    mutating func take(_ keyword: Keyword) -> Bool { take(.keyword(keyword)) }

    /// Consumes a word that is not a reserved keyword, ignoring case.
    mutating func takeWord(_ word: String) -> Bool {
        guard case .identifier(let text) = peek().token, text.uppercased() == word,
            lexer.bytes[peek().start] != UInt8(ascii: "\"")
        else { return false }
        _ = next()
        return true
    }

    mutating func expect(_ keyword: Keyword) throws(DatabaseError) {
        guard take(keyword) else { throw unexpected([keyword.rawValue]) }
    }

    mutating func expect(_ token: Token) throws(DatabaseError) {
        guard take(token) else { throw unexpected([token.text]) }
    }

    mutating func identifier() throws(DatabaseError) -> String {
        guard case .identifier(let name) = peek().token else { throw unexpected(["identifier"]) }
        _ = next()
        return name
    }

    mutating func identifiers() throws(DatabaseError) -> [String] {
        var names = [try identifier()]
        while take(.comma) { names.append(try identifier()) }
        return names
    }

    /// Consumes and returns a regular expression if one follows.
    mutating func regexIfAhead() throws(DatabaseError) -> Regex? {
        guard lexer.startsRegex(after: offset) else { return nil }
        let lexeme = lexer.regex(after: offset)
        rewind(to: lexeme.end)
        guard case .regex(let pattern) = lexeme.token else {
            throw failure("bad regex: \(lexeme.token.text)", at: lexeme.start)
        }
        return try compile(pattern, at: lexeme.start)
    }

    func compile(_ pattern: String, at offset: Int) throws(DatabaseError) -> Regex {
        do {
            return try Regex(pattern)
        } catch {
            throw failure(error.message, at: offset)
        }
    }

    // MARK: Depth and errors

    /// Increments the depth; called by every recursive rule.
    mutating func enter() throws(DatabaseError) {
        depth += 1
        try checkDepth(0)
    }

    mutating func leave() { depth -= 1 }

    mutating func countSubquery() throws(DatabaseError) {
        subqueryCount += 1
        guard subqueryCount <= Parser.subqueryCountMax else {
            throw DatabaseError(
                .limitExceeded,
                "statement has more than \(Parser.subqueryCountMax) subqueries; split it into "
                    + "several statements, or list several experiments in one FROM", offset: offset)
        }
    }

    /// Counts the values of a bound list, each time that the text has it.
    mutating func countListValues(_ count: Int) throws(DatabaseError) {
        listValueCount += count
        guard listValueCount <= listValueCountMax else {
            throw DatabaseError(
                .limitExceeded,
                "the lists in the parameters put more than \(listValueCountMax) values into the "
                    + "text (textSizeBytesMax); use shorter lists, or raise the limit",
                offset: offset)
        }
    }

    /// Checks the depth. A chain of operators builds a tree as deep as nested parentheses do.
    func checkDepth(_ more: Int) throws(DatabaseError) {
        guard depth + more <= nestingDepthMax else {
            throw DatabaseError(
                .limitExceeded,
                "statement is nested more than \(nestingDepthMax) levels deep (nestingDepthMax); "
                    + "write a long chain of OR as name IN ('a', 'b')", offset: offset)
        }
    }

    mutating func unexpected(_ expected: [String], at lexeme: Lexeme? = nil) -> DatabaseError {
        let found = lexeme ?? peek()
        let shown = found.token.text
        return failure(
            "found \(shown), expected \(expected.joined(separator: ", "))", at: found.start)
    }

    func failure(_ message: String, at offset: Int) -> DatabaseError {
        let place = lexer.place(of: offset)
        return DatabaseError(
            .usage, "\(message) at line \(place.line), char \(place.character)", offset: offset)
    }
}
