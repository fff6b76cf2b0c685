// What is asked of the researcher API, and the statement it makes of that.
//
// Source: cozie-apple-backend e29a13c, lambda_cozie-apple-v3-researcher-read-influx.

public import CozDB

/// A request to the researcher API: an experiment, participants, and what to leave out.
public struct ResearcherRequest: Sendable {
    /// The experiment.
    public var experiment: String
    /// The participants whose rows are wanted; empty: all. The API takes exactly one.
    public var participants: [String] = []
    /// Only rows with this `id_password`; nil: all rows. The API always asks for one, and answers
    /// a wrong one with no rows.
    public var password: String?
    /// The fields or tags wanted, in this order; empty: all fields in byte order.
    public var columns: [String] = []
    /// Only rows of the last so many days before `now`, of 24 hours; nil: all.
    public var days: Int?
    /// Only rows from this time on. The API has nothing like it.
    public var from: Timestamp?
    /// Only rows before this time. The API has nothing like it.
    public var to: Timestamp?
    /// In whose local time rows are stamped, such as `Asia/Singapore`; nil: UTC, as the API does.
    public var zone: String?
    /// Keeps columns without a value, which the API drops.
    public var keepsEmptyColumns = false
    /// Masks the values of columns that open doors (`QueryOptions.redactsSecrets`).
    public var redactsSecrets = false
    /// Puts an apostrophe in front of texts that a spreadsheet would take for formulas, which the
    /// API does not. Numbers stay as they are.
    public var marksFormulas = false
    /// What `days` counts back from.
    public var now: Timestamp

    /// Everything of an experiment.
    public init(experiment: String, now: Timestamp) {
        self.experiment = experiment
        self.now = now
    }
}

extension ResearcherRequest {
    /// Tags that the API asks for before all fields.
    static let tags = ["id_participant", "id_device", "id_password"]

    /// What the statement selects, in its order. A field called `time` cannot be: a statement
    /// takes that name for the times, which are in the file anyway.
    func selection(_ schema: ExperimentSchema) -> [String] {
        let fields = columns.isEmpty ? schema.fields.map(\.name) : columns
        return ResearcherRequest.tags + fields.filter { $0 != "time" }
    }

    /// The statement for some columns of the selection.
    func statement(_ names: [String], _ schema: ExperimentSchema) -> String {
        let tag = participantTag(schema)
        let items = names.map { name in
            // In an experiment whose participants have another tag that one is the participant.
            name == "id_participant" && tag != name
                ? "\(QueryText.name(tag)) AS \"id_participant\"" : QueryText.name(name)
        }
        return "SELECT \(items.joined(separator: ", ")) FROM \(QueryText.name(experiment))"
            + condition(schema)
    }

    /// The WHERE of the statement, with a blank before it; empty where all rows are wanted.
    package func condition(_ schema: ExperimentSchema) -> String {
        let conditions = conditions(participantTag(schema))
        return conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
    }

    private func participantTag(_ schema: ExperimentSchema) -> String {
        if case .participant(let tag) = schema.identity { return tag }
        return "id_participant"
    }

    private func conditions(_ tag: String) -> [String] {
        var conditions: [String] = []
        if !participants.isEmpty {
            let any = participants.map { "\(QueryText.name(tag)) = \(QueryText.string($0))" }
            conditions.append("(\(any.joined(separator: " OR ")))")
        }
        if let password {
            conditions.append("\"id_password\" = \(QueryText.string(password))")
        }
        if let days { conditions.append("time > now() - \(days)d") }
        if let from { conditions.append("time >= '\(from.text())'") }
        if let to { conditions.append("time < '\(to.text())'") }
        return conditions
    }
}

/// Names and strings as statements have them.
package enum QueryText {
    package static func name(_ name: String) -> String { "\"" + escaped(name, "\"") + "\"" }
    package static func string(_ text: String) -> String { "'" + escaped(text, "'") + "'" }

    private static func escaped(_ text: String, _ quote: Unicode.Scalar) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar == quote || scalar == "\\" { result.append("\\") }
            if scalar == "\n" {
                result.append(contentsOf: "\\n".unicodeScalars)
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }
}
