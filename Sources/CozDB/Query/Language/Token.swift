// The tokens of the query language. Only InfluxQL's keywords are reserved, so every InfluxQL
// statement parses. The words of CozDB's extensions are recognized by their position.

/// A reserved word, matched without regard to case.
enum Keyword: String, CaseIterable, Sendable {
    case all = "ALL"
    case alter = "ALTER"
    case analyze = "ANALYZE"
    case and = "AND"
    case any = "ANY"
    case alias = "AS"
    case asc = "ASC"
    case begin = "BEGIN"
    case by = "BY"
    case cardinality = "CARDINALITY"
    case create = "CREATE"
    case continuous = "CONTINUOUS"
    case database = "DATABASE"
    case databases = "DATABASES"
    case defaultPolicy = "DEFAULT"
    case delete = "DELETE"
    case desc = "DESC"
    case destinations = "DESTINATIONS"
    case diagnostics = "DIAGNOSTICS"
    case distinct = "DISTINCT"
    case drop = "DROP"
    case duration = "DURATION"
    case end = "END"
    case every = "EVERY"
    case exact = "EXACT"
    case explain = "EXPLAIN"
    case falseWord = "FALSE"
    case field = "FIELD"
    case forWord = "FOR"
    case from = "FROM"
    case grant = "GRANT"
    case grants = "GRANTS"
    case group = "GROUP"
    case groups = "GROUPS"
    case inList = "IN"
    case inf = "INF"
    case insert = "INSERT"
    case into = "INTO"
    case key = "KEY"
    case keys = "KEYS"
    case kill = "KILL"
    case limit = "LIMIT"
    case measurement = "MEASUREMENT"
    case measurements = "MEASUREMENTS"
    case name = "NAME"
    case offset = "OFFSET"
    case on = "ON"
    case or = "OR"
    case order = "ORDER"
    case password = "PASSWORD"
    case policy = "POLICY"
    case policies = "POLICIES"
    case privileges = "PRIVILEGES"
    case queries = "QUERIES"
    case query = "QUERY"
    case read = "READ"
    case replication = "REPLICATION"
    case resample = "RESAMPLE"
    case retention = "RETENTION"
    case revoke = "REVOKE"
    case select = "SELECT"
    case series = "SERIES"
    case set = "SET"
    case show = "SHOW"
    case shard = "SHARD"
    case shards = "SHARDS"
    case slimit = "SLIMIT"
    case soffset = "SOFFSET"
    case stats = "STATS"
    case subscription = "SUBSCRIPTION"
    case subscriptions = "SUBSCRIPTIONS"
    case tag = "TAG"
    case to = "TO"
    case trueWord = "TRUE"
    case user = "USER"
    case users = "USERS"
    case values = "VALUES"
    case verbose = "VERBOSE"
    case whereClause = "WHERE"
    case with = "WITH"
    case write = "WRITE"

    private static let byText: [String: Keyword] = Dictionary(
        uniqueKeysWithValues: allCases.map { ($0.rawValue, $0) })

    /// Looks up an unquoted word; nil if it is not a keyword.
    init?(word: String) {
        guard word.utf8.count <= 13, let keyword = Keyword.byText[word.uppercased()] else {
            return nil
        }
        self = keyword
    }
}

/// A binary operator. The raw value is its spelling.
enum Operator: String, Sendable {
    case add = "+"
    case subtract = "-"
    case multiply = "*"
    case divide = "/"
    case modulo = "%"
    case bitAnd = "&"
    case bitOr = "|"
    case bitXor = "^"
    case and = "AND"
    case or = "OR"
    case equal = "="
    case notEqual = "!="
    case matches = "=~"
    case matchesNot = "!~"
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="

    /// Operators of higher precedence bind more tightly; all are left-associative.
    var precedence: Int {
        switch self {
        case .or: 1
        case .and: 2
        case .equal, .notEqual, .matches, .matchesNot, .less, .lessOrEqual, .greater,
            .greaterOrEqual:
            3
        case .add, .subtract, .bitOr, .bitXor: 4
        case .multiply, .divide, .modulo, .bitAnd: 5
        }
    }

    /// Whether the result is a boolean, so that the operator is valid only in WHERE.
    var isCondition: Bool { precedence <= 3 }

    /// Whether the operator compares two values.
    var isComparison: Bool { precedence == 3 }

    var isRegex: Bool { self == .matches || self == .matchesNot }

    /// The equivalent operator for exchanged operands.
    var mirrored: Operator {
        switch self {
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        default: self
        }
    }
}

/// A token of a statement.
enum Token: Equatable, Sendable {
    case end
    case identifier(String)
    case keyword(Keyword)
    /// A number with a decimal point.
    case number(String)
    case integer(String)
    case duration(String)
    case string(String)
    case regex(String)
    case symbol(Operator)
    case leftParenthesis, rightParenthesis, comma, semicolon, dot, colon, doubleColon
    /// `$name` without a bound value.
    case parameter(String)
    /// A bound list of values, which IN takes in place of one in parentheses.
    case list(parameter: String, [FieldValue])
    /// An unterminated string or comment, an unknown escape, or an invalid character.
    case illegal(String)

    /// The token as error messages show it.
    var text: String {
        switch self {
        case .end: "EOF"
        case .identifier(let text), .number(let text), .integer(let text), .duration(let text),
            .string(let text), .regex(let text), .illegal(let text):
            text
        case .keyword(let keyword): keyword.rawValue
        case .symbol(let symbol): symbol.rawValue
        case .leftParenthesis: "("
        case .rightParenthesis: ")"
        case .comma: ","
        case .semicolon: ";"
        case .dot: "."
        case .colon: ":"
        case .doubleColon: "::"
        case .parameter(let name): "$" + name
        case .list(let name, _): "$" + name
        }
    }
}

extension QueryParameter {
    /// The token that replaces the parameter of this name in the statement.
    func token(_ name: String) -> Token {
        switch self {
        case .value(.float(let value)): .number(value.description)
        case .value(.integer(let value)): .integer(String(value))
        case .value(.string(let text)): .string(text)
        case .value(.boolean(let flag)): .keyword(flag ? .trueWord : .falseWord)
        case .identifier(let name): .identifier(name)
        case .regex(let pattern): .regex(pattern)
        case .duration(let text): .duration(text)
        case .list(let values): .list(parameter: name, values)
        }
    }
}
