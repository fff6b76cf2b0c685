// A request to the researcher API, and the statement that the API derives from it.
//
// Source: cozie-apple-backend e29a13c, lambda_cozie-apple-v3-researcher-read-influx.

public import CozDB

/// A request to the researcher API: an experiment, participants, and filters.
public struct ResearcherRequest: Sendable {
    /// The name of the experiment.
    public var experiment: String
    /// The participants to export. Empty exports all. The API takes exactly one.
    public var participants: [String] = []
    /// Only exports rows with this `id_password`. Nil exports all rows. The API always requires a
    /// password, and returns no rows for a wrong one.
    public var password: String?
    /// The fields or tags to export, in this order. Empty exports all fields in byte order.
    public var columns: [String] = []
    /// Only exports rows of this many days of 24 hours before `now`. Nil exports all.
    public var days: Int?
    /// The inclusive start of the time range. The API has no such option.
    public var from: Timestamp?
    /// The exclusive end of the time range. The API has no such option.
    public var to: Timestamp?
    /// The time zone of the printed times, such as `Asia/Singapore`. Nil prints UTC, as the API
    /// does.
    public var zone: String?
    /// Whether to keep columns without values. The API drops them.
    public var keepsEmptyColumns = false
    /// Whether to mask the values of credential columns (`QueryOptions.redactsSecrets`).
    public var redactsSecrets = false
    /// Whether to put an apostrophe before texts that a spreadsheet would evaluate as formulas. The
    /// API does not. Numbers are unchanged.
    public var marksFormulas = false
    /// The end of the range that `days` selects.
    public var now: Timestamp

    /// Creates a request for all data of an experiment.
    public init(experiment: String, now: Timestamp) {
        self.experiment = experiment
        self.now = now
    }
}

extension ResearcherRequest {
    /// The tags that the API selects before all fields.
    static let tags = ["id_participant", "id_device", "id_password"]

    /// Returns the selected columns in order. Leaves out a field `time`, because statements reserve
    /// that name for the row time.
    func selection(_ schema: ExperimentSchema) -> [String] {
        let fields = columns.isEmpty ? schema.fields.map(\.name) : columns
        return ResearcherRequest.tags + fields.filter { $0 != "time" }
    }

    /// Of a tag and a field with one name, the statement selects the field, as the API does, but
    /// chooses rows by the tag.
    func statement(_ names: [String], _ schema: ExperimentSchema) -> String {
        let tag = participantTag(schema)
        let items = names.enumerated().map { index, name in
            // If another tag identifies participants, it becomes the first `id_participant`. A
            // second one is a field.
            index == 0 && name == "id_participant" && tag != name
                ? "\(QueryText.name(tag)) AS \"id_participant\"" : QueryText.name(name)
        }
        return "SELECT \(items.joined(separator: ", ")) FROM \(QueryText.name(experiment))"
            + condition(schema)
    }

    /// Returns the WHERE clause with a leading blank, or an empty string if there are no filters.
    package func condition(_ schema: ExperimentSchema) -> String {
        let conditions = conditions(schema)
        return conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
    }

    private func reference(toTag name: String, _ schema: ExperimentSchema) -> String {
        let isTag = schema.attribute(name) != nil || schema.identity.contains(name)
        return QueryText.name(name) + (isTag && schema.field(name) != nil ? "::tag" : "")
    }

    private func participantTag(_ schema: ExperimentSchema) -> String {
        if case .participant(let tag) = schema.identity { return tag }
        return "id_participant"
    }

    private func conditions(_ schema: ExperimentSchema) -> [String] {
        var conditions: [String] = []
        if !participants.isEmpty {
            let names = participants.map { QueryText.string($0) }.joined(separator: ", ")
            let tag = reference(toTag: participantTag(schema), schema)
            conditions.append("\(tag) IN (\(names))")
        }
        if let password {
            let text = QueryText.string(password)
            let tag = reference(toTag: "id_password", schema) + " = \(text)"
            // Any name may be a tag of the identity of all tags, and a field as well.
            let isEither = schema.identity == .allTags && schema.field("id_password") != nil
            let field = "\(QueryText.name("id_password"))::field = \(text)"
            conditions.append(isEither ? "(\(tag) OR \(field))" : tag)
        }
        if let days { conditions.append("time > now() - \(days)d") }
        if let from { conditions.append("time >= '\(from.text())'") }
        if let to { conditions.append("time < '\(to.text())'") }
        return conditions
    }
}

/// Quotes names and strings for statements.
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
