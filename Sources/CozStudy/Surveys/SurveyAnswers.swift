// Counts how often each answer of a survey was given, including answers that are not among its
// options.

public import CozDB

/// The stored answers to one question.
public struct SurveyAnswers: Sendable {
    /// An answer and how often it is stored.
    public struct Count: Hashable, Sendable {
        /// The answer as stored.
        public var answer: String
        /// The number of rows with this answer.
        public var rows: Int
        /// The number of surveys with this answer. Rows with equal start times
        /// (`ws_timestamp_start`) are one survey, because a double tap makes the app send it again.
        /// Nil if the experiment does not have that field.
        public var surveys: Int?
    }

    /// The field that stores the answers.
    public var field: String
    /// The question. Empty if no registered survey has it.
    public var question: String
    /// Whether a registered survey has the question.
    public var isRegistered: Bool
    /// The offered answers in survey order, including those never chosen.
    public var offered: [Count]
    /// Other answers, most frequent first.
    public var others: [Count]

    /// The number of rows with an answer.
    public var total: Int { (offered + others).reduce(0) { $0 + $1.rows } }
}

extension Database {
    /// Counts the stored answers of an experiment. Covers all questions registered for it
    /// (`declare`) in order of registration, then other string fields that begin with `q_`, by
    /// name.
    ///
    /// Counts rows, and also the surveys that they come from.
    ///
    /// - Throws: `notFound` for an unknown experiment; the errors of `query`.
    public func surveyAnswers(of experiment: String) throws(DatabaseError) -> [SurveyAnswers] {
        let schemas = try schemas()
        guard let schema = schemas.first(where: { $0.name.utf8.elementsEqual(experiment.utf8) })
        else {
            let near = NameSuggestion.text(experiment, among: schemas.map(\.name))
            throw DatabaseError(
                .notFound,
                "found no experiment \"\(experiment)\", expected an existing one"
                    + near)
        }
        let registered = schema.declarations.filter { !$0.question.isEmpty || !$0.options.isEmpty }
        let names = Set(registered.map { Array($0.name.utf8) })
        let others = schema.fields.filter {
            $0.type == .string && $0.name.utf8.starts(with: "q_".utf8)
                && !names.contains(Array($0.name.utf8))
        }
        var result: [SurveyAnswers] = []
        for field in registered {
            let counts = try answers(to: field.name, in: schema)
            result.append(SurveyAnswers(field, counts, isRegistered: true))
        }
        for column in others {
            let counts = try answers(to: column.name, in: schema)
            let field = SchemaPreset.Field(column.name, .string)
            result.append(SurveyAnswers(field, counts, isRegistered: false))
        }
        return result
    }

    private func answers(
        to field: String, in schema: ExperimentSchema
    ) throws(DatabaseError) -> [SurveyAnswers.Count] {
        guard let column = schema.field(field), column.type == .string else { return [] }
        let name = SurveyAnswers.identifier(field)
        let countsSurveys = schema.field(SurveyAnswers.beginning) != nil
        let surveys = countsSurveys ? ", count(distinct(\(SurveyAnswers.beginning)))" : ""
        let statement =
            "SELECT count(\(name))\(surveys) FROM \(SurveyAnswers.identifier(schema.name)) "
            + "WHERE \(name) IS NOT NULL GROUP BY \(name)::field"
        let result = try query(statement)
        if let error = result.statements.first?.error { throw error }
        return result.series.compactMap { series in
            guard let answer = series.header.tags.first?.value, series.columns.count > 1,
                case .integer(let rows)? = series.columns[1].value(0)
            else { return nil }
            var count = SurveyAnswers.Count(answer: answer, rows: Int(rows))
            if countsSurveys, series.columns.count > 2 {
                count.surveys = 0
                if case .integer(let surveys)? = series.columns[2].value(0) {
                    count.surveys = Int(surveys)
                }
            }
            return count
        }
    }
}

extension SurveyAnswers {
    fileprivate static let beginning = "ws_timestamp_start"

    init(_ field: SchemaPreset.Field, _ counts: [Count], isRegistered: Bool) {
        self.field = field.name
        question = field.question
        self.isRegistered = isRegistered
        var rest = Dictionary(
            counts.map { (Array($0.answer.utf8), $0) }, uniquingKeysWith: { first, _ in first })
        // The survey count of an answer that was never given: 0 if surveys are counted, else nil.
        let none = counts.first?.surveys.map { _ in 0 }
        offered = field.options.map { option in
            rest.removeValue(forKey: Array(option.utf8))
                ?? Count(answer: option, rows: 0, surveys: none)
        }
        others = rest.values
            .sorted {
                $0.rows != $1.rows
                    ? $0.rows > $1.rows
                    : $0.answer.utf8.lexicographicallyPrecedes($1.answer.utf8)
            }
    }

    fileprivate static func identifier(_ name: String) -> String {
        var text = "\""
        for scalar in name.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { text += "\\" }
            if scalar == "\n" { text += "\\n" } else { text.unicodeScalars.append(scalar) }
        }
        return text + "\""
    }
}
