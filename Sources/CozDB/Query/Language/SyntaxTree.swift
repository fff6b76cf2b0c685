// What a statement says, before names are looked up. Every node that can be wrong knows its place.

/// Which kind of column a name means, where the statement says so.
enum ReferenceKind: Hashable, Sendable {
    case any
    /// `name::field`
    case field
    /// `name::tag`
    case tag
    /// `name::float` and so on: the field, converted where that is possible.
    case type(FieldType)
}

/// A name in an expression.
struct Reference: Equatable, Sendable {
    var name: String
    var kind: ReferenceKind = .any
    /// Byte offset in the text.
    var offset = 0

    static func == (left: Reference, right: Reference) -> Bool {
        left.kind == right.kind && left.name.utf8.elementsEqual(right.name.utf8)
    }

    /// `time` stands for the time of a row wherever a name can stand.
    var isTime: Bool { name.lowercased() == "time" }
}

/// A function and its arguments; the name is in lower case.
struct Call: Sendable {
    var name: String
    var arguments: [Expression]
    /// `OVER (...)` behind it.
    var window: WindowClause?
    var offset = 0
}

/// `OVER (10m BEFORE anchor)`
struct WindowClause: Sendable {
    enum Side: String, CaseIterable, Sendable {
        case before = "BEFORE"
        case after = "AFTER"
        case around = "AROUND"
    }

    /// Nanoseconds.
    var width: Int64
    var side: Side
    /// The field whose values have windows.
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
    /// An integer beyond Int64; InfluxDB reads it, no column can hold it.
    case unsigned(UInt64)
    /// Most literals stand beside a name; a wrong time is best shown where it stands itself.
    case string(String, offset: Int = 0)
    case boolean(Bool)
    /// Nanoseconds.
    case duration(Int64)
    /// A point in time, nanoseconds since 1970.
    case time(Int64)
    case regex(Regex)
    /// `*`, `*::field`, `*::tag`
    case wildcard(ReferenceKind)
    /// `DISTINCT name`
    case distinct(Reference)
    /// `x IS NULL`, `x IS NOT NULL`
    case isNull(Expression, negated: Bool)
    /// `x IN (a, b)`, `x NOT IN (a, b)`
    case contains(Expression, [Expression], negated: Bool)

    var isLiteral: Bool {
        switch self {
        case .number, .integer, .unsigned, .string, .boolean, .duration, .time, .regex: true
        default: false
        }
    }

    /// Whether it stands for names that match: `*` or a regular expression.
    var isPattern: Bool {
        switch self {
        case .wildcard, .regex: true
        default: false
        }
    }

    /// The expression without the parentheses around it.
    var bare: Expression {
        if case .parenthesis(let inner) = self { return inner.bare }
        return self
    }

    /// The parts of which this expression is made directly.
    var parts: [Expression] {
        switch self {
        case .call(let call): call.arguments
        case .binary(_, let left, let right): [left, right]
        case .parenthesis(let inner), .isNull(let inner, _): [inner]
        case .contains(let inner, let list, _): [inner] + list
        default: []
        }
    }

    /// Calls `body` for the expression and everything in it, outer before inner.
    func walk(_ body: (Expression) -> Void) {
        body(self)
        for part in parts { part.walk(body) }
    }

    /// Byte offset of the first name, call or string in it; 0 where there is none.
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
    /// Database and retention policy are read and ignored.
    case experiment(String, qualifiers: [String], offset: Int)
    case pattern(Regex, qualifiers: [String], offset: Int)
    case subquery(SelectStatement)
}

/// What stands in buckets and rows without a value.
enum Fill: Equatable, Sendable {
    case null, none, previous, linear
    case number(FieldValue)
}

/// LIMIT and its relatives; nil where the statement does not say.
struct Limits: Equatable, Sendable {
    var limit: Int?
    var offset: Int?
    var seriesLimit: Int?
    var seriesOffset: Int?
}

struct SelectStatement: Sendable {
    var fields: [SelectField] = []
    /// Byte offset of what INTO names; nil where there is none.
    var targetOffset: Int?
    var sources: [Source] = []
    var condition: Expression?
    /// Byte offset of what follows WHERE.
    var conditionOffset = 0
    var dimensions: [Expression] = []
    /// Byte offset of each dimension.
    var dimensionOffsets: [Int] = []
    var fill = Fill.null
    var fillOffset = 0
    /// Nil where there is no ORDER BY.
    var isAscending: Bool?
    var limits = Limits()
    /// Name in `tz('...')`.
    var zone: String?
    var zoneOffset = 0
    var offset = 0
}

/// What SHOW shows.
enum ShowSubject: Sendable {
    case databases, retentionPolicies
    case measurements, fieldKeys, tagKeys, tagValues, series
    /// Fields with counts and times.
    case fields
    case measurementCardinality(exact: Bool)
    case fieldKeyCardinality(exact: Bool)
    case tagKeyCardinality(exact: Bool)
    case tagValuesCardinality(exact: Bool)
    case seriesCardinality(exact: Bool)
    /// What only a server has; the words after SHOW.
    case server(String)
}

/// `WITH KEY = name`, `IN (...)`, `=~ /.../` and their negations.
enum KeyFilter: Sendable {
    case names([String], negated: Bool)
    case pattern(Regex, negated: Bool)

    func accepts(_ name: String) -> Bool {
        switch self {
        case .names(let names, let negated):
            names.contains { Name($0) == Name(name) } != negated
        case .pattern(let regex, let negated): regex.matches(name) != negated
        }
    }
}

struct ShowStatement: Sendable {
    var subject: ShowSubject
    /// FROM; empty means all experiments.
    var sources: [Source] = []
    /// WITH MEASUREMENT of SHOW MEASUREMENTS.
    var measurement: Source?
    var key: KeyFilter?
    var condition: Expression?
    /// GROUP BY of SHOW FIELDS.
    var dimensions: [Expression] = []
    var limits = Limits()
}

struct DeleteStatement: Sendable {
    /// Single fields whose values go; empty where whole rows do.
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
    /// A statement about servers, users or databases, by its first words.
    case administration(String)
}
