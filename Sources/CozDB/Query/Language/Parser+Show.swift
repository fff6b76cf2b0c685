// Parses all forms of SHOW.

extension Parser {
    mutating func showStatement() throws(DatabaseError) -> Statement {
        let start = next()
        if takeWord("FIELDS") { return .show(try showFieldCounts()) }
        let place = peek()
        guard case .keyword(let keyword) = place.token else { throw unexpected(Parser.showWords) }
        switch keyword {
        case .databases:
            _ = next()
            return .show(ShowStatement(subject: .databases))
        case .measurements:
            _ = next()
            return .show(try showMeasurements())
        case .measurement: return .show(try showMeasurementCardinality())
        case .field: return .show(try showFields())
        case .tag: return .show(try showTags())
        case .series: return .show(try showSeries())
        case .retention:
            _ = next()
            try expect(.policies)
            if take(.on) { _ = try identifier() }
            return .show(ShowStatement(subject: .retentionPolicies))
        case .continuous, .diagnostics, .grants, .queries, .shard, .shards, .stats,
            .subscriptions, .users:
            rewind(to: start.start)
            return administrationStatement()
        default: throw unexpected(Parser.showWords)
        }
    }

    private static let showWords = [
        "CONTINUOUS", "DATABASES", "DIAGNOSTICS", "FIELD", "GRANTS", "MEASUREMENT",
        "MEASUREMENTS", "QUERIES", "RETENTION", "SERIES", "SHARD", "SHARDS", "STATS",
        "SUBSCRIPTIONS", "TAG", "USERS",
    ]

    private mutating func showMeasurements() throws(DatabaseError) -> ShowStatement {
        var show = ShowStatement(subject: .measurements)
        if take(.on) {
            try databasePart()
            if take(.dot) { try databasePart() }
        }
        if take(.with) {
            try expect(.measurement)
            guard take(.symbol(.equal)) || take(.symbol(.matches)) else {
                throw unexpected(["=", "=~"])
            }
            show.measurement = try source(allowSubqueries: false)
        }
        show.condition = try condition()
        _ = try order()
        show.limits = try limits(series: false)
        return show
    }

    private mutating func databasePart() throws(DatabaseError) {
        if take(.symbol(.multiply)) { return }
        guard case .identifier = peek().token else { throw unexpected(["identifier or *"]) }
        _ = next()
    }

    private mutating func showMeasurementCardinality() throws(DatabaseError) -> ShowStatement {
        _ = next()
        let exact = take(.exact)
        guard take(.cardinality) else {
            throw unexpected(exact ? ["CARDINALITY"] : ["EXACT", "CARDINALITY"])
        }
        return try cardinality(.measurementCardinality(exact: exact), hasKey: false)
    }

    private mutating func showFields() throws(DatabaseError) -> ShowStatement {
        _ = next()
        if take(.key) {
            let exact = take(.exact)
            guard take(.cardinality) else {
                throw unexpected(exact ? ["CARDINALITY"] : ["EXACT", "CARDINALITY"])
            }
            return try cardinality(.fieldKeyCardinality(exact: exact), hasKey: false)
        }
        guard take(.keys) else { throw unexpected(["KEY", "KEYS"]) }
        var show = ShowStatement(subject: .fieldKeys)
        try onAndFrom(&show)
        _ = try order()
        show.limits = try limits(series: false)
        return show
    }

    /// Parses `SHOW FIELDS`, an extension to InfluxQL.
    private mutating func showFieldCounts() throws(DatabaseError) -> ShowStatement {
        var show = ShowStatement(subject: .fields)
        try onAndFrom(&show)
        show.condition = try condition()
        show.dimensions = try dimensions().0
        _ = try order()
        show.limits = try limits(series: false)
        return show
    }

    private mutating func showTags() throws(DatabaseError) -> ShowStatement {
        _ = next()
        if take(.key) {
            let exact = take(.exact)
            guard take(.cardinality) else {
                throw unexpected(exact ? ["CARDINALITY"] : ["EXACT", "CARDINALITY"])
            }
            return try cardinality(.tagKeyCardinality(exact: exact), hasKey: false)
        }
        if take(.keys) {
            var show = ShowStatement(subject: .tagKeys)
            try onAndFrom(&show)
            if peek().token == .keyword(.with) { show.key = try keyFilter() }
            show.condition = try condition()
            _ = try order()
            show.limits = try limits(series: true)
            return show
        }
        guard take(.values) else { throw unexpected(["KEY", "KEYS", "VALUES"]) }
        let exact = take(.exact)
        if exact || peek().token == .keyword(.cardinality) {
            try expect(.cardinality)
            return try cardinality(.tagValuesCardinality(exact: exact), hasKey: true)
        }
        var show = ShowStatement(subject: .tagValues)
        try onAndFrom(&show)
        show.key = try keyFilter()
        show.condition = try condition()
        _ = try order()
        show.limits = try limits(series: false)
        return show
    }

    private mutating func showSeries() throws(DatabaseError) -> ShowStatement {
        _ = next()
        let exact = take(.exact)
        if exact || peek().token == .keyword(.cardinality) {
            try expect(.cardinality)
            return try cardinality(.seriesCardinality(exact: exact), hasKey: false)
        }
        var show = ShowStatement(subject: .series)
        try onAndFrom(&show)
        show.condition = try condition()
        _ = try order()
        show.limits = try limits(series: false)
        return show
    }

    /// Parses the part after CARDINALITY, which all forms share.
    private mutating func cardinality(
        _ subject: ShowSubject, hasKey: Bool
    ) throws(DatabaseError) -> ShowStatement {
        var show = ShowStatement(subject: subject)
        try onAndFrom(&show)
        if hasKey { show.key = try keyFilter() }
        show.condition = try condition()
        _ = try dimensions()
        show.limits = try limits(series: false)
        return show
    }

    private mutating func onAndFrom(_ show: inout ShowStatement) throws(DatabaseError) {
        if take(.on) { _ = try identifier() }
        if take(.from) { show.sources = try sources(allowSubqueries: false) }
    }

    private mutating func keyFilter() throws(DatabaseError) -> KeyFilter {
        try expect(.with)
        try expect(.key)
        if take(.inList) {
            try expect(.leftParenthesis)
            let names = try identifiers()
            try expect(.rightParenthesis)
            return .names(Set(names.map { Name($0) }), negated: false)
        }
        for (symbol, negated) in [(Operator.equal, false), (.notEqual, true)]
        where take(.symbol(symbol)) {
            return .names([Name(try identifier())], negated: negated)
        }
        for (symbol, negated) in [(Operator.matches, false), (.matchesNot, true)]
        where take(.symbol(symbol)) {
            guard let regex = try regexIfAhead() else { throw unexpected(["regex"]) }
            return .pattern(regex, negated: negated)
        }
        throw unexpected(["IN", "=", "=~"])
    }
}
