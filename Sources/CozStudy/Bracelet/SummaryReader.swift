// Statements of summaries: a whole range of days in one, grouped by slot in local time. Names go
// into the text quoted, participants as bound parameters.

internal import CozDB

/// One column of a statement: an aggregate of the first of some fields with a value.
struct SummaryColumn {
    /// `mean`, `sum`, `last`, `max`, `mode`, `count`; nil for the value itself.
    var function: String?
    var fields: [String]

    init(function: String? = nil, fields: [String]) {
        self.function = function
        self.fields = fields
    }

    var text: String { function.map { "\($0)(\(value))" } ?? value }

    private var value: String {
        let names = fields.map { SummaryReader.quoted($0) }
        return names.count == 1 ? names[0] : "coalesce(\(names.joined(separator: ", ")))"
    }
}

/// Rows that all have values of `column` on the right side of a number.
struct SummaryCondition {
    var column: SummaryColumn
    /// `>=` or `<=`.
    var comparison: String
    var number: Double
}

/// What a statement answered of one participant: rows in the order of time.
struct SummaryRows {
    var participant: String
    /// Begins of slots, or times of rows, in nanoseconds since 1970.
    var times: [Int64] = []
    /// As many as the statement had; each as long as `times`.
    var columns: [[Double?]] = []
}

/// Asks a snapshot for what summaries are computed from.
struct SummaryReader {
    let snapshot: DatabaseSnapshot
    let request: SummaryRequest
    let schema: ExperimentSchema
    /// The tag that names the participant.
    let participantTag: String
    /// First moments of the days, and of the day after.
    let dayStarts: [Int64]

    /// - Throws: `usage` for a request that cannot be; `notFound` for an unknown experiment.
    init(_ snapshot: DatabaseSnapshot, _ request: SummaryRequest) throws(DatabaseError) {
        try request.check()
        self.snapshot = snapshot
        self.request = request
        let schemas = snapshot.schemas
        let wanted = Array(request.experiment.utf8)
        guard let schema = schemas.first(where: { Array($0.name.utf8) == wanted }) else {
            let names = schemas.map(\.name)
            let there = names.prefix(10).map { "\"\($0)\"" }.joined(separator: ", ")
            throw DatabaseError(
                .notFound,
                "no experiment \"\(request.experiment)\"; there "
                    + (names.isEmpty ? "are none" : "is \(there)")
                    + NameSuggestion.text(request.experiment, among: names))
        }
        self.schema = schema
        if case .participant(let tag) = schema.identity {
            participantTag = tag
        } else {
            participantTag = "id_participant"
        }
        dayStarts = (0...request.dayCount).map {
            request.zone.start(of: request.firstDay.advanced(by: $0)).nanoseconds
        }
    }

    // MARK: Statements

    /// Aggregates of slots that have a value, in the days asked for.
    func slots(
        _ columns: [SummaryColumn], where conditions: [SummaryCondition], seconds: Int
    ) throws(DatabaseError) -> [SummaryRows] {
        try ask(
            columns, conditions, from: dayStarts[0], to: dayStarts[request.dayCount],
            groups: "time(\(seconds)s), ", fill: " fill(none)")
    }

    /// Values row by row in a span of time.
    func values(
        _ columns: [SummaryColumn], from lower: Int64, to upper: Int64
    ) throws(DatabaseError) -> [SummaryRows] {
        try ask(columns, [], from: lower, to: upper, groups: "", fill: "")
    }

    /// Aggregates of slots in a span of time.
    func slots(
        _ columns: [SummaryColumn], seconds: Int, from lower: Int64, to upper: Int64
    ) throws(DatabaseError) -> [SummaryRows] {
        try ask(
            columns, [], from: lower, to: upper, groups: "time(\(seconds)s), ",
            fill: " fill(none)")
    }

    private func ask(
        _ columns: [SummaryColumn], _ conditions: [SummaryCondition], from lower: Int64,
        to upper: Int64, groups: String, fill: String
    ) throws(DatabaseError) -> [SummaryRows] {
        guard lower < upper else { return try answer([], columnCount: columns.count) }
        let list = columns.enumerated().map { "\($1.text) AS c\($0)" }
        let tag = SummaryReader.quoted(participantTag) + "::tag"
        var tests = ["time >= \(lower)", "time < \(upper)"]
        if !request.participants.isEmpty {
            let whose = request.participants.indices.map { "\(tag) = $p\($0)" }
            tests.append("(\(whose.joined(separator: " OR ")))")
        }
        for (index, condition) in conditions.enumerated() {
            tests.append("\(condition.column.text) \(condition.comparison) $n\(index)")
        }
        let text =
            "SELECT \(list.joined(separator: ", ")) FROM \(SummaryReader.quoted(schema.name)) "
            + "WHERE \(tests.joined(separator: " AND ")) GROUP BY \(groups)\(tag)\(fill) "
            + "tz(\(SummaryReader.quoted(request.zone.name, by: "'")))"
        var options = options
        for (index, condition) in conditions.enumerated() {
            options.parameters["n\(index)"] = .value(.float(condition.number))
        }
        let result = try snapshot.query(text, options: options)
        return try answer(result.series, columnCount: columns.count)
    }

    private var options: QueryOptions {
        var options = QueryOptions(now: request.now)
        options.isCancelled = request.isCancelled
        for (index, participant) in request.participants.enumerated() {
            options.parameters["p\(index)"] = .value(.string(participant))
        }
        return options
    }

    /// Rows by participant, in the order asked for, else in byte order; those without any too.
    private func answer(
        _ series: [QueryResult.Series], columnCount: Int
    ) throws(DatabaseError) -> [SummaryRows] {
        let found = series.map { one in
            SummaryRows(
                participant: one.tag(participantTag) ?? "", times: one.times.map(\.nanoseconds),
                columns: one.columns.dropFirst().map(\.doubles))
        }
        if request.participants.isEmpty { return found }
        var rows: [SummaryRows] = []
        for participant in request.participants {
            let bytes = Array(participant.utf8)
            if let one = found.first(where: { Array($0.participant.utf8) == bytes }) {
                rows.append(one)
            } else {
                try checkKnown(participant)
                let none = Array(repeating: [Double?](), count: columnCount)
                rows.append(SummaryRows(participant: participant, columns: none))
            }
        }
        return rows
    }

    /// A day without data is one thing, a misspelt name another.
    private func checkKnown(_ participant: String) throws(DatabaseError) {
        let tag = SummaryReader.quoted(participantTag)
        let result = try snapshot.query(
            "SHOW TAG VALUES FROM \(SummaryReader.quoted(schema.name)) WITH KEY = \(tag)",
            options: options)
        let names = result.series.flatMap { $0.column("value")?.texts.compactMap(\.self) ?? [] }
        let bytes = Array(participant.utf8)
        if names.contains(where: { Array($0.utf8) == bytes }) { return }
        throw DatabaseError(
            .notFound,
            "experiment \"\(schema.name)\" has no participant \"\(participant)\" (tag "
                + "\(participantTag))" + NameSuggestion.text(participant, among: names))
    }

    /// A name as the query language reads it, whatever is in it; by single quotes a string.
    static func quoted(_ name: String, by quote: Unicode.Scalar = "\"") -> String {
        var text = String(quote)
        for scalar in name.unicodeScalars {
            switch scalar {
            case quote, "\\": text += "\\\(scalar)"
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + String(quote)
    }
}
