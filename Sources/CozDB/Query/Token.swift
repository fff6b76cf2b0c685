// Words of the query language. Keywords are those that InfluxQL reserves and no others, so that
// every statement InfluxDB reads is read here; words of our own extensions are found by place.

/// A reserved word; any mixture of upper and lower case.
enum Keyword: String, CaseIterable, Sendable {
    case all = "ALL", alter = "ALTER", analyze = "ANALYZE", and = "AND", any = "ANY"
    case as_ = "AS", asc = "ASC", begin = "BEGIN", by = "BY", cardinality = "CARDINALITY"
    case create = "CREATE", continuous = "CONTINUOUS", database = "DATABASE"
    case databases = "DATABASES", default_ = "DEFAULT", delete = "DELETE", desc = "DESC"
    case destinations = "DESTINATIONS", diagnostics = "DIAGNOSTICS", distinct = "DISTINCT"
    case drop = "DROP", duration = "DURATION", end = "END", every = "EVERY", exact = "EXACT"
    case explain = "EXPLAIN", false_ = "FALSE", field = "FIELD", for_ = "FOR", from = "FROM"
    case grant = "GRANT", grants = "GRANTS", group = "GROUP", groups = "GROUPS", in_ = "IN"
    case inf = "INF", insert = "INSERT", into = "INTO", key = "KEY", keys = "KEYS", kill = "KILL"
    case limit = "LIMIT", measurement = "MEASUREMENT", measurements = "MEASUREMENTS"
    case name = "NAME", offset = "OFFSET", on = "ON", or = "OR", order = "ORDER"
    case password = "PASSWORD", policy = "POLICY", policies = "POLICIES"
    case privileges = "PRIVILEGES", queries = "QUERIES", query = "QUERY", read = "READ"
    case replication = "REPLICATION", resample = "RESAMPLE", retention = "RETENTION"
    case revoke = "REVOKE", select = "SELECT", series = "SERIES", set = "SET", show = "SHOW"
    case shard = "SHARD", shards = "SHARDS", slimit = "SLIMIT", soffset = "SOFFSET"
    case stats = "STATS", subscription = "SUBSCRIPTION", subscriptions = "SUBSCRIPTIONS"
    case tag = "TAG", to = "TO", true_ = "TRUE", user = "USER", users = "USERS"
    case values = "VALUES", verbose = "VERBOSE", where_ = "WHERE", with = "WITH", write = "WRITE"

    private static let byText: [String: Keyword] = Dictionary(
        uniqueKeysWithValues: allCases.map { ($0.rawValue, $0) })

    /// The keyword that this bare word is.
    init?(word: String) {
        guard word.utf8.count <= 13, let keyword = Keyword.byText[word.uppercased()] else {
            return nil
        }
        self = keyword
    }
}

/// A binary operator. Raw values are what is written.
enum Operator: String, Sendable {
    case add = "+", subtract = "-", multiply = "*", divide = "/", modulo = "%"
    case bitAnd = "&", bitOr = "|", bitXor = "^"
    case and = "AND", or = "OR"
    case equal = "=", notEqual = "!=", matches = "=~", matchesNot = "!~"
    case less = "<", lessOrEqual = "<=", greater = ">", greaterOrEqual = ">="

    /// Operators of higher precedence bind first; all associate to the left.
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

    /// Whether the result is true or false, so that it belongs into WHERE only.
    var isCondition: Bool { precedence <= 3 }

    var isRegex: Bool { self == .matches || self == .matchesNot }

    /// The operator that says the same with its sides exchanged.
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

/// One word of a statement.
enum Token: Equatable, Sendable {
    case end
    case identifier(String)
    case keyword(Keyword)
    /// Digits with a point.
    case number(String)
    case integer(String)
    case duration(String)
    case string(String)
    case regex(String)
    case symbol(Operator)
    case leftParenthesis, rightParenthesis, comma, semicolon, dot, colon, doubleColon
    /// `$name`, with no value given for it.
    case parameter(String)
    /// A string or comment without an end, an unknown escape, a character with no meaning.
    case illegal(String)

    /// The word as an error shows it.
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
        }
    }
}
