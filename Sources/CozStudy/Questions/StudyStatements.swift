// The statements behind the questions of a study: one for each, complete in itself, so that it can
// be copied, changed and asked again with `cozdb query`.

internal import CozDB

/// Writes the statements of one study.
struct StudyStatements {
    let experiment: String
    let tag: String
    let zone: TimeZoneRules
    let options: StudyOptions
    /// Time of the last value of all; nil while that is not known.
    var last: Timestamp?

    private var source: String { QueryLanguage.nameText(experiment) }
    private var group: String { QueryLanguage.nameText(tag) }
    private var survey: String { QueryLanguage.nameText(options.surveyField) }

    /// What the whole study holds, whatever range is asked for.
    var everything: String {
        "SHOW FIELDS FROM \(source) GROUP BY \(group)"
    }

    var overview: String {
        "SHOW FIELDS FROM \(source)\(condition()) GROUP BY \(group)"
    }

    /// - Parameter start: the field that says when a survey was begun, where there is one.
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

    /// - Parameter field: the field that holds the goal; nil where a number is given.
    func goal(field: String?) -> String {
        let value = field.map { QueryLanguage.nameText($0) }
        return "SELECT count(response) AS responses, count(vote) AS valid"
            + (value == nil ? "" : ", last(goal) AS goal")
            + " FROM (SELECT \(survey) AS response"
            + (value.map { ", \($0) AS goal" } ?? "")
            + " FROM \(source)\(chosen)), (\(validVotes))" + times(.daysFromTheFirst) + perDay
    }

    private var validVotes: String {
        "SELECT valid_votes(\(survey), \(gap)) AS vote FROM \(source)\(chosen)"
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

    /// Columns of statistics of each field, under names that say which where there are several.
    private func statistics(_ fields: [String], _ functions: [String]) -> String {
        let columns = fields.flatMap { field in
            functions.map { function in
                let name = QueryLanguage.nameText(field)
                let isRank = function.hasPrefix("p")
                let call =
                    isRank ? "percentile(\(name), \(function.dropFirst()))" : "\(function)(\(name))"
                let alias = fields.count > 1 ? "\(field)_\(function)" : function
                return "\(call) AS \(QueryLanguage.nameText(alias))"
            }
        }
        return columns.joined(separator: ", ")
    }

    // MARK: Clauses

    /// Only the buckets with a value: the others are known without being counted.
    private var perDay: String { " GROUP BY time(1d), \(group) fill(none)" + zoneClause }

    private var zoneClause: String {
        let name = zone.name
        return name == "UTC" ? "" : " tz(\(QueryLanguage.stringText(name)))"
    }

    private func groups(_ dimensions: [String]) -> String {
        dimensions.isEmpty ? "" : " GROUP BY " + dimensions.joined(separator: ", ")
    }

    /// Participants and times.
    private func condition(_ bounds: Bounds = .all) -> String {
        clause(participantParts + timeParts(bounds))
    }

    /// Participants alone, for subqueries: the statement around them does not know their tags.
    private var chosen: String { clause(participantParts) }

    /// Times alone, for statements around subqueries.
    private func times(_ bounds: Bounds = .all) -> String { clause(timeParts(bounds)) }

    private func clause(_ parts: [String]) -> String {
        parts.isEmpty ? "" : " WHERE " + parts.joined(separator: " AND ")
    }

    private var participantParts: [String] {
        let names = options.participants.map { QueryLanguage.stringText($0) }
        if names.isEmpty { return [] }
        return names.count == 1
            ? ["\(group) = \(names[0])"] : ["\(group) IN (\(names.joined(separator: ", ")))"]
    }

    private enum Bounds {
        /// As they were given.
        case all
        /// The same for days: they end now, unless a statement says otherwise.
        case days
        /// Days from the very first on.
        case daysFromTheFirst
        /// As they were given, and not after now.
        case now
    }

    private func timeParts(_ bounds: Bounds) -> [String] {
        var parts: [String] = []
        if let from = options.from, bounds != .daysFromTheFirst {
            parts.append("time >= '\(zone.text(from))'")
        }
        let now = options.query.now
        if bounds == .now, let last, last > now, options.until.map({ $0 > now }) ?? true {
            // What came later, of a study asked about as it was or of a phone whose clock is
            // wrong, ends no silence.
            parts.append("time <= '\(zone.text(now))'")
        } else if let until = options.until {
            parts.append("time < '\(zone.text(until))'")
        } else if bounds == .days || bounds == .daysFromTheFirst, let last, last > now {
            // Of a phone whose clock is wrong.
            parts.append("time <= '\(zone.text(last))'")
        }
        return parts
    }
}

/// Where it is stored when and why data arrived.
struct Arrival {
    /// The field it belongs to; nil for rows as a whole.
    var field: String?
    /// Fields with the moment, the better first: one is taken where the other is null.
    var moments: [String]
    /// The field with the reason.
    var trigger: String?

    /// The column of its delays.
    var column: String { field ?? "delay" }
}
