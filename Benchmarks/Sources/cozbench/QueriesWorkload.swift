// The fourteen queries of the comparison with other stores, warm, on one open database. Their
// constants come from the data, so any database of Cozie data works.

internal import CozDB

/// Names and times in the data that the queries use.
struct QueryConstants {
    /// The experiment with the most rows.
    var experiment: String
    /// The second participant in order, or the only one.
    var participant: String
    var first: Int64
    var last: Int64
    /// The first thirty numeric fields by name.
    var numeric: [String]
    /// A float field, and up to five fields, that the data has.
    var noise: String
    var five: [String]

    private static let noises = ["ts_audio_exposure_environment", "ts_walking_distance"]
    private static let fives =
        ["ts_heart_rate", "ts_step_count"] + noises
        + ["ts_HRV", "ts_oxygen_saturation", "ws_heart_rate", "ts_latitude"]

    static let day: Int64 = 86_400_000_000_000

    var source: String { "FROM \"\(experiment)\"" }
    /// A condition that covers all days of the data.
    var span: String { "time >= \(first / Self.day * Self.day) AND time <= \(last)" }

    init(_ database: Database) throws(DatabaseError) {
        let experiments = try database.info().experiments
        guard let largest = experiments.max(by: { $0.rows < $1.rows }),
            let first = largest.firstTime, let last = largest.lastTime
        else { throw DatabaseError(.usage, "the database is empty") }
        experiment = largest.name
        self.first = first.nanoseconds
        self.last = last.nanoseconds
        let tags = try database.query(
            "SHOW TAG VALUES FROM \"\(largest.name)\" WITH KEY = id_participant LIMIT 2")
        let series = tags.series.first
        let names = series.map { QueryConstants.strings($0, "value") } ?? []
        participant = names.last ?? ""
        let schema = try database.schemas().first { $0.name == largest.name }
        let fields = (schema?.columns ?? []).filter {
            $0.kind == .field && ($0.type == .integer || $0.type == .float)
        }
        let known = Set((schema?.columns ?? []).map(\.name))
        noise = QueryConstants.noises.first { known.contains($0) } ?? "ts_heart_rate"
        five = Array(QueryConstants.fives.filter { known.contains($0) }.prefix(5))
        numeric = Array(fields.map(\.name).sorted().prefix(30))
    }

    private static func strings(_ series: QueryResult.Series, _ name: String) -> [String] {
        guard let column = series.column(name) else { return [] }
        return (0..<series.rowCount).map { column.text($0) }
    }
}

enum QueriesWorkload {
    typealias Question = (name: String, what: String, text: String)

    /// All questions: name, meaning, statement.
    static func table(_ it: QueryConstants) -> [Question] {
        ofOneOrAll(it) + ofParticipants(it)
    }

    private static func ofOneOrAll(_ it: QueryConstants) -> [Question] {
        let (from, all, day) = (it.source, it.span, QueryConstants.day)
        let middle = it.first / day * day + (it.last - it.first) / (2 * day) * day
        let one = "id_participant = '\(it.participant)'"
        let week = "time >= \(middle - 7 * day / 2) AND time < \(middle + 7 * day / 2)"
        let oneDay = "time >= \(middle) AND time < \(middle + day)"
        let five = it.five.joined(separator: ", ")
        return [
            (
                "Q1", "rows per participant",
                "SELECT count(transmit_trigger) \(from) GROUP BY id_participant"
            ),
            (
                "Q2", "mean by hour, one participant, one week",
                "SELECT mean(ts_heart_rate) \(from) WHERE \(one) AND \(week) "
                    + "GROUP BY time(1h) fill(none)"
            ),
            (
                "Q3", "mean by day and participant",
                "SELECT mean(ts_heart_rate) \(from) WHERE \(all) "
                    + "GROUP BY time(1d), id_participant fill(none)"
            ),
            (
                "Q4", "max, min, mean over all",
                "SELECT max(ts_heart_rate), min(ts_heart_rate), mean(ts_heart_rate) \(from)"
            ),
            (
                "Q5", "last of each field, one participant",
                "SELECT last(*) \(from) WHERE \(one)"
            ),
            (
                "Q6", "five columns, one participant, one day",
                "SELECT \(five) \(from) WHERE \(one) AND \(oneDay)"
            ),
            (
                "Q7", "all columns, one participant, one day",
                "SELECT * \(from) WHERE \(one) AND \(oneDay)"
            ),
        ]
    }

    private static func ofParticipants(_ it: QueryConstants) -> [Question] {
        let (from, all, noise) = (it.source, it.span, it.noise)
        let means = it.numeric.map { "mean(\"\($0)\")" }.joined(separator: ", ")
        return [
            (
                "Q8", "count of one answer by participant",
                "SELECT count(q_preference_thermal) \(from) "
                    + "WHERE q_preference_thermal = 'Warmer' GROUP BY id_participant"
            ),
            (
                "Q9", "coalesce of two fields, mean by hour",
                "SELECT mean(v) FROM (SELECT coalesce(ts_heart_rate, ws_heart_rate) AS v "
                    + "\(from) WHERE \(all)) WHERE \(all) GROUP BY time(1h) fill(none)"
            ),
            (
                "Q10", "95th percentile and median by participant",
                "SELECT percentile(\(noise), 95), median(\(noise)) \(from) GROUP BY id_participant"
            ),
            (
                "Q11", "days with a survey by participant",
                "SELECT count(c) FROM (SELECT count(ws_survey_count) AS c \(from) WHERE \(all) "
                    + "GROUP BY time(1d), id_participant fill(none)) WHERE \(all) "
                    + "GROUP BY id_participant"
            ),
            (
                "Q12", "top ten participants by steps",
                "SELECT top(s, id_participant, 10) FROM (SELECT sum(ts_step_count) AS s \(from) "
                    + "GROUP BY id_participant)"
            ),
            (
                "Q13", "last ten minutes, all participants",
                "SELECT id_participant, ts_heart_rate, ts_latitude, transmit_trigger \(from) "
                    + "WHERE time >= \(it.last - 600_000_000_000)"
            ),
            ("Q14", "mean of thirty columns", "SELECT \(means) \(from)"),
        ]
    }

    /// Prints the time from the statement's text to its collected answer.
    ///
    /// - Parameter name: Name of the only question to run; nil runs all.
    static func run(path: String, repeats: Int, name: String?) throws(DatabaseError) {
        let database = try Database.open(path, access: .readOnly)
        let constants = try QueryConstants(database)
        let questions = table(constants).filter { name == nil || $0.name == name }
        if questions.isEmpty { throw DatabaseError(.usage, "no query of this name; Q1 to Q14") }
        print("\(constants.experiment), participant \(constants.participant); milliseconds")
        for question in questions {
            let (times, rows) = try ask(question, of: database, repeats: repeats)
            print(
                "\(question.name.padded(to: 5))\(question.what.padded(to: 43))"
                    + "least \(digits(times.least * 1e3).padded(to: 8))"
                    + "median \(digits(times.median * 1e3).padded(to: 8))\(rows) rows")
        }
    }

    /// Runs a question repeatedly and returns the time of each run and the rows of the answer.
    static func ask(
        _ question: Question, of database: Database, repeats: Int
    ) throws(DatabaseError) -> (times: Durations, rows: Int) {
        var (times, rows) = (Durations(), 0)
        for _ in 0..<repeats {
            let start = Clock.now()
            let result = try database.query(question.text)
            times.append(Clock.now() - start)
            if let error = result.statements.first?.error { throw error }
            rows = result.series.reduce(0) { $0 + $1.rowCount }
        }
        return (times, rows)
    }
}
