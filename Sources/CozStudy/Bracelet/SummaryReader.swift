// Builds and runs the statements of summaries. One statement covers all requested days and groups
// by slot in local time. Names are quoted; participants and numbers are bound parameters.

internal import CozDB

/// A result column: an aggregate of the first non-null of some fields.
struct SummaryColumn {
    /// `mean`, `sum`, `last`, `max`, `mode` or `count`. Nil selects the value itself.
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

/// A predicate that compares a column with a number.
struct SummaryCondition {
    var column: SummaryColumn
    /// `>=` or `<=`.
    var comparison: String
    var number: Double
}

/// The result rows of one participant, in time order.
struct SummaryRows {
    var participant: String
    /// The starts of slots or the times of rows, in nanoseconds since 1970.
    var times: [Int64] = []
    var columns: [[Double?]] = []
}

/// Queries a snapshot for the inputs of summaries.
struct SummaryReader {
    let snapshot: DatabaseSnapshot
    let request: SummaryRequest
    let schema: ExperimentSchema
    /// The name of the tag that identifies participants.
    let participantTag: String
    /// The start of each requested day and of the day after, in nanoseconds since 1970.
    let dayStarts: [Int64]

    /// - Throws: `usage` for an invalid request; `notFound` for an unknown experiment.
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
        participantTag = schema.identity.participantTag
        dayStarts = (0...request.dayCount).map {
            request.zone.start(of: request.firstDay.advanced(by: $0)).nanoseconds
        }
    }

    // MARK: Statements

    /// Returns aggregates of the non-empty slots in the requested days.
    func slots(
        _ columns: [SummaryColumn], where conditions: [SummaryCondition], seconds: Int
    ) throws(DatabaseError) -> [SummaryRows] {
        try ask(
            columns, conditions, from: dayStarts[0], to: dayStarts[request.dayCount],
            groups: "time(\(seconds)s), ", fill: " fill(none)")
    }

    func values(
        _ columns: [SummaryColumn], from lower: Int64, to upper: Int64
    ) throws(DatabaseError) -> [SummaryRows] {
        try ask(columns, [], from: lower, to: upper, groups: "", fill: "")
    }

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
            let names = request.participants.indices.map { "$p\($0)" }
            tests.append("\(tag) IN (\(names.joined(separator: ", ")))")
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
        let rows = try answer(result.series, columnCount: columns.count)
        let dayCount = rows.count * request.dayCount
        guard dayCount <= SummaryReader.dayCountMax else {
            throw DatabaseError(
                .limitExceeded,
                "found \(dayCount) days, one per day and participant, expected at most "
                    + "\(SummaryReader.dayCountMax); choose fewer days or participants")
        }
        return rows
    }

    /// The maximum number of days of all participants. A day takes about a kilobyte, even without
    /// data.
    private static let dayCountMax = 1_000_000

    private var options: QueryOptions {
        var options = QueryOptions(now: request.now)
        options.isGenerated = true
        options.isCancelled = request.isCancelled
        for (index, participant) in request.participants.enumerated() {
            options.parameters["p\(index)"] = .value(.string(participant))
        }
        return options
    }

    /// Returns rows by participant, in the requested order, else in byte order. Requested
    /// participants without rows get an empty entry.
    private func answer(
        _ series: [QueryResult.Series], columnCount: Int
    ) throws(DatabaseError) -> [SummaryRows] {
        let found = series.map { one in
            SummaryRows(
                participant: one.tag(participantTag) ?? "", times: one.times.map(\.nanoseconds),
                columns: one.columns.dropFirst().map(\.doubles))
        }
        if request.participants.isEmpty { return found }
        let places = Dictionary(
            found.enumerated().map { (Array($1.participant.utf8), $0) },
            uniquingKeysWith: { first, _ in first })
        // A participant without data is not an error, but an unknown one is.
        let isComplete = request.participants.allSatisfy { places[Array($0.utf8)] != nil }
        let names = isComplete ? [] : try participants()
        let known = Set(names.map { Array($0.utf8) })
        var rows: [SummaryRows] = []
        for participant in request.participants {
            if let place = places[Array(participant.utf8)] {
                rows.append(found[place])
                continue
            }
            guard known.contains(Array(participant.utf8)) else {
                throw DatabaseError(
                    .notFound,
                    "experiment \"\(schema.name)\" has no participant \"\(participant)\" (tag "
                        + "\(participantTag))" + NameSuggestion.text(participant, among: names))
            }
            let none = Array(repeating: [Double?](), count: columnCount)
            rows.append(SummaryRows(participant: participant, columns: none))
        }
        return rows
    }

    /// Returns the names of all participants of the experiment.
    private func participants() throws(DatabaseError) -> [String] {
        let tag = SummaryReader.quoted(participantTag)
        let result = try snapshot.query(
            "SHOW TAG VALUES FROM \(SummaryReader.quoted(schema.name)) WITH KEY = \(tag)",
            options: options)
        return result.series.flatMap { $0.column("value")?.texts.compactMap(\.self) ?? [] }
    }

    /// Returns a quoted identifier, or a string literal with single quotes.
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
