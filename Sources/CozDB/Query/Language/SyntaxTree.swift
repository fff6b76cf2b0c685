// The syntax tree of a statement, before names are resolved. Nodes store their position for errors.

/// The kind of column that a name refers to, if the statement specifies it.
enum ReferenceKind: Hashable, Sendable {
    case any
    /// `name::field`
    case field
    /// `name::tag`
    case tag
    /// `name::float` and so on: the field, converted to the type if possible.
    case type(FieldType)
}

/// A name in an expression.
struct Reference: Equatable, Sendable {
    var name: String
    var kind: ReferenceKind = .any
    /// The byte offset in the text.
    var offset = 0

    static func == (left: Reference, right: Reference) -> Bool {
        left.kind == right.kind && left.name.utf8.elementsEqual(right.name.utf8)
    }

    /// Whether the name refers to the time of a row. `time` does so in any position.
    var isTime: Bool { name.lowercased() == "time" }
}

/// A function call; the name is in lower case.
struct Call: Sendable {
    var name: String
    var arguments: [Expression]
    /// The `OVER (...)` clause.
    var window: WindowClause?
    var offset = 0
}

/// A clause such as `OVER (10m BEFORE anchor)`.
struct WindowClause: Sendable {
    enum Side: String, CaseIterable, Sendable {
        case before = "BEFORE"
        case after = "AFTER"
        case around = "AROUND"
    }

    /// The width in nanoseconds.
    var width: Int64
    var side: Side
    /// The field whose values the windows are placed around.
    var anchor: Reference
    var offset = 0
}

/// A value computed from columns and literals.
indirect enum Expression: Sendable {
    case reference(Reference)
    case call(Call)
    case binary(Operator, Expression, Expression)
    case parenthesis(Expression)
    case number(Double)
    case integer(Int64)
    /// An integer beyond Int64. InfluxDB parses it, but no column can hold it.
    case unsigned(UInt64)
    /// A string. It may be an invalid time, so unlike other literals it has an offset for the
    /// error.
    case string(String, offset: Int = 0)
    case boolean(Bool)
    /// Nanoseconds.
    case duration(Int64)
    /// A time in nanoseconds since 1970.
    case time(Int64)
    case regex(Regex)
    /// `*`, `*::field` or `*::tag`.
    case wildcard(ReferenceKind)
    /// `DISTINCT name`.
    case distinct(Reference)
    /// `x IS NULL` or `x IS NOT NULL`.
    case isNull(Expression, negated: Bool)
    /// `x IN (a, b)` or `x NOT IN (a, b)`.
    case contains(Expression, [Expression], negated: Bool)

    var isLiteral: Bool {
        switch self {
        case .number, .integer, .unsigned, .string, .boolean, .duration, .time, .regex: true
        default: false
        }
    }

    /// Whether the expression expands to matching names: `*` or a regular expression.
    var isPattern: Bool {
        switch self {
        case .wildcard, .regex: true
        default: false
        }
    }

    /// Returns whether `*` or a regular expression stands for a name, among others.
    func isPattern(of name: String) -> Bool {
        switch self {
        case .wildcard: true
        case .regex(let regex): regex.matches(name)
        default: false
        }
    }

    /// The expression without surrounding parentheses.
    var bare: Expression {
        if case .parenthesis(let inner) = self { return inner.bare }
        return self
    }

    var isText: Bool {
        if case .string = self { true } else { false }
    }

    /// The direct children of the expression.
    var parts: [Expression] {
        switch self {
        case .call(let call): call.arguments
        case .binary(_, let left, let right): [left, right]
        case .parenthesis(let inner), .isNull(let inner, _): [inner]
        case .contains(let inner, let list, _): [inner] + list
        default: []
        }
    }

    /// Calls `body` for the expression and all its descendants in preorder.
    func walk(_ body: (Expression) -> Void) {
        body(self)
        for part in parts { part.walk(body) }
    }

    /// The byte offset of the first name, call or string in the expression; 0 if it has none.
    var offset: Int {
        switch self {
        case .string(_, let offset): offset
        case .reference(let reference), .distinct(let reference): reference.offset
        case .call(let call): call.offset
        default: parts.lazy.map(\.offset).first { $0 > 0 } ?? 0
        }
    }
}

/// One item of a SELECT list.
struct SelectField: Sendable {
    var expression: Expression
    var alias: String?
    var offset = 0
}

/// One item of FROM.
indirect enum Source: Sendable {
    /// An experiment. Database and retention policy are parsed and ignored.
    case experiment(String, qualifiers: [String], offset: Int)
    case pattern(Regex, qualifiers: [String], offset: Int)
    case subquery(SelectStatement)

    var isSubquery: Bool {
        if case .subquery = self { true } else { false }
    }
}

/// The value of empty buckets and of rows without a value.
enum Fill: Equatable, Sendable {
    case null, none, previous, linear
    case number(FieldValue)
}

/// The LIMIT clauses; nil if the statement omits one.
struct Limits: Equatable, Sendable {
    var limit: Int?
    var offset: Int?
    var seriesLimit: Int?
    var seriesOffset: Int?
}

struct SelectStatement: Sendable {
    var fields: [SelectField] = []
    /// The byte offset of the INTO target; nil without INTO.
    var targetOffset: Int?
    var sources: [Source] = []
    var condition: Expression?
    /// The byte offset of the expression after WHERE.
    var conditionOffset = 0
    var dimensions: [Expression] = []
    /// The byte offset of each dimension.
    var dimensionOffsets: [Int] = []
    var fill = Fill.null
    var fillOffset = 0
    /// The ORDER BY direction; nil without ORDER BY.
    var isAscending: Bool?
    var limits = Limits()
    /// The name in `tz('...')`.
    var zone: String?
    var zoneOffset = 0
    var offset = 0
}

/// The subject of a SHOW statement.
enum ShowSubject: Sendable {
    case databases, retentionPolicies
    case measurements, fieldKeys, tagKeys, tagValues, series
    /// Fields with their counts and times.
    case fields
    case measurementCardinality(exact: Bool)
    case fieldKeyCardinality(exact: Bool)
    case tagKeyCardinality(exact: Bool)
    case tagValuesCardinality(exact: Bool)
    case seriesCardinality(exact: Bool)
    /// A subject that only a server has; the words after SHOW.
    case server(String)
}

/// A `WITH KEY` clause: `= name`, `IN (...)`, `=~ /.../` and their negations.
enum KeyFilter: Sendable {
    case names(Set<Name>, negated: Bool)
    case pattern(Regex, negated: Bool)

    func accepts(_ name: String) -> Bool {
        switch self {
        case .names(let names, let negated):
            names.contains(Name(name)) != negated
        case .pattern(let regex, let negated): regex.matches(name) != negated
        }
    }
}

struct ShowStatement: Sendable {
    var subject: ShowSubject
    /// The FROM clause; empty means all experiments.
    var sources: [Source] = []
    /// WITH MEASUREMENT of SHOW MEASUREMENTS.
    var measurement: Source?
    var key: KeyFilter?
    var condition: Expression?
    /// The GROUP BY clause of SHOW FIELDS.
    var dimensions: [Expression] = []
    var limits = Limits()
}

struct DeleteStatement: Sendable {
    /// The fields to delete; empty to delete whole rows.
    var fields: [Reference] = []
    var sources: [Source] = []
    var condition: Expression?
}

enum Statement: Sendable {
    case select(SelectStatement)
    case explain(SelectStatement, analyze: Bool)
    case show(ShowStatement)
    case delete(DeleteStatement)
    case dropSeries(DeleteStatement)
    case dropMeasurement(String, offset: Int)
    case alter(experiment: String, field: String, type: FieldType)
    /// A statement about servers, users or databases; its first words.
    case administration(String)
}
