// SELECT as the language's description has it, row by row: no blocks, no statistics, no order of
// execution but the one in which a person would explain it. Statements come as syntax trees;
// everything after that is done here in its own way.

@testable internal import CozDB

/// One statement on the way to its answer.
struct NaiveQuery {
    /// What a subquery takes over from the statement around it.
    struct OuterQuery {
        var first: Int64?
        var last: Int64?
        var buckets: NaiveBuckets?
        var dimensions: [NaiveDimension]
        var isAscending: Bool
    }

    /// An answer with what a statement around it may ask of it.
    struct Output {
        var answers: [NaiveAnswer] = []
        /// Names before they were made unique, with types.
        var columns: [(name: String, type: FieldType?, isTag: Bool)] = []
        var ownTags: Set<String> = []
        var allTags: Set<String> = []
    }

    let database: NaiveDatabase
    let now: Int64
    let statement: SelectStatement
    let surroundings: OuterQuery?

    var first: Int64?
    var last: Int64?
    var condition: Expression?
    var buckets: NaiveBuckets?
    var hasOwnInterval = false
    var isAscending = true
    var dimensions: [NaiveDimension] = []
    var ownTags: Set<String> = []
    var tables: [NaiveTable] = []
    var fields: [NaiveField] = []
    var calls: [NaiveCall] = []

    static func run(
        _ statement: SelectStatement, _ database: NaiveDatabase, now: Int64,
        inside surroundings: OuterQuery? = nil
    ) throws -> Output {
        var query = NaiveQuery(
            database: database, now: now, statement: statement, surroundings: surroundings)
        return try query.run()
    }

    init(
        database: NaiveDatabase, now: Int64, statement: SelectStatement,
        surroundings: OuterQuery?
    ) {
        self.database = database
        self.now = now
        self.statement = statement
        self.surroundings = surroundings
    }

    private mutating func run() throws -> Output {
        let zone = statement.zone
        buckets = try NaiveBuckets(statement.dimensions, zone: zone, now: now)
        hasOwnInterval = buckets != nil
        if buckets == nil { buckets = surroundings?.buckets }
        isAscending = surroundings?.isAscending ?? statement.isAscending ?? true
        var bounds = NaiveTimeBounds(now: now, zone: zone)
        condition = try statement.condition.flatMap { try bounds.split($0) }
        (first, last) = (bounds.first, bounds.last)
        if let bound = surroundings?.first { first = max(first ?? bound, bound) }
        if let bound = surroundings?.last { last = min(last ?? bound, bound) }
        if last == nil, hasOwnInterval { last = now }

        let extra = try extraBuckets()
        tables = try statement.sources.reduce(into: []) { tables, source in
            tables += try self.tables(source, extraBuckets: extra, tables)
        }
        resolveDimensions()
        try expandFields()
        var output = Output()
        output.ownTags = ownTags
        output.allTags = Set(dimensions.map(\.name))
        output.columns = fields.map {
            (name: $0.name, type: $0.type, isTag: isTag($0.expression))
        }
        guard (first ?? .min) <= (last ?? .max) else { return output }
        output.answers = calls.isEmpty ? try raw() : try aggregated()
        return output
    }

    // MARK: Sources

    private func tables(
        _ source: Source, extraBuckets: [Int64], _ known: [NaiveTable]
    ) throws -> [NaiveTable] {
        switch source {
        case .subquery(let inner):
            // Functions of neighbouring buckets need one before the range, also from a subquery.
            var names = surroundings?.dimensions ?? []
            for case .reference(let reference) in statement.dimensions {
                names.append(NaiveDimension(name: reference.name, isField: false))
            }
            // Each call has its own range.
            return try extraBuckets.map { extra in
                let range = extended(by: extra)
                let output = try NaiveQuery.run(
                    inner, database, now: now,
                    inside: OuterQuery(
                        first: range.first, last: range.last, buckets: buckets, dimensions: names,
                        isAscending: isAscending))
                return table(output, extra)
            }
        case .pattern(let regex, _, _):
            return database.experiments.sorted { NaiveKey([$0.name]) < NaiveKey([$1.name]) }
                .filter { NaiveRegex.matches(regex.pattern, $0.name) }
                .map { database.table($0) }
                .filter { table in !known.contains { $0.series.first?.name == table.series[0].name }
                }
        case .experiment(let name, _, _):
            return database.experiments.filter { $0.name == name }.map { database.table($0) }
                .filter { table in !known.contains { $0.series.first?.name == table.series[0].name }
                }
        }
    }

    private func table(_ output: Output, _ extraBuckets: Int64) -> NaiveTable {
        var table = NaiveTable(
            fields: [:], tags: output.ownTags, groupTags: output.allTags, isSubquery: true,
            extraBuckets: extraBuckets)
        for column in output.columns.reversed() {
            // Of several columns with one name the first is meant.
            table.fields[column.name] = column.type
            if column.isTag {
                table.selectedTags.insert(column.name)
            } else {
                table.selectedTags.remove(column.name)
            }
        }
        for answer in output.answers {
            var series = NaiveSeries(name: answer.name, rows: [])
            var tags: [String: String] = [:]
            for tag in answer.tags where !tag.value.isEmpty { tags[tag.name] = tag.value }
            for (time, values) in answer.rows {
                var row = NaiveRow(time: time, tags: tags, values: [:])
                for (column, value) in zip(output.columns, values).reversed() {
                    row.values[column.name] = value
                }
                series.rows.append(row)
            }
            if !isAscending { series.rows.reverse() }
            table.series.append(series)
        }
        return table
    }

    func extended(by extraBuckets: Int64) -> (first: Int64?, last: Int64?) {
        guard let buckets else { return (first, last) }
        let span = extraBuckets * buckets.interval
        return isAscending
            ? (first.map { $0 - span }, last) : (first, last.map { $0 + span })
    }

    // MARK: Groups

    private mutating func resolveDimensions() {
        var found: [String: NaiveDimension] = [:]
        var allTags: Set<String> = []
        for table in tables { allTags.formUnion(table.tags) }
        for dimension in statement.dimensions {
            switch dimension {
            case .reference(let reference):
                let isField = reference.kind != .any && reference.kind != .tag
                found[reference.name] = NaiveDimension(name: reference.name, isField: isField)
            case .wildcard:
                for tag in allTags { found[tag] = NaiveDimension(name: tag, isField: false) }
            case .regex(let regex):
                for tag in allTags where NaiveRegex.matches(regex.pattern, tag) {
                    found[tag] = NaiveDimension(name: tag, isField: false)
                }
            default: break
            }
        }
        ownTags = Set(found.keys)
        for dimension in surroundings?.dimensions ?? [] where found[dimension.name] == nil {
            found[dimension.name] = dimension
        }
        dimensions = found.values.sorted { NaiveKey([$0.name]) < NaiveKey([$1.name]) }
    }

    /// The values of GROUP BY for a row.
    private func groupValues(_ row: NaiveRow, _ table: NaiveTable) -> [String] {
        dimensions.map { dimension in
            if dimension.isField {
                switch row.values[dimension.name] {
                case .string(let text)?: return text
                case .boolean(let flag)?: return flag ? "true" : "false"
                default: return ""
                }
            }
            return table.groupTags.contains(dimension.name) ? row.tags[dimension.name] ?? "" : ""
        }
    }

    struct Group {
        var name: String
        var values: [String]
        /// In series order, then by time.
        var rows: [(row: NaiveRow, table: Int)] = []
    }

    /// Rows that WHERE accepts, in the order of the groups.
    func groups(first: Int64?, last: Int64?) throws -> [Group] {
        var groups: [NaiveKey: Group] = [:]
        for (index, table) in tables.enumerated() {
            let fieldNames = Set(tables.flatMap { $0.fields.keys })
            let condition = NaiveCondition(
                table: table, fieldNames: fieldNames, type: type(of:))
            for series in table.series {
                // The bounds of a subquery's rows were its own: its buckets may begin before them.
                for row in series.rows
                where table.isSubquery
                    || row.time >= first ?? .min && row.time <= last ?? .max
                {
                    guard try condition.holds(self.condition, row) else { continue }
                    let values = groupValues(row, table)
                    let key = NaiveKey([series.name] + values)
                    groups[key, default: Group(name: series.name, values: values)].rows
                        .append((row, index))
                }
            }
        }
        let keys = groups.keys.sorted { isAscending ? $0 < $1 : $1 < $0 }
        return keys.compactMap { groups[$0] }
    }

    // MARK: Raw rows

    private func raw() throws -> [NaiveAnswer] {
        let references = fields.flatMap { $0.expression.naiveReferences }
        var answers: [NaiveAnswer] = []
        for group in try groups(first: first, last: last) {
            var kept = group.rows.filter { row, table in
                // Tags alone make no rows; a subquery's rows are all there is.
                if tables[table].isSubquery {
                    return references.contains {
                        tables[table].isField($0) || tables[table].tags.contains($0.name)
                    }
                }
                return references.contains {
                    tables[table].isField($0)
                        && tables[table].value($0, row, type(of: $0)) != nil
                }
            }
            kept = stablySorted(kept)
            if !isAscending { kept.reverse() }
            let rows = try kept.map { row, table in
                (
                    time: row.time,
                    values: try fields.map { field in
                        try evaluate(
                            field,
                            reference: {
                                tables[table].value($0, row, type(of: $0))
                            }, call: { _ in nil })
                    }
                )
            }
            append(group, rows, to: &answers)
        }
        return limitedSeries(answers)
    }

    func stablySorted(
        _ rows: [(row: NaiveRow, table: Int)]
    ) -> [(row: NaiveRow, table: Int)] {
        rows.enumerated().sorted {
            $0.element.row.time == $1.element.row.time
                ? $0.offset < $1.offset : $0.element.row.time < $1.element.row.time
        }.map(\.element)
    }

    /// LIMIT and OFFSET; a series without rows is none, but counts if it had any.
    func append(
        _ group: Group, _ rows: [(time: Int64, values: [FieldValue?])],
        to answers: inout [NaiveAnswer]
    ) {
        var rows = rows[...]
        if rows.isEmpty { return }
        rows = rows.dropFirst(statement.limits.offset ?? 0)
        if let limit = statement.limits.limit, limit > 0 { rows = rows.prefix(limit) }
        let tags = zip(dimensions, group.values).map { (name: $0.name, value: $1) }
        answers.append(
            NaiveAnswer(
                name: group.name, tags: tags, columns: columnNames(), rows: Array(rows)))
    }

    /// SLIMIT and SOFFSET, for each experiment of its own; they count by ascending keys.
    func limitedSeries(_ answers: [NaiveAnswer]) -> [NaiveAnswer] {
        let kept = limitedAscending(isAscending ? answers : answers.reversed())
        return isAscending ? kept : kept.reversed()
    }

    private func limitedAscending(_ answers: [NaiveAnswer]) -> [NaiveAnswer] {
        let offset = statement.limits.seriesOffset ?? 0
        let limit = statement.limits.seriesLimit ?? 0
        var seen: [String: Int] = [:]
        return answers.filter { answer in
            let index = seen[answer.name, default: 0]
            seen[answer.name] = index + 1
            guard !answer.rows.isEmpty else { return false }
            return index >= offset && (limit == 0 || index < offset + limit)
        }
    }
}

/// One item of GROUP BY that is no time.
struct NaiveDimension {
    var name: String
    /// `name::field`
    var isField: Bool
}
