// The statements behind the questions of a study. Each is self-contained, so that it can be copied,
// modified and run with `cozdb query`.

internal import CozDB

struct StudyStatements {
    let experiment: String
    let tag: String
    let zone: TimeZoneRules
    let options: StudyOptions
    /// Whether the experiment has a field with the name of the tag.
    let isTagAlsoField: Bool
    /// Whether rows of one series can have different participants.
    let isTagAttribute: Bool
    /// The time of the last value in the experiment. Nil while unknown.
    var last: Timestamp?

    private var source: String { QueryLanguage.nameText(experiment) }
    private var group: String { QueryLanguage.nameText(tag) }
    private var survey: String { QueryLanguage.nameText(options.surveyField) }

    /// Lists all fields of all participants, regardless of the time range.
    var everything: String {
        "SHOW FIELDS FROM \(source) GROUP BY \(group)"
    }

    var overview: String {
        "SHOW FIELDS FROM \(source)\(condition()) GROUP BY \(group)"
    }

    /// - Parameter start: the field with the start time of a survey, if there is one.
    func responses(start: String?) -> String {
        let surveys = start.map {
            ", count(distinct(\(QueryLanguage.nameText($0)))) AS surveys"
        }
        return "SELECT count(\(survey)) AS responses\(surveys ?? "") FROM \(source)"
            + condition(.days) + perDay
    }

    var votes: String {
        "SELECT count(response) AS responses, count(vote) AS valid FROM (SELECT \(survey) AS "
            + "response FROM \(source)\(chosen)), (\(validVotes))" + times(.days) + perDay
    }

    /// - Parameter field: the field that stores the goal. Nil if the options give a goal.
    func goal(field: String?) -> String {
        let value = field.map { QueryLanguage.nameText($0) }
        return "SELECT count(response) AS responses, count(vote) AS valid"
            + (value == nil ? "" : ", last(goal) AS goal")
            + " FROM (SELECT \(survey) AS response"
            + (value.map { ", \($0) AS goal" } ?? "")
            + " FROM \(source)\(chosen)), (\(validVotes))" + times(.daysFromTheFirst) + perDay
    }

    private var validVotes: String {
        // A condition on an attribute would choose which votes of a series count.
        "SELECT valid_votes(\(survey), \(gap)) AS vote FROM \(source)"
            + (isTagAttribute ? "" : chosen)
    }

    private var gap: String {
        let parts = options.minGap.components
        let nanoseconds =
            parts.seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let sum = nanoseconds.partialValue.addingReportingOverflow(
            parts.attoseconds / 1_000_000_000)
        let isOver = nanoseconds.overflow || sum.overflow
        return DurationText.text(isOver ? .max : sum.partialValue)
    }

    func silence(_ fields: [String]) -> String {
        let ages = fields.map {
            let name = QueryLanguage.nameText($0)
            return "age(\(name), 1ns) AS \(name)"
        }
        return "SELECT \(ages.joined(separator: ", ")) FROM \(source)\(condition(.now)) "
            + "GROUP BY \(group)"
    }

    func last(_ field: String) -> String {
        "SELECT last(\(QueryLanguage.nameText(field))) FROM \(source)\(condition(.now)) "
            + "GROUP BY \(group)"
    }

    func availability(_ fields: [String]) -> String {
        let counts = fields.map {
            let name = QueryLanguage.nameText($0)
            return "count(\(name)) AS \(name)"
        }
        return "SELECT \(counts.joined(separator: ", ")) FROM \(source)" + condition(.days)
            + perDay
    }

    func intervals(_ fields: [String]) -> String {
        let steps = fields.map {
            let name = QueryLanguage.nameText($0)
            return "elapsed(\(name), 1ms) AS \(name)"
        }
        return "SELECT \(statistics(fields, ["count", "median", "p90", "max"])) FROM (SELECT "
            + steps.joined(separator: ", ") + " FROM \(source)\(chosen) GROUP BY \(group))"
            + times() + groups(options.isByParticipant ? [group] : [])
    }

    func delays(_ arrivals: [Arrival]) -> String {
        let hasTrigger = arrivals.contains { $0.trigger != nil }
        let sources = arrivals.map { arrival in
            let delays = arrival.moments.map { "delay(\(QueryLanguage.nameText($0)), 1s)" }
            let delay =
                delays.count == 1 ? delays[0] : "coalesce(\(delays.joined(separator: ", ")))"
            let trigger = arrival.trigger.map { ", \(QueryLanguage.nameText($0)) AS trigger" }
            return "(SELECT \(delay) AS \(QueryLanguage.nameText(arrival.column))"
                + "\(trigger ?? "") FROM \(source)\(chosen))"
        }
        let columns = arrivals.map(\.column)
        return "SELECT "
            + statistics(columns, ["count", "min", "median", "p90", "p99", "max"])
            + " FROM " + sources.joined(separator: ", ") + times()
            + groups(
                (options.isByParticipant ? [group] : [])
                    + (hasTrigger ? ["trigger::field"] : []))
    }

    /// Returns result columns with statistics of each field. With several fields, the alias
    /// includes the field name.
    private func statistics(_ fields: [String], _ functions: [String]) -> String {
        let columns = fields.flatMap { field in
            functions.map { function in
                let name = QueryLanguage.nameText(field)
                let isRank = function.hasBytePrefix("p")
                let call =
                    isRank ? "percentile(\(name), \(function.dropFirst()))" : "\(function)(\(name))"
                let alias = fields.count > 1 ? "\(field)_\(function)" : function
                return "\(call) AS \(QueryLanguage.nameText(alias))"
            }
        }
        return columns.joined(separator: ", ")
    }

    // MARK: Clauses

    /// Returns only buckets with values. The others are known to be empty.
    private var perDay: String { " GROUP BY time(1d), \(group) fill(none)" + zoneClause }

    private var zoneClause: String {
        let name = zone.name
        return name == "UTC" ? "" : " tz(\(QueryLanguage.stringText(name)))"
    }

    private func groups(_ dimensions: [String]) -> String {
        dimensions.isEmpty ? "" : " GROUP BY " + dimensions.joined(separator: ", ")
    }

    private func condition(_ bounds: Bounds = .all) -> String {
        clause(participantParts + timeParts(bounds))
    }

    /// Restricts participants only. Used in subqueries, whose tags are hidden from the outer
    /// statement.
    private var chosen: String { clause(participantParts) }

    /// Restricts times only. Used around subqueries.
    private func times(_ bounds: Bounds = .all) -> String { clause(timeParts(bounds)) }

    private func clause(_ parts: [String]) -> String {
        parts.isEmpty ? "" : " WHERE " + parts.joined(separator: " AND ")
    }

    private var participantParts: [String] {
        let names = options.participants.map { QueryLanguage.stringText($0) }
        if names.isEmpty { return [] }
        let tag = group + (isTagAlsoField ? "::tag" : "")
        return names.count == 1
            ? ["\(tag) = \(names[0])"] : ["\(tag) IN (\(names.joined(separator: ", ")))"]
    }

    private enum Bounds {
        /// The range in the options.
        case all
        /// The range in the options, for GROUP BY time, which otherwise ends now.
        case days
        /// Like `days`, but without a lower bound.
        case daysFromTheFirst
        /// The range in the options, but not after now.
        case now
    }

    private func timeParts(_ bounds: Bounds) -> [String] {
        var parts: [String] = []
        if let from = options.from, bounds != .daysFromTheFirst {
            parts.append("time >= '\(zone.text(from))'")
        }
        let now = options.query.currentTime
        if bounds == .now, let last, last > now, options.until.map({ $0 > now }) ?? true {
            // Values after now must not end a silence. They come from phones with a wrong clock, or
            // `now` is in the past.
            parts.append("time <= '\(zone.text(now))'")
        } else if let until = options.until {
            parts.append("time < '\(zone.text(until))'")
        } else if bounds == .days || bounds == .daysFromTheFirst, let last, last > now {
            // Include values after now, from phones with a wrong clock.
            parts.append("time <= '\(zone.text(last))'")
        }
        return parts
    }
}

/// The fields that store when and why data arrived.
struct Arrival {
    /// The field that arrived. Nil for whole rows.
    var field: String?
    /// The column of the delays.
    var column: String
    /// The fields with the arrival time, in order of preference. The first that is not null is
    /// used.
    var moments: [String]
    var trigger: String?
}
